/** Rows M20 to M25 of the list of features: sizes and numbers that change. */
import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { join } from "node:path";
import { compile, compiler, config, DynError, logs, nn, ones, type Tensor, Unsupported } from "../../mod.ts";
import { testInTurn } from "../support/costly_tests.ts";
import { runProgram, withFolder } from "../support/process.ts";

const eager = { backend: "eager" } as const;

/** Returns the number of versions that calls with these sizes need. */
function versions(fn: (x: Tensor) => Tensor, inputs: readonly Tensor[], dynamic?: boolean): number {
  const f = compile(fn, { ...eager, dynamic });
  for (const x of inputs) assertEquals(f(x).tolist(), fn(x).tolist());
  return compiler.cacheEntries(f).length;
}

const sized = (size: number, width = 1): Tensor => ones([size, width]);

Deno.test("M20: markDynamic makes a dimension a symbol from the first call on, in a range", () => {
  const marked = (size: number, range?: compiler.DynamicRange): Tensor => {
    const x = sized(size);
    compiler.markDynamic(x, 0, range);
    return x;
  };
  const fn = (x: Tensor) => x.add(1);
  assertEquals(versions(fn, [sized(3), sized(4)]), 2);
  assertEquals(versions(fn, [marked(3), sized(4), sized(5)]), 1);
  assertEquals(versions(fn, [marked(3, { min: 3, max: 4 }), sized(4)]), 1);
  assertEquals(versions(fn, [marked(3, { min: 3, max: 4 }), sized(9)]), 2);
  assertThrows(() => marked(3, { min: 5, max: 4 }), DynError, "but found from 5 to 4");
  assertThrows(() => marked(5, { max: 4 }), DynError, "Expected dimension 0 to have a size from 0 to 4");
  assertThrows(() => marked(3, { min: 4 }), DynError, "a size of 4 or more, as its range says, but found 3");
  assertEquals(versions(fn, [marked(1, { min: 1, max: 4 }), marked(1)]), 1);
  assertThrows(() => compiler.markDynamic(sized(3), 2), DynError, "Expected dim in [-2, 1] but found 2");
});

Deno.test("M20: later marks take effect, unless the dimension is already a symbol", () => {
  const f = compile((x: Tensor) => x.mul(x.shape[0] ?? 0), eager), count = () => compiler.status(f).entries;
  const x = ones([4, 3]), y = ones([5, 3]);
  const seen: number[] = [];
  const call = (given: Tensor) => {
    assertEquals(f(given).tolist(), given.mul(given.shape[0] ?? 0).tolist());
    seen.push(count());
  };
  call(x);
  compiler.markDynamic(x, 0);
  call(x);
  call(x);
  call(ones([9, 3]));
  compiler.markDynamic(y, 0);
  call(y);
  compiler.markStatic(y, 1);
  call(y);
  assertEquals(seen, [1, 2, 2, 2, 2, 2]);
  compiler.markDynamic(y, 1);
  call(y);
  call(y);
  compiler.markUnbacked(x, 0);
  call(x);
  assertEquals(seen.slice(6), [3, 3, 3]);
});

Deno.test("M20: the reason for a recompilation names the new mark", () => {
  config.patch({ errorOnRecompile: true }, () => {
    const f = compile((x: Tensor) => x.add(1), eager), x = ones([4]);
    f(x);
    compiler.markDynamic(x, 0);
    assertThrows(() => f(x), Unsupported, "float32[4][1] of which dimension 0 is marked");
  });
});

Deno.test("M20: marks on parameters are respected, too", () => {
  const model = new nn.Linear(3, 2), f = compile((x: Tensor) => x.matmul(model.weight.t()), eager);
  f(ones([4, 3]));
  compiler.markDynamic(model.weight, 0);
  f(ones([4, 3]));
  assertEquals(compiler.status(f).entries, 2);
});

Deno.test("M20: two marked dimensions of one size are two symbols", () => {
  const f = compile((x: Tensor, y: Tensor) => [x.add(1), y.add(1)], eager);
  const call = (a: number, b: number) => {
    const [x, y] = [sized(a), sized(b)];
    compiler.markDynamic(x, 0);
    compiler.markDynamic(y, 0);
    f(x, y);
  };
  call(5, 5);
  call(6, 7);
  assertEquals(compiler.cacheEntries(f).length, 1);
});

Deno.test("M20: specialising a marked dimension is an error with its line, except for maybeMarkDynamic", () => {
  const fn = (x: Tensor): Tensor => {
    if (x.shape[0] === 4) return x.add(1);
    return x.sub(1);
  };
  const strict = sized(4), lenient = sized(4);
  compiler.markDynamic(strict, 0);
  const { message } = assertThrows(() => compile(fn, eager)(strict), DynError);
  assert(
    message.includes(`dimension 0 of L["x"] to be dynamic`) && message.includes("needs it to be 4"),
    message,
  );
  assert(
    /\n {2}if \(x\.shape\[0\] === 4\) return x\.add\(1\); \(.*dynamic_test\.ts:\d+\)\n/.test(message),
    message,
  );
  const other = (x: Tensor, y: Tensor): Tensor => x.add(y);
  const joined = assertThrows(() => compile(other, eager)(strict, sized(4)), DynError).message;
  assert(joined.includes(`\nConstant and of this size: dimension 0 of L["y"]; mark it, too,`), joined);
  compiler.maybeMarkDynamic(lenient, 0);
  assertEquals(versions(fn, [lenient, sized(5)]), 2);
});

Deno.test("M20: markStatic keeps a dimension a constant, however often it changes", () => {
  const fn = (x: Tensor) => x.add(1);
  const fixed = (size: number): Tensor => {
    const x = sized(size);
    compiler.markStatic(x, 0);
    return x;
  };
  assertEquals(versions(fn, [fixed(3), fixed(4), fixed(5)]), 3);
  assertEquals(versions(fn, [fixed(3), fixed(4)], true), 2);
});

Deno.test("M21: dynamicSources names places that are symbols immediately: whole, by dimension, by expression", () => {
  const fn = (x: Tensor) => x.add(1);
  const with_ = (dynamicSources: string, inputs: readonly Tensor[], dynamic?: boolean) =>
    config.patch({ dynamicSources }, () => versions(fn, inputs, dynamic));
  assertEquals(with_(`L["x"]`, [sized(3, 4), sized(5, 6)]), 1);
  assertEquals(with_(`L['x']:0`, [sized(3, 4), sized(5, 4)]), 1);
  assertEquals(with_(`L["x"]:0`, [sized(3, 4), sized(3, 6)]), 2);
  assertEquals(with_(`L["x"]:0, L["x"]:1`, [sized(3, 4), sized(5, 6)], false), 1);
  assertEquals(with_(String.raw`L\["x.*:1`, [sized(3, 4), sized(3, 6)]), 1);
  assertEquals(with_(`L["y"]`, [sized(3, 4), sized(5, 4)]), 2);
  assertThrows(() => with_("(", [sized(3)]), DynError, "regular expressions in dynamicSources");
});

Deno.test("M21: numbers are places, too; staticSources overrides dynamicSources, markDynamic both", () => {
  const run = (numbers: readonly number[]): number => {
    const f = compile((x: Tensor, n: number) => x.add(n), eager);
    for (const n of numbers) assertEquals(f(ones([1]), n).tolist(), [1 + n]);
    return compiler.cacheEntries(f).length;
  };
  const listed = { dynamicSources: `L["n"]` }, both = { ...listed, staticSources: `L["n"]` };
  assertEquals([
    run([5, 6, 7]),
    config.patch(listed, () => run([5, 6, 7])),
    config.patch(both, () => run([5, 6, 7])),
  ], [
    2,
    1,
    3,
  ]);
  assertEquals([run([0.5, 1.5]), config.patch(listed, () => run([0.5, 1.5]))], [2, 1]);
  const x = sized(3);
  compiler.markDynamic(x, 0);
  config.patch({ staticSources: ".*" }, () => assertEquals(versions((x) => x.add(1), [x, sized(4)]), 1));
});

Deno.test("M21: dynamicValues makes symbols of listed sizes", () => {
  const fn = (x: Tensor) => x.add(1);
  config.patch({ dynamicValues: "1111, 2222" }, () => {
    assertEquals(versions(fn, [sized(1111), sized(3)]), 1);
    assertEquals(versions(fn, [sized(3), sized(4)]), 2);
    assertEquals(versions(fn, [sized(1111), sized(3)], false), 2);
  });
  config.patch({ dynamicValues: "many" }, () => {
    assertThrows(
      () => versions(fn, [sized(3)]),
      DynError,
      "Expected integers in dynamicValues but found many",
    );
  });
});

Deno.test("M22: 0 and 1 are constants, other sizes have ranges, and questions about them become guards with their lines", () => {
  const fn = (x: Tensor): Tensor => x.size(0) > 10 ? x.add(1) : x.sub(1);
  assertEquals(
    versions(fn, [sized(5), sized(6), sized(1), sized(0), sized(20), sized(30), sized(7)], true),
    4,
  );
  const texts: string[] = [];
  logs.capture("guards", (_artifact, text) => texts.push(text), () => versions(fn, [sized(5)], true));
  const line = texts.join("\n").split("\n").find((text) => text.includes(`<= L["x"].shape[0] <= 10`)) ?? "";
  assert(
    line.includes("  # ") && line.includes("x.size(0) > 10") && line.includes("dynamic_test.ts:"),
    texts.join(),
  );
});

Deno.test("M22: a failed guard on sizes is reported with the actual size", () => {
  const f = compile((x: Tensor): Tensor => x.size(0) > 10 ? x.add(1) : x.sub(1), {
    ...eager,
    dynamic: true,
  });
  const texts: string[] = [];
  logs.capture("recompiles", (_artifact, text) => texts.push(text), () => {
    f(sized(5));
    f(sized(20));
  });
  assert(texts[0]?.includes(`L["x"].shape[0] <= 10, found L["x"].shape[0] = 20  # `), texts[0]);
});

const JOB = `import { compile, compiler, ones, type Tensor } from "jsr:@x/dyn";
const count = new compiler.CompileCounter();
const state = { shift: 0 };
const cut = compiler.disable(() => {});
const f = compile((x: Tensor, n: number) => {
  const y = x.add(n).mul(state.shift);
  cut();
  return y.sum();
}, { backend: count });
for (const i of [3, 4, 5]) {
  state.shift = i + 0.5;
  f(ones([2 * i, 2]), i);
}
console.log(count.frameCount);
`;

testInTurn("sizes of a job", {
  name: "M24: a size that changed in one process of a job is immediately a symbol in the next",
  fn: async () => {
    await withFolder(async (folder) => {
      await Deno.writeTextFile(join(folder, "job.ts"), JOB);
      const cli = new URL("../../cli.ts", import.meta.url).pathname;
      const run = async (env: Readonly<Record<string, string>>): Promise<string> => {
        const all = { DYN_CACHE_DIR: join(folder, "cache"), DYN_TIER: "wasm", ...env };
        const { stdout, stderr } = await runProgram(
          Deno.execPath(),
          ["run", "-A", "--no-check", cli, "job.ts"],
          {
            cwd: folder,
            env: all,
          },
        );
        assertEquals(stderr, "");
        return stdout.trim();
      };
      assertEquals(await run({ DYN_JOB_ID: "train/1" }), "4");
      assertEquals(await run({ DYN_JOB_ID: "train/1" }), "2");
      assertEquals(await run({ DYN_JOB_ID: "train/2" }), "4");
      assertEquals(await run({}), "4");
      assertEquals(await run({ DYN_PGO_READ: "train/2" }), "2");
      assertEquals(await run({ DYN_PGO_WRITE: "other" }), "4");
      assertEquals(await run({ DYN_PGO_READ: "other" }), "2");
    });
  },
});

Deno.test("M25: shapes reports which sizes of each version may change, and which lines limit them", () => {
  const f = compile((x: Tensor, k: number, o: { m: Tensor; mask: Tensor }) => {
    const y = x.mul(k).add(o.m).add(o.mask);
    if ((x.shape[0] ?? 0) < 100) return y.reshape(-1, 2);
    return y;
  }, eager);
  for (const n of [2, 3, 5]) f(ones([n, 4]), n, { m: ones([4]), mask: ones([n, 4]) });
  const [symbolic, first] = compiler.shapes(f);
  assertEquals(
    `${first}`,
    'L["x"]: float32[2, 4]\nL["k"]: 2\nL["o"].m: float32[4]\nL["o"].mask: float32[2, 4]',
  );
  const [x, k, m, mask] = symbolic?.inputs ?? [];
  assertEquals([x, k, m, mask].map((each) => [each?.name, each?.dtype, each?.sizes]), [
    ['L["x"]', "float32", [null, 4]],
    ['L["k"]', null, [null]],
    ['L["o"].m', "float32", [4]],
    ['L["o"].mask', "float32", [null, 4]],
  ]);
  assertEquals(m?.conditions, []);
  const limit = x?.conditions.find(({ text }) => text.includes("99"));
  assert(limit?.code.includes("< 100") && limit.place?.includes("dynamic_test.ts:"), `${symbolic}`);
});

Deno.test("M25: shapes shows the value of a size that the program needs, and the line that needs it", () => {
  const f = compile((x: Tensor, k: number, y: Tensor) => {
    const z = x.shape[1] === 3 ? x : x.neg();
    return z.norm(x.shape[1]).mul(k / 2).add(y);
  }, eager);
  for (const n of [4, 5, 6]) f(ones([2, n]), 3, ones([n - 1]));
  const [last] = compiler.shapes(f);
  const [x, , y] = `${last}`.split(/\n(?=L)/);
  assertMatch(
    x ?? "",
    /^L\["x"\]: float32\[2, 6\]\n {2}L\["x"\]\.shape\[1\] == 6 {2}# .*norm\(.*dynamic_test\.ts:\d+\)$/,
  );
  assertMatch(y ?? "", /^L\["y"\]: float32\[\?\]\n {2}2 <= L\["y"\]\.shape\[0\]/);
});

Deno.test("M25: the log dynamic reports created symbols, the questions about them, and the lines", () => {
  const texts: string[] = [];
  logs.capture("dynamic", (_artifact, text) => texts.push(text), () => {
    versions((x) => x.size(0) > 10 ? x.add(1) : x.sub(1), [sized(5), sized(6)]);
  });
  const text = texts.join("\n");
  assert(text.includes(`automatic dynamic L["x"].shape[0]: 5 -> 6`), text);
  assert(
    /create_symbol s0 = 6 for L\["x"\]\.shape\[0\] .* {2}# .*\(.*dynamic_test\.ts:\d+\)/.test(text),
    text,
  );
  assert(/eval .*s0.* \[guard added\] {2}# .*x\.size\(0\) > 10.*dynamic_test\.ts:\d+\)/.test(text), text);
});
