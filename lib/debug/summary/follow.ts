/**
 * Follows growing event files for pages that show them: each poll returns the new values as JSON. Invariant: memory is
 * bounded: long curves are thinned to every second point, and only the latest images, histograms and texts are kept.
 */
import { decodeEvent, type SummaryEvent } from "./events.ts";
import { readRecords } from "./wire.ts";

/** A value for pages: step, seconds since 1970, and contents. */
type ShownValue =
  | readonly [step: number, time: number, value: number]
  | readonly [
    step: number,
    time: number,
    value: { readonly limits: readonly number[]; readonly counts: readonly number[] },
  ]
  | readonly [step: number, time: number, value: string];

/** New values of one tag of a run. */
export interface ShownSeries {
  readonly run: string;
  readonly tag: string;
  readonly kind: SummaryEvent["value"]["kind"];
  readonly values: readonly ShownValue[];
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
    const fresh = new Map<string, ShownSeries & { values: ShownValue[] }>();
    for (const [path, file] of this.#files) {
      const { records, read, damaged } = readRecords(tailOf(path, file.read));
      file.read += read;
      if (damaged && !file.toldDamaged) {
        this.#say(`${path} is damaged after byte ${file.read}: the rest is not shown`);
      }
      file.toldDamaged ||= damaged;
      for (const event of records.flatMap(decodeEvent)) {
        const { tag, value: { kind } } = event, { run } = file, key = `${run}\n${kind}\n${tag}`;
        const shown = shownValue(event);
        for (const known of [this.#series, fresh]) {
          const series = known.get(key) ?? { run, tag, kind, values: [] };
          known.set(key, series);
          series.values.push(shown);
          if (series.values.length > MOST[kind]) series.values = shortened(series);
        }
      }
    }
    return [...fresh.values()];
  }
}

function shortened({ kind, values }: ShownSeries): ShownValue[] {
  return kind === "scalar" ? values.filter((_, at) => at % 2 === 0) : values.slice(-MOST[kind]);
}

function shownValue({ step, time, value }: SummaryEvent): ShownValue {
  switch (value.kind) {
    case "scalar":
      return [step, time, value.value];
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
