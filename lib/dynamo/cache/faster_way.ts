/**
 * The option `keepFaster`: times a function's calls compiled and as written, and keeps the faster way. Invariant: each
 * call runs once, in one of the two ways.
 */
import { types } from "node:util";
import { counters, logs } from "../../base/logs.ts";
import { withRuntimeBuiltins } from "../../base/own_builtins.ts";
import { synchronizeDevices } from "../../loops/device.ts";

/** Measured milliseconds a call, and the way that further calls take. */
export interface CallTimes {
  readonly compiled: number;
  readonly plain: number;
  readonly kept: Way;
}

type Way = "compiled" | "plain";

/** Timed calls of each way, after some that are not: code that has just been compiled is not yet optimised. */
const TIMED = 7, UNTIMED = 3;

/** Equal calls after which no further version is expected, and calls after which nothing is waited for. */
const STEADY = 3, PATIENCE = 200;

/** The state of compilation, which comes to rest after some calls. */
export interface Progress {
  /** Compiled versions so far. */
  readonly versions: () => number;
  /** Whether no graph waits for the C++ compiler. */
  readonly isNative: () => boolean;
}

/** Returns whether every graph that began as WebAssembly has become native code. */
export function graphsAreNative(): boolean {
  const of = (name: string) => counters.get("tiers", name);
  return of("switched") + of("native_at_once") >= of("wasm_first");
}

/** The calls of one function, and the choice between its two ways. */
export class FasterWay {
  /** The result; null while calls are being timed. */
  times: CallTimes | null = null;
  readonly #milliseconds: Readonly<Record<Way, number[]>> = { compiled: [], plain: [] };
  /** False once a call has returned before its work was done: such calls stay compiled. */
  #isTimed = true;
  #calls = 0;
  #steady = 0;
  #versions = 0;

  constructor(
    readonly title: () => string,
    readonly progress: Progress,
    readonly now: () => number = () => performance.now(),
  ) {}

  /** Runs a call in the way that is its turn, or that has won. */
  serve(ways: Readonly<Record<Way, () => unknown>>): unknown {
    if (this.times !== null) return ways[this.times.kept]();
    if (!this.#isTimed || !this.#isSettled()) return ways.compiled();
    const { compiled, plain } = this.#milliseconds;
    const way = compiled.length <= plain.length ? "compiled" : "plain";
    synchronizeDevices();
    const start = this.now(), result = ways[way]();
    if (types.isPromise(result)) {
      this.#isTimed = false;
      return result;
    }
    synchronizeDevices();
    this.#milliseconds[way].push(this.now() - start);
    if (plain.length === UNTIMED + TIMED) this.#decide();
    return result;
  }

  /** Forgets what was measured. */
  clear(): void {
    this.times = null;
    this.#isTimed = true;
    this.#milliseconds.compiled.length = this.#milliseconds.plain.length = 0;
    this.#calls = this.#steady = this.#versions = 0;
  }

  #isSettled(): boolean {
    if (this.#steady >= STEADY) return true;
    const versions = this.progress.versions();
    this.#steady = versions === this.#versions ? this.#steady + 1 : 0;
    this.#versions = versions;
    if (++this.#calls >= PATIENCE) this.#steady = STEADY;
    else if (!this.progress.isNative()) this.#steady = 0;
    return false;
  }

  #decide(): void {
    const compiled = median(this.#milliseconds.compiled.slice(UNTIMED));
    const plain = median(this.#milliseconds.plain.slice(UNTIMED));
    const kept = plain < compiled ? "plain" : "compiled";
    this.times = { compiled, plain, kept };
    withRuntimeBuiltins(() =>
      logs.emit(
        "perf_hints",
        () =>
          `${this.title()} takes ${milliseconds(compiled)} a call compiled and ${
            milliseconds(plain)
          } as written: calls run ${kept === "plain" ? "as written" : "compiled"} from here on`,
      )
    );
  }
}

const milliseconds = (time: number): string => `${Number(time.toPrecision(3))} ms`;

function median(times: readonly number[]): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? 0;
}
