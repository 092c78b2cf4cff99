/**
 * Random programs of transforms that write in place, plain and compiled: results, memory, histories, gradients and
 * gradients of gradients are the same, or both refuse. A run takes six of thirty programs, by its seed; DYN_FUZZ_SEED and
 * DYN_FUZZ_PROGRAMS choose others.
 */
import { assert, assertEquals } from "@std/assert";
import { autograd, compile, compiler, DynError, isTensor, noGrad, type Tensor, tensor } from "../../mod.ts";
import { TAKES_ALL, testSeed } from "../support/sampling.ts";
import { drawnProgram } from "./transforms.ts";

interface Given {
  /** A leaf that requires grad, the result of an op, or a tensor without gradients. */
  readonly x: Tensor;
  readonly y: Tensor;
  readonly p: Tensor;
  readonly c: Tensor;
  /** A view of `c`. */
  readonly w: Tensor;
}

type Program = (given: Given) => readonly Tensor[];

const HEAD = `
import { autograd, compiler, func, nn, noGrad, utils, vmap, where } from ${
  JSON.stringify(import.meta.resolve("../../mod.ts"))
};
const { graphBreak } = compiler, { checkpoint } = utils;
class Called extends nn.Module {
  constructor(f, weight) {
    super();
    this.f = f;
    this.weight = new nn.Parameter(weight.detach().clone());
  }
  forward(x) {
    return this.f(x, this.weight);
  }
}
const called = (state, x, f) => func.functionalCall(new Called(f, state.weight), state, x);
const slopes = (sum, x) =>
  (sum.requiresGrad && x.requiresGrad
    ? autograd.grad([sum], [x], null, { createGraph: true, allowUnused: true })[0]
    : null) ?? x.mul(0.5);
`;

/** Everything that can be seen of a run; errors by their first words. */
function observe(run: Program, kind: number): Record<string, unknown> {
  const wave = (k: number): Tensor =>
    tensor([0, 1, 2, 3].map((i) => 0.9 * Math.sin(1.7 * i + k)), { dtype: "float64" });
  const leaf = wave(1).requiresGrad_(kind !== 0), p = wave(3).requiresGrad_(), c = wave(4);
  const given = { x: kind === 2 ? leaf.mul(1) : leaf, y: wave(2), p, c, w: c.view([4]) };
  const listed = (tensors: readonly (Tensor | null)[]) =>
    tensors.map((each) => each && each.detach().tolist());
  const seen: Record<string, unknown> = {};
  try {
    const results = run(given);
    seen["results"] = listed(results);
    seen["histories"] = results.map((each) => each.requiresGrad);
    seen["memory"] = listed(Object.values(given));
    const roots = results.filter((each) => each.requiresGrad).map((root, k) => root.mul(k + 1).sin().sum());
    if (roots.length > 0) {
      const leaves = [leaf, p].filter((each) => each.requiresGrad);
      const options = { createGraph: true, allowUnused: true };
      const slopes = autograd.grad([roots.reduce((a, b) => a.add(b))], leaves, null, options);
      seen["gradients"] = listed(slopes);
      const again = slopes.filter(isTensor).filter((each) => each.requiresGrad);
      for (const each of again) each.square().sum().backward({ retainGraph: true });
      seen["second"] = listed(leaves.map(({ grad }) => grad));
    }
    noGrad(() => results.forEach((each) => each.detach().mul_(1.5)));
    seen["shared"] = listed(Object.values(given));
  } catch (error) {
    if (!(error instanceof DynError)) throw error;
    seen["error"] = error.message;
  }
  return seen;
}

/** Refusals of one side alone: of writes under vmap, and by graphs that keep more, or less, than the tape. */
function isKnown(plain: unknown, compiled: unknown): boolean {
  return /out of place|with the batch|modified by an inplace/.test(String(plain)) ||
    String(compiled).includes("needed by CompiledFunctionBackward");
}

function near(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((each, k) => near(each, b[k]));
  }
  if (typeof a !== "number" || typeof b !== "number") return a === b;
  return Object.is(a, b) || a === b || Math.abs(a - b) <= 1e-8 + 1e-7 * Math.abs(b);
}

const turn = TAKES_ALL ? 0 : testSeed() % 5;
const first = Number(Deno.env.get("DYN_FUZZ_SEED") ?? 1 + 6 * turn),
  count = Number(Deno.env.get("DYN_FUZZ_PROGRAMS") ?? (TAKES_ALL ? 30 : 6));

Deno.test("transforms that write in place give the same compiled", async () => {
  const texts = Array.from({ length: count }, (_, k) => drawnProgram(first + k));
  const file = await Deno.makeTempFile({ suffix: ".js" });
  await Deno.writeTextFile(file, `${HEAD}export const programs = [\n${texts.join(",\n")},\n];\n`);
  const { programs }: { readonly programs: readonly Program[] } = await import(`file://${file}`);
  await Deno.remove(file);
  let compared = 0;
  for (const [k, program] of programs.entries()) {
    const kind = (first + k) % 3, plain = observe(program, kind);
    for (const backend of ["eager", "aot_eager", "inductor"]) {
      compiler.reset();
      const found = observe(compile(program, { backend }), kind);
      if (isKnown(plain["error"], found["error"])) continue;
      const where = `seed ${first + k}, ${backend}\n${texts[k]}`;
      for (const name of new Set([...Object.keys(plain), ...Object.keys(found)])) {
        const [want, got] = [plain[name], found[name]];
        const isSame = name === "error"
          ? String(want).slice(0, 40) === String(got).slice(0, 40)
          : near(got, want);
        if (!isSame) assertEquals({ [name]: got }, { [name]: want }, where);
      }
      if (plain["error"] === undefined) compared++;
    }
  }
  assert(compared >= count, `Expected ${count} comparisons but found ${compared}`);
});
