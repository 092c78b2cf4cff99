/**
 * Runs an instance of a program and records everything that its caller could observe: results and their aliases, inputs
 * and captured state afterwards, gradients, effects, errors, random numbers; then writes into each result and observes
 * again. Invariant: plain and compiled runs are observed by the same code, which itself uses no compiled function.
 */
import {
  arange,
  autograd,
  compiler,
  empty,
  inferenceMode,
  manualSeed,
  noGrad,
  viewAsComplex,
} from "../../../mod.ts";
import { type HostArray, isComplex, isDifferentiable, partType } from "../../../lib/base/dtype.ts";
import { messageOf } from "../../../lib/base/errors.ts";
import { getRngState } from "../../../lib/tensor/random.ts";
import { isTensor, type Tensor } from "../../../lib/tensor/tensor.ts";
import type { Aspect, Fact } from "./facts.ts";
import { REFUSED } from "./refused.ts";
import type { Instance } from "./instance.ts";
import { callSeed } from "./print.ts";
import type { Call } from "./program.ts";

/** Returns the function unchanged, or compiled. */
export type Wrap = (f: Instance["f"]) => Instance["f"];

/** The gradient mode of a call. */
export type Mode = Call["mode"];

/** A program that can be run repeatedly. */
export interface Runnable {
  readonly make: () => Instance;
  /** The mode of each call. */
  readonly modes: readonly Mode[];
}

/** Facts about every call of a program. */
export function observe({ make, modes }: Runnable, wrap: Wrap): readonly (readonly Fact[])[] {
  const instance = make();
  const run = wrap(instance.f);
  const notes: Notes = { facts: [] };
  return modes.map((mode, k) => new Observation(instance, mode, { k, notes }).facts(run));
}

const errorText = (thrown: unknown): string => {
  // The amount of memory already held does not belong to the program, and numbers in messages are rounded like others
  const message = messageOf(thrown).replace(/, where \d+ bytes are held/, "")
    .replaceAll(/\d+\.\d{5,}(e-?\d+)?/g, (n) => Number(n).toPrecision(4));
  return `${thrown instanceof Error ? thrown.constructor.name : typeof thrown}: ${message}`;
};

/** The elements, whatever the mode. */
const elementsOf = (tensor: Tensor) => noGrad(() => tensor.detach().toTypedArray());

/** Facts about the current call, also recorded by hooks that were registered in calls before it. */
interface Notes {
  facts: Fact[];
}

/** One call. */
class Observation {
  readonly #notes: Notes;
  readonly #instance: Instance;
  readonly #mode: Mode;
  readonly #k: number;
  /** Tensors that results may be identical to, or share memory with. */
  readonly #known: { readonly place: string; readonly tensor: Tensor }[] = [];

  constructor(instance: Instance, mode: Mode, { k, notes }: { readonly k: number; readonly notes: Notes }) {
    this.#instance = instance;
    this.#mode = mode;
    this.#k = k;
    this.#notes = notes;
  }

  facts(run: Instance["f"]): readonly Fact[] {
    const { state, effects } = this.#instance, facts: Fact[] = this.#notes.facts = [];
    const noted = effects.length;
    manualSeed(callSeed(this.#k));
    const made = this.#setUp();
    if (made === null) return facts;
    const seen = Object.entries({ ...state, ...made.seen });
    for (const [place, tensor] of seen) this.#known.push({ place, tensor });
    const before = seen.map(([, tensor]) => ({ version: tensor.version, elements: elementsOf(tensor) }));
    const console = new ConsoleWatch();
    let results: readonly Tensor[] = [], isWhole = true;
    try {
      const value = console.during(() => inMode(this.#mode, () => Reflect.apply(run, undefined, made.args)));
      this.#text("outcome", "outcome", "returned");
      results = this.#results(value);
    } catch (thrown) {
      this.#text("outcome", "outcome", `threw ${errorText(thrown)}`);
      isWhole = !REFUSED.test(messageOf(thrown));
    }
    this.#text("random", "random", `${getRngState().seed} ${getRngState().offset}`);
    seen.forEach(([place, tensor], i) => {
      this.#text(`${place} written`, "mutation", writeText(tensor, before[i]));
      this.#tensor(place, tensor, "mutation");
    });
    this.#optimizer();
    if (this.#mode === "watched") this.#watch(results);
    // A pass that fails leaves whatever it had accumulated so far
    const partial = new Set<Tensor | null>();
    if (this.#backward(results) && isWhole) {
      for (const [place, tensor] of seen) this.#gradient(place, tensor);
    } else for (const [, tensor] of seen) partial.add(leafText(tensor) === LEAF ? tensor.grad : null);
    effects.slice(noted).forEach((value, i) => this.#value(`effect ${i}`, value, "effects"));
    console.lines.forEach((value, i) => this.#value(`console ${i}`, value, "effects"));
    this.#writes(results, partial);
    return facts;
  }

  /** Creates the arguments of the call; null if that fails, for example for a view of a tensor that is too small. */
  #setUp(): ReturnType<Instance["calls"][number]> | null {
    try {
      const made = this.#instance.calls[this.#k]?.();
      if (made) return made;
    } catch (thrown) {
      this.#text("outcome", "outcome", `no call: ${errorText(thrown)}`);
    }
    return null;
  }

  #text(place: string, aspect: Aspect, text: string): void {
    this.#notes.facts.push({ place, aspect, kind: "text", text });
  }

  #elements(place: string, aspect: Aspect, tensor: Tensor): void {
    this.#notes.facts.push({
      place,
      aspect,
      kind: "elements",
      // Complex elements are pairs of their parts
      dtype: partType(tensor.dtype),
      elements: elementsOf(tensor),
    });
  }

  /**
   * A number as one element, so that rounding is considered, which can turn it into an integer; anything else as text.
   */
  #value(place: string, value: unknown, aspect: Aspect): void {
    if (typeof value === "number") {
      this.#notes.facts.push({
        place,
        aspect,
        kind: "elements",
        dtype: "float32",
        elements: Float64Array.of(value),
      });
    } else this.#text(place, aspect, isTensor(value) ? "a tensor" : `${typeof value} ${String(value)}`);
  }

  /** Records the results; returns their tensors, without duplicates. */
  #results(value: unknown): readonly Tensor[] {
    const list: readonly unknown[] = Array.isArray(value) ? value : [value];
    this.#text("results", "results", kindOf(list));
    const tensors: Tensor[] = [];
    leavesOf(list, "result ").forEach(([place, each]) => {
      if (!isTensor(each)) {
        this.#value(place, each, "values");
        return;
      }
      const same = this.#known.find(({ tensor }) => tensor === each);
      this.#text(`${place} is`, "identity", same?.place ?? "new");
      if (!same) this.#known.push({ place, tensor: each });
      if (!tensors.includes(each)) tensors.push(each);
      this.#tensor(place, each, "values");
    });
    return tensors;
  }

  #tensor(place: string, tensor: Tensor, aspect: Aspect): void {
    const { shape, strides, storage } = tensor, numel = tensor.numel();
    this.#text(`${place} dtype`, "dtype", tensor.dtype);
    this.#text(`${place} shape`, "shape", `[${shape}]`);
    this.#text(`${place} requiresGrad`, "requiresGrad", `${tensor.requiresGrad}${leafText(tensor)}`);
    if (numel > 0) {
      const first = this.#known.find((other) => other.tensor.storage === storage && other.tensor.numel() > 0);
      // If a result owns its memory, its offset in that memory is unspecified
      const at = first && first.tensor !== tensor
        ? `${first.place} at ${tensor.offset - first.tensor.offset}`
        : "its own";
      this.#text(`${place} memory`, "memory", at);
      this.#text(`${place} strides`, "strides", `[${strides.filter((_, d) => (shape[d] ?? 0) > 1)}]`);
    }
    this.#elements(place, aspect, tensor);
  }

  #optimizer(): void {
    const { optimizer } = this.#instance;
    if (!optimizer) return;
    let number = 0;
    for (const values of optimizer.state.values()) {
      for (const [name, tensor] of Object.entries(values)) {
        this.#tensor(`optimizer state ${number} ${name}`, tensor, "mutation");
      }
      number++;
    }
  }

  /** Requests gradients of results in each other, and those that will arrive at them, which hooks change. */
  #watch(results: readonly Tensor[]): void {
    const watched = [...results.entries()].filter(([, { requiresGrad, dtype }]) =>
      requiresGrad && isDifferentiable(dtype)
    );
    for (const [i, of] of watched) {
      for (const [k, result] of watched) {
        if (i === k) continue;
        const place = `gradient of result ${i} in result ${k}`;
        try {
          const [grad] = autograd.grad(of, result, weightsLike(of), { allowUnused: true, retainGraph: true });
          this.#text(`backward to ${place}`, "gradients", "returned");
          this.#text(`${place} is`, "gradients", grad ? `${grad.dtype}[${grad.shape}]` : "null");
          if (grad) this.#elements(place, "gradients", grad);
        } catch (thrown) {
          this.#text(`backward to ${place}`, "gradients", errorText(thrown));
        }
      }
    }
    for (const [i, result] of watched) {
      let count = 0;
      result.registerHook((grad) => {
        this.#elements(`gradient ${count++} at result ${i} of call ${this.#k}`, "gradients", grad);
        return grad.mul(0.5);
      });
    }
  }

  /**
   * Differentiates every result separately, with weights that distinguish its elements; returns whether all passes
   * succeed.
   */
  #backward(results: readonly Tensor[]): boolean {
    let complete = true;
    results.forEach((result, i) => {
      if (!result.requiresGrad || !isDifferentiable(result.dtype)) return;
      const retainGraph = i < results.length - 1;
      try {
        result.backward(weightsLike(result), { retainGraph });
        this.#text(`backward of result ${i}`, "gradients", "returned");
      } catch (thrown) {
        this.#text(`backward of result ${i}`, "gradients", errorText(thrown));
        complete = false;
      }
    });
    return complete;
  }

  #gradient(place: string, tensor: Tensor): void {
    if (leafText(tensor) !== LEAF) return;
    const { grad } = tensor;
    this.#text(`${place}.grad is`, "gradients", grad === null ? "null" : `${grad.dtype}[${grad.shape}]`);
    if (grad !== null) this.#elements(`${place}.grad`, "gradients", grad);
  }

  /** Writes into each result and records what changes; `partial`: what failing passes have accumulated into. */
  #writes(results: readonly Tensor[], partial: ReadonlySet<Tensor | null>): void {
    results.forEach((result, i) => {
      try {
        noGrad(() => result.dtype === "bool" ? result.logicalNot_() : result.add_(1 + i));
      } catch (thrown) {
        this.#text(`writing result ${i}`, "memory", errorText(thrown));
      }
    });
    if (results.length === 0) return;
    for (const { place, tensor } of this.#known) {
      if (!partial.has(tensor)) this.#elements(`${place} after writing results`, "memory", tensor);
    }
  }
}

/**
 * Describes whether a tensor is a leaf, or its error: views of a tensor whose layout was changed have lost their
 * history.
 */
function leafText(tensor: Tensor): string {
  try {
    return tensor.isLeaf ? LEAF : "";
  } catch (thrown) {
    return `, ${errorText(thrown)}`;
  }
}

const LEAF = ", a leaf";

/**
 * Describes whether a tensor's contents have changed and, if so, whether that counts as a write, as saved tensors
 * check.
 */
function writeText(
  tensor: Tensor,
  before: { readonly version: number; readonly elements: HostArray } | undefined,
): string {
  const now = elementsOf(tensor);
  const isSame = before?.elements.length === now.length &&
    now.every((x: number | bigint, k: number) => Object.is(x, before.elements[k]));
  if (isSame) return "as before";
  return tensor.version === before?.version ? "changed without a new version" : "changed";
}

/** Returns the kind of a result; for lists, with the kinds of their items. */
function kindOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(kindOf).join()}]`;
  return isTensor(value) ? "tensor" : typeof value;
}

/** Returns the leaves of nested lists, each with its place. */
function leavesOf(list: readonly unknown[], place: string): readonly (readonly [string, unknown])[] {
  return list.flatMap((each: unknown, i) =>
    Array.isArray(each) ? leavesOf(each, `${place}${i}.`) : [[`${place}${i}`, each] as const]
  );
}

/** Numbers whose parts are of (0, 1], all different. */
function weightsLike({ shape, dtype, device }: Tensor): Tensor {
  if (isComplex(dtype)) {
    const pairs = weightsLike(empty([...shape, 2], { dtype: partType(dtype), device }));
    return noGrad(() => viewAsComplex(pairs));
  }
  const count = Math.max(1, shape.reduce((a, b) => a * b, 1));
  return noGrad(() =>
    arange(1, shape.includes(0) ? 1 : count + 1, { dtype, device }).div(count).reshape(shape)
  );
}

function inMode<R>(mode: Mode, body: () => R): R {
  return mode === "noGrad" ? noGrad(body) : mode === "inference" ? inferenceMode(body) : body();
}

/** Collects a program's output. */
class ConsoleWatch {
  readonly lines: unknown[] = [];

  during<R>(body: () => R): R {
    const former = console.log;
    // Like console output, so that graphs break at it
    console.log = compiler.disable((...values: readonly unknown[]) => void this.lines.push(...values));
    try {
      return body();
    } finally {
      console.log = former;
    }
  }
}
