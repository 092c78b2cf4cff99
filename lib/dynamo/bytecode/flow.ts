/**
 * The control flow graph from one offset of a code object, for printing structured statements: nodes in reverse
 * postorder with dominators.
 *
 * Invariants: a try region is entered through its `try` node only. A region with several entries (because a function is
 * resumed inside of it) appears once for each entry.
 */
import type { CodeObject, ExceptionEntry } from "./code.ts";
import type { Offset } from "./instruction.ts";
import { handlersAt, successors } from "./effects.ts";

/** One occurrence of a region in the graph. */
export interface RegionInstance {
  readonly entry: ExceptionEntry;
  readonly parent: RegionInstance | null;
  readonly depth: number;
}

/** A straight piece of code, or the start of a try statement. */
export type FlowNode = BlockNode | TryNode;

interface NodeBase {
  readonly region: RegionInstance | null;
  readonly successors: FlowNode[];
  readonly predecessors: FlowNode[];
  /** Position in reverse postorder. */
  order: number;
  dominator: FlowNode | null;
  readonly children: FlowNode[];
}

export interface BlockNode extends NodeBase {
  readonly kind: "block";
  readonly start: Offset;
  /** Offset after the last instruction. */
  readonly end: Offset;
}

export interface TryNode extends NodeBase {
  readonly kind: "try";
  readonly instance: RegionInstance;
  body: FlowNode | null;
  handler: FlowNode | null;
}

export interface Flow {
  readonly entry: FlowNode;
  readonly nodes: readonly FlowNode[];
  /** The node that control reaches when it goes from `from` to an offset. */
  target(from: FlowNode, offset: Offset): FlowNode;
  /** Whether every loop has a single entry, so that structured statements can express it. */
  readonly reducible: boolean;
}

/** Offsets at which straight pieces start. */
export function blockStarts(code: CodeObject, entry: Offset): ReadonlySet<Offset> {
  const starts = new Set<Offset>([entry]);
  code.instructions.forEach((i, at) => {
    const next = successors(code, at);
    if (next.length !== 1 || next[0] !== at + 1) {
      for (const to of next) starts.add(to);
      starts.add(at + 1);
    }
    if (i.op === "jump") starts.add(i.target);
  });
  for (const h of code.handlers) {
    starts.add(h.start);
    starts.add(h.end);
    starts.add(h.target);
  }
  return starts;
}

/** Builds the graph. Throws RangeError if regions had to be repeated too often. */
export function buildFlow(code: CodeObject, entry: Offset): Flow {
  return new FlowBuilder(code, entry).build();
}

class FlowBuilder {
  private readonly starts: ReadonlySet<Offset>;
  private readonly nodes: FlowNode[] = [];
  private readonly blocks = new Map<RegionInstance | null, Map<Offset, BlockNode>>();
  private readonly tries = new Map<RegionInstance | null, Map<string, TryNode>>();
  private readonly work: BlockNode[] = [];

  constructor(private readonly code: CodeObject, private readonly start: Offset) {
    this.starts = blockStarts(code, start);
  }

  build(): Flow {
    const entry = this.reach(null, this.start);
    for (let node = this.work.pop(); node; node = this.work.pop()) {
      for (const to of successors(this.code, node.end - 1)) this.link(node, this.reach(node.region, to));
    }
    const ordered = reversePostorder(entry);
    const reducible = dominators(ordered);
    return {
      entry,
      nodes: ordered,
      target: (from, offset) => this.find(from, offset),
      reducible,
    };
  }

  /** Relevant regions around an offset, outermost first. */
  private chain(offset: Offset): readonly ExceptionEntry[] {
    const seen = new Set<Offset>();
    return handlersAt(this.code, offset).filter((h) => {
      const known = seen.has(h.target);
      seen.add(h.target);
      return !known;
    }).reverse();
  }

  /** The node for going from inside `from` to an offset; creates missing nodes. */
  private reach(from: RegionInstance | null, offset: Offset): FlowNode {
    const chain = this.chain(offset);
    let region = commonRegion(from, chain);
    let depth = region?.depth ?? 0;
    let first: FlowNode | null = null;
    let above: TryNode | null = null;
    for (; depth < chain.length; depth++) {
      const entry = chain[depth];
      if (!entry) break;
      const made = this.tryNode(region, entry, offset);
      if (above && above.body === null) {
        above.body = made;
        this.link(above, made);
      }
      first ??= made;
      above = made;
      region = made.instance;
    }
    const block = this.block(region, offset);
    if (above && above.body === null) {
      above.body = block;
      this.link(above, block);
    }
    return first ?? block;
  }

  private find(from: FlowNode, offset: Offset): FlowNode {
    return this.reach(from.region, offset);
  }

  private tryNode(parent: RegionInstance | null, entry: ExceptionEntry, offset: Offset): TryNode {
    let table = this.tries.get(parent);
    if (!table) this.tries.set(parent, table = new Map());
    const key = `${entry.target}:${offset}`;
    const known = table.get(key);
    if (known) return known;
    const instance: RegionInstance = { entry, parent, depth: (parent?.depth ?? 0) + 1 };
    const node: TryNode = {
      kind: "try",
      instance,
      region: parent,
      body: null,
      handler: null,
      successors: [],
      predecessors: [],
      order: -1,
      dominator: null,
      children: [],
    };
    table.set(key, node);
    this.add(node);
    node.handler = this.reach(parent, entry.target);
    this.link(node, node.handler);
    return node;
  }

  private block(region: RegionInstance | null, start: Offset): BlockNode {
    let table = this.blocks.get(region);
    if (!table) this.blocks.set(region, table = new Map());
    const known = table.get(start);
    if (known) return known;
    let end = start + 1;
    while (end < this.code.instructions.length && !this.starts.has(end)) end++;
    const node: BlockNode = {
      kind: "block",
      start,
      end,
      region,
      successors: [],
      predecessors: [],
      order: -1,
      dominator: null,
      children: [],
    };
    table.set(start, node);
    this.add(node);
    this.work.push(node);
    return node;
  }

  private add(node: FlowNode): void {
    this.nodes.push(node);
    if (this.nodes.length > 8 * this.starts.size + 64) throw new RangeError("Try regions repeat too often");
  }

  private link(from: FlowNode, to: FlowNode): void {
    if (from.successors.includes(to)) return;
    from.successors.push(to);
    to.predecessors.push(from);
  }
}

/** The innermost instance around `from` that also contains an offset with that chain. */
function commonRegion(from: RegionInstance | null, chain: readonly ExceptionEntry[]): RegionInstance | null {
  let at = from;
  while (at && (at.depth > chain.length || !sameChain(at, chain))) at = at.parent;
  return at;
}

function sameChain(instance: RegionInstance, chain: readonly ExceptionEntry[]): boolean {
  for (let at: RegionInstance | null = instance; at; at = at.parent) {
    if (chain[at.depth - 1]?.target !== at.entry.target) return false;
  }
  return true;
}

function reversePostorder(entry: FlowNode): FlowNode[] {
  const seen = new Set<FlowNode>([entry]);
  const post: FlowNode[] = [];
  const stack: { node: FlowNode; next: number }[] = [{ node: entry, next: 0 }];
  for (let top = stack[stack.length - 1]; top; top = stack[stack.length - 1]) {
    const to = top.node.successors[top.next++];
    if (!to) {
      post.push(top.node);
      stack.pop();
    } else if (!seen.has(to)) {
      seen.add(to);
      stack.push({ node: to, next: 0 });
    }
  }
  post.reverse();
  post.forEach((node, i) => node.order = i);
  return post;
}

/** Fills in the dominator tree (Cooper, Harvey and Kennedy, 2001); returns whether the graph is reducible. */
function dominators(ordered: readonly FlowNode[]): boolean {
  const entry = ordered[0];
  if (!entry) return true;
  entry.dominator = entry;
  const meet = (a: FlowNode, b: FlowNode): FlowNode => {
    while (a !== b) {
      while (a.order > b.order) a = a.dominator ?? entry;
      while (b.order > a.order) b = b.dominator ?? entry;
    }
    return a;
  };
  for (let changed = true; changed;) {
    changed = false;
    for (const node of ordered) {
      if (node === entry) continue;
      let best: FlowNode | null = null;
      for (const p of node.predecessors) {
        if (p.dominator) best = best ? meet(best, p) : p;
      }
      if (best && node.dominator !== best) {
        node.dominator = best;
        changed = true;
      }
    }
  }
  entry.dominator = null;
  for (const node of ordered) node.dominator?.children.push(node);
  return ordered.every((node) => node.predecessors.every((p) => p.order < node.order || dominates(node, p)));
}

/** Returns whether every path to `b` passes through `a`. */
export function dominates(a: FlowNode, b: FlowNode): boolean {
  for (let at: FlowNode | null = b; at; at = at.dominator) if (at === a) return true;
  return false;
}
