/**
 * Runs the ops of graphs on eager tensors. Invariant: a random op that carries keys draws with them and leaves the
 * generator alone; all others are ordinary eager calls.
 */
import { DynError } from "../base/errors.ts";
import type { Runner } from "../graph/interpreter.ts";
import { RANDOM_KEYS } from "../graph/signature.ts";
import { findTarget } from "../ops/table.ts";
import { withoutAutocast } from "./autocast.ts";
import { scalarTensor } from "./creation.ts";
import { callInplace, callOp, ops } from "./eager.ts";
import { itemsOf } from "./items.ts";
import { noGrad } from "./modes.ts";
import { eagerRegions } from "./regions.ts";
import { lastSerial, type Storage } from "./storage.ts";
import { defaultGenerator, type RandomKeys } from "./random.ts";
import { autograd, isTensor, type Tensor } from "./tensor.ts";
import { UndoLog } from "./undo.ts";

/** Runs graph calls through eager dispatch, so that modes and the tape see them. */
export const graphRunner: Runner = {
  callOp(target, args, kwargs) {
    const found = findTarget(target);
    if (!found) throw new DynError(`Expected an op of the table but found ${target}`);
    const { definition, inplace } = found;
    const { [RANDOM_KEYS]: keys, ...named } = kwargs;
    const given = Object.keys(named).length > 0 ? [...args, named] : args;
    // Types are explicit in graphs
    const call = () => inplace ? callInplace(definition, given) : callOp(definition, given);
    const run = () => withoutAutocast(call);
    return keys === undefined ? run() : withKeys(keysOf(keys), run);
  },
  gradients({ outputs, inputs, tangents, retainGraph, createGraph }) {
    const roots = outputs.map(tensorOf),
      given = tangents.map((each) => each === null ? null : tensorOf(each));
    const start = lastSerial(), taken = new Set<Storage>();
    const options = { tangents: given, retainGraph, createGraph };
    return autograd().gradients(roots, inputs.map(tensorOf), options).map((grad) => {
      const own = grad.storage.serial > start && !taken.has(grad.storage) && grad.isContiguous();
      taken.add(grad.storage);
      return own ? grad : createGraph ? ops.clone(grad) : noGrad(() => ops.clone(grad));
    });
  },
  startHistory: (tensor) => tensorOf(tensor).requiresGrad_(),
  giveHistory({ inputs, results, ...call }) {
    autograd().giveHistory({ ...call, inputs: inputs.map(tensorOf), results: results.map(tensorOf) });
  },
  items: (tensors) => itemsOf(tensors.map(tensorOf)),
  scalar: (value) => scalarTensor(value, { dtype: "float64", device: "cpu" }),
  regions: eagerRegions,
  withoutGradient: noGrad,
  begin() {
    const log = new UndoLog();
    return {
      willWrite: (value) => isTensor(value) && log.willWrite(value),
      rollBack: () => log.rollBack(),
    };
  },
};

function tensorOf(value: unknown): Tensor {
  if (isTensor(value)) return value;
  throw new DynError(`Expected a tensor but found ${typeof value}`);
}

function keysOf(keys: unknown): RandomKeys {
  if (Array.isArray(keys) && keys.length === 2 && keys.every(isTensor)) {
    const [key0, key1] = keys.map((key) => Number(key.item()));
    return [key0 ?? 0, key1 ?? 0];
  }
  throw new DynError("Expected two keys for a random op");
}

/** Makes the generator return these keys next, and restores it afterwards. */
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
