/**
 * Models in stages, each in its own process: the namespace `distributed.pipelining`, like torch.distributed.pipelining.
 */
export { PipelineStage, type PipelineStageOptions, type StageOutput } from "./stage.ts";
export {
  type PipelineLoss,
  Schedule1F1B,
  ScheduleGPipe,
  type ScheduleOptions,
  type StepArguments,
  type StepOptions,
} from "./schedules.ts";
