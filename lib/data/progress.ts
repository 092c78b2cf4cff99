/**
 * Progress bars for long loops, like `tqdm`: items done, rate, remaining time. Invariant: the loop sees the same items;
 * nothing is written if standard error is not a terminal.
 */
import { checkKind, checkOptions, refuseSurplus } from "../base/checked_input.ts";

/** Options of `progress`. */
export interface ProgressOptions {
  /** The text before the bar. */
  readonly desc?: string | undefined;
  /** Number of items; default: the iterable's `length` or `size`, if it has one. */
  readonly total?: number | undefined;
  /** The name of items in rates; default "it". */
  readonly unit?: string | undefined;
  /** Whether the line stays at the end; default true. */
  readonly leave?: boolean | undefined;
  /** Whether to write nothing. */
  readonly disable?: boolean | undefined;
  /** Destination of the bar; default standard error. */
  readonly output?: ProgressOutput | undefined;
}

/** The stream that bars are written to. */
export interface ProgressOutput {
  /** Returns whether a line can be rewritten; otherwise nothing is written. */
  isTerminal(): boolean;
  /** Writes all of it. */
  write(text: string): void;
  /** Characters of a line. */
  readonly columns: number;
}

/** Minimum milliseconds between updates of a line. */
const INTERVAL = 100;

const STANDARD_ERROR: ProgressOutput = {
  isTerminal: () => Deno.stderr.isTerminal(),
  write(text) {
    const bytes = new TextEncoder().encode(text);
    for (let written = 0; written < bytes.length;) written += Deno.stderr.writeSync(bytes.subarray(written));
  },
  get columns() {
    // Terminals whose size nobody has set have none
    return Deno.consoleSize().columns || 80;
  },
};

/** A loop with a bar: iterates over the same items, with `for` or `for await` as these allow. */
export class Progress<T> implements Iterable<T>, AsyncIterable<T> {
  readonly #items: Iterable<T> | AsyncIterable<T>;
  readonly #options: ProgressOptions;
  #postfix = "";
  #line: ProgressLine | null = null;

  /** Items and options, as `progress` takes them. */
  constructor(items: Iterable<T> | AsyncIterable<T>, options: ProgressOptions = {}) {
    checkOptions("progress", {
      desc: ["string"],
      total: ["number"],
      unit: ["string"],
      leave: ["boolean"],
      disable: ["boolean"],
      output: ["object"],
    }, options);
    this.#items = items;
    this.#options = options;
  }

  /** Shows values after the bar, such as `{ loss: 0.25 }`. */
  setPostfix(values: Readonly<Record<string, number | string>>): void {
    if (arguments.length > 1) refuseSurplus("setPostfix", 1, arguments);
    checkKind(values, "an object", "setPostfix");
    this.#postfix = Object.entries(values).map(([name, value]) =>
      `${name}=${typeof value === "number" ? Number(value.toPrecision(4)) : String(value)}`
    ).join(", ");
    this.#line?.postfix(this.#postfix);
  }

  #begin(): ProgressLine | null {
    const { output = STANDARD_ERROR, disable = false } = this.#options;
    if (disable || !output.isTerminal()) return null;
    return this.#line = new ProgressLine(output, {
      ...this.#options,
      total: this.#options.total ?? countOf(this.#items),
    }, this.#postfix);
  }

  /** Iterates over the items. Throws TypeError for asynchronous iterables, which need `for await`. */
  *[Symbol.iterator](): Iterator<T> {
    const items = this.#items;
    if (!(Symbol.iterator in items)) {
      throw new TypeError("Expected a synchronous iterable but found an asynchronous one: use for await");
    }
    const line = this.#begin();
    try {
      for (const item of items) {
        yield item;
        line?.advance();
      }
    } finally {
      line?.end();
    }
  }

  /** Iterates over the items, synchronous or not. */
  async *[Symbol.asyncIterator](): AsyncIterator<T> {
    const line = this.#begin();
    try {
      for await (const item of this.#items) {
        yield item;
        line?.advance();
      }
    } finally {
      line?.end();
    }
  }
}

/** Returns the number of items, or undefined if it is unknown. */
function countOf(items: object): number | undefined {
  for (const key of ["length", "size"]) {
    try {
      const count: unknown = Reflect.get(items, key);
      if (typeof count === "number") return count;
    } catch {
      // A loader of a stream has no length
    }
  }
  return undefined;
}

/** The line of one loop. */
class ProgressLine {
  readonly #start = performance.now();
  #done = 0;
  #written = -Infinity;

  constructor(
    readonly output: ProgressOutput,
    readonly options: ProgressOptions,
    private shown: string,
  ) {
    this.#write();
  }

  advance(): void {
    this.#done++;
    if (performance.now() - this.#written >= INTERVAL) this.#write();
  }

  postfix(text: string): void {
    this.shown = text;
  }

  end(): void {
    this.#write();
    this.output.write(this.options.leave ?? true ? "\n" : "\r\x1b[K");
  }

  #write(): void {
    this.#written = performance.now();
    const seconds = (this.#written - this.#start) / 1000;
    const text = progressText({
      done: this.#done,
      seconds,
      postfix: this.shown,
      columns: this.output.columns,
    }, this.options);
    this.output.write(`\r${text}\x1b[K`);
  }
}

/** The state of a loop. */
interface ProgressState {
  readonly done: number;
  readonly seconds: number;
  readonly postfix: string;
  readonly columns: number;
}

const EIGHTHS = " ▏▎▍▌▋▊▉";

/** A line: `train:  40%|████      | 2/5 [00:01<00:02, 1.50it/s, loss=0.25]`. */
export function progressText(
  { done, seconds, postfix, columns }: ProgressState,
  options: ProgressOptions,
): string {
  const { desc = "", total, unit = "it" } = options, rate = seconds > 0 ? done / seconds : 0;
  const speed = rate === 0
    ? `?${unit}/s`
    : rate < 1
    ? `${(1 / rate).toFixed(2)}s/${unit}`
    : `${rate.toFixed(2)}${unit}/s`;
  const behind = postfix === "" ? "" : `, ${postfix}`, head = desc === "" ? "" : `${desc}: `;
  if (total === undefined) {
    return `${head}${done}${unit} [${clockText(seconds)}, ${speed}${behind}]`.slice(0, columns);
  }
  const share = total > 0 ? Math.min(1, done / total) : 1,
    left = rate > 0 ? clockText((total - done) / rate) : "?";
  const before = `${head}${`${Math.floor(100 * share)}`.padStart(3)}%|`;
  const after = `| ${done}/${total} [${clockText(seconds)}<${left}, ${speed}${behind}]`;
  const room = Math.max(0, columns - before.length - after.length - 1),
    eighths = Math.floor(share * room * 8);
  const bar = "█".repeat(Math.floor(eighths / 8)) + (eighths % 8 > 0 ? EIGHTHS[eighths % 8] : "");
  return `${before}${bar.padEnd(room)}${after}`.slice(0, columns);
}

function clockText(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds)), pad = (n: number) => `${n}`.padStart(2, "0");
  const hours = Math.floor(whole / 3600), rest = `${pad(Math.floor(whole / 60) % 60)}:${pad(whole % 60)}`;
  return hours > 0 ? `${hours}:${rest}` : rest;
}

/**
 * Iterates over the same items with a progress bar on the terminal: items done, rate, and remaining time. Writes
 * nothing if standard error is not a terminal.
 *
 * ```ts
 * import { data, progress } from "jsr:@x/dyn";
 * const bar = progress(new data.DataLoader([1, 2, 3, 4], { batchSize: 2 }), { desc: "train" });
 * for (const batch of bar) bar.setPostfix({ sum: batch.sum().item() });
 * ```
 */
export function progress<T>(
  items: Iterable<T> | AsyncIterable<T>,
  options: ProgressOptions = {},
): Progress<T> {
  if (arguments.length > 2) refuseSurplus("progress", 2, arguments);
  return new Progress(items, options);
}
