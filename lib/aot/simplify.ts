/**
 * Clean-up of joint graphs before they are cut: folds constants to `full`, removes no-ops and repeated calls.
 * Invariant: that of all passes over functional graphs; calls that may fail stay.
 */
import {
  COMMON_SUBEXPRESSIONS,
  deadCode,
  type GraphPass,
  keepsEffects,
  patterns,
  runPasses,
} from "../ops/rewrite/passes.ts";
import { JOINT_RULES } from "../ops/rewrite/rules.ts";
import type { JointGraph } from "./joint.ts";
import { SHORT_ROW_SUMS } from "./row_sums.ts";

/** All passes in order. */
const JOINT_PASSES: readonly GraphPass[] = [
  deadCode(keepsEffects),
  patterns("rewrite_joint_patterns", { rules: JOINT_RULES, part: "joint_rules", kept: keepsEffects }),
  COMMON_SUBEXPRESSIONS,
  SHORT_ROW_SUMS,
];

/** Simplifies a joint graph in place, to a fixed point. */
export function simplify(
  { graph, results, ownResults }: Pick<JointGraph, "graph" | "results" | "ownResults">,
): void {
  runPasses(graph, JOINT_PASSES, {
    ownResults,
    laidOut: results.length,
    rounds: 8,
    part: "joint_passes",
  });
}
