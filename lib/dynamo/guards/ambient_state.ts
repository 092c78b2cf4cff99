/**
 * The ambient state that a graph was captured under. Input: none; output: its type. Invariant: every piece has an
 * entry in the table of ambient state, which knows what tells and what changes it.
 */
import type { AutocastType } from "../../ops/autocast.ts";
import type { DType } from "../../base/dtype.ts";

/** What guards compare before anything else. */
export interface AmbientState {
  readonly gradEnabled: boolean;
  readonly inference: boolean;
  readonly defaultDtype: DType;
  readonly defaultDevice: string;
  /** The type of a region of autocast; "" outside of one. */
  readonly autocast: AutocastType | "";
}
