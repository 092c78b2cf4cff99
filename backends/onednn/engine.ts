/**
 * oneDNN as an engine: matrix products, convolutions and their gradients, softmax and layer normalisation of float32
 * on the CPU. Invariant: unsupported nodes run elsewhere.
 */
import { DynError, invariant } from "../../lib/base/errors.ts";
import { counters } from "../../lib/base/logs.ts";
import { copyNodes } from "../../lib/graph/copy.ts";
import type { EngineCode } from "../../lib/graph/engines.ts";
import { GraphModule } from "../../lib/graph/graph_module.ts";
import type { Argument, Graph, Node } from "../../lib/graph/node.ts";
import { findTarget } from "../../lib/ops/table.ts";
import { isTensor, type Tensor } from "../../lib/tensor/tensor.ts";
import { requireToolchain, threadCount } from "../cpu/toolchain.ts";
import { compute, oneDnn, oneDnnAbsence, oneDnnIdentity, type Operand } from "./primitives.ts";
import { type Pattern, patternAt } from "./patterns.ts";

/** Returns whether all values are tensors that oneDNN supports here, with elements. */
function isTaken(nodes: Iterable<Node>): boolean {
  return [...nodes].every(({ meta: { value } }) => {
    if (value.kind !== "tensor") return false;
    const { dtype, device, shape } = value.tensor;
    return dtype === "float32" && device === "cpu" && !shape.includes(0) && shape.length > 0;
  });
}

type Compute = (...args: unknown[]) => Tensor;

/** Ops that map to one primitive, with arguments in the order of the op's parameters. */
const OPS: Readonly<Record<string, Compute>> = {
  mm: (a, b) => product(tensorOf(a), tensorOf(b)),
  bmm: (a, b) => product(tensorOf(a), tensorOf(b)),
  convolution: (input, weight, bias, ...geometry) => {
    const [x, w] = [tensorOf(input), tensorOf(weight)], sizes = geometryOf(geometry);
    const shape = [
      x.size(0),
      w.size(0),
      ...x.shape.slice(2).map((size, d) => convolved(size, w.shape[d + 2] ?? 1, d, sizes)),
    ];
    const operands: Operand[] = [{ role: "source", tensor: x }, {
      role: "weights",
      tensor: w,
      ...grouped(w, sizes.groups),
    }];
    if (isTensor(bias)) operands.push({ role: "bias", tensor: bias.contiguous() });
    return compute({
      kind: "convolution",
      operands,
      result: { role: "result", shape },
      numbers: sizes.numbers,
    });
  },
  convolutionBackwardInput: (grad, weight, inputSizes, ...geometry) => {
    const [g, w] = [tensorOf(grad), tensorOf(weight)], { groups, numbers } = geometryOf(geometry);
    return compute({
      kind: "convolutionBackwardInput",
      operands: [{ role: "resultGradient", tensor: g }, {
        role: "weights",
        tensor: w,
        ...grouped(w, groups),
      }],
      result: { role: "sourceGradient", shape: numbersOf(inputSizes) },
      numbers,
    });
  },
  convolutionBackwardWeight: (grad, input, weightSizes, ...geometry) => {
    const [g, x] = [tensorOf(grad), tensorOf(input)], { groups, numbers } = geometryOf(geometry);
    const shape = numbersOf(weightSizes), [features = 1, ...rest] = shape;
    return compute({
      kind: "convolutionBackwardWeight",
      operands: [{ role: "source", tensor: x }, { role: "resultGradient", tensor: g }],
      result: { role: "weightsGradient", shape },
      ...groups > 1 ? { seen: [groups, features / groups, ...rest] } : {},
      numbers,
    });
  },
};

function product(a: Tensor, b: Tensor): Tensor {
  const shape = [...a.shape.slice(0, -1), b.size(-1)];
  const operands: Operand[] = [{ role: "source", tensor: inRows(a) }, { role: "weights", tensor: inRows(b) }];
  return compute({ kind: "matmul", operands, result: { role: "result", shape } });
}

/** A matrix whose rows or columns are contiguous; others would be read element by element. */
function inRows(matrix: Tensor): Tensor {
  const strides = matrix.stride(), isSpread = strides.some((stride, d) => stride === 0 && matrix.size(d) > 1);
  return !isSpread && (strides.at(-1) === 1 || strides.at(-2) === 1) ? matrix : matrix.contiguous();
}

interface Sizes {
  readonly groups: number;
  readonly stride: readonly number[];
  readonly dilation: readonly number[];
  readonly padding: readonly number[];
  /** Numbers in the order in which the shim reads them. */
  readonly numbers: readonly number[];
}

function geometryOf(args: readonly unknown[]): Sizes {
  const [stride, padding, dilation] = args.slice(0, 3).map(numbersOf), groups = Number(args[3]);
  invariant(stride && padding && dilation, "Expected strides, padding and dilations");
  return { groups, stride, padding, dilation, numbers: [stride.length, ...stride, ...dilation, ...padding] };
}

function convolved(size: number, kernel: number, d: number, { stride, dilation, padding }: Sizes): number {
  const reach = (dilation[d] ?? 1) * (kernel - 1) + 1;
  return Math.floor((size + 2 * (padding[d] ?? 0) - reach) / (stride[d] ?? 1)) + 1;
}

/** Weights of grouped convolutions have a dimension for the groups. */
function grouped(weight: Tensor, groups: number): { shape?: readonly number[]; strides?: readonly number[] } {
  if (groups === 1) return {};
  const [features = 1, ...rest] = weight.shape,
    [step = 1, ...steps] = weight.stride(),
    each = features / groups;
  return { shape: [groups, each, ...rest], strides: [step * each, step, ...steps] };
}

function numbersOf(value: unknown): number[] {
  if (Array.isArray(value)) return value.map(Number);
  throw new DynError(`Expected sizes but found ${typeof value}`);
}

function tensorOf(value: unknown): Tensor {
  if (isTensor(value)) return value;
  throw new DynError(`Expected a tensor but found ${typeof value}`);
}

/** A pattern as a function of its tensors. */
function patternFunction(pattern: Pattern): { readonly inputs: readonly Node[]; readonly run: Compute } {
  const { input } = pattern;
  if (pattern.kind !== "layerNorm") {
    const { kind, dim } = pattern;
    const run: Compute = (x) => {
      const tensor = tensorOf(x).contiguous();
      const operands: Operand[] = [{ role: "source", tensor }];
      return compute({ kind, operands, result: { role: "result", shape: tensor.shape }, numbers: [dim] });
    };
    return { inputs: [input], run };
  }
  const { scale, shift, small } = pattern,
    roles = [...scale ? ["scale"] as const : [], ...shift ? ["shift"] as const : []];
  const run: Compute = (x, ...rows) => {
    const tensor = tensorOf(x).contiguous();
    const operands: Operand[] = [{ role: "source", tensor }];
    roles.forEach((role, at) => operands.push({ role, tensor: tensorOf(rows[at]).contiguous() }));
    return compute({
      kind: "layerNorm",
      operands,
      result: { role: "result", shape: tensor.shape },
      numbers: [small],
    });
  };
  return { inputs: [input, ...[scale, shift].filter((each) => each !== null)], run };
}

/** The nodes of a graph that oneDNN runs, by the last node of each op or pattern. */
interface Claims {
  readonly patterns: ReadonlyMap<Node, Pattern>;
  readonly nodes: ReadonlySet<Node>;
}

const claimed = new WeakMap<Graph, Claims>();

function claimsOf(graph: Graph): Claims {
  const known = claimed.get(graph);
  if (known) return known;
  const nodes = new Set<Node>(), patterns = new Map<Node, Pattern>();
  for (const node of [...graph.nodes].reverse()) {
    if (node.op !== "call_function" || nodes.has(node)) continue;
    const pattern = patternAt(node);
    if (
      pattern && isTaken([pattern.input, ...pattern.nodes]) && pattern.nodes.every((each) => !nodes.has(each))
    ) {
      patterns.set(node, pattern);
      for (const each of pattern.nodes) nodes.add(each);
    } else if (Object.hasOwn(OPS, node.target)) {
      if (isTaken([node, ...node.inputs()])) nodes.add(node);
    } else if (findTarget(node.target)?.definition.implementation.kind === "view") {
      // Views without other readers cost nothing
      const users = [...node.users.keys()];
      if (users.length > 0 && users.every((user) => nodes.has(user))) nodes.add(node);
    }
  }
  const made = { patterns, nodes };
  claimed.set(graph, made);
  return made;
}

/** A part with its ops and patterns replaced by calls of primitives. */
function compile(gm: GraphModule): GraphModule {
  oneDnn();
  const { copy } = copyNodes(gm.graph), { patterns, nodes } = claimsOf(copy);
  const attributes: Record<string, unknown> = { ...gm.attributes };
  const replace = (node: Node, run: Compute, args: readonly Argument[]) => {
    const name = `onednn_${node.name}`;
    attributes[name] = run;
    node.target = name;
    node.args = args;
    node.kwargs = {};
    counters.add("onednn", "nodes");
  };
  for (const [last, pattern] of patterns) {
    const { inputs, run } = patternFunction(pattern);
    replace(last, run, inputs);
  }
  for (const node of nodes) {
    const run = Object.hasOwn(OPS, node.target) ? OPS[node.target] : undefined;
    const definition = findTarget(node.target)?.definition;
    if (!run || !definition) continue;
    const args = Object.keys(definition.params).map((name, at) => node.args[at] ?? node.kwargs[name] ?? null);
    replace(node, run, args);
  }
  copy.eliminateDeadCode();
  return new GraphModule(copy, attributes, gm.runner);
}

/** oneDNN, without its requirements. */
export const oneDnnEngine: EngineCode = {
  absence: oneDnnAbsence,
  comparison: {
    identity: () => `${requireToolchain().identity}, ${threadCount()} threads, ${oneDnnIdentity()}`,
    pieces(graph) {
      const { patterns, nodes } = claimsOf(graph);
      const calls = [...nodes].filter((node) => Object.hasOwn(OPS, node.target)).map((node) => [node]);
      return [...[...patterns.values()].map((pattern) => pattern.nodes), ...calls];
    },
  },
  supports: (node) => claimsOf(node.graph).nodes.has(node),
  compile: (gm) => compile(gm).forward,
};
