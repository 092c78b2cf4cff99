/**
 * Entries out of kept captures. Input: a unit and a call; output: the entry that a former process has traced for such a
 * call in the same world. Invariant: its guards hold for this call.
 */
import { invariant } from "../../base/errors.ts";
import { checked, wayOut } from "../entry_parts.ts";
import { factText } from "../guards/guard.ts";
import type { Source } from "../source.ts";
import type { Entry, Unit } from "../unit.ts";
import { takeCapture } from "./captures.ts";

/** The receiver and the arguments of a call. */
export interface Call {
  readonly self: unknown;
  readonly args: readonly unknown[];
}

/** An entry that a former process has traced, in the same world; null where the call has to be traced. */
export function keptEntry(unit: Unit, key: string, { self, args }: Call): Entry | null {
  const taken = takeCapture(unit, key, { fn: unit.program.fn, self, args });
  if (!taken) return null;
  const { guards, graph, text, named } = taken, made: { entry: Entry | null } = { entry: null };
  const run = taken.run(wayOut(unit, { graph: () => graph?.graph ?? null, made, isAsyncCall: false }));
  const entry: Entry = {
    ...checked(guards, { sourceNamed: (name) => sourceIn(named, name) }),
    guards,
    run,
    code: text,
    graph,
    plain: false,
    hits: 0,
  };
  invariant(
    entry.check(self, args) === -1,
    "Expected the guards of a capture to hold where all that it has seen does",
  );
  unit.program.options.hooks.onGuards?.(guards.map((guard) => factText(guard.fact)));
  return made.entry = entry;
}

/** Where a size comes from. */
function sourceIn(named: ReadonlyMap<string, Source>, name: string): Source {
  const found = named.get(name);
  invariant(found, `Expected a place of a size but found ${name}`);
  return found;
}
