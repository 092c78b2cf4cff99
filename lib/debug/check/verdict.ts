/**
 * Decides whether a compiled graph computes the same as the graph op by op; returns the difference, or null. Invariant:
 * neither run is visible to the program; results, contents of the arguments afterwards, gradients, layouts, shared
 * memory and errors are all compared.
 */
import { messageOf } from "../../base/errors.ts";
import type { CompiledFunction } from "../../graph/backend.ts";
import type { GraphModule } from "../../graph/graph_module.ts";
import { readElements } from "../../tensor/host.ts";
import { isTensor, type Tensor } from "../../tensor/tensor.ts";
import { areNear, differenceOf, type ElementDifference, type Elements } from "./compare.ts";
import { caseOf, runTrial, structureText, type Trial, type TrialCase } from "./trial.ts";

/** A difference between two runs. */
export interface Finding {
  /** The part of the call: results and effects, or the gradients. */
  readonly part: "forward" | "backward";
  /** The kind of difference; the same fault has the same kind. */
  readonly kind: "values" | "layout" | "memory" | "error";
  /** Index of the result, if it is one. */
  readonly result?: number;
  /** A description of the difference. */
  readonly text: string;
}

/** Both ways to run a graph. */
export interface Ways {
  readonly compiled: CompiledFunction;
  /** The graph; run by interpretation. */
  readonly gm: GraphModule;
}

/** Compares both ways for a call with these arguments; returns the first difference of the most informative kind. */
export function check({ compiled, gm }: Ways, args: readonly unknown[]): Finding | null {
  const of = caseOf(gm, args);
  const plain: CompiledFunction = (...given) => gm.forward(...given);
  const got = runTrial(compiled, of), want = runTrial(plain, of);
  return new Comparison(gm, { got, want, of, plain }).finding();
}

type Done = Extract<Trial, { readonly kind: "done" }>;

class Comparison {
  readonly #got: Trial;
  readonly #want: Trial;
  readonly #of: TrialCase;
  readonly #plain: CompiledFunction;
  /** The exact and the perturbed run, created on demand. */
  #arbiters: readonly [Done, Done] | null | undefined;

  constructor(
    readonly gm: GraphModule,
    { got, want, of, plain }: {
      readonly got: Trial;
      readonly want: Trial;
      readonly of: TrialCase;
      readonly plain: CompiledFunction;
    },
  ) {
    this.#got = got;
    this.#want = want;
    this.#of = of;
    this.#plain = plain;
  }

  finding(): Finding | null {
    const got = this.#got, want = this.#want;
    if (got.kind === "threw" || want.kind === "threw") {
      // Both reject the call: the program sees an error either way
      if (got.kind === want.kind) return null;
      return { part: "forward", kind: "error", text: errorText(errorOf(got), errorOf(want)) };
    }
    return this.#results(got, want) ?? this.#state(got, want) ?? this.#memory(got, want) ??
      this.#gradients(got, want);
  }

  #results(got: Done, want: Done): Finding | null {
    const shapes = [got, want].map(({ structure }) => structureText(structure));
    if (shapes[0] !== shapes[1]) {
      return {
        part: "forward",
        kind: "layout",
        text: `the result is ${shapes[0]} compiled, ${shapes[1]} uncompiled`,
      };
    }
    for (const [at, w] of want.results.entries()) {
      const text = this.#values(`result ${at}`, [got.results[at], w], (run) => run.results[at]);
      if (text) return { part: "forward", result: at, ...text };
    }
    return null;
  }

  /**
   * Compares the contents of the arguments; a functional graph's compiler may write where the interpreter returns.
   */
  #state(got: Done, want: Done): Finding | null {
    const { signature } = this.gm;
    for (const [at, w] of want.state.entries()) {
      if (signature?.mutatedInputs.some(({ input }) => input === at)) continue;
      const name = `${this.#inputName(at)} after the call`;
      const text = this.#values(name, [got.state[at], w], (run) => run.state[at]);
      if (text) return { part: "forward", ...text };
    }
    return null;
  }

  /** Compares which results share memory with arguments or with each other. */
  #memory(got: Done, want: Done): Finding | null {
    if (this.gm.signature) return null;
    const relations = (run: Done) => run.results.map((each, at) => this.#sharing(run, each, at));
    const [g, w] = [relations(got), relations(want)];
    const at = w.findIndex((each, k) => each !== g[k]);
    if (at < 0) return null;
    return {
      part: "forward",
      kind: "memory",
      result: at,
      text: `result ${at} ${g[at]} compiled, but ${w[at]} uncompiled`,
    };
  }

  #sharing(run: Done, result: unknown, at: number): string {
    if (!isTensor(result) || result.numel() === 0) return "is not a tensor";
    const input = run.state.findIndex((each) => each === result);
    if (input >= 0) return `is ${this.#inputName(input)} itself`;
    const shares = (each: unknown) => isTensor(each) && each.storage === result.storage;
    const base = run.state.findIndex(shares);
    if (base >= 0) return `shares the memory of ${this.#inputName(base)}`;
    const earlier = run.results.findIndex(shares);
    return earlier < at ? `shares the memory of result ${earlier}` : "has memory of its own";
  }

  #gradients(got: Done, want: Done): Finding | null {
    // If the tape refuses (a saved value was written to), a compiled graph may still work: there is nothing to compare
    if (want.backwardError !== null) return null;
    if (got.backwardError !== null) {
      const text = `in the backward pass ${errorText(got.backwardError, null)}`;
      return { part: "backward", kind: "error", text };
    }
    for (const [at, w] of want.gradients.entries()) {
      const g = got.gradients[at] ?? null;
      const name = `the gradient of ${this.#inputName(at)}`;
      if (g === null && w === null) continue;
      if (g === null || w === null) {
        const text = `${name} is ${g ? "present" : "missing"} compiled, ${
          w ? "present" : "missing"
        } uncompiled`;
        return { part: "backward", kind: "values", text };
      }
      const text = this.#values(name, [g, w], (run) => run.gradients[at], false);
      if (text) return { part: "backward", ...text };
    }
    return null;
  }

  #inputName(at: number): string {
    const node = this.gm.graph.placeholders[at];
    return node ? `the input ${node.meta.source ?? node.name}` : `argument ${at}`;
  }

  /** Compares one value; `again` finds it in other runs. */
  #values(
    name: string,
    [got, want]: readonly [unknown, unknown],
    again: (run: Done) => unknown,
    laidOut = true,
  ): Pick<Finding, "kind" | "text"> | null {
    if (!isTensor(got) || !isTensor(want)) {
      return Object.is(got, want) || (isTensor(got) && isTensor(want)) ? null : {
        kind: "values",
        text: `${name} is ${valueText(got)} compiled, ${valueText(want)} uncompiled`,
      };
    }
    const [g, w] = [layoutText(got, laidOut), layoutText(want, laidOut)];
    if (g !== w) return { kind: "layout", text: `${name} is ${g} compiled, ${w} uncompiled` };
    const elements = [elementsOf(got), elementsOf(want)] as const;
    if (areNear(...elements)) return null;
    const [exact, nudged] = (this.#arbiter() ?? []).map(again);
    const arbiter = isTensor(exact) && isTensor(nudged) && `${exact.shape}` === `${want.shape}`
      ? { exact: readElements(exact), nudged: readElements(nudged) }
      : null;
    const found = differenceOf(...elements, arbiter);
    return found && { kind: "values", text: `${name} (${w}): ${elementText(found, want.shape)}` };
  }

  /** Runs the graph in double precision, on the arguments and on slightly different ones; null if that fails. */
  #arbiter(): readonly [Done, Done] | null {
    if (this.#arbiters !== undefined) return this.#arbiters;
    const runs = (["double", "perturbed"] as const).map((precision) =>
      attempted(this.#plain, this.#of, precision)
    );
    const [exact, nudged] = runs;
    return this.#arbiters = exact?.kind === "done" && nudged?.kind === "done" ? [exact, nudged] : null;
  }
}

/** A run in double precision; ops may have none. */
function attempted(run: CompiledFunction, of: TrialCase, precision: "double" | "perturbed"): Trial {
  try {
    return runTrial(run, of, precision);
  } catch (error) {
    return { kind: "threw", error };
  }
}

const errorOf = (trial: Trial): unknown => trial.kind === "threw" ? trial.error : null;

function errorText(got: unknown, want: unknown): string {
  return got === null
    ? `the graph returns a result compiled, but throws uncompiled: ${messageOf(want)}`
    : `the graph throws compiled, but not uncompiled: ${messageOf(got)}`;
}

function elementsOf(tensor: Tensor): Elements {
  return { dtype: tensor.dtype, values: readElements(tensor) };
}

/** Type, shape, strides if they matter, and whether gradients are recorded. */
function layoutText({ dtype, shape, strides, device, requiresGrad }: Tensor, laidOut: boolean): string {
  const list = laidOut && shape.every((size) => size > 0)
    ? `[${strides.map((stride, d) => shape[d] === 1 ? "·" : stride).join(", ")}]`
    : "";
  const grad = laidOut && requiresGrad ? ", requires grad" : "";
  return `${dtype}[${shape.join(", ")}]${list}${device === "cpu" ? "" : ` on ${device}`}${grad}`;
}

/** The indices of an element, by its position in row-major order. */
export function indicesOf(at: number, shape: readonly number[]): number[] {
  const place: number[] = [];
  let rest = at;
  for (const size of shape.toReversed()) {
    place.unshift(rest % size);
    rest = Math.floor(rest / size);
  }
  return place;
}

const valueText = (value: unknown): string =>
  isTensor(value) ? "a tensor" : Deno.inspect(value, { depth: 1 });

function elementText(found: ElementDifference, shape: readonly number[]): string {
  const { count, total, at, got, want, allowed } = found;
  const number = (value: number | bigint) =>
    typeof value === "bigint" ? `${value}` : `${Number(value.toPrecision(9))}`;
  const where = shape.length === 0 ? "" : `, the most at [${indicesOf(at, shape).join(", ")}]`;
  const bound = allowed === 0
    ? ""
    : `, ${number(Math.abs(Number(got) - Number(want)))} apart, allowed ${Number(allowed.toPrecision(3))}`;
  return `${count} of ${total} elements differ${where}: compiled ${number(got)}, plain ${
    number(want)
  }${bound}`;
}
