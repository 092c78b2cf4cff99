/**
 * On WebGPU, too, indices out of range are errors, and a failing compiled call writes nothing. Indices that the host
 * knows are checked without waiting for the device.
 */
import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import {
  compile,
  type CompileOptions,
  DynError,
  init,
  nn,
  noGrad,
  ones,
  optim,
  tensor,
  zeros,
} from "../mod.ts";
import type { Tensor } from "../mod.ts";
import { sampleBySeed } from "./support/sampling.ts";
import { SKIP_WEBGPU } from "./support/webgpu.ts";

const device = "webgpu";
const indices = (...values: number[]) => tensor(values, { dtype: "int64", device });

/** Tests out of which a run takes one: a software adapter compiles each shader for seconds. */
const sampled: Deno.TestDefinition[] = [];

function test(name: string, body: () => void): void {
  sampled.push({
    name: `webgpu, all or nothing: ${name}`,
    ignore: SKIP_WEBGPU,
    fn: () => init({ device }).then(body),
  });
}

test("eager ops refuse indices out of range, known and computed", () => {
  const table = ones([4, 2], { device }).cumsum(0);
  assertEquals(table.indexSelect(0, indices(3, 0)).tolist(), [[4, 4], [1, 1]]);
  assertThrows(() => table.indexSelect(0, indices(1, 4)), DynError, "but found 4");
  assertThrows(() => table.gather(0, indices(1, 0).sub(2).unsqueeze(1)), DynError, "but found -1");
  const reused = indices(0, 1);
  noGrad(() => reused.add_(3));
  assertThrows(() => table.indexSelect(0, reused), DynError, "but found 4");
});

/** A training loop over labels of which some are none. */
function train(options: CompileOptions | null): unknown {
  const model = new nn.Linear(2, 2, { device });
  noGrad(() => model.parameters().forEach((p) => p.fill_(0.5)));
  const optimizer = new optim.SGD(model.parameters(), { lr: 0.1, momentum: 0.9 });
  let steps = 0;
  const plain = (x: Tensor, target: Tensor) => {
    steps++;
    optimizer.zeroGrad();
    const loss = nn.functional.crossEntropy(model.call(x), target);
    loss.backward();
    optimizer.step();
    return loss.detach();
  };
  const step = options ? compile(plain, options) : plain;
  const x = ones([1, 2], { device });
  const losses = [1, 7, 0, 1].map((label) => {
    try {
      return Number(step(x, indices(label)).item()).toFixed(5);
    } catch (error) {
      return String(error);
    }
  });
  const weights = model.parameters().map((p) => (p.tolist() as number[]).flat().map((w) => w.toFixed(5)));
  return [losses, steps, weights];
}

test("a training loop that skips a bad batch", () => {
  assertEquals(train({}), train(null));
});

test("indices that the graph computes stop it before it writes", () => {
  const state = zeros([3], { device });
  const program = (i: Tensor) => {
    state.add_(1);
    return state.indexSelect(0, i.mul(2));
  };
  const compiled = compile(program);
  assertEquals(compiled(indices(0, 1)).tolist(), [1, 1]);
  assertThrows(() => compiled(indices(2)), DynError, "but found 4");
  // The program itself has added before it failed.
  assertEquals(state.tolist(), [2, 2, 2]);
  assert(compiled(indices(1)).tolist());
});

test("what the device has no type for is the program's own error, where the program meets it", () => {
  const seen: string[] = [];
  const program = (x: Tensor, table: Tensor, i: Tensor) => {
    try {
      seen.push("begun");
      return x.div_(table.indexSelect(0, i).sum());
    } catch (error) {
      return String(error);
    }
  };
  const compiled = compile(program);
  const half = tensor(0.5, { dtype: "float64" }).to(device), table = ones([2, 2], { device });
  for (const [at, message] of [[0, "but found float64"], [5, "but found 5"]] as const) {
    for (const run of [program, compiled]) {
      assertMatch(String(run(half, table, indices(at))), RegExp(message));
    }
  }
  assertEquals(seen, Array(4).fill("begun"));
});

for (const definition of sampleBySeed(sampled, 1)) Deno.test(definition);
