/**
 * How compositions run eagerly: as one program where they have a class, else op by op. Input: a call; output: its plan,
 * or null. Invariant: what a composition refuses is refused before any of its ops runs.
 *
 * A small call has a class only where it comes with ever other sizes, since making one takes milliseconds. One that keeps
 * coming with the same sizes gets it as well, once its ops have taken about as long and if some calls in a row show that
 * it adds in the same order: programs choose the order of loops, ops have one of their own.
 */
import { preferringOwnBuiltins } from "../base/own_builtins.ts";
import { classPlan, type ClassRequest } from "./classes.ts";
import { readStored } from "./host.ts";
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
import type { Tensor } from "./tensor.ts";

/** Calls of one signature, op by op, after which a program is tried, and how often. */
const OFTEN = 1000, TRIALS = 8;

/** A call of a composition. */
export interface ComposedCall {
  readonly entry: OpEntry;
  readonly args: TensorArgs;
  /** Whether a call that loads these numbers may be a program. Throws for what the composition refuses. */
  readonly admits: (numbers: readonly LoadedNumber[]) => boolean;
  /** Runs the call op by op. */
  readonly byOps: () => readonly Tensor[];
}

/** The program of a call; null: it runs op by op. */
export function composedPlan(call: ComposedCall): Plan | null {
  const { entry, args, admits } = call;
  const found = findPlan<ComposedPlan>(entry, args, {
    cache: entry.composed,
    known(numbers) {
      const plan = classPlan(requestOf(call, numbers), "ready");
      return plan && { plan, calls: 0, trial: null, numbers };
    },
    make(numbers) {
      const plan = admits(numbers) ? classPlan(requestOf(call, numbers)) ?? null : null;
      return { plan, calls: 0, trial: null, numbers };
    },
  });
  if (found.plan === null && ++found.calls >= OFTEN) consider(found, call);
  return found.plan;
}

const requestOf = ({ entry, args }: ComposedCall, numbers: readonly LoadedNumber[]): ClassRequest => ({
  entry,
  args,
  numbers,
});

/** Tries a program in the place of the ops; it takes over once it has given their bits in all trials. */
function consider(found: ComposedPlan, call: ComposedCall): void {
  const { calls, numbers } = found;
  if (calls === OFTEN && call.admits(numbers)) {
    found.trial = preferringOwnBuiltins(() => classPlan(requestOf(call, numbers), "often")) ?? null;
  }
  if (found.trial === null) return;
  if (!givesSameBits(found.trial, call)) found.trial = null;
  else if (calls === OFTEN + TRIALS) found.plan = found.trial;
}

function givesSameBits(plan: Plan, { entry, args, byOps }: ComposedCall): boolean {
  if (plan.results.some(({ device }) => !deviceNamed(device).hostReadable)) return false;
  const made = runInto(plan, { inputs: tensorsOf(entry, args), args });
  return byOps().every((result, k) => {
    const other = made[k];
    return other !== undefined && sameBytes(bytesOf(result), bytesOf(other));
  });
}

function bytesOf(tensor: Tensor): Uint8Array {
  const { buffer, byteOffset, byteLength } = readStored(tensor);
  return new Uint8Array(buffer, byteOffset, byteLength);
}

const sameBytes = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, i) => byte === b[i]);
