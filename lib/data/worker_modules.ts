/**
 * Modules that threads of loaders load before anything else: dyn itself with its devices, and what has prepared the main
 * thread for a script. Input: whoever has such a module says so when it loads; output: the list.
 */

/** A module, and one of its functions that is called there. */
export interface WorkerModule {
  /** Its address. */
  readonly module: string;
  /** The function's name and arguments, which are sent over. */
  readonly call?: { readonly name: string; readonly args: readonly unknown[] };
}

const modules: WorkerModule[] = [];

/** Has threads that are started from here on load a module. */
export function loadInWorkers(module: WorkerModule): void {
  modules.push(module);
}

/** Those that a thread loads, in order. */
export function workerModules(): readonly WorkerModule[] {
  return modules;
}
