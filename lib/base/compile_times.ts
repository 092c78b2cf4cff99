/**
 * Compile times by function and phase: the table of `compiler.compileTimes()`, like
 * `torch._dynamo.utils.compile_times()`. Invariant: the phases of a compilation add up to its total time, because each
 * excludes its nested phases; parts after graph breaks count for the function that they are parts of.
 */
import { refuseSurplus } from "./checked_input.ts";
import { type CompileRecord, type PhaseRecord, type Recorder, recording } from "./recording.ts";
import { showAsText } from "./console_text.ts";
import { alignedRows } from "./report_text.ts";

/** The columns of the table, in the order in which a call passes them. */
export const COMPILE_PHASES = ["capture", "guards", "joint", "partition", "inductor", "kernels"] as const;

/** A column of the table. */
export type CompilePhase = typeof COMPILE_PHASES[number];

/** The column of each recorded phase; a phase without an entry counts for the phase around it. */
const COLUMN: Readonly<Record<string, CompilePhase>> = {
  compile: "capture",
  trace: "capture",
  guards: "guards",
  backend: "inductor",
  joint: "joint",
  partition: "partition",
  passes: "inductor",
  lowering: "inductor",
  schedule: "inductor",
  codegen: "inductor",
  autotune: "inductor",
  kernels: "kernels",
};

/** The times of one function. */
export interface FunctionTimes {
  /** Its name, or file and line if it has none. */
  readonly name: string;
  /** Number of versions compiled, parts after graph breaks included. */
  readonly compilations: number;
  /** Milliseconds by phase. */
  readonly phases: Readonly<Record<CompilePhase, number>>;
  /** Milliseconds of all phases. */
  readonly total: number;
}

/** The table. */
export interface CompileTimes {
  /** The functions in the order in which they were first compiled. */
  readonly functions: readonly FunctionTimes[];
  /** Milliseconds of everything. */
  readonly total: number;
  /** The table as text, milliseconds, the slowest function first. */
  toString(): string;
}

interface MutableTimes {
  compilations: number;
  readonly phases: Record<CompilePhase, number>;
}

const zeros = (): Record<CompilePhase, number> => ({
  capture: 0,
  guards: 0,
  joint: 0,
  partition: 0,
  inductor: 0,
  kernels: 0,
});

const functions = new Map<string, MutableTimes>();

/** Returns the title of a function in messages: its name, or its place if it has none. */
export function functionTitle(fn: Pick<CompileRecord, "name" | "place">): string {
  const { name } = fn;
  if (name !== "" && name !== "<anonymous>") return name;
  const { place } = fn;
  return place ? `${place.file.split(/[/\\]/).at(-1)}:${place.line}` : "<anonymous>";
}

/** Returns the title of the function that is being compiled. */
export function currentTitle(): string {
  const compile = recording.current();
  return compile ? functionTitle(compile.root ?? compile) : "a graph";
}

/** Phases of the compilations in progress, innermost last; phases outside of compilations do not count. */
const open: { readonly compile: CompileRecord; readonly phases: PhaseRecord[] }[] = [];

const recorder: Recorder = {
  active: () => true,
  wants: () => false,
  begin: (compile) => void open.push({ compile, phases: [] }),
  artifact: () => {},
  phase(phase, compile) {
    open.findLast((each) => each.compile === compile)?.phases.push(phase);
  },
  end(compile) {
    const at = open.findLastIndex((each) => each.compile === compile);
    const [ended] = at < 0 ? [] : open.splice(at);
    if (ended) addUp(ended.compile, ended.phases);
  },
};

recording.add(recorder);

function addUp(compile: CompileRecord, phases: readonly PhaseRecord[]): void {
  const name = functionTitle(compile.root ?? compile);
  let times = functions.get(name);
  if (!times) functions.set(name, times = { compilations: 0, phases: zeros() });
  times.compilations++;
  const around: { readonly end: number; readonly column: CompilePhase }[] = [];
  for (const phase of phases.toSorted((a, b) => a.start - b.start || b.duration - a.duration)) {
    const end = phase.start + phase.duration;
    while (around.length > 0 && (around.at(-1)?.end ?? 0) < end) around.pop();
    const outer = around.at(-1)?.column;
    const column = COLUMN[phase.name] ?? outer ?? "inductor";
    times.phases[column] += phase.duration / 1000;
    if (outer !== undefined) times.phases[outer] -= phase.duration / 1000;
    around.push({ end, column });
  }
}

/** Returns the compile times of this process since `compiler.reset`. */
export function compileTimes(): CompileTimes {
  if (arguments.length > 0) refuseSurplus("compileTimes", 0, arguments);
  const found = [...functions].map(([name, { compilations, phases }]): FunctionTimes => ({
    name,
    compilations,
    phases: { ...phases },
    total: COMPILE_PHASES.reduce((sum, phase) => sum + phases[phase], 0),
  }));
  const table: CompileTimes = {
    functions: found,
    total: found.reduce((sum, { total }) => sum + total, 0),
    toString: () => tableText(found),
  };
  showAsText(table);
  return table;
}

/** Forgets all times. */
export function clearCompileTimes(): void {
  functions.clear();
}

function tableText(found: readonly FunctionTimes[]): string {
  if (found.length === 0) return "Nothing was compiled";
  const sums = zeros();
  for (const { phases } of found) for (const phase of COMPILE_PHASES) sums[phase] += phases[phase];
  const all: FunctionTimes = {
    name: "all",
    compilations: found.reduce((sum, each) => sum + each.compilations, 0),
    phases: sums,
    total: found.reduce((sum, each) => sum + each.total, 0),
  };
  const rows = [
    ["function", "versions", ...COMPILE_PHASES, "total"],
    ...[...found.toSorted((a, b) => b.total - a.total), ...found.length > 1 ? [all] : []].map((each) => [
      each.name,
      `${each.compilations}`,
      // A rounding error may be below zero.
      ...COMPILE_PHASES.map((phase) => Math.max(0, each.phases[phase]).toFixed(1)),
      each.total.toFixed(1),
    ]),
  ];
  return ["Compile times in milliseconds", ...alignedRows(rows, 1)].join("\n");
}
