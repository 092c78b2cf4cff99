/**
 * The first of equal extremes together with everything that may share its loops: over permuted inputs, with in-place
 * writes and other reductions. Some combinations, selected by a seed (DYN_TEST_SEED), or all of them (DYN_TEST_ALL=1).
 */
import { assertEquals } from "@std/assert";
import { compile, manualSeed, randint, type Tensor } from "../mod.ts";
import { sampleBySeed } from "./support/sampling.ts";

/** Views that show the elements in another order. */
const VIEWS: Readonly<Record<string, (x: Tensor) => Tensor>> = {
  "the input": (x) => x,
  transposed: (x) => x.transpose(0, 1),
  "last dimensions exchanged": (x) => x.transpose(1, 2),
  rotated: (x) => x.permute(2, 0, 1),
  reversed: (x) => x.permute(2, 1, 0),
  reshaped: (x) => x.reshape(12, 10),
  "every second row": (x) => x.at("::2"),
};

/** Neighbours that may run in the same loops; `x` is the input, `v` the view. */
const NEIGHBOURS: Readonly<Record<string, (x: Tensor, v: Tensor) => Tensor>> = {
  "a write to the view": (_, v) => v.clamp_(1, 1),
  "a write to the input": (x) => x.add_(1),
  "elements of the input": (x) => x.mul(2),
  "elements of the view": (_, v) => v.mul(2),
  "elements in one dimension": (_, v) => v.reshape(-1).mul(2),
  "the input's sum": (x) => x.sum(),
  "the view's sum": (_, v) => v.sum(),
  "the view's sums": (_, v) => v.sum(0),
  "the input's first greatest": (x) => x.argmax(),
  "the view's first least": (_, v) => v.argmin(),
  "the first greatest in one dimension": (x) => x.reshape(-1).argmax(),
  "the first greatest of rows": (_, v) => v.argmax(-1),
};

const CASES = Object.entries(VIEWS).flatMap(([viewed, view]) =>
  Object.entries(NEIGHBOURS).flatMap(([beside, use]) =>
    [null, 0, -1].flatMap((dim) =>
      [true, false].map((isFirst) => ({
        name: `${viewed}, ${beside} ${isFirst ? "after" : "before"} argmax(${dim})`,
        program(x: Tensor): readonly Tensor[] {
          const v = view(x),
            before = isFirst ? null : use(x, v),
            found = dim === null ? v.argmax() : v.argmax(dim);
          return [found, before ?? use(x, v)];
        },
      }))
    )
  )
);

for (
  const [tier, options, count] of [["WebAssembly", { tier: "wasm" }, 60], [
    "native",
    { tier: "wait" },
    12,
  ]] as const
) {
  Deno.test(`the first of equal extremes, whatever shares its loops: ${tier}`, () => {
    const picked = sampleBySeed(CASES, count, tier.length);
    const differences = picked.flatMap(({ name, program }, seed) => {
      manualSeed(seed);
      const x = randint(0, 3, [4, 5, 6]), compiled = compile(program, { backend: "inductor", options });
      const expected = program(x.clone()), found = compiled(x.clone());
      return found.every((each, k) => expected[k]?.equal(each)) ? [] : [name];
    });
    assertEquals(differences, []);
  });
}
