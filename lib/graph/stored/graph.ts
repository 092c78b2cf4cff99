/**
 * Serialises graphs whose calls go to ops by name. Invariant: references beyond a graph's own nodes (functions,
 * tensors, other graphs) are refused, never left out; source lines have a form of their own, as numbers of lists that
 * the reader has.
 */
import type { Plain } from "../../base/recording.ts";
import {
  Graph,
  type Node,
  type NodeMeta,
  type NodeValue,
  type Opcode,
  type Region,
  type SourcePosition,
} from "../node.ts";
import type { GraphModule } from "../graph_module.ts";
import type { CustomGradient } from "../custom_gradient.ts";
import { type Codec, oneOf } from "../../sym/stored/codec.ts";
import { DamagedForm, listIn, NotStorable, numberIn, recordIn, textIn } from "../../sym/stored/forms.ts";
import type { Symbols } from "../../sym/stored/symbols.ts";
import { nodeValue, readArgument, writeArgument } from "./values.ts";

/** Lists of source lines. */
export type Stacks = readonly (readonly SourcePosition[])[];

/** Returns the stack of each of a graph's nodes, with those of called regions, and of gradients, after the first call. */
export function stacksOf({ nodes }: Graph): Stacks {
  const regions = new Set<Region>();
  return nodes.flatMap(({ meta: { stack, region, gradient } }) => {
    if (gradient) return [stack, ...stacksOf(gradient.graph)];
    if (!region || regions.has(region)) return [stack];
    regions.add(region);
    return [stack, ...stacksOf(region.graph)];
  });
}

/** Serialises the stacks of a graph's nodes as numbers of `stacks`; null for others. */
export function writeStacks(graph: Graph, stacks: Stacks): Plain {
  const numbers = new Map(stacks.map((stack, i) => [stack, i]));
  return stacksOf(graph).map((stack) => numbers.get(stack) ?? null);
}

/** Reads the stacks of a graph's nodes. */
export function readStacks(form: Plain | undefined, stacks: Stacks): Stacks {
  return listIn(form).map((number) => number === null ? NO_STACK : stacks[numberIn(number)] ?? NO_STACK);
}

const NO_STACK: readonly SourcePosition[] = [];

const NO_ATTRIBUTES: ReadonlySet<string> = new Set();

/** Forms of graphs without symbols, which are the same under any numbering. */
const plainForms = new WeakMap<Graph, Plain>();

/**
 * Serialises a captured graph, once unless somebody may rewrite it: both the key of its compilation and the capture
 * itself contain it. Throws NotStorable.
 */
export function writeCaptured(captured: GraphModule, symbols: Symbols): Plain {
  const { calling, attributes, isUntouched } = captured;
  const known = plainForms.get(calling);
  if (known !== undefined) return known;
  const wasUnused = symbols.isUnused;
  const form = writeGraph(calling, symbols, { attributes: new Set(Object.keys(attributes)) });
  if (isUntouched && wasUnused && symbols.isUnused) plainForms.set(calling, form);
  return form;
}

/** Fields of a node's data that are written as they are, where they are set. */
const PLAIN_MARKS = [
  "source",
  "held",
  "noGrad",
  "leaf",
  "partition",
  "regionCall",
  "recomputed",
  "ofPass",
  "turn",
] as const satisfies readonly (keyof NodeMeta)[];

/** All others: those that are written in another form, those that are refused, and those of joint graphs. */
type OtherField = "value" | "stack" | "region" | "gradient" | "onHost" | "begins" | "taped";

// Fails to compile when a field is added that must be serialised too
const unwritten: Omit<NodeMeta, typeof PLAIN_MARKS[number] | OtherField> = {};
unwritten satisfies Record<string, never>;

/** Without calls of modules, which graphs refuse. */
const opcode: Codec<Exclude<Opcode, "call_module">> = oneOf(
  "placeholder",
  "call_function",
  "call_method",
  "get_attr",
  "output",
);

/** Serialises a graph, which may read `attributes`. Throws NotStorable. */
export function writeGraph(
  { nodes }: Graph,
  symbols: Symbols,
  { attributes = NO_ATTRIBUTES }: { readonly attributes?: ReadonlySet<string> } = {},
): Plain {
  const numbers = new Map<Node, number>();
  const regions = new Map<Region, number>();
  /** A region in full at its first call, then its number */
  const regionForm = (region: Region): Plain => {
    const known = regions.get(region);
    if (known !== undefined) return known;
    regions.set(region, regions.size);
    const { graph, ownResults, mutatedInputs, ...others } = region;
    others satisfies Record<string, never>;
    return { graph: writeGraph(graph, symbols), ownResults, mutatedInputs };
  };
  const values = new Map<NodeValue, number>(), texts = new Map<string, number>();
  /** A value in full at its first use, then its number: equal layers have equal ones */
  const valueForm = (value: NodeValue): Plain => {
    const known = values.get(value);
    if (known !== undefined) return known;
    const form = nodeValue.write(value, symbols), text = JSON.stringify(form), former = texts.get(text);
    const number = former ?? texts.size;
    values.set(value, number);
    texts.set(text, number);
    return former ?? form;
  };
  const byNumber = {
    numberOf(node: Node) {
      const found = numbers.get(node);
      if (found === undefined) throw new DamagedForm(`Expected ${node.name} before its users`);
      return found;
    },
    at(number: number): Node {
      throw new DamagedForm(`Expected nodes to be written but found ${number} to be read`);
    },
  };
  return nodes.map((node, number) => {
    const { name, op, target, args, kwargs, meta } = node;
    if (op === "call_module" || (op === "get_attr" && !attributes.has(target))) {
      throw new NotStorable(`${name}, which reads ${target}`);
    }
    if (meta.onHost) throw new NotStorable(`${name}, which the host computes`);
    const written: Record<string, Plain> = { name, op, target, args: writeArgument(args, byNumber, symbols) };
    if (Object.keys(kwargs).length > 0) written["kwargs"] = writeArgument(kwargs, byNumber, symbols);
    written["value"] = valueForm(meta.value);
    for (const key of PLAIN_MARKS) {
      const mark = meta[key];
      if (mark !== undefined) written[key] = mark;
    }
    if (meta.region) written["region"] = regionForm(meta.region);
    if (meta.gradient) {
      const { name, graph, written: targets, ...others } = meta.gradient;
      others satisfies Record<string, never>;
      written["gradient"] = { name, graph: writeGraph(graph, symbols), written: targets };
    }
    numbers.set(node, number);
    return written;
  });
}

const partition = oneOf("forward", "backward");
const turn = oneOf("first", "again");

/** Reads a serialised graph; `stacks`: as `stacksOf` lists them. Throws DamagedForm. */
export function readGraph(form: Plain, symbols: Symbols, stacks: Stacks = []): Graph {
  return readNodes(form, symbols, stacks.values());
}

function readNodes(form: Plain, symbols: Symbols, stacks: Iterator<readonly SourcePosition[]>): Graph {
  const graph = new Graph(), made: Node[] = [], regions: Region[] = [], values: NodeValue[] = [];
  const valueOf = (given: Plain): NodeValue => {
    const known = typeof given === "number" ? values[given] : undefined;
    if (known) return known;
    const value = nodeValue.read(given, symbols);
    values.push(value);
    return value;
  };
  const regionOf = (given: Plain): Region => {
    const known = typeof given === "number" ? regions[given] : undefined;
    if (known) return known;
    const { graph = null, ownResults, mutatedInputs } = recordIn(given);
    const region: Region = {
      graph: readNodes(graph, symbols, stacks),
      ownResults: numberIn(ownResults),
      mutatedInputs: listIn(mutatedInputs).map(numberIn),
    };
    regions.push(region);
    return region;
  };
  const gradientOf = (given: Plain): CustomGradient => {
    const { name = null, graph = null, written } = recordIn(given);
    return {
      name: textIn(name),
      graph: readNodes(graph, symbols, stacks),
      written: listIn(written).map(numberIn),
    };
  };
  const byNumber = {
    numberOf(node: Node): number {
      throw new DamagedForm(`Expected nodes to be read but found ${node.name} to be written`);
    },
    at(number: number) {
      const found = made[number];
      if (!found) throw new DamagedForm(`Expected one of ${made.length} nodes but found ${number}`);
      return found;
    },
  };
  for (const each of listIn(form)) {
    const fields = recordIn(each), args = readArgument(fields.args, byNumber, symbols);
    const kwargs = readArgument(fields.kwargs ?? {}, byNumber, symbols);
    const meta: NodeMeta = {
      value: valueOf(fields.value ?? null),
      stack: stacks.next().value ?? NO_STACK,
      ...fields.source === undefined ? {} : { source: textIn(fields.source) },
      ...fields.held ? { held: true } : {},
      ...fields.noGrad ? { noGrad: true } : {},
      ...fields.leaf ? { leaf: true } : {},
      ...fields.partition === undefined ? {} : { partition: partition.read(fields.partition, symbols) },
      ...fields.regionCall === undefined ? {} : { regionCall: numberIn(fields.regionCall) },
      ...fields.recomputed === undefined ? {} : { recomputed: numberIn(fields.recomputed) },
      ...fields.ofPass ? { ofPass: true } : {},
      ...fields.turn === undefined ? {} : { turn: turn.read(fields.turn, symbols) },
      ...fields.region === undefined ? {} : { region: regionOf(fields.region) },
      ...fields.gradient === undefined ? {} : { gradient: gradientOf(fields.gradient) },
    };
    if (!isArguments(args) || !isKeywords(kwargs)) throw new DamagedForm("Expected arguments of a node");
    const op = opcode.read(fields.op ?? null, symbols);
    const name = textIn(fields.name);
    const node = graph.create(op, textIn(fields.target), { name, args, kwargs, meta });
    if (node.name !== name) throw new DamagedForm(`Expected a node ${name} but found ${node.name}`);
    made.push(node);
  }
  graph.lint();
  return graph;
}

function isArguments(value: unknown): value is Node["args"] {
  return Array.isArray(value);
}

function isKeywords(value: unknown): value is Node["kwargs"] {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
