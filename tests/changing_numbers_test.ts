/** Numbers that change between calls behave as they do as constants: eagerly, and compiled without a break. */
import { assertEquals, assertThrows } from "@std/assert";
import { compile, nn, ones, type Tensor, tensor, where, zeros } from "../mod.ts";
import { capture } from "./support/dynamo.ts";

Deno.test("a bound that a small type cannot hold has no effect, however often it changes", () => {
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
    assertThrows(() => x.pow(-power), Error, "non-negative");
  }
});

Deno.test("a number beside floats is an input of one graph if the op takes tensors of one type, and beside masks", () => {
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

Deno.test("numbers that multiply an operand change without a break or another version, to the bit", () => {
  const y = tensor([0.3, -1.7, 2.9]), z = tensor([1.1, 0.7, -0.2]);
  const programs: ((x: Tensor, by: number) => Tensor)[] = [
    (x, alpha) => x.add(y, { alpha }),
    (x, alpha) => x.sub(y, { alpha }),
    (x, alpha) => x.rsub(y, { alpha }),
    (x, alpha) => x.clone().add_(y.exp(), { alpha: -alpha }),
    (x, value) => x.addcmul(y, z, { value }),
    (x, value) => x.clone().addcdiv_(y, z, { value: -value }),
  ];
  for (const dtype of ["float32", "float64", "bfloat16"] as const) {
    for (const program of programs) {
      const c = capture(program), x = tensor([0.1, 3.3, -5.7], { dtype });
      for (const by of [0.1, 0.37, 1.9, 0.77]) {
        assertEquals(c.run(x, by).tolist(), program(x, by).tolist(), `${program} ${by} of ${dtype}`);
      }
      // Beside small floats, and those of another type, the number stays in the call
      if (dtype === "float32") assertEquals(c.graphs.length, 2, `${program}`);
    }
  }
  const step = compile((w: Tensor, g: Tensor, rate: number) => w.add_(g.mul(2), { alpha: -rate }));
  for (const rate of [0.1, 0.03, 0.007]) {
    const [w, plain] = [tensor([1.5, 2, 3]), tensor([1.5, 2, 3])];
    assertEquals(step(w, y, rate).tolist(), plain.add_(y.mul(2), { alpha: -rate }).tolist());
  }
});

Deno.test("integers divided by a power of two with a whole reciprocal become floats", () => {
  const x = tensor([1, 2, -3]);
  for (const divisor of [-1, 0.5, -0.25, 2]) {
    const divided = compile((x: Tensor) => x.div(divisor))(x);
    assertEquals([divided.dtype, divided.tolist()], ["float32", [1, 2, -3].map((v) => v / divisor)]);
  }
});
