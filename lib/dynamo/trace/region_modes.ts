/**
 * Modes that regions of the program set: the modes at a place, and their effect on operations there. Invariant: no
 * tensor created in an inference region knows its base after the region ends.
 */
import { aliasesArgument } from "../../autograd/aliases_argument.ts";
import type { Node } from "../../graph/node.ts";
import type { CallTarget } from "../../ops/table.ts";
import type { RegionModes } from "../../tensor/modes.ts";
import type { Interpreter } from "./interpreter.ts";

/** A frame, or one of a plan, by the effect of its end. */
interface Ending {
  readonly completion: { readonly kind: string } | {
    readonly kind: "ambientMode";
    readonly former: RegionModes;
  };
}

/** The modes at this point of the program. */
export function modesOf({ gradEnabled, inference, autocast }: Interpreter): RegionModes {
  return { gradEnabled, inference, autocast };
}

/** The modes after all frames except the outermost `depth` have ended; `now` are those in the innermost. */
export function modesAt(frames: readonly Ending[], depth: number, now: RegionModes): RegionModes {
  return frames.slice(depth).reduceRight(
    (modes, { completion }) => "former" in completion ? completion.former : modes,
    now,
  );
}

/** Returns whether a program is inside an inference region that its frames leave. */
export function leavesInference(frames: readonly Ending[], now: RegionModes): boolean {
  return now.inference && !modesAt(frames, 0, now).inference;
}

/**
 * Returns whether the result of a call aliases memory unknown to the tape, when the program leaves the surrounding
 * region: views created in inference mode do not know their base.
 */
export function isUntracked(m: Interpreter, { definition, inplace }: CallTarget, node: Node): boolean {
  if (!m.inference || inplace || definition.gradient.kind === "none") return false;
  return leavesInference(m.callers, modesOf(m)) && aliasesArgument(node);
}
