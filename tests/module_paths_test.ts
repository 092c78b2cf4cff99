/** Parts of modules by their dotted paths. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { compile, DynError, nn, type Tensor, tensor, zeros } from "../mod.ts";

class Net extends nn.Module {
  readonly body: nn.Sequential = new nn.Sequential(new nn.Linear(2, 3), new nn.BatchNorm1d(3));
  head: nn.Linear | null = new nn.Linear(3, 1);
  constructor() {
    super();
    this.registerBuffer("scale", tensor([2]));
  }
  override forward(x: Tensor): Tensor {
    const hidden = this.getSubmodule("body.0") as nn.Linear;
    return hidden.forward(x).mul(this.getBuffer("scale"));
  }
}

Deno.test("modules, parameters and buffers are found by their paths", () => {
  const net = new Net();
  assert(net.getSubmodule("") === net);
  assert(net.getSubmodule("body.1") instanceof nn.BatchNorm1d);
  for (const [path, each] of net.namedModules()) assert(net.getSubmodule(path) === each, path);
  for (const [path, each] of net.namedParameters()) assert(net.getParameter(path) === each, path);
  for (const [path, each] of net.namedBuffers()) assert(net.getBuffer(path) === each, path);
});

Deno.test("a path that leads nowhere is an error that names the place", () => {
  const net = new Net();
  assertThrows(() => net.getSubmodule("body.7"), DynError, "a module named 7 in Sequential");
  assertThrows(() => net.getParameter("body.0.scale"), DynError, "a parameter at body.0.scale");
  assertThrows(() => net.getBuffer("body.weight"), DynError, "a buffer at body.weight");
});

Deno.test("a module replaces another, and graphs follow", () => {
  const net = new Net(),
    f = compile((x: Tensor) => net.forward(x), { backend: "aot_eager", fullgraph: true });
  const x = zeros([2, 2]);
  f(x);
  const other = new nn.Linear(2, 3, { bias: false });
  net.setSubmodule("body.0", other);
  net.setSubmodule("head", new nn.Linear(3, 5));
  assert(net.getSubmodule("body.0") === other);
  assertEquals(net.getParameter("head.weight").shape, [5, 3]);
  assertEquals(f(x).tolist(), zeros([2, 3]).tolist());
});
