/** The public functions that compute intermediates again instead of keeping them. */
export { checkpoint, type CheckpointOptions, checkpointSequential } from "./checkpoint.ts";
