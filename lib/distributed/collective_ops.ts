/**
 * Collectives as ops, which graphs contain and differentiate: those used by `distributed.functional`, and those that
 * divide layers and parameters. Invariants: all ranks make the same calls in the same order, including those of
 * backward passes; a compiled graph waits for one only when its result is read.
 */
import { refuseChoice } from "../base/checked_input.ts";
import { customOp } from "../autograd/custom_op.ts";
import { type Constant, isConstant, type SharedOp, type SharedRun } from "../autograd/shared_ops.ts";
import { transposing } from "../autograd/transposing.ts";
import { addPending, isGathering } from "../base/pending_collectives.ts";
import { DynError } from "../base/errors.ts";
import { ops } from "../tensor/eager.ts";
import { isTensor, type Tensor } from "../tensor/tensor.ts";
import * as collectives from "./collectives.ts";
import { getGroupRank, groupNamed, type ProcessGroup } from "./group.ts";
import { REDUCE_OPS, type ReduceOpName } from "./transport.ts";
import type { Work } from "./work.ts";

/** Arguments of all calls. */
const called = (group: number) =>
  ({ group: groupNamed(group), asyncOp: true, waits: isGathering() ? "soon" : "at once" }) as const;

/** Returns the tensor to send in a call that may be asynchronous: the program may write to its tensor meanwhile. */
const kept = (x: Tensor): Tensor => isGathering() ? ops.clone(x).contiguous() : x.contiguous();

/** A result, and the work that computes it. */
function begun(result: Tensor, work: Work): Tensor {
  addPending(() => work.wait());
  return result;
}

/** Creates results with other sizes along the first dimension. */
function rowsOf(x: Tensor, rows: number): Tensor {
  return x.newEmpty([rows, ...x.shape.slice(1)]);
}

function checkedRows(x: Tensor, size: number): number {
  const rows = x.shape[0] ?? 1;
  if (x.ndim > 0 && rows % size === 0) return rows;
  throw new DynError(`Expected a multiple of ${size} along dimension 0 but found [${x.shape.join(", ")}]`);
}

function differentiable(op: unknown): "sum" | "avg" {
  if (op === "sum" || op === "avg") return op;
  throw new DynError(`Expected a gradient through "sum" or "avg" but found "${op}", which has none`);
}

const OPTIONS = { isDeferrable: true };

/** A copy to write results to. */
const copied = (x: Tensor): Tensor => ops.clone(x).contiguous();

/** Reduces over all ranks, in place. */
function reduced(x: Tensor, op: ReduceOpName, group: number): Tensor {
  return begun(x, collectives.allReduce(x, { ...called(group), op }));
}

/** Broadcasts the elements of one rank, in place. */
function spread(x: Tensor, src: number, group: number): Tensor {
  return begun(x, collectives.broadcast(x, src, called(group)));
}

/** Returns the variant of an op that graphs call when nothing else reads its tensor. */
function inPlace(body: (x: Tensor, rest: readonly Constant[]) => Tensor): SharedRun {
  return (x, ...rest) => {
    if (!isTensor(x)) throw new DynError(`Expected a tensor but found ${typeof x}`);
    return [body(x, rest.filter(isConstant))];
  };
}

function reduction(name: unknown): ReduceOpName {
  return REDUCE_OPS.find((each) => each === name) ?? refuseChoice("the reduction", REDUCE_OPS, name);
}

/**
 * Maximum size of joined calls, in bytes: below it most of a call's time is overhead, and waiting for the last of
 * several tensors costs less than another call.
 */
const SMALL = 2 ** 20;

export const allReduceOp = customOp(
  "distributed::all_reduce",
  (x: Tensor, op: ReduceOpName, group: number): Tensor => reduced(copied(x), op, group),
  OPTIONS,
);
allReduceOp.registerFake((x: Tensor) => x.newEmpty(x.shape));

/** A mean over ranks. The bucket tells graphs which calls to join. */
const averageOp = customOp(
  "distributed::average",
  (x: Tensor, _bucket: number, group: number): Tensor => reduced(copied(x), "avg", group),
  OPTIONS,
);
averageOp.registerFake((x: Tensor) => x.newEmpty(x.shape));

/** The second argument says how gradients are combined over ranks. */
export const allGatherOp = customOp(
  "distributed::all_gather",
  (x: Tensor, _op: ReduceOpName, group: number): Tensor => {
    const options = called(group), result = rowsOf(x, options.group.size * (x.shape[0] ?? 1));
    return begun(result, collectives.allGatherIntoTensor(result, kept(x), options));
  },
  OPTIONS,
);
allGatherOp.registerFake((x: Tensor, _op: ReduceOpName, group: number) =>
  rowsOf(x, groupNamed(group).size * (x.shape[0] ?? 1))
);

export const reduceScatterOp = customOp(
  "distributed::reduce_scatter",
  (x: Tensor, op: ReduceOpName, group: number): Tensor => {
    const options = called(group), { size } = options.group, result = rowsOf(x, checkedRows(x, size) / size);
    return begun(result, collectives.reduceScatterTensor(result, kept(x), { ...options, op }));
  },
  OPTIONS,
);
reduceScatterOp.registerFake((x: Tensor, _op: ReduceOpName, group: number) => {
  const { size } = groupNamed(group);
  return rowsOf(x, checkedRows(x, size) / size);
});

export const broadcastOp = customOp(
  "distributed::broadcast",
  (x: Tensor, src: number, group: number): Tensor => spread(copied(x), src, group),
  OPTIONS,
);
broadcastOp.registerFake((x: Tensor) => x.newEmpty(x.shape));

/** The sum on one rank, zeros on the others: the transpose of broadcasting. */
const reduceOp = customOp("distributed::reduce", (x: Tensor, dst: number, group: number): Tensor => {
  const options = called(group), sent = ops.clone(x).contiguous();
  const isRoot = getGroupRank(options.group, dst) === options.group.rank;
  const work = collectives.reduce(sent, dst, options);
  if (isRoot) return begun(sent, work);
  return begun(ops.zerosLike(sent), work);
}, OPTIONS);
reduceOp.registerFake((x: Tensor) => x.newEmpty(x.shape));

export const allToAllOp = customOp("distributed::all_to_all", (x: Tensor, group: number): Tensor => {
  const options = called(group), result = rowsOf(x, checkedRows(x, options.group.size));
  return begun(result, collectives.allToAllSingle(result, kept(x), options));
}, OPTIONS);
allToAllOp.registerFake((x: Tensor, group: number) => rowsOf(x, checkedRows(x, groupNamed(group).size)));

/**
 * A tensor that is equal on all ranks, each of which computes another part from it: gradients of the parts are summed.
 */
const enterOp = customOp(
  "distributed::enter_parts",
  (x: Tensor, _group: number): Tensor => ops.clone(x),
  OPTIONS,
);
enterOp.registerFake((x: Tensor) => x.newEmpty(x.shape));

/** The sum of the ranks' results, whose gradient is equal on all ranks. */
const leaveOp = customOp(
  "distributed::leave_parts",
  (x: Tensor, group: number): Tensor => reduced(copied(x), "sum", group),
  OPTIONS,
);
leaveOp.registerFake((x: Tensor) => x.newEmpty(x.shape));

const allReduces: SharedOp = transposing(allReduceOp, {
  mostJoined: () => SMALL,
  runInPlace: inPlace((x, [op, group]) => reduced(x, reduction(op), Number(group))),
  transposed: ([op, ...group]) => ({ op: allReduces, rest: [differentiable(op), ...group] }),
});

const averages: SharedOp = transposing(averageOp, {
  mostJoined: () => Infinity,
  runInPlace: inPlace((x, [, group]) => reduced(x, "avg", Number(group))),
  transposed: (rest) => ({ op: averages, rest }),
});

const allGathers: SharedOp = transposing(allGatherOp, {
  transposed: ([op, ...group]) => ({ op: reduceScatters, rest: [differentiable(op), ...group] }),
});

const reduceScatters: SharedOp = transposing(reduceScatterOp, {
  transposed: ([op, group = 0]) => ({
    op: allGathers,
    rest: ["sum", group],
    ...differentiable(op) === "avg" ? { divisor: groupNamed(Number(group)).size } : {},
  }),
});

const broadcasts: SharedOp = transposing(broadcastOp, {
  mostJoined: () => SMALL,
  runInPlace: inPlace((x, [src, group]) => spread(x, Number(src), Number(group))),
  transposed: (rest) => ({ op: reductions, rest }),
});
const reductions: SharedOp = transposing(reduceOp, {
  mostJoined: () => SMALL,
  transposed: (rest) => ({ op: broadcasts, rest }),
});

const exchanges: SharedOp = transposing(allToAllOp, { transposed: (rest) => ({ op: exchanges, rest }) });

const enters: SharedOp = transposing(enterOp, { isCopy: true, transposed: (rest) => ({ op: leaves, rest }) });
const leaves: SharedOp = transposing(leaveOp, {
  mostJoined: () => SMALL,
  runInPlace: inPlace((x, [group]) => reduced(x, "sum", Number(group))),
  transposed: (rest) => ({ op: enters, rest }),
});

/** Marks a tensor that is equal on all ranks as the input of divided computations. */
export function enterParts(x: Tensor, group: ProcessGroup): Tensor {
  return enterOp(x, group.name);
}

/** Returns the sum of parts, which is equal on all ranks. */
export function leaveParts(x: Tensor, group: ProcessGroup): Tensor {
  return leaveOp(x, group.name);
}

/**
 * Returns the concatenated vectors of all ranks, whose gradients are averaged: each rank has its own loss on its own
 * data.
 */
export function gatherShards(x: Tensor, group: ProcessGroup): Tensor {
  return allGatherOp(x, "avg", group.name);
}

/** Returns the mean of a tensor over ranks. Graphs join the calls of a bucket, whatever their size. */
export function averageOfBucket(x: Tensor, group: ProcessGroup, bucket: number): Tensor {
  return averageOp(x, bucket, group.name);
}
