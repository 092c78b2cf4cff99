/**
 * Creates entries from cached captures. Invariant: the entry's guards hold for this call.
 */
import { isForCounts } from "../break_reasons.ts";
import { wayOut } from "../cache/entry_parts.ts";
import { factText } from "../guards/text.ts";
import type { Entry, Unit } from "../cache/unit.ts";
import { inAsyncCall } from "../resume/suspension.ts";
import { refuseBreak, reportBreak } from "../told_breaks.ts";
import { takeCapture } from "./captures.ts";
import type { TracedCall } from "./journal.ts";

/** The receiver and the arguments of a call. */
export interface Call {
  readonly self: unknown;
  readonly args: readonly unknown[];
}

/** The call of a unit as a trace sees it. */
export function callOf({ program, body: { resumed } }: Unit, { self, args }: Call): TracedCall {
  if (resumed === null) return { running: [program.fn], modules: [], self, args };
  const running = resumed.frames.flatMap(({ callee }) => callee ?? []);
  return { running, modules: resumed.frames.map(({ code }) => code.module.url), self, args };
}

/** An entry that an earlier process has traced, in the same state of the program; null if the call has to be traced. */
export function cachedEntry(unit: Unit, key: string, { self, args }: Call): Entry | null {
  const taken = takeCapture(unit, key, callOf(unit, { self, args }));
  if (!taken) return null;
  const { guards, tests, graph, text, isAsyncCall } = taken;
  if (taken.place) unit.body.beAt?.(taken.place);
  const made: { entry: Entry | null } = { entry: null };
  if (taken.broke) {
    refuseBreak(unit.program, taken.broke);
    reportBreak(unit.program, taken.broke);
  }
  const run = taken.run(wayOut(unit, { graph: () => graph, made, isAsyncCall }));
  const entry: Entry = {
    ...tests,
    guards,
    run: isAsyncCall ? inAsyncCall(run) : run,
    code: text,
    graph: graph?.gm ?? null,
    plain: false,
    forCounts: isForCounts(taken.broke),
    hits: 0,
    failed: false,
  };
  unit.program.options.hooks.onGuards?.(guards.map((guard) => factText(guard.fact)));
  return made.entry = entry;
}
