/**
 * Classifies the forward nodes of a joint graph that may be recomputed in the backward, and those that must run only
 * once. Invariant: random ops, library calls and reductions that shrink much are never recomputed, except for
 * products that are much larger than their operands: attention scores, which are recomputed from saved row maxima and
 * sums as in flash attention (Dao et al. 2022), and random numbers drawn for each score, which their keys reproduce.
 * The heuristics follow `min_cut_rematerialization_partition` of PyTorch's functorch.
 */
import { itemSize } from "../base/dtype.ts";
import { elementCount, type TensorMeta } from "../graph/meta.ts";
import type { Node } from "../graph/node.ts";
import type { Lowered } from "../loops/body.ts";
import type { OpDefinition } from "../ops/definition.ts";
import { argumentsOfNode, isGraphValue, mapArguments, valueOfNode } from "../ops/graph_builder.ts";
import { findTarget } from "../ops/table.ts";
import { hintOf } from "../sym/decide.ts";

/** Maximum length of chains of fusible ops, which bounds recomputation. */
const CHAIN_LIMIT = 100;

/**
 * A product with this many times the bytes of its operands, and at least this many bytes, is recomputed rather than
 * saved.
 */
const SPREAD = { times: 8, bytes: 1 << 22 } as const;

/** The cost class of a node. */
type NodeKind = "pointwise" | "view" | "reduction" | "random" | "expensive" | "other";

/** Classifies nodes, with memoisation. */
export class Classifier {
  readonly #kinds = new Map<Node, NodeKind>();

  /** The cost class of a node. */
  kindOf(node: Node): NodeKind {
    const known = this.#kinds.get(node);
    if (known) return known;
    const kind = classify(node);
    this.#kinds.set(node, kind);
    return kind;
  }

  /** Returns whether a compiler may compute both in one loop without storing the first. */
  fusible(producer: Node, consumer: Node): boolean {
    return isLoop(this.kindOf(producer)) && isLoop(this.kindOf(consumer));
  }
}

function isLoop(kind: NodeKind): boolean {
  return kind === "pointwise" || kind === "view" || kind === "reduction" || kind === "random";
}

function classify(node: Node): NodeKind {
  if (node.op !== "call_function" || node.target === "getitem") return "other";
  if (node.meta.region) return "expensive";
  const definition = findTarget(node.target)?.definition;
  if (!definition) return "other";
  switch (definition.implementation.kind) {
    case "view":
      return "view";
    case "random":
      return "random";
    case "lower": {
      const lowered = lower(node, definition);
      if (lowered.every(({ kind }) => kind === "pointwise")) return "pointwise";
      return lowered.every(({ kind }) => kind === "pointwise" || kind === "reduction")
        ? "reduction"
        : "expensive";
    }
    case "composite":
    case "host":
      return "expensive";
    default:
      return definition.implementation satisfies never;
  }
}

function lower(node: Node, { implementation, ...definition }: OpDefinition): readonly Lowered[] {
  if (implementation.kind !== "lower") return [];
  const args = argumentsOfNode(node, { ...definition, implementation }, valueOfNode, isGraphValue);
  return implementation.lower(mapArguments(args, ({ shape, dtype }) => ({ shape, dtype })), metasOf(node));
}

/** Metadata of a node's results. */
export function metasOf({ meta: { value } }: Node): readonly TensorMeta[] {
  return value.kind === "tensor" ? [value.tensor] : value.kind === "tensors" ? value.tensors : [];
}

/** Bytes of a node's results in the traced call. */
export function bytesOf(node: Node): number {
  return metasOf(node).reduce((sum, meta) => sum + hintOf(elementCount(meta)) * itemSize(meta.dtype), 0);
}

/** The forward part in the form that the heuristics use. */
export interface ForwardNodes {
  /** Nodes that forward results depend on, in order. */
  readonly required: ReadonlySet<Node>;
  /** Nodes that depend on no tangent. */
  readonly independent: ReadonlySet<Node>;
  readonly classifier: Classifier;
}

/** The nodes that must not be computed again. */
export function bannedFromRecomputation(forward: ForwardNodes): Set<Node> {
  const { required, classifier } = forward;
  const banned = new Set<Node>();
  const spread = spreadNodes(forward);
  for (const node of required) {
    if (node.op === "placeholder" || spread.has(node)) continue;
    if (isCostly(node, classifier) || isStoredAgain(node, forward)) banned.add(node);
  }
  // Repeating a view is free, and its memory is saved with its base.
  const ban = (node: Node) => {
    if (node.op !== "placeholder" && classifier.kindOf(node) !== "view") banned.add(node);
  };
  const order = new Map([...required].map((node, at) => [node, at]));
  const orderOf = (node: Node) => order.get(node) ?? Infinity;
  const forwardUsers = (node: Node) => [...node.users.keys()].filter((user) => required.has(user));
  // A value read early and again much later would occupy memory in between, so the later reader is saved.
  for (const node of required) {
    const users = forwardUsers(node);
    if (users.length < 2) continue;
    const first = firstUnfusible(users, { orderOf, forwardUsers, classifier });
    for (const user of users) if (orderOf(user) > first && classifier.fusible(node, user)) ban(user);
  }
  const visited = new Set<Node>();
  for (const start of required) {
    const pending = [start];
    while (pending.length > 0) {
      pending.sort((a, b) => orderOf(b) - orderOf(a));
      const node = pending.pop();
      if (!node || visited.has(node)) continue;
      visited.add(node);
      if (orderOf(node) > orderOf(start) + CHAIN_LIMIT && pending.length === 0) {
        ban(node);
        break;
      }
      pending.push(
        ...forwardUsers(node).filter((user) => classifier.fusible(node, user) && !banned.has(user)),
      );
    }
  }
  for (const node of required) if (isRecomputed(node, required)) banned.delete(node);
  return banned;
}

/**
 * Returns whether the program requests recomputation: the value is an intermediate of a checkpoint that no forward
 * node outside reads.
 */
export function isRecomputed(node: Node, required: ReadonlySet<Node>): boolean {
  const { recomputed, begins } = node.meta;
  if (recomputed === undefined || begins) return false;
  return [...node.users.keys()].every((user) =>
    user.op !== "output" && (!required.has(user) || user.meta.recomputed === recomputed)
  );
}

/**
 * Products that are much larger than their operands, pointwise results computed from them, and the random numbers these
 * use.
 */
export function spreadNodes({ required, classifier }: ForwardNodes): Set<Node> {
  const spread = new Set<Node>(), drawn = new Set<Node>();
  for (const node of required) {
    const kind = classifier.kindOf(node), inputs = [...node.inputs()];
    const single = kind === "pointwise" || kind === "view";
    if ((single && inputs.some((input) => spread.has(input))) || spreads(node, inputs)) spread.add(node);
    else if (
      kind === "random" ? bytesOf(node) >= SPREAD.bytes : single && inputs.some((input) => drawn.has(input))
    ) drawn.add(node);
  }
  for (const node of [...drawn].reverse()) {
    if ([...node.users.keys()].some((user) => spread.has(user))) spread.add(node);
  }
  return spread;
}

/** Returns whether a product is so much larger than its operands that it is recomputed rather than saved. */
export function spreads(node: Node, operands: readonly Node[]): boolean {
  if (node.target !== "bmm" && node.target !== "mm") return false;
  const bytes = bytesOf(node), read = operands.reduce((sum, operand) => sum + bytesOf(operand), 0);
  return bytes >= SPREAD.bytes && bytes >= SPREAD.times * read;
}

/** The nodes whose computation takes longer than moving their inputs and outputs. */
export function costlyNodes({ required, classifier }: ForwardNodes): Set<Node> {
  return new Set(
    [...required].filter((node) =>
      node.op !== "placeholder" && !isRecomputed(node, required) && isCostly(node, classifier)
    ),
  );
}

function isCostly(node: Node, classifier: Classifier): boolean {
  // Collectives run only once
  if (node.meta.begins && node.meta.value.kind === "tensors") return true;
  const kind = classifier.kindOf(node);
  switch (kind) {
    case "random":
    case "expensive":
      return true;
    case "reduction": {
      const read = [...node.inputs()].reduce((sum, input) => sum + bytesOf(input), 0);
      return 4 * bytesOf(node) < read;
    }
    case "pointwise":
    case "view":
    case "other":
      return false;
    default:
      return kind satisfies never;
  }
}

/**
 * Returns whether a recomputed node would have to be stored: something in the backward that cannot fuse with it reads
 * it.
 */
function isStoredAgain(start: Node, { required, classifier }: ForwardNodes): boolean {
  if (classifier.kindOf(start) !== "pointwise") return false;
  const seen = new Set<Node>([start]);
  for (const node of seen) {
    for (const user of node.users.keys()) {
      if (user.op === "output") continue;
      if (!required.has(user) && !classifier.fusible(node, user)) return true;
      if (classifier.kindOf(user) === "view") seen.add(user);
    }
  }
  return false;
}

interface Walk {
  readonly orderOf: (node: Node) => number;
  readonly forwardUsers: (node: Node) => readonly Node[];
  readonly classifier: Classifier;
}

/** The position of the first node after `starts` that ends a fused loop, or that of the last start. */
function firstUnfusible(starts: readonly Node[], { orderOf, forwardUsers, classifier }: Walk): number {
  const last = Math.max(...starts.map(orderOf));
  const pending = starts.map((node) => ({ node, fusible: true }));
  const seen = new Set<Node>(starts);
  while (pending.length > 0) {
    pending.sort((a, b) => orderOf(b.node) - orderOf(a.node));
    const next = pending.pop();
    if (!next) break;
    if (!next.fusible) return orderOf(next.node);
    for (const user of forwardUsers(next.node)) {
      if (orderOf(user) > last || seen.has(user)) continue;
      seen.add(user);
      pending.push({ node: user, fusible: classifier.fusible(next.node, user) });
    }
  }
  return last;
}
