/**
 * Data parallel models: modules whose gradients are averaged over the processes of a group. Invariants: all ranks start
 * from the parameters and buffers of the group's first rank; after a synchronising backward pass, the gradients are
 * equal to the bit on all ranks.
 */
import { checkPositive } from "../base/checked_numbers.ts";
import { reachableLeaves } from "../autograd/beyond.ts";
import { optionsOf, refuseSurplus } from "../base/checked_input.ts";
import { DynError } from "../base/errors.ts";
import { flatten } from "../base/tree.ts";
import { checkModule, Module } from "../nn/module.ts";
import { tensor } from "../tensor/creation.ts";
import { isGradEnabled, noGrad } from "../tensor/modes.ts";
import { isTensor, Tensor } from "../tensor/tensor.ts";
import type { Parameter } from "../nn/parameter.ts";
import { GradientBuckets } from "./buckets.ts";
import { allReduce, broadcast, joinedGroup } from "./collectives.ts";
import { averageOfBucket } from "./collective_ops.ts";
import * as functional from "./functional.ts";
import { getGlobalRank, type ProcessGroup } from "./group.ts";

/** Settings, as in PyTorch. */
export interface DataParallelOptions {
  /** The processes; default: all. */
  readonly processGroup?: ProcessGroup | null;
  /** Whether training steps begin with the buffers of the first rank; default true. */
  readonly broadcastBuffers?: boolean;
  /** Maximum size of one averaging call, in MiB; default 25. */
  readonly bucketCapMb?: number;
  /** Whether passes may leave parameters unused, different ones on each rank; default false. */
  readonly findUnusedParameters?: boolean;
}

/** Synchronisation state of a model. */
interface Synchronisation {
  readonly group: ProcessGroup;
  /** The group's first rank, among all processes. */
  readonly root: number;
  readonly buckets: GradientBuckets;
  /** Number of gradients of a pass. */
  readonly count: number;
  readonly broadcastsBuffers: boolean;
  readonly findsUnused: boolean;
  /** Whether `noSync` runs. */
  paused: boolean;
  /** Whether the gradients of the last forward pass are averaged. */
  averages: boolean;
  /** Whether `join` runs, in which ranks may have fewer steps than others. */
  joins: boolean;
  /** The last rank that had the last step within `join`. */
  last: number;
  /**
   * Number of gradients of the last pass that have arrived; 0 once all have. Unknown for models that search for unused
   * parameters.
   */
  arrived: number;
}

const states = new WeakMap<DistributedDataParallel, Synchronisation>();

function stateOf(model: DistributedDataParallel): Synchronisation {
  const state = states.get(model);
  if (state) return state;
  throw new DynError("Expected a model that was made by its constructor but found a copy of one");
}

/** Copies tensors from one rank, by default the first, to all ranks. */
function spread(tensors: readonly Tensor[], group: ProcessGroup, from = 0): void {
  for (const each of tensors) broadcast(each, getGlobalRank(group, from), { group });
}

/** Returns the last rank of a group that has another step; −1 if none has. */
function lastActive(group: ProcessGroup, isActive: boolean): number {
  const last = tensor([isActive ? group.rank : -1], { dtype: "int32", device: "cpu" });
  allReduce(last, { op: "max", group });
  return Number(last.item());
}

/** Throws if the last pass reached only some of the parameters. */
function checkLastPass({ arrived, count, findsUnused }: Synchronisation): void {
  if (arrived === 0 || findsUnused) return;
  throw new DynError(
    `Expected gradients of all ${count} parameters from the last backward pass but found those of ${arrived}; give ` +
      "findUnusedParameters: true where the forward pass does not use them",
  );
}

/** Records that a gradient of a pass has arrived. */
function noteArrival(state: Synchronisation): void {
  state.arrived = (state.arrived + 1) % state.count;
}

/** Runs before the forward pass of a training step. */
export function beginPass(model: DistributedDataParallel): void {
  const state = stateOf(model), isStep = model.training && isGradEnabled();
  state.averages = isStep && !state.paused;
  if (!state.averages) return;
  // Names the missing parameters, unless a graph has averaged the others
  state.buckets.begin();
  checkLastPass(state);
  if (state.joins) state.last = lastActive(state.group, true);
  const from = state.joins ? state.last : 0;
  if (state.broadcastsBuffers) noGrad(() => spread(model.module.buffers(), state.group, from));
}

/** Returns whether a pass needs values of other ranks that only the host can provide: graphs end there. */
const asksHost = ({ findsUnused, joins }: Synchronisation): boolean => findsUnused || joins;

/** Like `beginPass` in graphs, which broadcast by functions. */
export function beginPassInGraph(model: DistributedDataParallel): void {
  const state = stateOf(model), { group } = state;
  if (asksHost(state)) return beginPassOnHost(model);
  state.averages = model.training && isGradEnabled() && !state.paused;
  if (!state.averages) return;
  checkLastPass(state);
  if (!state.broadcastsBuffers) return;
  noGrad(() => {
    for (const each of model.module.buffers()) each.copy_(functional.broadcast(each, state.root, { group }));
  });
}

/** Like `beginPass` outside graphs, which end there. */
export function beginPassOnHost(model: DistributedDataParallel): void {
  beginPass(model);
}

/** Participates in the remaining steps of other ranks; afterwards all ranks have the state of the last one. */
function followOthers(model: DistributedDataParallel): void {
  const state = stateOf(model), { group, buckets, broadcastsBuffers } = state, { module } = model;
  for (let from = lastActive(group, false); from >= 0; from = lastActive(group, false)) {
    state.last = from;
    if (broadcastsBuffers) noGrad(() => spread(module.buffers(), group, from));
    buckets.follow();
  }
  noGrad(() => spread([...module.parameters(), ...module.buffers()], group, state.last));
}

/** Handles a gradient that was added to a parameter's; `bucket` lists the gradients that it is averaged with. */
export function takeGradient(
  model: DistributedDataParallel,
  parameter: Parameter,
  _bucket: number,
): void {
  const state = stateOf(model), { buckets, averages } = state;
  buckets.use(parameter);
  if (!averages) return;
  noteArrival(state);
  buckets.add(parameter);
}

/** Like `takeGradient` in graphs, which join the averages of a bucket. */
export function takeGradientInGraph(
  model: DistributedDataParallel,
  parameter: Parameter,
  bucket: number,
): void {
  const state = stateOf(model), { grad } = parameter;
  if (asksHost(state)) return takeGradientOnHost(model, parameter);
  if (!state.averages || !grad) return;
  grad.copy_(averageOfBucket(grad, state.group, bucket));
  noteArrival(state);
}

/** Like `takeGradient` outside graphs, which end there. */
export function takeGradientOnHost(model: DistributedDataParallel, parameter: Parameter): void {
  takeGradient(model, parameter, -1);
}

/** Runs after the forward pass. */
export function endPass(model: DistributedDataParallel, output: unknown): void {
  const { averages, findsUnused, buckets } = stateOf(model);
  if (!averages || !findsUnused) return;
  const outputs = flatten(output, isTensor).leaves.filter(isTensor), reached = reachableLeaves(outputs);
  buckets.skip(model.module.parameters().filter((each) => each.requiresGrad && !reached.has(each)));
}

/** Registers hooks for gradients on a model. */
function listen(
  model: DistributedDataParallel,
  parameters: readonly Parameter[],
  buckets: GradientBuckets,
): void {
  for (const parameter of parameters) {
    const bucket = buckets.indexOf(parameter);
    parameter.registerPostAccumulateGradHook(() => takeGradient(model, parameter, bucket));
  }
}

/** Like `endPass` in graphs. */
export function endPassInGraph(model: DistributedDataParallel, output: unknown): void {
  if (asksHost(stateOf(model))) endPassOnHost(model, output);
}

/** Like `endPass` outside graphs, which end there. */
export function endPassOnHost(model: DistributedDataParallel, output: unknown): void {
  endPass(model, output);
}

/**
 * A model that is trained by several processes, each on its own data, like torch.nn.parallel.DistributedDataParallel:
 * gradients are averaged while the backward pass continues. Its state has the keys of the model with the prefix
 * `module.`.
 */
export class DistributedDataParallel<M extends Module = Module> extends Module {
  /** Wraps the model; on all ranks its parameters and buffers become those of the first rank. */
  constructor(
    /** The model itself. */
    readonly module: M,
    options: DataParallelOptions = {},
  ) {
    super();
    checkModule(module, "DistributedDataParallel");
    const { processGroup, bucketCapMb = 25, findUnusedParameters = false } = optionsOf(
      "DistributedDataParallel",
      options,
      ["processGroup", "broadcastBuffers", "bucketCapMb", "findUnusedParameters"],
    );
    const { group } = joinedGroup(processGroup);
    checkPositive("bucketCapMb of DistributedDataParallel", bucketCapMb);
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
      count: parameters.length,
      broadcastsBuffers: options.broadcastBuffers ?? true,
      findsUnused: findUnusedParameters,
      paused: false,
      averages: false,
      joins: false,
      last: 0,
      arrived: 0,
      root: getGlobalRank(group, 0),
    };
    states.set(this, state);
    listen(this, parameters.map(([, each]) => each), buckets);
  }

  /** Calls the model. */
  override forward(...args: Parameters<M["forward"]>): ReturnType<M["forward"]> {
    beginPass(this);
    const output = this.module.call(...args);
    endPass(this, output);
    return output;
  }

  /**
   * Runs steps whose gradients each rank accumulates separately; the next backward pass outside of it averages the
   * sums.
   */
  noSync<R>(body: () => R): R {
    if (arguments.length > 1) refuseSurplus("noSync", 1, arguments);
    const state = stateOf(this), before = state.paused;
    state.paused = true;
    try {
      return body();
    } finally {
      state.paused = before;
    }
  }

  /**
   * Runs the steps of this rank if ranks have different numbers of steps, like torch's `join`: a rank that has finished
   * participates in the steps of the others with zero gradients, which count in the means over all ranks. In the end
   * all ranks have the parameters and buffers of the rank that finished last. All ranks must call it.
   */
  join<R>(body: () => R): R {
    if (arguments.length > 1) refuseSurplus("join", 1, arguments);
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
