/**
 * Captures cached between processes: the trace of the first call of a compiled function, so that a later process in
 * the same state does not trace.
 *
 * Invariant: a capture is reused only if its whole journal holds (journal.ts explains why that suffices), under the
 * key of the same dyn, settings, function and ambient state; a trace that cannot be serialised is not kept, and
 * `DYN_LOGS=cache` says why. After a graph break the rest of the function is a unit with separate captures,
 * identified by its plan.
 */
import { bisection } from "../../base/bisect.ts";
import { config } from "../../base/config.ts";
import { type BreakReason, invariant, messageOf } from "../../base/errors.ts";
import { nearestDifference } from "../../base/cache_miss.ts";
import { cachedEntry, cacheEntry, cachesEntries, dropEntry } from "../../base/cached_entries.ts";
import { type Artifact, counters, logs } from "../../base/logs.ts";
import { hasOwnBuiltins } from "../../base/own_builtins.ts";
import { ownIdentity } from "../../base/own_sources.ts";
import { processLocale } from "../../base/locale.ts";
import { type Plain, recording } from "../../base/recording.ts";
import { portableAddress } from "../../base/portable_addresses.ts";
import { capturedModule } from "../../graph/captured_module.ts";
import type { SourcePosition } from "../../graph/node.ts";
import { readGraph, readStacks, stacksOf, writeCaptured, writeStacks } from "../../graph/stored/graph.ts";
import { DamagedForm, listIn, NotStorable, numberIn, recordIn, textIn } from "../../sym/stored/forms.ts";
import { hintOf } from "../../sym/decide.ts";
import type { ShapeEnv } from "../../sym/shape_env.ts";
import { numberSizes, readSizes, writeSizes } from "../../sym/stored/envs.ts";
import { Symbols } from "../../sym/stored/symbols.ts";
import { graphRunner } from "../../tensor/graph_runner.ts";
import { ambient } from "../../tensor/modes.ts";
import { deviceNamed } from "../../tensor/storage.ts";
import { ambientState } from "../ambient.ts";
import { type Answer, type Asked, type ChangeHistory, isChanging } from "../cache/automatic_dynamic.ts";
import { functionOf, type Modified, type ModifiedParts } from "../codegen/modified.ts";
import { type CapturedGraph, compileCaptured } from "../cache/captured_graph.ts";
import { madeInfo } from "../functions/functions.ts";
import { positionOf } from "../frame/capture.ts";
import type { Fact, Guard } from "../guards/guard.ts";
import { markOfFunction } from "../functions/marks.ts";
import { checked } from "../cache/entry_parts.ts";
import { unitOf } from "../resume/ways.ts";
import { scalar } from "../scalars.ts";
import { currentStance } from "../cache/stance.ts";
import type { Source } from "../source.ts";
import type { GraphInput, OutputGraph } from "../trace/output_graph.ts";
import { SymbolicLimit } from "../trace/restart.ts";
import type { Unit } from "../cache/unit.ts";
import { codeFinder, planText } from "./code_forms.ts";
import { readConstant, type Ways, writeConstant } from "./constant_forms.ts";
import { guard as guardForm, line as lineForm, position, reason as reasonForm } from "./fact_forms.ts";
import { type ByNumber, Lines, Places, source as sourceForm } from "./place_forms.ts";
import { layoutOfBuiltins } from "./builtin_paths.ts";
import { recreateState } from "./recreated_states.ts";
import { Differs } from "./function_places.ts";
import { type FreeNumbers, readJournal, type TracedCall, writeJournal } from "./journal.ts";
import { readHeld, writeHeld } from "./held_tensors.ts";
import type { NotedReads } from "./noted_reads.ts";
import { isPlainTensor } from "./shapes.ts";
import { isPrimitive, readPrimitive, writePrimitive } from "./plain_values.ts";

/** Texts of stages that a cached capture skips: if something wants to read them, the call is traced. */
const STAGE_TEXTS: readonly Artifact[] = ["dynamo", "guards", "bytecode", "graph_code", "graph", "dynamic"];

/** Number of captures of one key: the first call of a step, its second one, and further kinds of arguments. */
const MOST_CAPTURES = 8;

/**
 * Cost of look-ups for one key in one process after which its calls are neither looked up nor cached any more: each is
 * of another closure, and reading all captures of the key takes longer than tracing such a small function.
 */
const MOST_EFFORTS = 32, LOOK = 1, MISS = 3;

const efforts = new Map<string, number>();

function countEffort(key: string, effort: number): void {
  efforts.set(key, (efforts.get(key) ?? 0) + effort);
}

/** A trace that ended with one graph, or none, and what follows it. */
interface TracedEntry {
  readonly call: TracedCall;
  /** The position of the function; null: the rest of one after a break knows its own position. */
  readonly place: SourcePosition | null;
  readonly reads: NotedReads;
  readonly met: Iterable<object>;
  readonly asked: ChangeHistory["asked"];
  readonly output: OutputGraph;
  readonly guards: readonly Guard[];
  readonly modified: Modified;
  readonly isAsyncCall: boolean;
  readonly broke: BreakReason | null;
  /** The graph as called by the modified function; null if there is none. */
  readonly graph: CapturedGraph | null;
}

/** A capture restored in this process. */
interface TakenCapture {
  readonly guards: readonly Guard[];
  readonly graph: CapturedGraph | null;
  readonly place: SourcePosition | null;
  readonly text: string;
  /** Whether calls return a promise. */
  readonly isAsyncCall: boolean;
  /** The reason why the graph ends before the function does. */
  readonly broke: BreakReason | null;
  readonly tests: ReturnType<typeof checked>;
  /** The modified function; `failed` handles failures of the graph. */
  readonly run: (failed: ModifiedParts["failed"]) => Modified["run"];
}

/** The key under which captures of a unit's calls are cached; null if they are not. */
export function captureKey(
  { program, body, history }: Unit,
  args: readonly unknown[],
): string | null {
  const { options, fn } = program;
  const own = cachesEntries() ? ownIdentity() : null;
  const isUsual = options.guardFilter === null &&
    options.hooks.onTraced === undefined &&
    Object.keys(options.shapesSpec).length === 0 &&
    markOfFunction(fn)?.kind !== "ruled" && !history.hasFixed && history.mayAssume &&
    currentStance() === "default" &&
    !bisection.active && config.reproAfter === "" && config.forceBreak === -1;
  // A function described by its creator is not in any file
  if (own === null || !isUsual || madeInfo(fn) !== undefined || !hasOwnBuiltins()) return null;
  const site = positionOf(fn), settings = plainSettings(config);
  // The URL of such a module contains its text, which would be stored once for each line
  if (!site || /^(?:data|blob):/.test(site.url) || settings === null) return null;
  const { dynamic, fullgraph, cacheSizeLimit } = options, { autocastCaches } = ambient;
  const key = JSON.stringify({
    own,
    function: [portableAddress(site.url), site.offset, program.name],
    from: body.resumed && planText(body.resumed),
    options: { dynamic, fullgraph, cacheSizeLimit },
    settings,
    place: processLocale(),
    builtins: layoutOfBuiltins(),
    state: { ...ambientState(), autocastCaches },
    // Distinguishes calls whose captures are stored side by side; the journal has the rest
    arguments: args.map((value) =>
      isPrimitive(value) || !isPlainTensor(value) ? typeof value : `${value.dtype} ${value.shape}`
    ),
  });
  return (efforts.get(key) ?? 0) < MOST_EFFORTS ? key : null;
}

/** Settings as data; null if one of them cannot be stored. */
function plainSettings(settings: object): Plain {
  const entries: [string, Plain][] = [];
  for (const [name, value] of Object.entries(settings)) {
    if (isPrimitive(value)) entries.push([name, writePrimitive(value)]);
    else if (value instanceof Set && value.size === 0) continue;
    else if (typeof value === "object" && !(value instanceof Set)) {
      const inner = plainSettings(value);
      if (inner === null) return null;
      entries.push([name, inner]);
    } else return null;
  }
  return Object.fromEntries(entries);
}

/** Returns the cached capture of a call like this one; null if it must be traced. */
export function takeCapture(unit: Unit, key: string, call: TracedCall): TakenCapture | null {
  if (STAGE_TEXTS.some((name) => logs.enabled(name)) || recording.wants(STAGE_TEXTS)) return null;
  countEffort(key, LOOK);
  const text = cachedEntry("captures", key);
  let why: string | null = null;
  try {
    for (const form of formsIn(text)) {
      try {
        const taken = restore(unit, recordIn(JSON.parse(form)), call);
        counters.add("cached_captures", "hits");
        logs.emit("cache", () => `captures: ${unit.title} taken`);
        return taken;
      } catch (error) {
        unit.earlyStates.removeUnused();
        const isOther = error instanceof Differs || error instanceof NotStorable ||
          error instanceof SymbolicLimit;
        if (!isOther) throw error;
        why = error.message;
      }
    }
  } catch (error) {
    if (!(error instanceof DamagedForm || error instanceof SyntaxError)) throw error;
    dropEntry("captures", key, messageOf(error));
    return null;
  }
  counters.add("cached_captures", "misses");
  countEffort(key, MISS);
  const reason = () => why ?? nearestDifference("captures", key) ?? "none is saved for this function";
  logs.emit("cache", () => `captures: ${unit.title} traced: ${reason()}`);
  return null;
}

/** The captures of an entry, one per line. */
const formsIn = (text: string | undefined): readonly string[] => text?.split("\n") ?? [];

/** Caches the trace of a call. */
export function cacheCapture(unit: Unit, key: string, traced: TracedEntry): void {
  try {
    const form = JSON.stringify(write(traced)), others = formsIn(cachedEntry("captures", key));
    if (others.includes(form)) return;
    cacheEntry("captures", key, [form, ...others.slice(0, MOST_CAPTURES - 1)].join("\n"));
  } catch (error) {
    if (!(error instanceof NotStorable || error instanceof DamagedForm || error instanceof SyntaxError)) {
      throw error;
    }
    counters.add("cached_captures", "refused");
    logs.emit("cache", () => `captures: ${unit.title} not kept: ${messageOf(error)}`);
  }
}

const nothingToRead = (): never => {
  throw new DamagedForm("Expected nothing to be read while a capture is written");
};

function write(traced: TracedEntry): Plain {
  const { call, place, reads, met, output, guards, modified, graph, asked, isAsyncCall, broke } = traced;
  if (reads.refused !== null) throw new NotStorable(reads.refused);
  const { sizes } = output, symbols = new Symbols();
  numberSizes(sizes, symbols);
  symbols.isOpen = false;
  const numbers = new Map<object, number>(), lines = new Lines(), places = new Places();
  const numberOf = (object: object): number => {
    const number = numbers.get(object) ?? numbers.size;
    numbers.set(object, number);
    return number;
  };
  const codes = codeFinder([...reads.functions.keys()]);
  const by: ByNumber = { numberOf, at: nothingToRead, codes, lines, places, symbols, sizes };
  const form: Record<string, Plain> = {
    sizes: writeSizes(sizes, symbols),
    named: basesOf(guards, sizes).map((name) => sourceForm.write(output.sourceNamed(name), by)),
    asked: (asked ?? []).map((each) => writeAsked(each, output, by)),
    guards: guards.map((each) => guardForm.write(each, by)),
    text: modified.text,
    parameters: modified.parameters,
    constants: [...modified.constants].map(([name, value]) => [name, writeConstant(value, graph?.run, by)]),
    graph: graph && writeTracedGraph(graph, output, by),
    isAsyncCall,
    place: place && position.write(place, by),
    broke: broke && reasonForm.write(broke, by),
    lines: lines.list.map((each) => lineForm.write(each, by)),
    places: places.list,
  };
  // Objects that the form refers to must be found again, too
  const journal = writeJournal(call, {
    reads,
    met: new Set([...met, ...numbers.keys()]),
    freeNumbers: freeNumbersOf(guards),
  });
  return { journal: journal.form, objects: [...numbers.keys()].map(journal.numberOf), ...form };
}

/** Numeric arguments that may differ in the next call. */
function freeNumbersOf(guards: readonly Guard[]): FreeNumbers {
  const argument = ({ fact }: Guard, ...kinds: Fact["kind"][]): number[] =>
    kinds.includes(fact.kind) && "source" in fact && fact.source.kind === "argument"
      ? [fact.source.index]
      : [];
  const known = new Set(guards.flatMap((guard) => argument(guard, "constant")));
  return new Set(
    guards.flatMap((guard) => argument(guard, "type", "integer")).filter((i) => !known.has(i)),
  );
}

/** The places from which sizes come, and those with which guards compare them. */
function basesOf(guards: readonly Guard[], sizes: ShapeEnv): readonly string[] {
  const compared = guards.flatMap(({ fact }) =>
    fact.kind === "size" && fact.guard.kind === "source" ? [fact.guard.source.base] : []
  );
  return [...new Set([...sizes.symbols.map((symbol) => sizes.sourceOf(symbol).base), ...compared])];
}

function writeAsked(
  { kind, place, value, changed }: Asked & { readonly changed: Answer },
  output: OutputGraph,
  by: ByNumber,
): Plain {
  const at = sourceForm.write(output.sourceNamed(place), by);
  switch (kind) {
    case "number":
      return [kind, at, writePrimitive(value), changed];
    case "object":
    case "prototype":
      return [kind, at, by.numberOf(value), changed];
    case "shape":
    case "strides":
      return [kind, at, [...value], changed];
    default:
      return kind satisfies never;
  }
}

function writeTracedGraph(
  { name, gm }: NonNullable<TracedEntry["graph"]>,
  output: OutputGraph,
  by: ByNumber,
): Plain {
  const stacks = [...new Set(stacksOf(gm.calling))];
  return {
    name,
    nodes: writeCaptured(gm, by.symbols),
    held: writeHeld(gm.attributes),
    stacks: stacks.map((stack) => stack.map((each) => position.write(each, by))),
    stackOf: writeStacks(gm.calling, stacks),
    inputs: output.inputs.map((input) => writeInput(input, by)),
  };
}

/** Serialises the value of a graph input in the compiled call. */
function writeInput(input: GraphInput, by: ByNumber): Plain {
  switch (input.kind) {
    case "tensor":
      if (!input.value.real) throw new NotStorable("a graph that is given a new parameter");
      return [input.kind, by.numberOf(input.value.real)];
    case "size":
      return [input.kind, hintOf(input.size)];
    case "data":
      throw new NotStorable("a tensor of numbers in memory");
    case "scalar":
      return [input.kind, writePrimitive(input.hint), input.device];
    default:
      return input satisfies never;
  }
}

function readInput(form: Plain, by: ByNumber): unknown {
  const [kind, given = null, device = null] = listIn(form);
  switch (kind) {
    case "tensor":
      return by.at(numberIn(given));
    case "size":
      return numberIn(given);
    case "scalar":
      return scalar(Number(readPrimitive(given)), deviceNamed(textIn(device)).name);
    default:
      throw new DamagedForm(`Expected an input of a graph but found ${JSON.stringify(kind)}`);
  }
}

/** The capture in this process. Throws Differs, NotStorable and DamagedForm. */
function restore(unit: Unit, form: { readonly [key: string]: Plain }, call: TracedCall): TakenCapture {
  const { objects: found, isExact } = readJournal(
    form.journal ?? null,
    call,
    (beginning) => recreateState(unit, beginning),
  );
  const objects = listIn(form.objects).map((each) => found[numberIn(each)]);
  const lines = new Lines();
  const nothingToWrite = (): never => {
    throw new DamagedForm("Expected nothing to be written while a capture is read");
  };
  const symbols = new Symbols(), sizes = readSizes(listIn(form.sizes), symbols);
  const by: ByNumber = {
    symbols,
    sizes,
    numberOf: nothingToWrite,
    codes: codeFinder([]),
    at(number) {
      const found = objects[number];
      if (!found) throw new DamagedForm(`Expected one of ${objects.length} objects but found ${number}`);
      return found;
    },
    lines,
    places: new Places(),
  };
  for (const each of listIn(form.lines)) lines.list.push(lineForm.read(each, by));
  by.places.readAll(listIn(form.places), by);
  const guards = listIn(form.guards).map((each) => guardForm.read(each, by));
  const named = listIn(form.named).map((each) => sourceForm.read(each, by));
  const tests = checked(guards, { sourceNamed: sourceNamed(named) });
  if (tests.check(call.self, call.args) !== -1) {
    invariant(!isExact, "Expected the guards of a capture to hold where all that it has seen does");
    throw new Differs("a number has changed");
  }
  if (!unit.history.agrees(listIn(form.asked).map((each) => readAsked(each, call, by)))) {
    throw new Differs("other sizes and numbers have changed");
  }
  const compiled = form.graph === null ? null : compileAgain(unit, recordIn(form.graph), { by, guards });
  const text = textIn(form.text);
  const ways: Ways = { graph: compiled?.run, resume: (plan) => unitOf(unit, plan).resume };
  const constants = new Map(
    listIn(form.constants).map((each) => {
      const [name, value = null] = listIn(each);
      return [textIn(name), readConstant(value, ways, by)];
    }),
  );
  const parameters = listIn(form.parameters).map(textIn);
  return {
    guards,
    graph: compiled,
    isAsyncCall: form.isAsyncCall === true,
    place: form.place === null ? null : position.read(form.place ?? null, by),
    broke: form.broke === null ? null : reasonForm.read(form.broke ?? null, by),
    text,
    tests,
    run: (failed) => functionOf({ text, constants, parameters }, compiled ? failed : null),
  };
}

/** Finds the origin of a size. */
function sourceNamed(sources: readonly Source[]): (name: string) => Source {
  const named = new Map(sources.map((source) => [source.name, source]));
  return (name) => {
    const found = named.get(name);
    if (found) return found;
    throw new DamagedForm(`Expected a place of a size but found ${name}`);
  };
}

/** Reads a query; for a number that is an argument, this call's value is used. */
function readAsked(form: Plain, { args }: TracedCall, by: ByNumber): Asked & { readonly changed: Answer } {
  const [kind, at = null, given = null, answer] = listIn(form), place = sourceForm.read(at, by);
  const asked = { place: place.name, changed: answerIn(answer) };
  if (kind === "object" || kind === "prototype") return { kind, value: by.at(numberIn(given)), ...asked };
  if (kind === "shape" || kind === "strides") return { kind, value: listIn(given).map(Number), ...asked };
  const now = place.kind === "argument" ? args[place.index] : readPrimitive(given);
  if (kind === "number" && isChanging(now)) return { kind, value: now, ...asked };
  throw new DamagedForm(`Expected a size, number or text but found ${JSON.stringify(kind)}`);
}

function answerIn(form: Plain | undefined): Answer {
  if (typeof form === "boolean" || form === "alike" || form === "fraction") return form;
  return listIn(form).map((each) => each === true);
}

function compileAgain(
  unit: Unit,
  form: { readonly [key: string]: Plain },
  { by, guards }: { readonly by: ByNumber; readonly guards: readonly Guard[] },
) {
  const stacks = listIn(form.stacks).map((stack): readonly SourcePosition[] =>
    listIn(stack).map((each) => position.read(each, by))
  );
  const graph = readGraph(form.nodes ?? null, by.symbols, readStacks(form.stackOf, stacks)),
    held = readHeld(form.held ?? null);
  const examples = listIn(form.inputs).map((each) => readInput(each, by));
  const { sizes } = by, before = new Set(sizes.guardTexts());
  const later = guards.map(({ fact }) => fact.kind === "globalState" ? fact.later : null).find((each) =>
    each
  );
  if (!later) throw new DamagedForm("Expected a guard of the ambient state");
  const compiled = compileCaptured(unit, capturedModule(graph, held, graphRunner), {
    examples,
    sizes,
    later,
  });
  // Assumptions of a backend about sizes are guarded too, so this backend must make the same ones
  const more = sizes.guardTexts().find((text) => !before.has(text));
  if (more !== undefined) throw new Differs(`compilation assumes ${more}`);
  return compiled;
}
