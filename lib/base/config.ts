/**
 * The user's settings, their defaults, and scoped changes to them.
 *
 * Defaults come from the environment; programs assign to `config` or use `patch`. Invariant: every setting keeps its
 * default's type; unknown names are errors, never ignored.
 */
import { checkFunction, checkOneOf, refuseChoice, refuseSurplus, refuseValue } from "./checked_input.ts";
import { DynError, showOwnFramesWhen } from "./errors.ts";
import { environmentSwitch, environmentVariable } from "./permissions.ts";
import { scoped } from "./scoped.ts";
import { showAsText } from "./console_text.ts";

/** A group of settings. */
export abstract class Settings {
  /** The settings with their values. */
  toString(): string {
    return Deno.inspect({ ...this });
  }
}

showAsText(Settings.prototype);

// Reached only by assignments to names that are not settings.
Object.setPrototypeOf(
  Settings.prototype,
  new Proxy(Object.prototype, {
    set: (_target, key) => {
      throw new DynError(`Expected the name of a setting but found ${String(key)}`);
    },
  }),
);

let changes = 0;

/** Returns the number of assignments to settings: values derived from settings are valid until it changes. */
export const settingChanges = (): number => changes;

/** Settings that check their assignments: if one is invalid, no setting changes. */
function checked<S extends Settings>(settings: S, path: string): S {
  for (const key of Object.keys(settings)) {
    const name = path + key;
    let current: unknown = Reflect.get(settings, key);
    Object.defineProperty(settings, key, {
      enumerable: true,
      get: () => current,
      set: (value: unknown) => {
        if (current instanceof Settings) {
          throw new DynError(`Expected settings of ${name} one by one but found ${Deno.inspect(value)}`);
        }
        checkValue(name, current, value);
        current = value;
        changes++;
      },
    });
  }
  return Object.seal(settings);
}

/** Throws DynError for an invalid value of a setting; `current` is a valid one. */
function checkValue(name: string, current: unknown, value: unknown): void {
  const wanted = current instanceof Settings ? "object" : kindOf(current);
  if (kindOf(value) !== wanted) {
    refuseValue(`${name} to be ${wanted === "object" ? "an" : "a"} ${wanted}`, value);
  }
  if (Number.isNaN(value)) refuseValue(`${name} to be a number`, value);
  const choices = CHOICES.get(name);
  if (choices && typeof value === "string") checkOneOf(name, value, choices);
  if (SHARES.has(name)) shareOf(value, name);
}

/** Checks a share. Throws DynError for anything but a number from 0 to 1. */
function shareOf(value: unknown, name: string): number {
  if (typeof value === "number" && value >= 0 && value <= 1) return value;
  refuseValue(`${name} to be in [0, 1]`, value);
}

/** `typeof`, with finer distinctions. */
function kindOf(value: unknown): string {
  if (value instanceof Set) return "Set";
  return value === null ? "null" : typeof value;
}

/** The files of a debug folder, `config.inductor.trace`. */
export class TraceConfig extends Settings {
  /** Write a debug folder for every compiled graph. */
  enabled: boolean = environmentSwitch("DYN_COMPILE_DEBUG");
  /** The captured, joint, forward and backward graphs as programs; guards, breaks and the modified function. */
  fxGraph = true;
  /** The graph after decomposition and pattern rewriting. */
  fxGraphTransformed = true;
  /** Loop IR before fusion. */
  irPreFusion = true;
  /** Loop IR after fusion, and the memory plan. */
  irPostFusion = true;
  /** The generated kernels and their calling sequence. */
  outputCode = true;
  /** Time per phase. */
  phaseTimes = true;
  /** The kernels and the buffers between them, as a Graphviz file. */
  graphDiagram = false;
}

/** The tier of CPU graphs, see `InductorConfig.tier`. */
export type Tier = "wait" | "background" | "wasm";

const TIERS: readonly Tier[] = ["wait", "background", "wasm"];

/** The precision of products, see `InductorConfig.convolutionPrecision`; PyTorch's names. */
export type Precision = "highest" | "high";

const PRECISIONS: readonly Precision[] = ["highest", "high"];

/** Settings with a fixed set of texts as values. */
const CHOICES: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ["inductor.tier", TIERS],
  ["inductor.convolutionPrecision", PRECISIONS],
]);

/** Settings whose values are shares. */
const SHARES: ReadonlySet<string> = new Set(["shadow", "activationMemoryBudget"]);

/** Returns whether the environment makes fallbacks errors. */
const errorsOnFallback = (): boolean => environmentSwitch("DYN_ERROR_ON_FALLBACK");

/**
 * Whether graphs and programs are verified after every pass, as in dyn's own tests, which takes as long as the passes;
 * otherwise they are verified after the last one.
 */
export const VERIFIES_EACH_PASS: boolean = errorsOnFallback();

/**
 * Returns the tier that the environment names; if fallbacks are errors, calls wait for the compiler. Throws DynError
 * for an unknown name.
 */
function tierOf(name: string | undefined): Tier {
  if (!name) return errorsOnFallback() ? "wait" : "background";
  return TIERS.find((tier) => tier === name) ?? refuseChoice("DYN_TIER", TIERS, name);
}

/** Settings of the code generator, `config.inductor`. */
export class InductorConfig extends Settings {
  /** Whether to fuse loops that share memory traffic. */
  fusion = true;
  /** Whether to fuse element-wise work into matrix products and convolutions. */
  epilogueFusion = true;
  /**
   * Whether to time the variants of each kernel when it is compiled and keep the fastest: mode "max-autotune".
   * DYN_MAX_AUTOTUNE.
   */
  maxAutotune: boolean = environmentSwitch("DYN_MAX_AUTOTUNE");
  /** Whether to rewrite the graph by its pattern tables before lowering. */
  patternMatcher = true;
  /** Threads of a CPU kernel; 0 means `DYN_NUM_THREADS`, or else every core. */
  cppThreads = 0;
  /** Maximum number of seconds that the C++ compiler may take for one graph before it is stopped. */
  cppTimeout = 300;
  /**
   * Whether to throw if dyn fails on a graph or the C++ compiler rejects its code, instead of running the graph on a
   * slower tier; `fullgraph` sets it. Faults of the machine, such as a killed compiler or a full disk, never throw.
   */
  errorOnFallback: boolean = errorsOnFallback();
  /**
   * Compute once, and cache, values that graphs without gradients compute from parameters and buffers alone: scales
   * of normalisations, converted weights. They are computed again after a parameter is written or replaced.
   */
  freezing = false;
  /**
   * "high" lets convolutions use fewer products at some cost in accuracy: 3×3 filters with stride 1, on GPUs those of
   * large images, use Winograd transforms of 4×4 results, which have about three times the error of "highest" and take
   * two thirds to three quarters of its time.
   */
  convolutionPrecision: Precision = "highest";
  /** Reuse the memory of intermediates. */
  memoryPlanning = true;
  /**
   * The tier of CPU graphs when there is a C++ compiler: "background" runs WebAssembly until the compiler is done, with
   * the same bits except for library calls (products and convolutions), whose last bits may change then; "wait" compiles
   * before the first call, as does "background" under `useDeterministicAlgorithms(true)`; "wasm" does without the
   * compiler. DYN_TIER.
   */
  tier: Tier = tierOf(environmentVariable("DYN_TIER"));
  /** Keep kernels on disk between processes. */
  kernelCache = true;
  /**
   * Round float16 and bfloat16 after every op, as eager execution does; otherwise fused kernels keep float32 between
   * ops and round what they store.
   */
  emulatePrecisionCasts = false;
  /** Maximum number of operations that each consumer recomputes instead of reading a stored value. */
  realizeOpsThreshold = 30;
  /**
   * Whether to keep results in memory that the graph owns and overwrites in its next call, as CUDA graphs do; reading a
   * stale result is an error.
   */
  staticResults = false;
  /**
   * Whether to record the commands and intermediate memory of a graph's call on a GPU and to submit them again in the
   * next call on the same memories; results are stored as by staticResults. Graphs on the CPU are a single call anyway.
   */
  replay = false;
  /** The files of a debug folder. */
  readonly trace: TraceConfig = checked(new TraceConfig(), "inductor.trace.");
}

/** A change to some settings; groups may be partial too. */
export type ConfigPatch =
  & { readonly [K in keyof Config as K extends "patch" | "inductor" ? never : K]?: Config[K] | undefined }
  & { readonly inductor?: InductorPatch | undefined };

/** A change to some settings of the code generator. */
export type InductorPatch =
  & { readonly [K in keyof InductorConfig as K extends "trace" ? never : K]?: InductorConfig[K] | undefined }
  & { readonly trace?: Partial<TraceConfig> | undefined };

/** Everything that can be set, and `patch`. */
export class Config extends Settings {
  /** Maximum number of compiled entries of one function, which beyond it stays uncompiled. */
  cacheSizeLimit = 8;
  /** The same for a compiled function together with the code after its graph breaks. */
  accumulatedCacheSizeLimit = 256;
  /**
   * Maximum number of instructions that are traced of a function in parts that compute with no tensors, each version that
   * meets none counting as 30,000 more, before the rest of it runs uncompiled.
   */
  tensorlessTraceLimit = 1_000_000;
  /** Whether to throw `FailOnRecompileLimitHit` (GB0033) when one of these limits is reached, as `fullgraph` does. */
  failOnRecompileLimitHit = false;
  /** Whether to show all frames in errors of compilation, with dyn's own after the user's. */
  verbose: boolean = environmentSwitch("DYN_VERBOSE");
  /** Whether to run the original function when compiling it fails. */
  suppressErrors = false;
  /** Whether to throw instead of compiling a function again. */
  errorOnRecompile = false;
  /** Whether sizes and numbers that change become symbols. */
  dynamicShapes = true;
  /**
   * Sources that become symbols immediately, even with `dynamic: false`: as guards print them, separated by commas,
   * `L["x"]` for all dimensions of a tensor (or a number), `L["x"]:1` for one; or regular expressions anchored at the
   * beginning, `L\\["x.*`. DYN_DYNAMIC_SOURCES.
   */
  dynamicSources: string = environmentVariable("DYN_DYNAMIC_SOURCES") ?? "";
  /**
   * Sources that stay constant however often they change, unless `markDynamic` says otherwise; DYN_STATIC_SOURCES.
   */
  staticSources: string = environmentVariable("DYN_STATIC_SOURCES") ?? "";
  /** Dimensions of tensors that become unbacked symbols, as by `markUnbacked`; DYN_UNBACKED_SOURCES. */
  unbackedSources: string = environmentVariable("DYN_UNBACKED_SOURCES") ?? "";
  /** Sizes and integers that become symbols wherever they occur, `1111,2222`; DYN_DYNAMIC_VALUES. */
  dynamicValues: string = environmentVariable("DYN_DYNAMIC_VALUES") ?? "";
  /**
   * The name of the job that this process belongs to; DYN_JOB_ID. The sizes and numbers that change are then stored
   * beside compiled code, and processes of the same job make them symbols at once. Empty: nothing is stored.
   */
  jobId: string = environmentVariable("DYN_JOB_ID") ?? "";
  /** Another job whose decisions are also read; DYN_PGO_READ. */
  pgoReadKey: string = environmentVariable("DYN_PGO_READ") ?? "";
  /** Another job whose decisions are also updated; DYN_PGO_WRITE. */
  pgoWriteKey: string = environmentVariable("DYN_PGO_WRITE") ?? "";
  /** Whether to keep `item()` in the graph, as an unknown number, instead of breaking it. */
  captureScalarOutputs = false;
  /** Whether to keep operations whose result sizes depend on elements (nonzero, masks, unique) in the graph. */
  captureDynamicOutputShapes = false;
  /**
   * Whether to cache the compiled code of captured graphs on disk, so that later processes neither differentiate nor
   * lower them, and the texts of compiled functions' modules; DYN_GRAPH_CACHE=0 switches that off.
   */
  graphCache: boolean = environmentVariable("DYN_GRAPH_CACHE") !== "0";
  /**
   * The share, from 0 to 1, of the activations that a forward graph may save for its backward pass besides inputs and
   * results; the rest is recomputed, the cheapest per byte first. 0 keeps inputs alone, as a checkpoint does.
   */
  activationMemoryBudget = 1;
  /**
   * Whether to capture backward passes as they run, including the parts that compiled functions leave to the tape, and
   * to run each as one compiled graph; DYN_COMPILED_AUTOGRAD. Passes that are themselves differentiated
   * (`createGraph`), or that run under another dispatch mode or in anomaly mode, run uncompiled: `counters` of the
   * group `compiled_autograd_plain` count them.
   */
  compiledAutograd: boolean = environmentSwitch("DYN_COMPILED_AUTOGRAD");
  /** If not empty, only functions of this name are compiled. */
  debugFunction: string = environmentVariable("DYN_DEBUG_FUNCTION") ?? "";
  /**
   * Whether to write an execution record, a program that repeats the call alone, when a call of a compiled function
   * throws. Arguments and captured variables are copied at each call; DYN_REPLAY_RECORD.
   */
  replayRecordEnabled: boolean = environmentSwitch("DYN_REPLAY_RECORD");
  /** Functions whose calls may be delayed until after the graph, such as `console.log`. */
  reorderableLoggingFunctions: Set<unknown> = new Set();
  /** Functions whose calls compiled code leaves out, such as `console.debug`; their arguments are not evaluated. */
  ignoreLoggingFunctions: Set<unknown> = new Set();
  /** The number of the instruction in each frame before which the graph breaks, for tests; -1: none. */
  forceBreak: number = -1;
  /**
   * The share of calls of each compiled graph that also run op by op, for comparison; DYN_SHADOW. A graph whose results
   * differ is reported and runs op by op from then on.
   */
  shadow: number = Number(environmentVariable("DYN_SHADOW") || 0);
  /**
   * The graphs for which repros are written: captured ones ("dynamo"), functional ones ("aot"), none ("");
   * DYN_REPRO_AFTER.
   */
  reproAfter: string = environmentVariable("DYN_REPRO_AFTER") ?? "";
  /**
   * When repros are written, and whether they are minified; DYN_REPRO_LEVEL. 1: on errors. 2: on errors, minified. 3:
   * always. 4: on wrong answers, minified.
   */
  reproLevel: number = Number(environmentVariable("DYN_REPRO_LEVEL") || 2);
  /** The folder of repros, which has a subfolder for each; DYN_REPRO_DIR. */
  reproDir: string = environmentVariable("DYN_REPRO_DIR") || "dyn_repros";
  /** The code generator's settings. */
  readonly inductor: InductorConfig = checked(new InductorConfig(), "inductor.");

  /**
   * Runs `body` with some settings changed and restores them afterwards; when `body` returns a promise, once
   * that settles. Settings given as `undefined` stay as they are.
   * Throws `DynError` for an unknown name or a value of the wrong type, before anything changes.
   */
  patch<T>(values: ConfigPatch, body: () => T): T {
    if (arguments.length > 2) refuseSurplus("patch", 2, arguments);
    checkFunction(body, "to run with changed settings");
    const restore = assign(changesOf(this, values, ""));
    return scoped(body, restore);
  }
}

/** A share of calls. Throws DynError for anything but a number from 0 to 1. */
export const shadowRate = (value: unknown): number => shareOf(value, "shadow");

/** The current settings. */
export const config: Config = checked(new Config(), "");
showOwnFramesWhen(() => config.verbose);

/**
 * Checks settings of the code generator that arrive untyped, `compile`'s `options`: names as in
 * `config.inductor`, groups nested or dotted (`"trace.enabled": true`). Throws `DynError` as `patch` does.
 */
export function inductorPatch(options: Readonly<Record<string, unknown>>): InductorPatch {
  const nested: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(options)) {
    const dot = name.indexOf(".");
    if (dot < 0) {
      nested[name] = value;
      continue;
    }
    const outer = name.slice(0, dot);
    const group = nested[outer];
    nested[outer] = { ...(typeof group === "object" ? group : undefined), [name.slice(dot + 1)]: value };
  }
  changesOf(config.inductor, nested, "inductor.");
  return nested;
}

/** One checked assignment. */
interface Change {
  readonly target: Settings;
  readonly key: string;
  readonly value: unknown;
}

/** Checks a patch against the settings and flattens it, so that nothing changes if anything is invalid. */
function changesOf(target: Settings, patch: object, path: string): Change[] {
  const changes: Change[] = [];
  for (const [key, value] of Object.entries(patch)) {
    const name = path + key;
    checkOneOf("a setting", name, Object.keys(target).map((each) => path + each));
    if (value === undefined) continue;
    const current: unknown = Reflect.get(target, key);
    checkValue(name, current, value);
    if (current instanceof Settings) changes.push(...changesOf(current, value, `${name}.`));
    else changes.push({ target, key, value });
  }
  return changes;
}

/** Assigns the changes; the returned function restores the old values. */
function assign(changes: readonly Change[]): () => void {
  const former = changes.map(({ target, key }): Change => ({ target, key, value: Reflect.get(target, key) }));
  for (const { target, key, value } of changes) Reflect.set(target, key, value);
  return () => {
    for (const { target, key, value } of former.toReversed()) Reflect.set(target, key, value);
  };
}
