/**
 * Collectives as functions: the namespace `distributed.functional`, like torch.distributed.nn.functional. Inputs are
 * unchanged; results are fresh tensors. Invariant: all ranks make the same calls in the same order.
 */
import { optionsOf, refuseSurplus } from "../base/checked_input.ts";
import { checkTensor } from "../tensor/checked.ts";
import { cat } from "../tensor/generated_functions.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { allGatherOp, allReduceOp, allToAllOp, broadcastOp, reduceScatterOp } from "./collective_ops.ts";
import type { ProcessGroup } from "./group.ts";
import type { ReduceOpName } from "./transport.ts";

/** The processes that take part. */
export interface FunctionalOptions {
  /** Default: all of them. */
  readonly group?: ProcessGroup | null;
}

/** Options of functions that reduce. */
export interface FunctionalReduceOptions extends FunctionalOptions {
  /** Reduction over all ranks; default "sum". Gradients flow through "sum" and "avg". */
  readonly op?: ReduceOpName;
}

/** Options of functions that join or divide. */
export interface DimensionOptions {
  /** The dimension along which the parts of ranks are concatenated; default 0. */
  readonly dim?: number;
}

/** Returns the name of a call's group in ops. */
const nameOf = (group: ProcessGroup | null | undefined): number => group?.name ?? 0;

/**
 * Reduces a tensor over all ranks and returns the result on all of them, like
 * torch.distributed.nn.functional.all_reduce.
 */
export function allReduce(x: Tensor, options: FunctionalReduceOptions = {}): Tensor {
  if (arguments.length > 2) refuseSurplus("allReduce", 2, arguments);
  const { op = "sum", group } = optionsOf("allReduce", options, ["op", "group"]);
  return allReduceOp(x, op, nameOf(group));
}

/**
 * Concatenates the tensors of all ranks, of one shape, along `dim`, on all of them; like
 * torch.distributed._functional_collectives.all_gather_tensor.
 */
export function allGather(x: Tensor, options: FunctionalOptions & DimensionOptions = {}): Tensor {
  if (arguments.length > 2) refuseSurplus("allGather", 2, arguments);
  const { dim = 0, group } = optionsOf("allGather", options, ["dim", "group"]);
  const all = allGatherOp(x, "sum", nameOf(group));
  return dim === 0 ? all : cat(all.split(x.size(0)), dim);
}

/**
 * Reduces a tensor over all ranks and divides it along `dim`: rank r receives part r. Like
 * torch.distributed._functional_collectives.reduce_scatter_tensor. Throws DynError for a size that is not divisible.
 */
export function reduceScatter(
  x: Tensor,
  options: FunctionalReduceOptions & DimensionOptions = {},
): Tensor {
  if (arguments.length > 2) refuseSurplus("reduceScatter", 2, arguments);
  checkTensor(x, "reduceScatter");
  const { op = "sum", dim = 0, group } = optionsOf("reduceScatter", options, ["op", "dim", "group"]);
  return dim === 0
    ? reduceScatterOp(x, op, nameOf(group))
    : reduceScatterOp(x.transpose(0, dim).contiguous(), op, nameOf(group)).transpose(0, dim);
}

/** Returns the tensor of rank `src` of all processes, on all ranks, like torch.distributed.nn.functional.broadcast. */
export function broadcast(x: Tensor, src: number, options: FunctionalOptions = {}): Tensor {
  if (arguments.length > 3) refuseSurplus("broadcast", 3, arguments);
  return broadcastOp(x, src, nameOf(optionsOf("broadcast", options, ["group"]).group));
}

/**
 * Sends part r of the first dimension to rank r, which stores it at the position of its sender; like
 * torch.distributed._functional_collectives.all_to_all_single. Throws DynError for a size that is not divisible.
 */
export function allToAll(x: Tensor, options: FunctionalOptions = {}): Tensor {
  if (arguments.length > 2) refuseSurplus("allToAll", 2, arguments);
  return allToAllOp(x, nameOf(optionsOf("allToAll", options, ["group"]).group));
}
