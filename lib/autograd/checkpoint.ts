/**
 * Functions whose intermediates are recomputed in the backward pass, like `torch.utils.checkpoint`. Invariant:
 * gradients are those of a plain call; random numbers are the same in both runs.
 */
import { checkInteger } from "../base/checked_numbers.ts";
import { checkFunction, checkKind, optionsOf, refuseSurplus, refuseValue } from "../base/checked_input.ts";
import { DynError } from "../base/errors.ts";
import { isPlainObject } from "../base/tree.ts";
import { ambient, enableGrad } from "../tensor/modes.ts";
import { getRngState, setRngState } from "../tensor/random.ts";
import { unwatched } from "../tensor/storage.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { savedTensorsHooks } from "./saved_hooks.ts";

/** Options of recomputation. */
export interface CheckpointOptions {
  /** Whether random numbers are the same in the second run; default true. */
  readonly preserveRngState?: boolean;
  /** As in PyTorch; both values behave the same here. */
  readonly useReentrant?: boolean;
}

/** The position of a saved tensor among those of a call. */
interface Place {
  readonly index: number;
  readonly call: Call;
}

/** The tensors that a call has saved so far, once it has been recomputed. */
interface Call {
  readonly again: () => readonly Tensor[];
  tensors: readonly Tensor[] | null;
}

/** Ends a run once all saved tensors have been recomputed. */
class Complete extends Error {}

/**
 * Calls `fn` with arguments without saving its intermediates: the backward pass runs it again. Options may follow the
 * arguments: `checkpoint(f, x, { preserveRngState: false })`.
 */
export function checkpoint<A extends readonly unknown[], R>(fn: (...args: A) => R, ...args: A): R;
export function checkpoint<A extends readonly unknown[], R>(
  fn: (...args: A) => R,
  ...given: readonly [...args: A, options: CheckpointOptions]
): R;
export function checkpoint<R>(fn: (...args: readonly unknown[]) => R, ...given: readonly unknown[]): R {
  if (typeof fn !== "function") {
    const hint = isPlainObject(fn) || typeof Reflect.get(Object(fn), "call") !== "function"
      ? ""
      : "; write (...given) => module.call(...given)";
    refuseValue("a function to run again in the backward pass", fn, hint);
  }
  const last = given.at(-1);
  return isOptions(last) ? recomputed(fn, given.slice(0, -1), last) : recomputed(fn, given, {});
}

/** Returns whether a value is an options object: no argument has only these names. */
function isOptions(value: unknown): value is CheckpointOptions {
  if (!isPlainObject(value)) return false;
  const names = Object.keys(value);
  return names.length > 0 && names.every(isCheckpointOption);
}

/** Returns whether a checkpoint option has this name. */
export function isCheckpointOption(name: string): boolean {
  return name === "preserveRngState" || name === "useReentrant";
}

function recomputed<R>(
  fn: (...args: readonly unknown[]) => R,
  args: readonly unknown[],
  { preserveRngState = true }: CheckpointOptions,
): R {
  if (!ambient.gradEnabled) return fn(...args);
  const state = preserveRngState ? getRngState() : null, { autocast, autocastCaches } = ambient;
  const saved: string[] = [];
  const again = (): readonly Tensor[] => {
    const found: Tensor[] = [];
    const former = getRngState(), mode = { ...ambient };
    if (state !== null) setRngState(state);
    Object.assign(ambient, { autocast, autocastCaches });
    const run = () =>
      savedTensorsHooks(
        (tensor) => {
          found.push(tensor);
          if (found.length === saved.length) throw new Complete();
          return tensor;
        },
        (tensor) => tensor,
        () => enableGrad(() => fn(...args)),
      );
    try {
      // Recomputed tensors outlive the node that requests them
      unwatched(run);
    } catch (thrown) {
      if (!(thrown instanceof Complete)) throw thrown;
    } finally {
      Object.assign(ambient, { autocast: mode.autocast, autocastCaches: mode.autocastCaches });
      if (state !== null) setRngState(former);
    }
    return found;
  };
  const call: Call = { again, tensors: null };
  return savedTensorsHooks(
    (tensor): Place => ({ index: saved.push(metaText(tensor)) - 1, call }),
    (place) => tensorAt(place, saved),
    () => fn(...args),
  );
}

/** Describes the properties that must be equal in both runs. */
function metaText({ dtype, shape, device }: Tensor): string {
  return `${dtype} [${shape}] on ${device}`;
}

/**
 * Returns a saved tensor of a call, which runs again for the first of them, and for the first that it saves after a
 * backward pass of its own.
 */
function tensorAt({ index, call }: Place, saved: readonly string[]): Tensor {
  const { length: count } = saved;
  if (call.tensors?.length !== count) call.tensors = checked(call.again(), saved);
  const { tensors } = call, found = tensors[index];
  if (tensors.length === count && found) return found;
  throw new DynError(
    `Expected ${count} saved tensors from a function that checkpoint runs again but found ${tensors.length}: it has to ` +
      "do the same both times",
  );
}

/**
 * Returns the tensors saved by the second run. Throws DynError if their types, shapes or devices differ from the
 * first.
 */
function checked(tensors: readonly Tensor[], saved: readonly string[]): readonly Tensor[] {
  const others = tensors.flatMap((each, k) =>
    metaText(each) === saved[k] ? [] : [`number ${k} was ${saved[k]} and is ${metaText(each)}`]
  );
  if (tensors.length !== saved.length || others.length === 0) return tensors;
  throw new DynError(
    `Expected the same saved tensors from a function that checkpoint runs again but found others: ${
      others.join("; ")
    }`,
  );
}

/**
 * Calls functions, or the layers of a `Sequential`, one after the other, in so many segments, each of which saves only
 * its inputs, like
 * `torch.utils.checkpoint.checkpoint_sequential`.
 */
export function checkpointSequential(
  layers: Iterable<((x: Tensor) => Tensor) | { call(x: Tensor): Tensor }>,
  segments: number,
  input: Tensor,
  options: CheckpointOptions = {},
): Tensor {
  if (arguments.length > 4) refuseSurplus("checkpointSequential", 4, arguments);
  checkInteger("the number of segments", segments, 1);
  optionsOf("checkpointSequential", options, ["preserveRngState", "useReentrant"]);
  checkKind(layers, "a list or other iterable", "checkpointSequential");
  const functions = Array.from(layers, (each) => {
    if (typeof each === "function") return each;
    checkFunction(each?.call, "or a module to run again");
    return (x: Tensor) => each.call(x);
  });
  const size = Math.max(1, Math.floor(functions.length / segments)), last = size * (segments - 1);
  const through = (part: readonly ((x: Tensor) => Tensor)[]) => (x: Tensor) => part.reduce((y, f) => f(y), x);
  let x = input;
  for (let from = 0; from < last; from += size) {
    x = checkpoint(through(functions.slice(from, from + size)), x, options);
  }
  // The last segment is needed immediately
  return through(functions.slice(Math.max(0, last)))(x);
}
