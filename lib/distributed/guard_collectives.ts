/**
 * Checks that all ranks are about to run the same collectives; otherwise all of them throw. Invariant: nothing of the
 * graph has run by then.
 */
import { agreement, type SharedCall } from "../base/begun_work.ts";
import { groupNamed, meet } from "./group.ts";

/** Ranks of each group announce what they are about to do in it. */
function reach(calls: readonly SharedCall[]): void {
  const byGroup = Map.groupBy(calls, ({ constants }) => Number(constants.at(-1)));
  for (const [name, own] of byGroup) {
    const words = own.map(({ name, constants, results }) =>
      `${name}(${constants.slice(0, -1).join(", ")}) of ${results}`
    );
    meet(groupNamed(name), `a graph with ${words.length} collectives: ${words.join("; ")}`);
  }
}

/**
 * Sets whether compiled graphs with collectives first check that all ranks run the same one, like
 * torch.compiler.set_enable_guard_collectives: ranks that would run different graphs all throw a DistributedError that
 * says which, before any of them runs. Costs a small collective for each call. Must be set on all ranks; returns the
 * previous setting.
 */
export function setEnableGuardCollectives(enabled: boolean): boolean {
  const former = agreement.reach !== null;
  agreement.reach = enabled ? reach : null;
  return former;
}
