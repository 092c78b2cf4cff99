/**
 * The state that a compiled callable shares with all of its units. Invariant: units are found again by their plan, so
 * that recompiling a function reuses the compiled rests of its former versions.
 */
import type { BreakReason } from "../../base/errors.ts";
import type { GraphBackend } from "../../graph/backend.ts";
import type { GraphModule } from "../../graph/graph_module.ts";
import type { SourcePosition } from "../../graph/node.ts";
import type { DynamicMode } from "./automatic_dynamic.ts";
import { type ShapeMarks, shapeMarks, type ShapesSpec } from "./shapes_spec.ts";
import { argumentLabel } from "../source.ts";
import type { ShapeEnv } from "../../sym/shape_env.ts";
import type { GuardFilter } from "../guards/filters.ts";
import { UncompiledLog } from "./uncompiled.ts";

/** Options of a compiled callable. */
export interface OptimizeOptions {
  readonly backend: GraphBackend;
  /** A backend that the stance demands, as this function runs it. */
  readonly wrapBackend: (backend: GraphBackend) => GraphBackend;
  /** For messages. */
  readonly backendName: string;
  /** A graph break is an error. */
  readonly fullgraph: boolean;
  readonly dynamic: DynamicMode;
  readonly hooks: Hooks;
  /** Most entries of each part; null: as config says. */
  readonly cacheSizeLimit: number | null;
  /** The user's specification of parameter sizes. */
  readonly shapesSpec: ShapesSpec;
  /** The function whose parameters that names; null: the compiled one. */
  readonly signature: object | null;
  /** Chooses among the guards of each entry. */
  readonly guardFilter: GuardFilter | null;
}

/** Sees what compilation does. */
export interface Hooks {
  /** A graph was captured; before the backend sees it. */
  readonly onGraph?: (gm: GraphModule, exampleInputs: readonly unknown[]) => void;
  readonly onBreak?: (reason: BreakReason) => void;
  /** Calls will run uncompiled. */
  readonly onUncompiled?: (reason: BreakReason) => void;
  readonly onGuards?: (texts: readonly string[]) => void;
  /** A trace has ended; before anything of it runs. Who wants to know has each call traced in this process. */
  readonly onTraced?: (trace: EndedTrace) => void;
  /** A call is served by no entry: why not by each of them. */
  readonly onRecompile?: (title: string, reasons: readonly string[]) => void;
}

/** The assumptions of a trace, and its effects besides the graph. */
export interface EndedTrace {
  readonly sizes: ShapeEnv;
  /** The value that a size is read from, by the name that the sizes know it by, in the traced call. */
  readonly valueNamed: (base: string) => unknown;
  /** Statements by which modified code changes objects of the program, or calls what is not a tensor operation. */
  readonly effects: readonly string[];
}

/** A compiled callable's shared state. */
export class Program {
  nextResume = 1;
  /** Compiled entries of the function and of all that goes on behind its breaks. */
  versions = 0;
  /** Whether the function has been called before: some stances treat the first call differently. */
  called = false;
  /** Whether a warning has said that there are too many versions altogether. */
  isWarned = false;
  #shapes: ShapeMarks | null = null;
  /** Graph breaks so far, by cause and place. */
  readonly breaks: Set<string> = new Set();
  /** Forbids further compilation, as `run` demands. */
  frozen = false;
  readonly uncompiled: UncompiledLog;

  constructor(
    readonly name: string,
    readonly fn: object,
    readonly options: OptimizeOptions,
    /** Returns the function's source position. */
    readonly place: () => SourcePosition | null,
  ) {
    this.uncompiled = new UncompiledLog((reason) => options.hooks.onUncompiled?.(reason));
  }

  /**
   * Returns the user's marks on sizes, by place. Throws DynError for a mark that does not fit the function, whose
   * parameters are `own`, or in the order of `signature`'s.
   */
  shapes(own: () => readonly string[], parametersOf: (fn: object) => readonly string[]): ShapeMarks {
    const { shapesSpec, signature } = this.options;
    return this.#shapes ??= Object.keys(shapesSpec).length === 0
      ? new Map()
      : signature === null
      ? shapeMarks(shapesSpec, { parameters: own(), labelOf: (index) => argumentLabel(own(), index) })
      : shapeMarks(shapesSpec, { parameters: parametersOf(signature), labelOf: (index) => `arg${index}` });
  }

  /** Restores the state before the first call. */
  clear(): void {
    this.nextResume = 1;
    this.versions = 0;
    this.called = false;
    this.isWarned = false;
    this.breaks.clear();
    this.uncompiled.clear();
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
