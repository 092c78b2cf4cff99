/**
 * Splits a recorded training step into layers and determines which of their values ranks can divide. Invariants: every
 * parameter belongs to the layer that reads it first, every operation of the forward pass to the layer of the preceding
 * matrix. Matrices are assumed to be divided by columns and by rows alternately, as in plans of tensor parallelism:
 * values after a column-wise product are divided, a row-wise one sums them. The time of the backward pass is assumed to
 * be distributed over layers like that of the forward pass.
 */
import { memoryOf, type RecordedStep, type Value } from "./recorded_step.ts";
import type { Amount, Workload } from "./workload.ts";

/** Operations that multiply by a matrix. */
const PRODUCTS: ReadonlySet<string> = new Set(["mm", "bmm", "convolution"]);

/** Operations that look up rows of a table. */
const TABLES: ReadonlySet<string> = new Set(["embeddingRows"]);

/** Inputs and operations of a step by their role. */
interface Parts {
  readonly forward: readonly Value[];
  readonly backward: readonly Value[];
  readonly update: readonly Value[];
  readonly parameters: ReadonlySet<Value>;
  /** The optimizer's state. */
  readonly state: readonly Value[];
  /** Other values that persist between calls. */
  readonly constants: readonly Value[];
}

/** The given values and all values computed from them. */
function madeFrom(values: readonly Value[]): Set<Value> {
  const found = new Set<Value>(), left = [...values];
  for (let value = left.pop(); value; value = left.pop()) {
    if (found.has(value)) continue;
    found.add(value);
    left.push(...value.reads);
  }
  return found;
}

function partsOf({ inputs, operations, written }: RecordedStep): Parts {
  const backward = operations.filter(({ ofPass }) => ofPass), passes = madeFrom(backward);
  const forward = operations.filter((value) => !value.ofPass && passes.has(value));
  const early = new Set([...forward, ...backward]), update = operations.filter((value) => !early.has(value));
  const gradients = new Set<Value>(backward);
  // Values computed from gradients; operations are in order
  for (const value of operations) if (value.reads.some((each) => gradients.has(each))) gradients.add(value);
  const isTrained = (input: Value) => {
    const after = written.get(input);
    return after !== undefined && gradients.has(after);
  };
  const held = inputs.filter((input) => input.held),
    parameters = new Set(held.filter((input) => passes.has(input) && isTrained(input)));
  const state = held.filter((input) => !parameters.has(input) && isTrained(input));
  const constants = held.filter((input) => !parameters.has(input) && !isTrained(input));
  return { forward, backward, update, parameters, state, constants };
}

const bytesOf = (values: Iterable<Value>): number => [...values].reduce((sum, { bytes }) => sum + bytes, 0);
const secondsOf = (values: readonly Value[]): number => values.reduce((sum, { seconds }) => sum + seconds, 0);

/** An amount being accumulated. */
class Sum {
  whole = 0;
  divided = 0;

  add(amount: number, isDivided: boolean): void {
    if (isDivided) this.divided += amount;
    else this.whole += amount;
  }

  times(scale: number): Amount {
    return { whole: this.whole * scale, divided: this.divided * scale };
  }
}

class GrowingLayer {
  readonly parameters = new Sum();
  readonly seconds = new Sum();
  readonly saved = new Sum();
  readonly sums: number[] = [];
  output = 0;
  hasMatrix = false;
}

/** The layers of a forward pass. */
class Layers {
  readonly found: GrowingLayer[] = [new GrowingLayer()];
  /** Memories of which ranks of tensor parallelism hold parts. */
  readonly #divided = new Set<Value>();
  readonly #seen = new Set<Value>();
  /** Activations that column-wise products have read: their gradients are summed once. */
  readonly #entered = new Set<Value>();

  constructor(private readonly parameters: ReadonlySet<Value>) {}

  #last(): GrowingLayer {
    return this.found.at(-1) ?? new GrowingLayer();
  }

  /** Processes the next operation and returns its layer. */
  take(value: Value): GrowingLayer {
    const { target } = value, memories = value.reads.map(memoryOf);
    const own = memories.filter((each) => this.parameters.has(each));
    const matrix = own.find(({ shape }) => shape.length > 1);
    const isProduct = matrix !== undefined && target !== null && PRODUCTS.has(target);
    const isTable = matrix !== undefined && target !== null && TABLES.has(target);
    if ((isProduct || isTable) && this.#last().hasMatrix) this.found.push(new GrowingLayer());
    const layer = this.#last();
    if (isProduct || isTable) layer.hasMatrix = true;
    const others = memories.filter((each) => !this.parameters.has(each));
    const isDivided = value.base
      ? this.#divided.has(memoryOf(value))
      : isProduct
      ? this.#product(layer, value, others)
      : isTable
      ? this.#addUp(layer, value.bytes)
      : this.#other(layer, value, others);
    if (isDivided) this.#divided.add(memoryOf(value));
    const splits = isDivided || isProduct || isTable;
    layer.seconds.add(value.seconds, splits);
    for (const parameter of own) {
      if (value.base || this.#seen.has(parameter)) continue;
      this.#seen.add(parameter);
      layer.parameters.add(parameter.bytes, splits && (isProduct || isTable || parameter.shape.length > 0));
    }
    return layer;
  }

  /** After summing divided values, ranks hold the whole. */
  #addUp(layer: GrowingLayer, bytes: number): false {
    layer.sums.push(bytes);
    return false;
  }

  /** A row-wise product if its input is divided, else a column-wise one; returns whether its result is divided. */
  #product(layer: GrowingLayer, value: Value, others: readonly Value[]): boolean {
    if (others.some((each) => this.#divided.has(each))) return this.#addUp(layer, value.bytes);
    for (const each of others) {
      if (this.#entered.has(each) || each.target === null) continue;
      this.#entered.add(each);
      layer.sums.push(each.bytes);
    }
    return true;
  }

  /**
   * Values computed from divided values are divided, unless they meet a whole activation as large: then the parts are
   * gathered.
   */
  #other(layer: GrowingLayer, value: Value, others: readonly Value[]): boolean {
    const divided = others.filter((each) => this.#divided.has(each));
    if (divided.length === 0) return false;
    const meetsWhole = others.some((each) =>
      !this.#divided.has(each) && each.target !== null && each.bytes >= value.bytes && each.shape.length > 1
    );
    return meetsWhole ? this.#addUp(layer, value.bytes) : true;
  }

  isDivided(memory: Value): boolean {
    return this.#divided.has(memory);
  }
}

/** Computes the bytes that each layer passes to later ones. */
function setOutputs(
  layers: readonly GrowingLayer[],
  { forward }: Parts,
  layerOf: ReadonlyMap<Value, GrowingLayer>,
): void {
  const index = new Map(layers.map((layer, k) => [layer, k])), lastRead = new Map<Value, number>();
  for (const value of forward) {
    const at = index.get(layerOf.get(value) ?? new GrowingLayer()) ?? 0;
    for (const memory of value.reads.map(memoryOf)) {
      lastRead.set(memory, Math.max(at, lastRead.get(memory) ?? 0));
    }
  }
  for (const [memory, last] of lastRead) {
    const made = layerOf.get(memory), first = made ? index.get(made) ?? 0 : last;
    for (const layer of layers.slice(first, last)) layer.output += memory.bytes;
  }
}

/** Returns whether a graph computes parameter updates from gradients. */
export function isTraining(step: RecordedStep): boolean {
  return partsOf(step).parameters.size > 0;
}

/**
 * The workload of a training step whose call takes `seconds`, distributed over its operations in proportion to their
 * individual times.
 */
export function workloadOf(step: RecordedStep, seconds: number): Workload {
  const parts = partsOf(step), { forward, backward, update, parameters, state, constants } = parts;
  const layers = new Layers(parameters), layerOf = new Map<Value, GrowingLayer>();
  for (const value of forward) {
    const layer = layers.take(value);
    if (!value.base) layerOf.set(value, layer);
  }
  // Memory is counted once, however many operations read it
  for (const memory of new Set(backward.flatMap(({ reads }) => reads.map(memoryOf)))) {
    layerOf.get(memory)?.saved.add(memory.bytes, layers.isDivided(memory));
  }
  setOutputs(layers.found, parts, layerOf);
  const rest = bytesOf(parameters) -
    layers.found.reduce((sum, { parameters: { whole, divided } }) => sum + whole + divided, 0);
  layers.found.at(-1)?.parameters.add(rest, false);
  const all = secondsOf(step.operations), scale = all > 0 ? seconds / all : 0;
  const ahead = secondsOf(forward);
  return {
    layers: layers.found.map(({ parameters, seconds, saved, output, sums }) => ({
      parameters: parameters.times(1),
      seconds: seconds.times(scale),
      saved: saved.times(1),
      output,
      sums,
    })),
    backwardRatio: ahead > 0 ? secondsOf(backward) / ahead : 0,
    update: secondsOf(update) * scale,
    stateRatio: bytesOf(state) / bytesOf(parameters),
    constants: bytesOf(constants),
  };
}
