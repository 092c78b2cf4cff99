/**
 * What one compiled callable and all units that come of it have in common. Input: the options of `optimize`;
 * output: shared state. Invariant: units are found again by their plan, so that recompiling a function reuses
 * the compiled rests of its former versions.
 */
import type { BreakReason } from "../base/errors.ts";
import type { GraphBackend } from "../graph/backend.ts";
import type { GraphModule } from "../graph/graph_module.ts";
import type { SourcePosition } from "../graph/node.ts";
import type { DynamicMode } from "./automatic_dynamic.ts";
import { UncompiledLog } from "./uncompiled.ts";

/** Options of a compiled callable. */
export interface OptimizeOptions {
  readonly backend: GraphBackend;
  /** For messages. */
  readonly backendName: string;
  /** A graph break is an error. */
  readonly fullgraph: boolean;
  readonly dynamic: DynamicMode;
  readonly hooks: Hooks;
}

/** Sees what compilation does. */
export interface Hooks {
  /** A graph was captured; before the backend sees it. */
  readonly onGraph?: (gm: GraphModule, exampleInputs: readonly unknown[]) => void;
  readonly onBreak?: (reason: BreakReason) => void;
  /** Calls will run uncompiled. */
  readonly onUncompiled?: (reason: BreakReason) => void;
  readonly onGuards?: (texts: readonly string[]) => void;
}

/** A compiled callable's shared state. */
export class Program {
  nextResume = 1;
  /** Compiled entries of the function and of all that goes on behind its breaks. */
  versions = 0;
  /** No further compilation, as `run` demands. */
  frozen = false;
  readonly uncompiled: UncompiledLog;

  constructor(
    readonly name: string,
    readonly fn: object,
    readonly options: OptimizeOptions,
    /** Where the user wrote the function. */
    readonly place: () => SourcePosition | null,
  ) {
    this.uncompiled = new UncompiledLog((reason) => options.hooks.onUncompiled?.(reason));
  }
}

let nextGraph = 0;

/** The name of the next compiled graph. */
export function nextGraphName(): string {
  return `__compiled_fn_${nextGraph++}`;
}

/** Begins to count again. */
export function resetGraphNames(): void {
  nextGraph = 0;
}
