/**
 * The state that a compiled callable shares with all of its units. Invariant: units are found by their plan, so that
 * recompiling a function reuses the compiled continuations of its earlier versions.
 */
import type { BreakReason } from "../../base/errors.ts";
import type { GraphBackend } from "../../graph/backend.ts";
import type { GraphModule } from "../../graph/graph_module.ts";
import type { SourcePosition } from "../../graph/node.ts";
import type { Instruction } from "../bytecode/instruction.ts";
import type { DynamicMode } from "./automatic_dynamic.ts";
import { type ShapeMarks, shapeMarks, type ShapesSpec } from "./shapes_spec.ts";
import { argumentLabel } from "../source.ts";
import type { ShapeEnv } from "../../sym/shape_env.ts";
import type { GuardFilter } from "../guards/filters.ts";
import { TraceBudget } from "./trace_budget.ts";
import { UncompiledLog } from "./uncompiled.ts";

/** Options of a compiled callable. */
export interface OptimizeOptions {
  readonly backend: GraphBackend;
  /** Adapts a backend that the stance requires to this function. */
  readonly wrapBackend: (backend: GraphBackend) => GraphBackend;
  /** The backend's name in messages. */
  readonly backendName: string;
  /** Whether a graph break is an error. */
  readonly fullgraph: boolean;
  readonly dynamic: DynamicMode;
  readonly hooks: Hooks;
  /** Maximum number of entries of each part; null: that of config. */
  readonly cacheSizeLimit: number | null;
  /** The user's specification of parameter sizes. */
  readonly shapesSpec: ShapesSpec;
  /** The function whose parameters `shapesSpec` names; null: the compiled one. */
  readonly signature: object | null;
  /** Selects among the guards of each entry. */
  readonly guardFilter: GuardFilter | null;
}

/** Observes compilation. */
export interface Hooks {
  /** Called when a graph was captured, before the backend sees it. */
  readonly onGraph?: (gm: GraphModule, exampleInputs: readonly unknown[]) => void;
  readonly onBreak?: (reason: BreakReason) => void;
  /** Called when calls are going to run uncompiled. */
  readonly onUncompiled?: (reason: BreakReason) => void;
  readonly onGuards?: (texts: readonly string[]) => void;
  /** Called when a trace has ended, before any of it runs. If set, each call is traced in this process. */
  readonly onTraced?: (trace: EndedTrace) => void;
  /** Called for a call that no entry serves, with the reasons of each of them. */
  readonly onRecompile?: (title: string, reasons: readonly string[]) => void;
}

/** The assumptions of a trace, and its effects besides the graph. */
export interface EndedTrace {
  readonly sizes: ShapeEnv;
  /** The value from which a size is read, by the size's base name, in the traced call. */
  readonly valueNamed: (base: string) => unknown;
  /** Statements by which modified code changes objects of the program, or calls anything but tensor operations. */
  readonly effects: readonly string[];
}

/** A compiled callable's shared state. */
export class Program {
  nextResume = 1;
  /** Number of compiled entries of the function and of everything that continues after its breaks. */
  versions = 0;
  /** Whether the function has been called before: some stances treat the first call differently. */
  called = false;
  /** Whether the limit on the total number of versions has been warned about. */
  isWarned = false;
  #shapes: ShapeMarks | null = null;
  /** Graph breaks so far, by cause and place. */
  readonly breaks: Set<string> = new Set();
  /** Whether further compilation is forbidden, as by `run`. */
  frozen = false;
  readonly uncompiled: UncompiledLog;
  budget: TraceBudget = new TraceBudget();
  /**
   * The jumps that decide on another pass of a loop whose count has changed too often for a version of each, with their
   * places.
   */
  readonly endedLoops: Map<Instruction, string> = new Map();

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
   * parameters are `own`, or ordered as those of `signature`.
   */
  shapes(own: () => readonly string[], parametersOf: (fn: object) => readonly string[]): ShapeMarks {
    const { shapesSpec, signature } = this.options;
    return this.#shapes ??= Object.keys(shapesSpec).length === 0
      ? new Map()
      : signature === null
      ? shapeMarks(shapesSpec, { parameters: own(), labelOf: (index) => argumentLabel(own(), index) })
      : shapeMarks(shapesSpec, { parameters: parametersOf(signature), labelOf: (index) => `arg${index}` });
  }

  /** Restores the initial state, before the first call. */
  clear(): void {
    this.nextResume = 1;
    this.versions = 0;
    this.called = false;
    this.isWarned = false;
    this.breaks.clear();
    this.uncompiled.clear();
    this.endedLoops.clear();
    this.budget = new TraceBudget();
  }
}

let nextGraph = 0;

/** The name of the next compiled graph. */
export function nextGraphName(): string {
  return `__compiled_fn_${nextGraph++}`;
}

/** Restarts the numbering. */
export function resetGraphNames(): void {
  nextGraph = 0;
}
