/**
 * Mode "max-autotune" on the CPU: times the forms of each kernel by itself and keeps the fastest. Input: a program
 * in several forms (how its loops are cut); output: the program with each kernel in its best form and on its best
 * team of threads. Invariant: forms differ in the order of independent iterations only, so results stay the same to
 * the bit; choices are kept on disk under the complete text of all that was compared, compiler and threads included.
 *
 * Measured and left out, because they never won by more than noise: narrower vectors, unrolled loops, programs
 * without fusion or without epilogues, other thresholds of storing values, other blocks of matrix products.
 */
import { config } from "../../lib/base/config.ts";
import { hostArray, isFloat, itemSize } from "../../lib/base/dtype.ts";
import { counters, logs } from "../../lib/base/logs.ts";
import { isPlainObject } from "../../lib/base/tree.ts";
import { renumbered, usesOf } from "../../lib/inductor/assemble.ts";
import type { Candidate } from "../../lib/inductor/compile_graph.ts";
import { type Device, findDevice } from "../../lib/loops/device.ts";
import type { BufferDecl, Kernel, Program, Team } from "../../lib/loops/ir.ts";
import { printProgram as printLoops } from "../../lib/loops/print.ts";
import { cacheDirectory, readText, writeAtomically } from "./cache_directory.ts";
import { fingerprintText } from "./fingerprint.ts";
import { compileNative, prepareNative, runsOnTeam } from "./native_program.ts";
import { requireToolchain, threadCount } from "./toolchain.ts";

/** An alternative must take less than this share of the usual form's time: less is noise. */
const CLEARLY = 0.95;
/** Microseconds between which the number of threads is in doubt: below, waking one costs more; above, it pays. */
const IN_DOUBT = [3, 2000] as const;
/** Timed rounds per alternative, and how long one takes at least in milliseconds. */
const ROUNDS = 9, ROUND_MS = 0.3;
/** Most bytes of buffers that a kernel is timed on. */
const MOST_BYTES = 2 ** 30;

/** One way to run a kernel, and how long that took. */
interface Trial {
  readonly name: string;
  readonly microseconds: number;
  /** Which of the candidates it is. */
  readonly form: number;
  readonly team: Team | null;
}

/** The program with each of its kernels as it was fastest. The first candidate is the usual form. */
export function autotune(candidates: readonly [Candidate, ...Candidate[]]): Program {
  const [{ program }] = candidates;
  if (program.sizes.length > 0) {
    logs.emit(
      "perf_hints",
      `max-autotune keeps ${program.name} as it is: its sizes change from call to call`,
    );
    return program;
  }
  const kernels = program.kernels.map((usual, at) => {
    const forms = candidates.flatMap(({ name, program: { kernels, buffers } }) => {
      const kernel = kernels[at];
      return kernel ? [{ name, kernel, alone: aloneProgram(kernel, buffers) }] : [];
    });
    return tuned(usual, forms);
  });
  return { ...program, kernels };
}

/** A kernel under one tiling, and as a program of its own. */
interface Form {
  readonly name: string;
  readonly kernel: Kernel;
  readonly alone: Program;
}

function tuned(usual: Kernel, all: readonly Form[]): Kernel {
  const texts = all.map(({ alone }) => printLoops(alone, { origins: false }));
  const forms = all.filter((_, i) => texts.indexOf(texts[i] ?? "") === i);
  const threads = threadCount(config.inductor.cppThreads);
  const [first] = forms;
  if (!first || (forms.length === 1 && !mayChangeTeam(usual, threads))) return usual;
  const bytes = first.alone.buffers.reduce((sum, b) => sum + Number(b.length) * itemSize(b.dtype), 0);
  if (bytes > MOST_BYTES) return usual;
  const key = [requireToolchain().identity, `${threads} threads`, ...new Set(texts)].join("\n");
  const path = `${cacheDirectory()}/tuned-${fingerprintText(key)}.json`;
  const known = config.inductor.kernelCache ? storedTrials(path, key) : undefined;
  const trials = known ?? measured(forms, threads);
  counters.add("autotune", known ? "stored" : "measured");
  if (!known && config.inductor.kernelCache) {
    writeAtomically(path, new TextEncoder().encode(JSON.stringify({ key, trials })));
  }
  const best = bestOf(trials);
  logs.emit("perf_hints", () => {
    const tried = trials.map(({ name, microseconds }) => `${name} ${microseconds.toFixed(1)} µs`).join(", ");
    return `max-autotune ${usual.name}: ${tried}; keeps ${best?.name}${known ? " (measured before)" : ""}`;
  });
  const kernel = forms[best?.form ?? 0]?.kernel ?? usual;
  return best?.team ? { ...kernel, name: usual.name, team: best.team } : { ...kernel, name: usual.name };
}

/** Library calls take a number of threads, except for sorting, which has one. */
function mayChangeTeam(kernel: Kernel, threads: number): boolean {
  return threads > 1 && (kernel.kind === "loops" || kernel.call.op !== "sort");
}

/** The usual form, which is the first trial, unless another one is clearly faster. */
function bestOf(trials: readonly Trial[]): Trial | undefined {
  const [usual] = trials;
  if (!usual) return undefined;
  const fastest = trials.reduce((best, trial) => trial.microseconds < best.microseconds ? trial : best);
  return fastest.microseconds < CLEARLY * usual.microseconds ? fastest : usual;
}

/** A program of one kernel over buffers of its own. */
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
    kernels: [{ ...renumbered(kernel, (id) => ids.indexOf(id)), name: "kernel", origins: [] }],
  };
}

const onTeam = (program: Program, team: Team): Program => ({
  ...program,
  kernels: program.kernels.map((kernel): Kernel => ({ ...kernel, team })),
});

/** Times the forms, then the fastest of them on another team. */
function measured(forms: readonly Form[], threads: number): Trial[] {
  const device = findDevice("cpu"), [first] = forms;
  if (!device || !first) return [];
  const flips = forms.map(({ alone, kernel }): Team | undefined => {
    if (!mayChangeTeam(kernel, threads)) return undefined;
    return kernel.kind === "extern" || runsOnTeam(alone) ? "one" : "all";
  });
  prepareNative(forms.flatMap(({ alone }, i) => flips[i] ? [alone, onTeam(alone, flips[i])] : [alone]));
  const memories = first.alone.buffers.map((buffer) => filled(device, buffer));
  try {
    const runner = (program: Program) => {
      const compiled = compileNative(program);
      return () => compiled.run({ inputs: memories, outputs: [], sizes: [] });
    };
    const times = timed(forms.map(({ alone }) => runner(alone)));
    const trials = forms.map(({ name }, form): Trial => ({
      name: forms.length === 1 ? "as usual" : name,
      microseconds: times[form] ?? Infinity,
      form,
      team: null,
    }));
    const best = bestOf(trials), form = best?.form ?? 0, team = flips[form], alone = forms[form]?.alone;
    const [least, most] = IN_DOUBT;
    if (!best || !team || !alone || best.microseconds < least || best.microseconds > most) return trials;
    const [again = Infinity, other = Infinity] = timed([runner(alone), runner(onTeam(alone, team))]);
    const name = `${forms.length === 1 ? "" : `${best.name} `}on ${
      team === "one" ? "one thread" : "all threads"
    }`;
    // Both were timed side by side: their ratio is what counts.
    return [...trials, { name, microseconds: best.microseconds * other / again, form, team }];
  } finally {
    for (const memory of memories) device.free(memory);
  }
}

/** Memory of a buffer with numbers that are harmless everywhere: halves, and zeros for what may be an index. */
function filled(device: Device, { dtype, length }: BufferDecl) {
  const bytes = new Uint8Array(Number(length) * itemSize(dtype));
  if (isFloat(dtype)) {
    const array = hostArray(dtype, bytes.buffer);
    for (let i = 0; i < array.length; i++) array[i] = 0.5;
  }
  const memory = device.allocate(bytes.length);
  device.write(memory, 0, bytes);
  return memory;
}

/** Microseconds of each, the least of several rounds in turn. */
function timed(runs: readonly (() => void)[]): number[] {
  const least = runs.map(() => Infinity);
  const repeats = runs.map((run) => {
    run();
    const start = performance.now();
    run();
    return Math.min(1000, Math.max(1, Math.ceil(ROUND_MS / Math.max(1e-4, performance.now() - start))));
  });
  for (let round = 0; round < ROUNDS; round++) {
    runs.forEach((run, i) => {
      const count = repeats[i] ?? 1, start = performance.now();
      for (let k = 0; k < count; k++) run();
      least[i] = Math.min(least[i] ?? Infinity, (performance.now() - start) * 1000 / count);
    });
  }
  return least;
}

function isTrial(value: unknown): value is Trial {
  return isPlainObject(value) && typeof value["name"] === "string" &&
    typeof value["microseconds"] === "number" && typeof value["form"] === "number" &&
    (value["team"] === null || value["team"] === "one" || value["team"] === "all");
}

/** What was measured before for exactly these texts. */
function storedTrials(path: string, key: string): Trial[] | undefined {
  const text = readText(path);
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (!isPlainObject(value) || value["key"] !== key || !Array.isArray(value["trials"])) return undefined;
    return value["trials"].every(isTrial) ? value["trials"] : undefined;
  } catch {
    return undefined;
  }
}
