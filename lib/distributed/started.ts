/**
 * Profile events of a group's calls. Invariant: an event lasts from the beginning of its call until the group has
 * completed it, whenever it is awaited.
 */
import { observed } from "../base/observation.ts";
import type { Connection, GroupCall, Pending } from "./transport.ts";
import { Work } from "./work.ts";

/** A call, its name, and the bytes of the tensors that this rank sends or receives, whichever is more. */
interface NamedCall {
  readonly name: string;
  readonly bytes: number;
  readonly call: Omit<GroupCall, "ended">;
}

/** Wraps a call in progress in its handle; `after`: work to do when it is complete. */
export function started(
  connection: Connection,
  { name, bytes, call }: NamedCall,
  after: (() => void) | null,
): { readonly pending: Pending; readonly work: Work } {
  const ended = observed.by?.began(name, bytes) ?? null;
  const pending = connection.start({ ...call, ended });
  return { pending, work: new Work(name, pending, after) };
}
