/**
 * Programs in which sizes and numbers change between calls, as people write them: ten calls with ten values compile as
 * many versions as stated, and give what plain calls give, their gradients too.
 */
import { assert, assertEquals, assertMatch, assertStringIncludes, assertThrows } from "@std/assert";
import { compile, compiler, config, isTensor, manualSeed, nn, noGrad, ones, type Tensor } from "../mod.ts";
import { DynError } from "../lib/base/errors.ts";
import "./support/eager_tier.ts";
import { assertClose } from "./support/close.ts";
import { sampleBySeed } from "./support/sampling.ts";
import { shown } from "./support/shown.ts";
import { stderrOf } from "./support/stderr.ts";
import { sequences, SIZE_IDIOMS, type SizeIdiom } from "./support/size_idioms.ts";

type Run = SizeIdiom["run"];

/** The results of a call, from the same random numbers each time. */
function seeded(run: Run, x: Tensor, n: number): unknown {
  manualSeed(3);
  return shown(run(x, n));
}

/** The gradient of the input. */
const gradient = (run: Run): Run => (x, n) => {
  const leaf = x.detach().clone().requiresGrad_(), [first] = [run(leaf, n)].flat();
  if (isTensor(first) && first.requiresGrad) first.mul(first.detach().cos()).sum().backward();
  return leaf.grad;
};

for (const [name, { run, input, versions, sizes }] of sampleBySeed(SIZE_IDIOMS, 16)) {
  Deno.test(`idioms of sizes: ${name}`, () => {
    const f = compile(run, { backend: "eager" });
    for (const n of sizes) assertClose(seeded(f, input(n), n), seeded(run, input(n), n), `${n}`);
    const { graphs, graphBreaks, givenUp } = compiler.status(f);
    assertEquals({ graphs, graphBreaks, givenUp }, { graphs: versions, graphBreaks: 0, givenUp: null });
  });
}

Deno.test("kernels and gradients of idioms serve all sizes", () => {
  for (const [name, { run, input, versions, sizes }] of sampleBySeed(SIZE_IDIOMS, 4, 1)) {
    for (const outcome of [(each: Run) => each, gradient]) {
      const f = compile(run), found = outcome(f), plain = outcome(run);
      for (const n of sizes) {
        const known = seeded(plain, input(n), n);
        assertClose(
          config.patch({ inductor: { tier: "wasm" } }, () => seeded(found, input(n), n)),
          known,
          `${name} ${n}`,
        );
      }
      const { graphs, graphBreaks } = compiler.status(f);
      assert(graphs <= versions && graphBreaks === 0, `${name}: ${graphs} versions, ${graphBreaks} breaks`);
    }
  }
});

Deno.test("exported programs of idioms serve all sizes of their input", () => {
  // Versions for some of the sizes would be constraints of a program
  const dynamic = SIZE_IDIOMS.filter(([, { input, versions }]) =>
    versions <= 2 && input(4).numel() !== input(6).numel()
  );
  for (const [name, { run, input, exported, sizes: [first = 4, ...others] }] of sampleBySeed(dynamic, 6, 2)) {
    const only = (x: Tensor): unknown => [run(x, 0)].flat().filter(isTensor);
    if (exported === "refused") {
      const refused = assertThrows(() => compiler.export(only, [input(first)], { dynamic: true }));
      assertStringIncludes(String(refused), "one that the host computes: ");
      assertStringIncludes(String(refused), "size_idioms.ts:");
      continue;
    }
    const program = compiler.export(only, [input(first)], { dynamic: true });
    if (exported === "constant") {
      assertThrows(() => program.call(input(others[0] ?? 0)), DynError, "Expected shape [");
      continue;
    }
    for (const n of others) {
      const x = input(n);
      manualSeed(3);
      const expected = shown(noGrad(() => only(x)));
      manualSeed(3);
      assertClose(shown(program.call(x)), expected, `${name} ${n}`);
    }
  }
});

/** The warning about a program with ten sizes that it needs as constants. */
function toldOf(run: Run, input: SizeIdiom["input"]): string {
  return stderrOf(() => {
    const f = compile(run, { backend: "eager" });
    for (let n = 4; n < 14; n++) f(input(n), n / 3);
  });
}

Deno.test("where each size has a version, the warning names the size, the line that needs it, and what to do", () => {
  const KERNEL = ones([4, 4, 3]), POINT = ones([4, 4, 1]);
  const parts: Readonly<Record<string, readonly [Run, RegExp]>> = {
    "a size": [
      (x) => nn.functional.conv1d(x.sin(), POINT, null, x.shape[2]),
      /\n\S+ {3}L\["x"\]\.shape\[2\]: 12, 11, 10, 9, …, now 13 \(differs from 8 versions\)\n.*POINT, null, x\.shape\[2\]/,
    ],
    "a size of which strides are made": [
      (x) =>
        nn.functional.conv1d(
          nn.functional.conv1d(x, KERNEL, null, 1, 0, Math.floor((x.shape[2] ?? 0) / 2) - 1),
          POINT,
          null,
          x.shape[2],
        ),
      /\n\S+ {3}L\["x"\]\.shape\[2\]: .*, now 13 \(differs from 8 versions\)\n.*x\.shape\[2\]/,
    ],
    "a share": [
      (x) => x.histc(4, -1, 1 + 1 / (x.shape[2] ?? 0)),
      /\n\S+ {3}\(1 \+ \(1 \/ L\["x"\]\.shape\[2\]\)\): .*, now L\["x"\]\.shape\[2\] = 13 \(differs from 8 versions\)\n.*histc\(4/,
    ],
    "a factor": [
      (x, n) => nn.functional.interpolate(x, { scaleFactor: n }),
      /\n\S+ {3}L\["n"\]: .*, now 4\.33\d* \(differs from 8 versions\)\n.*scaleFactor: n/,
    ],
  };
  for (const [name, [run, expected]] of Object.entries(parts)) {
    const told = toldOf(run, name === "a factor" ? () => sequences(6) : sequences);
    assertMatch(told, expected, name);
    assertMatch(
      told,
      /To end this: move code that needs one value of \S.* out of the compiled function \(.*size_idioms_test\.ts:\d+\)/,
    );
  }
});

Deno.test("slices as texts of numbers mean what their texts mean, for all numbers", () => {
  const x = sequences(9);
  const texts: Readonly<Record<string, (n: number) => string>> = {
    "from": (n) => `${n}:`,
    "to": (n) => `:${n}`,
    "the last": (n) => `-${n}:`,
    "a sign": (n) => `+${n}:8`,
    "in steps": (n) => `1 : ${n} :2`,
    "steps": (n) => `::${n}`,
    "a space behind a sign": (n) => `- ${n}:`,
    "digits around": (n) => `1${n}:`,
    "no slice": (n) => `${n}`,
    "too many": (n) => `${n}:1:1:1`,
  };
  const outcome = (run: Run, n: number): unknown => {
    try {
      return shown(run(x, n));
    } catch (error) {
      return String(error);
    }
  };
  for (const [name, text] of Object.entries(texts)) {
    const run: Run = (y, n) => y.at(0, 0, text(n)).mul(1);
    const f = compile(run, { backend: "eager" });
    for (const n of [3, 4, 5, 0, 1, -2, 2.5, 7, 12, NaN]) {
      assertEquals(outcome(f, n), outcome(run, n), `${name} ${n}`);
    }
  }
});

Deno.test("numbers that change are safe integers, or none, in each call", () => {
  const x = sequences(3);
  const run: Run = (
    y,
    n,
  ) => [Number.isSafeInteger(n) ? y.neg() : y.abs(), Number.isSafeInteger(n * 1.5) ? 1 : 0];
  const f = compile(run, { backend: "eager" }), last = Number.MAX_SAFE_INTEGER;
  for (
    const n of [3, 4, 6, 2.5, NaN, Infinity, -Infinity, last, last + 1, -last, -last - 1, -0, 0, 1, 2 / 3, 7]
  ) {
    assertEquals(shown(f(x, n)), shown(run(x, n)), `${n}`);
  }
});
