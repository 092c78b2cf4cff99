/**
 * Programs as native code: printed, compiled (or found in the cache), called through one foreign function call.
 * Invariants: the frame's address never changes; a call allocates nothing but the arena; the caller keeps the memory of
 * its arguments alive.
 *
 * Calls share forms of weights through records, which routines fill: a form is kept from the second call with equal
 * contents on, so that weights that change each time are not, and a record refers to memory only while a call runs.
 * Blocks of memory that the processor's caches have probably lost are written past the caches; no result depends on
 * that estimate.
 */
import { InternalError } from "../../lib/base/errors.ts";
import { counters } from "../../lib/base/logs.ts";
import { onDemand } from "../../lib/base/on_demand.ts";
import { preferringOwnBuiltins } from "../../lib/base/own_builtins.ts";
import { isGranted } from "../../lib/base/permissions.ts";
import type { Plain } from "../../lib/base/recording.ts";
import {
  type CompiledProgram,
  type KeptForm,
  type KernelClock,
  type Memory,
  OutOfMemory,
  type ProgramCall,
} from "../../lib/loops/device.ts";
import type { Program } from "../../lib/loops/ir.ts";
import { evaluate, type Sym } from "../../lib/sym/expr.ts";
import type { Symbols } from "../../lib/sym/stored/symbols.ts";
import { entryAddress, nativeCall } from "./ffi.ts";
import { FAR_OUTPUTS, frameLayout, RECORD } from "./frame.ts";
import { type HostBlock, type HostMemory, hostOf, passedGuard } from "./host_memory.ts";
import { hostPool } from "./memory_pool.ts";
import { type NativeForm, nativeForm } from "./native_form.ts";
import { buildLibraries, findLibraries, type Source } from "./object_cache.ts";
import type { KeptOperand } from "./print/kept_operands.ts";
import { routineAddresses, routineSources } from "./runtime_library.ts";
import { threadCount, toolchainIfKnown } from "./toolchain.ts";

/** Bytes of the last-level cache if the system does not report them. */
const USUAL_BYTES = 2 ** 25;

/** Part of the cache left to other data, whose accesses evict a block before it fills the cache. */
const OTHERS = 2;

/**
 * Part of the cache from which on a block is large: lines of smaller ones remain in the cache, where writing is faster.
 */
const LARGE = 4;

/**
 * Maximum part of the last-level cache that a core can count on: a virtual machine reports all of it, but shares it
 * with others.
 */
const CORE_BYTES = 2 ** 24;

/** Bytes of the cache that all cores share. */
function lastCacheBytes(): number {
  const path = "/sys/devices/system/cpu/cpu0/cache/index3/size";
  if (Deno.build.os !== "linux" || !isGranted({ name: "read", path })) return USUAL_BYTES;
  try {
    const text = Deno.readTextFileSync(path);
    const [, kibi] = /^(\d+)K$/.exec(text.trim()) ?? [];
    return kibi === undefined ? USUAL_BYTES : Number(kibi) * 2 ** 10;
  } catch {
    return USUAL_BYTES;
  }
}

let cacheBytes: number | undefined;

/**
 * Returns whether a block is large and so many bytes were allocated since its last use, including its own, that writing
 * it would first read its lines from memory. Called once after its allocation: later writes find its lines where the
 * first ones left them.
 */
export function isFar(block: HostBlock): boolean {
  const { away, size } = block;
  block.away = 0;
  cacheBytes ??= Math.min(preferringOwnBuiltins(lastCacheBytes), navigator.hardwareConcurrency * CORE_BYTES);
  return size >= cacheBytes / LARGE && away + size > cacheBytes / OTHERS;
}

/** The records of one program. */
class KeptForms {
  readonly #operands: readonly KeptOperand[];
  readonly #records: Float64Array<ArrayBuffer>;
  readonly #forms: (KeptForm | undefined)[] = [];
  /** Addresses of the records. */
  readonly addresses: readonly number[];

  constructor(operands: readonly KeptOperand[]) {
    this.#operands = operands;
    this.#records = new Float64Array(RECORD * operands.length);
    const start = Number(Deno.UnsafePointer.value(Deno.UnsafePointer.of(this.#records)));
    this.addresses = operands.map((_, k) => start + k * RECORD * this.#records.BYTES_PER_ELEMENT);
  }

  /** Fills in the records for a call. May allocate. */
  before({ inputs, contents, byteOffsets }: ProgramCall): void {
    for (let k = 0; k < this.#operands.length; k++) {
      const { input, form: text } = this.#operands[k] ?? { input: -1, form: "" };
      const forms = isShared(inputs[input]) ? undefined : contents?.[input]?.forms;
      const offset = byteOffsets?.[input] ?? 0, name = offset === 0 ? text : `${text} from ${offset}`;
      let form = forms?.get(name);
      if (form) place(form);
      else forms?.set(name, form = { memory: null, isFilled: false, wanted: 0 });
      this.#forms[k] = form;
      this.#records[RECORD * k] = form?.memory ? hostOf(form.memory).address : 0;
      this.#records[RECORD * k + 1] = form?.isFilled ? 1 : 0;
      this.#records[RECORD * k + 2] = 0;
    }
  }

  /** Takes over what the routines wrote. */
  after(): void {
    for (let k = 0; k < this.#forms.length; k++) {
      const form = this.#forms[k];
      if (!form) continue;
      form.isFilled = this.#records[RECORD * k + 1] === 1;
      form.wanted = Math.max(form.wanted, this.#records[RECORD * k + 2] ?? 0);
      // Dropped weights would live on in it
      this.#forms[k] = undefined;
    }
  }
}

/** Allocates the memory of a form, unless that could cost a program the room for its tensors. */
function place(form: KeptForm): void {
  if (form.memory !== null || form.wanted === 0 || !hostPool.isRoomy(form.wanted)) return;
  try {
    form.memory = hostPool.allocate(form.wanted);
  } catch (thrown) {
    if (!(thrown instanceof OutOfMemory)) throw thrown;
  }
}

/** Returns whether other threads than those of programs may write to a memory. */
function isShared(memory: ProgramCall["inputs"][number] | undefined): boolean {
  const { uint8: { buffer }, place } = hostOf(memory).block;
  return place === undefined && buffer instanceof SharedArrayBuffer;
}

/** Memory for temporaries, shared by all programs: they run one after another and keep nothing in it. */
const NO_ARENA = hostPool.allocate(0);
let arena = NO_ARENA;

function arenaOf(bytes: number): HostMemory {
  if (arena.byteLength < bytes) {
    if (arena !== NO_ARENA) hostPool.free(arena);
    // If there is no room for the new arena, the old one must not be used any more
    arena = NO_ARENA;
    arena = hostPool.allocate(bytes * 1.25);
  }
  return arena;
}

/** The printer, which neither graphs that run once nor restored ones need. */
const sources = onDemand(import.meta.url, "./native_sources.ts", () => import("./native_sources.ts"));

/** Compiles the libraries of several programs in parallel, so that `compileNative` finds them. */
export function prepareNative(programs: readonly Program[]): void {
  const forms = programs.map((program) => sources().printForm(program).form);
  buildLibraries([
    ...forms.flatMap(({ units }) => units),
    ...routineSources([...new Set(forms.flatMap(({ routines }) => routines))]),
  ]);
}

/** Returns whether some loops of a program run on all threads by default. */
export function runsOnTeam(program: Program): boolean {
  return sources().runsOnTeam(program);
}

/** A program as C++, and the libraries that it needs. */
export interface PreparedProgram {
  readonly form: NativeForm;
  /** The text for logs. */
  readonly source: string;
  /** Its own units first, then the routines that are not loaded yet. */
  readonly sources: readonly Source[];
}

/** Prints a program. */
export function prepareProgram(program: Program): PreparedProgram {
  const { form, annotated } = sources().printForm(program);
  return withRoutines(form, annotated);
}

function withRoutines(form: NativeForm, source: string): PreparedProgram {
  return { form, source, sources: [...form.units, ...routineSources(form.routines)] };
}

/** Compiles a program to native code; throws `ToolchainError` if there is no compiler. */
export function compileNative(program: Program): CompiledProgram {
  return linked(prepareProgram(program));
}

/** Restores a program of an earlier process from `kept`; throws `ToolchainError` if that fails. */
export function restoreNative(kept: Plain, symbols: Symbols): CompiledProgram {
  return linked(preparedOf(nativeForm.read(kept, symbols)));
}

/** The same if its libraries exist, without waiting for a compiler; null if they do not. */
export function restoreBuilt(form: NativeForm): CompiledProgram | null {
  if (toolchainIfKnown()?.kind !== "ready") return null;
  const prepared = preparedOf(form);
  const { paths, missing } = findLibraries(prepared.sources);
  if (missing.length > 0) return null;
  counters.add("tiers", "native_restored");
  return linkNative(prepared, paths);
}

/** A program that an earlier process has printed. */
export const preparedOf = (form: NativeForm): PreparedProgram =>
  withRoutines(form, form.units.map(({ text }) => text).join("\n"));

/** Missing routines are compiled together with the program. */
function linked(prepared: PreparedProgram): CompiledProgram {
  return linkNative(prepared, buildLibraries(prepared.sources));
}

/** Links a program from its libraries at `paths`; throws `ToolchainError` if one cannot be loaded. */
export function linkNative({ form, source }: PreparedProgram, paths: readonly string[]): CompiledProgram {
  const { inputs: count, outputs: results, sizes: symbols, routines, calls, units, flag, keeps } = form;
  const [path = "", ...partPaths] = paths.slice(0, units.length);
  const addresses = [...routineAddresses(routines), ...partPaths.map(entryAddress)];
  const call = nativeCall(path, "dyn_graph");
  const layout = frameLayout(
    { inputs: count + keeps.length, outputs: results, sizes: symbols.length },
    addresses.length,
  );
  const frame = new Float64Array(layout.length), pointer = Deno.UnsafePointer.of(frame);
  const forms = keeps.length > 0 ? new KeptForms(keeps) : null;
  frame[0] = threadCount();
  frame.set(addresses, layout.routines);
  if (forms) frame.set(forms.addresses, layout.inputs + count);
  const arenaBytes = arenaSize(form);
  const timedCall = (clock: KernelClock): void => {
    const times = new Float64Array(calls.length + 1), start = performance.now();
    frame[layout.times] = Number(Deno.UnsafePointer.value(Deno.UnsafePointer.of(times)));
    call(pointer);
    frame[layout.times] = 0;
    const [first = 0] = times;
    calls.forEach((kernels, at) => {
      const from = times[at] ?? 0, to = times[at + 1] ?? 0;
      // 0 if the guard stopped the call before
      if (to > 0) clock.ran(kernels, { start: start + 1000 * (from - first), duration: 1000 * (to - from) });
    });
  };
  return {
    source,
    language: "cpp",
    kernelCount: form.kernelCount,
    keepsForms: forms !== null,
    serialize: (symbols) => nativeForm.write(form, symbols),
    run(given: ProgramCall): boolean {
      const { inputs, outputs, byteOffsets, sizes } = given;
      if (inputs.length !== count || outputs.length !== results || sizes.length !== symbols.length) {
        throw new InternalError(
          `Expected ${count} inputs, ${results} outputs and ${symbols.length} sizes but found ${inputs.length}, ${outputs.length} and ${sizes.length}`,
        );
      }
      // Before any address is taken: an allocation may reuse memory of which only the address is held
      forms?.before(given);
      if (arenaBytes !== undefined) frame[layout.arena] = arenaOf(arenaBytes(sizes)).address;
      for (let i = 0; i < count; i++) {
        frame[layout.inputs + i] = hostOf(inputs[i]).address + (byteOffsets?.[i] ?? 0);
      }
      for (let i = 0; i < results; i++) {
        frame[layout.outputs + i] = hostOf(outputs[i]).address + (byteOffsets?.[count + i] ?? 0);
      }
      frame[layout.far] = farOutputs(outputs);
      for (let i = 0; i < sizes.length; i++) frame[layout.sizes + i] = sizes[i] ?? 0;
      if (given.clock) timedCall(given.clock);
      else call(pointer);
      forms?.after();
      return passedGuard(flag, given);
    },
  };
}

/** A bit for each output that the caches do not hold when it is written. */
function farOutputs(outputs: readonly Memory[]): number {
  let far = 0;
  for (let i = 0; i < outputs.length && i < FAR_OUTPUTS; i++) {
    if (isFar(hostOf(outputs[i]).block)) far += 2 ** i;
  }
  return far;
}

/** Bytes of the arena under given sizes; undefined if the program needs none. */
function arenaSize(
  { arenaBytes, sizes: symbols }: NativeForm,
): ((sizes: readonly number[]) => number) | undefined {
  if (typeof arenaBytes === "number") return arenaBytes === 0 ? undefined : () => arenaBytes;
  return (sizes) => {
    const known = new Map<Sym, number>(symbols.map((s, i) => [s, sizes[i] ?? 0]));
    return evaluate(arenaBytes, (s) => known.get(s) ?? 0);
  };
}
