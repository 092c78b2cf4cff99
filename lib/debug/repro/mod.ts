/** The namespace `repro`, which the programs of repros and of execution records import. */
export {
  load,
  type ReproDescription,
  type ReproInput,
  type ReproTensor,
  type ReproTools,
  run,
  tensors,
} from "./load.ts";
export { fill, missing, replay, type ReplayedCall } from "../replay/replay.ts";
