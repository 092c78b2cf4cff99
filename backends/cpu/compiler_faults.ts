/**
 * Failures of compilers, and when to give up. Errors contain the kind, the exit code or signal and the compiler's
 * last lines. Invariant: after `PATIENCE` consecutive failures of one kind nothing more is compiled in this process;
 * a success resets the count.
 */
import process from "node:process";
import { basename, dirname } from "node:path";
import type { Ending } from "./compiler_process.ts";

/**
 * Kinds of failure:
 * - `missing`: there is no compiler;
 * - `unusable`: it cannot be started, lacks a required feature, or has no folder to write to;
 * - `rejected`: it found errors in the source, so the source is wrong;
 * - `crashed`: it reports an internal error;
 * - `killed`: a signal ended it, for example because memory ran out;
 * - `timeout`: it did not end in time;
 * - `space`: the disk is full;
 * - `silent`: it exited successfully without writing anything;
 * - `broken`: what it wrote cannot be loaded;
 * - `stopped`: it had failed too often and was not run.
 */
export const FAULT_KINDS = [
  "missing",
  "unusable",
  "rejected",
  "crashed",
  "killed",
  "timeout",
  "space",
  "silent",
  "broken",
  "stopped",
] as const;

/** A kind of failure. */
export type FaultKind = typeof FAULT_KINDS[number];

/** Thrown if compiled code is needed and cannot be produced. */
export class ToolchainError extends Error {
  override readonly name: string = "ToolchainError";

  constructor(message: string, readonly fault: FaultKind, options?: ErrorOptions) {
    super(message, options);
  }
}

/** Number of consecutive failures of one kind after which the compiler is not run any more. */
const PATIENCE = 3;
/** The share of the time limit that remains after a timeout: a compiler that hangs once will do so again. */
const AFTER_TIMEOUT = 0.1;
/** Free bytes below which an unexplained failure is blamed on a full disk. */
const LITTLE_SPACE = 1 << 20;
/** Lines of a compiler's message that are shown: the last ones; of errors in the source, the first ones. */
const LAST_LINES = 12, FIRST_LINES = 40;

let last: { readonly kind: FaultKind; readonly count: number } | undefined;

/** Records a failure. */
export function noteFailure(kind: FaultKind): void {
  last = { kind, count: last?.kind === kind ? last.count + 1 : 1 };
}

/**
 * Resets the counts of failures, except for libraries that cannot be loaded: those show only after the compiler has
 * succeeded.
 */
export function noteSuccess(): void {
  if (last?.kind !== "broken") last = undefined;
}

/** The kind of failure because of which the compiler is not run any more; undefined while it is. */
export function stoppedBy(): FaultKind | undefined {
  return last && last.count >= PATIENCE ? last.kind : undefined;
}

/** Seconds that the next compilation may take, given those of the setting. */
export function timeLimit(setting: number): number {
  return last?.kind === "timeout" ? Math.max(1, setting * AFTER_TIMEOUT) : setting;
}

/** A compiler's task and its outcome. */
export interface Attempt {
  readonly compiler: string;
  /** The purpose of the compilation, in words. */
  readonly task: string;
  readonly ending: Ending;
  /** Its error output. */
  readonly log: string;
  /** Its output folder. */
  readonly folder: string;
}

/** The error of a compilation that failed. */
export function failureOf({ compiler, task, ending, log, folder }: Attempt): ToolchainError {
  const written = log.trim().split("\n"), lines = written.slice(-LAST_LINES).join("\n");
  const error = (kind: FaultKind, found: string, more = "") =>
    new ToolchainError(`Expected ${compiler} to ${task} but found ${found}${more && `:\n${more}`}`, kind);
  const full = meansFullDisk(log) ? "" : fullFolder(folder);
  switch (ending.kind) {
    case "unstarted":
      return error(
        meansFullDisk(ending.because) ? "space" : "unusable",
        `that it cannot be started: ${ending.because}`,
        lines,
      );
    case "timeout":
      return error("timeout", `it still running after ${ending.seconds} s`, lines);
    case "signal":
      return error("killed", `it killed by ${ending.name}`, lines);
    case "exit":
      break;
    default:
      return ending satisfies never;
  }
  const { code } = ending;
  if (full !== undefined && code !== 0) {
    return error("space", `no space left (exit code ${code}${full && `, ${full}`})`, lines);
  }
  // A driver outlives the compiler proper and reports the signal that ended it
  const signal = /(.*) signal terminated program/.exec(log)?.[1];
  if (signal !== undefined) return error("killed", `its process killed (exit code ${code})`, lines);
  if (/internal compiler error|please submit a.*bug report/i.test(log)) {
    return error("crashed", `an error of the compiler itself (exit code ${code})`, lines);
  }
  if (code === 0) return error("silent", "no file, though it ended with exit code 0", lines);
  return error("rejected", `errors (exit code ${code})`, written.slice(0, FIRST_LINES).join("\n"));
}

/** The error of a library that cannot be loaded. */
export function brokenLibrary(path: string, because: string): ToolchainError {
  return new ToolchainError(
    `Expected a library that can be loaded but found ${basename(path)}: ${because}`,
    "broken",
  );
}

/** Returns the error for a folder or a file of the compiler that cannot be created. */
export function folderFailure(thrown: unknown, task: string): ToolchainError {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const full = meansFullDisk(message);
  return new ToolchainError(
    `Expected a folder to ${task} in but found ${
      full ? "no space left" : "that it cannot be written"
    }: ${message}`,
    full ? "space" : "unusable",
    { cause: thrown },
  );
}

/** Returns whether an error of the file system or a compiler means that the disk is full. */
const meansFullDisk = (text: string): boolean => /no space left|disk quota exceeded/i.test(text);

/** Describes the space left in a folder that is nearly full; undefined if there is room. */
function fullFolder(folder: string): string | undefined {
  try {
    const { bavail, bsize } = process.getBuiltinModule("node:fs").statfsSync(folder);
    return bavail * bsize < LITTLE_SPACE ? `${bavail * bsize} bytes left in ${dirname(folder)}` : undefined;
  } catch {
    return undefined;
  }
}
