/**
 * Filters that select which guards of an entry are tested. Invariant: skipped guards are assumed to hold, so that a
 * call that one would have rejected gets the answer for another call: all filters are unsafe, as their names say.
 */
import { types } from "node:util";
import { checkKind } from "../../base/checked_input.ts";
import { DynError } from "../../base/errors.ts";
import { named } from "../../base/isolated_objects.ts";
import * as nn from "../../nn/mod.ts";
import { type Source, sourceText } from "../source.ts";
import type { Fact, Guard } from "./guard.ts";
import { factText } from "./text.ts";
import type { Read, RefusedCall } from "./guard_reader.ts";

/** The properties of a guard that filters see, like PyTorch's `GuardFilterEntry`. */
export interface GuardFilterEntry {
  /** The place, `L["x"].weight`; "" for guards on several places or none. */
  readonly name: string;
  /** Whether there is a place, and its value in the call being compiled. */
  readonly hasValue: boolean;
  readonly value: unknown;
  /** The kind of guard: "tensor", "constant", "identity", … */
  readonly guardType: Fact["kind"];
  /** Whether the place is a captured or global variable rather than an argument. */
  readonly isGlobal: boolean;
  /** The kind of module that the state belongs to: one of the library, another one, or none. */
  readonly module: "builtin" | "user" | "none";
  /** The guard as it is printed. */
  readonly text: string;
}

/** Returns for each guard whether it is kept. */
export type GuardFilter = (entries: readonly GuardFilterEntry[]) => readonly boolean[];

/** The guards that a filter keeps. Throws DynError for a filter that does not return one boolean for each guard. */
export function filterGuards(
  guards: readonly Guard[],
  filter: GuardFilter,
  about: { readonly call: RefusedCall; readonly read: Read },
): readonly Guard[] {
  const kept: unknown = filter(guards.map((guard) => entryOf(guard, about)));
  if (!Array.isArray(kept) || kept.length !== guards.length || kept.some((k) => typeof k !== "boolean")) {
    throw new DynError(
      `Expected ${guards.length} booleans of guardFilterFn, one per guard, but found ${Deno.inspect(kept)}`,
    );
  }
  return guards.filter((_, i) => kept[i] === true);
}

function entryOf(
  { fact }: Guard,
  { call, read }: { readonly call: RefusedCall; readonly read: Read },
): GuardFilterEntry {
  const source = "source" in fact ? fact.source : null;
  return {
    name: source === null ? "" : sourceText(source),
    hasValue: source !== null,
    value: source === null ? undefined : read(source, call),
    guardType: fact.kind,
    isGlobal: source !== null && isGlobal(source),
    module: source === null ? "none" : moduleOf(source, (each) => read(each, call)),
    text: factText(fact),
  };
}

function baseOf(source: Source): Source | null {
  return "base" in source ? source.base : null;
}

function isGlobal(source: Source): boolean {
  const base = baseOf(source);
  if (base) return isGlobal(base);
  return source.kind === "global" || source.kind === "known" || source.kind === "cell";
}

const BUILTIN_MODULES: ReadonlySet<unknown> = new Set(Object.values(nn));

/** The kind of module whose state a place is: that of the innermost module on the way there. */
function moduleOf(source: Source, read: (source: Source) => unknown): GuardFilterEntry["module"] {
  const value = read(source);
  // Asking a proxy for its class would run the program's code
  if (!types.isProxy(value) && value instanceof nn.Module) {
    return BUILTIN_MODULES.has(value.constructor) ? "builtin" : "user";
  }
  const base = baseOf(source);
  return base ? moduleOf(base, read) : "none";
}

/** A filter that decides each guard separately. */
const keepingWhere = (name: string, keeps: (entry: GuardFilterEntry) => boolean): GuardFilter =>
  named(name, (entries: Parameters<GuardFilter>[0]) => {
    checkKind(entries, "a list", "a filter of guards");
    for (const each of entries) checkKind(each, "an object", "a guard to filter");
    return entries.map(keeps);
  });

/** Keeps guards that are not about modules of the library, as `torch.compiler.skip_guard_on_inbuilt_nn_modules_unsafe`. */
export const skipGuardOnInbuiltNnModulesUnsafe: GuardFilter = keepingWhere(
  "skipGuardOnInbuiltNnModulesUnsafe",
  ({ module }) => module !== "builtin",
);

/** Keeps guards that are not about modules, as `torch.compiler.skip_guard_on_all_nn_modules_unsafe`. */
export const skipGuardOnAllNnModulesUnsafe: GuardFilter = keepingWhere(
  "skipGuardOnAllNnModulesUnsafe",
  ({ module }) => module === "none",
);

/** Keeps guards on tensors that are not parameters, as `torch.compiler.keep_tensor_guards_unsafe`. */
export const keepTensorGuardsUnsafe: GuardFilter = keepingWhere(
  "keepTensorGuardsUnsafe",
  ({ guardType, value }) => guardType === "tensor" && !(value instanceof nn.Parameter),
);

/** Keeps guards that are not about captured or global variables, as `torch.compiler.skip_guard_on_globals_unsafe`. */
export const skipGuardOnGlobalsUnsafe: GuardFilter = keepingWhere(
  "skipGuardOnGlobalsUnsafe",
  ({ isGlobal }) => !isGlobal,
);

/** Keeps no guards, as `torch.compiler.skip_all_guards_unsafe`. */
export const skipAllGuardsUnsafe: GuardFilter = keepingWhere("skipAllGuardsUnsafe", () => false);
