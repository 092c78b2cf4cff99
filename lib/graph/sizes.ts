/**
 * Bindings of a graph's size symbols at run time: for each symbol the placeholder whose dimension, stride or own
 * value determines it. Invariant: every binding reads a plain symbol, so that no equation has to be solved at run
 * time.
 */
import { DynError } from "../base/errors.ts";
import { type Dim, freeSymbols, Sym } from "../sym/expr.ts";
import type { SourcePart } from "../sym/size_guards.ts";
import { type Argument, type Graph, isList, isRecord, Node, type NodeValue } from "./node.ts";
import type { TensorMeta } from "./meta.ts";

/** How the value of a node determines a symbol that inputs do not determine. */
export interface LateBinding {
  readonly symbol: Sym;
  /** Index of the result, if there are several. */
  readonly result: number | null;
  readonly part: SourcePart;
}

/** Returns the symbols that values of host nodes determine, by node; each symbol belongs to the first such node. */
export function lateBindings(graph: Graph): Map<Node, readonly LateBinding[]> {
  const bound = new Set<Sym>(), found = new Map<Node, readonly LateBinding[]>();
  for (const node of graph.nodes) {
    if (!node.meta.onHost) continue;
    const given: LateBinding[] = [];
    const offer = (d: Dim, result: number | null, part: SourcePart) => {
      if (typeof d === "number" || d.node.kind !== "symbol" || d.node.role.kind !== "unbacked") return;
      if (bound.has(d)) return;
      bound.add(d);
      given.push({ symbol: d, result, part });
    };
    const { value } = node.meta;
    if (value.kind === "size") offer(value.size, null, { kind: "value" });
    if (value.kind === "tensor") {
      value.tensor.shape.forEach((size, dim) => offer(size, null, { kind: "shape", dim }));
    }
    if (value.kind === "tensors") {
      for (const [result, { shape }] of value.tensors.entries()) {
        shape.forEach((size, dim) => offer(size, result, { kind: "shape", dim }));
      }
    }
    if (given.length > 0) found.set(node, given);
  }
  return found;
}

/** Reads a size from the value of a node. */
export function readLateBinding({ symbol, result, part }: LateBinding, value: unknown): number {
  const holder: unknown = result !== null && Array.isArray(value) ? value[result] : value;
  return readBinding({ symbol, input: 0, part }, [holder]);
}

/** How one symbol is found among the inputs of a call. */
export interface SizeBinding {
  readonly symbol: Sym;
  /** Index among the graph's placeholders. */
  readonly input: number;
  /** The part of that placeholder. */
  readonly part: SourcePart;
}

/** The interface of run-time values that bind sizes: eager tensors implement it. */
interface SizedValue {
  readonly shape: readonly Dim[];
  stride?(): readonly number[];
  storageOffset?(): number;
}

/** Returns the bindings that the placeholders offer, first one wins; shapes before strides before offsets. */
export function sizeBindings(graph: Graph): SizeBinding[] {
  const found = new Map<Sym, SizeBinding>();
  const offer = (d: Dim, input: number, part: SourcePart) => {
    if (typeof d !== "number" && d.node.kind === "symbol" && !found.has(d)) {
      found.set(d, { symbol: d, input, part });
    }
  };
  const tensors: [input: number, meta: TensorMeta][] = [];
  for (const [input, node] of graph.placeholders.entries()) {
    const { value } = node.meta;
    if (value.kind === "size") offer(value.size, input, { kind: "value" });
    if (value.kind === "tensor" && !isKnown(value.tensor)) tensors.push([input, value.tensor]);
  }
  for (const [input, { shape }] of tensors) {
    shape.forEach((size, dim) => offer(size, input, { kind: "shape", dim }));
  }
  for (const [input, { strides }] of tensors) {
    strides.forEach((stride, dim) => offer(stride, input, { kind: "stride", dim }));
  }
  for (const [input, { offset }] of tensors) offer(offset, input, { kind: "offset" });
  return [...found.values()];
}

/** Returns whether a layout mentions no symbols. */
const isKnown = ({ shape, strides, offset }: TensorMeta): boolean =>
  typeof offset === "number" && shape.every(isNumber) && strides.every(isNumber);

const isNumber = (d: Dim): boolean => typeof d === "number";

/** Reads one binding in a call. */
export function readBinding({ input, part, symbol }: SizeBinding, args: readonly unknown[]): number {
  const value = args[input];
  if (part.kind === "value") {
    if (typeof value === "number") return value;
    throw new DynError(`Expected a number for ${symbol} but found ${typeof value}`);
  }
  if (!isSized(value)) {
    throw new DynError(`Expected a tensor that determines ${symbol} but found ${typeof value}`);
  }
  const size = part.kind === "shape"
    ? value.shape[part.dim]
    : part.kind === "stride"
    ? value.stride?.()[part.dim]
    : value.storageOffset?.();
  if (typeof size === "number") return size;
  throw new DynError(`Expected a known ${part.kind} for ${symbol} but found ${size}`);
}

/** Collects all symbols that the arguments and results of nodes mention. */
export function symbolsOf(nodes: readonly Node[], found: Set<Sym> = new Set()): Set<Sym> {
  const inMeta = (meta: TensorMeta) => {
    if (isKnown(meta)) return;
    for (const d of [...meta.shape, ...meta.strides, meta.offset]) freeSymbols(d, found);
  };
  // Equal layers share values
  const seen = new Set<NodeValue>();
  for (const { args, kwargs, meta: { value } } of nodes) {
    symbolsIn(args, found);
    symbolsIn(kwargs, found);
    if (seen.has(value)) continue;
    seen.add(value);
    if (value.kind === "tensor") inMeta(value.tensor);
    else if (value.kind === "tensors") value.tensors.forEach(inMeta);
    else if (value.kind === "size") freeSymbols(value.size, found);
  }
  return found;
}

/** Collects all symbols in an argument tree, but not in the values of its nodes. */
export function symbolsIn(argument: Argument, into: Set<Sym>): void {
  // Most arguments are nodes and numbers, of which large graphs have many
  if (typeof argument !== "object" || argument === null || argument instanceof Node) return;
  if (argument instanceof Sym) freeSymbols(argument, into);
  else if (isList(argument)) { for (let at = 0; at < argument.length; at++) symbolsIn(argument[at], into); }
  else if (isRecord(argument)) {
    for (const each of Object.values(argument)) symbolsIn(each, into);
  }
}

function isSized(value: unknown): value is SizedValue {
  return typeof value === "object" && value !== null && "shape" in value && Array.isArray(value.shape);
}
