/**
 * Modules that loader threads load first: dyn itself with its devices, and those that prepared the main thread for a
 * script. A module of this kind registers itself when it loads.
 */

/** A module, and one of its functions that is called there. */
export interface WorkerModule {
  /** Its address. */
  readonly module: string;
  /** The function's name and arguments, which are sent over. */
  readonly call?: { readonly name: string; readonly args: readonly unknown[] };
}

const modules: WorkerModule[] = [];

/** Makes threads that are started from now on load a module. */
export function loadInWorkers(module: WorkerModule): void {
  modules.push(module);
}

/** Returns the modules that a thread loads, in order. */
export function workerModules(): readonly WorkerModule[] {
  return modules;
}
