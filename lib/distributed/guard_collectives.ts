/**
 * Whether ranks run the same graphs. Input: the calls of a graph that is about to run; output: an error on all ranks where
 * these calls are not the same everywhere. Invariant: nothing of the graph has run by then.
 */
import { agreement, type SharedCall } from "../base/begun_work.ts";
import { groupNamed, meet } from "./group.ts";

/** Ranks of each group say what they are about to do in it. */
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
 * Whether compiled graphs with collectives begin with a word of all ranks on which of them they are, as
 * torch.compiler.set_enable_guard_collectives: ranks that would run different graphs all throw a DistributedError that
 * says which, and nothing of them has run. Costs a small collective a call. Set it on all ranks; gives the former setting.
 */
export function setEnableGuardCollectives(enabled: boolean): boolean {
  const former = agreement.reach !== null;
  agreement.reach = enabled ? reach : null;
  return former;
}
