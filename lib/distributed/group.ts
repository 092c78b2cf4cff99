/**
 * Process groups: that of all processes, and subgroups. Invariant: `initProcessGroup`, `newGroup` and
 * `destroyProcessGroup` are called by all processes, in the same order.
 */
import { checkPositive } from "../base/checked_numbers.ts";
import { checkInstance, checkKind, optionsOf, refuseChoice, refuseSurplus } from "../base/checked_input.ts";
import { DynError, invariant } from "../base/errors.ts";
import { SINGLE_PROCESS } from "./single_process.ts";
import { DistributedError } from "./errors.ts";
import { runningProgram } from "./program.ts";
import { type Connection, emptyCall, transport } from "./transport.ts";

/** Processes that communicate, like torch.distributed.ProcessGroup. */
export class ProcessGroup {
  /** @internal */
  constructor(
    /** The ranks among all processes, in the order of the ranks in this group. */
    readonly ranks: readonly number[],
    /**
     * The connection to the group; null if this process is not in it.
     *
     * @internal
     *
     * @internal
     */
    readonly connection: Connection | null,
    /**
     * The name of the group in ops; 0: all processes. The same on all ranks.
     *
     * @internal
     *
     * @internal
     */
    readonly name: number = 0,
  ) {}

  /** Number of processes of the group. */
  get size(): number {
    return this.ranks.length;
  }

  /** The rank of this process in it; −1 if it is not a member. */
  get rank(): number {
    return this.connection?.rank ?? -1;
  }
}

/** Options of `initProcessGroup`. */
export interface InitOptions {
  /** Timeout for other ranks, in milliseconds; default 10 minutes. */
  readonly timeout?: number;
  /**
   * Identifies the program, equal on all ranks; null: ranks may run different programs. Default: the texts of the
   * scripts on the command line and the version of Deno.
   */
  readonly program?: string | null;
}

/** Default timeout: 10 minutes. */
const TIMEOUT = 600_000;

let world: ProcessGroup | null = null;

/** All groups except the one of all processes, by name: the first is 1. */
const groups: ProcessGroup[] = [];

/** The connection to close at exit: a library can be left only once. */
let connected: Connection | null = null;

/** Waits until all ranks have made the same call. */
function agree(connection: Connection, signature: string): void {
  connection.start(emptyCall("agree", { signature, inBackground: false })).wait();
}

/** Waits until all ranks of a group have reached the same point. Throws DistributedError if they have not. */
export function meet(group: ProcessGroup, signature: string): void {
  if (group.connection) agree(group.connection, signature);
}

const INIT = ["timeout", "program"] as const;

/**
 * Connects this process with those started together with it, by `mpirun -n 4 deno run -A train.ts` or `dyn launch -n 4
 * train.ts`. A process that was started alone is a group of one, which needs no library; if none is installed, a note
 * says how to install one. `backend` is "mpi" or null. Throws DistributedError if an MPI launcher started the process
 * but no library is available, or if ranks run different programs, and DynError if there is already a group.
 */
export function initProcessGroup(
  backend: "mpi" | null = null,
  options: InitOptions = {},
): void {
  if (arguments.length > 2) refuseSurplus("initProcessGroup", 2, arguments);
  const { timeout = TIMEOUT, program = runningProgram() } = optionsOf("initProcessGroup", options, INIT);
  if (world) throw new DynError("Expected no process group but found one; call destroyProcessGroup first");
  checkPositive("timeout of initProcessGroup", timeout);
  const library = transport(), isWanted = backend === "mpi" || library?.isLaunched() === true;
  if (library && isWanted) {
    const absence = library.absence();
    if (absence !== null) throw new DistributedError(absence);
    const connection = library.connect(timeout);
    if (program !== null) agree(connection, `the program ${program}`);
    world = new ProcessGroup(Array.from({ length: connection.size }, (_, rank) => rank), connection);
    if (connected === null) globalThis.addEventListener("unload", leaveAtEnd);
    connected = connection;
    return;
  }
  const absence = library?.absence() ?? null;
  if (absence !== null) console.warn(`This process is a group of one. For more of them: ${absence}`);
  world = new ProcessGroup([0], SINGLE_PROCESS);
}

/** Returns whether MPI or another library is available, like torch.distributed.is_available. */
export function isAvailable(): boolean {
  if (arguments.length > 0) refuseSurplus("isAvailable", 0, arguments);
  return transport()?.absence() === null;
}

/** Returns whether there is a process group. */
export function isInitialized(): boolean {
  if (arguments.length > 0) refuseSurplus("isInitialized", 0, arguments);
  return world !== null;
}

/** Returns the group of all processes. Throws DynError before `initProcessGroup`. */
export function worldGroup(): ProcessGroup {
  if (world) return world;
  throw new DynError("Expected a process group but found none; call distributed.initProcessGroup() first");
}

/** Returns the group that ops refer to by a name. Throws DynError if there is none. */
export function groupNamed(name: number): ProcessGroup {
  if (name === 0) return worldGroup();
  const found = groups[name - 1];
  if (found) return found;
  throw new DynError(`Expected a group below ${groups.length + 1} but found group ${name}`);
}

/** Returns the rank of this process in a group, by default that of all; −1 if it is not a member. */
export function getRank(group: ProcessGroup | null = null): number {
  if (arguments.length > 1) refuseSurplus("getRank", 1, arguments);
  return (group ?? worldGroup()).rank;
}

/** Returns the number of processes of a group, by default that of all; −1 if this process is not in it. */
export function getWorldSize(group: ProcessGroup | null = null): number {
  if (arguments.length > 1) refuseSurplus("getWorldSize", 1, arguments);
  const found = group ?? worldGroup();
  return found.connection ? found.size : -1;
}

/** Returns the rank among all processes of a rank of a group. Throws DynError if there is none. */
export function getGlobalRank(group: ProcessGroup, groupRank: number): number {
  if (arguments.length > 2) refuseSurplus("getGlobalRank", 2, arguments);
  checkInstance(group, ProcessGroup, "getGlobalRank");
  const rank = group.ranks[groupRank];
  if (rank !== undefined) return rank;
  throw new DynError(`Expected a rank in [0, ${group.size - 1}] but found ${groupRank}`);
}

/** Returns the rank in a group of a rank among all processes. Throws DynError if it is not a member. */
export function getGroupRank(group: ProcessGroup, globalRank: number): number {
  if (arguments.length > 2) refuseSurplus("getGroupRank", 2, arguments);
  checkInstance(group, ProcessGroup, "getGroupRank");
  const at = group.ranks.indexOf(globalRank);
  if (at >= 0) return at;
  refuseChoice("a rank of the group", group.ranks.map(String), globalRank);
}

/**
 * Creates a group of some ranks, by default all. All processes must call it, including non-members. Throws DynError for
 * ranks that do not exist or occur twice, DistributedError if processes request different groups.
 */
export function newGroup(ranks: readonly number[] | null = null): ProcessGroup {
  if (arguments.length > 1) refuseSurplus("newGroup", 1, arguments);
  if (ranks) checkKind(ranks, "a list", "ranks of newGroup");
  const { connection, size } = worldGroup(), chosen = [...ranks ?? worldGroup().ranks].sort((a, b) => a - b);
  invariant(connection, "Expected a connection of the group of all processes but found none");
  const isRank = (rank: number) => Number.isInteger(rank) && rank >= 0 && rank < size;
  if (chosen.length === 0 || !chosen.every(isRank) || new Set(chosen).size < chosen.length) {
    throw new DynError(`Expected distinct ranks in [0, ${size - 1}] but found [${chosen.join(", ")}]`);
  }
  agree(connection, `newGroup([${chosen.join(", ")}])`);
  const group = new ProcessGroup(chosen, connection.split(chosen), groups.length + 1);
  groups.push(group);
  return group;
}

/** Destroys the group of all processes once all have called it. A process that exits does so automatically. */
export function destroyProcessGroup(): void {
  if (arguments.length > 0) refuseSurplus("destroyProcessGroup", 0, arguments);
  const { connection } = worldGroup();
  world = null;
  if (connection) agree(connection, "destroyProcessGroup(), or the end of the program");
}

/** Leaves the group at exit: a process that has failed leaves at once, so that its launcher ends the others. */
function leaveAtEnd(): void {
  let isOrderly = Deno.exitCode === 0;
  try {
    if (isOrderly && world) destroyProcessGroup();
  } catch (thrown) {
    isOrderly = false;
    console.error(thrown instanceof Error ? thrown.message : thrown);
  }
  connected?.leave(isOrderly);
}
