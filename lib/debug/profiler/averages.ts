/**
 * Sums of events by name, and their table, like `torch.autograd.profiler_util.EventList`. Invariant: an event inside
 * one of the same name and kind counts once in totals.
 */
import { checkOneOf, checkOptions, refuseSurplus } from "../../base/checked_input.ts";
import { invariant } from "../../base/errors.ts";
import type { EventKind, ProfileEvent } from "./events.ts";
import { type MachineLimits, machineLimits, shareOfLimit } from "./limits.ts";

/** Totals of all events of one name and kind. Times are microseconds. */
export interface KeyAverage {
  /** The name. */
  readonly key: string;
  /** The kind of the events. */
  readonly kind: EventKind;
  /** Number of events. */
  readonly count: number;
  /** Time of the program, including nested events; 0 for kernels. */
  readonly cpuTimeTotal: number;
  /** The same, excluding nested events. */
  readonly selfCpuTimeTotal: number;
  /** `cpuTimeTotal` per run. */
  readonly cpuTime: number;
  /** Time of nested kernels; for kernels their own. */
  readonly deviceTimeTotal: number;
  /** For kernels their time; otherwise 0. */
  readonly selfDeviceTimeTotal: number;
  /** Increase of the bytes of tensors. */
  readonly cpuMemoryUsage: number;
  /** Bytes that kernels read and write, and that collectives move, in all runs; null if unknown. */
  readonly bytes: number | null;
  /** For kernels: operations of all runs; null if unknown. */
  readonly flops: number | null;
  /** For kernels: their device. */
  readonly device: string | null;
}

/** A column by which a table can be sorted. */
export type SortKey =
  | "count"
  | "cpuTimeTotal"
  | "selfCpuTimeTotal"
  | "cpuTime"
  | "deviceTimeTotal"
  | "selfDeviceTimeTotal"
  | "cpuMemoryUsage"
  | "bytes"
  | "flops";

const SORTABLE: readonly SortKey[] = [
  "count",
  "cpuTimeTotal",
  "selfCpuTimeTotal",
  "cpuTime",
  "deviceTimeTotal",
  "selfDeviceTimeTotal",
  "cpuMemoryUsage",
  "bytes",
  "flops",
];

/** Options of `table`. */
export interface TableOptions {
  /** The largest first; by default, in the order of their first runs. */
  readonly sortBy?: SortKey | undefined;
  /** Maximum number of rows; default 100. */
  readonly rowLimit?: number | undefined;
  /** Maximum number of characters of a name; default 55. */
  readonly maxNameColumnWidth?: number | undefined;
}

/** The rows, as an array with a table. */
export class KeyAverages extends Array<KeyAverage> {
  /** Rows made of an array's methods are plain arrays. */
  static override get [Symbol.species](): ArrayConstructor {
    return Array;
  }

  /** `events`: those of a profile. */
  constructor(events: readonly ProfileEvent[]) {
    super();
    const groups = Map.groupBy(events, ({ kind, name, device }) => `${kind} ${device} ${name}`);
    for (const group of groups.values()) this.push(averageOf(group));
  }

  /** Time of the program in all events, without kernels, in microseconds. */
  get selfCpuTimeTotal(): number {
    return this.reduce((sum, row) => sum + row.selfCpuTimeTotal, 0);
  }

  /** Time of all kernels, in microseconds. */
  get selfDeviceTimeTotal(): number {
    return this.reduce((sum, row) => sum + row.selfDeviceTimeTotal, 0);
  }

  /**
   * The rows as text. For kernels it includes the share of the machine's limit that they reach: the larger of the
   * minimum times of moving their bytes at the rate of a large copy and of computing their operations at that of a
   * large matrix product, divided by their time. Both rates are measured for the first table with kernels. Reads from
   * caches can exceed 100 %. Throws DynError for a column that does not exist.
   */
  table(options: TableOptions = {}): string {
    if (arguments.length > 1) refuseSurplus("table", 1, arguments);
    checkOptions("table", {
      sortBy: ["string"],
      rowLimit: ["number"],
      maxNameColumnWidth: ["number"],
    }, options);
    const { sortBy, rowLimit = 100, maxNameColumnWidth = 55 } = options;
    if (sortBy !== undefined) checkOneOf("sortBy of table", sortBy, SORTABLE);
    const sorted = sortBy === undefined
      ? [...this]
      : this.toSorted((a, b) => Number(b[sortBy] ?? 0) - Number(a[sortBy] ?? 0));
    // The program waits for kernels, so it takes their time too
    const all = this.selfCpuTimeTotal + this.selfDeviceTimeTotal;
    const head = [
      "Name",
      "Kind",
      "Self CPU %",
      "Self CPU",
      "CPU total %",
      "CPU total",
      "CPU time avg",
      "Kernel total",
      "Memory",
      "Bytes",
      "FLOPs",
      "Of limit",
      "# of Calls",
    ];
    const rows = sorted.slice(0, rowLimit).map((row) => {
      const limits = row.device === null ? null : machineLimits(row.device);
      return cellsOf(row, { all, limits, width: maxNameColumnWidth });
    });
    const widths = head.map((title, column) =>
      Math.max(title.length, ...rows.map((cells) => cells[column]?.length ?? 0))
    );
    const line = (cells: readonly string[]): string =>
      cells.map((cell, k) => k < 2 ? cell.padEnd(widths[k] ?? 0) : cell.padStart(widths[k] ?? 0)).join("  ")
        .trimEnd();
    const rule = widths.map((width) => "-".repeat(width)).join("  ");
    return [
      rule,
      line(head),
      rule,
      ...rows.map(line),
      rule,
      `Self CPU time total: ${timeText(this.selfCpuTimeTotal)}`,
      `Kernel time total: ${timeText(this.selfDeviceTimeTotal)}`,
    ].join("\n");
  }

  /** The table. */
  override toString(): string {
    return this.table();
  }
}

function averageOf(group: readonly ProfileEvent[]): KeyAverage {
  const [first] = group;
  invariant(first, "Expected an event but found none");
  const outermost = group.filter(({ parent }) => {
    for (let at = parent; at !== null; at = at.parent) {
      if (at.name === first.name && at.kind === first.kind) return false;
    }
    return true;
  });
  const sum = (events: readonly ProfileEvent[], of: (event: ProfileEvent) => number) =>
    events.reduce((all, event) => all + of(event), 0);
  const known = (of: (event: ProfileEvent) => number | null): number | null =>
    group.every((event) => of(event) !== null) ? sum(group, (event) => of(event) ?? 0) : null;
  const isKernel = first.kind === "kernel";
  const cpuTimeTotal = isKernel ? 0 : sum(outermost, ({ duration }) => duration);
  return {
    key: first.name,
    kind: first.kind,
    count: group.length,
    cpuTimeTotal,
    selfCpuTimeTotal: isBeside(first) ? 0 : sum(group, ({ selfDuration }) => selfDuration),
    cpuTime: cpuTimeTotal / group.length,
    deviceTimeTotal: sum(outermost, ({ kernelDuration }) => kernelDuration),
    selfDeviceTimeTotal: isKernel ? sum(group, ({ duration }) => duration) : 0,
    cpuMemoryUsage: sum(outermost, ({ memory }) => memory),
    bytes: known(({ bytes }) => bytes),
    flops: known(({ flops }) => flops),
    device: first.device,
  };
}

/** Returns whether an event's time does not count for the program, or is contained in other events. */
function isBeside({ kind }: ProfileEvent): boolean {
  return kind === "kernel" || kind === "step" || kind === "collective";
}

function cellsOf(row: KeyAverage, { all, limits, width }: {
  readonly all: number;
  readonly limits: MachineLimits | null;
  readonly width: number;
}): string[] {
  const { key, kind, bytes, flops } = row, isKernel = kind === "kernel";
  const percent = (part: number) => `${(100 * part / Math.max(all, 1e-9)).toFixed(2)}%`;
  const share = limits && bytes !== null && flops !== null
    ? shareOfLimit({ bytes, flops, microseconds: row.selfDeviceTimeTotal }, limits)
    : null;
  return [
    key.length > width ? `${key.slice(0, width - 1)}…` : key,
    kind,
    isKernel ? "" : percent(row.selfCpuTimeTotal),
    isKernel ? "" : timeText(row.selfCpuTimeTotal),
    isKernel ? "" : percent(row.cpuTimeTotal),
    isKernel ? "" : timeText(row.cpuTimeTotal),
    isKernel ? "" : timeText(row.cpuTime),
    timeText(row.deviceTimeTotal),
    isKernel || row.cpuMemoryUsage === 0 ? "" : byteText(row.cpuMemoryUsage),
    bytes === null ? "" : byteText(bytes),
    flops === null ? "" : countText(flops),
    share === null ? "" : `${Math.round(100 * share)}%`,
    `${row.count}`,
  ];
}

/** Formats microseconds in a suitable unit. */
function timeText(time: number): string {
  if (time >= 1e6) return `${(time / 1e6).toFixed(3)}s`;
  return time >= 1000 ? `${(time / 1000).toFixed(3)}ms` : `${time.toFixed(3)}us`;
}

function byteText(bytes: number): string {
  const size = Math.abs(bytes);
  if (size >= 2 ** 30) return `${(bytes / 2 ** 30).toFixed(2)} GiB`;
  if (size >= 2 ** 20) return `${(bytes / 2 ** 20).toFixed(2)} MiB`;
  return size >= 1024 ? `${(bytes / 1024).toFixed(2)} KiB` : `${bytes} B`;
}

function countText(count: number): string {
  const scale = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "K"]] as const;
  for (const [unit, name] of scale) if (count >= unit) return `${(count / unit).toFixed(2)}${name}`;
  return `${count}`;
}
