/**
 * Claims that decide which process builds a library that several need at once, such as ranks that compile the same
 * step. Invariants: a claim ends with the process that holds it; if a folder does not support locks, and on machines
 * that do not share it, every process builds; no process waits for a background build, which finishes only when its
 * program polls it.
 */
import { type Codec, number, oneOf, parsed, record, text, union } from "../../lib/sym/stored/codec.ts";
import { FAULT_KINDS, type FaultKind, ToolchainError } from "./compiler_faults.ts";

/** How a process builds: waiting for it, or in the background. */
export type BuildMode = "waits" | "background";

/** The contents of a claim file: its holder's mode, or the failure of its build. */
type Note =
  | { readonly kind: BuildMode }
  | { readonly kind: "failed"; readonly message: string; readonly fault: FaultKind; readonly by: number };

const noteCodec: Codec<Note> = union<Note>({
  waits: record({}),
  background: record({}),
  failed: record({ message: text, fault: oneOf(...FAULT_KINDS), by: number }),
});

/** The answer to a claim. */
export type Answer = "build" | "wait";

/** The claim of this process to build one library. */
export class Claim {
  readonly #path: string;
  readonly #mode: BuildMode;
  /** The file whose lock is the claim; null: no claim is needed, or none is possible. */
  #file: Deno.FsFile | null = null;
  #isOwn = false;
  /** Whether another process held the claim at the first attempt. */
  #hasWaited = false;

  /** `library`: its future path; null: it is built here regardless of other processes. */
  constructor(library: string | null, mode: BuildMode) {
    this.#path = `${library}.claim`;
    this.#mode = mode;
    if (library === null) return;
    try {
      this.#file = Deno.openSync(this.#path, { create: true, read: true, write: true, mode: 0o600 });
    } catch {
      // Writing the library will report the fault of the folder
    }
  }

  /**
   * Returns whether to build now, or to ask again later. Throws the ToolchainError that another process has met
   * meanwhile.
   */
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

  /** Ends the claim; processes that wait for it throw `failure`, or load the library. */
  release(failure?: ToolchainError): void {
    const file = this.#file;
    if (!file) return;
    try {
      if (failure) {
        const { message, fault } = failure;
        writeNote(file, { kind: "failed", message, fault, by: Deno.pid });
      }
      // Waiting processes have the file open
      if (this.#isOwn) Deno.removeSync(this.#path);
    } catch {
      // Other processes build for themselves
    }
    this.#goAlone();
  }

  #goAlone(): "build" {
    this.#file?.close();
    this.#file = null;
    return "build";
  }
}

/** Returns the error that another process has met, if any. */
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

/** Returns the contents of a claim file; null if nothing complete was written. */
function readNote(file: Deno.FsFile): Note | null {
  const bytes = new Uint8Array(file.statSync().size);
  file.seekSync(0, Deno.SeekMode.Start);
  file.readSync(bytes);
  return parsed(noteCodec, new TextDecoder().decode(bytes)) ?? null;
}
