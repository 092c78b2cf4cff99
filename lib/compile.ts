/**
 * `compile`: makes a callable that runs compiled graphs from a function or module. It joins the stages: dynamo captures
 * the call as graphs, the chosen backend (aot, then inductor, then a device) turns each into kernels. The call
 * signature is unchanged. Invariant: nothing is compiled before the first call.
 */
import { types } from "node:util";
import type { AnyFunction } from "./base/arguments.ts";
import { compilesLater, needsStages } from "./aot/stages.ts";
import { checkOptions, refuseSurplus, type ValueType } from "./base/checked_input.ts";
import { bisection } from "./base/bisect.ts";
import { currentTitle } from "./base/compile_times.ts";
import { config, inductorPatch, shadowRate } from "./base/config.ts";
import { DynError, faultText, Unsupported } from "./base/errors.ts";
import { refuseFallback, reportFallback } from "./base/fallback.ts";
import { counters } from "./base/logs.ts";
import { apart } from "./base/isolated_objects.ts";
import { withOwnRecords } from "./base/own_builtins.ts";
import { environmentSwitch } from "./base/permissions.ts";
import { showAsText } from "./base/console_text.ts";
import { isPlainObject } from "./base/tree.ts";
import type { GraphBackend } from "./graph/backend.ts";
import { backendDeclines, getDefaultBackend, lookupBackend } from "./graph/backends.ts";
import { interposedBackend } from "./graph/interpose.ts";
import { optimize } from "./dynamo/mod.ts";
import { type Mode, settingsOf } from "./compile_modes.ts";
import { WatchingBackend } from "./compile_counter.ts";
import type { GuardFilter, GuardFilterEntry, ShapesSpec } from "./dynamo/mod.ts";
import { keepingResults } from "./tensor/kept_memory.ts";
import { callNamed } from "./nn/error_places.ts";
import { type CallOf, Module, setForwardCompiler } from "./nn/module.ts";
import "./engines.ts";
import "./pipeline.ts";

export type { Mode } from "./compile_modes.ts";

/** A graph backend: its name, or a function from a graph and example inputs to a callable. */
export type Backend = string | GraphBackend;

/** Options of `compile`. */
export interface CompileOptions {
  /** Default: "inductor" (or DYN_BACKEND). */
  readonly backend?: Backend | undefined;
  /** Whether a graph break is an error. */
  readonly fullgraph?: boolean | undefined;
  /** Undefined: sizes are constants until they change. True: symbols from the start. False: always constants. */
  readonly dynamic?: boolean | undefined;
  /**
   * The dimensions of parameters by name, instead of `dynamic`: `{ x: ["dynamic", "static"], y: [{ max: 512 }] }`. It
   * is an error if the program makes a dimension constant that is specified as dynamic.
   */
  readonly shapesSpec?: ShapesSpec | undefined;
  /** The optimisation mode; default "default". */
  readonly mode?: Mode | undefined;
  /**
   * Settings of the code generator, as `config.inductor`; `shadow`, as `config.shadow`; `guardFilterFn`, a
   * `compiler.GuardFilter`; `keepFaster`, whether to time some calls compiled and as written, and to run the others in
   * the faster way (`compiler.status` has the times). `compiler.listOptions()` names them all.
   */
  readonly options?: Readonly<Record<string, unknown>> | undefined;
  /** Returns the function unchanged. */
  readonly disable?: boolean | undefined;
  /** The name in messages, logs and records; default: its own name. */
  readonly name?: string | undefined;
}

/** The compilations of one callable so far. */
export interface CompileStatistics {
  readonly graphs: number;
  readonly graphBreaks: number;
  /** Kernels of its graphs. */
  readonly kernels: number;
  /** Number of fallbacks to a slower tier after a failure. */
  readonly fallbacks: number;
}

interface MutableStatistics {
  graphs: number;
  graphBreaks: number;
  kernels: number;
  fallbacks: number;
}

const statistics = new WeakMap<object, MutableStatistics>();

/** Returns the statistics of a callable; undefined for functions that were not compiled. */
export function statisticsOf(callable: object): CompileStatistics | undefined {
  return statistics.get(callable);
}

/** A method decorator's second argument. */
export type MethodContext = ClassMethodDecoratorContext;

/** A compiled module: it is called directly, with the arguments and overloads of `forward`. */
export type Compiled<M extends Module> = M & CallOf<M["forward"]>;

/** Compiles a function or method; also a decorator of methods, with or without options. */
export function compile<F extends AnyFunction>(fn: F, options?: CompileOptions | MethodContext): F;
/** Compiles the calls of a module: `compiled(x)`; parameters and state-dict keys are those of the original. */
export function compile<M extends Module>(module: M, options?: CompileOptions): Compiled<M>;
/** A decorator with options, or without: `@compile()`. */
export function compile(
  options?: CompileOptions,
): <F extends AnyFunction>(method: F, context: MethodContext) => F;
export function compile(
  given?: AnyFunction | Module | CompileOptions,
  options: CompileOptions | MethodContext = {},
): unknown {
  if (arguments.length > 2) refuseSurplus("compile", 2, arguments);
  const target = arguments.length === 0 ? {} : given;
  return withOwnRecords<unknown>(() => compileTarget(target, options), (error) => {
    const isWhole = Object.hasOwn(options, "fullgraph") && "fullgraph" in options && options.fullgraph;
    const isTold = error instanceof DynError || error instanceof Unsupported;
    if (typeof target !== "function" || isWhole || isTold) throw error;
    return target;
  });
}

function compileTarget(
  target: AnyFunction | Module | CompileOptions | undefined,
  options: CompileOptions | MethodContext,
): unknown {
  const chosen: CompileOptions = isMethodContext(options) ? {} : checkedOptions(options);
  if (target instanceof Module) return compileModule(target, chosen);
  if (typeof target === "function") return compileFunction(target, chosen);
  if (isPlainObject(target)) {
    const decorating = checkedOptions(target);
    return (method: AnyFunction) => compileFunction(method, decorating);
  }
  throw new DynError(`Expected a function or an nn.Module to compile but found ${Deno.inspect(target)}`);
}

const OPTION_TYPES: Readonly<Record<keyof CompileOptions, readonly ValueType[]>> = {
  backend: ["string", "function"],
  fullgraph: ["boolean"],
  dynamic: ["boolean"],
  shapesSpec: ["object"],
  mode: ["string"],
  options: ["object"],
  disable: ["boolean"],
  name: ["string"],
};

/** Returns checked options. Throws DynError for an unknown one or one of another type. */
function checkedOptions(options: CompileOptions): CompileOptions {
  checkOptions("compile", OPTION_TYPES, options);
  // An option's name may be that of a permanent property of all objects
  const own = Object.getPrototypeOf(options) === Object.prototype ? apart({ ...options }) : options;
  if (own.dynamic !== undefined && own.shapesSpec !== undefined) {
    throw new DynError(`Expected dynamic or shapesSpec but found both`);
  }
  return own;
}

function isMethodContext(options: CompileOptions | MethodContext): options is MethodContext {
  return typeof options === "object" && options !== null && Object.hasOwn(options, "kind") &&
    Object.hasOwn(options, "name");
}

/** Returns whether the environment or the settings exclude functions of this name. */
function isDisabled(name: string): boolean {
  const { debugFunction } = config;
  return environmentSwitch("DYN_DISABLE") || (debugFunction !== "" && debugFunction !== name);
}

/**
 * `named` is the function's name in messages and settings, unless the options set one; `signature` has the parameters,
 * if the function passes its arguments on to another one.
 */
function compileFunction<F extends AnyFunction>(
  fn: F,
  options: CompileOptions,
  { named = fn.name, signature }: { readonly named?: string; readonly signature?: object | undefined } = {},
): F {
  const name = options.name ?? named;
  if (options.disable || isDisabled(name)) return fn;
  const found: MutableStatistics = { graphs: 0, graphBreaks: 0, kernels: 0, fallbacks: 0 };
  const counting = <R>(body: () => R): R => {
    const before = counters.get("inductor", "kernels"), fallbacks = counters.total("fallback");
    try {
      return body();
    } finally {
      found.kernels += counters.get("inductor", "kernels") - before;
      found.fallbacks += counters.total("fallback") - fallbacks;
    }
  };
  const counted = (backend: GraphBackend): GraphBackend => (gm, inputs) => {
    const run = counting(() => backend(gm, inputs));
    // Parts of such a graph are compiled once calls reach them
    return run && (needsStages(gm.calling) || compilesLater(run))
      ? (...given) => counting(() => run(...given))
      : run;
  };
  const wanted = bisection.backend ?? options.backend ?? getDefaultBackend();
  const { backend, name: backendName } = resolveBackend(wanted, options);
  const watcher = wanted instanceof WatchingBackend ? wanted : null;
  const { guardFilterFn, keepFaster } = options.options ?? {};
  const callable = optimize(fn, {
    name,
    backend: wanted === "inductor" ? counted(backend) : keepingResults(counted(backend)),
    wrapBackend: (forced) => keepingResults(counted(resolveBackend(forced, options).backend)),
    backendName,
    fullgraph: options.fullgraph ?? false,
    dynamic: options.dynamic,
    shapesSpec: options.shapesSpec,
    signature,
    described: { ...options, backend: backendName },
    guardFilter: guardFilterFn === undefined ? undefined : guardFilter(guardFilterFn),
    keepFaster: keepFaster === undefined ? undefined : checkedKeepFaster(keepFaster, fn),
    cacheSizeLimit: watcher?.cacheSizeLimit,
    hooks: {
      onGraph: () => void found.graphs++,
      onBreak: (reason) => {
        found.graphBreaks++;
        watcher?.onBreak(reason);
      },
      onRecompile: (title, reasons) => watcher?.onRecompile(title, reasons),
      onUncompiled: (reason) => watcher?.onUncompiled(reason),
    },
  });
  statistics.set(callable, found);
  return callable;
}

function guardFilter(given: unknown): GuardFilter {
  if (typeof given === "function") return (entries: readonly GuardFilterEntry[]) => given(entries);
  throw new DynError(`Expected guardFilterFn to be a function but found ${String(given)}`);
}

/** A call that returns before its work is done cannot be timed. */
function checkedKeepFaster(given: unknown, fn: AnyFunction): boolean {
  if (typeof given !== "boolean") {
    throw new DynError(`Expected keepFaster to be a boolean but found ${String(given)}`);
  }
  if (given && (types.isAsyncFunction(fn) || types.isGeneratorFunction(fn))) {
    throw new DynError(
      `Expected a function that is done when it returns for keepFaster but found ${fn.name}, async or a generator`,
    );
  }
  return given;
}

/** Returns the backend under the settings of `mode` and `options`. */
export function resolveBackend(
  wanted: Backend,
  options: CompileOptions,
): { readonly backend: GraphBackend; readonly name: string } {
  const name = typeof wanted === "string" ? wanted : wanted.name || "custom";
  const chosen = typeof wanted === "string" ? lookupBackend(wanted) : wanted;
  const interposed: GraphBackend = (gm, inputs) => interposedBackend(chosen, name)(gm, inputs);
  const backend = typeof wanted === "string" && backendDeclines(name) ? declining(interposed) : interposed;
  const { shadow, guardFilterFn: _, keepFaster: _keepFaster, ...more } = options.options ?? {};
  const inductor = inductorPatch({
    ...settingsOf(options.mode ?? "default"),
    ...(options.fullgraph ? { errorOnFallback: true } : {}),
    ...more,
  });
  if (shadow === undefined && Object.keys(inductor).length === 0) return { backend, name };
  const patch = { inductor, ...(shadow === undefined ? {} : { shadow: shadowRate(shadow) }) };
  return { backend: (gm, inputs) => config.patch(patch, () => backend(gm, inputs)), name };
}

/** Wraps a backend: graphs that it fails on run op by op, unless the settings make failures errors. */
function declining(backend: GraphBackend): GraphBackend {
  return (gm, inputs) => {
    try {
      return backend(gm, inputs);
    } catch (error) {
      // An op's complaint about its operands is the program's error
      if (error instanceof Unsupported || error instanceof DynError) throw error;
      if (config.inductor.errorOnFallback) refuseFallback(error);
      reportFallback(
        "op by op",
        `a graph of ${currentTitle()} runs op by op, because its compilation failed (DYN_ERROR_ON_FALLBACK=1 throws). ${
          faultText(error)
        }`,
      );
      return null;
    }
  };
}

/** Wraps a module: only its calls differ. */
function compileModule<M extends Module>(module: M, options: CompileOptions): Compiled<M> {
  const { name } = module.constructor, isPlain = options.disable || isDisabled(name);
  const method = (key: "call" | "callTraced" | "forward"): AnyFunction => Reflect.get(module, key);
  const compiled = (key: "call" | "callTraced" | "forward"): AnyFunction =>
    isPlain ? method(key) : compileFunction(method(key), options, {
      named: name,
      signature: key === "forward" ? undefined : method("forward"),
    });
  // The handler of errors in `call` stays outside, where they are those of the plain program
  const isOwn = module.call === Module.prototype.call;
  const forward = compiled("forward"), call = compiled(isOwn ? "callTraced" : "call");
  const wrapped = callableModule(module, {
    call: (...args) => callNamed(call, module, args),
    forward: (...args) => Reflect.apply(forward, module, args),
  });
  const found = statistics.get(call);
  if (found) statistics.set(wrapped, found);
  compiledCalls.set(wrapped, call);
  return wrapped;
}

type ModuleCalls = Readonly<Record<"call" | "forward", (...args: unknown[]) => unknown>>;

/** Creates a function that otherwise behaves like the module. */
function callableModule<M extends Module>(module: M, calls: ModuleCalls): Compiled<M> {
  const called = (...args: unknown[]) => calls.call(...args);
  showAsText(called, () => String(module));
  const wrapped: unknown = new Proxy(called, {
    get: (_, key) => key === "call" || key === "forward" ? calls[key] : Reflect.get(module, key),
    set: (_, key, value) => Reflect.set(module, key, value),
    has: (_, key) => Reflect.has(module, key),
    deleteProperty: (_, key) => Reflect.deleteProperty(module, key),
    defineProperty: (_, key, descriptor) => Reflect.defineProperty(module, key, descriptor),
    getOwnPropertyDescriptor: (_, key) => Reflect.getOwnPropertyDescriptor(module, key),
    ownKeys: () => Reflect.ownKeys(module),
    getPrototypeOf: () => Reflect.getPrototypeOf(module),
  });
  return wrapped as Compiled<M>;
}

const compiledCalls = new WeakMap<object, object>();

/** Returns the compiled callable of a compiled function or module, also of one that is compiled in place. */
export function callableOf(compiled: object): object {
  return compiledCalls.get(compiled) ?? compiled;
}

setForwardCompiler((module, options) => {
  const compiled = compileFunction(module.forward, checkedOptions(options), {
    named: module.constructor.name,
  });
  const found = statistics.get(compiled);
  if (found) {
    statistics.set(module, found);
    compiledCalls.set(module, compiled);
  }
  return (...args) => Reflect.apply(compiled, module, args);
});
