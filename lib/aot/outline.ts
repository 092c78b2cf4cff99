/**
 * Outlines repeated stretches of a captured graph as calls of one region: the layers of a model, the iterations of a
 * loop. Invariant: the pieces of one stretch differ only in the values passed to them, including numbers.
 */
import { InternalError } from "../base/errors.ts";
import { isHigherOrder } from "../graph/higher_order.ts";
import { takesGradients } from "../graph/gradient_call.ts";
import { GraphModule } from "../graph/graph_module.ts";
import { contiguousMeta, isDense, type TensorMeta } from "../graph/meta.ts";
import {
  type Argument,
  forEachNode,
  Graph,
  hasEffect,
  isList,
  isRecord,
  mapNodes,
  mapOperands,
  Node,
  type NodeValue,
  type Region,
} from "../graph/node.ts";
import { isNumberNode } from "../graph/numbers.ts";
import { sizeBindings, symbolsOf } from "../graph/sizes.ts";
import { findTarget } from "../ops/table.ts";
import { simplified } from "../sym/decide.ts";
import { Sym } from "../sym/expr.ts";
import { equalStretches } from "./equal_stretches.ts";
import { type LateNumber, lateNumber, type NumberTable, tableTensor } from "./late_numbers.ts";
import { isLateWrite } from "./late_writes.ts";

/** Number of calls from which on a stretch is worth a separate region. */
const LEAST = 16;
/** Minimum number of calls in a piece, since fusion does not cross its ends. */
const TOGETHER = 64;
/** Minimum number of calls that must be saved. */
const SAVED = 48;
/** Maximum length of a stretch. */
const LONGEST = 2000;

/** Returns a graph whose repeated stretches are regions, or null. */
export function outlined(captured: GraphModule): GraphModule | null {
  const { graph, attributes, runner } = captured;
  // Regions that are differentiated write nothing
  const keeps = graph.nodes.some(({ op, meta: { value } }) =>
    op !== "placeholder" && value.kind === "tensor" && value.requiresGrad
  );
  const calls = graph.nodes.filter((node) =>
    node.op !== "placeholder" && node.op !== "get_attr" && node.op !== "output" &&
    !(keeps && isLateWrite(node))
  );
  if (calls.length < SAVED + LEAST && !calls.some(({ meta }) => meta.regionCall !== undefined)) return null;
  const regions = regionsOf(calls, attributes);
  if (regions.length === 0) return null;
  const tables = regions.flatMap((outline) => outline.tables);
  const names = new Map(tables.map((table, at) => [table, `_numbers_${at}`]));
  const held = Object.fromEntries([...names].map(([table, name]) => [name, tableTensor(table)]));
  return new GraphModule(withRegions(graph, regions, names), { ...attributes, ...held }, runner);
}

/** The numbers of calls that can become arguments. */
type LateNumbers = ReadonlyMap<Node, LateNumber>;

/** A stretch of equal pieces, and the region that they call. */
interface Outline {
  readonly region: Region;
  readonly pieces: readonly Piece[];
  /** The numbers in which the pieces differ: each is passed its rows of the tables. */
  readonly tables: readonly NumberTable[];
}

/** One piece of a stretch. */
interface Piece {
  readonly nodes: readonly Node[];
  /** The tensors passed to the region. */
  readonly args: readonly Node[];
  /** The sizes passed after the numbers. */
  readonly sizes: readonly Argument[];
  /** Nodes that others read, in the order of the region's results. */
  readonly results: readonly Node[];
}

function regionsOf(calls: readonly Node[], attributes: GraphModule["attributes"]): Outline[] {
  const texts = new Map(
    calls.flatMap((node) => isPlain(node, attributes) ? [[node, textOfCall(node, undefined)] as const] : []),
  );
  const late: LateNumbers = lateNumbersOf(texts);
  const marked = markedRegions(calls, attributes, late);
  const taken = new Set(marked.flatMap(({ pieces }) => pieces.flatMap(({ nodes }) => nodes)));
  const numbers = new Map<string, number>();
  const list = calls.map((node, at) => {
    const number = late.get(node), text = number ? textOfCall(node, number) : texts.get(node);
    const key = text === undefined || taken.has(node) ? `${at}` : text;
    const known = numbers.get(key) ?? numbers.size;
    numbers.set(key, known);
    return known;
  });
  const place = new Map(calls.map((node, at) => [node, at]));
  const lastUses = new Map<Node, number>();
  const lastUseOf = (node: Node): number => {
    const known = lastUses.get(node) ??
      node.users.keys().reduce((last, user) => Math.max(last, place.get(user) ?? Infinity), -1);
    lastUses.set(node, known);
    return known;
  };
  const lastUse = calls.map((node) => {
    // The result of an in-place op lives on under the name of the written value
    const [written = node] = hasEffect(node) ? node.inputs() : [];
    return Math.max(lastUseOf(node), lastUseOf(written));
  });
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
      (_, k) => wired(calls.slice(start + k * period, start + (k + 1) * period), late),
    );
    // The second piece is the model, as the first often reads inputs that no piece computes
    const [, model] = all;
    const fitting = model ? all.filter((each) => each.text === model.text) : [];
    return (fitting.length - 1) * period < SAVED ? [] : outlineOf(fitting) ?? [];
  });
  return [...marked, ...stretches];
}

/** The numbers of calls that can become arguments, computed once for each text of a call. */
function lateNumbersOf(texts: ReadonlyMap<Node, string>): Map<Node, LateNumber> {
  const found = new Map<Node, LateNumber>(), known = new Map<string, LateNumber | null>();
  for (const [node, text] of texts) {
    if (!node.args.some((each) => typeof each === "number")) continue;
    const operands = [...node.inputs()].map(({ meta: { value } }) =>
      value.kind === "tensor" ? metaText(value.tensor) : value.kind
    );
    const key = `${text} of ${operands}`, former = known.get(key);
    const number = former === undefined ? lateNumber(node) : former;
    known.set(key, number);
    if (number) found.set(node, number);
  }
  return found;
}

/** Calls of functions that the program has marked, if several are equal. */
function markedRegions(
  calls: readonly Node[],
  attributes: GraphModule["attributes"],
  late: LateNumbers,
): Outline[] {
  const spans = new Map<number, { first: number; last: number }>();
  for (const [at, { meta: { regionCall } }] of calls.entries()) {
    if (regionCall === undefined) continue;
    const known = spans.get(regionCall);
    if (known) known.last = at;
    else spans.set(regionCall, { first: at, last: at });
  }
  const equals = new Map<string, Wired[]>();
  for (const span of spans.values()) {
    const { first, last } = span;
    // Generators advance between calls
    const isApart = spans.values().every((each) => each === span || each.last < first || each.first > last);
    if (!isApart) continue;
    const nodes = calls.slice(first, last + 1);
    if (!nodes.every((node) => isPlain(node, attributes))) continue;
    const piece = wired(nodes, late),
      text = [...nodes.map((node) => textOfCall(node, late.get(node))), piece.text].join("\n");
    equals.set(text, [...equals.get(text) ?? [], piece]);
  }
  return [...equals.values()].flatMap((pieces) => pieces.length < 2 ? [] : outlineOf(pieces) ?? []);
}

/** Returns whether a call may be part of a region: it calls an op that kernels compute. */
function isPlain(node: Node, attributes: GraphModule["attributes"]): boolean {
  const { op, target, meta } = node;
  if (op !== "call_function" && op !== "call_method") return false;
  if (
    meta.onHost || meta.leaf || meta.region || meta.gradient || meta.recomputed !== undefined ||
    takesGradients(node) ||
    isHigherOrder(node) ||
    isNumberNode(node)
  ) {
    return false;
  }
  if (Object.hasOwn(attributes, target)) return false;
  return target === "getitem" || findTarget(target) !== undefined;
}

/** A text that is the same for calls that differ only in their tensors and in a number that can become an argument. */
function textOfCall(
  { op, target, args, kwargs, meta: { value, noGrad } }: Node,
  late: LateNumber | undefined,
): string {
  const metas = value.kind === "tensor" ? [value.tensor] : value.kind === "tensors" ? value.tensors : null;
  const result = metas ? metas.map(metaText).join() : value.kind;
  const given = late ? args.map((each, at) => at === late.at ? late.dtype : each) : args;
  return `${op} ${target}(${shape(given)}, ${shape(kwargs)})${noGrad ? " noGrad" : ""}: ${result}`;
}

/** Texts of metadata, which equal layers share. Sizes may become constants while a graph is compiled. */
const metaTexts = new WeakMap<TensorMeta, string>();

function metaText(meta: TensorMeta): string {
  const known = metaTexts.get(meta);
  if (known !== undefined) return known;
  const { shape: sizes, strides, dtype, device } = meta;
  const text = `${dtype} ${device} ${shape(sizes)} ${shape(strides)}`;
  if ([...sizes, ...strides].every((size) => typeof size === "number")) metaTexts.set(meta, text);
  return text;
}

/** An argument without its tensors. */
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

/** Equal pieces as calls of one region; null if their inputs or results do not fit one. */
function outlineOf(fitting: readonly Wired[]): Outline | null {
  const [template] = fitting;
  if (!template) return null;
  const outside = new Set(fitting.flatMap(({ results }) => [...results]));
  const results = [...outside].sort((a, b) => a - b);
  const slots = slotsOf(fitting), numbers = numbersOf(fitting);
  const region = regionOf(template, { results, slots, fitting, numbers });
  if (!region) return null;
  const sizes = region.graph.placeholders.flatMap(({ meta: { value } }) =>
    value.kind === "size" ? [value.size] : []
  );
  return {
    region,
    pieces: fitting.map(({ nodes, given }) => ({
      nodes,
      args: slots.first.map((slot) => nodeAt(given, slot)),
      sizes,
      results: results.map((at) => nodeAt(nodes, at)),
    })),
    tables: numbers.tables,
  };
}

/** A piece, and how its calls are connected. */
interface Wired {
  readonly nodes: readonly Node[];
  /** Outside values that the calls read, once for each use. */
  readonly given: readonly Node[];
  /** Positions of calls whose results are read outside. */
  readonly results: ReadonlySet<number>;
  /** The numbers of calls that can become arguments, by position of the call. */
  readonly numbers: ReadonlyMap<number, LateNumber>;
  readonly text: string;
}

function wired(nodes: readonly Node[], late: LateNumbers): Wired {
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
  const numbers = new Map(nodes.flatMap((node, at) => {
    const number = late.get(node);
    return number ? [[at, number] as const] : [];
  }));
  return { nodes, given, results, numbers, text: links.join(" ") };
}

/** The numbers in which pieces differ, as tables. */
interface DifferingNumbers {
  readonly tables: readonly NumberTable[];
  /** Positions of the numbers, by call. */
  readonly places: ReadonlyMap<number, NumberPlace>;
}

/** Position of a number that varies between pieces. */
interface NumberPlace {
  /** Its position among the call's arguments. */
  readonly at: number;
  readonly table: number;
  /** Its position in the row of a piece. */
  readonly column: number;
}

function numbersOf(pieces: readonly Wired[]): DifferingNumbers {
  const [{ numbers } = { numbers: new Map<number, LateNumber>() }] = pieces;
  const columns = new Map<string, (readonly number[])[]>(), kinds: LateNumber[] = [];
  const places = new Map<number, NumberPlace>();
  for (const [place, number] of numbers) {
    const values = pieces.map((piece) => piece.numbers.get(place)?.value ?? NaN);
    if (values.every((value) => Object.is(value, number.value))) continue;
    const key = `${number.dtype} ${number.device}`;
    const known = columns.get(key) ?? [];
    if (known.length === 0) kinds.push(number);
    columns.set(key, known);
    const same = known.findIndex((each) => each.every((value, k) => Object.is(value, values[k])));
    const column = same < 0 ? known.push(values) - 1 : same;
    places.set(place, { at: number.at, table: [...columns.keys()].indexOf(key), column });
  }
  const tables = [...columns.values()].map((list, k): NumberTable => {
    const { dtype = "float32", device = "cpu" } = kinds[k] ?? {};
    const values = pieces.flatMap((_, row) => list.map((column) => column[row] ?? NaN));
    return { dtype, device, width: list.length, values };
  });
  return { tables, places };
}

/** Assigns outside values to arguments: values that are equal in every piece share one. */
function slotsOf(pieces: readonly Wired[]): {
  /** The slot of each value. */
  readonly of: readonly number[];
  /** The position of the first value of each slot. */
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

/** The last call of a piece, where the region call goes. */
interface End {
  readonly outline: Outline;
  readonly piece: Piece;
  readonly row: number;
  readonly name: string;
}

/** A piece as a graph; null if copies of its inputs would have another layout. */
function regionOf(
  { nodes, given }: Wired,
  { results, slots, fitting, numbers }: {
    readonly results: readonly number[];
    readonly slots: ReturnType<typeof slotsOf>;
    readonly fitting: readonly Wired[];
    readonly numbers: DifferingNumbers;
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
  const rows = numbers.tables.map(({ width, dtype, device }) =>
    graph.create("placeholder", "numbers", { meta: { value: rowsValue(1, { width, dtype, device }) } })
  );
  let next = 0;
  for (const [place, node] of nodes.entries()) {
    const moved = (argument: Argument): Argument => {
      if (argument instanceof Node) return copies.get(argument) ?? inputs[slots.of[next++] ?? -1] ?? argument;
      if (argument instanceof Sym) return simplified(argument);
      if (isList(argument)) return argument.map(moved);
      return isRecord(argument)
        ? Object.fromEntries(Object.entries(argument).map(([name, each]) => [name, moved(each)]))
        : argument;
    };
    const late = numbers.places.get(place), row = late && rows[late.table];
    const number = row && graph.create("call_function", "select", {
      args: [row, 0, late.column],
      meta: { stack: node.meta.stack, value: elementValue(row, late.column) },
    });
    const args = node.args.map((each, at) => number && at === late.at ? number : moved(each));
    const kwargs = Object.fromEntries(Object.entries(node.kwargs).map(([name, each]) => [name, moved(each)]));
    const { op, target, name, meta } = node;
    copies.set(node, graph.create(op, target, { name, args, kwargs, meta: { ...meta } }));
  }
  graph.create("output", "output", { args: [results.map((at) => copyOf(copies, nodeAt(nodes, at)))] });
  const bound = new Set(sizeBindings(graph).map(({ symbol }) => symbol));
  const before = graph.nodes.find(({ op }) => op !== "placeholder");
  for (const size of symbolsOf(graph.nodes)) {
    if (bound.has(size) || !before) continue;
    graph.create("placeholder", `${size}`, { meta: { value: { kind: "size", size } }, before });
  }
  graph.lint();
  return { graph, ownResults: results.length, mutatedInputs: [] };
}

/** One of the numbers in a row as the value of a node. */
function elementValue({ meta: { value } }: Node, at: number): NodeValue {
  if (value.kind !== "tensor") throw new InternalError(`Expected a row of numbers but found ${value.kind}`);
  return { ...value, tensor: { ...value.tensor, shape: [], strides: [], offset: at } };
}

/** Rows of numbers as the value of a node. */
function rowsValue(
  count: number,
  { width, dtype, device }: Pick<NumberTable, "width" | "dtype" | "device">,
  first = 0,
): NodeValue {
  const tensor = { ...contiguousMeta([count * width], dtype, device), offset: first * width };
  return { kind: "tensor", tensor, requiresGrad: false };
}

/**
 * The graph with region calls in place of the pieces, each where its last call was; `names`: of tables among the
 * attributes.
 */
function withRegions(
  graph: Graph,
  outlines: readonly Outline[],
  names: ReadonlyMap<NumberTable, string>,
): Graph {
  const result = new Graph(), copies = new Map<Node, Node>();
  const inside = new Set<Node>(),
    ends = new Map<Node, End>();
  for (const [at, outline] of outlines.entries()) {
    for (const [row, piece] of outline.pieces.entries()) {
      for (const node of piece.nodes) inside.add(node);
      const last = piece.nodes.at(-1);
      if (last) ends.set(last, { outline, piece, row, name: `region_${at}` });
    }
  }
  const moved = (argument: Argument) => mapNodes(argument, (node) => copyOf(copies, node));
  const copy = (node: Node) => {
    const { op, target, name, meta } = node;
    const operands = mapOperands(node, (each) => copyOf(copies, each));
    copies.set(node, result.create(op, target, { ...operands, name, meta }));
  };
  const held = new Map<NumberTable, Node>();
  const heldTable = (table: NumberTable): Node => {
    const known = held.get(table), name = names.get(table);
    if (known) return known;
    if (name === undefined) throw new InternalError("Expected a name for each table of numbers");
    const value = rowsValue(table.values.length / table.width, table);
    const made = result.create("get_attr", name, { meta: { stack: [], value } });
    held.set(table, made);
    return made;
  };
  const isReady = (each: Node) => each.inputs().values().every((input) => copies.has(input));
  // Late writes in the middle of a piece, whose results exist at its end
  let waiting: Node[] = [];
  for (const node of graph.nodes) {
    const end = ends.get(node);
    if (end) {
      const { outline: { region, tables }, piece, row, name } = end, { stack } = node.meta;
      const numbers = tables.map((table) => {
        const { width } = table;
        return result.create("call_function", "slice", {
          args: [heldTable(table), 0, row * width, (row + 1) * width],
          meta: { stack, value: rowsValue(1, table, row) },
        });
      });
      const args = [...piece.args.map(moved), ...numbers, ...piece.sizes.map(moved)];
      const call = result.create("call_function", name, { args, meta: { stack, region } });
      for (const [index, each] of piece.results.entries()) {
        const { meta } = each;
        copies.set(
          each,
          result.create("call_function", "getitem", { name: each.name, args: [call, index], meta }),
        );
      }
    }
    if (!inside.has(node)) {
      if (waiting.length === 0 && isReady(node)) copy(node);
      else waiting.push(node);
    }
    if (waiting.length === 0) continue;
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
