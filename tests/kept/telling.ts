/**
 * The common part of programs for tests of cached captures: worlds, each of them run compiled and plainly. It prints
 * a JSON line with the reused captures and results of each.
 */
import { clearCompileTimes, compileTimes } from "../../lib/base/compile_times.ts";
import { counters } from "../../lib/base/logs.ts";
import { compile, Tensor } from "../../mod.ts";

/** Leaves a function as it is, or compiles it. */
export type Wrap = <F extends (...args: never[]) => unknown>(fn: F) => F;

/** A world: what a program computes in it; `other`: where it differs. */
export type World = (other: boolean, wrap: Wrap) => unknown;

/** The report of a process on one world. */
export interface Told {
  readonly taken: number;
  readonly missed: number;
  readonly refused: number;
  /** Whether the compiled function gave what it gives as it is. */
  readonly same: boolean;
  readonly result: string;
  /** Functions as messages name them: those without a name by their place. */
  readonly titles: readonly string[];
}

function shown(value: unknown): unknown {
  if (value instanceof Tensor) return value.detach().tolist();
  return Array.isArray(value) ? value.map(shown) : value ?? null;
}

const textOf = async (value: unknown): Promise<string> =>
  JSON.stringify(shown(await value), (_key, each) => typeof each === "bigint" ? `${each}n` : each);

const count = (what: string) => counters.get("cached_captures", what);

/** Runs worlds and tells of them. */
export async function tell(worlds: Readonly<Record<string, World>>, other: boolean): Promise<void> {
  const told: Record<string, Told> = {};
  for (const [name, world] of Object.entries(worlds)) {
    clearCompileTimes();
    const before = { hits: count("hits"), misses: count("misses"), refused: count("refused") };
    const result = await textOf(world(other, (fn) => compile(fn, { backend: "eager" })));
    told[name] = {
      taken: count("hits") - before.hits,
      missed: count("misses") - before.misses,
      refused: count("refused") - before.refused,
      same: result === await textOf(world(other, (fn) => fn)),
      result,
      titles: compileTimes().functions.map(({ name }) => name),
    };
  }
  console.log(JSON.stringify(told));
}
