/**
 * Bound functions that are passed in, by their parts, which never change. Invariant: two functions whose parts are
 * alike have the same version, as closures have.
 */
import { refuseToCache } from "../disk_cache/noted_reads.ts";
import type { Fact } from "../guards/guard.ts";
import { capturedSource, type PrivateReader, privateSource, type Source } from "../source.ts";
import type { ObjectValue, Value } from "./value.ts";

/** Target, receiver and arguments of a bound function; their places count from 0 in this order. */
export interface BoundParts {
  readonly target: object;
  readonly self: unknown;
  readonly args: readonly unknown[];
  /** Reads the number of arguments of a bound function; of another object: undefined. */
  readonly count: PrivateReader;
}

type Exotic = Extract<ObjectValue["exotic"], { readonly kind: "bound" }>;

/** The function at a place, over the values of its parts; a guard before theirs holds if it has as many. */
export function boundFunction(
  source: Source,
  { target, self, args, count }: BoundParts,
  { guard, wrap }: {
    readonly guard: (fact: Fact) => void;
    readonly wrap: (part: unknown, place: Source) => Value;
  },
): Exotic {
  refuseToCache("a bound function that is passed in");
  guard({ kind: "constant", source: privateSource(source, "<bound>", count), value: args.length });
  const part = (value: unknown, label: string, index: number) =>
    wrap(value, capturedSource(source, label, index));
  return {
    kind: "bound",
    target: part(target, "target", 0),
    self: part(self, "this", 1),
    args: args.map((value, i) => part(value, `argument ${i}`, i + 2)),
  };
}
