/** Errors between processes. */
import { DynError } from "../base/errors.ts";

/** Ranks made different calls, timed out, or cannot reach each other. */
export class DistributedError extends DynError {
  /** The name of the class. */
  override readonly name: string = "DistributedError";
}
