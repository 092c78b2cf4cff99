/** Modes that regions of the program set, at a place. Invariant: a frame that ends restores those before it. */
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
