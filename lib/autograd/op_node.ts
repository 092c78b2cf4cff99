/**
 * The node of a recorded op: runs its gradient rule over tensors. Invariant: only what the rule declares to read is
 * kept; the rule sees other tensors as metadata without elements.
 */
import { capitalized } from "../base/names.ts";
import type { GradientContext, OpDefinition } from "../ops/definition.ts";
import type { ArgsOf, Params } from "../ops/params.ts";
import { isDifferentiable } from "../base/dtype.ts";
import { InternalError } from "../base/errors.ts";
import { withoutAutocast } from "../tensor/autocast.ts";
import { elementlessLike, ops } from "../tensor/eager.ts";
import type { Layout } from "../tensor/layout.ts";
import { entryOf, mapTensors, type OpEntry, type TensorArgs, tensorsOf } from "../tensor/plan.ts";
import { type Place, runRule } from "../tensor/rule_programs.ts";
import { isTensor, Tensor } from "../tensor/tensor.ts";
import { withoutSubclasses } from "../tensor/tensor_subclass.ts";
import { type ApplyOptions, type Edge, fitGradient, gradientEdge, Node } from "./node.ts";
import { SavedTensor } from "./saved.ts";
import { CUSTOM } from "./tape_definitions.ts";

/** A saved tensor argument, or one of known layout. */
type Kept = SavedTensor | Tensor;

const nodeNames = new Map<OpDefinition, string>([[CUSTOM, "a custom Function"]]);

/** "AddBackward0" for add. */
export function nodeNameOf(definition: OpDefinition): string {
  const known = nodeNames.get(definition);
  if (known !== undefined) return known;
  const name = `${capitalized(definition.name)}Backward0`;
  nodeNames.set(definition, name);
  return name;
}

/** The places of a call's tensors, in the order of `tensorsOf`. */
function placesOf(entry: OpEntry, args: TensorArgs): Place[] {
  const places: Place[] = [];
  for (const slot of entry.slots) {
    if (!slot.tensors) continue;
    const value = args[slot.name];
    if (isTensor(value)) places.push({ param: slot.name, index: null });
    else if (Array.isArray(value)) {
      value.forEach((each, index) => {
        if (isTensor(each)) places.push({ param: slot.name, index });
      });
    }
  }
  return places;
}

/** Options for calls that write in place. */
interface OpNodeOptions {
  /** Replaces the tensor that the call overwrites by its former elements. */
  readonly before?: { readonly target: Tensor; readonly copy: Tensor };
}

/** Returns whether a rule reads a parameter, "out" included. */
export function ruleReads(definition: OpDefinition, what: string): boolean {
  const { gradient } = definition;
  if (gradient.kind !== "rule") return false;
  const reads: readonly string[] = gradient.saves;
  return reads.includes(what);
}

/** A recorded op. */
export class OpNode extends Node {
  readonly name: string;
  readonly inputs: readonly (Layout | null)[];
  readonly #entry: OpEntry;
  readonly #places: readonly Place[];
  readonly #args: TensorArgs;
  readonly #kept: Map<Tensor, Kept>;
  #out: readonly Kept[] = [];

  /** Records the inputs; call `saveResults` once there are results. */
  constructor(readonly definition: OpDefinition, args: TensorArgs, options: OpNodeOptions = {}) {
    const entry = entryOf(definition), tensors = tensorsOf(entry, args);
    const edges = tensors.map(gradientEdge);
    super(edges);
    this.name = nodeNameOf(definition);
    this.#entry = entry;
    this.#places = placesOf(entry, args);
    this.inputs = tensors.map((t, k) => edges[k] ? t.layout : null);
    const kept = new Map<Tensor, Kept>();
    tensors.forEach((tensor, k) => {
      const place = this.#places[k];
      if (!place || !ruleReads(definition, place.param)) {
        if (!kept.has(tensor)) kept.set(tensor, elementlessLike(tensor));
      } else if (options.before?.target === tensor) {
        kept.set(tensor, new SavedTensor(options.before.copy, edges[k] ?? null));
      } else {
        kept.set(tensor, new SavedTensor(tensor));
      }
    });
    this.#kept = kept;
    // stand-ins replace tensors, so that the arguments keep no elements alive
    const standIns = new Map<Tensor, Tensor>();
    this.#args = mapTensors(entry, args, (tensor) => {
      const known = standIns.get(tensor);
      if (known) return known;
      const standIn = elementlessLike(tensor), value = kept.get(tensor);
      standIns.set(tensor, standIn);
      kept.delete(tensor);
      if (value) kept.set(standIn, value);
      return standIn;
    });
  }

  /** Saves the results of this node; `edgeOf` gives their positions in the graph: results of this node by default. */
  saveResults(
    results: readonly Tensor[],
    edgeOf: (result: Tensor, output: number) => Edge | null = (_, output) => ({ node: this, output }),
  ): void {
    const reads = ruleReads(this.definition, "out");
    this.#out = results.map((result, output) => {
      if (!reads) return elementlessLike(result);
      return new SavedTensor(result, isDifferentiable(result.dtype) ? edgeOf(result, output) : null);
    });
  }

  /** The place of an edge's tensor among the parameters. */
  get receiver(): number {
    const [first] = Object.keys(this.definition.params);
    return this.#places.findIndex((place) => place.param === first);
  }

  apply(grads: readonly (Tensor | null)[], { wanted }: ApplyOptions): readonly (Tensor | null)[] {
    const { gradient } = this.definition;
    const kept = this.#kept;
    if (gradient.kind !== "rule") {
      throw new InternalError(`Expected a gradient rule of ${this.definition.name}`);
    }
    const unpack = (value: Kept | undefined): Tensor => {
      if (value === undefined) throw new InternalError(`Expected a saved tensor of ${this.name}`);
      return value instanceof SavedTensor ? value.unpack(this.name) : value;
    };
    const args: ArgsOf<Params, Tensor> = mapTensors(this.#entry, this.#args, (t) => unpack(kept.get(t)));
    const out = this.#out.map(unpack);
    const sought = this.#places.filter((_, k) => this.inputs[k] && wanted(k));
    // A rule has the types of its forward call, whichever region the backward pass runs in
    const made = withoutAutocast(() =>
      runRule({ definition: this.definition, args, out, grads, wanted: sought })
    );
    if (made !== null) {
      let next = 0;
      return this.#places.map((_, k) => this.inputs[k] && wanted(k) ? made[next++] ?? null : null);
    }
    const context: GradientContext<Params, Tensor> = {
      args,
      out,
      grads,
      needs: (param) => this.#places.some((place, k) => place.param === param && this.edges[k] && wanted(k)),
    };
    const found = withoutAutocast(() => withoutSubclasses(() => gradient.rule(ops, context)));
    return this.#places.map(({ param, index }, k) => {
      const layout = this.inputs[k];
      if (!layout || !wanted(k)) return null;
      const value = found[param];
      const grad: Tensor | null | undefined = index === null
        ? isTensor(value) ? value : null
        : Array.isArray(value)
        ? value[index]
        : null;
      return grad ? fitGradient(grad, layout, this.name) : null;
    });
  }

  release(): void {
    for (const each of this.#kept.values()) if (each instanceof SavedTensor) each.release();
    for (const each of this.#out) if (each instanceof SavedTensor) each.release();
  }
}
