/**
 * Records calls over graph values on a tape for later differentiation; the layer below makes the results. Invariant:
 * the tape holds only calls with a gradient rule of which some argument requires a gradient; ops whose gradient is
 * that of their composition are expanded before they are recorded.
 */
import { nameResults } from "../ops/api.ts";
import { graphApi, type RunCall } from "../ops/graph_api.ts";
import type { OpApi } from "../ops/generated.ts";
import {
  GraphValue,
  isGraphValue,
  listOf,
  type OpCall,
  type Results,
  tensorArguments,
} from "../ops/graph_builder.ts";
import { differentiableResults, type TapeEntry } from "./gradient_tape.ts";

/** A tape being recorded. */
export class Recorder {
  readonly tape: TapeEntry<GraphValue>[] = [];
  /** The values that require gradients. */
  readonly requiring: Set<GraphValue> = new Set();
  /** The recorded ops. */
  readonly api: OpApi<GraphValue> = graphApi((call) => this.call(call));
  /** Off inside noGrad. */
  enabled = true;

  /** `run` executes calls; `around` is stored with each entry. */
  constructor(readonly run: RunCall, readonly around?: () => (() => () => void) | undefined) {}

  /** Makes a call and records it if it may need gradients. */
  call(call: OpCall<GraphValue>): Results {
    const { definition, args } = call;
    const inputs = tensorArguments(args).map(({ value }) => value);
    if (!this.enabled || !inputs.some((value) => this.requiring.has(value))) return this.run(call);
    const { gradient, implementation } = definition;
    if (gradient.kind === "composite" && implementation.kind === "composite") {
      return implementation.compose(this.api, args);
    }
    const results = this.run(call);
    if (gradient.kind !== "rule") return results;
    const kept = isGraphValue(results)
      ? fresh(results, inputs)
      : nameResults(definition, results.map((out) => fresh(out, inputs)));
    const outs = listOf(kept), around = this.around?.();
    this.tape.push({ kind: "call", definition, args, outs, ...(around ? { around } : {}) });
    for (const out of differentiableResults(definition, outs)) this.requiring.add(out);
    return kept;
  }

  /** Passes the gradient of `to` on to `from`, at the same position of the tape. */
  join(from: GraphValue, to: GraphValue): void {
    this.tape.push({ kind: "same", from, to });
    this.requiring.add(to);
  }

  /**
   * Returns a value under a name of its own, with the same history: calls that save it do not depend on the memory that
   * held the value.
   */
  apart(value: GraphValue): GraphValue {
    const copy = new GraphValue(value.node, value.meta);
    if (this.enabled && this.requiring.has(value)) this.join(value, copy);
    return copy;
  }
}

/** Copies a result that is an argument itself, since gradients are stored by identity. */
function fresh(out: GraphValue, inputs: readonly GraphValue[]): GraphValue {
  return inputs.includes(out) ? new GraphValue(out.node, out.meta) : out;
}
