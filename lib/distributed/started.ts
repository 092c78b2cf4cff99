/**
 * Profile events of a group's calls. Invariant: an event lasts from the beginning of its call until the group has
 * completed it, whenever it is awaited.
 */
import { observed } from "../base/observation.ts";
import type { Connection, GroupCall, Pending } from "./transport.ts";
import { Work } from "./work.ts";

/** A call, its name, and how many bytes of tensors this rank gives or gets, whichever is more. */
export interface NamedCall {
  readonly name: string;
  readonly bytes: number;
  readonly call: Omit<GroupCall, "ended">;
}

/** A call in progress, and its handle; `after`: what is left to do when it is over. */
export function started(
  connection: Connection,
  { name, bytes, call }: NamedCall,
  after: (() => void) | null,
): { readonly pending: Pending; readonly work: Work } {
  const ended = observed.by?.began(name, bytes) ?? null;
  const pending = connection.start({ ...call, ended });
  return { pending, work: new Work(name, pending, after) };
}
