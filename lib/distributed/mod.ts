/** Training over several processes: the namespace `distributed`, like torch.distributed. */
export {
  destroyProcessGroup,
  getGlobalRank,
  getGroupRank,
  getRank,
  getWorldSize,
  type InitOptions,
  initProcessGroup,
  isAvailable,
  isInitialized,
  newGroup,
  type ProcessGroup,
} from "./group.ts";
export {
  allGather,
  allGatherIntoTensor,
  allReduce,
  allToAll,
  allToAllSingle,
  barrier,
  broadcast,
  type CollectiveOptions,
  gather,
  type GatherOptions,
  reduce,
  ReduceOp,
  type ReduceOptions,
  reduceScatter,
  reduceScatterTensor,
  scatter,
  type ScatterOptions,
} from "./collectives.ts";
/** Collectives as differentiable functions, which compiled graphs can contain. */
export * as functional from "./functional.ts";
export { type DataParallelOptions, DistributedDataParallel } from "./data_parallel.ts";
export { fullStateDict, fullyShard, type FullyShardOptions } from "./fully_shard.ts";
export { irecv, isend, type MessageOptions, recv, send } from "./messages.ts";
export type { AttentionStyle } from "./attention_parts.ts";
export {
  parallelizeModule,
  type ParallelOptions,
  type ParallelPlan,
  type ParallelStyle,
} from "./tensor_parallel.ts";
/** Models in stages, each in its own process. */
export * as pipelining from "./pipelining/mod.ts";
export { DistributedError } from "./errors.ts";
export type { ReduceOpName } from "./transport.ts";
export type { Work } from "./work.ts";
