/**
 * Traces functions of `cond`, `whileLoop` and `scan` as separate graphs. Invariant: such a function has no effects
 * besides computing tensors; one that does ends the graph before the call instead.
 */
import { type Argument, Graph, hasEffect, mapOperands, type Node, type NodeMeta } from "../../graph/node.ts";
import { contiguousMeta, type TensorMeta } from "../../graph/meta.ts";
import { GraphModule } from "../../graph/graph_module.ts";
import { lateBindings, sizeBindings, symbolsOf } from "../../graph/sizes.ts";
import type { Sym } from "../../sym/expr.ts";
import { graphRunner } from "../../tensor/graph_runner.ts";
import { breakGraph } from "../break_reasons.ts";
import { isCallable, type ItemValue, TensorValue, UNDEFINED, type Value } from "../variables/value.ts";
import { graphNumber } from "./graph_numbers.ts";
import type { Interpreter } from "./interpreter.ts";
import { addChecks } from "./late_sizes.ts";
import { findProperty } from "./objects.ts";
import { allElements, newArray, newObject } from "./contents.ts";
import { enumerableKeys } from "./object_keys.ts";
import { stateOf } from "./trace_state.ts";
import { shownNode } from "./shown_nodes.ts";

/** The arrangement of tensors in arrays and objects. */
type Arrangement =
  | { readonly kind: "tensor" }
  | { readonly kind: "array"; readonly items: readonly Arrangement[] }
  | { readonly kind: "object"; readonly keys: readonly string[]; readonly items: readonly Arrangement[] };

/** Tensors and their arrangement. */
export interface Arranged {
  readonly tensors: readonly TensorValue[];
  readonly arrangement: Arrangement;
}

/** A function as a graph. */
interface TracedRegion {
  readonly module: GraphModule;
  /** Its inputs besides its arguments: nodes and sizes of the surrounding graph. */
  readonly inputs: readonly Argument[];
  readonly results: Arranged;
}

/** Unpacks a value; breaks the graph if it is anything but tensors in arrays and objects. */
export function takeApart(m: Interpreter, value: Value, what: string): Arranged {
  const tensors: TensorValue[] = [];
  const visit = (each: Value): Arrangement => {
    if (each.kind === "tensor") {
      tensors.push(each);
      return { kind: "tensor" };
    }
    if (each.kind === "object" && each.exotic.kind === "array") {
      return { kind: "array", items: allElements(m, each).map(visit) };
    }
    if (each.kind === "object" && each.exotic.kind === "plain") {
      const keys = enumerableKeys(m, each);
      const items = keys.map((key) => {
        const found = findProperty(m, each, key);
        return found.kind === "value" ? visit(found.value) : breakGraph("region", `${what} with accessors`);
      });
      return { kind: "object", keys, items };
    }
    return breakGraph("region", `${what} that is not a tensor`);
  };
  const arrangement = visit(value);
  return { tensors, arrangement };
}

/** Packs tensors into an arrangement again. */
export function putTogether(m: Interpreter, { tensors, arrangement }: Arranged): Value {
  let next = 0;
  const build = (each: Arrangement): Value => {
    switch (each.kind) {
      case "tensor":
        return tensors[next++] ?? UNDEFINED;
      case "array":
        return newArray(m, each.items.map(build));
      case "object":
        return newObject(m, each.keys.map((key, at) => [key, build(each.items[at] ?? { kind: "tensor" })]));
      default:
        return each satisfies never;
    }
  };
  return build(arrangement);
}

/** Returns whether two arrangements are the same. */
export function sameArrangement(a: Arrangement, b: Arrangement): boolean {
  switch (a.kind) {
    case "tensor":
      return b.kind === "tensor";
    case "array":
      return b.kind === "array" && sameItems(a.items, b.items);
    case "object":
      return b.kind === "object" && sameItems(a.items, b.items) &&
        a.keys.every((key, at) => key === b.keys[at]);
    default:
      return a satisfies never;
  }
}

function sameItems(a: readonly Arrangement[], b: readonly Arrangement[]): boolean {
  return a.length === b.length && a.every((each, at) => {
    const other = b[at];
    return other !== undefined && sameArrangement(each, other);
  });
}

/** A tensor that is passed to a function: row-major, like one that exists. */
export function argumentLike(
  m: Interpreter,
  { shape, dtype, device }: TensorMeta,
  requiresGrad: boolean,
): TensorValue {
  const tensor = contiguousMeta(shape, dtype, device);
  const node = m.output.graph.create("placeholder", "argument", {
    meta: { stack: m.output.whereabouts.stack(), value: { kind: "tensor", tensor, requiresGrad } },
  });
  const value = new TensorValue(tensor, requiresGrad, node, null, null);
  m.output.tensors.set(node, value);
  return value;
}

/**
 * Traces a call of a function as a separate graph and passes it to `then`. `fresh`: arguments that are inputs of the
 * graph, created by `argumentLike`. `condition`: the function returns a truth value.
 */
export function traceRegion(
  m: Interpreter,
  { callee, args, fresh, condition = false }: {
    readonly callee: Value;
    readonly args: readonly Value[];
    readonly fresh: readonly TensorValue[];
    readonly condition?: boolean;
  },
  then: (region: TracedRegion) => void,
): void {
  if (!isCallable(callee)) return breakGraph("throws", "a value that is not a function is called");
  const { output } = m, { graph } = output;
  const own = new Set(fresh.flatMap(({ node }) => node ?? []));
  const outside = new Set(graph.nodes.filter((node) => !own.has(node)));
  const state = stateOf(m, m.callers), reads = output.readLater.splice(0);
  forget(m);
  m.regionDepths.push(m.callers.length);
  const before = output.sizes.unbackedCount;
  m.call({
    callee,
    self: UNDEFINED,
    args,
    completion: {
      kind: "inside",
      then(value) {
        m.regionDepths.pop();
        const changed = state.changed();
        if (changed !== null) breakGraph("region", changed);
        const read = condition && value.kind === "item" ? value : null;
        const results = read
          ? { tensors: [], arrangement: { kind: "array", items: [] } } as const
          : takeApart(m, value, "a result");
        const inner = graph.nodes.filter((node) =>
          !outside.has(node) && (own.has(node) || node.op !== "placeholder")
        );
        refuseWrites(inner, own);
        const values = read
          ? [conditionNode(m, read)]
          : results.tensors.map((tensor) => output.nodeOf(tensor));
        // The number of a condition may have been created just now
        const nodes = read
          ? graph.nodes.filter((node) => inner.includes(node) || values.includes(node))
          : inner;
        const region = { nodes, arguments: [...own], results: values };
        const made = separate(m, region);
        if (output.sizes.unbackedCount > before) addChecks(made.module.graph, output);
        for (const node of nodes.toReversed()) {
          graph.erase(node);
          output.tensors.delete(node);
        }
        forget(m);
        output.readLater.splice(0, Infinity, ...reads);
        // Only the function may have needed to know that it is a number
        for (const read of reads) {
          if (read.kind === "item" && read.number && nodes.includes(read.number.node)) read.number = null;
        }
        then({ ...made, results });
      },
    },
  });
}

/** Cached reads inside a function are not valid outside of it, nor vice versa. */
function forget({ output }: Interpreter): void {
  output.items.clear();
  output.hostCalls.clear();
  output.sizeNumbers.clear();
}

function conditionNode(m: Interpreter, item: ItemValue): Node {
  if (item.tensor) return m.output.nodeOf(item.tensor);
  return graphNumber(m.output, item)?.node ?? breakGraph("region", "a condition");
}

/** Such a function writes only to values that it has created. */
function refuseWrites(nodes: readonly Node[], own: ReadonlySet<Node>): void {
  const made = new Set(nodes);
  for (const node of nodes) {
    const [target] = node.inputs();
    if (!hasEffect(node) || !target) continue;
    const root = shownNode(target, { detached: true });
    if (!made.has(root) || own.has(root)) breakGraph("region", "a write to a tensor from outside");
  }
}

interface SeparateRegion {
  readonly nodes: readonly Node[];
  readonly arguments: readonly Node[];
  readonly results: readonly Node[];
}

/** The nodes as a separate graph, whose inputs are the arguments, then values from outside. */
function separate(
  { output }: Interpreter,
  { nodes, arguments: own, results }: SeparateRegion,
): { readonly module: GraphModule; readonly inputs: readonly Argument[] } {
  const graph = new Graph(), copies = new Map<Node, Node>(), inner = new Set(nodes);
  const used = nodes.flatMap((node) => [...node.inputs()]).concat(results);
  const lifted = [...new Set(used)].filter((node) => !inner.has(node));
  const input = (node: Node) => {
    const { stack, value, source } = node.meta;
    const meta: Partial<NodeMeta> = { stack, value, ...(source ? { source } : {}) };
    copies.set(node, graph.create("placeholder", node.name, { meta }));
  };
  own.forEach(input);
  lifted.forEach(input);
  const copyOf = (node: Node): Node => copies.get(node) ?? breakGraph("region", node.name);
  for (const node of nodes) {
    if (node.op === "placeholder") continue;
    const { op, target, name, meta } = node;
    copies.set(node, graph.create(op, target, { name, ...mapOperands(node, copyOf), meta }));
  }
  graph.create("output", "output", { args: [results.map(copyOf)] });
  const sizes = sizesFromOutside(graph);
  for (const size of sizes) {
    const before = graph.nodes.find((node) => node.op !== "placeholder");
    graph.create("placeholder", `${size}`, {
      meta: { value: { kind: "size", size } },
      ...(before ? { before } : {}),
    });
  }
  graph.lint();
  return { module: new GraphModule(graph, output.attributes, graphRunner), inputs: [...lifted, ...sizes] };
}

function sizesFromOutside(graph: Graph): Sym[] {
  const given = new Set(sizeBindings(graph).map(({ symbol }) => symbol));
  for (const bindings of lateBindings(graph).values()) for (const { symbol } of bindings) given.add(symbol);
  return [...symbolsOf(graph.nodes)].filter((symbol) => !given.has(symbol));
}

/** Stores the graph of a function as an attribute; returns its name. */
export function attributeFor(m: Interpreter, { module }: TracedRegion): string {
  const { attributes } = m.output;
  let count = 0;
  while (`region_${count}` in attributes) count++;
  attributes[`region_${count}`] = module;
  return `region_${count}`;
}

/** Appends the call of functions as a node, and returns its results: tensors of their own. */
export function appendRegionCall(
  m: Interpreter,
  target: string,
  { args, results, name }: {
    readonly args: readonly Argument[];
    readonly results: readonly { readonly meta: TensorMeta; readonly requiresGrad: boolean }[];
    readonly name: string;
  },
): TensorValue[] {
  const { output } = m, stack = output.whereabouts.stack();
  const metas = results.map(({ meta: { shape, dtype, device } }) => contiguousMeta(shape, dtype, device));
  const requires = results.some(({ requiresGrad }) => requiresGrad);
  const mode = m.gradEnabled ? {} : { noGrad: true as const };
  const node = output.graph.create("call_function", target, {
    args,
    name,
    meta: {
      stack,
      value: { kind: "tensors", tensors: metas, requiresGrad: requires },
      onHost: true,
      ...mode,
    },
  });
  output.noteOperation(node);
  return metas.map((tensor, index) => {
    const requiresGrad = results[index]?.requiresGrad ?? false;
    const item = output.graph.create("call_function", "getitem", {
      args: [node, index],
      meta: { stack, value: { kind: "tensor", tensor, requiresGrad }, onHost: true, ...mode },
    });
    output.noteOperation(item);
    const value = new TensorValue(tensor, requiresGrad, item, null, null);
    output.tensors.set(item, value);
    return value;
  });
}
