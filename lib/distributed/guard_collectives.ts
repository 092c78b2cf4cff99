/**
 * Checks that all ranks are about to run the same collectives; otherwise all of them throw. Invariant: nothing of the
 * graph has run by then.
 */
import { refuseSurplus } from "../base/checked_input.ts";
import { agreement, type SharedCall } from "../base/pending_collectives.ts";
import { groupNamed, meet } from "./group.ts";

/** Exchanges the upcoming calls with the ranks of each group. */
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
 * Sets whether compiled graphs with collectives first check that all ranks run the same graph, like
 * torch.compiler.set_enable_guard_collectives: otherwise all ranks throw a DistributedError that names the graphs,
 * before any of them runs. Costs a small collective per call. Must be set on all ranks; returns the previous setting.
 */
export function setEnableGuardCollectives(enabled: boolean): boolean {
  if (arguments.length > 1) refuseSurplus("setEnableGuardCollectives", 1, arguments);
  const former = agreement.reach !== null;
  agreement.reach = enabled ? reach : null;
  return former;
}
