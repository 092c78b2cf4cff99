/**
 * Equal stretches of a captured graph as calls of one region: the layers of a model, the rounds of a loop. Input: a
 * captured graph; output: one with the same results, in which each such stretch is a node, or null where nothing
 * repeats. Invariant: the stretches behind one region differ in the values that they are given and in nothing else.
 */
import { InternalError } from "../base/errors.ts";
import { isHigherOrder } from "../graph/higher_order.ts";
import { takesGradients } from "../graph/gradient_call.ts";
import { GraphModule } from "../graph/graph_module.ts";
import { isDense, type TensorMeta } from "../graph/meta.ts";
import {
  type Argument,
  forEachNode,
  Graph,
  isList,
  isRecord,
  mapNodes,
  Node,
  type Region,
} from "../graph/node.ts";
import { isNumberNode } from "../graph/numbers.ts";
import { sizeBindings, symbolsOf } from "../graph/sizes.ts";
import { findTarget } from "../ops/table.ts";
import { simplified } from "../sym/decide.ts";
import { Sym } from "../sym/expr.ts";
import { equalStretches } from "./equal_stretches.ts";
import { isLateWrite } from "./late_writes.ts";

/** Calls from which on a stretch is worth a region of its own. */
const LEAST = 16;
/** How many calls shorter ones are put together to, since what would be fused across their ends is not. */
const TOGETHER = 64;
/** Calls that have to be saved. */
const SAVED = 48;
/** The longest stretch that is looked for. */
const LONGEST = 2000;

/** A graph whose equal stretches are regions; null where there are none. */
export function outlined(captured: GraphModule): GraphModule | null {
  const { graph, attributes, runner } = captured;
  const calls = graph.nodes.filter((node) =>
    node.op !== "placeholder" && node.op !== "get_attr" && node.op !== "output" && !isLateWrite(node)
  );
  if (calls.length < SAVED + LEAST && !calls.some(({ meta }) => meta.regionCall !== undefined)) return null;
  const regions = regionsOf(calls, attributes);
  if (regions.length === 0) return null;
  return new GraphModule(withRegions(graph, regions), attributes, runner);
}

/** Equal stretches and what they are calls of. */
interface Outline {
  readonly region: Region;
  readonly pieces: readonly Piece[];
}

/** One stretch. */
interface Piece {
  readonly nodes: readonly Node[];
  /** What the region is given. */
  readonly args: readonly Argument[];
  /** Nodes that others read, in the order of the region's results. */
  readonly results: readonly Node[];
}

function regionsOf(calls: readonly Node[], attributes: GraphModule["attributes"]): Outline[] {
  const marked = markedRegions(calls, attributes);
  const taken = new Set(marked.flatMap(({ pieces }) => pieces.flatMap(({ nodes }) => nodes)));
  const numbers = new Map<string, number>();
  const list = calls.map((node, at) => {
    const key = isPlain(node, attributes) && !taken.has(node) ? likeness(node) : `${at}`;
    const known = numbers.get(key) ?? numbers.size;
    numbers.set(key, known);
    return known;
  });
  const place = new Map(calls.map((node, at) => [node, at]));
  const lastUse = calls.map((node) =>
    Math.max(-1, ...[...node.users.keys()].map((user) => place.get(user) ?? Infinity))
  );
  const alive = (from: number, to: number): number[] => {
    const ends = new Array<number>(to - from + 1).fill(0);
    let count = 0;
    return Array.from({ length: to - from }, (_, k) => {
      if (k > 0) count++;
      count -= ends[k] ?? 0;
      const end = Math.min(to - from, Math.max(k, (lastUse[from + k] ?? -1) - from) + 1);
      ends[end] = (ends[end] ?? 0) + 1;
      return count;
    });
  };
  const worth = { least: LEAST, together: TOGETHER, saved: SAVED, longest: LONGEST, alive };
  const stretches = equalStretches(list, worth).flatMap(({ start, period, count }) => {
    const all = Array.from(
      { length: count },
      (_, k) => wired(calls.slice(start + k * period, start + (k + 1) * period)),
    );
    // The first piece often takes what no other gives
    const [, model] = all;
    const fitting = model ? all.filter((each) => each.text === model.text) : [];
    return (fitting.length - 1) * period < SAVED ? [] : outlineOf(fitting) ?? [];
  });
  return [...marked, ...stretches];
}

/** Calls of functions that the program has marked, where several are alike. */
function markedRegions(calls: readonly Node[], attributes: GraphModule["attributes"]): Outline[] {
  const spans = new Map<number, { first: number; last: number }>();
  for (const [at, { meta: { regionCall } }] of calls.entries()) {
    if (regionCall === undefined) continue;
    const known = spans.get(regionCall);
    if (known) known.last = at;
    else spans.set(regionCall, { first: at, last: at });
  }
  const alike = new Map<string, Wired[]>();
  for (const span of spans.values()) {
    const { first, last } = span;
    // Generators take turns
    const isApart = spans.values().every((each) => each === span || each.last < first || each.first > last);
    if (!isApart) continue;
    const nodes = calls.slice(first, last + 1);
    if (!nodes.every((node) => isPlain(node, attributes))) continue;
    const piece = wired(nodes), text = [...nodes.map(likeness), piece.text].join("\n");
    alike.set(text, [...alike.get(text) ?? [], piece]);
  }
  return [...alike.values()].flatMap((pieces) => pieces.length < 2 ? [] : outlineOf(pieces) ?? []);
}

/** Whether a call may stand in a region: of an op that kernels compute. */
function isPlain(node: Node, attributes: GraphModule["attributes"]): boolean {
  const { op, target, meta } = node;
  if (op !== "call_function" && op !== "call_method") return false;
  if (
    meta.onHost || meta.leaf || meta.region || meta.recomputed !== undefined || takesGradients(node) ||
    isHigherOrder(node) ||
    isNumberNode(node)
  ) {
    return false;
  }
  if (Object.hasOwn(attributes, target)) return false;
  return target === "getitem" || findTarget(target) !== undefined;
}

/** A text that is the same for calls that differ in their tensors alone. */
function likeness({ op, target, args, kwargs, meta: { value, noGrad } }: Node): string {
  const metas = value.kind === "tensor" ? [value.tensor] : value.kind === "tensors" ? value.tensors : null;
  const result = metas ? metas.map(metaText).join() : value.kind;
  return `${op} ${target}(${shape(args)}, ${shape(kwargs)})${noGrad ? " noGrad" : ""}: ${result}`;
}

const metaText = ({ shape: sizes, strides, dtype, device }: TensorMeta): string =>
  `${dtype} ${device} ${shape(sizes)} ${shape(strides)}`;

/** An argument without the tensors in it. */
function shape(argument: Argument): string {
  if (argument instanceof Node) return "%";
  if (argument instanceof Sym) {
    const known = simplified(argument);
    return typeof known === "number" ? `number ${known}` : `#${known.id}`;
  }
  if (isList(argument)) return `[${argument.map(shape).join()}]`;
  if (isRecord(argument)) {
    return `{${Object.entries(argument).map(([name, each]) => `${name}: ${shape(each)}`).join()}}`;
  }
  if (typeof argument === "string") return JSON.stringify(argument);
  return Object.is(argument, -0) ? "-0" : `${typeof argument} ${argument}`;
}

/** Equal pieces as calls of one region; null where what they take or give does not fit one. */
function outlineOf(fitting: readonly Wired[]): Outline | null {
  const [template] = fitting;
  if (!template) return null;
  const outside = new Set(fitting.flatMap(({ results }) => [...results]));
  const results = [...outside].sort((a, b) => a - b);
  const slots = slotsOf(fitting);
  const region = regionOf(template, { results, slots, fitting });
  if (!region) return null;
  const sizes = region.graph.placeholders.flatMap(({ meta: { value } }) =>
    value.kind === "size" ? [value.size] : []
  );
  return {
    region,
    pieces: fitting.map(({ nodes, given }) => ({
      nodes,
      args: [...slots.first.map((slot) => nodeAt(given, slot)), ...sizes],
      results: results.map((at) => nodeAt(nodes, at)),
    })),
  };
}

/** A piece and how its calls hang together. */
interface Wired {
  readonly nodes: readonly Node[];
  /** What the calls take from outside, each time they do. */
  readonly given: readonly Node[];
  /** Places of calls that are read outside. */
  readonly results: ReadonlySet<number>;
  readonly text: string;
}

function wired(nodes: readonly Node[]): Wired {
  const place = new Map(nodes.map((node, at) => [node, at]));
  const given: Node[] = [], links: string[] = [], results = new Set<number>();
  for (const [at, node] of nodes.entries()) {
    forEachNode([...node.args, node.kwargs], (input) => {
      const inside = place.get(input);
      if (inside !== undefined) links.push(`${inside}`);
      else {
        given.push(input);
        const { value } = input.meta;
        links.push(value.kind === "tensor" ? metaText(value.tensor) : value.kind);
      }
    });
    links.push(";");
    for (const user of node.users.keys()) if (!place.has(user)) results.add(at);
  }
  return { nodes, given, results, text: links.join(" ") };
}

/** Which of the values from outside are one argument: those that are the same value in every piece. */
function slotsOf(pieces: readonly Wired[]): {
  /** The slot of each value. */
  readonly of: readonly number[];
  /** The place of the first value of each slot. */
  readonly first: readonly number[];
} {
  const [{ given } = { given: [] }] = pieces;
  const ids = pieces.map((piece) => {
    const known = new Map<Node, number>();
    return piece.given.map((node) => {
      const id = known.get(node) ?? known.size;
      known.set(node, id);
      return id;
    });
  });
  const slots = new Map<string, number>(), first: number[] = [];
  const of = given.map((_, at) => {
    const key = ids.map((each) => each[at]).join();
    const known = slots.get(key);
    if (known !== undefined) return known;
    slots.set(key, first.length);
    return first.push(at) - 1;
  });
  return { of, first };
}

/** A piece as a graph; null where what it takes does not lie as a copy of it would. */
function regionOf(
  { nodes, given }: Wired,
  { results, slots, fitting }: {
    readonly results: readonly number[];
    readonly slots: ReturnType<typeof slotsOf>;
    readonly fitting: readonly Wired[];
  },
): Region | null {
  const graph = new Graph(), copies = new Map<Node, Node>();
  if (results.some((at) => nodeAt(nodes, at).meta.value.kind !== "tensor")) return null;
  const inputs = slots.first.map((at) => {
    const { name, meta: { value } } = nodeAt(given, at);
    if (value.kind !== "tensor" || !isDense(value.tensor)) return null;
    const requiresGrad = fitting.some((each) => {
      const { value } = nodeAt(each.given, at).meta;
      return value.kind === "tensor" && value.requiresGrad;
    });
    return graph.create("placeholder", name, {
      meta: { value: { ...value, tensor: { ...value.tensor, offset: 0 }, requiresGrad } },
    });
  });
  if (inputs.includes(null)) return null;
  let next = 0;
  for (const node of nodes) {
    const moved = (argument: Argument): Argument => {
      if (argument instanceof Node) return copies.get(argument) ?? inputs[slots.of[next++] ?? -1] ?? argument;
      if (argument instanceof Sym) return simplified(argument);
      if (isList(argument)) return argument.map(moved);
      return isRecord(argument)
        ? Object.fromEntries(Object.entries(argument).map(([name, each]) => [name, moved(each)]))
        : argument;
    };
    const args = node.args.map(moved);
    const kwargs = Object.fromEntries(Object.entries(node.kwargs).map(([name, each]) => [name, moved(each)]));
    const { op, target, name, meta } = node;
    copies.set(node, graph.create(op, target, { name, args, kwargs, meta: { ...meta } }));
  }
  graph.create("output", "output", { args: [results.map((at) => copyOf(copies, nodeAt(nodes, at)))] });
  const bound = new Set(sizeBindings(graph).map(({ symbol }) => symbol));
  const [before] = nodes.map((node) => copyOf(copies, node));
  for (const size of symbolsOf(graph)) {
    if (bound.has(size) || !before) continue;
    graph.create("placeholder", `${size}`, { meta: { value: { kind: "size", size } }, before });
  }
  graph.lint();
  return { graph, ownResults: results.length };
}

/** The graph with nodes for the pieces, each where its last call was. */
function withRegions(graph: Graph, outlines: readonly Outline[]): Graph {
  const result = new Graph(), copies = new Map<Node, Node>();
  const inside = new Set<Node>(),
    ends = new Map<Node, { readonly outline: Outline; readonly piece: Piece; readonly name: string }>();
  for (const [at, outline] of outlines.entries()) {
    for (const piece of outline.pieces) {
      for (const node of piece.nodes) inside.add(node);
      const last = piece.nodes.at(-1);
      if (last) ends.set(last, { outline, piece, name: `region_${at}` });
    }
  }
  const moved = (argument: Argument) => mapNodes(argument, (node) => copyOf(copies, node));
  const copy = (node: Node) => {
    const { op, target, name, meta } = node;
    const kwargs = Object.fromEntries(Object.entries(node.kwargs).map(([key, each]) => [key, moved(each)]));
    copies.set(node, result.create(op, target, { name, args: node.args.map(moved), kwargs, meta }));
  };
  // Late writes in the middle of a piece, whose results are there at its end
  let waiting: Node[] = [];
  for (const node of graph.nodes) {
    const end = ends.get(node);
    if (end) {
      const { outline: { region }, piece, name } = end;
      const call = result.create("call_function", name, {
        args: piece.args.map(moved),
        meta: { stack: node.meta.stack, region },
      });
      for (const [index, each] of piece.results.entries()) {
        const { meta } = each;
        copies.set(
          each,
          result.create("call_function", "getitem", { name: each.name, args: [call, index], meta }),
        );
      }
    }
    if (!inside.has(node)) waiting.push(node);
    const isReady = (each: Node) => [...each.inputs()].every((input) => copies.has(input));
    waiting.filter(isReady).forEach(copy);
    waiting = waiting.filter((each) => !copies.has(each));
  }
  result.lint();
  return result;
}

function nodeAt(nodes: readonly Node[], at: number): Node {
  const node = nodes[at];
  if (!node) throw new InternalError(`Expected a node at ${at}`);
  return node;
}

function copyOf(copies: ReadonlyMap<Node, Node>, node: Node): Node {
  const copy = copies.get(node);
  if (!copy) throw new InternalError(`Expected ${node.name} before its use`);
  return copy;
}
