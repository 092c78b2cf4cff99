/** Constants that compilation folds, against the same operations op by op: types, numbers that types do not hold, signs. */
import { assertEquals } from "@std/assert";
import { compile, type DType, full, ones, type Tensor, tensor } from "../mod.ts";

const TYPES: readonly DType[] = [
  "float64",
  "float32",
  "float16",
  "bfloat16",
  "int64",
  "int32",
  "uint8",
  "bool",
];
const NUMBERS: readonly number[] = [-0, 0.1, -0.7, 1.5, 100, 123.678];

type Pair = readonly [a: Tensor, b: Tensor];

/** Expressions of two constants, of a number and of a tensor. */
const EXPRESSIONS: Readonly<Record<string, (pair: Pair, given: { number: number; x: Tensor }) => Tensor>> = {
  "a product": ([a, b]) => a.mul(b),
  "a product by one": ([a, b]) => ones([2]).mul(a).mul(b),
  "a product with a number": ([a], { number }) => a.mul(number).neg(),
  "parts of them": ([a, b]) => a.at(0).mul(b.at(1)),
  "another type": ([a, b]) => a.to(b.dtype).mul(b),
  "a product with a tensor": ([a, b], { x }) => x.mul(a.mul(b)),
  "a sum with a tensor": ([a, b], { x }) => x.add(a).sub(b.mul(1)),
};

/** The type and both elements, with their signs. */
function elements(each: Tensor): string {
  const numbers = [0, 1].map((at) => each.to("float64").expand(2).select(0, at).item());
  return `${each.dtype} ${numbers.map((value) => Object.is(value, -0) ? "-0" : `${value}`)}`;
}

for (const [name, expression] of Object.entries(EXPRESSIONS)) {
  Deno.test(`constants are folded as kernels compute them: ${name}`, () => {
    const numberAt = (k: number): number => NUMBERS[k % NUMBERS.length] ?? 0;
    const cases = TYPES.flatMap((one, i) =>
      TYPES.flatMap((other, j) =>
        [0, 3].map((k) => ({ one, other, value: numberAt(i + j + k), second: numberAt(2 * i + j + k + 1) }))
      )
    );
    const program = (x: Tensor): readonly Tensor[] =>
      cases.map(({ one, other, value, second }) =>
        expression([full([2], value, { dtype: one }), full([2], second, { dtype: other })], {
          number: second,
          x,
        })
      );
    const x = tensor([1.5, -0.3]), found = compile(program, { backend: "aot_eager" })(x);
    for (const [k, want] of program(x).entries()) {
      const at = cases[k];
      assertEquals(
        found[k] && elements(found[k]),
        elements(want),
        `${at?.one} ${at?.value}, ${at?.other} ${at?.second}`,
      );
    }
  });
}
