/**
 * The ambient state under which a graph was captured. Invariant: every piece has an entry in the table of ambient
 * state, which lists the functions that read and change it.
 */
import type { AutocastType } from "../../ops/autocast.ts";
import type { DType } from "../../base/dtype.ts";

/** The state that guards compare before anything else. */
export interface AmbientState {
  readonly gradEnabled: boolean;
  readonly inference: boolean;
  readonly defaultDtype: DType;
  readonly defaultDevice: string;
  /** The type of a region of autocast; "" outside of one. */
  readonly autocast: AutocastType | "";
  /** Whether hooks store the tensors that are saved for backward passes. */
  readonly savedTensorsHooks: boolean;
}
