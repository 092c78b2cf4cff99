/**
 * Compiles one entry of a unit: traces a call, compiles its graph, and generates the modified function. The entry
 * serves all calls that its guards admit, including this one. Invariant: no effect of the program has happened when
 * this returns, except that optimizer states may have been created, which the caller removes if its call does not step
 * the optimizer; the caller runs the entry.
 */
import { config } from "../../base/config.ts";
import { asProgram } from "../../base/own_builtins.ts";
import { type BreakReason, Unsupported } from "../../base/errors.ts";
import { counters, logs } from "../../base/logs.ts";
import { recording } from "../../base/recording.ts";
import { sourceText } from "../../sym/size_guards.ts";
import { ambient } from "../../tensor/modes.ts";
import { Generator } from "../../tensor/random.ts";
import { modes, Tensor } from "../../tensor/tensor.ts";
import { ambientState } from "../ambient.ts";
import { type BreakCause, type BreakKind, breakReason, isForCounts } from "../break_reasons.ts";
import { type CapturedGraph, compileGraph } from "./captured_graph.ts";
import { checkMarks, parametersOf } from "./checked_marks.ts";
import { refuseBreak, reportBreak } from "../told_breaks.ts";
import { changesElements, hasChangedProperties, isChanged } from "../codegen/effects.ts";
import { buildModified, type ModifiedCode } from "../codegen/modified.ts";
import { UnsupportedSyntax } from "../bytecode/code.ts";
import { sourceReads } from "../guards/guard_reader.ts";
import { filterGuards } from "../guards/filters.ts";
import type { Guard } from "../guards/guard.ts";
import { factText, guardText } from "../guards/text.ts";
import { boundPartsOf, checked, readCaptured, tracedCodeOf, wayOut } from "./entry_parts.ts";
import { isErrorAt } from "../functions/error_on_break.ts";
import { proxyParts } from "../functions/functions.ts";
import { cacheCapture, captureKey } from "../disk_cache/captures.ts";
import { cachedEntry, type Call, callOf } from "../disk_cache/cached_entry.ts";
import { NotedReads, notingReads } from "../disk_cache/noted_reads.ts";
import { knowledge } from "../functions/knowledge.ts";
import { cellOfBox } from "../resume/cells.ts";
import { closurePrinter } from "../resume/closure_printer.ts";
import { ANONYMOUS } from "./root_body.ts";
import { branchTail, breakTail } from "../resume/resume.ts";
import { waitTail } from "../resume/waits.ts";
import type { End, Tail } from "../resume/ways.ts";
import { inAsyncCall } from "../resume/suspension.ts";
import { lastingCalls } from "../trace/later_calls.ts";
import { Machine, type Outcome } from "../trace/machine.ts";
import { type Interruption, Restart, SymbolicLimit } from "../trace/restart.ts";
import { RepeatedCalls, type RepeatPlan } from "../repeats/memory.ts";
import { OutputGraph } from "../trace/output_graph.ts";
import { userFrames, userPositionIn } from "../trace/positions.ts";
import { refuseOutliving, refuseUsedHistories } from "../trace/history_starts.ts";
import { guardMemory } from "../trace/memory.ts";
import { guardDistinctTensors } from "../trace/distinct_tensors.ts";
import { guardWrites } from "../trace/written_memory.ts";
import type { Encounter } from "./trace_budget.ts";
import { CannotTrace, type Entry, type Unit } from "./unit.ts";
import { Wrapper } from "../variables/wrap.ts";
import { Parameter } from "../../nn/parameter.ts";
import { Box, LiveView } from "../bytecode/runtime.ts";
import type { LiveCell } from "../source.ts";
import type { ObjectValue, Value } from "../variables/value.ts";
import type { Frame } from "../trace/interpreter.ts";
import { modesOf } from "../trace/region_modes.ts";

/** Maximum number of restarts of a trace. */
const MOST_ATTEMPTS = 200;

/** Counts entries whose guards reject the very call for which they were compiled. */
export const SELF_REFUSING = "reject their own call";

/** Compiles an entry. Throws CannotTrace, Unsupported (fullgraph) or BackendCompilerFailed. */
export function compileEntry(unit: Unit, self: unknown, args: readonly unknown[]): Entry {
  const key = captureKey(unit, args);
  const entry = (key === null ? null : cachedEntry(unit, key, { self, args })) ??
    traceEntry(unit, key, { self, args });
  // Such an entry would serve no call, and every call would recompile. Guards see the program's replacements of
  // builtins
  if (asProgram(() => entry.check(self, args)) !== -1) counters.add("guards", SELF_REFUSING);
  return entry;
}

/** Traces a call, repeatedly if instructions turn out to break the graph. */
function traceEntry(unit: Unit, key: string | null, { self, args }: Call): Entry {
  const interruptions = new Map<number, Interruption>();
  const repeats: RepeatPlan = { allowed: true, made: 0 };
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    try {
      const reads = new NotedReads();
      unit.history.asked = key === null ? null : [];
      const attempt = () =>
        attemptEntry(unit, {
          self,
          args,
          interruptions,
          repeats,
          keep: key === null ? null : { key, reads },
        });
      return key === null ? attempt() : notingReads(reads, attempt);
    } catch (error) {
      // If calls were not inlined, instructions have no numbers to return to
      const countsSteps = error instanceof Restart || (error instanceof SymbolicLimit && error.step !== null);
      if (countsSteps && repeats.made > 0) repeats.allowed = false;
      else if (error instanceof Restart) interruptions.set(error.step, error.interruption);
      else if (error instanceof SymbolicLimit) settle(unit, error, interruptions);
      else throw error;
    } finally {
      unit.history.asked = null;
      repeats.made = 0;
    }
  }
  throw new CannotTrace("the trace was restarted too often");
}

/** Makes constants of the sizes for which a rule is missing; if they are constants already, the graph breaks there. */
function settle(unit: Unit, limit: SymbolicLimit, interruptions: Map<number, Interruption>): void {
  const fixed = limit.sizes.filter((size) => unit.history.fix(size, limit.rule));
  if (fixed.length > 0) {
    logs.emit("dynamic", () => `${limit.message}: ${fixed.map(sourceText).join(", ")} are constants now`);
    counters.add("symbolic_limits", limit.rule);
    // Numbers of instructions may differ once sizes are constants.
    interruptions.clear();
  } else if (limit.step === null) throw limit.cause;
  else {
    const cause = { kind: "symbolicLimit", detail: limit.rule } as const;
    interruptions.set(limit.step, { kind: "break", cause });
  }
}

interface Attempt {
  readonly self: unknown;
  readonly args: readonly unknown[];
  readonly interruptions: ReadonlyMap<number, Interruption>;
  readonly repeats: RepeatPlan;
  /** Where the result is cached; null: nowhere. */
  readonly keep: { readonly key: string; readonly reads: NotedReads } | null;
}

interface Traced extends Pick<Attempt, "self" | "args" | "keep"> {
  readonly unit: Unit;
  readonly machine: Machine;
  readonly output: OutputGraph;
  /** The reason why the graph ends before the function does. */
  readonly broke: BreakReason | null;
}

function attemptEntry(unit: Unit, { self, args, interruptions, repeats, keep }: Attempt): Entry {
  const { program, body } = unit;
  unit.earlyStates.beginTrace();
  const machineHolder: { machine: Machine | null } = { machine: null };
  const place = body.place();
  const output = new OutputGraph({
    stack() {
      const stack = machineHolder.machine?.stack() ?? [];
      return stack.length > 0 || !place ? stack : [place];
    },
    place: () => userPositionIn(machineHolder.machine?.frames ?? []) ?? place,
    step: () => (machineHolder.machine?.steps ?? 0) - 1,
    recomputed: () => {
      for (const { recomputed, calledAt } of machineHolder.machine?.frames ?? []) {
        if (recomputed !== null) return { call: recomputed, calledAt };
      }
      return null;
    },
    regionCall: () =>
      machineHolder.machine?.frames.find(({ regionCall }) => regionCall !== null)?.regionCall ?? null,
  });
  output.sizes.mayAssume = unit.history.mayAssume;
  const wrapper = new Wrapper(output, {
    mayBreak: () => !program.options.fullgraph && !isErrorAt(machineHolder.machine?.frames ?? []),
    dynamic: config.dynamicShapes ? program.options.dynamic : "never",
    history: unit.history,
    shapes: program.shapes(() => body.parameters, parametersOf),
    endedLoops: program.endedLoops,
    version: unit.entries.length,
    codeOf: tracedCodeOf,
    boundParts: boundPartsOf,
    variableOf,
    proxyParts,
    isAmbient: (real) =>
      real === ambient || real === modes || Object.getPrototypeOf(real) === Generator.prototype,
    isPlainTensor: (tensor) => {
      const prototype: unknown = Object.getPrototypeOf(tensor);
      return prototype === Tensor.prototype || prototype === Parameter.prototype;
    },
    isParameter: (tensor) => tensor instanceof Parameter,
  });
  const machine = machineHolder.machine = new Machine(
    output,
    wrapper,
    knowledge,
    interruptions,
    unit.earlyStates,
    new RepeatedCalls(repeats),
  );
  output.guard({ kind: "globalState", state: ambientState(), methods: output.methods, later: output.later });
  const frames = body.begin(machine, self, args);
  if (typeof frames === "string") throw new CannotTrace(frames);
  for (const frame of frames) machine.push(frame);
  let outcome: Outcome;
  try {
    outcome = recording.phase("trace", () => modes.without(() => machine.run()));
  } finally {
    program.budget.spend(machine.steps, { meets: encounterOf(unit, wrapper, output) });
  }
  checkMarks(wrapper, output);
  if (!program.options.fullgraph || (outcome.kind !== "break" && outcome.kind !== "branch")) {
    machine.standIns.demandNothing();
  }
  return makeEntry({ unit, machine, output, self, args, keep, broke: null }, outcome);
}

function encounterOf({ program }: Unit, { tensors }: Wrapper, output: OutputGraph): Encounter {
  // Whole graphs or an error are requested
  if (program.options.fullgraph || output.graph.nodes.length > output.inputs.length) return "computations";
  return tensors.length > 0 || output.tensors.size > 0 ? "tensors" : "nothing";
}

function makeEntry(traced: Traced, outcome: Outcome): Entry {
  switch (outcome.kind) {
    case "return":
      return resumed(traced, [], () => ({
        needed: [outcome.value],
        write: ({ rebuild }) => {
          const text = rebuild.value(outcome.value);
          return text === "undefined" ? [] : [`return ${text};`];
        },
      }));
    case "endless":
      throw new CannotTrace(outcome.because);
    case "escape":
      return throwingEntry(traced, outcome);
    case "break": {
      const { frames, cause } = outcome, end = endOf(traced, frames);
      return broken(
        traced,
        { frames, cause },
        () => waitTail(end) ?? breakTail(end, cause.kind === "changingText"),
      );
    }
    case "branch": {
      const { frames } = outcome, cause = { kind: "genericJump", detail: "" } as const;
      return broken(traced, { frames, cause }, () => branchTail(endOf(traced, frames)));
    }
    default:
      return outcome satisfies never;
  }
}

/** Returns where a trace has ended. */
function endOf({ unit, machine }: Traced, frames: readonly Frame[]): End {
  return { unit, frames, modes: { now: modesOf(machine), entered: machine.entered } };
}

/**
 * An entry whose graph ends before the function does. The break is reported once there is an entry: an abandoned
 * attempt has broken nothing. Throws Unsupported if the user requires whole graphs.
 */
function broken(
  traced: Traced,
  { frames, cause }: { readonly frames: readonly Frame[]; readonly cause: BreakCause },
  tailOf: () => Tail | null,
): Entry {
  const broke = breakReason(cause, userFrames(frames)), { program } = traced.unit;
  refuseBreak(program, broke);
  const entry = resumed({ ...traced, broke }, frames, tailOf);
  if (!entry.plain) reportBreak(program, broke);
  return entry;
}

/** The variable of an object that generated code shares with closures created by it. */
function variableOf(real: object): { readonly name: string; readonly cell: LiveCell } | null {
  const prototype: unknown = Object.getPrototypeOf(real);
  if (prototype === Box.prototype && real instanceof Box) return { name: real.name, cell: cellOfBox(real) };
  return prototype === LiveView.prototype && real instanceof LiveView ? { name: "", cell: real.cell } : null;
}

/** An entry that continues after the graph; plain JavaScript if the rest cannot be written as separate code. */
function resumed(traced: Traced, frames: readonly Frame[], tailOf: () => Tail | null): Entry {
  let detail = "";
  try {
    const tail = tailOf();
    if (tail) return assemble(traced, tail.needed, tail.write);
  } catch (error) {
    if (!(error instanceof UnsupportedSyntax)) throw error;
    detail = error.construct;
  }
  const { unit } = traced;
  const reason = breakReason({ kind: "unresumable", detail }, userFrames(frames));
  const count = unit.program.uncompiled.begin(unit.body.name, reason, { expected: false });
  return plainEntry(traced, (run) => {
    count();
    return run();
  });
}

/**
 * An entry for calls that throw to their caller: plain JavaScript throws the exception, after everything that precedes
 * it.
 */
function throwingEntry(traced: Traced, { because, stack }: Extract<Outcome, { kind: "escape" }>): Entry {
  const { unit, machine } = traced, { program, body } = unit;
  const reason = (kind: BreakKind) => breakReason({ kind, detail: because }, stack);
  const count = program.uncompiled.begin(body.name, reason("leaves"), { expected: true });
  let isTraced = true;
  const entry = plainEntry(traced, (run) => {
    const first = isTraced;
    isTraced = false;
    count();
    const result = run();
    // An async function rejects instead, at its own time.
    if (machine.isAsync) return result;
    // A call other than the traced one gets its own entry, if the guards did not distinguish them.
    if (!first && unit.withdraw(entry)) return result;
    program.uncompiled.begin(body.name, reason("disagreement"), { expected: false })();
    if (program.options.fullgraph) throw new Unsupported(reason("disagreement"));
    return result;
  });
  return entry;
}

/** An entry that leaves calls to plain JavaScript: exactly those that would end the same way. */
function plainEntry(traced: Traced, around: (run: () => unknown) => unknown): Entry {
  const { unit: { body }, output } = traced;
  const guards = keptGuards(traced);
  return {
    ...checked(guards, output),
    guards,
    run(this: unknown, ...args: readonly unknown[]) {
      return around(() => body.runPlain(this, args));
    },
    code: `// ${body.name} runs as it is`,
    graph: null,
    plain: true,
    forCounts: false,
    hits: 0,
    failed: false,
  };
}

/** The guards of the trace that the user's filter keeps. */
function keptGuards({ unit, output, self, args }: Traced): readonly Guard[] {
  const guards = output.allGuards(), { guardFilter } = unit.program.options;
  if (guardFilter === null) return guards;
  const about = { call: { self, args }, read: sourceReads(readCaptured) };
  return filterGuards(guards, (entries) => asProgram(() => guardFilter(entries)), about);
}

function assemble(
  traced: Traced,
  needed: readonly Value[],
  tail: (code: ModifiedCode) => readonly string[],
): Entry {
  const { unit, machine, output, self, args } = traced;
  const { body } = unit, isAsyncCall = machine.isAsync && !body.resumed;
  guardAliases(machine, output);
  guardElements(machine, output);
  const made: { entry: Entry | null } = { entry: null };
  let graph: CapturedGraph | null = null;
  const modified = buildModified({
    name: body.name === ANONYMOUS ? "anonymous" : body.name,
    parameters: body.parameters,
    output,
    state: {
      objects: machine.wrapper.objects,
      // A history that was started does not outlive the trace; new parameters get their properties where they are first
      // seen
      tensors: [...new Set([...machine.wrapper.tensors, ...output.tensors.values()])].filter((t) =>
        ((t.assigned.size > 0 || t.layoutChanges.length > 0) && !t.isBegun) ||
        (t.real !== null && t.privates.size > 0)
      ),
      cells: [...machine.cells.values()],
    },
    printer: closurePrinter,
    readCaptured,
    failed: wayOut(unit, { graph: () => graph, made, isAsyncCall }),
    first: lastingCalls(machine),
    needed: [...needed, ...machine.deferred.flatMap((r) => [r.callee, r.self, ...r.args])],
    tail: (code) => {
      const deferred = machine.deferred.map((r) => `${code.rebuild.call(r.callee, r.self, r.args)};`);
      return [...deferred, ...tail(code)];
    },
    compile: (results) => {
      if (output.operations === 0 && results.every((node) => node.op === "placeholder")) {
        if (results.length === 0) return null;
      }
      refuseOutliving(machine, output, results);
      refuseUsedHistories(machine, output, results);
      guardWrites(machine, output, results);
      return graph = compileGraph(unit, output, results);
    },
  });
  const guards = keptGuards(traced);
  unit.program.options.hooks.onGuards?.(guards.map((guard) => factText(guard.fact)));
  logs.emit("guards", () => `Guards of ${body.name}:\n${guards.map((g) => `  ${guardText(g)}`).join("\n")}`);
  logs.emit("bytecode", () => `Modified code of ${body.name}:\n${modified.text}`);
  const { text: code } = modified;
  unit.program.options.hooks.onTraced?.({
    sizes: output.sizes,
    valueNamed: (base) => sourceReads(readCaptured)(output.sourceNamed(base), { self, args }),
    effects: [
      ...modified.effects,
      ...machine.laterCalls.map(() => "a call of the runtime that comes later"),
      ...machine.deferred.map(() => "a call of the console"),
    ],
  });
  const run = isAsyncCall ? inAsyncCall(modified.run) : modified.run;
  const captured = graph as CapturedGraph | null, gm = captured?.gm ?? null;
  const { keep, broke } = traced, forCounts = isForCounts(broke);
  const entry = {
    ...checked(guards, output),
    guards,
    run,
    code,
    graph: gm,
    plain: false,
    forCounts,
    hits: 0,
    failed: false,
  };
  if (keep) {
    const { key, reads } = keep, { met } = machine.wrapper, { asked } = unit.history;
    const call = callOf(unit, { self, args });
    if (entry.check(self, args) !== -1) {
      reads.refused ??= "its guards reject the call that they were created for";
    }
    const place = body.resumed ? null : body.place();
    const way = { guards, modified, isAsyncCall, broke, place };
    cacheCapture(unit, key, { call, reads, met, asked, output, graph: captured, ...way });
  }
  return made.entry = entry;
}

/** Objects and tensors that were changed must not alias others that the trace treated as distinct. */
function guardAliases(machine: Machine, output: OutputGraph): void {
  const { objects, tensors } = machine.wrapper;
  guardMemory(machine.wrapper);
  // The memory of an object has its own guards
  const hasChanged = (object: ObjectValue): boolean =>
    object.written || (object.exotic.kind === "bytes" ? hasChangedProperties(object) : isChanged(object));
  for (const kinds of Map.groupBy(objects, ({ exotic }) => exotic.kind).values()) {
    const [changed, others] = [true, false].map((which) =>
      kinds.flatMap((object) => hasChanged(object) === which ? object.source ?? [] : [])
    );
    if (changed && changed.length > 0) output.guardDistinct(changed, others);
  }
  const [changed = [], others = []] = [true, false].map((which) =>
    tensors.filter(({ assigned, privates, layoutChanges }) =>
      (assigned.size + privates.size + layoutChanges.length > 0) === which
    )
  );
  guardDistinctTensors(output, changed, others);
}

/** Elements of arrays that were changed may change in other calls, too. */
function guardElements(machine: Machine, output: OutputGraph): void {
  for (const object of machine.wrapper.objects) {
    const { source, exotic } = object;
    if (!source || exotic.kind !== "array" || !isChanged(object)) continue;
    if (changesElements(object)) output.guard({ kind: "elements", source });
    if (exotic.growing || exotic.elements.length !== exotic.originals.length) {
      output.guard({ kind: "writable", source, key: "length" });
    }
  }
}
