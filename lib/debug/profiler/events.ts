/** The contents of a profile: spans of work, samples of memory. */
import type { SpanKind } from "../../base/observation.ts";
import type { DeviceName } from "../../loops/device.ts";

/**
 * The kind of an event: a span, a kernel on a device, a collective, a phase of a compilation, a step of the schedule.
 */
export type EventKind = SpanKind | "kernel" | "collective" | "compile" | "step";

/** An event with a duration. Times are microseconds. */
export interface ProfileEvent {
  /** The name of the op, function, kernel or phase. */
  readonly name: string;
  /** The kind of the event. */
  readonly kind: EventKind;
  /** Since the start of the profile. */
  readonly start: number;
  /** Duration in microseconds. */
  readonly duration: number;
  /** The enclosing event; null: none. */
  readonly parent: ProfileEvent | null;
  /** The part of `duration` that is not covered by other events. */
  readonly selfDuration: number;
  /** Time of nested kernels; for a kernel its own. */
  readonly kernelDuration: number;
  /** Increase of the bytes of tensors during the event, over all devices. */
  readonly memory: number;
  /** For a kernel: its device. */
  readonly device: DeviceName | null;
  /**
   * For a kernel: bytes of distinct elements read and written; for a collective: bytes that this process sends or
   * receives, whichever is more; null if unknown.
   */
  readonly bytes: number | null;
  /** For a kernel: scalar operations; null if unknown. */
  readonly flops: number | null;
  /** Whether it continued after an `await` or concurrently with the program, so that others may overlap its end. */
  readonly isAsync: boolean;
}

/** Memory of a device in use at one time. */
export interface MemorySample {
  /** Microseconds since the beginning of the profile. */
  readonly time: number;
  /** The device of the memory. */
  readonly device: DeviceName;
  /** Bytes that tensors occupy. */
  readonly allocated: number;
  /** Bytes that the allocator holds. */
  readonly reserved: number;
}

/** The recording of one part of the program. */
export interface Recorded {
  readonly events: readonly ProfileEvent[];
  readonly memory: readonly MemorySample[];
  /** Its start, in microseconds since 1970. */
  readonly origin: number;
}
