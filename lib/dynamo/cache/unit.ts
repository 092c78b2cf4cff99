/**
 * A compiled unit: a function, or the rest of one after plain JavaScript has run, with its cache of entries. A call
 * is served by the first entry whose guards hold, by a new entry, or by plain JavaScript. Invariant: however a call
 * is served, it does what the original would have done.
 */
import { EarlyStates } from "../../optim/early_states.ts";
import { config } from "../../base/config.ts";
import {
  BackendCompilerFailed,
  type BreakReason,
  DynError,
  FailOnRecompileLimitHit,
  messageOf,
  type OperandRefused,
  setTraceLimit,
  Unsupported,
} from "../../base/errors.ts";
import { bisection } from "../../base/bisect.ts";
import { functionTitle } from "../../base/compile_times.ts";
import { counters, logs } from "../../base/logs.ts";
import { observed } from "../../base/observation.ts";
import { recording } from "../../base/recording.ts";
import { changesText, type Mismatch, mismatchOf, mismatchText } from "../guards/found.ts";
import type { GuardReader } from "../guards/guard_reader.ts";
import { type Limit, remediesText, replacedVersions } from "./limits.ts";
import { EntryIndex, FEW_ENTRIES } from "../guards/entry_index.ts";
import type { Guard } from "../guards/guard.ts";
import type { Check } from "../guards/check.ts";
import { watchNextRun } from "../frame/bindings.ts";
import { captureMany } from "../frame/capture.ts";
import { isUntilTask } from "../frame/inspector.ts";
import { VariablesPending } from "../functions/functions.ts";
import { ChangeHistory, isChanging } from "./automatic_dynamic.ts";
import { profileOf } from "./dynamic_profile.ts";
import { givesAllObjectsElements, iteratesArraysAsLoaded } from "../../base/loaded_builtins.ts";
import {
  apply,
  asProgram,
  preferringOwnBuiltins,
  ReplacedBuiltins,
  reportWithOwnBuiltins,
  withOwnBuiltins,
} from "../../base/own_builtins.ts";
import { argumentLabel, argumentSource, propertySource } from "../source.ts";
import { type RegionModes, throughRegions } from "../../tensor/modes.ts";
import { isTensor } from "../../tensor/tensor.ts";
import { isUninitialized } from "../../tensor/uninitialized.ts";
import { currentStance, forcedBackend, skipsGuards } from "./stance.ts";
import type { ResumePlan } from "../resume/resume_plan.ts";
import type { Program } from "./program.ts";
import type { Frame, Interpreter } from "../trace/interpreter.ts";
import type { SourcePosition } from "../../graph/node.ts";
import type { GraphBackend } from "../../graph/backend.ts";
import type { GraphModule } from "../../graph/graph_module.ts";
import { type BreakKind, breakReason } from "../break_reasons.ts";
import type { CountCall } from "./uncompiled.ts";

/** One compiled version of a unit. */
export interface Entry {
  readonly guards: readonly Guard[];
  readonly check: Check;
  readonly checkText: string;
  /** Reads the values that guards check, for reports. */
  readonly reader: GuardReader;
  /** Called with the unit's receiver and arguments. */
  readonly run: (...args: readonly unknown[]) => unknown;
  /** Called with the unit's receiver and arguments. */
  readonly code: string;
  readonly graph: GraphModule | null;
  /** Whether calls run as the program is written. */
  readonly plain: boolean;
  /** Whether its graph ends to serve all counts of a loop or a list: entries for the count of a call are preferred. */
  readonly forCounts: boolean;
  hits: number;
  /** Whether the call that it was compiled for ended in an exception: others take its place at the limit. */
  failed: boolean;
}

/** The body of a unit: a function or the rest of one. */
export interface UnitBody {
  readonly name: string;
  /** The plan at which it resumes, if it is the rest of a function. */
  readonly resumed: ResumePlan | null;
  /** Names of the parameters, as guards and generated code write them. */
  readonly parameters: readonly string[];
  /** Returns the source position for guards on its parameters. */
  place(): SourcePosition | null;
  /** Sets that position, so that the module need not be parsed for it. */
  beAt?(place: SourcePosition): void;
  /** Returns frames for tracing a call, or the reason why it cannot be traced. */
  begin(m: Interpreter, self: unknown, args: readonly unknown[]): readonly Frame[] | string;
  /** Runs a call without compiling anything. */
  runPlain(self: unknown, args: readonly unknown[]): unknown;
  /** Parameters whose numbers are read from tensors. */
  readonly scalars: ReadonlySet<number>;
  /** Parameters that are variables which closures share. */
  readonly variables: ReadonlySet<number>;
}

/** Compiles an entry for a call; defined in compile_entry.ts. */
type EntryCompiler = (unit: Unit, self: unknown, args: readonly unknown[]) => Entry;

const ARRAYS_REPLACED = "the program has replaced the iterator of arrays, or gives all objects elements";

/** Serves a call, using the program's builtins. */
type Serve = () => unknown;

const { setTimeout: inNextTask } = globalThis;

/** Number of times that a unit may withdraw an entry before that counts as a fault. */
const MOST_WITHDRAWN = 4;

export class Unit {
  /** A new list whenever entries are added or removed; short lists are ordered by last hit, those for counts behind. */
  entries: Entry[] = [];
  readonly history: ChangeHistory;
  /** The continuation in this unit, called at the end of modified functions. */
  readonly resume: (...args: readonly unknown[]) => Resumption = (...args) => new Resumption(this, args);
  /** Whether the limit on the number of versions has been warned about. */
  isWarned = false;
  /** Set once the unit is given up: the reason why every further call runs uncompiled. */
  givenUp: string | null = null;
  #countPlain: CountCall | null = null;
  /** Whether a task is scheduled to compile what the current one cannot. */
  #waits = false;
  #withdrawn = 0;
  /** Places whose changes have replaced entries. */
  readonly #replacedPlaces = new Set<string>();
  /** The backend of the entries; null: the function's own. */
  #backend: GraphBackend | null = null;
  /** Entries of other backends that were active. */
  #index: EntryIndex<Entry> | null = null;
  readonly #others = new Map<GraphBackend | null, Entry[]>();

  constructor(readonly program: Program, readonly body: UnitBody, readonly compileEntry: EntryCompiler) {
    this.history = new ChangeHistory(
      profileOf(() => {
        const { file = "", line = 0, column = 0 } = body.place() ?? {};
        return `${file}:${line}:${column} ${body.resumed ? "resumed " : ""}${program.name}`;
      }),
      () => this.title,
    );
    this.expectScalars(body.scalars);
  }

  /** Declares that the numbers of parameters, or of the variables that these are, are never constants. */
  expectScalars(parameters: Iterable<number>): void {
    const { body, history } = this;
    for (const index of parameters) {
      const source = argumentSource(argumentLabel(body.parameters, index), index);
      history.expectChanges((body.variables.has(index) ? propertySource(source, "v") : source).name);
    }
  }

  /** States of optimizers that the current call has created. */
  readonly earlyStates: EarlyStates = new EarlyStates();

  /** The title in messages: the function, with the line at which a rest of one resumes. */
  get title(): string {
    const { program, body } = this;
    const title = functionTitle({ name: program.name, place: program.place() });
    const place = body.resumed ? body.place() : null;
    return place ? `${title} (resumed at line ${place.line})` : title;
  }

  /** Withdraws an entry that has served a call that it does not fit; returns false if that happens too often. */
  withdraw(entry: Entry): boolean {
    if (this.#withdrawn >= MOST_WITHDRAWN) return false;
    this.#withdrawn++;
    this.entries = this.entries.filter((each) => each !== entry);
    this.program.versions--;
    return true;
  }

  /** Learns from a call that runs uncompiled which sizes and numbers change. */
  observe(args: readonly unknown[]): void {
    const { parameters } = this.body;
    args.forEach((value, index) => {
      const { name } = argumentSource(argumentLabel(parameters, index), index);
      if (typeof value === "number") this.history.numberChanges(name, value);
      else if (isTensor(value) && !isUninitialized(value)) {
        this.history.shapeChanges(name, value.shape);
        this.history.strideChanges(name, value.stride());
      }
    });
  }

  /** Serves a call to its end. */
  call(self: unknown, args: readonly unknown[]): unknown {
    return settle(this.begin(self, args));
  }

  /** Serves a call as far as its entry goes: returns its result, or where it continues. */
  begin(self: unknown, args: readonly unknown[]): unknown {
    if (this.#backend !== forcedBackend()) this.#useBackend(forcedBackend());
    // By index: the program may have replaced the iteration of arrays.
    const { entries } = this, only = entries.length === 1 ? entries[0] : undefined;
    if (only && skipsGuards()) {
      if (!only.plain) only.hits++;
      return apply(only.run, self, args);
    }
    const entry = observed.by === null || entries.length === 0
      ? this.#lookUp(self, args)
      : observed.by.span("guards", `guards of ${this.title}`, () => this.#lookUp(self, args));
    if (entry === null) return this.#miss(self, args);
    if (!entry.plain) entry.hits++;
    return apply(entry.run, self, args);
  }

  /** The first entry whose guards hold for a call, which is moved to the front of its kind. */
  #lookUp(self: unknown, args: readonly unknown[]): Entry | null {
    const { entries } = this;
    const candidates = entries.length > FEW_ENTRIES ? this.#indexed.candidates(self, args) : entries;
    for (let i = 0; i < candidates.length; i++) {
      const entry = candidates[i];
      if (entry === undefined || entry.check(self, args) !== -1) continue;
      if (i > 0 && candidates === entries) {
        // Without methods of arrays, which the program may have replaced
        let k = i;
        for (; k > 0; k--) {
          const before = entries[k - 1];
          if (before === undefined || (entry.forCounts && !before.forCounts)) break;
          entries[k] = before;
        }
        entries[k] = entry;
      }
      return entry;
    }
    return null;
  }

  /** The entries, indexed by the values that distinguish them. */
  get #indexed(): EntryIndex<Entry> {
    const { entries } = this;
    if (this.#index?.entries !== entries) this.#index = preferringOwnBuiltins(() => new EntryIndex(entries));
    return this.#index;
  }

  /** Switches to a backend, which has entries of its own. */
  #useBackend(backend: GraphBackend | null): void {
    this.#others.set(this.#backend, this.entries);
    this.entries = this.#others.get(backend) ?? [];
    this.#backend = backend;
  }

  /** The backend that compiles new entries. */
  get backend(): GraphBackend {
    const { backend, wrapBackend } = this.program.options;
    return this.#backend === null ? backend : wrapBackend(this.#backend);
  }

  /** Drops all entries and what was learnt with them. */
  clear(): void {
    this.entries = [];
    this.#others.clear();
    this.givenUp = null;
    this.isWarned = false;
    this.#replacedPlaces.clear();
    this.history.clear();
  }

  #miss(self: unknown, args: readonly unknown[]): unknown {
    const { body, program } = this;
    const stance = currentStance();
    if (program.frozen || stance === "run_only") return body.runPlain(self, args);
    if (this.givenUp !== null || this.#waits) {
      this.#countPlain?.();
      return body.runPlain(self, args);
    }
    if (program.budget.isSpent) return this.#runTensorless(self, args);
    if (!iteratesArraysAsLoaded() || givesAllObjectsElements()) {
      reportWithOwnBuiltins(() => this.#countUncompiled("untraceable", ARRAYS_REPLACED)());
      return body.runPlain(self, args);
    }
    // In one batch with the watch of the next run, which otherwise would enable the debugger again
    const serve = preferringOwnBuiltins(() => captureMany(() => this.#decide(self, args)));
    return serve();
  }

  /** Decides how to serve a call without a matching entry: by a new entry, or uncompiled. */
  #decide(self: unknown, args: readonly unknown[]): Serve {
    const { body, program } = this, stance = currentStance();
    const plain = () => body.runPlain(self, args);
    let mismatches: readonly Mismatch[] = [], reasons: readonly string[] = [];
    if (this.entries.length > 0) {
      if (stance === "eager_on_recompile") return plain;
      mismatches = this.#mismatches(self, args);
      reasons = [...new Set(mismatches.map(mismatchText))];
      logs.emit("recompiles", () => `Recompiling ${this.title}\n${reasons.map((r) => `  ${r}`).join("\n")}`);
      counters.add("recompiles", body.name);
      const { title } = this;
      asProgram(() => program.options.hooks.onRecompile?.(title, reasons));
      if (stance === "fail_on_recompile" || config.errorOnRecompile) {
        throw new Unsupported(this.#reason("recompilation", `${this.title}: ${reasons.join("; ")}`));
      }
    }
    const limit = this.#reachedLimit();
    if (limit !== null && !this.#makesRoom(limit, mismatches)) {
      return this.#overLimit(limit, { self, args, mismatches });
    }
    if (config.debugFunction !== "" && config.debugFunction !== program.name) return plain;
    if (!bisection.allows("frames", () => this.title)) {
      this.givenUp = "left out by bisection";
      return plain;
    }
    let entry: Entry;
    const traceLimit = config.verbose ? setTraceLimit(Infinity) : null;
    try {
      const root = { name: program.name, place: program.place };
      const about = { name: body.name, place: () => body.place(), root, reasons };
      entry = withOwnBuiltins(() =>
        recording.compile(this, about, () => this.compileEntry(this, self, args))
      );
    } catch (error) {
      this.earlyStates.removeUnused();
      if (error instanceof CannotTrace || error instanceof ReplacedBuiltins) {
        this.#giveUp("untraceable", error.message);
      } else if (error instanceof VariablesPending) return this.#postpone(error.message, self, args);
      else if (isUntilTask(error)) return this.#wait(error.message, self, args);
      else if (error instanceof Unsupported) throw error;
      else if (error instanceof BackendCompilerFailed || error instanceof DynError) {
        if (!config.suppressErrors || program.options.fullgraph) throw error;
        this.#giveUp("compilation", error.message.split("\n", 1).join(), error);
      } else if (isStackOverflow(error)) this.#giveUp("depth", TOO_LONG_CHAIN, error);
      else this.#giveUp("internal", messageOf(error), error);
      this.#countPlain?.();
      return plain;
    } finally {
      if (traceLimit !== null) setTraceLimit(traceLimit);
    }
    logs.emit("dynamo", () => `${this.title} compiled: ${entryText(entry)}`);
    const whole = entry.forCounts ? this.entries.filter(({ forCounts }) => !forCounts) : [];
    this.entries = [...whole, entry, ...this.entries.slice(whole.length)];
    this.program.versions++;
    if (!entry.plain) entry.hits++;
    // Plain JavaScript creates the states itself, in those calls too that end in an exception
    if (entry.plain) this.earlyStates.removeUnused();
    const run = () => {
      try {
        return apply(entry.run, self, args);
      } catch (error) {
        entry.failed = true;
        throw error;
      }
    };
    if (this.earlyStates.isEmpty) return run;
    const created = this.earlyStates.handOver();
    return () => {
      try {
        const result = run();
        preferringOwnBuiltins(() => created.commit());
        return result;
      } finally {
        if (!created.isEmpty) preferringOwnBuiltins(() => created.removeUnused());
      }
    };
  }

  /** Runs this call uncompiled, so that functions whose variables are missing expose them. */
  #postpone(because: string, self: unknown, args: readonly unknown[]): Serve {
    this.#countUncompiled("postponed", because, { expected: true })();
    const watched = watchNextRun(this.body.resumed ? null : this.program.fn);
    return () => watched(() => this.body.runPlain(self, args));
  }

  /** Runs uncompiled in this task, and compiles for such calls in the next one. */
  #wait(because: string, self: unknown, args: readonly unknown[]): Serve {
    const { body, program: { options } } = this;
    this.#waits = true;
    inNextTask(() => {
      this.#waits = false;
      try {
        preferringOwnBuiltins(() => this.#decide(self, args));
      } catch {
        // The next call meets the same error, and throws it to the program
      } finally {
        this.earlyStates.removeUnused();
      }
    });
    if (options.fullgraph) throw new Unsupported(this.#reason("unread", because));
    this.#countPlain = this.#countUncompiled("unread", because);
    this.#countPlain();
    return () => body.runPlain(self, args);
  }

  /** Makes every further call run uncompiled. Throws Unsupported if the user requires whole graphs. */
  #giveUp(
    kind: "untraceable" | "compilation" | "depth" | "internal",
    because: string,
    cause?: unknown,
  ): void {
    if (this.program.options.fullgraph) throw new Unsupported(this.#reason(kind, because), { cause });
    this.#countPlain = this.#countUncompiled(kind, because);
    this.givenUp = because;
  }

  /** Runs the rest of a function plainly in which no tensor was encountered. */
  #runTensorless(self: unknown, args: readonly unknown[]): unknown {
    const { body, program } = this, { budget } = program;
    budget.count ??= preferringOwnBuiltins(() => this.#countUncompiled("withoutTensors", ""));
    budget.count();
    return budget.observe(() => body.runPlain(self, args));
  }

  /** The limit that forbids another version, if reached. */
  #reachedLimit(): Limit | null {
    const { versions, options: { cacheSizeLimit } } = this.program, { length } = this.entries;
    const most = cacheSizeLimit ?? config.cacheSizeLimit;
    // A program inspects a text in several places: further versions there serve all texts
    if (length >= most + 2 * this.history.toldPlaces && length > 0) {
      return { setting: "cacheSizeLimit", most };
    }
    const { accumulatedCacheSizeLimit } = config;
    if (versions < accumulatedCacheSizeLimit) return null;
    return { setting: "accumulatedCacheSizeLimit", most: accumulatedCacheSizeLimit };
  }

  /**
   * Drops the version of a call that ended in an exception, or those that hold constant what changes now; returns false
   * if there are none, or it would not help.
   */
  #makesRoom({ setting }: Limit, mismatches: readonly Mismatch[]): boolean {
    if (setting !== "cacheSizeLimit") return false;
    const { entries } = this, failed = entries.findLast((entry) => entry.failed);
    const dropped = failed
      ? new Set([failed])
      : replacedVersions(entries, mismatches, { unit: this, places: this.#replacedPlaces });
    this.entries = entries.filter((each) => !dropped.has(each));
    return dropped.size > 0;
  }

  #overLimit(limit: Limit, { self, args, mismatches }: {
    readonly self: unknown;
    readonly args: readonly unknown[];
    readonly mismatches: readonly Mismatch[];
  }): Serve {
    const { body, program } = this, { setting, most } = limit;
    // A user who set a limit for this function alone watches it.
    if (program.options.cacheSizeLimit !== null) return () => body.runPlain(self, args);
    const changes = changesText(mismatches).map((change) => `  ${change}`);
    const why = () =>
      [
        `${this.title} has reached config.${setting} (${most})`,
        ...changes.length > 0 ? ["What kept changing:", ...changes] : [],
        ...remediesText(limit, mismatches, this).map((remedy) => `To end this: ${remedy}`),
      ].join("\n");
    if (program.options.fullgraph || config.failOnRecompileLimitHit) {
      throw new FailOnRecompileLimitHit(this.#reason("cacheLimit", why()));
    }
    const warned = setting === "cacheSizeLimit" ? this : program;
    logs.emit(
      "recompiles",
      () => `${why()}\nCalls that none of its versions serves run uncompiled from here on`,
      { level: warned.isWarned ? "info" : "warning", meta: { limit: setting } },
    );
    warned.isWarned = true;
    this.#countUncompiled("cacheLimit", `config.${setting} is ${most}`, { expected: true })();
    return () => body.runPlain(self, args);
  }

  /** Counts a call whose graph the device refuses, although the program itself ends without this error. */
  countRefused({ message }: OperandRefused): void {
    this.#countUncompiled("compilation", message)();
  }

  #reason(kind: BreakKind, detail: string): BreakReason {
    const place = this.body.place();
    return breakReason({ kind, detail }, place ? [place] : []);
  }

  #countUncompiled(kind: BreakKind, detail: string, { expected = false } = {}): CountCall {
    return this.program.uncompiled.begin(this.body.name, this.#reason(kind, detail), { expected });
  }

  /** The reasons why entries do not serve a call. */
  #mismatches(self: unknown, args: readonly unknown[]): Mismatch[] {
    return this.entries.map((entry) => {
      const guard = entry.guards[entry.check(self, args)], fact = guard?.fact;
      if (fact?.kind === "constant" && isChanging(fact.value)) this.history.constantFailed(fact.source.name);
      if (guard) return mismatchOf(guard, { self, args }, entry.reader);
      const text = "a guard could not be evaluated";
      return { subject: text, expected: text, found: null, change: "other", user: null, guard: text };
    });
  }
}

const TOO_LONG_CHAIN = "new objects or closures that refer to each other in a chain that fills the stack";

/** Whether an error is that of the engine when the stack is full. */
const isStackOverflow = (error: unknown): boolean =>
  error instanceof RangeError && error.message === "Maximum call stack size exceeded";

/** Returns a short description of a compiled entry. */
function entryText({ graph, guards }: Entry): string {
  const ops = graph?.graph.nodes.filter((node) => node.op.startsWith("call_")).length ?? 0;
  return `${graph === null ? "no graph" : `a graph of ${ops} operations`}, ${guards.length} guards`;
}

/** The result of a modified function whose program continues in another unit. */
class Resumption {
  /** Modes under which the unit begins; null: the current ones. */
  modes: RegionModes | null = null;

  constructor(readonly unit: Unit, readonly args: readonly unknown[]) {}

  /** Sets the modes, inside a region that an earlier unit entered, or after one. */
  under(modes: RegionModes): this {
    this.modes = modes;
    return this;
  }
}

/**
 * The result of a call that has progressed this far. Loops with graph breaks return here, so that the stack does not
 * grow.
 */
export function settle(begun: unknown): unknown {
  if (!(begun instanceof Resumption)) return begun;
  return throughRegions((enter) => {
    let result: unknown = begun;
    while (result instanceof Resumption) {
      const { unit, args, modes } = result;
      if (modes !== null) enter(modes);
      result = unit.begin(undefined, args);
    }
    return result;
  });
}

/** A frame has no instructions to trace. */
export class CannotTrace extends Error {
  override readonly name = "CannotTrace";
}

/** A backend's failure on a graph of a unit. */
export function backendFailure({ title, body, program }: Unit, cause: unknown): BackendCompilerFailed {
  const place = body.place();
  const of = place ? `${title} (${place.file}:${place.line})` : title;
  // The program's own frames are the outermost.
  const limit = setTraceLimit(Infinity);
  try {
    return new BackendCompilerFailed(program.options.backendName, cause, of);
  } finally {
    setTraceLimit(limit);
  }
}
