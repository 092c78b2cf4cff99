/**
 * Handles tangents that do not arrive. A backward graph takes a tangent for each result, but a pass may start from some
 * of them only. Invariant: zeros that replace a tangent are never added to the gradient of another one: they would turn
 * -0 into 0, and infinities into NaN.
 */
import { contiguousMeta } from "../graph/meta.ts";
import type { DeviceName } from "../loops/device.ts";
import type { FoundGradient, GradientSums } from "../autograd/gradient_tape.ts";
import type { OpApi } from "../ops/generated.ts";
import type { GraphBuilder, GraphValue } from "../ops/graph_builder.ts";

type Found = FoundGradient<GraphValue>;

/** Sums up the gradients of one backward graph. */
export class Arrivals implements GradientSums<GraphValue> {
  readonly #api: OpApi<GraphValue>;
  readonly #builder: GraphBuilder;
  readonly #count: number;
  /** For each device, an input that flags which tangents have arrived. */
  readonly #flags = new Map<DeviceName, GraphValue>();
  /** Whether any of a set of tangents has arrived, by that set. */
  readonly #known = new Map<string, GraphValue>();
  #fills = false;

  /** `count`: number of tangents among the graph's inputs. */
  constructor(api: OpApi<GraphValue>, builder: GraphBuilder, count: number) {
    this.#api = api;
    this.#builder = builder;
    this.#count = count;
  }

  /** The inputs that were appended after the tangents, by device. */
  get flags(): ReadonlyMap<DeviceName, GraphValue> {
    return this.#flags;
  }

  add(a: Found, b: Found): GraphValue {
    const sum = this.#api.add(a.grad, b.grad);
    const withB = b.seeds.isSubsetOf(a.seeds) ? sum : this.#api.where(this.#arrived(a), sum, b.grad);
    return a.seeds.isSubsetOf(b.seeds) ? withB : this.#api.where(this.#arrived(b), withB, a.grad);
  }

  /** Returns whether a rule receives zeros for one result together with gradients of others. */
  get fills(): boolean {
    return this.#fills;
  }

  beside(found: Found): GraphValue {
    this.#fills = true;
    return this.#api.where(this.#arrived(found), found.grad, 0);
  }

  /** Returns whether any tangent that a gradient depends on has arrived, as a value on its device. */
  #arrived({ grad: { meta: { device } }, seeds }: Found): GraphValue {
    return this.#any(device, [...seeds].toSorted((a, b) => a - b));
  }

  /** Shares common prefixes: sums of many gradients grow by one at a time. */
  #any(device: DeviceName, seeds: readonly number[]): GraphValue {
    const key = `${device} ${seeds.join()}`, known = this.#known.get(key);
    if (known) return known;
    const [first = 0, ...others] = seeds;
    const one = this.#api.select(this.#flagsOn(device), 0, first);
    const made = others.length === 0 ? one : this.#api.logicalOr(one, this.#any(device, others));
    this.#known.set(key, made);
    return made;
  }

  #flagsOn(device: DeviceName): GraphValue {
    const known = this.#flags.get(device);
    if (known) return known;
    const meta = contiguousMeta([this.#count], "bool", device);
    const made = this.#builder.tensor("arrived", meta, { partition: "backward" });
    this.#flags.set(device, made);
    return made;
  }
}
