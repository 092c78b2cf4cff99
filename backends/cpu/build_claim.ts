/**
 * Which process builds a library that several want at once, as ranks do that compile the same step. Input: where the
 * library will be; output: whether this process is to build it, and what became of another's attempt. Invariants: a claim
 * ends with the process that has it; where a folder knows no locks, and on machines that do not share it, everybody
 * builds; nobody waits for a build in the background, which is finished only when its program looks at it.
 */
import { type FaultKind, isFaultKind, ToolchainError } from "./compiler_faults.ts";

/** How a process builds: while it waits, or beside its program. */
export type BuildMode = "waits" | "background";

/** What stands in the file of a claim: who has it, or with what it has failed. */
type Note =
  | { readonly kind: BuildMode }
  | { readonly kind: "failed"; readonly message: string; readonly fault: FaultKind; readonly by: number };

/** What a claim tells who asks. */
export type Answer = "build" | "wait";

/** The claim of this process to build one library. */
export class Claim {
  readonly #path: string;
  readonly #mode: BuildMode;
  /** The file whose lock is the claim; null: none is needed, or none can be taken. */
  #file: Deno.FsFile | null = null;
  #isOwn = false;
  /** Whether another process had it when it was asked for. */
  #hasWaited = false;

  /** `library`: the path at which it will be; null: it is built here, whatever others do. */
  constructor(library: string | null, mode: BuildMode) {
    this.#path = `${library}.claim`;
    this.#mode = mode;
    if (library === null) return;
    try {
      this.#file = Deno.openSync(this.#path, { create: true, read: true, write: true, mode: 0o600 });
    } catch {
      // The folder says what is wrong with it when the library is written
    }
  }

  /** Whether to build now, or to ask again later. Throws the ToolchainError that another process has met meanwhile. */
  ask(): Answer {
    const file = this.#file;
    if (!file || this.#isOwn) return "build";
    let met: ToolchainError | null;
    try {
      this.#isOwn = file.tryLockSync(true);
      if (!this.#isOwn) {
        this.#hasWaited = true;
        return this.#mode === "waits" && readNote(file)?.kind === "background" ? this.#goAlone() : "wait";
      }
      met = this.#hasWaited ? errorIn(readNote(file)) : null;
      if (!met) writeNote(file, { kind: this.#mode });
    } catch {
      return this.#goAlone();
    }
    if (!met) return "build";
    this.#goAlone();
    throw met;
  }

  /** Ends the claim; processes that wait for it throw `failure`, or else look for the library. */
  release(failure?: ToolchainError): void {
    const file = this.#file;
    if (!file) return;
    try {
      if (failure) {
        const { message, fault } = failure;
        writeNote(file, { kind: "failed", message, fault, by: Deno.pid });
      }
      // Whoever waits has it open
      if (this.#isOwn) Deno.removeSync(this.#path);
    } catch {
      // Others build for themselves
    }
    this.#goAlone();
  }

  #goAlone(): "build" {
    this.#file?.close();
    this.#file = null;
    return "build";
  }
}

/** What another process has met, if it has. */
function errorIn(note: Note | null): ToolchainError | null {
  return note?.kind === "failed"
    ? new ToolchainError(`${note.message}\n(process ${note.by} compiled it for this one, too)`, note.fault)
    : null;
}

function writeNote(file: Deno.FsFile, note: Note): void {
  file.truncateSync(0);
  file.seekSync(0, Deno.SeekMode.Start);
  file.writeSync(new TextEncoder().encode(JSON.stringify(note)));
}

/** What stands there; null where nobody has written anything that is whole. */
function readNote(file: Deno.FsFile): Note | null {
  const bytes = new Uint8Array(file.statSync().size);
  file.seekSync(0, Deno.SeekMode.Start);
  file.readSync(bytes);
  try {
    return noteIn(JSON.parse(new TextDecoder().decode(bytes)));
  } catch {
    return null;
  }
}

function noteIn(found: unknown): Note | null {
  if (typeof found !== "object" || found === null || !("kind" in found)) return null;
  if (found.kind === "waits" || found.kind === "background") return { kind: found.kind };
  if (found.kind !== "failed" || !("message" in found) || !("fault" in found) || !("by" in found)) {
    return null;
  }
  const { message, fault, by } = found;
  return typeof message === "string" && isFaultKind(fault) && typeof by === "number"
    ? { kind: "failed", message, fault, by }
    : null;
}
