/**
 * The entry point for starting programs, used by all runners of graphs and ops. Invariant: a watcher sees every start
 * on every device, with the cost of each kernel; without one a start is a plain call. It loads nothing, because the
 * command line watches before the settings are read.
 */
import type { CompiledProgram, DeviceName, ProgramCall } from "./device.ts";
import type { ProgramCosts } from "./metrics.ts";

/** One launch of a program. */
export interface Launch {
  readonly program: CompiledProgram;
  readonly device: DeviceName;
  /** Null if unknown. */
  readonly costs: ProgramCosts | null;
}

/** Runs a call in place of the caller, and returns the result to it. */
export type LaunchWatcher = (launch: Launch, call: ProgramCall) => boolean;

/** The watcher; null: there is none. */
export const launches: { watcher: LaunchWatcher | null } = { watcher: null };

const known = new WeakMap<CompiledProgram, () => ProgramCosts>();

/** Records the costs of a compiled program; `costs` is evaluated on demand. */
export function noteCosts(compiled: CompiledProgram, costs: () => ProgramCosts): void {
  known.set(compiled, costs);
}

/** Runs a program on a device. */
export function launch(program: CompiledProgram, device: DeviceName, call: ProgramCall): boolean {
  const { watcher } = launches;
  if (watcher === null) return program.run(call);
  return watcher({ program, device, costs: known.get(program)?.() ?? null }, call);
}
