/**
 * The graph under construction, with the guards and inputs that belong to it. Invariant: every placeholder can be
 * computed from sources before anything of the program has run.
 */
import type { CodeObject } from "../bytecode/code.ts";
import { InternalError, invariant } from "../../base/errors.ts";
import { callInstead, type TracedUpdate } from "../../graph/captured_module.ts";
import { Graph, type Node, type SourcePosition } from "../../graph/node.ts";
import { type Dim, freeSymbols, type Sym } from "../../sym/expr.ts";
import { isUnbacked } from "../../sym/decide.ts";
import { Integers } from "../../sym/integers.ts";
import { type Noted, ShapeEnv } from "../../sym/shape_env.ts";
import type { SizeGuard, SizeSource } from "../../sym/size_guards.ts";
import { sizeBindings, symbolsOf } from "../../graph/sizes.ts";
import type { Fact, Guard, MethodExpectation } from "../guards/guard.ts";
import { factText, hostLeafText, leafKey } from "../guards/text.ts";
import { computedSource, isSamePlace, placeholderName, type Source, sourceText } from "../source.ts";
import {
  callIn,
  expressionSize,
  type HostCall,
  type HostExpression,
  hostText,
  isOfComparator,
} from "../variables/host_number.ts";
import type { SelectionMask } from "../variables/selection_value.ts";
import { type ElementsExotic, type ItemValue, TensorValue } from "../variables/value.ts";
import { NumberValue } from "../variables/number_value.ts";
import { type DeviceName, findDevice } from "../../loops/device.ts";
import { breakGraph } from "../break_reasons.ts";
import type { SourceReader } from "../guards/reader.ts";
import type { Tensor } from "../../tensor/tensor.ts";
import { contiguousMeta } from "../../graph/meta.ts";
import { scalarMeta } from "../scalars.ts";
import { settleExported } from "./exported_numbers.ts";
import { Memories } from "../variables/memories.ts";
import { Restart } from "./restart.ts";
import { type Recomputation, Recomputations } from "./recomputations.ts";
import type { GraphValue } from "../../ops/graph_builder.ts";
import { addChecks, dropUnreadNumbers } from "./late_sizes.ts";
import type { CopiedCall } from "./copied_calls.ts";
import { TraceHistory } from "./history.ts";
import { OutdatedViews } from "./outdated_views.ts";
import { OverwrittenLeaves } from "./overwritten_leaves.ts";
import { DistinctVariables } from "./distinct_variables.ts";
import { TracedKeys } from "./traced_keys.ts";

/** How much an event says about why a size is what guards say. */
const WEIGHT: Readonly<Record<Noted, number>> = { created: 0, constrained: 1, settled: 2 };

/** The run-time source of a placeholder's value. */
export type GraphInput =
  | { readonly kind: "tensor"; readonly node: Node; readonly value: TensorValue }
  /** A size or integer, computed by a size expression. */
  | { readonly kind: "size"; readonly node: Node; readonly size: Sym }
  /** A number as a 0-dimensional tensor. */
  | {
    readonly kind: "scalar";
    readonly node: Node;
    readonly device: DeviceName;
    readonly expression: HostExpression;
    readonly hint: number;
  }
  /** A new tensor of numbers of the program. */
  | {
    readonly kind: "data";
    readonly node: Node;
    readonly example: Tensor;
    /** The text of the call that creates it. */
    readonly text: (reader: SourceReader) => string;
  };

/** The position of the trace, for stacks of nodes and guards. */
interface Whereabouts {
  /** User frames, innermost last. */
  stack(): readonly SourcePosition[];
  /** The innermost of them in the user's own files, otherwise the innermost of all; null: there is none. */
  place(): SourcePosition | null;
  /** Number of the current instruction. */
  step(): number;
  /** Number of the outermost running call of a region that the program has marked; null outside of regions. */
  regionCall(): number | null;
  /** The outermost running call of a checkpoint; null outside of checkpoints. */
  recomputed(): Recomputation | null;
}

/** Number of operations from which on a graph is large for the device that will compile it: more may follow. */
const MANY_OPERATIONS = 32;

/** Where the graph would have to end for the tape to create a tensor, and what is special about that. */
export interface OfTape {
  /** The number of the instruction. */
  readonly step: number;
  readonly what: string;
}

/** The graph of one trace. */
export class OutputGraph {
  readonly graph: Graph = new Graph();
  readonly inputs: GraphInput[] = [];
  readonly guards: Guard[] = [];
  /** Code that the trace has read or run. */
  readonly followed: Set<CodeObject> = new Set();
  readonly sizes: ShapeEnv = new ShapeEnv((symbols, how) => this.#noteSizes(symbols, how));
  readonly integers: Integers = new Integers(this.sizes);
  /** The line that created each symbol, then the first one that assumed something about it. */
  readonly #sizePlaces = new Map<Sym, { place: SourcePosition | null; how: Noted }>();
  /** The traced tensor of each node. */
  readonly tensors: Map<Node, TensorValue> = new Map();
  /** Tensors at which the program has begun a history. */
  readonly begun: TensorValue[] = [];
  /** Nodes that stand, or have stood, for tensors of the program that were switched by `requiresGrad_()`. */
  readonly switched: Map<Node, TensorValue> = new Map();
  /** Tensors of the program that require grad since an instruction of the trace. */
  readonly raised: { readonly tensor: TensorValue; readonly step: number }[] = [];
  /** Those of transforms that have returned. */
  readonly ended: Set<Node> = new Set();
  /** Tensors whose creation has to be left to the tape if they leave the graph. */
  readonly ofTape: Map<Node, OfTape> = new Map();
  /** Tensors that share memory on the tape, but not in the graph: nothing may write to it. */
  readonly unshared: Node[] = [];
  /** Copies that stand for tensors to differentiate with respect to: a write to one would be lost. */
  readonly copiesOfLeaves: Set<Node> = new Set();
  /** Placeholders that pass in numbers. */
  readonly scalars: Set<Node> = new Set();
  /** Those of numbers that are integers in no call. */
  readonly fractions: Set<Node> = new Set();
  /** Functions that nodes call by an attribute's name. */
  readonly attributes: Record<string, unknown> = {};
  /** Methods of dyn's classes that the program uses, guarded together with the ambient state. */
  readonly methods: MethodExpectation[] = [];
  /** Reads of the program by gradients of its own. */
  readonly later: { members: MethodExpectation[]; defaults: boolean } = { members: [], defaults: false };
  readonly #guarded = new Set<string>();
  /** Names of sources whose objects are guarded by identity. */
  readonly #identified = new Set<string>();
  readonly #sourceNames = new Map<string, Source>();
  readonly #scalarNodes = new Map<string, Node>();
  readonly #computedSizes = new Map<string, Dim>();
  /** Elements that the program has read, as long as nothing was written in place. */
  readonly items: Map<TensorValue, ItemValue> = new Map();
  /** Elements that are read from tensors after the graph has run. */
  readonly readLater: (ItemValue | ElementsExotic)[] = [];
  /** Copies made for these, which may turn out to be unneeded. */
  readonly readCopies: Node[] = [];
  /** Results of host computations on elements, by call, as long as nothing was written in place. */
  readonly hostCalls: Map<string, GraphValue | readonly GraphValue[]> = new Map();
  /** The masks by which the program has selected elements whose number nothing has asked for. */
  readonly selectionMasks: SelectionMask[] = [];
  /** Set once something else has happened to such a selection: the trace ends before it was made. */
  refusedSelection: Restart | null = null;
  /** Numbers of the graph that are sizes. */
  readonly sizeNumbers: Map<Sym, Node> = new Map();
  /** The autograd history that the tape would have. */
  readonly memories: Memories = new Memories();
  readonly history: TraceHistory = new TraceHistory(this);
  /** Tensors at which a history begins whose memory the program has written to. */
  readonly overwritten: OverwrittenLeaves = new OverwrittenLeaves(this.history);
  /** Views without a history, which they have on the tape once their memory is written to. */
  readonly outdated: OutdatedViews = new OutdatedViews(this);
  operations = 0;
  /** Calls of regions that the program has marked. */
  regionCalls = 0;
  readonly recomputations: Recomputations = new Recomputations(this);
  /** The keys that each collection was asked for. */
  readonly keys: TracedKeys = new TracedKeys(this);
  /** The captured variables that the program has reached. */
  readonly variables: DistinctVariables = new DistinctVariables(this);
  readonly #madeAt = new Map<Node, number>();
  /** Traced updates that others have been found equal to: calls replace their operations in the end. */
  readonly updates: Set<TracedUpdate> = new Set();
  /** Calls whose operations were appended as those of an equal call, by their first node. */
  readonly copies: Map<Node, CopiedCall> = new Map();

  constructor(readonly whereabouts: Whereabouts) {}

  /** Relies on objects being distinct from each other, and from others. */
  guardDistinct(members: readonly Source[], others: readonly Source[] = []): void {
    // Objects that are guarded by identity are distinct
    const areFixed = members.every(this.isFixed);
    const left = areFixed ? others.filter((other) => !this.isFixed(other)) : others;
    if (left.length > 0 || (!areFixed && members.length > 1)) {
      this.guard({ kind: "distinct", members, others: left });
    }
  }

  /** Returns whether calls with another object at a place have failed another guard. */
  readonly isFixed = ({ kind, name }: Source): boolean => kind === "known" || this.#identified.has(name);

  /** Relies on a fact from here on. */
  guard(fact: Fact): void {
    if (fact.kind === "expression") settleExported(this.sizes, [fact.expression]);
    const call = fact.kind === "expression" ? callIn(fact.expression) : null;
    if (call) breakGraph("builtin", `what follows depends on ${call.text}`);
    if (fact.kind === "expression" && isOfComparator(fact.expression)) {
      breakGraph("symbolicNumber", "a comparator depends on what it compares");
    }
    const key = keyOf(fact);
    if ("source" in fact && fact.source) this.rememberSource(fact.source);
    if (this.#guarded.has(key)) return;
    this.#guarded.add(key);
    if (fact.kind === "identity") this.#identified.add(fact.source.name);
    this.guardGrowing(fact);
  }

  /** Relies on a fact as far as it is known in the end. */
  guardGrowing(fact: Fact): void {
    this.guards.push({ fact, user: this.whereabouts.place() });
  }

  /** Returns whether a fact of this kind about the same place is already relied on. */
  reliesOn(fact: Fact): boolean {
    return this.#guarded.has(keyOf(fact));
  }

  /** Relies on a method or getter of a class of dyn. */
  relyOnMethod(expected: MethodExpectation): void {
    const { prototype, key } = expected;
    if (this.methods.some((known) => known.prototype === prototype && known.key === key)) return;
    this.methods.push(expected);
  }

  /** The size that each call computes by an expression over its places, and checks to be one. */
  sizeComputedBy(expression: HostExpression, hint: number): Dim {
    const source = computedSource(expression), known = this.#computedSizes.get(source.name);
    if (known !== undefined) return known;
    this.rememberSource(source);
    this.guard({ kind: "integer", source });
    const place: SizeSource = { base: source.name, part: { kind: "value" } };
    const size = this.integers.asSize(this.integers.create(place, { hint, variesAsSize: true }));
    this.#computedSizes.set(source.name, size);
    return size;
  }

  /** Registers a source that guards test, or from which sizes are read. */
  rememberSource(source: Source): void {
    const known = this.#sourceNames.get(source.name);
    if (!known) this.#sourceNames.set(source.name, source);
    else if (!isSamePlace(known, source)) {
      throw new InternalError(`Expected one place of the name ${source.name} but found two`);
    }
  }

  /** The source with this name. */
  sourceNamed(name: string): Source {
    const source = this.#sourceNames.get(name);
    if (!source) throw new InternalError(`Expected a source of this trace but found ${name}`);
    return source;
  }

  /** All guards, including those on sizes. */
  allGuards(): Guard[] {
    const sizes = this.sizes.guards().map((guard): Guard => {
      const fact = { kind: "size", guard, env: this.sizes } as const;
      return { fact, user: this.placeOfSizes(this.#symbolsIn(guard)) };
    });
    // Where the same fact has grown meanwhile, its last place says everything
    const last = new Map(this.guards.map(({ fact }, at) => [fact, at]));
    return [...this.guards.filter(({ fact }, at) => last.get(fact) === at), ...sizes];
  }

  /** The line that made one of these symbols equal to something, or else one that limited or created one. */
  placeOfSizes(symbols: Iterable<Sym>): SourcePosition | null {
    const known = [...symbols].flatMap((symbol) => this.#sizePlaces.get(symbol) ?? []);
    return known.toSorted((a, b) => WEIGHT[b.how] - WEIGHT[a.how])[0]?.place ?? null;
  }

  /** The symbols in a guard on sizes. */
  #symbolsIn(guard: SizeGuard): ReadonlySet<Sym> {
    switch (guard.kind) {
      case "range":
        return this.symbolsIn([guard.symbol]);
      case "source":
        return this.sizes.symbolsOf(guard.source);
      case "relation":
        return this.symbolsIn([guard.left, guard.right]);
      default:
        return guard satisfies never;
    }
  }

  #noteSizes(symbols: Iterable<Sym>, how: Noted): string {
    const place = this.whereabouts.place();
    for (const symbol of symbols) {
      const known = this.#sizePlaces.get(symbol);
      if (!known || WEIGHT[how] > WEIGHT[known.how]) this.#sizePlaces.set(symbol, { place, how });
    }
    return place ? `  # ${place.code} (${place.file}:${place.line})` : "";
  }

  /** The node of a tensor; an unused input gets its placeholder now. */
  nodeOf(value: TensorValue): Node {
    if (value.node) return value.node;
    const { source, real } = value;
    invariant(source !== null && real !== null, "Expected a node or a source for every tensor");
    const node = this.graph.create("placeholder", placeholderName(source), {
      meta: {
        value: { kind: "tensor", tensor: value.meta, requiresGrad: value.requiresGrad },
        stack: [],
        source: sourceText(source),
        ...(source.kind === "argument" ? {} : { held: true as const }),
      },
      ...this.#place(),
    });
    return this.#tensorInput(node, value);
  }

  /** The placeholder of a parameter that the program creates. */
  parameterNode(value: TensorValue): Node {
    const { meta, requiresGrad } = value;
    const node = this.graph.create("placeholder", "parameter", {
      meta: { value: { kind: "tensor", tensor: meta, requiresGrad }, stack: [], source: "new Parameter" },
      ...this.#place(),
    });
    return this.#tensorInput(node, value);
  }

  #tensorInput(node: Node, value: TensorValue): Node {
    value.node = node;
    this.tensors.set(node, value);
    this.inputs.push({ kind: "tensor", node, value });
    return node;
  }

  /** A placeholder that passes in a number as a 0-dimensional tensor for a device. */
  scalarNode(value: NumberValue, device: DeviceName = "cpu"): Node {
    settleExported(this.sizes, [value.expression]);
    const text = hostText(value.expression, hostLeafText);
    const key = `${device} ${hostText(value.expression, leafKey)}`;
    const known = this.#scalarNodes.get(key);
    if (known) return known;
    const name = value.expression.kind === "source" ? placeholderName(value.expression.source) : "scalar_";
    const node = this.graph.create("placeholder", name, {
      meta: {
        value: {
          kind: "tensor",
          tensor: scalarMeta(device),
          requiresGrad: false,
        },
        stack: [],
        source: text,
      },
      ...this.#place(),
    });
    this.#scalarNodes.set(key, node);
    this.scalars.add(node);
    this.inputs.push({ kind: "scalar", node, device, expression: value.expression, hint: value.hint });
    return node;
  }

  /** A placeholder for a tensor that each call creates before the graph runs. */
  dataNode(example: Tensor, shape: readonly Dim[], text: (reader: SourceReader) => string): TensorValue {
    const { dtype, device } = example;
    const meta = contiguousMeta(shape, dtype, device);
    const node = this.graph.create("placeholder", "data", {
      meta: { value: { kind: "tensor", tensor: meta, requiresGrad: false }, stack: [], source: "new Tensor" },
      ...this.#place(),
    });
    const value = new TensorValue(meta, false, node, null, null);
    this.tensors.set(node, value);
    this.inputs.push({ kind: "data", node, example, text });
    this.memories.reads++;
    return value;
  }

  /** Calls of builtins that return another number each time, in order. */
  readonly calls: HostCall[] = [];
  /** The instruction of the first such call after the graph has run. */
  #closedAt: { readonly step: number; readonly call: HostCall } | null = null;

  /** A number that a call returns; `isTimed`: whether it must run after everything before it. */
  callHost(text: string, run: () => number, { isTimed }: { readonly isTimed: boolean }): NumberValue {
    const call = { text, run, afterGraph: isTimed && this.operations > 0 };
    if (call.afterGraph) this.#closedAt ??= { step: this.whereabouts.step(), call };
    const index = this.calls.push(call) - 1;
    return new NumberValue({ kind: "called", call, index }, 0.5, null);
  }

  /** Devices that know that the graph is large. */
  readonly #announced = new Set<string>();

  /** Counts an operation. */
  noteOperation(node: Node): void {
    if (this.#closedAt) {
      const { step, call } = this.#closedAt;
      throw new Restart(step, { kind: "break", cause: { kind: "builtin", detail: call.text } });
    }
    const call = this.whereabouts.regionCall();
    if (call !== null) node.meta.regionCall = call;
    this.recomputations.note(node, this.whereabouts.recomputed());
    this.overwritten.refuseUse(node.inputs());
    this.outdated.noteOperation(node, this.whereabouts.step());
    const { value } = node.meta;
    if (++this.operations >= MANY_OPERATIONS && value.kind === "tensor") this.#announce(value.tensor.device);
    this.#madeAt.set(node, this.whereabouts.step());
  }

  /** Tells a device, once, that the graph is large. */
  #announce(device: string): void {
    if (this.#announced.has(device)) return;
    this.#announced.add(device);
    findDevice(device)?.expectLargeGraph?.();
  }

  /** Number of the instruction that appended an operation. */
  madeAt(node: Node): number | undefined {
    return this.#madeAt.get(node);
  }

  /** Adds placeholders for sizes that no tensor input determines, and drops unused inputs. */
  finish(results: readonly Node[]): void {
    this.graph.create("output", "output", { args: [[...results]], meta: { stack: [] } });
    addChecks(this.graph, this);
    dropUnreadNumbers(this.graph);
    for (const node of this.readCopies.toReversed()) if (node.users.size === 0) this.graph.erase(node);
    for (let i = this.inputs.length - 1; i >= 0; i--) {
      const input = this.inputs[i];
      if (!input || input.node.users.size > 0) continue;
      this.graph.erase(input.node);
      this.inputs.splice(i, 1);
    }
    callInstead(this.graph, this.updates);
    const given = new Set(sizeBindings(this.graph).map((binding) => binding.symbol));
    for (const needed of symbolsOf(this.graph.nodes)) {
      if (given.has(needed) || isUnbacked(needed)) continue;
      const source = this.sizes.sourceOf(needed);
      const node = this.graph.create("placeholder", `${needed}`, {
        meta: { value: { kind: "size", size: needed }, stack: [], source: source.base },
        ...this.#place(),
      });
      this.inputs.push({ kind: "size", node, size: needed });
    }
    const order = new Map(this.graph.placeholders.map((node, at) => [node, at]));
    this.inputs.sort((a, b) => (order.get(a.node) ?? 0) - (order.get(b.node) ?? 0));
  }

  /** Notes that a backward pass from these nodes has run. */
  noteBackward(outputs: readonly Node[]): void {
    this.recomputations.settle(outputs, this.whereabouts.recomputed()?.call);
  }

  /** Returns the origin of a size symbol: a source and the part of it. */
  originOf(symbol: Sym): { readonly source: Source; readonly size: SizeSource } {
    const size = this.sizes.sourceOf(symbol);
    return { source: this.sourceNamed(size.base), size };
  }

  /** All symbols in sizes. */
  symbolsIn(dims: readonly Dim[]): Set<Sym> {
    const found = new Set<Sym>();
    for (const d of dims) freeSymbols(d, found);
    return found;
  }

  /** The position of placeholders, which precede all other nodes. */
  #place(): { before?: Node } {
    // Arguments of the body of a higher-order operation are placeholders too, among the operations
    const before = this.graph.nodes[this.inputs.length];
    return before ? { before } : {};
  }
}

let nextUnnamed = 0;

/** Two facts with the same key are the same fact. */
function keyOf(fact: Fact): string {
  const subject = "source" in fact ? fact.source.name : "";
  switch (fact.kind) {
    case "same":
    case "memory":
      return `${fact.kind} ${subject} ${fact.other.name}`;
    case "apart":
    case "elsewhere":
      return `${fact.kind} ${subject} ${fact.others.map((o) => o.name).join()}`;
    case "expression":
      return expressionSize(fact.expression, 200) < 200
        ? `expression ${hostText(fact.expression, leafKey)}`
        : `expression ${nextUnnamed++}`;
    case "writableAt":
      return expressionSize(fact.at, 200) < 200
        ? `${fact.kind} ${subject} ${hostText(fact.at, leafKey)}`
        : `${fact.kind} ${nextUnnamed++}`;
    case "ownKey":
    case "accessor":
    case "writable":
    case "flags":
      return `${fact.kind} ${subject} ${String(fact.key)}`;
    case "keys":
      return `keys ${fact.which} ${subject}`;
    case "integrity":
      return `integrity ${fact.level} ${subject}`;
    case "constant":
    case "identity":
    case "prototype":
    case "object":
    case "function":
    case "array":
    case "list":
    case "elements":
    case "entries":
    case "code":
    case "tensor":
    case "leaf":
    case "made":
    case "integer":
    case "type":
    case "argumentCount":
    case "timeZone":
    case "proxy":
    case "generator":
    case "engineState":
    case "bytes":
    case "madeBy":
    case "cloneable":
    case "unboxed":
    case "unrevoked":
    case "extensible":
    case "globalState":
      return `${fact.kind} ${subject}`;
    case "distinct": {
      const names = [fact.members, fact.others].map((each) => each.map(({ name }) => name).join());
      return `distinct ${names.join(" and ")}`;
    }
    case "sameCell":
    case "distinctCells":
    case "size":
      return factText(fact);
    default:
      return fact satisfies never;
  }
}
