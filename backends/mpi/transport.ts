/**
 * Process groups on MPI: calls on host memory. Invariants: the memory of a call is held until it completes; after a
 * call has timed out its group refuses all others, since the state of the ranks is unknown.
 */
import { fingerprintText } from "../../lib/base/fingerprint.ts";
import { InternalError } from "../../lib/base/errors.ts";
import { DTYPES } from "../../lib/base/dtype.ts";
import { environmentVariable } from "../../lib/base/permissions.ts";
import { DistributedError } from "../../lib/distributed/errors.ts";
import {
  CALL_KINDS,
  type Connection,
  type GroupCall,
  type Pending,
  type Place,
  REDUCE_OPS,
} from "../../lib/distributed/transport.ts";
import { shareBackgroundBuilds } from "../cpu/object_cache.ts";
import { hostOf } from "../cpu/host_memory.ts";
import { openShim, type Shim } from "./library.ts";
import { TEXT_BYTES } from "./shim.ts";

/** Outcomes of calls, as numbered in the shim. */
const OK = 0, MISMATCH = 1, TIMEOUT = 2;

/** Maximum number of elements that MPI can count. */
const MOST = 2 ** 31 - 1;

/** Time for other ranks to report where they are, in milliseconds. */
const ASKING = 1000;

function addressOf(place: Place | null): number {
  return place === null ? 0 : hostOf(place.memory).address + place.byteOffset;
}

/** The fingerprint of a signature, and its zero-terminated bytes. */
interface Signature {
  readonly print: bigint;
  readonly text: Uint8Array<ArrayBuffer>;
}

const signatures = new Map<string, Signature>();

/** Maximum number of cached signatures. */
const KEPT = 4096;

function signatureOf(words: string): Signature {
  const known = signatures.get(words);
  if (known) return known;
  const text = new Uint8Array(TEXT_BYTES);
  new TextEncoder().encodeInto(words, text.subarray(0, TEXT_BYTES - 1));
  const made = { print: BigInt.asIntN(64, BigInt(`0x${fingerprintText(words).slice(0, 16)}`)), text };
  if (signatures.size >= KEPT) signatures.clear();
  signatures.set(words, made);
  return made;
}

/** The texts of all ranks, in order. */
function textsIn(bytes: Uint8Array): string[] {
  const found: string[] = [];
  for (let start = 0; start < bytes.length; start += TEXT_BYTES) {
    const text = bytes.subarray(start, start + TEXT_BYTES), end = text.indexOf(0);
    found.push(new TextDecoder().decode(text.subarray(0, end < 0 ? TEXT_BYTES : end)));
  }
  return found;
}

/** Groups ranks with equal texts: `ranks 0, 2: barrier; rank 1: …`. */
function byRank(texts: readonly string[]): string {
  const ranks = Map.groupBy(texts.keys(), (rank) => texts[rank] ?? "");
  return [...ranks].map(([text, of]) => `rank${of.length > 1 ? "s" : ""} ${of.join(", ")}: ${text}`).join(
    "; ",
  );
}

/** Running calls, which keeps the memory that they read and write alive. */
const running = new Set<MpiCall>();

/** Number of running calls at which completed ones are collected: programs do not wait for everything they send. */
const MANY = 256;

class MpiCall implements Pending {
  /** Number of futures that wait for it. */
  #waitingAside = 0;
  #ending: { readonly error: Error | null; readonly peer: number } | undefined;

  constructor(
    private readonly connection: MpiConnection,
    private readonly job: Deno.PointerObject,
    private readonly call: GroupCall,
  ) {
    running.add(this);
  }

  poll(): boolean {
    if (!this.#ending) {
      const outcome = this.connection.shim.dyn_mpi_poll(this.job);
      if (outcome < 0) return false;
      this.#end(outcome);
    }
    this.#result();
    return true;
  }

  /** Releases a completed call that was never awaited. */
  settle(): void {
    if (this.#ending) return;
    const outcome = this.connection.shim.dyn_mpi_poll(this.job);
    if (outcome >= 0) this.#end(outcome);
  }

  wait(): number {
    const { shim, timeout } = this.connection;
    if (!this.#ending) this.#end(shim.dyn_mpi_wait(this.job, timeout, 0));
    return this.#result();
  }

  async finished(): Promise<number> {
    const { shim, timeout } = this.connection;
    if (!this.#ending) {
      this.#waitingAside++;
      const outcome = await shim.wait_aside(this.job, timeout, 1);
      this.#waitingAside--;
      if (!this.#ending) this.#end(outcome);
      else this.#release(outcome);
    }
    return this.#result();
  }

  #result(): number {
    if (this.#ending?.error) throw this.#ending.error;
    return this.#ending?.peer ?? -1;
  }

  #end(outcome: number): void {
    const error = outcome === OK ? null : this.#failure(outcome), { connection, job } = this;
    this.#ending = { error, peer: connection.shim.dyn_mpi_peer(job) };
    if (!error) this.call.ended?.(connection.shim.dyn_mpi_took(job));
    this.#release(outcome);
  }

  /** Releases the call's own memory, once no other thread waits for it. */
  #release(outcome: number): void {
    // Other threads may still write to the memory of a call that is running, or that has failed: it is never released
    const isOver = outcome === OK || outcome === MISMATCH;
    if (!isOver || this.#waitingAside > 0) return;
    this.connection.shim.dyn_mpi_free(this.job);
    running.delete(this);
  }

  #failure(outcome: number): DistributedError {
    const { connection: { shim, rank, size, handle }, connection, job, call } = this;
    const isMessage = call.kind === "send" || call.kind === "recv";
    const bytes = new Uint8Array(TEXT_BYTES * size);
    if (outcome === MISMATCH) {
      shim.dyn_mpi_texts(job, bytes);
      return new DistributedError(
        isMessage
          ? `Expected the same message on both sides but found ${call.signature} on rank ${rank} and ${
            textsIn(bytes)[0]
          } on rank ${shim.dyn_mpi_peer(job)}`
          : `Expected the same call on all ranks but found ${byRank(textsIn(bytes))}`,
      );
    }
    connection.broken = `rank ${rank} was in ${call.signature}`;
    if (outcome === TIMEOUT) {
      shim.dyn_mpi_where(handle, bytes, ASKING);
      const where = textsIn(bytes).map((text) => text || "in no call of this group, or gone");
      return new DistributedError(
        `Expected ${call.signature} to end within ${connection.timeout / 1000} s but found ${byRank(where)}`,
      );
    }
    shim.dyn_mpi_error(job, bytes);
    return new DistributedError(`Expected ${call.signature} to succeed but found ${textsIn(bytes)[0]}`);
  }
}

class MpiConnection implements Connection {
  readonly rank: number;
  readonly size: number;
  /** The reason why no more calls are possible; null while they are. */
  broken: string | null = null;
  readonly #words = new Float64Array(9);

  constructor(readonly shim: Shim, readonly handle: Deno.PointerObject, readonly timeout: number) {
    const place = new Int32Array(2);
    shim.dyn_mpi_place(handle, place);
    [this.rank = 0, this.size = 1] = place;
  }

  start(call: GroupCall): Pending {
    const { kind, dtype, op, peer, tag, count, send, receive, inBackground, isAttended } = call;
    if (this.broken !== null) {
      throw new DistributedError(`Expected a usable group but found one in which ${this.broken}`);
    }
    if (count > MOST) throw new DistributedError(`Expected at most ${MOST} elements but found ${count}`);
    const words = this.#words;
    words[0] = CALL_KINDS.indexOf(kind);
    words[1] = DTYPES.indexOf(dtype);
    words[2] = REDUCE_OPS.indexOf(op);
    words[3] = peer;
    words[4] = tag;
    words[5] = count;
    words[6] = addressOf(send);
    words[7] = addressOf(receive);
    words[8] = inBackground ? 0 : 1;
    const { print, text } = signatureOf(call.signature);
    const job = this.shim.dyn_mpi_start(this.handle, words, print, text, isAttended ? 1 : 0);
    if (job === null) throw new InternalError("Expected a call of MPI but found none");
    if (running.size >= MANY) { for (const each of running) each.settle(); }
    return new MpiCall(this, job, call);
  }

  split(ranks: readonly number[]): Connection | null {
    const made = this.shim.dyn_mpi_group(this.handle, Int32Array.from(ranks), ranks.length);
    return made === null ? null : new MpiConnection(this.shim, made, this.timeout);
  }

  leave(orderly: boolean): void {
    this.shim.dyn_mpi_leave(orderly ? 1 : 0);
  }
}

/** Environment variables in which the launchers of Open MPI and MPICH give the number of processes. */
const COUNTS = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"];

/**
 * Throws DistributedError if the library does not find the other processes, because the launcher belongs to another
 * MPI.
 */
function checkCount(size: number): void {
  const told = Number(
    COUNTS.map((name) => environmentVariable(name)).find((each) => each !== undefined) ?? size,
  );
  if (size !== 1 || !(told > 1)) return;
  throw new DistributedError(
    `Expected ${told} processes, as the launcher has started, but found 1: it belongs to another MPI than the ` +
      "compiler; set MPICC to that of the launcher's, or start the program by the other one's mpirun",
  );
}

/** Connects this process with the others. `timeout` in milliseconds. */
export function connectMpi(timeout: number): Connection {
  const shim = openShim(), world = shim.dyn_mpi_init();
  if (world === null) {
    throw new DistributedError("Expected MPI to initialise with serialised threads but it failed");
  }
  shareBackgroundBuilds();
  const connection = new MpiConnection(shim, world, timeout);
  checkCount(connection.size);
  return connection;
}

export { mpiAbsence } from "./library.ts";
