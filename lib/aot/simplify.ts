/**
 * Clean-up of joint graphs by the algebra of single ops. Input: a joint graph; output: the same with fewer nodes:
 * constants as `full`, no-ops and repeated calls gone. Invariant: results keep shape, strides, type and value;
 * nodes that the graph returns are never replaced.
 */
import { type DType, isFloat } from "../base/dtype.ts";
import { type Argument, type Graph, Node } from "../graph/node.ts";
import type { TensorMeta } from "../graph/meta.ts";
import { eliminateCommonSubexpressions, isResult } from "../graph/passes.ts";
import {
  argumentsOfNode,
  GraphBuilder,
  isGraphValue,
  listOf,
  mapArguments,
  valueOfNode,
} from "../ops/graph_builder.ts";
import { findTarget, OPS } from "../ops/table.ts";
import { provablyEqual } from "../sym/decide.ts";
import type { Dim } from "../sym/expr.ts";
import { viewChain } from "./memory_root.ts";
import type { JointGraph } from "./joint.ts";

/** What a rule puts in place of a node: an earlier node, a constant tensor, or nothing. */
type Replacement =
  | { readonly kind: "node"; readonly node: Node }
  | { readonly kind: "full"; readonly value: number }
  | undefined;

/** A rewrite rule for calls of some targets. */
interface Rule {
  readonly targets: readonly string[];
  apply(node: Node, meta: TensorMeta): Replacement;
}

/** The element of constant tensors, by target; `full` and its kin say it themselves. */
const CONSTANTS: Readonly<Record<string, number>> = {
  zeros: 0,
  zerosLike: 0,
  newZeros: 0,
  zero: 0,
  ones: 1,
  onesLike: 1,
  newOnes: 1,
};

const RULES: readonly Rule[] = [
  // zerosLike(x) → full(shape, 0): reads nothing of x, so x need not be kept for it
  {
    targets: Object.keys(CONSTANTS),
    apply: (node) => ({ kind: "full", value: CONSTANTS[node.target] ?? 0 }),
  },
  // fullLike(x, v), newFull(x, size, v) → full(shape, v)
  {
    targets: ["fullLike", "newFull"],
    apply: (node) => {
      const value = node.args[node.target === "fullLike" ? 1 : 2];
      return typeof value === "number" ? { kind: "full", value } : undefined;
    },
  },
  // view of a constant → that constant in the view's shape
  {
    targets: [
      "expand",
      "reshape",
      "view",
      "permute",
      "transpose",
      "t",
      "unsqueeze",
      "squeeze",
      "select",
      "slice",
    ],
    apply: (node) => constant(node.args[0]),
  },
  // a view or copy that changes neither layout nor type → its argument; values without storage are never written
  {
    targets: [
      "reshape",
      "view",
      "expand",
      "permute",
      "contiguous",
      "clone",
      "detach",
      "squeeze",
      "slice",
      "viewAs",
    ],
    apply: (node, meta) => same(node.args[0], meta),
  },
  // to(x, own type) → x
  { targets: ["to"], apply: (node, meta) => same(node.args[0], meta) },
  // x · 1, x / 1 → x, exact for every x, where neither shape nor type changes
  {
    targets: ["mul", "truediv", "div"],
    apply: (node, meta) => {
      const [a, b] = node.args;
      if (Object.keys(node.kwargs).length > 0) return undefined;
      if (isOne(b)) return same(a, meta);
      return node.target === "mul" && isOne(a) ? same(b, meta) : undefined;
    },
  },
  // x¹ → x
  { targets: ["pow"], apply: (node, meta) => isOne(node.args[1]) ? same(node.args[0], meta) : undefined },
  // c₁ · c₂, −c of constants, in the precision of the type
  {
    targets: ["mul"],
    apply: (node, { dtype }) => {
      const a = scalar(node.args[0]), b = scalar(node.args[1]);
      return a === undefined || b === undefined ? undefined : rounded(a * b, dtype);
    },
  },
  {
    targets: ["neg"],
    apply: (node, { dtype }) => {
      const value = scalar(node.args[0]);
      return value === undefined ? undefined : rounded(-value, dtype);
    },
  },
];

const BY_TARGET = new Map<string, Rule[]>();
for (const rule of RULES) {
  for (const target of rule.targets) BY_TARGET.set(target, [...BY_TARGET.get(target) ?? [], rule]);
}

/** Simplifies a joint graph in place, to a fixed point. */
export function simplify({ graph }: Pick<JointGraph, "graph">): void {
  let changed = true;
  for (let round = 0; changed && round < 8; round++) {
    changed = applyRules(graph);
    const memory = memoryOfResults(graph);
    changed = eliminateCommonSubexpressions(graph, (node) => memory.has(node)) || changed;
  }
}

/** Results and what they are views of: callers get separate tensors with separate memory, however equal. */
function memoryOfResults(graph: Graph): Set<Node> {
  return new Set([...graph.output.inputs()].flatMap(viewChain));
}

function applyRules(graph: Graph): boolean {
  let changed = false;
  for (const node of [...graph.nodes]) {
    const rules = BY_TARGET.get(node.target);
    if (node.op !== "call_function" || !rules || node.meta.value.kind !== "tensor" || node.users.size === 0) {
      continue;
    }
    const meta = node.meta.value.tensor;
    for (const rule of rules) {
      const found = rule.apply(node, meta);
      if (!found) continue;
      // A result must stay a node of its own, with its strides; a constant may be made anew for it.
      if (isResult(node) && (found.kind === "node" || !(node.target in CONSTANTS))) continue;
      const replacement = found.kind === "full"
        ? makeFull(graph, node, { meta, value: found.value })
        : found.node;
      for (const user of node.replaceAllUsesWith(replacement)) refreshMeta(user);
      changed = true;
      break;
    }
  }
  return graph.eliminateDeadCode() || changed;
}

function makeFull(graph: Graph, node: Node, { meta, value }: { meta: TensorMeta; value: number }): Node {
  const builder = new GraphBuilder(graph, node);
  const { stack, partition } = node.meta;
  builder.shared = { stack, ...(partition ? { partition } : {}) };
  const { shape, dtype, device } = meta;
  const args = { size: shape, fillValue: value, dtype, device };
  const [made] = listOf(builder.call({ definition: OPS.full, args }));
  return made?.node ?? node;
}

/** A constant is row-major where the view that it replaces was not: what depends on strides is inferred again. */
function refreshMeta(node: Node): void {
  const { value } = node.meta;
  if (node.op !== "call_function" || value.kind !== "tensor") return;
  const definition = findTarget(node.target)?.definition;
  if (!definition || node.target === "getitem") return;
  const args = argumentsOfNode(node, definition, valueOfNode, isGraphValue);
  const inferred = definition.infer(mapArguments(args, ({ meta }) => meta));
  const [tensor] = [inferred].flat();
  if (!tensor || equalDims(tensor.strides, value.tensor.strides)) return;
  node.meta.value = { ...value, tensor };
  for (const user of node.users.keys()) refreshMeta(user);
}

/** A node with the same shape, strides, offset and type, where the argument is one. */
function same(argument: Argument, meta: TensorMeta): Replacement {
  if (!(argument instanceof Node) || argument.meta.value.kind !== "tensor") return undefined;
  const other = argument.meta.value.tensor;
  const equal = other.dtype === meta.dtype && equalDims(other.shape, meta.shape) &&
    equalDims(other.strides, meta.strides);
  return equal ? { kind: "node", node: argument } : undefined;
}

/** Equality that records no guard. */
function equalDims(a: readonly Dim[], b: readonly Dim[]): boolean {
  return a.length === b.length && a.every((size, d) => provablyEqual(size, b[d] ?? -1) === true);
}

/** The constant that a node is. */
function constant(argument: Argument): Replacement {
  const value = scalar(argument);
  return value === undefined ? undefined : { kind: "full", value };
}

function scalar(argument: Argument): number | undefined {
  if (typeof argument === "number") return argument;
  if (!(argument instanceof Node) || argument.op !== "call_function" || argument.target !== "full") {
    return undefined;
  }
  const value = argument.args[1];
  return typeof value === "number" ? value : undefined;
}

function isOne(argument: Argument): boolean {
  return scalar(argument) === 1;
}

/** Folding must round as the kernel would; integers and bools are left to it. */
function rounded(value: number, dtype: DType): Replacement {
  if (!isFloat(dtype)) return undefined;
  return { kind: "full", value: dtype === "float32" ? Math.fround(value) : value };
}
