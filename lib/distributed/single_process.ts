/**
 * A group of one process, which needs no library. Invariant: reductions over one rank change nothing, and exchanged
 * elements return to the sender.
 */
import { itemSize } from "../base/dtype.ts";
import { findDevice } from "../loops/device.ts";
import { DistributedError } from "./errors.ts";
import type { Connection, GroupCall, Pending } from "./transport.ts";

const OVER: Pending = { poll: () => true, wait: () => -1, finished: () => Promise.resolve(-1) };

/** The connection of a process without peers. */
export const SINGLE_PROCESS: Connection = {
  rank: 0,
  size: 1,
  start({ kind, send, receive, count, dtype, ended }: GroupCall): Pending {
    if (kind === "send" || kind === "recv") {
      throw new DistributedError(`Expected another rank for ${kind} but found a group of one`);
    }
    const cpu = findDevice("cpu");
    if (cpu && send && receive) {
      const bytes = cpu.readSync(send.memory, send.byteOffset, count * itemSize(dtype));
      cpu.write(receive.memory, receive.byteOffset, bytes);
    }
    ended?.(0);
    return OVER;
  },
  split: () => SINGLE_PROCESS,
  leave() {},
};
