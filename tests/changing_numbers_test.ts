/** Numbers that change from call to call mean what they meant as constants: eagerly, and compiled without a break. */
import { assertEquals, assertThrows } from "@std/assert";
import { compile, nn, ones, type Tensor, tensor, where, zeros } from "../mod.ts";
import { capture } from "./support/dynamo.ts";

Deno.test("a bound that a small type does not hold bounds nothing, however often it changes", () => {
  const x = tensor([0, 3, 200, 255], { dtype: "uint8" });
  const below = (m: number) => [0, 3, 200, 255].map((v) => Math.min(Math.max(m, 0), v));
  const compiled = compile((x: Tensor, max: number) => x.clamp(null, max), { dynamic: true });
  for (const max of [5, 2, -1, 300, -2, 259, 7, 256, -300]) {
    assertEquals(x.clamp(null, max).tolist(), below(max), `eager ${max}`);
    assertEquals(compiled(x, max).tolist(), below(max), `compiled ${max}`);
    assertEquals(x.clone().clamp_(null, max).tolist(), below(max), `in place ${max}`);
  }
});

Deno.test("integers to a negative power are refused, however often the power changes", () => {
  const x = tensor([2, 3], { dtype: "int32" });
  for (const power of [2, 3, 4, 5, 6, 7]) {
    assertEquals(x.pow(power).tolist(), [2 ** power, 3 ** power]);
    assertThrows(() => x.pow(-power), Error, "not negative");
  }
});

Deno.test("a number beside floats is an input of one graph where the op takes tensors of one type, and beside masks", () => {
  const x = tensor([1.5, -2, 4]), end = ones([3]);
  const programs: ((x: Tensor, weight: number) => Tensor)[] = [
    (x, weight) => x.lerp(end, weight),
    (x, weight) => where(x.gt(0), x, weight),
    (x, weight) => x.maskedFill(x.gt(0), weight),
    (x, weight) => {
      const mean = zeros([3]);
      const y = nn.functional.batchNorm(x.view([1, 3]).expand([2, 3]), mean, ones([3]), {
        training: true,
        momentum: weight,
      });
      return y.add(mean);
    },
  ];
  for (const program of programs) {
    const c = capture(program);
    for (const weight of [0.25, 0.5, 0.3, 0.75, 0.1]) {
      assertEquals(c.run(x, weight).tolist(), program(x, weight).tolist(), `${program} ${weight}`);
    }
    // One for the number as a constant, one for all others
    assertEquals(c.graphs.length, 2, `${program}`);
  }
});

Deno.test("integers divided by a power of two with a whole reciprocal become floats", () => {
  const x = tensor([1, 2, -3]);
  for (const divisor of [-1, 0.5, -0.25, 2]) {
    const divided = compile((x: Tensor) => x.div(divisor))(x);
    assertEquals([divided.dtype, divided.tolist()], ["float32", [1, 2, -3].map((v) => v / divisor)]);
  }
});
