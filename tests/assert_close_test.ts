/** `testing.assertClose`: what passes, and what the errors of what does not say. */
import { assertEquals, assertThrows } from "@std/assert";
import { compile, complex, DynError, eye, type Tensor, tensor, testing, zeros } from "../mod.ts";
import type { AssertCloseOptions } from "../lib/tensor/testing.ts";

const { assertClose } = testing;

/** The error of an assertion that fails. */
function failure(actual: unknown, expected: unknown, options?: AssertCloseOptions): string {
  return assertThrows(() => assertClose(actual, expected, options), DynError).message;
}

Deno.test("tolerances follow the type, the greater of two", () => {
  for (
    const [dtype, near, far] of [
      ["float16", 1.001, 1.004],
      ["bfloat16", 1.0078125, 1.03125],
      ["float32", 1.000005, 1.00002],
      ["float64", 1 + 1e-7, 1 + 3e-7],
    ] as const
  ) {
    const one = tensor([1], { dtype });
    assertClose(tensor([near], { dtype }), one);
    failure(tensor([far], { dtype }), one);
    assertClose(tensor([far], { dtype }), one, { rtol: 0.1, atol: 0 });
    failure(tensor([near], { dtype }), one, { rtol: 0, atol: 0 });
  }
  const wide = tensor([1.000005], { dtype: "float64" });
  assertClose(wide, tensor([1], { dtype: "float32" }), { checkDtype: false });
  failure(wide, tensor([1], { dtype: "float64" }));
  failure(tensor([2 ** 24 + 1]), tensor([2 ** 24]));
});

Deno.test("errors count the elements and name the greatest differences and where they are", () => {
  assertEquals(
    failure(
      tensor([[1, 2], [3, 4]], { dtype: "float64" }),
      tensor([[1, 2.5], [2.5, 400]], { dtype: "float64" }),
    ),
    "Expected close elements but found 3 of 4 different (75.0%)\n" +
      "  greatest absolute difference: 396 at [1, 1] (allowed: 1e-7): 4 for 400\n" +
      "  greatest relative difference: 0.99 at [1, 1] (allowed: 1e-7): 4 for 400",
  );
  assertEquals(
    failure(tensor([1, 2]), tensor([1, 4])),
    "Expected equal elements but found 1 of 2 different (50.0%)\n" +
      "  greatest absolute difference: 2 at [1]: 2 for 4\n" +
      "  greatest relative difference: 0.5 at [1]: 2 for 4",
  );
  // The two are not at one place, and what is within the tolerances counts for neither
  const apart = failure(tensor([1e9 + 64, 1, 0.5]), tensor([1e9, 3, 0.125]));
  assertEquals(
    [/absolute difference: 2 at \[1\]/, /relative difference: 3 at \[2\]/].map((r) => r.test(apart)),
    [
      true,
      true,
    ],
  );
  assertEquals(failure(zeros([2, 2]), eye(2)).includes("2 of 4 different (50.0%)"), true);
  assertEquals(failure(tensor(1.5), tensor(2)).includes("type int64 but found float32"), true);
  assertEquals(failure(tensor([true]), tensor([false])).includes("1 of 1 different"), true);
  assertEquals(
    failure(complex(tensor([1.5]), tensor([1.5])), complex(tensor([1.5]), tensor([2.5]))).includes("1 of 1"),
    true,
  );
});

Deno.test("NaN is close to NaN if asked, infinities to themselves", () => {
  const nan = tensor([1, NaN]), infinite = tensor([Infinity, 1]);
  assertEquals(failure(nan, nan).includes("greatest absolute difference: NaN at [1]"), true);
  assertClose(nan, nan, { equalNan: true });
  assertClose(infinite, infinite);
  failure(infinite, infinite.neg());
  failure(NaN, NaN);
  assertClose(NaN, NaN, { equalNan: true });
  failure(1, Infinity);
  failure(tensor([1.5]), tensor([Infinity]));
});

Deno.test("shapes, types and strides are compared before elements", () => {
  assertEquals(failure(zeros([1]), zeros([2])), "Expected a tensor of shape [2] but found [1]");
  assertEquals(failure(zeros([1, 2]), zeros([2])), "Expected a tensor of shape [2] but found [1, 2]");
  assertEquals(failure(tensor([1.5]), tensor([1])), "Expected a tensor of type int64 but found float32");
  const across = zeros([3, 2]).t();
  assertClose(zeros([2, 3]), across);
  assertEquals(
    failure(zeros([2, 3]), across, { checkStride: true }),
    "Expected a tensor of strides [1, 2] but found [3, 1]",
  );
  assertClose(zeros([0]), zeros([0]));
});

Deno.test("values of lists, objects and Maps are compared by key", () => {
  const state = (x: number) => ({ layers: [tensor([1.5]), tensor([x])], step: 3, name: null });
  assertClose(state(2.5), state(2.5));
  assertEquals(
    failure(state(2.5), state(3.5)).startsWith('Expected close elements at ["layers"][1] but'),
    true,
  );
  assertEquals(failure([1], [1, 2]), "Expected the same keys but found no 1");
  assertEquals(failure({ a: 1 }, { b: 1 }), 'Expected the same keys but found no "b", also "a"');
  assertEquals(
    failure(new Map([["a", 1.5]]), new Map([["a", 2]])).startsWith('Expected 2 at ["a"] but found 1.5'),
    true,
  );
  assertEquals(failure([true], [false]), "Expected false at [0] but found true");
  for (
    const [a, b] of [["a", "a"], [tensor(1.5), 1.5], [1, 1n], [[1], { 0: 1 }], [new Date(0), new Date(0)]]
  ) {
    assertEquals(failure(a, b).startsWith("Expected values of one kind"), true);
  }
});

Deno.test("options are checked, and a message may be given", () => {
  const [a, b] = [tensor([1.5]), tensor([2.5])];
  assertEquals(failure(a, b, { msg: "apart" }), "apart");
  assertEquals(
    failure(a, b, { msg: (text) => `step 3: ${text}` }).startsWith("step 3: Expected close"),
    true,
  );
  assertEquals(failure(a, a, { rtol: 1 }).includes("rtol without atol"), true);
  assertEquals(failure(a, a, { rtol: -1, atol: 0 }).includes("rtol of assertClose to be at least 0"), true);
  const misspelt = { equalNaN: true } as AssertCloseOptions;
  assertEquals(failure(a, a, misspelt).includes("equalNan"), true);
});

Deno.test("a compiled function asserts as an uncompiled one does, and gradients are left alone", () => {
  const checked = compile((x: Tensor, y: Tensor) => {
    const twice = x.mul(2);
    assertClose(twice, y);
    return twice.sum();
  });
  const x = tensor([1, 2], { dtype: "float32", requiresGrad: true });
  checked(x, tensor([2, 4], { dtype: "float32" })).backward();
  assertEquals(x.grad?.tolist(), [2, 2]);
  assertThrows(() => checked(x, tensor([2, 5], { dtype: "float32" })), DynError, "1 of 2 different");
});
