/**
 * Follows growing event files for pages that show them: each poll returns the new values as JSON. Invariant: memory is
 * bounded: long curves keep the highest and lowest of neighbouring points, and only the latest images, histograms and
 * texts are kept.
 */
import { decodeEvent, type SummaryEvent } from "./events.ts";
import { readRecords } from "./wire.ts";

/** A value for pages: step, seconds since 1970, and contents; numbers that JSON does not have are texts. */
type ShownValue =
  | readonly [step: number, time: number, value: number | string]
  | readonly [
    step: number,
    time: number,
    value: { readonly limits: readonly number[]; readonly counts: readonly number[] },
  ];

/** New values of one tag of a run. */
export interface ShownSeries {
  readonly run: string;
  readonly tag: string;
  readonly kind: SummaryEvent["value"]["kind"];
  readonly values: readonly ShownValue[];
  /** Whether these are all values, in place of those that pages have. */
  readonly all?: boolean;
}

const MOST: Readonly<Record<ShownSeries["kind"], number>> = {
  scalar: 4000,
  histogram: 50,
  image: 20,
  text: 50,
};

interface Followed {
  readonly run: string;
  read: number;
  /** Whether damage of the file was already reported. */
  toldDamaged: boolean;
}

/** Follows files; values of a deleted file are kept. `say` is called once for each damaged file. */
export class EventFollower {
  readonly #say: (text: string) => void;
  readonly #files = new Map<string, Followed>();
  readonly #series = new Map<string, ShownSeries & { values: ShownValue[] }>();

  constructor(say: (text: string) => void) {
    this.#say = say;
  }

  /** Follows another file, as a run with this name. */
  add(path: string, run: string): void {
    if (!this.#files.has(path)) this.#files.set(path, { run, read: 0, toldDamaged: false });
  }

  /** All values that are kept. */
  get all(): ShownSeries[] {
    return [...this.#series.values()];
  }

  /** Returns the values written since the last look. */
  look(): ShownSeries[] {
    const fresh = new Map<ShownSeries, { count: number; all: boolean }>();
    for (const [path, file] of this.#files) {
      const { records, read, damaged } = readRecords(tailOf(path, file.read));
      file.read += read;
      if (damaged && !file.toldDamaged) {
        this.#say(`${path} is damaged after byte ${file.read}: the rest is not shown`);
      }
      file.toldDamaged ||= damaged;
      for (const event of records.flatMap(decodeEvent)) {
        const { tag, value: { kind } } = event, { run } = file, key = `${run}\n${kind}\n${tag}`;
        const series = this.#series.get(key) ?? { run, tag, kind, values: [] };
        this.#series.set(key, series);
        series.values.push(shownValue(event));
        const isLong = series.values.length > MOST[kind],
          { count = 0, all = false } = fresh.get(series) ?? {};
        if (isLong) {
          series.values = kind === "scalar" ? thinned(series.values) : series.values.slice(-MOST[kind]);
        }
        fresh.set(series, { count: count + 1, all: all || (isLong && kind === "scalar") });
      }
    }
    return [...fresh].map(([series, { count, all }]) => ({
      ...series,
      values: series.values.slice(all ? 0 : -count),
      ...all ? { all } : {},
    }));
  }
}

/** The first and the last point, and of each four between them the lowest and the highest: peaks and NaN stay. */
function thinned(values: readonly ShownValue[]): ShownValue[] {
  const between = values.slice(1, -1), kept = values.slice(0, 1);
  const height = ([, , value]: ShownValue) => value === "NaN" ? Infinity : Number(value);
  for (let at = 0; at < between.length; at += 4) {
    const group = between.slice(at, at + 4), heights = group.map(height);
    const low = heights.indexOf(Math.min(...heights)), high = heights.lastIndexOf(Math.max(...heights));
    kept.push(...group.filter((_, k) => k === low || k === high));
  }
  return [...kept, ...values.slice(-1)];
}

function shownValue({ step, time, value }: SummaryEvent): ShownValue {
  switch (value.kind) {
    case "scalar":
      return [step, time, Number.isFinite(value.value) ? value.value : String(value.value)];
    case "histogram": {
      const { limits, counts, min } = value.histogram;
      // Pages expect both edges of each bar
      return [step, time, { limits: [Math.min(min, limits[0] ?? min), ...limits], counts }];
    }
    case "image":
      return [step, time, `data:image/png;base64,${value.png.toBase64()}`];
    case "text":
      return [step, time, value.text];
    default:
      return value satisfies never;
  }
}

/** Returns the bytes of a file from an offset; empty if the file has been removed. */
function tailOf(path: string, from: number): Uint8Array {
  let opened: Deno.FsFile;
  try {
    opened = Deno.openSync(path);
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return new Uint8Array(0);
    throw thrown;
  }
  using file = opened;
  file.seekSync(from, Deno.SeekMode.Start);
  const bytes = new Uint8Array(Math.max(0, file.statSync().size - from));
  let read = 0;
  for (let n = 0; read < bytes.length; read += n) {
    n = file.readSync(bytes.subarray(read)) ?? 0;
    if (n === 0) break;
  }
  return bytes.subarray(0, read);
}
