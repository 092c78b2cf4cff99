/** The public functions that recompute intermediates instead of saving them. */
export { checkpoint, type CheckpointOptions, checkpointSequential } from "./checkpoint.ts";
