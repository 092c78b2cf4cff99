/** Profiles, as `torch.profiler`: the namespace `profiler`. */
export { type KeyAverage, type KeyAverages, type SortKey, type TableOptions } from "./averages.ts";
export type { SpanKind } from "../../base/observation.ts";
export type { EventKind, MemorySample, ProfileEvent } from "./events.ts";
export { type MachineLimits, machineLimits } from "./limits.ts";
export { Profile, profile, type ProfileOptions, recordFunction } from "./profile.ts";
export { type ProfilerAction, type Schedule, schedule, type ScheduleOptions } from "./schedule.ts";
