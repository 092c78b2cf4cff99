/**
 * Messages between two ranks, with the names of torch.distributed. Invariant: a message is transferred once both
 * sides have called and agree on its shape and type; otherwise both throw.
 */
import { optionsOf, refuseSurplus } from "../base/checked_input.ts";
import { DynError } from "../base/errors.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { described, joinedGroup } from "./collectives.ts";
import { getGlobalRank, getGroupRank, type ProcessGroup } from "./group.ts";
import { placeOf, received, sent } from "./staging.ts";
import { started } from "./started.ts";
import type { Pending } from "./transport.ts";
import type { Work } from "./work.ts";

/** Options of messages. */
export interface MessageOptions {
  /** The processes that exchange it; default: all. */
  readonly group?: ProcessGroup | null;
  /** Distinguishes messages: both sides pass the same tag, in [0, 8191]; default 0. */
  readonly tag?: number;
}

/** The greatest tag: MPI guarantees 32767, of which each message uses two. */
const MOST_TAG = 8191;

/** One side of a message. */
interface Side {
  readonly kind: "send" | "recv";
  readonly tensor: Tensor;
  /** The other side, as a rank among all processes; null: any sender. */
  readonly other: number | null;
  readonly inBackground: boolean;
}

function start(
  { kind, tensor, other, inBackground }: Side,
  options: MessageOptions,
): { readonly pending: Pending; readonly work: Work; readonly group: ProcessGroup } {
  const { group: given, tag = 0 } = optionsOf(kind, options, ["group", "tag"]),
    { group, connection } = joinedGroup(given);
  if (!Number.isInteger(tag) || tag < 0 || tag > MOST_TAG) {
    throw new DynError(`Expected a tag in [0, ${MOST_TAG}] but found ${tag}`);
  }
  const peer = other === null ? -1 : getGroupRank(group, other);
  if (peer === connection.rank) {
    throw new DynError(`Expected another rank for ${kind} but found this one, ${other}`);
  }
  const receive = kind === "recv" ? received(tensor, false) : { tensor: sent(tensor), after: null };
  const place = placeOf(receive.tensor);
  const call = {
    kind,
    dtype: tensor.dtype,
    op: "sum",
    peer,
    tag,
    count: tensor.numel(),
    send: place,
    receive: place,
    signature: `a message of ${described(tensor)}`,
    inBackground,
    isAttended: inBackground,
  } as const;
  const { byteLength: bytes } = receive.tensor.layout;
  return { ...started(connection, { name: kind, bytes, call }, receive.after), group };
}

/** Sends a tensor to a rank among all processes and waits until it has arrived, like torch.distributed.send. */
export function send(tensor: Tensor, dst: number, options: MessageOptions = {}): void {
  if (arguments.length > 3) refuseSurplus("send", 3, arguments);
  start({ kind: "send", tensor, other: dst, inBackground: false }, options).work.wait();
}

/**
 * Receives a tensor in place, from a rank among all processes or, for null, from any sender; returns the sender, like
 * torch.distributed.recv.
 */
export function recv(tensor: Tensor, src: number | null = null, options: MessageOptions = {}): number {
  if (arguments.length > 3) refuseSurplus("recv", 3, arguments);
  const { pending, work, group } = start({ kind: "recv", tensor, other: src, inBackground: false }, options);
  work.wait();
  return src ?? getGlobalRank(group, pending.wait());
}

/** Sends asynchronously, like torch.distributed.isend. */
export function isend(tensor: Tensor, dst: number, options: MessageOptions = {}): Work {
  if (arguments.length > 3) refuseSurplus("isend", 3, arguments);
  return start({ kind: "send", tensor, other: dst, inBackground: true }, options).work;
}

/** Receives asynchronously, like torch.distributed.irecv. */
export function irecv(tensor: Tensor, src: number | null = null, options: MessageOptions = {}): Work {
  if (arguments.length > 3) refuseSurplus("irecv", 3, arguments);
  return start({ kind: "recv", tensor, other: src, inBackground: true }, options).work;
}
