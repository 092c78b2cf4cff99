/** Gradients between results of one compiled call, which are one node of the tape, are those of the plain program. */
import { assertEquals, assertThrows } from "@std/assert";
import { autograd, compile, DynError, noGrad, type Tensor, tensor } from "../mod.ts";

Deno.test("gradients between the results of one compiled call can be looked at from outside", () => {
  const program = (x: Tensor) => {
    const hidden = x.mul(2), loss = hidden.exp().sum();
    return [hidden, loss, noGrad(() => hidden.mul(3))] as const;
  };
  const look = (run: typeof program) => {
    const x = tensor([0.5, -1], { requiresGrad: true }), seen: unknown[] = [];
    const [hidden, loss] = run(x);
    seen.push(autograd.grad(loss, [hidden], { retainGraph: true }).map((grad) => grad?.tolist()));
    hidden.retainGrad();
    const handle = hidden.registerHook((grad) => {
      seen.push(grad.tolist());
      return grad.mul(2);
    });
    loss.add(hidden.sum()).backward({ retainGraph: true });
    seen.push(hidden.grad?.tolist(), x.grad?.tolist());
    handle.remove();
    loss.backward();
    seen.push(hidden.grad?.tolist(), x.grad?.tolist());
    assertThrows(() => loss.backward(), DynError, "a second time");
    return seen;
  };
  const plain = look(program);
  for (const backend of ["aot_eager", "inductor"]) assertEquals(look(compile(program, { backend })), plain);
});
