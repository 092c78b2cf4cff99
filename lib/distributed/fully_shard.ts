/**
 * Fully sharded models: parameters are divided over the processes of a group, and gathered for the duration of a
 * call. Invariants: a shard is a vector, the rank's part of the parameter's elements in row-major order, padded with
 * zeros; gradients arrive at shards, as means over the ranks; all ranks call the same modules in the same order.
 */
import { savedTensorsHooks } from "../autograd/saved_hooks.ts";
import { itemSize } from "../base/dtype.ts";
import { optionsOf, refuseSurplus } from "../base/checked_input.ts";
import { DynError, invariant } from "../base/errors.ts";
import { checkModule, Module, type StateDict } from "../nn/module.ts";
import { Parameter } from "../nn/parameter.ts";
import { cat, zeros } from "../tensor/generated_functions.ts";
import { noGrad } from "../tensor/modes.ts";
import { type Storage, unwatched } from "../tensor/storage.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { broadcast, joinedGroup } from "./collectives.ts";
import { gatherWhole, partOf, recordShard } from "./divided.ts";
import { gatherShards } from "./collective_ops.ts";
import { getGlobalRank, type ProcessGroup } from "./group.ts";

/** Settings of `fullyShard`. */
export interface FullyShardOptions {
  /** The processes that divide the parameters; default: all. */
  readonly group?: ProcessGroup | null;
  /**
   * Whether whole parameters are dropped after a call and gathered again by the backward pass; default true. A compiled
   * graph keeps those that its backward pass reads.
   */
  readonly reshardAfterForward?: boolean;
}

/** The position of a parameter in a model. */
interface Place {
  readonly module: Module;
  readonly field: string;
}

/** A divided parameter. */
export interface Shard {
  /** The rank's part. */
  readonly parameter: Parameter;
  readonly shape: readonly number[];
  /** Number of elements of each rank; the last ranks have fewer and are padded with zeros. */
  readonly length: number;
  readonly group: ProcessGroup;
  readonly places: readonly Place[];
}

const elements = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);

const shards = new WeakMap<Tensor, Shard>();

/** Returns how a parameter is divided; undefined if it is whole. */
export function shardOf(parameter: Tensor): Shard | undefined {
  return shards.get(parameter);
}

/** Returns the range of elements that rank `rank` holds: begin and end. */
export function rangeOf({ shape, length }: Pick<Shard, "shape" | "length">, rank: number): [number, number] {
  const count = elements(shape);
  return [Math.min(count, rank * length), Math.min(count, (rank + 1) * length)];
}

/** Joining parts of this many bytes, and their gradients, takes longer than separate calls. */
const LARGE = 2 ** 18;

const isLarge = ({ parameter, length }: Shard): boolean => length * itemSize(parameter.dtype) >= LARGE;

/** Parameters that are gathered together: small ones in one call. */
class ShardUnit {
  /** Gathered parameters of the backward pass, until gradients arrive. */
  #again: readonly Tensor[] | null = null;

  constructor(readonly group: ProcessGroup, readonly held: readonly Shard[]) {
    for (const { parameter } of held) {
      if (parameter.requiresGrad) parameter.registerPostAccumulateGradHook(() => void (this.#again = null));
    }
  }

  /** Gathers the whole parameters, in memory of their own. */
  gather(): readonly Tensor[] {
    const { held, group } = this, small = held.filter((each) => !isLarge(each));
    const together = small.length > 1 ? small : [], found = new Map<Shard, Tensor>();
    if (together.length > 0) {
      const all = gatherShards(cat(together.map(({ parameter }) => parameter)), group);
      const parts = all.view([group.size, all.numel() / group.size]).split(
        together.map(({ length }) => length),
        1,
      );
      for (const [k, shard] of together.entries()) found.set(shard, parts[k]?.reshape([-1]) ?? all);
    }
    return held.map((shard) => {
      const { parameter, shape, length } = shard, count = elements(shape);
      const flat = found.get(shard) ?? gatherShards(parameter, group);
      return (count === length * group.size ? flat : flat.narrow(0, 0, count)).view(shape);
    });
  }

  /**
   * Gathers parameters for the backward pass once: the result must outlive the requesting node, which frees
   * temporaries.
   */
  again(): readonly Tensor[] {
    return this.#again ??= unwatched(() => noGrad(() => this.gather()));
  }

  /** Puts tensors in place of the parameters. */
  put(tensors: readonly Tensor[]): void {
    this.held.forEach(({ places }, k) => {
      for (const { module, field } of places) Reflect.set(module, field, tensors[k]);
    });
  }
}

/** The units of whole parameters, by their memory. */
const origins = new WeakMap<Storage, { readonly unit: ShardUnit; readonly index: number }>();

/** A tensor that represents a whole parameter, without its elements. */
class Dropped {
  constructor(
    readonly unit: ShardUnit,
    readonly index: number,
    readonly shape: readonly number[],
    readonly strides: readonly number[],
    readonly offset: number,
  ) {}
}

function pack(tensor: Tensor): Tensor | Dropped {
  const origin = origins.get(tensor.storage);
  if (!origin) return tensor;
  return new Dropped(origin.unit, origin.index, tensor.shape, tensor.stride(), tensor.storageOffset());
}

function unpack(packed: Tensor | Dropped): Tensor {
  if (!(packed instanceof Dropped)) return packed;
  const whole = packed.unit.again()[packed.index];
  invariant(whole, "Expected a parameter of a sharded module but found none");
  return noGrad(() => whole.asStrided(packed.shape, packed.strides, packed.offset));
}

/** Returns whether values saved for the backward pass can be dropped: in graphs this answers false. */
export function canDrop(): boolean {
  return true;
}

/** Runs the forward pass of a sharded module with whole parameters. */
function runWhole<R>(unit: ShardUnit, { drops }: { readonly drops: boolean }, body: () => R): R {
  const whole = unit.gather();
  unit.put(whole);
  try {
    if (!drops || !canDrop()) return body();
    whole.forEach(({ storage }, index) => origins.set(storage, { unit, index }));
    return savedTensorsHooks(pack, unpack, body);
  } finally {
    unit.put(unit.held.map(({ parameter }) => parameter));
  }
}

/** Returns the parameters of a module and its descendants that are not divided yet, with all their places. */
function wholeParameters(root: Module): Map<Parameter, Place[]> {
  const found = new Map<Parameter, Place[]>();
  for (const module of root.modules()) {
    for (const [field, value] of Object.entries(module)) {
      if (!(value instanceof Parameter) || shards.has(value)) continue;
      const places = found.get(value) ?? [];
      places.push({ module, field });
      found.set(value, places);
    }
  }
  return found;
}

/** Divides one parameter, whose elements become those of the group's first rank. */
function divide(parameter: Parameter, places: readonly Place[], group: ProcessGroup): Shard {
  broadcast(parameter, getGlobalRank(group, 0), { group });
  const { shape, dtype, device } = parameter, length = Math.ceil(parameter.numel() / group.size);
  const [from, to] = rangeOf({ shape, length }, group.rank);
  const own = noGrad(() => {
    const part = zeros([length], { dtype, device });
    if (to > from) {
      part.narrow(0, 0, to - from).copy_(parameter.detach().reshape([-1]).narrow(0, from, to - from));
    }
    return part;
  });
  const shard = { parameter: new Parameter(own, parameter.requiresGrad), shape, length, group, places };
  shards.set(shard.parameter, shard);
  recordShard(shard.parameter, parameter, group);
  return shard;
}

/**
 * Divides the parameters of a module over the ranks, as torch.distributed.fsdp.fully_shard: each rank keeps a part of
 * every parameter, its gradient and its optimizer state; a call of the module gathers the parameters and drops them
 * again. Call it on layers first and then on the model: each call divides the parameters that are still whole. All
 * ranks start from the first one's values. Element-wise optimizers work on shards as on whole parameters. Throws
 * DynError for parameters of several types or devices, and if there are none.
 */
export function fullyShard<M extends Module>(
  module: M,
  options: FullyShardOptions = {},
): M {
  if (arguments.length > 2) refuseSurplus("fullyShard", 2, arguments);
  checkModule(module, "fullyShard");
  const { group: given, reshardAfterForward = true } = optionsOf("fullyShard", options, [
    "group",
    "reshardAfterForward",
  ]);
  const { group } = joinedGroup(given), whole = wholeParameters(module);
  const kinds = [...new Set([...whole.keys()].map(({ dtype, device }) => `${dtype} on ${device}`))];
  if (kinds.length !== 1) {
    throw new DynError(
      `Expected parameters of one type and device that are not sharded yet but found ${
        kinds.join(", ") || "none"
      }`,
    );
  }
  const held = [...whole].map(([parameter, places]) => divide(parameter, places, group));
  const unit = new ShardUnit(group, held), { forward } = module;
  unit.put(held.map(({ parameter }) => parameter));
  Object.defineProperty(module, "forward", {
    value: (...args: readonly unknown[]) =>
      runWhole(unit, { drops: reshardAfterForward }, () => Reflect.apply(forward, module, args)),
    configurable: true,
    writable: true,
  });
  return module;
}

/** Returns the state of a model with whole tensors, on all ranks, which all must call it. */
export function fullStateDict(model: Module): StateDict {
  if (arguments.length > 1) refuseSurplus("fullStateDict", 1, arguments);
  checkModule(model, "fullStateDict");
  const divided = new Map(model.parameters().map((parameter) => [parameter.storage, parameter]));
  const entries = Object.entries(model.stateDict()).map(([key, value]): [string, Tensor] => {
    const parameter = divided.get(value.storage);
    return [key, parameter ? noGrad(() => wholeValue(value, parameter)) : value];
  });
  return Object.fromEntries(entries);
}

/** Returns the whole elements of a parameter's value. */
function wholeValue(value: Tensor, parameter: Parameter): Tensor {
  const shard = shards.get(parameter), part = partOf(parameter);
  const unsharded = shard
    ? gatherShards(value, shard.group).narrow(0, 0, elements(shard.shape)).view(shard.shape)
    : value;
  return part ? gatherWhole(unsharded, part) : unsharded;
}
