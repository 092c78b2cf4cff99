/** Models in stages, each on a process of its own: the namespace `distributed.pipelining`, as torch.distributed.pipelining. */
export { PipelineStage, type PipelineStageOptions, type StageOutput } from "./stage.ts";
export {
  type PipelineLoss,
  Schedule1F1B,
  ScheduleGPipe,
  type ScheduleOptions,
  type StepArguments,
  type StepOptions,
} from "./schedules.ts";
