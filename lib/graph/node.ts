/**
 * Graphs of tensor operations, in the manner of torch.fx: a list of nodes in execution order, each naming its
 * operation and its arguments. Made by the tracer, rewritten by passes, interpreted or compiled. Invariants:
 * an argument precedes its user; `users` mirrors the arguments; names are unique in a graph.
 */
import { checkFunction, checkInstance, optionsOf, refuseSurplus } from "../base/checked_input.ts";
import { DynError, InternalError } from "../base/errors.ts";
import type { DType } from "../base/dtype.ts";
import { showAsText } from "../base/console_text.ts";
import { type Dim, Sym } from "../sym/expr.ts";
import type { TensorMeta } from "./meta.ts";
import { NodeNames } from "./node_names.ts";

/**
 * - placeholder: an input; target is its name.
 * - call_function, call_method: target is an op's graph name ("add", "truediv", in place "add_"); the first
 *   argument of a method is its receiver.
 * - call_module: target is a path in the module tree. get_attr: target names an attribute of the GraphModule.
 * - output: args[0] is the result, a tree of nodes and constants.
 */
export type Opcode = "placeholder" | "call_function" | "call_method" | "call_module" | "get_attr" | "output";

/** An argument: a node, a constant, a symbolic size, or a container of these. */
export type Argument =
  | Node
  | Sym
  | number
  | bigint
  | boolean
  | string
  | null
  | undefined
  | readonly Argument[]
  | { readonly [key: string]: Argument };

/** A place in the user's program. Line and column count from 1. */
export interface SourcePosition {
  /** Its path, or its URL. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
  /** The enclosing function. */
  readonly functionName: string;
  /** The text of the line, trimmed. */
  readonly code: string;
}

/** The known kind of a node's value: one tensor, several, a size, or unknown. */
export type NodeValue =
  | { readonly kind: "tensor"; readonly tensor: TensorMeta; readonly requiresGrad: boolean }
  | { readonly kind: "tensors"; readonly tensors: readonly TensorMeta[]; readonly requiresGrad: boolean }
  | { readonly kind: "size"; readonly size: Dim }
  | { readonly kind: "number"; readonly dtype: DType }
  | { readonly kind: "unknown" };

/** A functional graph that other graphs call any number of times: it is lowered and compiled once. */
export interface Region {
  /** The graph that computes it. */
  readonly graph: Graph;
  /** Results before this index are returned to the program, and have memory of their own. */
  readonly ownResults: number;
  /** Placeholders whose new values are among the results; in captured graphs, those that are written to. */
  readonly mutatedInputs: readonly number[];
}

/** Metadata of a node. */
export interface NodeMeta {
  /** The value: types, sizes, or unknown. */
  value: NodeValue;
  /** User frames, innermost last. */
  stack: readonly SourcePosition[];
  /** Source of a placeholder's value, as the guards print it: L["x"]. */
  source?: string;
  /**
   * Set on inputs that are not arguments: values that the program holds between calls, such as parameters and
   * buffers.
   */
  held?: true;
  /** Set if gradients were disabled when the operation ran; in-place ops then leave the history unchanged. */
  noGrad?: true;
  /**
   * Set on a detached tensor at which the program starts a new history: gradients accumulate there and flow no further.
   */
  leaf?: true;
  /**
   * Set if sizes of the result, or the result itself, are known only after the node has run on the host: no kernel
   * computes it. Its value lists the symbols of such sizes in the order in which its metadata mentions them.
   */
  onHost?: true;
  /** Set on nodes that begin a collective, and on their results: readers wait for it. */
  begins?: true;
  /** Set on host nodes through which gradients flow, and on their results: only the tape passes through them. */
  taped?: true;
  /** The part of a joint graph that the node belongs to. */
  partition?: "forward" | "backward";
  /** Set on nodes of a function that the program has marked as a region: the number of its call in the trace. */
  regionCall?: number;
  /** Set on nodes of a function whose intermediates are to be recomputed: the number of its call in the trace. */
  recomputed?: number;
  /** Set on nodes of a backward pass that runs inside the graph. */
  ofPass?: true;
  /**
   * Set if a graph computes a value twice rather than keep it: on the original nodes and on their copies. The two are
   * not merged, nor are their kernels.
   */
  turn?: "first" | "again";
  /** The graph that a node calls: its target is the name of that graph, or marks an update. */
  region?: Region;
  /** The gradient of the results to which a node gives a history (custom_gradient.ts). */
  gradient?: { readonly name: string; readonly graph: Graph; readonly written: readonly number[] };
}

/** One operation. */
export class Node {
  /** Nodes that use this one, in order of first use. */
  readonly users: Map<Node, null> = new Map();
  #args: readonly Argument[];
  #kwargs: Readonly<Record<string, Argument>>;

  /** Nodes are created by graphs. */
  constructor(
    readonly graph: Graph,
    readonly name: string,
    readonly op: Opcode,
    public target: string,
    args: readonly Argument[],
    kwargs: Readonly<Record<string, Argument>>,
    public meta: NodeMeta,
  ) {
    this.#args = args;
    this.#kwargs = kwargs;
    this.#use();
  }

  /** Positional arguments. */
  get args(): readonly Argument[] {
    return this.#args;
  }

  set args(args: readonly Argument[]) {
    this.#relink(() => this.#args = args);
  }

  /** Named arguments. */
  get kwargs(): Readonly<Record<string, Argument>> {
    return this.#kwargs;
  }

  set kwargs(kwargs: Readonly<Record<string, Argument>>) {
    this.#relink(() => this.#kwargs = kwargs);
  }

  #relink(change: () => void): void {
    for (const input of this.inputs()) input.users.delete(this);
    change();
    this.#use();
  }

  #use(): void {
    const visit = (input: Node) => void input.users.set(this, null);
    forEachNode(this.#args, visit);
    forEachNode(this.#kwargs, visit);
  }

  /** Returns all argument nodes, each once, in order. */
  inputs(): Set<Node> {
    const found = new Set<Node>();
    forEachNode(this.#args, (n) => found.add(n));
    forEachNode(this.#kwargs, (n) => found.add(n));
    return found;
  }

  /** The nodes among its arguments, each once. */
  get allInputNodes(): readonly Node[] {
    return [...this.inputs()];
  }

  /** The node after it; null for the last. */
  get next(): Node | null {
    return this.graph.nodes[this.graph.nodes.indexOf(this) + 1] ?? null;
  }

  /** The node before it; null for the first. */
  get prev(): Node | null {
    return this.graph.nodes[this.graph.nodes.indexOf(this) - 1] ?? null;
  }

  /** Replaces the node by `replacement` in every user. Returns the changed users. */
  replaceAllUsesWith(replacement: Node): Node[] {
    const users = [...this.users.keys()].filter((u) => u !== replacement);
    for (const user of users) {
      user.args = mapNodes(user.args, (n) => n === this ? replacement : n) as readonly Argument[];
      user.kwargs = mapNodes(user.kwargs, (n) => n === this ? replacement : n) as Record<string, Argument>;
    }
    return users;
  }

  /** Its name. */
  toString(): string {
    return this.name;
  }
}

showAsText(Node.prototype);

/** Throws an InternalError about a broken graph. */
function broken(message: string): never {
  throw new InternalError(message);
}

/** A list of nodes that ends in one output node. */
export class Graph {
  #nodes: Node[] = [];
  readonly #names = new NodeNames();
  /** The node before which new ones are inserted; null: at the end. */
  #place: Node | null = null;

  /** All nodes in execution order. */
  get nodes(): readonly Node[] {
    return this.#nodes;
  }

  /** The inputs, in order. */
  get placeholders(): readonly Node[] {
    return this.#nodes.filter((n) => n.op === "placeholder");
  }

  /** The output node. Throws if there is none yet. */
  get output(): Node {
    const last = this.#nodes.at(-1);
    if (last?.op !== "output") {
      throw new DynError("Expected a graph that ends in an output node but found none");
    }
    return last;
  }

  /** Appends a node (or inserts it before `before`); its name is `name`, made unique by a number. */
  create(
    op: Opcode,
    target: string,
    options: {
      args?: readonly Argument[];
      kwargs?: Readonly<Record<string, Argument>>;
      name?: string;
      meta?: Partial<NodeMeta>;
      before?: Node;
    } = {},
  ): Node {
    optionsOf("a node", options, ["args", "kwargs", "name", "meta", "before"]);
    const { value = { kind: "unknown" }, stack = [] } = options.meta ?? {};
    const meta: NodeMeta = { ...options.meta, value, stack };
    const name = this.#names.unique(options.name ?? target);
    const node = new Node(this, name, op, target, options.args ?? [], options.kwargs ?? {}, meta);
    const before = options.before ?? this.#place;
    const at = before ? this.#indexOf(before) : this.#nodes.length;
    if (at === this.#nodes.length) this.#nodes.push(node);
    else this.#nodes.splice(at, 0, node);
    return node;
  }

  /** The position of a node. New inputs go before the first operation, which takes no walk over all inputs. */
  #indexOf(node: Node): number {
    const first = inputsOf(this.#nodes);
    return this.#nodes[first] === node ? first : this.#nodes.indexOf(node);
  }

  /** Appends an input, or inserts it at the position of `insertingBefore`. */
  placeholder(name: string): Node {
    if (arguments.length > 1) refuseSurplus("placeholder", 1, arguments);
    return this.create("placeholder", name);
  }

  /** Creates a `get_attr` node for a value of the graph module. */
  getAttr(name: string): Node {
    if (arguments.length > 1) refuseSurplus("getAttr", 1, arguments);
    return this.create("get_attr", name);
  }

  /** Creates a `call_function` node. */
  callFunction(
    target: string,
    args: readonly Argument[] = [],
    kwargs: Readonly<Record<string, Argument>> = {},
  ): Node {
    if (arguments.length > 3) refuseSurplus("callFunction", 3, arguments);
    return this.create("call_function", target, { args, kwargs });
  }

  /** Creates a `call_method` node; the first argument is the receiver. */
  callMethod(
    target: string,
    args: readonly Argument[] = [],
    kwargs: Readonly<Record<string, Argument>> = {},
  ): Node {
    if (arguments.length > 3) refuseSurplus("callMethod", 3, arguments);
    return this.create("call_method", target, { args, kwargs });
  }

  /** Inserts the nodes that `body` creates before a node. */
  insertingBefore<R>(node: Node, body: () => R): R {
    if (arguments.length > 2) refuseSurplus("insertingBefore", 2, arguments);
    checkFunction(body, "that makes nodes");
    const before = this.#place;
    this.#place = node;
    try {
      return body();
    } finally {
      this.#place = before;
    }
  }

  /** Inserts the nodes that `body` creates after a node, in order. */
  insertingAfter<R>(node: Node, body: () => R): R {
    if (arguments.length > 2) refuseSurplus("insertingAfter", 2, arguments);
    checkInstance(node, Node, "insertingAfter");
    const next = this.#nodes[this.#nodes.indexOf(node) + 1];
    if (!next) throw new DynError(`Expected a node before the output but found ${node.name}`);
    return this.insertingBefore(next, body);
  }

  /** Returns the nodes of a kind, and of one target if it is given. */
  findNodes(wanted: { readonly op: Opcode; readonly target?: string }): Node[] {
    if (arguments.length > 1) refuseSurplus("findNodes", 1, arguments);
    const { op, target } = optionsOf("findNodes", wanted, ["op", "target"]);
    return this.#nodes.filter((each) => each.op === op && (target === undefined || each.target === target));
  }

  /** Removes a node without users, as `erase`. */
  eraseNode(node: Node): void {
    if (arguments.length > 1) refuseSurplus("eraseNode", 1, arguments);
    this.erase(node);
  }

  /** Removes a node without users. */
  erase(node: Node): void {
    checkInstance(node, Node, "erase");
    if (node.users.size > 0) {
      throw new DynError(`Expected no users of ${node.name} but found ${[...node.users.keys()].join(", ")}`);
    }
    node.args = [];
    node.kwargs = {};
    this.#nodes = this.#nodes.filter((n) => n !== node);
  }

  /** Moves every node after its inputs and otherwise preserves the order. Throws DynError for a cycle. */
  sort(): void {
    const placed = new Set<Node>(), open = new Set<Node>();
    const place = (node: Node): void => {
      if (placed.has(node)) return;
      if (open.has(node)) throw new DynError(`Expected no cycle of nodes but found one through ${node.name}`);
      open.add(node);
      for (const input of node.inputs()) place(input);
      placed.add(node);
    };
    for (const node of this.#nodes) if (node.op === "placeholder") placed.add(node);
    for (const node of this.#nodes) place(node);
    this.#nodes = [...placed];
  }

  /** Removes nodes whose values are unused, except inputs, the output and nodes for which `keep` is true. */
  eliminateDeadCode(keep: (node: Node) => boolean = hasEffect): boolean {
    if (arguments.length > 1) refuseSurplus("eliminateDeadCode", 1, arguments);
    const dead = new Set<Node>(), nodes = this.#nodes;
    for (let at = nodes.length - 1; at >= 0; at--) {
      const node = nodes[at];
      if (!node || node.op === "placeholder" || node.op === "output" || node.users.size > 0 || keep(node)) {
        continue;
      }
      node.args = [];
      node.kwargs = {};
      dead.add(node);
    }
    if (dead.size > 0) this.#nodes = this.#nodes.filter((n) => !dead.has(n));
    return dead.size > 0;
  }

  /**
   * Verifies the graph: one output, last; placeholders before anything else; names unique; arguments of this
   * graph and before their users; `users` mirroring the arguments. Throws InternalError.
   */
  lint(): void {
    if (arguments.length > 0) refuseSurplus("lint", 0, arguments);
    const nodes = this.#nodes, seen = new Map<string, Node>(), lastUsers = new Map<Node, Node>();
    let pastInputs = false, uses = 0;
    // Every pass ends here, so messages are built only for errors
    for (let at = 0; at < nodes.length; at++) {
      const node = nodes[at];
      if (!node) continue;
      const { name, op } = node;
      if (node.graph !== this) broken(`Expected ${name} to belong to this graph`);
      if (seen.has(name)) broken(`Expected unique names but found ${name} twice`);
      if (op !== "placeholder") pastInputs = true;
      else if (pastInputs) broken(`Expected the input ${name} before all operations`);
      const visit = (input: Node) => {
        if (lastUsers.get(input) === node) return;
        lastUsers.set(input, node);
        uses++;
        if (seen.get(input.name) !== input) broken(`Expected ${input.name} before its user ${name}`);
        if (!input.users.has(node)) broken(`Expected ${name} among the users of ${input.name}`);
      };
      forEachNode(node.args, visit);
      forEachNode(node.kwargs, visit);
      if ((op === "output") !== (at === nodes.length - 1)) {
        broken(`Expected one output node, the last, but found ${name} at ${at} of ${nodes.length} nodes`);
      }
      seen.set(name, node);
    }
    // Every node that reads a node is among its users, so equal counts mean that there are no others
    if (nodes.reduce((count, { users }) => count + users.size, 0) === uses) return;
    for (const node of nodes) {
      for (const user of node.users.keys()) {
        if (seen.get(user.name) !== user || !user.inputs().has(node)) {
          broken(`Expected ${user.name} to take ${node.name}, whose user it is`);
        }
      }
    }
  }

  /** Prints a table of all nodes to the console, and returns it. */
  printTabular(): string {
    const rows: string[][] = [["opcode", "name", "target", "args", "kwargs"]];
    for (const { op, name, target, args, kwargs } of this.#nodes) {
      rows.push([op, name, target, formatArgument(args), formatArgument(kwargs)]);
    }
    const widths = [0, 1, 2, 3].map((c) => Math.max(...rows.map((row) => row[c]?.length ?? 0)));
    rows.splice(1, 0, [...widths.map((w) => "-".repeat(w)), "-".repeat(6)]);
    const text = rows.map((row) => row.map((cell, c) => cell.padEnd(widths[c] ?? 0)).join("  ").trimEnd())
      .join("\n");
    console.log(text);
    return text;
  }

  /** Returns one line per node, as PyTorch prints it. */
  toString(): string {
    const lines = this.#nodes.map((node) => {
      const { name, op, target, users } = node;
      if (op === "output") return `return ${formatArgument(node.args[0])}`;
      const isInput = op === "placeholder" || op === "get_attr";
      const args = isInput
        ? ""
        : `(args = ${formatArgument(node.args)}, kwargs = ${formatArgument(node.kwargs)})`;
      return `%${name} : [numUsers=${users.size}] = ${op}[target=${target}]${args}`;
    });
    return `graph():\n${lines.map((line) => `    ${line}`).join("\n")}`;
  }
}

showAsText(Graph.prototype);

/** Returns the first node after the inputs, which come first, or undefined if there is none yet. */
export function firstOperation({ nodes }: Graph): Node | undefined {
  return nodes[inputsOf(nodes)];
}

/** Returns the number of inputs, which come first. */
function inputsOf(nodes: readonly Node[]): number {
  let from = 0, to = nodes.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (nodes[middle]?.op === "placeholder") from = middle + 1;
    else to = middle;
  }
  return from;
}

/** Returns whether a call changes its first argument: names of in-place ops end in an underscore. */
export function hasEffect(node: Node): boolean {
  return (node.op === "call_function" || node.op === "call_method") && node.target.endsWith("_") &&
    !node.target.startsWith("_");
}

/** Calls `visit` for every node in an argument tree. */
export function forEachNode(argument: Argument, visit: (node: Node) => void): void {
  if (argument instanceof Node) return visit(argument);
  if (typeof argument !== "object" || argument === null) return;
  if (isList(argument)) {
    for (let i = 0; i < argument.length; i++) forEachNode(argument[i] ?? null, visit);
  } else if (!(argument instanceof Sym)) {
    for (const key of Object.keys(argument)) forEachNode(argument[key] ?? null, visit);
  }
}

/** A leaf of an argument tree. */
type ArgumentLeaf = Exclude<Argument, readonly Argument[] | { readonly [key: string]: Argument }>;

/** A copy of an argument tree with `change(leaf)` in place of each node, symbol and constant. */
export function mapLeaves(argument: Argument, change: (leaf: ArgumentLeaf) => Argument): Argument;
/** The same with values that are not arguments. */
export function mapLeaves(argument: Argument, change: (leaf: ArgumentLeaf) => unknown): unknown;
export function mapLeaves(argument: Argument, change: (leaf: ArgumentLeaf) => unknown): unknown {
  if (isList(argument)) return argument.map((each) => mapLeaves(each, change));
  if (!isRecord(argument)) return change(argument);
  return Object.fromEntries(Object.entries(argument).map(([key, each]) => [key, mapLeaves(each, change)]));
}

/** A copy of an argument tree with `replace(node)` in place of each node. */
export function mapNodes(argument: Argument, replace: (node: Node) => Argument): Argument {
  return mapLeaves(argument, (leaf) => leaf instanceof Node ? replace(leaf) : leaf);
}

/** The arguments of a node, positional and named, with `replace(node)` in place of each node. */
export function mapOperands(
  { args, kwargs }: Pick<Node, "args" | "kwargs">,
  replace: (node: Node) => Argument,
): Pick<Node, "args" | "kwargs"> {
  const moved = (argument: Argument) => mapNodes(argument, replace);
  return {
    args: args.map(moved),
    kwargs: Object.fromEntries(Object.entries(kwargs).map(([key, each]) => [key, moved(each)])),
  };
}

/** An argument tree as the text of a JavaScript expression, nodes by their names. */
export function formatArgument(argument: Argument): string {
  if (argument instanceof Node) return argument.name;
  if (argument instanceof Sym) return `${argument}`;
  if (isList(argument)) return `[${argument.map(formatArgument).join(", ")}]`;
  if (isRecord(argument)) {
    const fields = Object.entries(argument).map(([key, value]) => `${key}: ${formatArgument(value)}`);
    return fields.length > 0 ? `{ ${fields.join(", ")} }` : "{}";
  }
  if (typeof argument === "bigint") return `${argument}n`;
  if (typeof argument === "string") return JSON.stringify(argument);
  return Object.is(argument, -0) ? "-0" : `${argument}`;
}

export function isList(argument: Argument): argument is readonly Argument[] {
  return Array.isArray(argument);
}

export function isRecord(argument: Argument): argument is { readonly [key: string]: Argument } {
  return typeof argument === "object" && argument !== null && !(argument instanceof Node) &&
    !(argument instanceof Sym) && !isList(argument);
}
