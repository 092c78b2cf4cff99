/**
 * ONNX Runtime as an engine: parts of functional graphs as models, with sizes as inputs. Invariants: a node is
 * supported only if ONNX Runtime has accepted it separately, with its types; results have the layout that the graph
 * records.
 */
import { isSupportedType, sizeTensor, toOrtTensor } from "../../backends/onnxrt/tensors.ts";
import { openSession, ortAbsence, type OrtTensor } from "../../backends/onnxrt/library.ts";
import { threadCount } from "../../backends/cpu/toolchain.ts";
import { DynError, messageOf } from "../../lib/base/errors.ts";
import { counters, logs } from "../../lib/base/logs.ts";
import type { CompiledFunction } from "../../lib/graph/backend.ts";
import type { EngineCode } from "../../lib/graph/engines.ts";
import type { GraphModule } from "../../lib/graph/graph_module.ts";
import { contiguousMeta, isContiguous, type TensorMeta } from "../../lib/graph/meta.ts";
import { type Argument, type Graph, hasEffect, isList, Node } from "../../lib/graph/node.ts";
import { readBinding, sizeBindings } from "../../lib/graph/sizes.ts";
import { findTarget } from "../../lib/ops/table.ts";
import { evaluate, print, type Sym } from "../../lib/sym/expr.ts";
import { layoutOf } from "../../lib/tensor/layout.ts";
import { allocateStorage } from "../../lib/tensor/storage.ts";
import { isTensor, Tensor } from "../../lib/tensor/tensor.ts";
import { callOf } from "./call.ts";
import { OnnxModel } from "./model.ts";
import { OnnxValue, Values } from "./values.ts";

/** The parts of a model under construction. */
interface Draft {
  readonly model: OnnxModel;
  readonly values: Values;
  readonly named: Map<Node, OnnxValue>;
  /** Sizes that the model takes as inputs, by their names. */
  readonly sizes: Map<string, Sym>;
}

function draft(): Draft {
  const model = new OnnxModel(), sizes = new Map<string, Sym>();
  const values = new Values(model, (symbol) => {
    const name = `size_${print(symbol)}`;
    sizes.set(name, symbol);
    model.input(name, [1], "int64");
    return name;
  }, false);
  return { model, values, named: new Map(), sizes };
}

function metaOf({ name, meta: { value } }: Node): TensorMeta {
  if (value.kind === "tensor") return value.tensor;
  throw new DynError(`Expected a tensor but found ${value.kind} at ${name}`);
}

function isTaken({ meta: { value } }: Node): boolean {
  if (value.kind !== "tensor") return false;
  const { dtype, device, shape } = value.tensor;
  return device === "cpu" && isSupportedType(dtype) && !shape.includes(0);
}

function addInput({ model, named }: Draft, node: Node, name: string): void {
  const { shape, dtype } = metaOf(node);
  model.input(name, shape, dtype);
  named.set(node, new OnnxValue(name, shape, dtype));
}

const NO_LISTS: ReadonlyMap<Node, OnnxValue> = new Map();

/** The reasons why models of one node were rejected, by their bytes; null for accepted ones. */
const refusals = new Map<string, string | null>();

/** Maximum number of cached answers. */
const KEPT = 4096;

/** The reason why ONNX Runtime does not support a node; null if it does. */
function refusal(node: Node): string | null {
  const definition = findTarget(node.target)?.definition;
  if (!definition) return "ONNX has no counterpart";
  const inputs = [...node.inputs()];
  if (!isTaken(node) || !inputs.every(isTaken)) return "of the types, devices or sizes of its tensors";
  const made = draft();
  try {
    inputs.forEach((each, at) => addInput(made, each, `input_${at}`));
    const result = callOf(node, { named: made.named, lists: NO_LISTS, values: made.values });
    made.model.output(result.name, "output_0", result);
  } catch (error) {
    if (error instanceof DynError) return error.message;
    throw error;
  }
  const bytes = made.model.finish("probe"), key = String.fromCharCode(...bytes), known = refusals.get(key);
  if (known !== undefined) return known;
  let answer: string | null = null;
  try {
    openSession(bytes, 1, "basic");
  } catch (error) {
    if (!(error instanceof DynError)) throw error;
    answer = error.message;
  }
  if (refusals.size >= KEPT) refusals.clear();
  refusals.set(key, answer);
  return answer;
}

const claimed = new WeakMap<Graph, ReadonlySet<Node>>();

/** The nodes of a graph that ONNX Runtime supports. */
function claimsOf(graph: Graph): ReadonlySet<Node> {
  const known = claimed.get(graph);
  if (known) return known;
  const nodes = new Set<Node>();
  for (const node of [...graph.nodes].reverse()) {
    if ((node.op !== "call_function" && node.op !== "call_method") || hasEffect(node) || node.meta.leaf) {
      continue;
    }
    const isView = findTarget(node.target)?.definition.implementation.kind === "view";
    const users = [...node.users.keys()];
    // Views with other readers remain views
    if (isView && (users.length === 0 || !users.every((user) => nodes.has(user)))) continue;
    const why = refusal(node);
    if (why === null) nodes.add(node);
    else if (!isView && node.target !== "getitem") {
      logs.emit("perf_hints", `onnxrt leaves ${node.target} to the inductor: ${why}`);
    }
  }
  claimed.set(graph, nodes);
  return nodes;
}

function allocate(meta: TensorMeta): Tensor {
  const layout = layoutOf(meta), { dtype, shape } = layout;
  return new Tensor(allocateStorage("cpu", layout.byteLength, { dtype, shape }), layout, 0);
}

/** Copies elements into the wanted layout, in which a dimension may repeat one row. */
function laidOut(dense: Tensor, wanted: TensorMeta): Tensor {
  const made = allocate(wanted);
  const first = (t: Tensor) =>
    wanted.strides.reduce<Tensor>((part, stride, d) => stride === 0 ? part.narrow(d, 0, 1) : part, t);
  first(made).copy_(first(dense));
  return made;
}

/** Compiles a part to a model, and returns a function that runs it. */
function compile(part: GraphModule): CompiledFunction {
  const { graph } = part;
  const made = draft(), { model, values, named, sizes } = made;
  const inputs = graph.placeholders.flatMap((node, at) =>
    node.meta.value.kind === "tensor" ? [{ node, at, name: `input_${at}` }] : []
  );
  for (const { node, name } of inputs) addInput(made, node, name);
  for (const node of graph.nodes) {
    if (node.op !== "call_function" && node.op !== "call_method") continue;
    named.set(node, callOf(node, { named, lists: NO_LISTS, values }));
    counters.add("onnxrt", "nodes");
  }
  const [list = null] = graph.output.args, results: readonly Argument[] = isList(list) ? list : [];
  const outputs = results.map((node, at) => {
    const value = node instanceof Node ? named.get(node) : undefined;
    if (!(node instanceof Node) || !value) throw new DynError(`Expected a tensor as output ${at} of a part`);
    const name = `output_${at}`;
    model.output(value.name, name, value);
    return { name, meta: metaOf(node) };
  });
  const isWide = [...named.values()].some(({ dtype }) => dtype === "float64");
  const threads = threadCount();
  const session = openSession(model.finish("part"), threads, isWide ? "basic" : "all");
  const bindings = new Map(sizeBindings(graph).map((each) => [each.symbol, each]));
  return (...args) => {
    const sizeOf = (symbol: Sym): number => {
      const binding = bindings.get(symbol);
      if (!binding) throw new DynError(`Expected an input that gives the size ${symbol} but found none`);
      return readBinding(binding, args);
    };
    const feeds: Record<string, OrtTensor> = {}, fetches: Record<string, OrtTensor> = {};
    for (const [name, symbol] of sizes) feeds[name] = sizeTensor(sizeOf(symbol));
    // Dense copies of operands, which live as long as the call
    const held: Tensor[] = [];
    for (const { at, name } of inputs) {
      const given = args[at];
      if (!isTensor(given)) throw new DynError(`Expected a tensor but found ${typeof given}`);
      const dense = given.contiguous();
      held.push(dense);
      feeds[name] = toOrtTensor(dense).tensor;
    }
    const made = outputs.map(({ name, meta }) => {
      const { dtype, device } = meta, shape = meta.shape.map((each) => evaluate(each, sizeOf));
      const dense = allocate(contiguousMeta(shape, dtype, device)), { tensor, takeBack } = toOrtTensor(dense);
      fetches[name] = tensor;
      const strides = meta.strides.map((each) => evaluate(each, sizeOf));
      return { dense, takeBack, wanted: { ...meta, shape, strides } };
    });
    try {
      session.run(feeds, fetches, {});
    } catch (thrown) {
      // ONNX Runtime rejects an index out of range; eager execution throws the right error
      part.forward(...args);
      throw new DynError(`Expected ONNX Runtime to run a part but found: ${messageOf(thrown)}`);
    }
    return made.map(({ dense, takeBack, wanted }) => {
      takeBack();
      return isContiguous(wanted) ? dense : laidOut(dense, wanted);
    });
  };
}

/** ONNX Runtime, without its requirements. */
export const onnxEngine: EngineCode = {
  absence: ortAbsence,
  supports: (node) => claimsOf(node.graph).has(node),
  compile,
};
