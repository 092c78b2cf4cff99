/**
 * A synchronous connection to V8's inspector of this very isolate.
 *
 * Results are returned immediately. Invariant: no user code runs while a message is dispatched: a nested dispatch would
 * end the process. If user code itself already runs inside a dispatch (an expression typed into a REPL), nothing is
 * sent.
 *
 * `Session.post` dispatches synchronously; only its reply waits in a queue that one `process.nextTick` closure drains.
 * That closure is called at once; while the debugger is enabled, the queue is occupied, and a captured closure is called
 * after each post. See https://nodejs.org/api/inspector.html and https://chromedevtools.github.io/devtools-protocol/v8/
 */
import { Session } from "node:inspector";
import process from "node:process";
import { setTraceLimit } from "../../base/errors.ts";
import { standingElement } from "../../base/inherited_elements.ts";
import { counters } from "../../base/logs.ts";
import { GlobalSlot } from "./global_slot.ts";
import type { Held } from "./info.ts";

/** Thrown if the inspector cannot be used. */
export class InspectorUnavailable extends Error {
  override readonly name = "InspectorUnavailable";
  /** Whether the same request can succeed from a timer or a later task. */
  readonly retry: boolean;

  constructor(message: string, options: ErrorOptions & { readonly retry?: boolean } = {}) {
    super(message, options);
    this.retry = options.retry ?? false;
  }
}

/** Returns whether an error says that the same request can succeed in a later task. */
export function isUntilTask(error: unknown): error is InspectorUnavailable {
  return error instanceof InspectorUnavailable && error.retry;
}

/** A result of the protocol. */
export type Fields = Readonly<Record<string, unknown>>;

/** The fields of an object, none for anything else. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

export function textField(fields: Fields, name: string): string {
  const value = fields[name];
  return typeof value === "string" ? value : "";
}

export function numberField(fields: Fields, name: string): number {
  const value = fields[name];
  return typeof value === "number" ? value : -1;
}

function firstOf(list: unknown): unknown {
  return Array.isArray(list) ? list[0] : undefined;
}

/** Metadata of a script without its text. */
export interface ScriptOutline {
  readonly url: string;
  /** Length of its text in code units; −1 if not known. */
  readonly length: number;
}

const stash = new GlobalSlot("dyn.stash");
const GROUP = "dyn";

let batches = 0;
/** Functions that clear caches when the outermost batch ends. */
const inBatch = new Set<() => void>();

/** Runs `body`, during which the debugger is enabled at most once: enabling it reports every script and takes long. */
export function batch<T>(body: () => T): T {
  batches++;
  try {
    return body();
  } finally {
    if (--batches === 0) {
      const ends = [...inBatch];
      inBatch.clear();
      for (const end of ends) end();
    }
  }
}

/** Runs `end` when the outermost batch ends; immediately outside of one. */
export function atBatchEnd(end: () => void): void {
  if (batches > 0) inBatch.add(end);
  else end();
}

let keepsDebugger = false;

/** Leaves the debugger enabled from its next use on, for processes that need it often and may run slower. */
export function keepDebugger(): void {
  keepsDebugger = true;
}

export class Inspector {
  private readonly session = new Session();
  private drain: (() => void) | null = null;
  private debugging = 0;
  private endBatch: (() => void) | null = null;
  /** Whether values have ids that were not released. */
  #hasNamed = false;

  constructor() {
    refuseInsideDispatch();
    try {
      this.session.connect();
    } catch (cause) {
      throw new InspectorUnavailable(
        "Expected permission to use the inspector (run with -A or --allow-sys)",
        { cause },
      );
    }
    this.catchDrain();
  }

  private catchDrain(): void {
    const caught: (() => void)[] = [];
    let answered = false;
    withNextTick((callback, ...args) => void caught.push(() => callback(...args)), () => {
      this.session.post("Runtime.getIsolateId", {}, () => {
        answered = true;
      });
    });
    for (const callback of caught) callback();
    if (!answered) throw new InspectorUnavailable("Expected the inspector to answer at once");
    this.drain = caught[0] ?? null;
  }

  /** Sends one message and returns its result. */
  post(method: string, params: Fields = {}): Fields {
    refuseInsideDispatch();
    const element = standingElement();
    // The session pushes messages onto a list
    if (element !== null) throw new InspectorUnavailable(`Expected no permanently defined ${element}`);
    let outcome: { readonly error: Error | null; readonly result: Fields } | null = null;
    // Messages are read as they arrive: taking thousands of scripts from the session's queue is quadratic
    withNextTick(
      atOnce,
      () =>
        this.session.post(method, { ...params }, (error: Error | null, result?: object) => {
          outcome = { error, result: fieldsOf(result) };
        }),
    );
    if (outcome === null) this.drain?.();
    if (this.debugging > 0) this.occupyQueue();
    return settle(method, outcome);
  }

  /** Ends what an earlier message began, as long as the inspector can be used. */
  end(method: string, params: Fields = {}): void {
    if (standingElement() === null) this.post(method, params);
  }

  /**
   * Leaves an answer in the queue: events, such as parsed scripts, then wait behind it, without a tick that would run
   * with the builtins of the program.
   */
  private occupyQueue(): void {
    withNextTick(ignore, () => this.session.post("Runtime.getIsolateId", {}, () => {}));
  }

  /** Calls `listener` for each event of that kind. */
  on(event: string, listener: (params: Fields) => void): void {
    this.session.on(event, (message: unknown) => listener(fieldsOf(fieldsOf(message).params)));
  }

  /**
   * The existing scripts by id, as the profiler lists them: that takes a quarter of the time of enabling the debugger,
   * which hashes every script's text.
   */
  scripts(): ReadonlyMap<string, ScriptOutline> {
    counters.add("inspector", "scripts");
    this.post("Profiler.enable");
    const { result } = this.post("Profiler.getBestEffortCoverage");
    this.post("Profiler.disable");
    const scripts: readonly unknown[] = Array.isArray(result) ? result : [];
    return new Map(scripts.map((each): [string, ScriptOutline] => {
      const script = fieldsOf(each), whole = fieldsOf(firstOf(fieldsOf(firstOf(script.functions)).ranges));
      const length = numberField(whole, "startOffset") === 0 ? numberField(whole, "endOffset") : -1;
      return [textField(script, "scriptId"), { url: textField(script, "url"), length }];
    }));
  }

  /** Enables the debugger until the result is called; it slows the program down, so that should be soon. */
  holdDebugger(): () => void {
    if (this.debugging === 0) {
      counters.add("inspector", "debugger");
      this.post("Debugger.enable");
      // A `debugger` statement of the program would stop this very thread forever.
      this.post("Debugger.setSkipAllPauses", { skip: true });
      this.occupyQueue();
      if (keepsDebugger) this.debugging++;
    }
    this.debugging++;
    return () => {
      if (--this.debugging === 0) this.end("Debugger.disable");
    };
  }

  /** Runs `body` with the debugger enabled. Inside a batch it stays enabled until the batch ends. */
  withDebugger<T>(body: () => T): T {
    const release = this.holdDebugger();
    if (batches > 0 && this.endBatch === null) {
      this.endBatch = this.holdDebugger();
      inBatch.add(() => {
        this.endBatch?.();
        this.endBatch = null;
      });
    }
    try {
      return body();
    } finally {
      release();
    }
  }

  /** The inspector's id of a value; valid until `release`. */
  idOf(value: unknown): string {
    stash.value = value;
    const reply = this.post("Runtime.evaluate", { expression: stash.text, objectGroup: GROUP, silent: true });
    stash.value = undefined;
    this.#hasNamed = true;
    return textField(fieldsOf(reply.result), "objectId");
  }

  /** The value behind an id. */
  valueOf(objectId: string): unknown {
    this.post("Runtime.callFunctionOn", {
      objectId,
      functionDeclaration: `function () { ${stash.text} = this; }`,
      silent: true,
    });
    const { value } = stash;
    stash.value = undefined;
    return value;
  }

  /** Internal properties of a value, such as `Scopes` and `FunctionLocation`, by name without brackets. */
  internals(value: object): ReadonlyMap<string, Fields> {
    const reply = this.post("Runtime.getProperties", {
      objectId: this.idOf(value),
      ownProperties: true,
    });
    const found = new Map<string, Fields>();
    const list = reply.internalProperties;
    for (const item of Array.isArray(list) ? list : []) {
      const fields = fieldsOf(item);
      const name = textField(fields, "name");
      // Without regular expressions, which programs may change
      found.set(name.startsWith("[[") ? name.slice(2, -2) : name, fieldsOf(fields.value));
    }
    return found;
  }

  /** Returns an object's member with a private name. If classes have equal names, the innermost one counts. */
  privateMember(object: object, name: string): Held {
    const reply = this.post("Runtime.getProperties", { objectId: this.idOf(object), ownProperties: true });
    const list = reply.privateProperties;
    for (const item of Array.isArray(list) ? list : []) {
      const fields = fieldsOf(item);
      if (textField(fields, "name") !== name) continue;
      return { kind: "value", value: this.plainValue(fieldsOf(fields.value)) };
    }
    return { kind: "unknown" };
  }

  /** The value of a remote object, which the protocol includes if it is a primitive. */
  plainValue(remote: Fields): unknown {
    const id = textField(remote, "objectId");
    if (id) return this.valueOf(id);
    const spelled = textField(remote, "unserializableValue");
    if (spelled.endsWith("n")) return BigInt(spelled.slice(0, -1));
    if (spelled) return Number(spelled);
    return remote.value;
  }

  /** Releases all values that have ids; in a batch once, when it ends. */
  release(): void {
    if (this.#hasNamed) atBatchEnd(this.#release);
  }

  readonly #release = (): void => {
    this.#hasNamed = false;
    this.end("Runtime.releaseObjectGroup", { objectGroup: GROUP });
  };
}

function settle(
  method: string,
  outcome: { readonly error: Error | null; readonly result: Fields } | null,
): Fields {
  if (outcome === null) throw new InspectorUnavailable(`Expected the inspector to answer ${method} at once`);
  if (outcome.error) {
    throw new InspectorUnavailable(`Inspector refused ${method}: ${outcome.error.message}`, {
      cause: outcome.error,
    });
  }
  return outcome.result;
}

type NextTick = (callback: (...args: unknown[]) => void, ...args: unknown[]) => void;

const ignore: NextTick = () => {};
const atOnce: NextTick = (callback, ...args) => callback(...args);

/** Runs a function with another `process.nextTick`. */
function withNextTick(nextTick: NextTick, body: () => void): void {
  const original = process.nextTick;
  process.nextTick = nextTick;
  try {
    body();
  } finally {
    process.nextTick = original;
  }
}

let inRepl: boolean | null = null;

/** Returns whether this is `deno repl` or the kernel of a notebook. */
export function isRepl(): boolean {
  return inRepl ??= Object.hasOwn(globalThis, "_") && Object.hasOwn(globalThis, "_error");
}

/**
 * In a REPL, typed expressions run inside a dispatch; timers and events do not: their outermost frame is the
 * runtime's own.
 */
function refuseInsideDispatch(): void {
  if (!isRepl()) return;
  const limit = setTraceLimit(Infinity);
  const stack = new Error().stack ?? "";
  setTraceLimit(limit);
  const outermost = stack.trimEnd().split("\n").at(-1) ?? "";
  if (!outermost.includes("ext:")) {
    throw new InspectorUnavailable(
      "No code can be read while a cell of a notebook or a line of deno repl runs; it is read when that has ended",
      { retry: true },
    );
  }
}
