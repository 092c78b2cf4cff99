/**
 * Models whose gradients are means over the processes of a group. Input: a module; output: a module that computes the
 * same and synchronises. Invariants: all ranks start from the parameters and buffers of the group's first rank; after a
 * backward pass that synchronises all have the same bits in the gradients, whatever each of them has computed.
 */
import { leavesBehind } from "../autograd/beyond.ts";
import { DynError } from "../base/errors.ts";
import { flatten } from "../base/tree.ts";
import { Module } from "../nn/module.ts";
import { tensor } from "../tensor/creation.ts";
import { isGradEnabled, noGrad } from "../tensor/modes.ts";
import { isTensor, Tensor } from "../tensor/tensor.ts";
import { GradientBuckets } from "./buckets.ts";
import { allReduce, broadcast, joinedGroup } from "./collectives.ts";
import { getGlobalRank, type ProcessGroup } from "./group.ts";

/** Settings, as PyTorch has them. */
export interface DataParallelOptions {
  /** The processes; all unless given. */
  readonly processGroup?: ProcessGroup | null;
  /** Whether training steps begin with the buffers of the first rank; true unless given. */
  readonly broadcastBuffers?: boolean;
  /** The most that one call averages, in MiB; 25 unless given. */
  readonly bucketCapMb?: number;
  /** Whether passes may leave parameters out, of which ranks may have different ones; false unless given. */
  readonly findUnusedParameters?: boolean;
}

/** What a model knows of its group. */
interface Synchronisation {
  readonly group: ProcessGroup;
  readonly buckets: GradientBuckets;
  readonly broadcastsBuffers: boolean;
  readonly findsUnused: boolean;
  /** Whether `noSync` runs. */
  paused: boolean;
  /** Whether the gradients of the last forward pass are averaged. */
  averages: boolean;
  /** Whether `join` runs, in which ranks may have fewer steps than others. */
  joins: boolean;
  /** The last rank that had the last step within it. */
  last: number;
}

const states = new WeakMap<DistributedDataParallel, Synchronisation>();

function stateOf(model: DistributedDataParallel): Synchronisation {
  const state = states.get(model);
  if (state) return state;
  throw new DynError("Expected a model that was made by its constructor but found a copy of one");
}

/** Gives tensors of all ranks the elements of one, the first unless given. */
function spread(tensors: readonly Tensor[], group: ProcessGroup, from = 0): void {
  for (const each of tensors) broadcast(each, getGlobalRank(group, from), { group });
}

/** The last rank of a group that has a step to make; −1 where none has. */
function lastActive(group: ProcessGroup, isActive: boolean): number {
  const last = tensor([isActive ? group.rank : -1], { dtype: "int32", device: "cpu" });
  allReduce(last, { op: "max", group });
  return Number(last.item());
}

/** What comes before the forward pass of a training step. Graphs end here. */
export function beginPass(model: DistributedDataParallel): void {
  const state = stateOf(model), isStep = model.training && isGradEnabled();
  state.averages = isStep && !state.paused;
  if (!state.averages) return;
  state.buckets.begin();
  if (state.joins) state.last = lastActive(state.group, true);
  const from = state.joins ? state.last : 0;
  if (state.broadcastsBuffers) noGrad(() => spread(model.module.buffers(), state.group, from));
}

/** Takes part in the steps of ranks that have more of them; then all have what the last one has. */
function followOthers(model: DistributedDataParallel): void {
  const state = stateOf(model), { group, buckets, broadcastsBuffers } = state, { module } = model;
  for (let from = lastActive(group, false); from >= 0; from = lastActive(group, false)) {
    state.last = from;
    if (broadcastsBuffers) noGrad(() => spread(module.buffers(), group, from));
    buckets.follow();
  }
  noGrad(() => spread([...module.parameters(), ...module.buffers()], group, state.last));
}

/** What comes behind it. Graphs end here. */
export function endPass(model: DistributedDataParallel, output: unknown): void {
  const { averages, findsUnused, buckets } = stateOf(model);
  if (!averages || !findsUnused) return;
  const outputs = flatten(output, isTensor).leaves.filter(isTensor), reached = leavesBehind(outputs);
  buckets.skip(model.module.parameters().filter((each) => each.requiresGrad && !reached.has(each)));
}

/**
 * A model that is trained by several processes, each on data of its own, as
 * torch.nn.parallel.DistributedDataParallel: gradients are averaged while the backward pass goes on. Its state has the
 * keys of the model behind `module.`.
 */
export class DistributedDataParallel<M extends Module = Module> extends Module {
  /** Takes the model, whose parameters and buffers become those of the first rank on all ranks. */
  constructor(
    /** The model itself. */
    readonly module: M,
    options: DataParallelOptions = {},
  ) {
    super();
    const { group } = joinedGroup(options.processGroup),
      { bucketCapMb = 25, findUnusedParameters = false } = options;
    if (!(bucketCapMb > 0)) throw new DynError(`Expected a positive bucketCapMb but found ${bucketCapMb}`);
    const parameters = module.namedParameters().filter(([, each]) => each.requiresGrad);
    if (parameters.length === 0) {
      throw new DynError("Expected a model with parameters that require grad but found none");
    }
    noGrad(() => spread([...module.parameters(), ...module.buffers()], group));
    const buckets = new GradientBuckets(parameters, {
      group,
      bytes: bucketCapMb * 2 ** 20,
      findUnused: findUnusedParameters,
    });
    const state: Synchronisation = {
      group,
      buckets,
      broadcastsBuffers: options.broadcastBuffers ?? true,
      findsUnused: findUnusedParameters,
      paused: false,
      averages: false,
      joins: false,
      last: 0,
    };
    states.set(this, state);
    for (const [, parameter] of parameters) {
      parameter.registerPostAccumulateGradHook(() => {
        buckets.use(parameter);
        if (state.averages) buckets.add(parameter);
      });
    }
  }

  /** Calls the model. */
  override forward(...args: Parameters<M["forward"]>): ReturnType<M["forward"]> {
    beginPass(this);
    const output = this.module.call(...args);
    endPass(this, output);
    return output;
  }

  /**
   * Runs steps whose gradients are added up on each rank alone; the next backward pass outside of it averages the sums.
   */
  noSync<R>(body: () => R): R {
    const state = stateOf(this), before = state.paused;
    state.paused = true;
    try {
      return body();
    } finally {
      state.paused = before;
    }
  }

  /**
   * Runs the steps of this rank, of which others may have fewer or more, as torch's `join`: a rank that is done takes part
   * in the steps of the others with gradients of zeros, of which means over all ranks are taken still. In the end all have
   * the parameters and buffers of the rank that was done last. All ranks call it.
   */
  join<R>(body: () => R): R {
    const state = stateOf(this);
    if (state.joins) throw new DynError("Expected one join at a time but found one in another");
    state.joins = true;
    state.last = 0;
    try {
      const result = body();
      if (isPromise(result)) {
        throw new DynError(
          "Expected steps that are done when they return but found a promise; await between calls of join",
        );
      }
      followOthers(this);
      return result;
    } finally {
      state.joins = false;
    }
  }
}

function isPromise(value: unknown): boolean {
  return typeof value === "object" && value !== null && "then" in value;
}
