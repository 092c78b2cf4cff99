/**
 * Finds the ops whose rounding moves a result the most. Each call of the plain run, and of its backward pass, is also
 * made in double precision on the same operands; the difference is that call's own rounding error. Added to the
 * call's result in a run that is otherwise exact, it shows how far it moves the results by itself.
 *
 * Groups of calls are tried before single ones, the group with the largest effect first, so that few of many calls
 * are tried one by one. Invariant: the program's tensors and random numbers are unchanged.
 */
import type { CompiledFunction } from "../../graph/backend.ts";
import { GraphModule } from "../../graph/graph_module.ts";
import { copyNodes } from "../../graph/copy.ts";
import { type Node, type SourcePosition } from "../../graph/node.ts";
import { placeOfNode, userPosition } from "../../graph/place.ts";
import { graphNameOf } from "../../ops/graph_builder.ts";
import { isComplex, isDifferentiable } from "../../base/dtype.ts";
import { makeCall, ops } from "../../tensor/eager.ts";
import { readElements } from "../../tensor/host.ts";
import { noGrad, type ResolvedCall } from "../../tensor/modes.ts";
import type { OpResult } from "../../tensor/op_call.ts";
import { entryOf, mapTensors } from "../../tensor/plan.ts";
import { defaultGenerator } from "../../tensor/random.ts";
import { type Storage, unwatched } from "../../tensor/storage.ts";
import { isTensor, modes, type Tensor } from "../../tensor/tensor.ts";
import { inDouble } from "../check/double.ts";
import { runTrial, type Trial, type TrialCase } from "../check/trial.ts";
import { meetingCalls } from "./leaves.ts";

/** A call whose rounding moves a result. */
export interface Rounding {
  /** The op, and the function and line that requested it. */
  readonly op: string;
  /** That line; null in a backward pass. */
  readonly position: SourcePosition | null;
  /** How far its rounding error alone moves the result, relative to the largest element. */
  readonly relative: number;
}

/** A call of the plain run. */
interface MetCall {
  readonly name: string;
  /** The node of the graph; null in the backward pass. */
  readonly node: Node | null;
  /** For each result the rounding error; null if there is none. */
  readonly errors: readonly (Tensor | null)[] | null;
  /** The storages of its results, and of its first operand. */
  readonly made: readonly Storage[];
  readonly given: Storage | null;
}

/** The measure of a run: how far it is from the exact one. */
export type Effect = (run: Trial) => number;

/** Maximum number of runs. */
const MOST_RUNS = 160;

/** A graph that knows which node runs. */
class WatchedGraph {
  /** The node that runs now; null outside of the graph, as in its backward pass. */
  node: Node | null = null;
  readonly run: CompiledFunction;

  constructor({ graph, attributes, runner, signature }: GraphModule) {
    const { copy, made } = copyNodes(graph);
    const marks: Record<string, () => void> = {};
    for (const [k, node] of graph.nodes.entries()) {
      const before = made.get(node);
      if (!before || node.op === "placeholder" || node.op === "output") continue;
      const name = `rounding_mark_${k}`;
      marks[name] = () => void (this.node = node);
      copy.create("call_function", name, { before });
    }
    const module = new GraphModule(copy, { ...attributes, ...marks }, runner, signature);
    this.run = (...args) => {
      try {
        return module.forward(...args);
      } finally {
        this.node = null;
      }
    };
  }
}

/** Conversions, which low precision makes around its operations and double precision does not need. */
const CONVERSION = "convert";

/** A run in double precision to which the rounding errors of chosen calls of the plain run are added. */
class ExactRun {
  /** Whether it has made the calls of the plain run so far, besides conversions. */
  isSame = true;
  #at = 0;
  /** The latest result on each storage of the plain run. */
  readonly #latest = new Map<Storage, Tensor>();

  constructor(readonly met: readonly MetCall[], readonly chosen: ReadonlySet<number>) {}

  meet(call: ResolvedCall<Tensor>, run: () => OpResult): OpResult {
    const name = nameOf(call);
    if (this.isSame) this.#skipConversions(name);
    const result = run(), at = this.#at++, known = this.met[at];
    this.isSame &&= known?.name === name;
    if (!this.isSame || !known) return result;
    const results = listOf(result);
    if (known.errors && this.chosen.has(at)) addErrors(results, known.errors);
    known.made.forEach((storage, k) => {
      const each = results[k];
      if (each) this.#latest.set(storage, each);
    });
    return result;
  }

  /** Ends the run, of which nothing but conversions may be missing. */
  end(): void {
    if (this.isSame) this.#skipConversions(null);
    this.isSame &&= this.#at === this.met.length;
  }

  /** Adds the errors of conversions that this run lacks to what they would have converted. */
  #skipConversions(next: string | null): void {
    for (; next !== CONVERSION; this.#at++) {
      const known = this.met[this.#at];
      if (known?.name !== CONVERSION) return;
      const converted = known.given ? this.#latest.get(known.given) : undefined;
      if (converted && known.errors && this.chosen.has(this.#at)) addErrors([converted], known.errors);
      const [made] = known.made;
      if (converted && made) this.#latest.set(made, converted);
    }
  }
}

/**
 * Returns the `most` calls whose rounding has the largest effect, the largest first; null if the run in double
 * precision makes other calls, so that they cannot be told apart.
 */
export function largestRoundings(
  gm: GraphModule,
  of: TrialCase,
  { effect, most }: { readonly effect: Effect; readonly most: number },
): readonly Rounding[] | null {
  const watched = new WatchedGraph(gm);
  const met: MetCall[] = [];
  const observed = runTrial(watched.run, {
    ...of,
    within: (body) => meetingCalls((call, run) => metCall(call, run, { met, node: watched.node }), body),
  });
  if (observed.kind === "threw") return null;
  const effectOf = (calls: readonly number[]): number | null => {
    const exact = new ExactRun(met, new Set(calls));
    const within = <R>(body: () => R): R => {
      const result = meetingCalls((call, run) => exact.meet(call, run), body);
      exact.end();
      return result;
    };
    const run = runTrial(watched.run, { ...of, within }, "double");
    return exact.isSame && run.kind === "done" ? effect(run) : null;
  };
  const roundings: Rounding[] = [];
  const all = met.flatMap(({ errors }, at) => errors ? [at] : []);
  if (all.length === 0) return effectOf([]) === null ? null : [];
  const whole = effectOf(all);
  if (whole === null) return null;
  const groups = [{ calls: all, relative: whole }];
  for (let runs = 1; groups.length > 0 && roundings.length < most && runs < MOST_RUNS;) {
    groups.sort((a, b) => a.relative - b.relative);
    const group = groups.pop();
    if (!group || group.relative === 0) break;
    const { calls, relative } = group, [only] = calls;
    const call = calls.length === 1 && only !== undefined ? met[only] : undefined;
    if (call) {
      roundings.push(roundingOf(call, relative));
      continue;
    }
    const middle = calls.length >> 1;
    for (const half of [calls.slice(0, middle), calls.slice(middle)]) {
      runs++;
      groups.push({ calls: half, relative: effectOf(half) ?? 0 });
    }
  }
  return roundings;
}

function roundingOf({ name, node }: MetCall, relative: number): Rounding {
  if (node === null) return { op: `${name}, in the backward pass`, position: null, relative };
  const place = placeOfNode(node);
  const op = node.target.replace(/_$/, "") === name.replace(/_$/, "") ? place : `${name} of ${place}`;
  return { op, position: userPosition(node) ?? null, relative };
}

const nameOf = ({ definition, inplace }: ResolvedCall<Tensor>): string =>
  `${graphNameOf(definition)}${inplace ? "_" : ""}`;

/** Makes a call, and once more in double precision on the same operands and random numbers. */
function metCall(
  call: ResolvedCall<Tensor>,
  run: () => OpResult,
  { met, node }: { readonly met: MetCall[]; readonly node: Node | null },
): OpResult {
  const { definition, args, inplace } = call;
  const before = defaultGenerator.state;
  const wide = noGrad(() => mapTensors(entryOf(definition), args, widened));
  const result = run(), after = defaultGenerator.state;
  defaultGenerator.state = before;
  try {
    // A backward pass releases what was allocated meanwhile
    const errors = unwatched(() =>
      noGrad(() => {
        const exact = listOf(inDouble(() => makeCall({ definition, args: wide, inplace })));
        return listOf(result).map((each, k) => errorOf(each, exact[k]));
      })
    );
    met.push({
      name: nameOf(call),
      node,
      errors: errors.some((each) => each !== null) ? errors : null,
      made: listOf(result).map(({ storage }) => storage),
      given: Object.values(args).flat().find(isTensor)?.storage ?? null,
    });
  } finally {
    defaultGenerator.state = after;
  }
  return result;
}

const listOf = (result: OpResult): readonly Tensor[] => isTensor(result) ? [result] : result;

/** A copy in double precision on the CPU. */
function widened(tensor: Tensor): Tensor {
  const near = tensor.detach().cpu();
  if (!isDifferentiable(tensor.dtype)) return ops.clone(near);
  const wide = ops.to(near, isComplex(tensor.dtype) ? "complex128" : "float64");
  return wide.storage === tensor.storage ? ops.clone(wide) : wide;
}

/** Returns what rounding has added to the exact elements; null: nothing. Elements that overflow have no such error. */
function errorOf(rounded: Tensor, exact: Tensor | undefined): Tensor | null {
  if (!exact || !isDifferentiable(rounded.dtype) || `${rounded.shape}` !== `${exact.shape}`) return null;
  const error = ops.nanToNum(ops.sub(widened(rounded), exact), 0, 0, 0);
  return readElements(error).some((each) => Number(each) !== 0) ? error : null;
}

/** Adds errors to results in place; the tape takes the sums for the results themselves. */
function addErrors(results: readonly Tensor[], errors: readonly (Tensor | null)[]): void {
  for (const [k, each] of results.entries()) {
    const error = errors[k];
    if (!error || `${error.shape}` !== `${each.shape}`) continue;
    const { version } = each.storage;
    noGrad(() => modes.without(() => each.add_(error)));
    each.storage.version = version;
  }
}
