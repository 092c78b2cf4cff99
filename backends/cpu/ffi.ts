/**
 * The interface to native code: opened libraries, addresses of memory, calls. Invariants: a library is opened once and
 * never closed; an address is valid as long as the caller keeps its buffer alive. Addresses are numbers because
 * user-space pointers have 47 bits; a call then creates no object, and a whole table of them is passed through one
 * pointer.
 */
import { messageOf } from "../../lib/base/errors.ts";
import { discardBroken } from "./object_cache.ts";

/** A native function that takes one pointer: the only kind that compiled programs export. */
type NativeCall = (argument: Deno.PointerValue) => void;

/**
 * Number of iterations of libgomp's spin loop before idle OpenMP threads sleep: about 0.1 ms. By default they spin
 * for several: when another process wants the core, each barrier of a kernel then waits for a whole time slice (15
 * times slower steps on 2 cores beside one busy process; no difference on an idle machine).
 */
const SPIN_TURNS = "10000";

let prepared = false;

/** libgomp reads its environment once, when the first library that uses it is opened. */
function prepareOpenMp(): void {
  if (prepared) return;
  prepared = true;
  if (Deno.env.has("GOMP_SPINCOUNT") || Deno.env.has("OMP_WAIT_POLICY")) return;
  Deno.env.set("GOMP_SPINCOUNT", SPIN_TURNS);
}

const entries = new Map<string, NativeCall>();
const addresses = new Map<string, number>();

/** Opens a library of the cache; one that cannot be loaded is removed and reported as a `ToolchainError`. */
export function openLibrary<S extends Deno.ForeignLibraryInterface>(
  path: string,
  symbols: S,
): Deno.DynamicLibrary<S> {
  prepareOpenMp();
  try {
    return Deno.dlopen(path, symbols);
  } catch (thrown) {
    throw discardBroken(path, messageOf(thrown));
  }
}

/** Opens a library and returns its exported `void symbol(void*)`. */
export function nativeCall(path: string, symbol: string): NativeCall {
  const key = `${path}\n${symbol}`;
  let found = entries.get(key);
  if (found === undefined) {
    const library = openLibrary(path, { call: { name: symbol, parameters: ["pointer"], result: "void" } });
    entries.set(key, found = library.symbols.call);
  }
  return found;
}

/** The address of a library's only function, which its `void* dyn_entry()` returns. */
export function entryAddress(path: string): number {
  let found = addresses.get(path);
  if (found === undefined) {
    const library = openLibrary(path, { entry: { name: "dyn_entry", parameters: [], result: "pointer" } });
    addresses.set(path, found = Number(Deno.UnsafePointer.value(library.symbols.entry())));
  }
  return found;
}

/** The address of a buffer's first byte (0 for an empty one). Call it once per buffer: it costs 0.4 µs. */
export function addressOf(buffer: ArrayBuffer | ArrayBufferView<ArrayBuffer>): number {
  return Number(Deno.UnsafePointer.value(Deno.UnsafePointer.of(buffer)));
}

const POINTER_CALL = { parameters: ["pointer"], result: "void" } as const;

/** Calls a function at an address with one pointer argument, for tests and rare calls. */
export function callAt(address: number, argument: ArrayBufferView<ArrayBuffer>): void {
  const pointer = Deno.UnsafePointer.create<typeof POINTER_CALL>(BigInt(address));
  if (pointer === null) throw new TypeError("Expected the address of a function but found 0");
  new Deno.UnsafeFnPointer(pointer, POINTER_CALL).call(Deno.UnsafePointer.of(argument));
}

/** Default include folders of compilers. */
const USUAL = ["/usr/include", "/usr/local/include"];

/** The path, size and time of the header that a compiler finds; null if there is none. */
export function headerIdentity(folders: readonly string[], name: string): string | null {
  for (const folder of [...folders, ...USUAL]) {
    try {
      const path = Deno.realPathSync(`${folder}/${name}`), { size, mtime } = Deno.statSync(path);
      return `${path} ${size} ${mtime?.getTime() ?? 0}`;
    } catch {
      continue;
    }
  }
  return null;
}
