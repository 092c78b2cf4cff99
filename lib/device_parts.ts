/**
 * Graphs over tensors on several devices: each device runs the part whose results are on it. Invariant: a part's inputs
 * are on its device; those from elsewhere, such as a number on the CPU that scales a tensor on a GPU, are copied there.
 */
import { partition } from "./aot/engines/partition.ts";
import type { DType } from "./base/dtype.ts";
import type { CompiledFunction } from "./graph/backend.ts";
import { copyGraph } from "./graph/copy.ts";
import { GraphModule } from "./graph/graph_module.ts";
import type { Graph, Node, NodeValue } from "./graph/node.ts";
import { type DeviceName, findDevice } from "./loops/device.ts";
import { isTensor, type Tensor } from "./tensor/tensor.ts";

/** Compiles a graph whose tensors are all on one device. */
type CompileOn = (module: GraphModule, device: DeviceName) => CompiledFunction;

/** The devices of a graph's tensors, in the order of its nodes. */
export function devicesOf(graph: Graph): readonly DeviceName[] {
  return [...new Set(graph.nodes.flatMap((node) => deviceOf(node) ?? []))];
}

/** Compiles a graph as one part for each of several devices, or more, where they read each other's results. */
export function compileParts(
  module: GraphModule,
  devices: readonly DeviceName[],
  compile: CompileOn,
): CompiledFunction {
  const supports = devices.map((device) => [device, (node: Node) => deviceOf(node) === device] as const);
  const engines = devices.map((device) =>
    [device, (part: GraphModule) => compilePart(part, device, compile)] as const
  );
  return partition(module, Object.fromEntries(supports)).compile(Object.fromEntries(engines));
}

function compilePart(part: GraphModule, device: DeviceName, compile: CompileOn): CompiledFunction {
  const foreign = new Set(
    part.graph.placeholders.flatMap((node, at) => (deviceOf(node) ?? device) === device ? [] : [at]),
  );
  if (foreign.size === 0) return compile(part, device);
  const graph = copyGraph(part.graph);
  for (const { meta } of graph.placeholders) meta.value = valueOn(device, meta.value);
  const run = compile(new GraphModule(graph, part.attributes, part.runner, part.signature), device);
  return (...args) =>
    run(...args.map((arg, at) => foreign.has(at) && isTensor(arg) ? copiedTo(device, arg) : arg));
}

/** Returns whether numbers of a graph become float32 on a device. */
const narrows = (device: DeviceName, dtype: DType): boolean =>
  dtype === "float64" && findDevice(device)?.lacksFloat64 === true;

const copiedTo = (device: DeviceName, tensor: Tensor): Tensor =>
  (narrows(device, tensor.dtype) ? tensor.to("float32") : tensor).to(device);

function valueOn(device: DeviceName, value: NodeValue): NodeValue {
  if (value.kind !== "tensor") return value;
  const { tensor } = value, dtype = narrows(device, tensor.dtype) ? "float32" : tensor.dtype;
  return { ...value, tensor: { ...tensor, device, dtype } };
}

/** The device of a node's value; undefined if it is no tensor. */
function deviceOf({ meta: { value } }: Node): DeviceName | undefined {
  if (value.kind === "tensor") return value.tensor.device;
  return value.kind === "tensors" ? value.tensors[0]?.device : undefined;
}
