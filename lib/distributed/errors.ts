/** Errors between processes. */
import { DynError } from "../base/errors.ts";

/** Ranks did not do the same, did not come in time, or cannot reach each other. */
export class DistributedError extends DynError {
  /** The name of the class. */
  override readonly name: string = "DistributedError";
}
