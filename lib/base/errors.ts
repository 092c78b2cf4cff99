/**
 * The four kinds of failure, each its own class, so that a catch clause can tell whose fault it is.
 *
 * - `DynError`: the user's call is wrong (shapes, dtypes, names, arguments). Subclasses say which rule.
 * - `Unsupported`: the tracer met something it cannot capture; a graph break, or an error under `fullgraph`.
 * - `BackendCompilerFailed`: a graph backend failed on a graph that dyn handed to it.
 * - `InternalError`: dyn broke its own rule; always a bug in dyn.
 *
 * Invariant: messages start with a capital, have no final period and say what was found against what was
 * expected. None of the classes derives from another, only from `Error`.
 */

import { apart, defineOwn } from "./isolated_objects.ts";
import { apply, preferringOwnBuiltins } from "./own_builtins.ts";

// As they were when dyn loaded: errors are made while the program's replacements are in place
const { defineProperty, getOwnPropertyDescriptor, set } = Reflect, { has, add } = WeakSet.prototype;
const OwnError = Error, { captureStackTrace } = Error;

/** The user's call breaks a documented rule. Its stack begins at the line of the program that made the call. */
export class DynError extends Error {
  /** The name of the class. */
  override readonly name: string = "DynError";

  /** Makes the error. */
  constructor(message?: string, options?: ErrorOptions) {
    super(message, options);
    traceProgram(this);
  }
}

/** A matrix has no inverse, factor or eigenvalues of the requested kind, like `torch.linalg.LinAlgError`. */
export class LinAlgError extends DynError {
  /** The name of the class. */
  override readonly name: string = "LinAlgError";
}

/** Returns the result of a function, or null if it throws an error of this class. */
export function orNull<T>(kind: abstract new (...given: never[]) => Error, run: () => T): T | null {
  try {
    return run();
  } catch (thrown) {
    if (thrown instanceof kind) return null;
    throw thrown;
  }
}

/** A device cannot compute with an operand: the op itself throws the same error. */
export class OperandRefused extends DynError {}

/** A place in the user's program; lines and columns count from 1. */
export interface UserFrame {
  /** Empty for an anonymous function. */
  readonly functionName: string;
  /** Its path, or its URL. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
  /** The source line itself, trimmed, if it is known. */
  readonly code?: string;
}

/** One entry of the catalogue of graph breaks, filled in for one place. */
export interface BreakReason {
  /** Stable identifier, `GB0001`. */
  readonly id: string;
  /** The kind of construct, in a few words. */
  readonly category: string;
  /** The facts, with the names and values involved. */
  readonly explanation: string;
  /** Advice to the user. */
  readonly hint: string;
  /** Innermost frame first. */
  readonly stack: readonly UserFrame[];
}

/** A construct that the tracer cannot capture; carries the reason that `explain` and `fullgraph` report. */
export class Unsupported extends Error {
  /** The name of the class. */
  override readonly name: string = "Unsupported";
  /** Where and why the capture ended, with a hint. */
  readonly reason: BreakReason;

  /** Makes the error. */
  constructor(reason: BreakReason, options?: ErrorOptions) {
    super(breakText(reason), options);
    this.reason = reason;
    traceProgram(this);
  }
}

/** A function has reached its limit of compiled versions and must not run without one: `fullgraph`, or a setting. */
export class FailOnRecompileLimitHit extends Unsupported {
  /** The name of the class. */
  override readonly name: string = "FailOnRecompileLimitHit";
}

/** Returns the text of a graph break as `Unsupported` and the log show it: user frames first, then reason and hint. */
export function breakText(reason: BreakReason): string {
  const lines = [`${reason.category} (${reason.id})`];
  for (const frame of reason.stack) {
    lines.push(`  at ${frame.functionName || "<anonymous>"} (${frame.file}:${frame.line}:${frame.column})`);
    if (frame.code) lines.push(`      ${frame.code}`);
  }
  lines.push(`  Explanation: ${reason.explanation}`, `  Hint: ${reason.hint}`);
  return lines.join("\n");
}

/** A graph backend threw on a graph; the backend's own error is the `cause`. */
export class BackendCompilerFailed extends Error {
  /** The name of the class. */
  override readonly name: string = "BackendCompilerFailed";
  /** The name of the backend. */
  readonly backend: string;

  /** `of` describes what it compiled: a function of the program. */
  constructor(backend: string, cause: unknown, of?: string) {
    const where = of === undefined ? "" : [
      "",
      `  while it compiled ${of}`,
      "  Hint: DYN_REPRO_AFTER=dynamo writes a script that shows it, config.verbose shows dyn's own frames, and " +
      "config.suppressErrors runs such functions uncompiled",
    ].join("\n");
    super(`Backend ${JSON.stringify(backend)} failed: ${messageOf(cause)}${where}`, { cause });
    this.backend = backend;
    traceProgram(this);
  }
}

/** A rule that dyn itself keeps was broken: a bug in dyn, never the user's. */
export class InternalError extends Error {
  /** The name of the class. */
  override readonly name: string = "InternalError";

  /** Makes the error. */
  constructor(message: string, options?: ErrorOptions) {
    super(`${message} (this is a bug in dyn)`, options);
    traceProgram(this, { ownFrames: true });
  }
}

/** Throws `InternalError` unless `condition` holds; for invariants, never for what a user passed in. */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InternalError(message);
}

const undone = new WeakMap<object, object>();

/**
 * Records that a graph's run ended in an error and left everything unchanged, so that the same part may run in another
 * way. Returns the error.
 */
export function noteUndone<E>(error: E, graph: object): E {
  if (typeof error === "object" && error !== null) undone.set(error, graph);
  return error;
}

/** Returns whether a run of this graph ended in the error and rolled back all its effects. */
export function isUndone(error: unknown, graph: object): boolean {
  return typeof error === "object" && error !== null && undone.get(error) === graph;
}

/** The message of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** The text of anything that was thrown, with the name of an error. */
export function faultText(thrown: unknown): string {
  return thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown);
}

/**
 * The root of dyn's own modules: the folder that holds `lib/`, or, when everything was bundled into one file, that
 * file.
 */
export const OWN_ROOT: string = import.meta.url.endsWith("/lib/base/errors.ts")
  ? new URL("../../", import.meta.url).href
  : import.meta.url;

/** Parts of the source tree that a stack trace should treat as dyn's; examples and tests are users of it. */
const OWN_PARTS = [
  "lib/",
  "backends/",
  "packaging/",
  "runtime/",
  "cli/",
  "cli.ts",
  "mod.ts",
  "modules.ts",
  "preload.ts",
];

/** Returns whether a file, by its path, is one of dyn's own. */
export function isOwnFile(path: string): boolean {
  const url = path.includes("://") ? path : `file://${path.startsWith("/") ? "" : "/"}${path}`;
  return isOwnFrame(`at ${url}`);
}

/** Returns whether a module is one of dyn's own; always false in a bundle, which contains the user's code as well. */
export function isOwnModule(url: string): boolean {
  if (!OWN_ROOT.endsWith("/") || !url.startsWith(OWN_ROOT)) return false;
  const rest = url.slice(OWN_ROOT.length);
  return OWN_PARTS.some((part) => rest.startsWith(part));
}

/** Returns whether one line of a stack trace points into dyn itself, the runtime or generated code. */
export function isOwnFrame(line: string): boolean {
  if (/\((?:ext|node|dyn):|at (?:async )?(?:ext|node|dyn):/.test(line)) return true;
  const at = line.indexOf(OWN_ROOT);
  if (at < 0) return false;
  if (!OWN_ROOT.endsWith("/")) return true;
  const rest = line.slice(at + OWN_ROOT.length);
  return OWN_PARTS.some((part) => rest.startsWith(part));
}

/** Maximum number of captured frames; dispatch and the compiler use a few dozen before the program's begin. */
const DEEPEST_TRACE = 200;

let showsOwnFrames = (): boolean => false;

/** Sets the function that decides, whenever a stack is read, whether it shows dyn's own frames too. */
export function showOwnFramesWhen(when: () => boolean): void {
  showsOwnFrames = when;
}

let passesImports = false;

/**
 * Preserves the identity of errors when the import of a module throws: Deno replaces an error whose native trace was
 * never created. For programs that print failures themselves, since Deno prints the native trace rather than the stack.
 */
export function passErrorsThroughImports(): void {
  passesImports = true;
}

/**
 * Sets the number of frames that errors show from now on, and returns the previous one. Does nothing if the program has
 * frozen `Error`.
 */
export function setTraceLimit(frames: number): number {
  const { stackTraceLimit } = OwnError;
  set(OwnError, "stackTraceLimit", frames);
  return stackTraceLimit;
}

/**
 * Makes the stack of an error show the program's frames and hide dyn's own, which follow only on request or if there
 * are no others. The text is made when it is read: many errors never are.
 */
export function traceProgram(error: Error, { ownFrames = false } = {}): void {
  const stackHere = traceHere(traceProgram);
  const native = getOwnPropertyDescriptor(error, "stack")?.get;
  showStack(error, () => {
    if (passesImports && native) apply(native, error, []);
    const stack = stackHere();
    return preferringOwnBuiltins(() => {
      const shown = shownFrames(framesIn(stack), ownFrames || showsOwnFrames());
      return [`${error.name}: ${error.message}`, ...shown].join("\n");
    });
  });
}

/** Captures the stack of the caller of a function; it becomes text when the returned function is called. */
function traceHere(called: (...args: never[]) => unknown): () => unknown {
  const trace: { stack?: unknown } = {};
  const limit = setTraceLimit(DEEPEST_TRACE);
  try {
    captureStackTrace(trace, called);
  } finally {
    setTraceLimit(limit);
  }
  return () => trace.stack;
}

/** The frames of a stack without a message; none if the program represents stacks by anything but text. */
function framesIn(stack: unknown): readonly string[] {
  return typeof stack === "string" ? stack.split("\n").slice(1) : [];
}

/** Makes `stack` what a function returns, as long as the program does not assign it. Does nothing to frozen errors. */
function showStack(error: Error, get: () => unknown): void {
  const set = (value: unknown) => {
    defineOwn(error, "stack", { configurable: true, enumerable: false, writable: true, value });
  };
  defineProperty(error, "stack", apart({ configurable: true, enumerable: false, get, set }));
}

const placedErrors = new WeakSet<Error>();

/**
 * Makes the stack of an error that leaves dyn show only the program's frames, as that of dyn's own errors does: the
 * engine shows a few of the innermost frames, and dyn's take the places of those that called it. Must be called by the
 * very function that the program has called.
 */
export function traceCallers(thrown: unknown): void {
  if (!(thrown instanceof OwnError) || thrown instanceof DynError || apply(has, placedErrors, [thrown])) {
    return;
  }
  const native = getOwnPropertyDescriptor(thrown, "stack")?.get;
  if (!native) return;
  apply(add, placedErrors, [thrown]);
  const stackHere = traceHere(traceCallers), { stackTraceLimit } = OwnError;
  showStack(thrown, () => {
    const stack: unknown = apply(native, thrown, []), here = stackHere();
    return preferringOwnBuiltins(() => withCallers(stack, framesIn(here), stackTraceLimit));
  });
}

/** The stack of an error with the frames behind the first of others, if it shows any of dyn's. */
function withCallers(stack: unknown, here: readonly string[], limit: number): unknown {
  if (typeof stack !== "string") return stack;
  const lines = stack.split("\n"), first = lines.findIndex((line, n) => n > 0 && /^\s+at /.test(line));
  const inside = lines.slice(first < 0 ? lines.length : first);
  if (!inside.some(isOwnFrame)) return stack;
  // The first is that of the function that was called
  const callers = here.slice(1);
  // The last of the error's frames may be some of the callers'
  const common = inside.findIndex((_, n) => inside.slice(n).every((line, k) => line === callers[k]));
  const all = [...common < 0 ? inside : inside.slice(0, common), ...callers];
  return [...lines.slice(0, first), ...shownFrames(all, showsOwnFrames()).slice(0, limit)].join("\n");
}

/** Returns the program's frames, then dyn's own if they are requested or the only ones. */
function shownFrames(lines: readonly string[], withOwn: boolean): readonly string[] {
  // A builtin that calls back (`Array.map`) belongs to its caller
  const callers = lines.map((line, n) => lines.slice(n).find((each) => !BUILTIN.test(each)) ?? line);
  const called = lines.filter((_, n) => !isOwnFrame(callers[n] ?? ""));
  const users = called.slice(Math.max(0, called.findIndex((line) => !BUILTIN.test(line))));
  if (users.length > 0 && !withOwn) return users;
  return [...users, ...lines.filter((line, n) => isOwnFrame(callers[n] ?? "") && !CONSTRUCTORS.test(line))];
}

/** Gives an error that shows no frame of the program, as one thrown after a wait, the frames of another error. */
export function placeLike<E extends Error>(error: E, place: Error): E {
  const framesOf = ({ stack = "" }: Error) => stack.split("\n").filter((line) => /^\s+at /.test(line));
  if (framesOf(error).every(isOwnFrame)) {
    error.stack = [`${error.name}: ${error.message}`, ...framesOf(place)].join("\n");
  }
  return error;
}

/** Frames of functions without source text. */
const BUILTIN = /\((?:<anonymous>|native|index \d+)\)$/;

/** Frames that create errors, which say nothing about the place. */
const CONSTRUCTORS = /\bat new \w+ \(\S*\/lib\/base\/errors\.ts/;

/**
 * The text of an error with the user's frames first. Frames of dyn follow only when `verbose` is set (as
 * `config.verbose` unless it is given) or when no frame is the user's; causes are shown after it in the same way.
 */
export function errorText(thrown: unknown, options: { verbose?: boolean } = {}): string {
  if (!(thrown instanceof Error)) return Deno.inspect(thrown);
  const isFrame = (line: string): boolean => /^\s+at /.test(line);
  const stack = thrown.stack ?? "";
  const found = stack.indexOf(thrown.message);
  const afterMessage = found < 0 ? stack : stack.slice(found + thrown.message.length);
  // The module loader adds the place to the message, and sometimes only there
  const message = thrown.message.split("\n");
  const lines = [...message.filter(isFrame), ...afterMessage.split("\n").filter(isFrame)]
    .filter((line, i, all) => line !== all[i - 1]);
  const shown = shownFrames(lines, options.verbose ?? showsOwnFrames());
  const head = `${thrown.name}: ${message.filter((line) => !isFrame(line)).join("\n")}`;
  const cause = thrown.cause === undefined ? [] : [`Caused by ${errorText(thrown.cause, options)}`];
  return [head, ...shown, ...cause].join("\n");
}
