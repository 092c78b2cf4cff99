/**
 * Runs the ops of graphs on eager tensors. Input: a graph's call; output: its results. Invariant: a random op
 * that carries keys draws with them and leaves the generator alone; all others are ordinary eager calls.
 */
import { DynError } from "../base/errors.ts";
import type { Runner } from "../graph/interpreter.ts";
import { RANDOM_KEYS } from "../graph/signature.ts";
import { findTarget } from "../ops/table.ts";
import { callInplace, callOp } from "./eager.ts";
import { noGrad } from "./modes.ts";
import { defaultGenerator, type RandomKeys } from "./random.ts";
import { isTensor } from "./tensor.ts";

/** Runs graph calls through eager dispatch, so that modes and the tape see them. */
export const graphRunner: Runner = {
  callOp(target, args, kwargs) {
    const found = findTarget(target);
    if (!found) throw new DynError(`Expected an op of the table but found ${target}`);
    const { definition, inplace } = found;
    const { [RANDOM_KEYS]: keys, ...named } = kwargs;
    const given = Object.keys(named).length > 0 ? [...args, named] : args;
    const run = () => inplace ? callInplace(definition, given) : callOp(definition, given);
    return keys === undefined ? run() : withKeys(keysOf(keys), run);
  },
  withoutGradient: noGrad,
};

function keysOf(keys: unknown): RandomKeys {
  if (Array.isArray(keys) && keys.length === 2 && keys.every(isTensor)) {
    const [key0, key1] = keys.map((key) => Number(key.item()));
    return [key0 ?? 0, key1 ?? 0];
  }
  throw new DynError("Expected two keys for a random op");
}

/** Lets the generator give these keys next, and puts it back afterwards. */
function withKeys<R>([seed, offset]: RandomKeys, body: () => R): R {
  const former = defaultGenerator.state;
  // With a seed below 2³² the keys of a call are the seed and the count of calls.
  defaultGenerator.state = { seed: seed >>> 0, offset };
  try {
    return body();
  } finally {
    defaultGenerator.state = former;
  }
}
