/**
 * Collectives with the names of torch.distributed. They return handles, whose work is complete unless `asyncOp` is
 * set. Invariants: results are written in place, without a history, and without copies if a tensor is dense and in
 * host memory, and count as in-place writes; if ranks differ in the call, its shapes or types, all of them throw and
 * nothing is written.
 */
import { type DType, isComplex, isFloat } from "../base/dtype.ts";
import { checkKind, optionsOf, refuseSurplus } from "../base/checked_input.ts";
import { DynError } from "../base/errors.ts";
import { checkTensor } from "../tensor/checked.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { getGroupRank, type ProcessGroup, worldGroup } from "./group.ts";
import { checkList, joined as joinedList, parts, placeOf, type Received, received, sent } from "./staging.ts";
import { started } from "./started.ts";
import { type CallKind, type Connection, emptyCall, type ReduceOpName } from "./transport.ts";
import type { Work } from "./work.ts";

/** Reductions by PyTorch's names. */
export const ReduceOp = {
  SUM: "sum",
  PRODUCT: "product",
  MIN: "min",
  MAX: "max",
  BAND: "band",
  BOR: "bor",
  BXOR: "bxor",
  AVG: "avg",
} as const satisfies Record<string, ReduceOpName>;

/** Options of all collectives. */
export interface CollectiveOptions {
  /** The processes that take part; default: all. */
  readonly group?: ProcessGroup | null;
  /** Whether the call returns before it is complete; default false. The tensors must not be accessed until then. */
  readonly asyncOp?: boolean;
  /**
   * When the program waits: immediately, so that nothing else has to wait for the call; after other parts of a graph;
   * or at an unknown time.
   *
   * @internal
   */
  readonly waits?: "at once" | "soon" | "late";
}

/** Options of collectives that reduce. */
export interface ReduceOptions extends CollectiveOptions {
  /** Reduction over all ranks; default "sum". */
  readonly op?: ReduceOpName;
}

/** Options of `scatter`. */
export interface ScatterOptions extends CollectiveOptions {
  /** The rank, among all processes, that has the list; default 0. */
  readonly src?: number;
}

/** Options of `gather`. */
export interface GatherOptions extends CollectiveOptions {
  /** The rank, among all processes, that receives the list; default 0. */
  readonly dst?: number;
}

/** A group that this process is in. */
export interface Joined {
  readonly group: ProcessGroup;
  readonly connection: Connection;
}

/** Returns the group of a call. Throws DynError if this process is not in it. */
export function joinedGroup(given: ProcessGroup | null | undefined): Joined {
  const group = given ?? worldGroup(), { connection } = group;
  if (connection) return { group, connection };
  throw new DynError(
    `Expected a group that this process is in but found the one of ranks ${group.ranks.join(", ")}`,
  );
}

/** Formats the type and shape of a tensor for errors. */
export function described({ dtype, shape }: Tensor): string {
  return `${dtype} [${shape.join(", ")}]`;
}

function checkOp(op: ReduceOpName, dtype: DType): void {
  const isBitwise = op === "band" || op === "bor" || op === "bxor";
  const floats = isFloat(dtype), complex = isComplex(dtype);
  const fits = isBitwise
    ? !floats && !complex
    : op === "avg"
    ? floats || complex
    : !complex || op === "sum" || op === "product";
  if (!fits) throw new DynError(`Expected a type that ${op} is defined for but found ${dtype}`);
}

/** Below this many bytes, starting a thread takes longer than waiting for the call. */
const SMALL = 4096;

/** One collective. */
interface Collective {
  readonly kind: CallKind;
  readonly name: string;
  readonly options: CollectiveOptions;
  readonly joined: Joined;
  readonly op?: ReduceOpName;
  /** The rank in the group whose part differs from all others. */
  readonly root?: number;
  /** The contribution or result of each rank, of the same size on all of them. */
  readonly part: Tensor;
  readonly count?: number;
  readonly send?: Tensor | null;
  readonly receive?: Received | null;
}

function run(call: Collective): Work {
  const { kind, name, options, joined: { connection }, op = "sum", root, part, receive } = call;
  // MPI reads from and writes to its own memory
  const overlaps = call.send && receive && call.send.storage === receive.tensor.storage;
  const send = overlaps ? call.send.detach().clone() : call.send;
  const { asyncOp = false, waits = asyncOp ? "late" : "at once" } = options;
  const words = [
    ...call.op ? [`"${call.op}"`] : [],
    ...root === undefined ? [] : [`root ${root} of the group`],
  ];
  const bytes = Math.max(...[send, receive?.tensor].map((each) => each?.layout.byteLength ?? 0));
  const { work } = started(connection, {
    name,
    bytes,
    call: {
      kind,
      dtype: part.dtype,
      op,
      peer: root ?? 0,
      tag: 0,
      count: call.count ?? part.numel(),
      send: send ? placeOf(send) : null,
      receive: receive ? placeOf(receive.tensor) : null,
      signature: `${name}(${words.join(", ")}) of ${described(part)}`,
      inBackground: waits !== "at once",
      isAttended: waits === "late" || waits === "soon" && bytes > SMALL,
    },
  }, receive?.after ?? null);
  if (!asyncOp) work.wait();
  return work;
}

type AnyOptions = ReduceOptions & ScatterOptions & GatherOptions;

/** Returns the group of a call. Throws DynError unless its options are an object of common and its `own` names. */
const groupOf = (name: string, options: AnyOptions, ...own: readonly (keyof AnyOptions)[]): Joined =>
  joinedGroup(optionsOf(name, options, [...own, "group", "asyncOp", "waits"]).group);

/** Reduces a tensor over all ranks, in place: all receive the same bits, like torch.distributed.all_reduce. */
export function allReduce(tensor: Tensor, options: ReduceOptions = {}): Work {
  if (arguments.length > 2) refuseSurplus("allReduce", 2, arguments);
  const joined = groupOf("allReduce", options, "op"), { op = "sum" } = options;
  checkTensor(tensor, "allReduce");
  checkOp(op, tensor.dtype);
  const receive = received(tensor, true);
  return run({ kind: "allReduce", name: "allReduce", options, joined, op, part: tensor, receive });
}

/** Copies the tensor of rank `src` of all processes to the others, in place, like torch.distributed.broadcast. */
export function broadcast(tensor: Tensor, src: number, options: CollectiveOptions = {}): Work {
  if (arguments.length > 3) refuseSurplus("broadcast", 3, arguments);
  const joined = groupOf("broadcast", options), root = getGroupRank(joined.group, src);
  const isRoot = root === joined.connection.rank;
  const receive = isRoot ? { tensor: sent(tensor), after: null } : received(tensor, false);
  return run({ kind: "broadcast", name: "broadcast", options, joined, root, part: tensor, receive });
}

/** Reduces over all ranks into the tensor of rank `dst`; other tensors are unchanged, like torch.distributed.reduce. */
export function reduce(tensor: Tensor, dst: number, options: ReduceOptions = {}): Work {
  if (arguments.length > 3) refuseSurplus("reduce", 3, arguments);
  const joined = groupOf("reduce", options, "op"),
    { op = "sum" } = options,
    root = getGroupRank(joined.group, dst);
  checkOp(op, tensor.dtype);
  const isRoot = root === joined.connection.rank;
  const receive = isRoot ? received(tensor, true) : { tensor: sent(tensor), after: null };
  return run({ kind: "reduce", name: "reduce", options, joined, op, root, part: tensor, receive });
}

/**
 * Copies the tensors of all ranks into lists on all of them, in the order of ranks, like torch.distributed.all_gather.
 */
export function allGather(
  tensorList: readonly Tensor[],
  tensor: Tensor,
  options: CollectiveOptions = {},
): Work {
  if (arguments.length > 3) refuseSurplus("allGather", 3, arguments);
  const joined = groupOf("allGather", options);
  checkList(tensorList, joined.group.size, tensor);
  const receive = parts(tensorList, tensor);
  return run({
    kind: "allGather",
    name: "allGather",
    options,
    joined,
    part: tensor,
    send: sent(tensor),
    receive,
  });
}

/** Throws DynError unless a tensor holds one part for each rank. */
function checkWhole(whole: Tensor, part: Tensor, size: number): void {
  for (const each of [whole, part]) checkTensor(each, "a message between processes");
  if (whole.dtype === part.dtype && whole.numel() === size * part.numel()) return;
  throw new DynError(
    `Expected ${size} times the elements of ${described(part)}, one part for each rank, but found ${
      described(whole)
    }`,
  );
}

/**
 * Concatenates the inputs of all ranks in the output, which has as many times the elements, like
 * torch.distributed.all_gather_into_tensor.
 */
export function allGatherIntoTensor(output: Tensor, input: Tensor, options: CollectiveOptions = {}): Work {
  if (arguments.length > 3) refuseSurplus("allGatherIntoTensor", 3, arguments);
  const joined = groupOf("allGatherIntoTensor", options);
  checkWhole(output, input, joined.group.size);
  const receive = received(output, false);
  return run({
    kind: "allGather",
    name: "allGatherIntoTensor",
    options,
    joined,
    part: input,
    send: sent(input),
    receive,
  });
}

/** Reduces lists over all ranks; rank r receives entry r, like torch.distributed.reduce_scatter. */
export function reduceScatter(
  output: Tensor,
  inputList: readonly Tensor[],
  options: ReduceOptions = {},
): Work {
  if (arguments.length > 3) refuseSurplus("reduceScatter", 3, arguments);
  return reduceParts("reduceScatter", { output, options }, (size) => {
    checkList(inputList, size, output);
    return joinedList(inputList);
  });
}

/** Reduces inputs over all ranks; rank r receives part r, like torch.distributed.reduce_scatter_tensor. */
export function reduceScatterTensor(output: Tensor, input: Tensor, options: ReduceOptions = {}): Work {
  if (arguments.length > 3) refuseSurplus("reduceScatterTensor", 3, arguments);
  return reduceParts("reduceScatterTensor", { output, options }, (size) => {
    checkWhole(input, output, size);
    return sent(input);
  });
}

/** Reduces the results of `parts`, one part for each rank, and keeps this rank's part. */
function reduceParts(
  name: string,
  { output, options }: { readonly output: Tensor; readonly options: ReduceOptions },
  parts: (size: number) => Tensor,
): Work {
  const joined = groupOf(name, options, "op"), { op = "sum" } = options;
  checkTensor(output, name);
  checkOp(op, output.dtype);
  const send = parts(joined.group.size), receive = received(output, false);
  return run({ kind: "reduceScatter", name, options, joined, op, part: output, send, receive });
}

/**
 * Sends entry r of the input to rank r, which stores it at the index of the sender, like torch.distributed.all_to_all.
 * All tensors have one shape.
 */
export function allToAll(
  outputList: readonly Tensor[],
  inputList: readonly Tensor[],
  options: CollectiveOptions = {},
): Work {
  if (arguments.length > 3) refuseSurplus("allToAll", 3, arguments);
  const joined = groupOf("allToAll", options);
  checkKind(inputList, "a list", "inputs of allToAll");
  const [part] = inputList;
  if (!part) throw new DynError("Expected one tensor for each rank but found none");
  for (const list of [inputList, outputList]) checkList(list, joined.group.size, part);
  const send = joinedList(inputList), receive = parts(outputList, part);
  return run({ kind: "allToAll", name: "allToAll", options, joined, part, send, receive });
}

/**
 * Like `allToAll`, with the parts for all ranks concatenated in one tensor; like torch.distributed.all_to_all_single.
 */
export function allToAllSingle(output: Tensor, input: Tensor, options: CollectiveOptions = {}): Work {
  if (arguments.length > 3) refuseSurplus("allToAllSingle", 3, arguments);
  const joined = groupOf("allToAllSingle", options), { size } = joined.group;
  if (described(output) !== described(input) || (input.shape[0] ?? 1) % size !== 0) {
    throw new DynError(
      `Expected two tensors of one shape, whose first size is a multiple of ${size}, but found ${
        described(input)
      } and ${described(output)}`,
    );
  }
  const send = sent(input), receive = received(output, false), count = input.numel() / size;
  return run({
    kind: "allToAll",
    name: "allToAllSingle",
    options,
    joined,
    part: input,
    count,
    send,
    receive,
  });
}

/** Throws DynError unless the root, and no other rank, has a list. */
function checkRootList(list: readonly Tensor[] | null, isRoot: boolean): void {
  if (isRoot === (list !== null)) return;
  throw new DynError(
    `Expected ${isRoot ? "a list on the root" : "null on ranks other than the root"} but found ${
      list === null ? "null" : "a list"
    }`,
  );
}

/** Sends entry r of the list of rank `src` to rank r; the others pass null, like torch.distributed.scatter. */
export function scatter(
  tensor: Tensor,
  scatterList: readonly Tensor[] | null = null,
  options: ScatterOptions = {},
): Work {
  if (arguments.length > 3) refuseSurplus("scatter", 3, arguments);
  const joined = groupOf("scatter", options, "src"), root = getGroupRank(joined.group, options.src ?? 0);
  checkRootList(scatterList, root === joined.connection.rank);
  if (scatterList) checkList(scatterList, joined.group.size, tensor);
  const send = scatterList ? joinedList(scatterList) : null, receive = received(tensor, false);
  return run({ kind: "scatter", name: "scatter", options, joined, root, part: tensor, send, receive });
}

/** Copies the tensors of all ranks into the list of rank `dst`; the others pass null, like torch.distributed.gather. */
export function gather(
  tensor: Tensor,
  gatherList: readonly Tensor[] | null = null,
  options: GatherOptions = {},
): Work {
  if (arguments.length > 3) refuseSurplus("gather", 3, arguments);
  const joined = groupOf("gather", options, "dst"), root = getGroupRank(joined.group, options.dst ?? 0);
  checkRootList(gatherList, root === joined.connection.rank);
  if (gatherList) checkList(gatherList, joined.group.size, tensor);
  const receive = gatherList ? parts(gatherList, tensor) : null;
  return run({
    kind: "gather",
    name: "gather",
    options,
    joined,
    root,
    part: tensor,
    send: sent(tensor),
    receive,
  });
}

/** Waits until all ranks have called it, like torch.distributed.barrier. */
export function barrier(options: CollectiveOptions = {}): Work {
  if (arguments.length > 1) refuseSurplus("barrier", 1, arguments);
  const joined = groupOf("barrier", options), inBackground = options.asyncOp === true;
  const call = emptyCall("barrier", { signature: "barrier()", inBackground });
  const { work } = started(joined.connection, { name: "barrier", bytes: 0, call }, null);
  if (!inBackground) work.wait();
  return work;
}
