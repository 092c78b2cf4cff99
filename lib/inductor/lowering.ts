/**
 * Lowers a functional graph to computations over buffers. Invariant: pointwise results stay formulas until something
 * needs them in memory: an output, a library call, or readers that would repeat too much work.
 */
import { config } from "../base/config.ts";
import { InternalError } from "../base/errors.ts";
import { isComplex, valueType } from "../base/dtype.ts";
import { type Argument, type Graph, isList, isRecord, Node, type Region } from "../graph/node.ts";
import { isUpdate, rowsOf } from "../graph/updates.ts";
import type { TensorMeta } from "../graph/meta.ts";
import { type GraphSignature, RANDOM_KEYS } from "../graph/signature.ts";
import type { Lowered, Operand } from "../loops/body.ts";
import type { BufferId, ExternOp, Statement } from "../loops/ir.ts";
import { type BufferOperand, flatIndex, isBufferOperand, Recorder } from "../loops/record.ts";
import { parseCall } from "../ops/call.ts";
import type { OpDefinition } from "../ops/definition.ts";
import type { Dim } from "../sym/expr.ts";
import type { CompiledGraph } from "./compiled_graph.ts";
import { newAxis, type Work } from "./computation.ts";
import {
  denseStrides,
  hasLayoutOf,
  lengthOf,
  realMeta,
  transposed,
  transposedStrides,
  wantedTransposed,
} from "./layouts.ts";
import { itemsOf, Overwriting, updateTargets } from "./overwriting.ts";
import { callRegion } from "./region_call.ts";
import { memoryRoot } from "../ops/rewrite/memory_root.ts";
import { planResult, type ResultOrigin } from "./planned_results.ts";
import { inPlace, runOnRows } from "./update_rows.ts";
import {
  isLazy,
  type Label,
  labelOf,
  type LazyTensor,
  makeLoader,
  type Storage,
  storedForm,
} from "./tensors.ts";
import { isEmpty, type Job, WorkPlan } from "./work_plan.ts";

/** Finds the definition of a graph's call target. */
export type OpLookup = (target: string) => OpDefinition | undefined;

/** A library call with the precision of the settings. */
const asPrecise = (call: ExternOp): ExternOp =>
  "groups" in call && config.inductor.convolutionPrecision === "high" ? { ...call, fast: true } : call;

/** Compiles a graph that others call, once for all calls. */
type RegionCompiler = (region: Region, name: string) => CompiledGraph;

/** One entry of the graph's output list. */
export type OutputValue =
  /** `isPairs`: a complex tensor, whose pairs the view shows. */
  | { readonly kind: "tensor"; readonly view: BufferOperand; readonly isPairs: boolean }
  /** The input itself, which has been mutated in place. */
  | { readonly kind: "input"; readonly input: number }
  | { readonly kind: "constant"; readonly value: number | bigint | boolean | string | null | undefined }
  | { readonly kind: "size"; readonly size: Dim };

/** The result of lowering. */
interface LoweredGraph {
  readonly storages: readonly Storage[];
  readonly jobs: readonly Job[];
  readonly outputs: readonly OutputValue[];
  /** Storage of each tensor placeholder, by placeholder index; undefined for sizes. */
  readonly inputs: readonly (Storage | undefined)[];
  /** The buffer of the output that shows whether the call fails. */
  readonly flag: BufferId | undefined;
}

/** Lowers a whole graph. */
export function lowerGraph(
  graph: Graph,
  { lookup, compileRegion }: { readonly lookup: OpLookup; readonly compileRegion: RegionCompiler },
  { mutatedInputs = [], ownResults = 0, failure }: Partial<LoweredSignature> = {},
): LoweredGraph {
  const [list] = graph.output.args;
  const results = list !== undefined && isList(list) ? list.slice(0, ownResults) : [];
  return new Lowering(graph, lookup, compileRegion, new Set(results)).run(mutatedInputs, failure);
}

type LoweredSignature = Pick<GraphSignature, "mutatedInputs" | "ownResults" | "failure">;

type NodeTensor = Operand | readonly Operand[];

class Lowering {
  readonly #plan = new WorkPlan();
  readonly #tensors = new Map<Node, NodeTensor>();
  /** The nodes that allocate the memory of buffers of inputs and outputs. */
  readonly #owners = new Map<BufferId, Node>();
  /** Operands of library calls, converted to the types of values. */
  readonly #wide = new Map<Operand, Operand>();
  #placeholders: readonly Node[] = [];
  #overwriting = new Overwriting(new Map(), new Set());
  /** Results that regions write into inputs directly. */
  readonly #inPlace = new Set<Node>();

  /** `results`: the outputs that the program sees, in the layout that their metadata promises. */
  constructor(
    readonly graph: Graph,
    readonly lookup: OpLookup,
    readonly compileRegion: RegionCompiler,
    readonly results: ReadonlySet<Argument>,
  ) {}

  run(mutations: GraphSignature["mutatedInputs"], failure: number | undefined): LoweredGraph {
    this.#placeholders = this.graph.placeholders;
    const inputs = this.#placeholders.map((node, i) => this.#placeholder(node, i));
    const memoryOf = (node: Node) => storedForm(this.#operandOf(node));
    this.#overwriting = Overwriting.of(this.graph, mutations, memoryOf);
    for (const node of this.graph.nodes) {
      this.#plan.order++;
      if (isUpdate(node)) continue;
      if (node.op === "call_function") this.#call(node);
      else if (node.op !== "placeholder" && node.op !== "output") {
        throw new InternalError(
          `Expected placeholders, calls and an output but found ${node.op} ${node.name}`,
        );
      }
    }
    const { outputs, flag } = this.#outputs(mutations, failure);
    return { ...this.#plan.finish(), outputs, inputs, flag };
  }

  #placeholder(node: Node, input: number): Storage | undefined {
    const { value } = node.meta;
    if (value.kind === "size") return undefined;
    if (value.kind !== "tensor" && value.kind !== "number") {
      throw new InternalError(`Expected a tensor or a size at ${node.name} but found ${value.kind}`);
    }
    const { shape, strides, dtype } = value.kind === "tensor"
      ? realMeta(value.tensor)
      : { shape: [], strides: [], dtype: value.dtype };
    // The caller's pointer is at the first element, so views of larger tensors start at 0
    const view = { shape, strides, offset: 0 };
    const storage = this.#plan.storage(node.name, dtype, {
      length: lengthOf(view),
      role: { kind: "input", input },
    });
    const operand: BufferOperand = { ...view, dtype, buffer: storage.id };
    this.#tensors.set(node, operand);
    this.#owners.set(storage.id, node);
    return storage;
  }

  #call(node: Node): void {
    if (node.target === "getitem") {
      const [of, index] = node.args;
      const parts = of instanceof Node ? this.#tensors.get(of) : undefined;
      if (isParts(parts) && typeof index === "number") {
        const part = parts[index];
        if (!part) throw new InternalError(`Expected a result ${index} of ${of} but found ${parts.length}`);
        this.#tensors.set(node, part);
        return;
      }
    }
    if (node.meta.region) {
      this.#tensors.set(node, this.#region(node, node.meta.region));
      return;
    }
    if (node.target === "viewAsReal" || node.target === "viewAsComplex") {
      // Complex tensors are represented by their pairs here
      const [viewed] = node.args;
      if (!(viewed instanceof Node)) throw new InternalError(`Expected a tensor to view at ${node.name}`);
      this.#tensors.set(node, this.#operandOf(viewed));
      return;
    }
    const definition = this.lookup(node.target);
    if (!definition) throw new InternalError(`Expected an op but found ${node.target}`);
    const { value } = node.meta;
    const metas = value.kind === "tensor"
      ? [value.tensor]
      : value.kind === "tensors"
      ? value.tensors
      : undefined;
    if (!metas) throw new InternalError(`Expected the metadata of ${node.name} but found ${value.kind}`);
    const results = this.#lower(node, definition, metas);
    const [first] = results;
    if (value.kind === "tensors") this.#tensors.set(node, results);
    else if (first) this.#tensors.set(node, first);
  }

  #operandOf(node: Node): Operand {
    const found = this.#tensors.get(node);
    if (!found || isParts(found)) {
      throw new InternalError(`Expected one tensor at ${node.name} but found none`);
    }
    return found;
  }

  #resolve(argument: Argument): unknown {
    if (argument instanceof Node) {
      return argument.meta.value.kind === "size" ? argument.meta.value.size : this.#operandOf(argument);
    }
    if (isList(argument)) return argument.map((each) => this.#resolve(each));
    return argument;
  }

  /** The arguments of a region's call in memory. */
  #argumentsOf(region: Region, args: readonly Argument[]): (BufferOperand | undefined)[] {
    return region.graph.placeholders.map((placeholder, at) => {
      const argument = args[at];
      return argument instanceof Node && placeholder.meta.value.kind === "tensor"
        ? this.#laidOutAs(placeholder, argument)
        : undefined;
    });
  }

  /** Writes the results of updates into their arguments, after everything that reads the old elements. */
  #update(node: Node, region: Region): void {
    const compiled = this.compileRegion(region, node.target), label = labelOf(node), order = this.#lastOrder;
    const whole = inPlace(compiled, region.mutatedInputs), rows: BufferOperand[][] = [];
    for (const row of rowsOf(node)) {
      const inputs = this.#argumentsOf(region, row);
      const into = updateTargets(compiled, region.mutatedInputs, inputs);
      const operands = whole?.inputs.flatMap((at) => inputs[at]?.offset === 0 ? inputs[at] : []) ?? [];
      if (whole && operands.length === whole.inputs.length && into.size === region.mutatedInputs.length) {
        rows.push(operands);
        continue;
      }
      const made = callRegion(this.#plan, compiled, { inputs, label, into, order });
      for (const [k, at] of region.mutatedInputs.entries()) {
        const from = made[k], target = inputs[at];
        if (from && target && !into.has(k)) this.#copyInto(target, from, { label });
      }
    }
    if (whole) runOnRows(this.#plan, whole, { rows, label, order });
  }

  #region(node: Node, region: Region): Operand[] {
    const label = labelOf(node);
    const inputs = this.#argumentsOf(region, node.args);
    const compiled = this.compileRegion(region, node.target);
    const into = this.#overwriting.targetsOf(node, compiled, inputs);
    if (into.size === 0) return callRegion(this.#plan, compiled, { inputs, label, into });
    for (const item of itemsOf(node).values()) this.#inPlace.add(item);
    return callRegion(this.#plan, compiled, { inputs, label, into, order: this.#lastOrder });
  }

  /** The position of writes to inputs: after everything that reads their old values. */
  get #lastOrder(): number {
    return this.graph.nodes.length + 1.5;
  }

  /** An argument in memory, in the layout that a region expects. */
  #laidOutAs(placeholder: Node, argument: Node): BufferOperand {
    const operand = this.#operandOf(argument), view = this.#plan.materialize(operand);
    if (hasLayoutOf(view, placeholder)) return view;
    const copy = this.#plan.store(this.#copyOf(operand, placeholder));
    if (hasLayoutOf(copy, placeholder)) return copy;
    throw new InternalError(`Expected an argument like ${placeholder.name} but found ${argument.name}`);
  }

  #lower(node: Node, definition: OpDefinition, metas: readonly TensorMeta[]): Operand[] {
    const given = node.args.map((each) => this.#resolve(each));
    const named = Object.entries(node.kwargs).filter(([name]) => Object.hasOwn(definition.params, name));
    if (named.length > 0) {
      given.push(Object.fromEntries(named.map(([name, each]) => [name, this.#resolve(each)])));
    }
    const args = parseCall<Operand>(definition, given, isOperand);
    const { implementation } = definition;
    const label = labelOf(node);
    const from = { node, label, layoutOf: (argument: Operand) => this.#stridesAt(node, argument) };
    if (metas.every(isEmpty)) return metas.map((meta) => this.#plan.nothing(meta, label));
    switch (implementation.kind) {
      case "lower":
        return this.#results(implementation.lower(args, metas), metas, { ...from, viewOf: undefined });
      case "view": {
        const of = args[implementation.of];
        const viewOf = isOperand(of) ? of : undefined;
        return this.#results(implementation.lower(args, metas), metas, { ...from, viewOf });
      }
      case "random": {
        const keys = node.kwargs[RANDOM_KEYS];
        const [key0, key1] = keys !== undefined && isList(keys)
          ? keys.map((each) => this.#resolve(each))
          : [];
        if (!isOperand(key0) || !isOperand(key1)) {
          throw new InternalError(`Expected two keys for ${node.name} but found ${keys}`);
        }
        return this.#results(implementation.lower(args, metas, [key0, key1]), metas, {
          ...from,
          viewOf: undefined,
        });
      }
      case "composite":
      case "host":
        throw new InternalError(
          `Expected ${node.name} to be decomposed but found the ${implementation.kind} op`,
        );
      default:
        return implementation satisfies never;
    }
  }

  /** The strides that an argument of a call has in eager execution. */
  #stridesAt({ args, kwargs }: Node, argument: Operand): readonly Dim[] | undefined {
    for (
      const each of [...args, ...Object.values(kwargs)].flatMap((each) => isList(each) ? [...each] : [each])
    ) {
      if (!(each instanceof Node) || this.#tensors.get(each) !== argument) continue;
      const { value } = each.meta;
      if (value.kind === "tensor") return realMeta(value.tensor).strides;
    }
    return undefined;
  }

  #results(lowered: readonly Lowered[], metas: readonly TensorMeta[], from: ResultOrigin): Operand[] {
    const [first] = lowered;
    if (first?.kind === "extern") {
      const turned = first.call.op === "matmul" && wantedTransposed(from.node, this.results);
      const outputs = first.outputs.map(({ shape, dtype }, i) =>
        this.#plan.fresh(shape, valueType(dtype), turned ? transposedStrides(shape) : metas[i]?.strides)
      );
      const inputs = first.inputs.map((input) => this.#plan.materialize(this.#widened(input, from.label)));
      const [target] = outputs;
      if (!target) throw new InternalError(`Expected an output of ${from.label.target} but found none`);
      // (a·b)ᵀ = bᵀ·aᵀ: the product is computed in the layout in which it is read
      const work: Work = turned
        ? {
          kind: "extern",
          call: asPrecise(first.call),
          inputs: inputs.toReversed().map(transposed),
          outputs: outputs.map(transposed),
        }
        : { kind: "extern", call: asPrecise(first.call), inputs, outputs };
      this.#plan.job(work, turned ? transposed(target) : target, { over: [], label: from.label });
      return outputs.map((output, i) =>
        this.#plan.asType(output, metas[i]?.dtype ?? output.dtype, from.label)
      );
    }
    return lowered.map((each, i) => planResult(this.#plan, each, { ...from, meta: metas[i] }));
  }

  /** An operand of a library call, which computes in the types of values. */
  #widened(operand: Operand, label: Label): Operand {
    const known = this.#wide.get(operand);
    if (known) return known;
    const wide = this.#plan.asType(operand, valueType(operand.dtype), label);
    this.#wide.set(operand, wide);
    return wide;
  }

  #outputs(
    mutations: GraphSignature["mutatedInputs"],
    failure: number | undefined,
  ): { readonly outputs: OutputValue[]; readonly flag: BufferId | undefined } {
    const [list] = this.graph.output.args;
    const flat = list !== undefined && isList(list) ? list : [list];
    const inputOf = new Map(mutations.map((m) => [m.output, m.input]));
    const mutated = new Set(
      mutations.map((m) => storedForm(this.#operandOf(this.#placeholderAt(m.input)))?.buffer),
    );
    this.#plan.order++;
    const failing = failure === undefined ? undefined : flat[failure];
    const flag = failing instanceof Node ? this.#output(failing, mutated).buffer : undefined;
    for (const node of this.graph.nodes) {
      if (isUpdate(node) && node.meta.region) this.#update(node, node.meta.region);
    }
    const outputs = flat.map((argument, i): OutputValue => {
      const input = inputOf.get(i);
      if (input !== undefined && argument instanceof Node) {
        this.#mutate(this.#placeholderAt(input), argument, { mutated, flag });
        return { kind: "input", input };
      }
      if (argument instanceof Node) {
        const { value } = argument.meta;
        if (value.kind === "size") return { kind: "size", size: value.size };
        const isPairs = value.kind === "tensor" && isComplex(value.tensor.dtype);
        return { kind: "tensor", view: this.#output(argument, mutated), isPairs };
      }
      if (argument !== null && typeof argument === "object") {
        if (isList(argument) || isRecord(argument)) {
          throw new InternalError(`Expected a flat list of outputs but found ${Deno.inspect(argument)}`);
        }
        return { kind: "size", size: argument };
      }
      return { kind: "constant", value: argument };
    });
    return { outputs, flag };
  }

  #placeholderAt(input: number): Node {
    const node = this.#placeholders[input];
    if (!node) throw new InternalError(`Expected a placeholder ${input} but found none`);
    return node;
  }

  /**
   * An output's memory. The old value of an input that the program overwrites must be copied, and so must a result that
   * aliases another tensor, as `x.select(0, 0).contiguous()` does.
   */
  #output(node: Node, mutated: ReadonlySet<number | undefined>): BufferOperand {
    const operand = this.#operandOf(node);
    const view = this.#plan.materialize(operand);
    const fits = this.#plan.made.has(view) || hasLayoutOf(view, node);
    if (!mutated.has(view.buffer) && fits && this.#owns(memoryRoot(node), view.buffer)) return view;
    return this.#plan.store(this.#copyOf(operand, node));
  }

  /** Returns whether a node may use a buffer exclusively, where eager execution would allocate separate memory. */
  #owns(root: Node, buffer: BufferId): boolean {
    const owner = this.#owners.get(buffer) ?? root;
    this.#owners.set(buffer, owner);
    return owner === root;
  }

  #copyOf(operand: Operand, node: Node): LazyTensor {
    const { value } = node.meta;
    const promised = value.kind === "tensor" ? realMeta(value.tensor).strides : undefined;
    return this.#plan.lazy((o, index) => o.load(operand, index), {
      shape: operand.shape,
      dtype: operand.dtype,
      label: labelOf(node, "copy"),
      viewOf: undefined,
      strides: denseStrides(operand.shape, promised),
    });
  }

  /** Writes a value into the memory of an input, after everything that reads the old value and after the flag. */
  #mutate(
    placeholder: Node,
    value: Node,
    { mutated, flag }: {
      readonly mutated: ReadonlySet<number | undefined>;
      readonly flag: BufferId | undefined;
    },
  ): void {
    const target = storedForm(this.#operandOf(placeholder));
    const operand = this.#operandOf(value);
    if (!target) throw new InternalError(`Expected memory of ${placeholder.name} but found none`);
    if (operand === target || this.#inPlace.has(value)) return;
    const from = this.#readsOthers(operand, target, mutated) ? this.#detached(operand, value) : operand;
    this.#copyInto(target, from, { label: labelOf(value, "copy_"), after: flag });
  }

  #copyInto(
    target: BufferOperand,
    from: Operand,
    how: { readonly label: Label; readonly after?: BufferId | undefined },
  ): void {
    this.#plan.job({ kind: "pointwise", element: (o, index) => o.load(from, index) }, target, {
      sizes: target.shape,
      over: [],
      order: this.#lastOrder,
      ...how,
    });
  }

  /** The operand in memory that no mutation touches. */
  #detached(operand: Operand, node: Node): Operand {
    return isBufferOperand(operand)
      ? this.#storedCopy(operand, node)
      : (this.#materializeLazy(operand), operand);
  }

  #storedCopy(operand: Operand, node: Node): LazyTensor {
    const copy = this.#copyOf(operand, node);
    this.#plan.store(copy);
    return copy;
  }

  #materializeLazy(operand: Operand): void {
    if (isLazy(operand)) this.#plan.store(operand);
  }

  /**
   * Returns whether a value reads an overwritten input anywhere but at the element it writes: then writes in the
   * order of outputs could destroy values that later ones need.
   */
  #readsOthers(operand: Operand, target: BufferOperand, mutated: ReadonlySet<number | undefined>): boolean {
    const axes = target.shape.map((size, d): Dim => newAxis(size, `i${d}`).symbol);
    const recorder = new Recorder(makeLoader());
    recorder.load(operand, axes);
    const own = flatIndex(target, axes);
    const check = (statements: readonly Statement[]): boolean =>
      statements.some((s) =>
        s.kind === "masked"
          ? check(s.body)
          : s.kind === "load" && mutated.has(s.buffer) && (s.buffer !== target.buffer || s.index !== own)
      );
    return check(recorder.statements);
  }
}

function isOperand(value: unknown): value is Operand {
  return typeof value === "object" && value !== null && "dtype" in value && "shape" in value &&
    Array.isArray(value.shape);
}

function isParts(tensor: NodeTensor | undefined): tensor is readonly Operand[] {
  return Array.isArray(tensor);
}
