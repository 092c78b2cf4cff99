/**
 * Plans for compositions in eager execution: one program if they have a class, else op by op. Invariant: an error of
 * a composition is thrown before any of its ops runs.
 *
 * A composition that calls a single op runs as that op, which has a class itself. A small call gets one only if its
 * sizes keep changing, since making a class takes milliseconds. A call that repeats with the same sizes gets one too,
 * once its ops have taken about as long, provided that several consecutive calls show that the program adds in the same
 * order as the ops: the order in a program depends on its inputs, that of an op on the previous op. Operands such as
 * zeros may hide the order, so operands that reveal it are generated.
 */
import { DynError } from "../base/errors.ts";
import { refuseElements } from "../base/inherited_elements.ts";
import { preferringOwnBuiltins } from "../base/own_builtins.ts";
import { classPlan, type ClassRequest } from "./classes.ts";
import { readElements } from "./host.ts";
import {
  type ComposedPlan,
  findPlan,
  type LoadedNumber,
  type OpEntry,
  type Plan,
  type TensorArgs,
  tensorsOf,
} from "./plan.ts";
import { runInto } from "./run.ts";
import { deviceNamed } from "./storage.ts";
import { canReveal, revealingArguments } from "./revealing_operands.ts";
import type { Tensor } from "./tensor.ts";

/** Number of op-by-op calls of one signature after which a program is tried, and maximum number of trials. */
const OFTEN = 1000, TRIALS = 8;

/** A call of a composition. */
interface ComposedCall {
  readonly entry: OpEntry;
  readonly args: TensorArgs;
  /** Returns whether a call that loads these numbers may be a program. Throws the errors of the composition. */
  readonly admits: (numbers: readonly LoadedNumber[]) => boolean;
  /** Runs the call, or one of other tensors, op by op. */
  readonly byOps: (args: TensorArgs) => readonly Tensor[];
}

/** The program of a call; null: it runs op by op. */
export function composedPlan(call: ComposedCall): Plan | null {
  const { entry, args, admits } = call;
  const found = findPlan<ComposedPlan>(entry, args, {
    cache: entry.composed,
    known(numbers, policy) {
      const plan = classPlan(requestOf(call, numbers), policy);
      return plan && { plan, calls: 0, trial: null, revealed: 0, numbers };
    },
    make(numbers) {
      const plan = admits(numbers) && !isOneCall(entry) ? classPlan(requestOf(call, numbers)) ?? null : null;
      return { plan, calls: 0, trial: null, revealed: 0, numbers };
    },
  });
  if (found.plan === null && ++found.calls >= OFTEN) consider(found, call);
  return found.plan;
}

const isOneCall = ({ definition: { implementation } }: OpEntry): boolean =>
  implementation.kind === "composite" && implementation.isOneCall === true;

const requestOf = ({ entry, args }: ComposedCall, numbers: readonly LoadedNumber[]): ClassRequest => ({
  entry,
  args,
  numbers,
});

/** Tries a program in place of the ops; it replaces them once it has returned the same bits in all trials. */
function consider(found: ComposedPlan, call: ComposedCall): void {
  refuseElements();
  const { calls, numbers } = found, { entry, args } = call;
  if (calls === OFTEN && call.admits(numbers)) {
    const plan = preferringOwnBuiltins(() => classPlan(requestOf(call, numbers), "often")) ?? null;
    // A single op runs the same program either way, so that trials, which cost many calls each, would be useless
    if (isOneCall(entry)) return void (found.plan = plan);
    found.trial = plan;
  }
  if (found.trial === null) return;
  const verdict = canReveal(entry, args) ? verdictOf(found.trial, call, calls) : "same";
  if (verdict === "same") found.revealed++;
  if (verdict === "other" || compared(found.trial, call, args) === "other") found.trial = null;
  else if (calls === OFTEN + TRIALS && found.revealed > 0) found.plan = found.trial;
}

/** The outcome of comparing a program with its ops; "nothing" if all results are NaN. */
type Verdict = "same" | "other" | "nothing";

/** Compares results for operands whose sums depend on the order; "nothing" if the call refuses them. */
function verdictOf(plan: Plan, call: ComposedCall, round: number): Verdict {
  const { entry, args } = call;
  try {
    const telling = revealingArguments(entry, args, {
      kind: round % 2 === 0 ? "signed" : "fractions",
      round,
    });
    return compared(plan, call, telling);
  } catch (thrown) {
    if (thrown instanceof DynError) return "nothing";
    throw thrown;
  }
}

/** Compares all bits except those of NaN, whose sign depends on the instruction. */
function compared(plan: Plan, { entry, byOps }: ComposedCall, args: TensorArgs): Verdict {
  if (plan.results.some(({ device }) => !deviceNamed(device).hostReadable)) return "other";
  const made = runInto(plan, { inputs: tensorsOf(entry, args), args });
  let verdict: Verdict = "nothing";
  for (const [k, result] of byOps(args).entries()) {
    const other = made[k], wanted = readElements(result), found = other && readElements(other);
    if (found?.length !== wanted.length) return "other";
    for (let i = 0; i < wanted.length; i++) {
      if (!Object.is(found[i], wanted[i])) return "other";
      if (!Number.isNaN(wanted[i])) verdict = "same";
    }
  }
  return verdict;
}
