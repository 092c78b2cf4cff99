/**
 * Compiled callables: functions with the original's signature that run compiled versions if possible. Invariant:
 * creating one compiles nothing; the callable does what the function does, receiver and errors included.
 */
import type { AnyFunction } from "../../base/arguments.ts";
import { apply } from "../../base/own_builtins.ts";
import { config } from "../../base/config.ts";
import { traceCallers } from "../../base/errors.ts";
import { functionTitle } from "../../base/compile_times.ts";
import { observed } from "../../base/observation.ts";
import type { GraphBackend } from "../../graph/backend.ts";
import { recordedCall } from "../call_recorder.ts";
import { compileEntry } from "./compile_entry.ts";
import { markFunction, markOfFunction, standFor } from "../functions/marks.ts";
import { NO_RULES } from "../functions/frame_rules.ts";
import { type Hooks, type OptimizeOptions, Program, resetGraphNames } from "./program.ts";
import { resumedUnits } from "../resume/ways.ts";
import { rootBody } from "./root_body.ts";
import { currentStance, withBackend } from "./stance.ts";
import { modes } from "../../tensor/tensor.ts";
import { factText } from "../guards/text.ts";
import { type Entry, Unit } from "./unit.ts";
import { type CallTimes, FasterWay, graphsAreNative } from "./faster_way.ts";
import { forgetProfiles } from "./dynamic_profile.ts";
import type { DynamicMode } from "./automatic_dynamic.ts";
import { checkSpec, type ShapesSpec } from "./shapes_spec.ts";
import { type ShapeReport, shapeReport } from "./shape_report.ts";
import type { GuardFilter } from "../guards/filters.ts";
import type { UncompiledCalls } from "./uncompiled.ts";
import type { GraphModule } from "../../graph/graph_module.ts";

/** The user's options. */
export interface CompileChoices {
  readonly backend: GraphBackend;
  readonly backendName?: string;
  /** The function's name in messages; default: its own. */
  readonly name?: string;
  readonly fullgraph?: boolean;
  readonly dynamic?: boolean | undefined;
  readonly hooks?: Hooks;
  /** Wraps a backend that the stance requires; by default it is unchanged. */
  readonly wrapBackend?: (backend: GraphBackend) => GraphBackend;
  readonly cacheSizeLimit?: number | undefined;
  readonly guardFilter?: GuardFilter | undefined;
  /** Whether to time calls compiled and as written, and to keep the faster way. */
  readonly keepFaster?: boolean | undefined;
  readonly shapesSpec?: ShapesSpec | undefined;
  /** The function whose parameters `shapesSpec` names, if the compiled one passes its arguments on to it. */
  readonly signature?: object | undefined;
  /** The user's options in serialisable form, if possible: for records of calls. */
  readonly described?: Readonly<Record<string, unknown>>;
}

/** A function and everything compiled for it. */
interface Compiled {
  readonly fn: object;
  readonly callable: object;
  readonly program: Program;
  readonly root: Unit;
  readonly fasterWay: FasterWay | null;
}

const byCallable = new WeakMap<object, Compiled>();
const byFunction = new WeakMap<object, Set<WeakRef<Compiled>>>();
const all = new Set<WeakRef<Compiled>>();
const dropped = new FinalizationRegistry((forget: () => void) => forget());

/** Compiles a function: nothing happens before the first call. */
export function optimize<F extends AnyFunction>(fn: F, choices: CompileChoices): F {
  checkSpec(choices.shapesSpec ?? {});
  const options: OptimizeOptions = {
    backend: choices.backend,
    backendName: choices.backendName ?? "custom",
    fullgraph: choices.fullgraph ?? false,
    dynamic: modeOf(choices.dynamic),
    hooks: choices.hooks ?? {},
    wrapBackend: choices.wrapBackend ?? ((backend) => backend),
    cacheSizeLimit: choices.cacheSizeLimit ?? null,
    guardFilter: choices.guardFilter ?? null,
    shapesSpec: choices.shapesSpec ?? {},
    signature: choices.signature ?? null,
  };
  const mark = markOfFunction(fn);
  const body = mark?.kind === "ruled" && typeof mark.original === "function"
    ? rootBody(mark.original as AnyFunction, fn.name, { ...NO_RULES, ...mark.rules })
    : rootBody(fn as (...args: never[]) => unknown, fn.name);
  const program = new Program(choices.name ?? fn.name, fn, options, () => body.place());
  const root = new Unit(program, body, compileEntry);
  const fasterWay = choices.keepFaster
    ? new FasterWay(() => root.title, { versions: () => program.versions, isNative: graphsAreNative })
    : null;
  const serve = (self: unknown, args: readonly unknown[]): unknown => {
    const { replayRecordEnabled } = config;
    if (!replayRecordEnabled && observed.by === null) return root.call(self, args);
    const { name, place } = program;
    const call = { fn, name, self, args, place, options: choices.described ?? {} };
    const run = () => root.call(self, args),
      recorded = () => replayRecordEnabled ? recordedCall(call, run) : run();
    return observed.by === null
      ? recorded()
      : observed.by.span("compiled", functionTitle({ name, place: place() }), recorded);
  };
  const call = (self: unknown, args: readonly unknown[]): unknown => {
    const stance = currentStance();
    if (stance === "force_eager" || modes.top?.opByOp) return apply(fn, self, args);
    if (!program.called) {
      program.called = true;
      if (stance === "eager_then_compile") {
        root.observe(args);
        return apply(fn, self, args);
      }
      if (stance === "aot_eager_then_compile") {
        return withBackend("aot_eager", () => root.call(self, args));
      }
    }
    const { budget } = program;
    if (budget.isSpent && !budget.hasTensors && root.entries.length > 0) forgetEntries(program, root);
    return fasterWay === null
      ? serve(self, args)
      : fasterWay.serve({ compiled: () => serve(self, args), plain: () => apply(fn, self, args) });
  };
  const callable = function (this: unknown, ...args: unknown[]): unknown {
    try {
      return call(this, args);
    } catch (error) {
      traceCallers(error);
      throw error;
    }
  };
  standFor(callable, fn);
  beOfKind(callable, fn);
  markFunction(callable, { kind: "compiled", original: fn });
  remember({ fn, callable, program, root, fasterWay });
  return callable as unknown as F;
}

/** Code that checks whether a function is async or a generator inspects its prototype; generators inherit from it. */
function beOfKind(callable: object, fn: object): void {
  const kind = Object.getPrototypeOf(fn);
  if (kind !== Object.getPrototypeOf(callable)) Object.setPrototypeOf(callable, kind);
  const prototype: unknown = Reflect.getOwnPropertyDescriptor(fn, "prototype")?.value;
  if (prototype) Reflect.set(callable, "prototype", prototype);
}

function modeOf(dynamic: boolean | undefined): DynamicMode {
  return dynamic === undefined ? "automatic" : dynamic ? "always" : "never";
}

function remember(compiled: Compiled): void {
  byCallable.set(compiled.callable, compiled);
  const reference = new WeakRef(compiled), { fn } = compiled;
  let ofFunction = byFunction.get(fn);
  if (!ofFunction) byFunction.set(fn, ofFunction = new Set());
  const lists = [ofFunction, all];
  for (const list of lists) list.add(reference);
  dropped.register(compiled, () => {
    for (const list of lists) list.delete(reference);
  });
}

/** Returns the compilations of a callable or of a compiled function. */
function compiledOf(fn: object): Compiled[] {
  const own = byCallable.get(fn);
  if (own) return [own];
  return [...byFunction.get(fn) ?? []].flatMap((reference) => reference.deref() ?? []);
}

function forgetEntries(program: Program, root: Unit): void {
  resumedUnits(program).clear();
  program.versions = 0;
  root.clear();
}

/** Forgets every entry of every function. */
export function reset(): void {
  for (const reference of all) {
    const compiled = reference.deref();
    if (!compiled) continue;
    const { program, root, fasterWay } = compiled;
    program.clear();
    fasterWay?.clear();
    forgetEntries(program, root);
  }
  resetGraphNames();
  forgetProfiles();
}

/** The same callable without further compilation: calls that no entry serves run the original function. */
export function frozen<F extends AnyFunction>(fn: F): F {
  const [compiled] = compiledOf(fn);
  if (!compiled) return fn;
  const { program, root } = compiled;
  const callable = function (this: unknown, ...args: unknown[]): unknown {
    const former = program.frozen;
    program.frozen = true;
    try {
      return root.call(this, args);
    } finally {
      program.frozen = former;
    }
  };
  return callable as unknown as F;
}

/** One entry, for inspection by users. */
export interface CacheEntry {
  readonly guards: {
    readonly codeParts: readonly string[];
    /** Returns whether a call with these arguments is served; `this` is the receiver. */
    check(this: unknown, ...args: readonly unknown[]): boolean;
    /** The source of the check function. */
    readonly code: string;
  };
  /** The modified function's source. */
  readonly code: string;
  readonly graph: GraphModule | null;
  readonly hits: number;
}

/** The entries of a compiled function, most recent hit first. */
export function cacheEntries(fn: object): CacheEntry[] {
  return compiledOf(fn).flatMap(({ root }) => root.entries.map(describe));
}

/** The sizes and numbers of the inputs that each version of a compiled function takes, most recent hit first. */
export function shapes(fn: object): ShapeReport[] {
  return compiledOf(fn).flatMap(({ root }) => root.entries.map(shapeReport));
}

/** The entries of the parts that continue after graph breaks, by the name of the part. */
export function resumedEntries(fn: object): Map<string, CacheEntry[]> {
  const found = new Map<string, CacheEntry[]>();
  for (const { program } of compiledOf(fn)) {
    for (const unit of resumedUnits(program).values()) found.set(unit.body.name, unit.entries.map(describe));
  }
  return found;
}

function describe(entry: Entry): CacheEntry {
  return {
    guards: {
      codeParts: entry.guards.map((guard) => factText(guard.fact)),
      check(...args) {
        return entry.check(this, args) === -1;
      },
      code: entry.checkText,
    },
    code: entry.code,
    graph: entry.graph,
    hits: entry.hits,
  };
}

/** The state of a compiled function. */
export interface CompiledStatus {
  readonly entries: number;
  readonly hits: number;
  /** The reason why it runs uncompiled, null if it does not. */
  readonly givenUp: string | null;
  /** Calls that have run uncompiled, including those of its parts after graph breaks. */
  readonly uncompiled: readonly UncompiledCalls[];
  /** The times of calls in both ways, if they were measured. */
  readonly times: CallTimes | null;
}

/** The state of a compiled function; null for functions that were not compiled. */
export function statusOf(fn: object): CompiledStatus | null {
  const [compiled] = compiledOf(fn);
  if (!compiled) return null;
  const { root: { entries, givenUp }, program, fasterWay } = compiled;
  const hits = entries.reduce((sum, e) => sum + e.hits, 0);
  const times = fasterWay?.times ?? null;
  return { entries: entries.length, hits, givenUp, uncompiled: program.uncompiled.list(), times };
}
