/**
 * Graphs for tests of the inductor: the decomposed graph of a function, its results computed op by op, and those of
 * its compiled program. Invariant: the op by op evaluation shares no code with the inductor except the op definitions
 * and the reference interpreter.
 */
import { assertEquals } from "@std/assert";
import { interpret } from "../reference/interpret.ts";
import type { Precision } from "../reference/scalar.ts";
import { type DType, type HostArray, hostArray, itemSize } from "../../lib/base/dtype.ts";
import type { Plain } from "../../lib/base/recording.ts";
import { contiguousMeta, contiguousStrides, type TensorMeta } from "../../lib/graph/meta.ts";
import { type Argument, Graph, isList, Node } from "../../lib/graph/node.ts";
import { printGraph } from "../../lib/graph/print.ts";
import { RANDOM_KEYS } from "../../lib/graph/signature.ts";
import { readGraph, readStacks, stacksOf, writeGraph, writeStacks } from "../../lib/graph/stored/graph.ts";
import type { CompiledGraph } from "../../lib/inductor/compiled_graph.ts";
import { compileGraph, type CompileOptions } from "../../lib/inductor/compile_graph.ts";
import type { BufferDecl, Program } from "../../lib/loops/ir.ts";
import { printProgram } from "../../lib/loops/print.ts";
import { loopProgram } from "../../lib/loops/stored/program.ts";
import type { BufferOperand } from "../../lib/loops/record.ts";
import { recordLowered } from "../../lib/loops/nest.ts";
import { makeOpApi } from "../../lib/ops/api.ts";
import { parseCall } from "../../lib/ops/call.ts";
import type { OpDefinition } from "../../lib/ops/definition.ts";
import type { OpApi } from "../../lib/ops/generated.ts";
import { GraphBuilder, GraphValue, isGraphValue } from "../../lib/ops/graph_builder.ts";
import { findTarget } from "../../lib/ops/table.ts";
import { type Dim, evaluate, product, Sym } from "../../lib/sym/expr.ts";
import { Symbols } from "../../lib/sym/stored/symbols.ts";

/** A tensor in host memory. */
export interface HostTensor {
  readonly shape: readonly number[];
  readonly dtype: DType;
  readonly data: HostArray;
}

/** Builds the decomposed graph of a function over tensors. */
export function traced(
  inputs: readonly (readonly Dim[] | TensorMeta)[],
  body: (o: OpApi<GraphValue>, inputs: readonly GraphValue[]) => readonly GraphValue[],
): Graph {
  const graph = new Graph();
  const builder = new GraphBuilder(graph);
  const api: OpApi<GraphValue> = makeOpApi<GraphValue>((definition, given) => {
    const args = parseCall(definition, given, isGraphValue);
    const { implementation } = definition;
    if (implementation.kind === "composite") return implementation.compose(api, args);
    const keys = implementation.kind === "random" ? { [RANDOM_KEYS]: randomKeys(builder) } : {};
    return builder.call({ definition, args }, keys);
  });
  const values = inputs.map((input, i) =>
    builder.tensor(
      "abcdefghijklmnopqrstuvwxyz"[i] ?? `x${i}`,
      isShape(input) ? contiguousMeta(input, "float32", "cpu") : input,
    )
  );
  const outputs = body(api, values);
  builder.output(outputs.map((value) => value.node));
  return graph;
}

function isShape(input: readonly Dim[] | TensorMeta): input is readonly Dim[] {
  return Array.isArray(input);
}

/** Two more inputs, after those of the function. */
function randomKeys(builder: GraphBuilder): readonly Argument[] {
  const key = () =>
    builder.placeholder("key", {
      kind: "tensor",
      tensor: contiguousMeta([], "int32", "cpu"),
      requiresGrad: false,
    });
  return [key(), key()];
}

/** The definition of a graph's call. */
export function lookup(target: string): OpDefinition | undefined {
  return findTarget(target)?.definition;
}

/** A reproducible tensor with values in an interval. */
export function sample(
  shape: readonly number[],
  dtype: DType = "float32",
  range: readonly [number, number] = [-2, 2],
): HostTensor {
  const length = shape.reduce((n, s) => n * s, 1);
  const data = hostArray(dtype, new ArrayBuffer(length * itemSize(dtype)));
  let state = 12345 + length;
  for (let i = 0; i < length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const value = range[0] + (state / 2 ** 32) * (range[1] - range[0]);
    if (data instanceof BigInt64Array) data[i] = BigInt(Math.floor(value));
    else data[i] = dtype === "bool" ? (value > 0 ? 1 : 0) : value;
  }
  return { shape, dtype, data };
}

/** The outputs of a graph, every op by itself on row-major memory. */
export function evaluateByOp(
  graph: Graph,
  inputs: readonly HostTensor[],
  sizes: ReadonlyMap<Sym, number> = new Map(),
): HostTensor[] {
  const values = new Map<Node, HostTensor | readonly HostTensor[]>();
  graph.placeholders.forEach((node, i) => {
    const input = inputs[i];
    if (input) values.set(node, input);
  });
  const known = (d: Dim) => evaluate(d, (s) => sizes.get(s) ?? 0);
  const one = (node: Node): HostTensor => {
    const value = values.get(node);
    if (!value || isMany(value)) throw new Error(`Expected one tensor at ${node.name}`);
    return value;
  };
  for (const node of graph.nodes) {
    if (node.op !== "call_function") continue;
    const [of, index] = node.args;
    const parts = node.target === "getitem" && of instanceof Node ? values.get(of) : undefined;
    if (parts && isMany(parts) && typeof index === "number") {
      const part = parts[index];
      if (part) values.set(node, part);
      continue;
    }
    const results = evaluateOp(node, { one, known });
    const [first] = results;
    if (node.meta.value.kind === "tensors") values.set(node, results);
    else if (first) values.set(node, first);
  }
  const [list] = graph.output.args;
  return (isList(list) ? list : [list]).map((each) => {
    if (!(each instanceof Node)) throw new Error("Expected tensors as outputs");
    return one(each);
  });
}

interface Values {
  readonly one: (node: Node) => HostTensor;
  readonly known: (d: Dim) => number;
}

function evaluateOp(node: Node, { one, known }: Values): HostTensor[] {
  const definition = lookup(node.target);
  const { value } = node.meta;
  if (!definition) throw new Error(`Expected an op but found ${node.target}`);
  const buffers: BufferDecl[] = [], arrays: HostArray[] = [];
  const operand = (tensor: HostTensor): BufferOperand => {
    const strides = contiguousStrides(tensor.shape);
    buffers.push({
      name: `x${buffers.length}`,
      dtype: tensor.dtype,
      length: tensor.data.length,
      role: { kind: "input", written: false },
    });
    arrays.push(tensor.data);
    return { shape: tensor.shape, dtype: tensor.dtype, strides, offset: 0, buffer: buffers.length - 1 };
  };
  const resolve = (argument: Argument): unknown => {
    if (argument instanceof Node) return operand(one(argument));
    if (isList(argument)) return argument.map(resolve);
    return argument instanceof Sym ? known(argument) : argument;
  };
  const given = node.args.map(resolve);
  const named = Object.entries(node.kwargs).filter(([name]) => name !== RANDOM_KEYS);
  if (named.length > 0) given.push(Object.fromEntries(named.map(([k, v]) => [k, resolve(v)])));
  const args = parseCall<BufferOperand>(definition, given, isBuffer);
  const metas = (value.kind === "tensor" ? [value.tensor] : value.kind === "tensors" ? value.tensors : [])
    .map((meta) => contiguousMeta(meta.shape.map(known), meta.dtype, "cpu"));
  const { implementation } = definition;
  const keys = node.kwargs[RANDOM_KEYS];
  const [key0, key1] = keys !== undefined && isList(keys) ? keys.map(resolve) : [];
  const lowered = implementation.kind === "random" && isBuffer(key0) && isBuffer(key1)
    ? implementation.lower(args, metas, [key0, key1])
    : implementation.kind === "lower" || implementation.kind === "view"
    ? implementation.lower(args, metas)
    : [];
  const results = metas.map((meta) => {
    const length = known(product(meta.shape));
    return {
      shape: meta.shape.map(known),
      dtype: meta.dtype,
      data: hostArray(meta.dtype, new ArrayBuffer(length * itemSize(meta.dtype))),
    };
  });
  const targets = results.map((result): BufferOperand => {
    buffers.push({
      name: `y${buffers.length}`,
      dtype: result.dtype,
      length: result.data.length,
      role: { kind: "output" },
    });
    return { ...result, strides: contiguousStrides(result.shape), offset: 0, buffer: buffers.length - 1 };
  });
  const kernels = lowered.map((each, i) => {
    const target = targets[i];
    return recordLowered(each, each.kind === "extern" ? targets : target ? [target] : [], {
      name: node.name,
    });
  });
  interpret({
    name: node.name,
    buffers,
    inputs: arrays.map((_, i) => i),
    outputs: targets.map((t) => t.buffer),
    sizes: [],
    arenaBytes: 0,
    kernels,
  }, { inputs: arrays, outputs: results.map((r) => r.data) });
  return results;
}

function isBuffer(value: unknown): value is BufferOperand {
  return typeof value === "object" && value !== null && "shape" in value && "dtype" in value &&
    Array.isArray(value.shape) &&
    "buffer" in value;
}

function isMany(value: HostTensor | readonly HostTensor[]): value is readonly HostTensor[] {
  return Array.isArray(value);
}

/** Compiles a graph (which the passes may change). */
export function compiled(graph: Graph, options: CompileOptions = {}): CompiledGraph {
  const made = compileGraph(graph, lookup, options);
  assertKept(graph, made.program);
  return made;
}

/** Checks that a later process reads a graph and its program as they were written. */
function assertKept(graph: Graph, program: Program): void {
  const symbols = new Symbols(), stacks = stacksOf(graph);
  const through = (form: Plain): Plain => JSON.parse(JSON.stringify(form));
  const lines = readStacks(through(writeStacks(graph, [...new Set(stacks)])), [...new Set(stacks)]);
  const again = readGraph(through(writeGraph(graph, symbols)), symbols, lines);
  assertEquals(stacksOf(again), stacks);
  assertEquals(printGraph(again, { types: true }), printGraph(graph, { types: true }));
  const written = through(loopProgram.write(program, symbols));
  symbols.locals.clear();
  const text = (each: Program) => printProgram(each, { origins: false });
  assertEquals(text(loopProgram.read(written, symbols)), text(program));
}

/** Runs a compiled graph on the reference, or as it is told; results come row-major. */
export function runCompiled(
  { program, inputs: used, outputBuffers, outputs }: CompiledGraph,
  inputs: readonly HostTensor[],
  { sizes = new Map(), precision = "exact", run = interpret }: {
    readonly sizes?: ReadonlyMap<Sym, number>;
    readonly precision?: Precision;
    readonly run?: (program: Program, call: Parameters<typeof interpret>[1]) => void;
  } = {},
): HostTensor[] {
  const known = (d: Dim) => evaluate(d, (s) => sizes.get(s) ?? 0);
  const given = used.map((i) => {
    const input = inputs[i];
    if (!input) throw new Error(`Expected an input ${i}`);
    return input.data;
  });
  const made = outputBuffers.map(({ length, dtype }) =>
    hostArray(dtype, new ArrayBuffer(known(length) * itemSize(dtype)))
  );
  run(program, {
    inputs: given,
    outputs: made,
    sizes: program.sizes.map((s) => sizes.get(s) ?? 0),
    precision,
  });
  return outputs.map((output): HostTensor => {
    if (output.kind === "input") {
      const input = inputs[output.placeholder];
      if (!input) throw new Error("Expected the mutated input");
      return input;
    }
    if (output.kind !== "tensor") throw new Error("Expected a tensor output");
    const memory = output.of === "output" ? made[output.index] : given[output.index];
    const shape = output.shape.map(known), strides = output.strides.map(known), offset = known(output.offset);
    const length = shape.reduce((n, s) => n * s, 1);
    const data = hostArray(output.dtype, new ArrayBuffer(length * itemSize(output.dtype)));
    for (let i = 0; i < length; i++) {
      let rest = i, at = offset;
      for (let d = shape.length - 1; d >= 0; d--) {
        at += (rest % (shape[d] ?? 1)) * (strides[d] ?? 0);
        rest = Math.floor(rest / (shape[d] ?? 1));
      }
      const value = memory?.[at] ?? 0;
      if (data instanceof BigInt64Array) data[i] = BigInt(value);
      else data[i] = Number(value);
    }
    return { shape, dtype: output.dtype, data };
  });
}

/** The largest difference of two tensors, relative to 1 + magnitude; NaN equals NaN. */
export function difference(a: HostTensor, b: HostTensor): number {
  if (a.shape.join() !== b.shape.join() || a.dtype !== b.dtype) return Infinity;
  let most = 0;
  for (let i = 0; i < a.data.length; i++) {
    const x = Number(a.data[i]), y = Number(b.data[i]);
    if (Object.is(x, y) || x === y) continue;
    const d = Math.abs(x - y) / (1 + Math.abs(y));
    most = Math.max(most, Number.isNaN(d) ? Infinity : d);
  }
  return most;
}
