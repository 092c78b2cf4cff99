/**
 * Reads memory of arrays by getters taken when dyn loads: the program may replace them, and V8 does not inline them, so
 * that comparing them before each call would cost more than all other comparisons of `runsAsLoaded`.
 */
import { apply } from "./own_builtins.ts";

const { getOwnPropertyDescriptor, getPrototypeOf } = Reflect;

/** A getter. Throws TypeError if the engine has a property of another kind. */
function getterOf(object: object, key: string): NonNullable<PropertyDescriptor["get"]> {
  const { get } = getOwnPropertyDescriptor(object, key) ?? {};
  if (!get) throw new TypeError(`Expected a getter of ${key}`);
  return get;
}

const getBuffer = getterOf(getPrototypeOf(Uint8Array.prototype) ?? {}, "buffer");
const getSize = getterOf(ArrayBuffer.prototype, "byteLength");
const getWasmBuffer = getterOf(WebAssembly.Memory.prototype, "buffer");
/** Browsers have shared memory only in pages that are isolated from others. */
const { SharedArrayBuffer: OwnShared } = globalThis;
const getSharedSize = OwnShared && getterOf(OwnShared.prototype, "byteLength");

/** The buffer of a typed array. */
export function bufferOf<B extends ArrayBufferLike>(array: ArrayBufferView<B>): B {
  return apply(getBuffer, array, []);
}

/** The size of a buffer in bytes. */
export function byteLengthOf(buffer: ArrayBufferLike): number {
  return apply(OwnShared && buffer instanceof OwnShared ? getSharedSize : getSize, buffer, []);
}

/** The buffer of a WebAssembly memory, of which there is a new one once it has grown. */
export function wasmBufferOf(memory: WebAssembly.Memory): ArrayBufferLike {
  return apply(getWasmBuffer, memory, []);
}
