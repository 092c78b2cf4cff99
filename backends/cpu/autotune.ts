/**
 * Mode "max-autotune" on the CPU: times the forms of each kernel separately (how its loops are cut) and keeps the
 * fastest form and team of threads. Invariant: forms differ only in the order of independent iterations, so results
 * are bitwise the same; choices are cached on disk under the complete text of everything compared, including compiler
 * and threads.
 *
 * Not tried, because in measurements they never won by more than noise: narrower vectors, unrolled loops, programs
 * without fusion or without epilogues, other thresholds of storing values, other blocks of matrix products.
 */
import { config } from "../../lib/base/config.ts";
import { encodeElements, numberArray } from "../../lib/base/bfloat16.ts";
import { isFloat, itemSize } from "../../lib/base/dtype.ts";
import { cachedEntry, cacheEntry } from "../../lib/base/cached_entries.ts";
import { CLEARLY, leastTimes } from "../../lib/base/least_times.ts";
import { counters, logs } from "../../lib/base/logs.ts";
import { choiceDetails, type MeasuredChoice } from "../../lib/base/measured_choices.ts";
import { movedKernel } from "../../lib/loops/moved_kernel.ts";
import { expandRegions } from "../../lib/loops/regions.ts";
import { usesOf } from "../../lib/loops/uses.ts";
import { type Device, findDevice, type ProgramForms } from "../../lib/loops/device.ts";
import type { BufferDecl, Kernel, Program, Team } from "../../lib/loops/ir.ts";
import { printProgram as printLoops } from "../../lib/loops/print.ts";
import { type Codec, list, number, oneOf, orNull, parsed, record, text } from "../../lib/sym/stored/codec.ts";
import { ToolchainError } from "./compiler_faults.ts";
import { compileNative, prepareNative, runsOnTeam } from "./native_program.ts";
import { requireToolchain, threadCount } from "./toolchain.ts";

/**
 * Range of microseconds in which the best number of threads is in doubt: below, waking threads costs more than it
 * gains; above, it pays.
 */
const IN_DOUBT = [3, 2000] as const;
/**
 * Microseconds that waking a team takes at most on an idle machine. If it takes longer, its threads wait for other
 * programs, and timings are meaningless.
 */
const MOST_WAITING = 50;
/** Maximum number of bytes of buffers for timing a kernel. */
const MOST_BYTES = 2 ** 30;

/** One way to run a kernel, and how long that took. */
interface Trial {
  readonly name: string;
  readonly microseconds: number;
}

/** The outcome of timing a kernel. */
interface Outcome {
  readonly trials: readonly Trial[];
  /** Index of the chosen candidate. */
  readonly form: number;
  /** The team if it is not the default one. */
  readonly team: Team | null;
}

const outcomeCodec: Codec<Outcome> = record<Outcome>({
  trials: list(record<Trial>({ name: text, microseconds: number })),
  form: number,
  team: orNull(oneOf("one", "all")),
});

/** The program with the fastest form of each of its kernels. The first candidate is the default form. */
export function autotune(given: ProgramForms): Program {
  const candidates = given.map((form) => ({ ...form, program: expandRegions(form.program) }));
  const [{ program } = given[0]] = candidates;
  if (program.sizes.length > 0) {
    logs.emit(
      "perf_hints",
      `max-autotune keeps ${program.name} as it is: its sizes change from call to call`,
    );
    return program;
  }
  try {
    const kernels = program.kernels.map((usual, at) => {
      const forms = candidates.flatMap(({ name, program: { kernels, buffers } }) => {
        const kernel = kernels[at];
        return kernel ? [{ name, kernel, alone: aloneProgram(kernel, buffers) }] : [];
      });
      return tuned(usual, forms);
    });
    return { ...program, kernels };
  } catch (thrown) {
    // Compiling the program itself fails in the same way and handles it
    if (!(thrown instanceof ToolchainError)) throw thrown;
    logs.emit("perf_hints", () => `max-autotune keeps ${program.name} as it is: ${thrown.message}`);
    return program;
  }
}

/** A kernel under one tiling, as a program of its own. */
interface Form {
  readonly name: string;
  readonly kernel: Kernel;
  readonly alone: Program;
}

function tuned(usual: Kernel, all: readonly Form[]): Kernel {
  const texts = all.map(({ alone }) => printLoops(alone, { origins: false }));
  const forms = all.filter((_, i) => texts.indexOf(texts[i] ?? "") === i);
  const threads = threadCount();
  const [first] = forms;
  if (!first || (forms.length === 1 && !mayChangeTeam(usual, threads))) return usual;
  const bytes = first.alone.buffers.reduce((sum, b) => sum + Number(b.length) * itemSize(b.dtype), 0);
  if (bytes > MOST_BYTES) return usual;
  const key = [requireToolchain().identity, `${threads} threads`, ...new Set(texts)].join("\n");
  const known = config.inductor.kernelCache ? parsed(outcomeCodec, cachedEntry("choices", key)) : undefined;
  const { outcome, disturbed } = known ? { outcome: known, disturbed: false } : measured(forms, threads);
  counters.add("autotune", known ? "stored" : "measured");
  if (!known && !disturbed && config.inductor.kernelCache) {
    cacheEntry("choices", key, JSON.stringify(outcome));
  }
  const form = forms[outcome.form] ?? first, { team } = outcome;
  const kept = [...(form === first ? [] : [form.name]), ...(team ? [TEAM_TEXT[team]] : [])].join(", ");
  logs.emit(
    "perf_hints",
    () => {
      const tried = outcome.trials.map(({ name, microseconds }) => `${name} ${microseconds.toFixed(1)} µs`);
      return `max-autotune ${usual.name}: ${tried.join(", ") || "too short to compare"}; keeps ${
        kept || "the usual form"
      }${known ? " (measured before)" : ""}${
        disturbed ? " (threads wait for other programs: asked again)" : ""
      }`;
    },
    choiceDetails({
      of: usual.name,
      kept: kept || null,
      ...gainOf(outcome, forms.length),
      known: known !== undefined,
      disturbed,
    }),
  );
  return { ...form.kernel, name: usual.name, ...(team ? { team } : {}) };
}

const TEAM_TEXT: Readonly<Record<Team, string>> = { one: "one thread", all: "all threads" };

/** Returns the time of the chosen way, and how much longer the usual one takes, as far as they were timed. */
export function gainOf(
  { trials, form, team }: Outcome,
  forms: number,
): Pick<MeasuredChoice, "microseconds" | "gain"> {
  const times = trials.map(({ microseconds }) => microseconds), tiled = forms > 1 ? forms : 0;
  const [one, all] = times.slice(tiled), [usual, kept] = [times[0], times[form]];
  const ofForm = tiled > 0 && usual !== undefined && kept !== undefined ? usual / kept : 1;
  const [before, now] = team === "one" ? [all, one] : team === "all" ? [one, all] : [];
  const ofTeam = before !== undefined && now !== undefined ? before / now : 1;
  return { microseconds: now ?? (tiled > 0 ? kept : undefined) ?? null, gain: ofForm * ofTeam };
}

/** Returns whether the number of threads may change: library calls have one, except for sorting, which is serial. */
function mayChangeTeam(kernel: Kernel, threads: number): boolean {
  return threads > 1 && (kernel.kind === "loops" || kernel.call.op !== "sort");
}

/** A program of one kernel with separate buffers. */
function aloneProgram(kernel: Kernel, buffers: readonly BufferDecl[]): Program {
  const { all, written } = usesOf(kernel);
  const ids = [...all];
  const own = ids.flatMap((id): BufferDecl[] => {
    const buffer = buffers[id];
    return buffer
      ? [{ ...buffer, name: `x${ids.indexOf(id)}`, role: { kind: "input", written: written.has(id) } }]
      : [];
  });
  return {
    name: "kernel",
    buffers: own,
    inputs: own.map((_, i) => i),
    outputs: [],
    sizes: [],
    arenaBytes: 0,
    kernels: [{
      ...movedKernel(kernel, (id) => ({ buffer: ids.indexOf(id), offset: 0 })),
      name: "kernel",
      origins: [],
    }],
  };
}

const onTeam = (program: Program, team: Team): Program => ({
  ...program,
  kernels: program.kernels.map((kernel): Kernel => ({ ...kernel, team })),
});

/** Times the forms on one thread, then the best of them on one thread against all. */
function measured(
  forms: readonly Form[],
  threads: number,
): { readonly outcome: Outcome; readonly disturbed: boolean } {
  const device = findDevice("cpu"), [first] = forms;
  const usual = { outcome: { trials: [], form: 0, team: null }, disturbed: false };
  if (!device || !first) return usual;
  const teams = mayChangeTeam(first.kernel, threads);
  prepareNative(forms.flatMap(({ alone }) => (["one", "all"] as const).map((team) => onTeam(alone, team))));
  const memories = first.alone.buffers.map((buffer) => filled(device, buffer));
  try {
    const runner = ({ alone }: Form, team: Team) => {
      const compiled = compileNative(onTeam(alone, team));
      return () => compiled.run({ inputs: memories, outputs: [], sizes: [] });
    };
    const times = leastTimes(forms.map((form) => runner(form, "one")));
    const [time = Infinity] = times, least = Math.min(...times);
    const form = least < CLEARLY * time ? times.indexOf(least) : 0, kept = forms[form] ?? first;
    const trials = forms.length === 1 ? [] : forms.map(({ name }, i): Trial => ({
      name: `${name} on one thread`,
      microseconds: times[i] ?? Infinity,
    }));
    if (!teams || least < IN_DOUBT[0] || least > IN_DOUBT[1]) {
      return { outcome: { trials, form, team: null }, disturbed: false };
    }
    const [one = Infinity, all = Infinity] = leastTimes([runner(kept, "one"), runner(kept, "all")]);
    trials.push({ name: "one thread", microseconds: one }, { name: "all threads", microseconds: all });
    const together = kept.kernel.kind === "extern" || runsOnTeam(kept.alone);
    const { team, disturbed } = chooseTeam({ one, all, together });
    return { outcome: { trials, form, team }, disturbed };
  } finally {
    for (const memory of memories) device.free(memory);
  }
}

/**
 * Chooses whether a kernel runs on another team than the default, from its microseconds on one thread and on all;
 * `together`: all threads are the default.
 */
export function chooseTeam(
  { one, all, together }: { readonly one: number; readonly all: number; readonly together: boolean },
): { readonly team: Team | null; readonly disturbed: boolean } {
  if (all - one > MOST_WAITING) return { team: null, disturbed: true };
  if (together) return { team: one < CLEARLY * all ? "one" : null, disturbed: false };
  return { team: all < CLEARLY * one ? "all" : null, disturbed: false };
}

/** Memory filled with numbers that are harmless everywhere: halves, and zeros for possible indices. */
function filled(device: Device, { dtype, length }: BufferDecl) {
  const numbers = numberArray(dtype, Number(length));
  if (isFloat(dtype)) { for (let i = 0; i < numbers.length; i++) numbers[i] = 0.5; }
  const { buffer } = encodeElements(dtype, numbers);
  const memory = device.allocate(buffer.byteLength);
  device.write(memory, 0, new Uint8Array(buffer));
  return memory;
}
