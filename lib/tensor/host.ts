/**
 * Reads elements of tensors into host memory: typed arrays in row-major order, and single elements. Invariant:
 * reading never changes the tensor; the result is a copy of the elements as numbers (bfloat16 as float32), unless the
 * stored form is requested.
 */
import { bufferOf } from "../base/memory_getters.ts";
import { decodeElements, fromBfloat16 } from "../base/bfloat16.ts";
import type { Complex } from "../base/complex.ts";
import { type DType, type HostArray, hostArray, isComplex, itemSize } from "../base/dtype.ts";
import type { MemoryPiece } from "../loops/device.ts";
import { pairsMeta } from "../ops/complex/views.ts";
import { type Layout, layoutOf } from "./layout.ts";
import { deviceNamed, type Storage } from "./storage.ts";

/** A real element as a JavaScript value. int64 is a number where that is exact, else a bigint. */
export type RealElement = number | bigint | boolean;

/** An element as a JavaScript value. */
export type Element = RealElement | Complex;

/** Elements of a tensor as nested arrays; a 0-d tensor's is its element. */
export type NestedElements = Element | NestedElements[];

/** The parts of a tensor that reading elements needs. */
interface Readable {
  readonly storage: Storage;
  readonly layout: Layout;
  readonly offset: number;
}

/** A stored element as a JavaScript value. */
function toElement(raw: number | bigint, dtype: DType): RealElement {
  if (typeof raw === "bigint") {
    return raw >= Number.MIN_SAFE_INTEGER && raw <= Number.MAX_SAFE_INTEGER ? Number(raw) : raw;
  }
  if (dtype === "bfloat16") return fromBfloat16(raw);
  return dtype === "bool" ? raw !== 0 : raw;
}

/** Element `k` of the result of `readStored`. */
function storedElement(stored: HostArray, k: number, dtype: DType): Element {
  if (!isComplex(dtype)) return toElement(stored[k] ?? 0, dtype);
  return { re: Number(stored[2 * k]), im: Number(stored[2 * k + 1]) };
}

/** All elements, row-major, waiting for the device; complex elements as adjacent real and imaginary parts. */
export function readElements(tensor: Readable): HostArray {
  return decodeElements(tensor.layout.dtype, readStored(tensor));
}

/** The same in stored form. */
export function readStored(tensor: Readable): HostArray {
  const { layout, storage, offset } = tensor;
  if (layout.numel === 0) return hostArray(layout.dtype, new ArrayBuffer(0));
  const bytes = deviceNamed(layout.device).readSync(
    storage.memory,
    offset * itemSize(layout.dtype),
    layout.byteLength,
  );
  return pack(bytes, layout);
}

/** All elements, row-major, once the device is done. */
export async function readElementsLater(tensor: Readable): Promise<HostArray> {
  const { layout, storage, offset } = tensor;
  if (layout.numel === 0) return readElements(tensor);
  const bytes = await deviceNamed(layout.device).read(
    storage.memory,
    offset * itemSize(layout.dtype),
    layout.byteLength,
  );
  return decodeElements(layout.dtype, pack(bytes, layout));
}

/** All elements as nested arrays, or the element of a tensor without dimensions. */
export function nestedElements(tensor: Readable): NestedElements {
  const { shape, dtype } = tensor.layout, elements = readStored(tensor);
  let at = 0;
  const build = (d: number): NestedElements => {
    if (d === shape.length) return storedElement(elements, at++, dtype);
    return Array.from({ length: shape[d] ?? 0 }, () => build(d + 1));
  };
  return build(0);
}

/** One element, by its position in the addressed range. */
export function elementAt(tensor: Readable, place: number): Element {
  const { layout, storage, offset } = tensor;
  const size = itemSize(layout.dtype);
  const bytes = deviceNamed(layout.device).readSync(storage.memory, (offset + place) * size, size);
  return storedElement(aligned(bytes, layout.dtype), 0, layout.dtype);
}

/** The first element of each tensor; waits once for each device. */
export function firstElements(tensors: readonly Readable[]): Element[] {
  const found: Element[] = [];
  for (const [name, places] of placesByDevice(tensors)) {
    const pieces = places.map(({ tensor: { layout: { dtype }, storage, offset } }): MemoryPiece => {
      const byteLength = itemSize(dtype);
      return { memory: storage.memory, byteOffset: offset * byteLength, byteLength };
    });
    const device = deviceNamed(name);
    const bytes = device.readTogether && pieces.length > 1
      ? device.readTogether(pieces)
      : pieces.map(({ memory, byteOffset, byteLength }) => device.readSync(memory, byteOffset, byteLength));
    for (const [k, { tensor: { layout: { dtype } }, at }] of places.entries()) {
      found[at] = storedElement(aligned(bytes[k] ?? NO_BYTES, dtype), 0, dtype);
    }
  }
  return found;
}

const NO_BYTES = new Uint8Array(0);

/** The tensors of each device, with their positions in the list. */
function placesByDevice(tensors: readonly Readable[]) {
  return Map.groupBy(tensors.map((tensor, at) => ({ tensor, at })), ({ tensor }) => tensor.layout.device);
}

/** Number of elements from which on single elements are read separately. */
const MANY = 1024;

/** Reads elements by their indices, as numbers. */
export function elementReader(tensor: Readable): (index: readonly number[]) => number | bigint | Complex {
  const { layout: { dtype, device, numel, shape, strides }, storage, offset } = tensor;
  const read = deviceNamed(device), size = itemSize(dtype);
  const placeOf = (index: readonly number[], steps: readonly number[]): number =>
    index.reduce((place, i, d) => place + i * (steps[d] ?? 0), 0);
  if (read.hostReadable && numel > MANY) {
    return (index) => {
      const bytes = read.readSync(storage.memory, (offset + placeOf(index, strides)) * size, size);
      return numberIn(decodeElements(dtype, aligned(bytes, dtype)), 0, dtype);
    };
  }
  const all = readElements(tensor), steps = shape.map(() => 1);
  for (let d = shape.length - 2; d >= 0; d--) steps[d] = (steps[d + 1] ?? 1) * (shape[d + 1] ?? 1);
  return (index) => numberIn(all, placeOf(index, steps), dtype);
}

/** Number `k` of decoded elements. */
function numberIn(elements: HostArray, k: number, dtype: DType): number | bigint | Complex {
  return isComplex(dtype)
    ? { re: Number(elements[2 * k]), im: Number(elements[2 * k + 1]) }
    : elements[k] ?? 0;
}

/** Bytes as elements; copied only if they are not aligned to the element size. */
function aligned(bytes: Uint8Array, dtype: DType): HostArray {
  const size = itemSize(dtype);
  if (bytes.byteOffset % size === 0) {
    return hostArray(dtype, bufferOf(bytes), {
      byteOffset: bytes.byteOffset,
      length: bytes.byteLength / size,
    });
  }
  const copy = bytes.slice();
  return hostArray(dtype, bufferOf(copy), { length: bytes.byteLength / size });
}

/** The addressed range of a layout as separate row-major elements. */
function pack(bytes: Uint8Array, whole: Layout): HostArray {
  const layout = isComplex(whole.dtype) ? layoutOf(pairsMeta(whole.meta)) : whole;
  const source = aligned(bytes, layout.dtype);
  if (layout.contiguous) return source;
  const packed = hostArray(layout.dtype, new ArrayBuffer(layout.numel * itemSize(layout.dtype)));
  const { shape, strides } = layout, rank = shape.length, index = new Int32Array(rank);
  for (let k = 0, at = 0; k < layout.numel; k++) {
    packed[k] = source[at] ?? 0;
    for (let d = rank - 1; d >= 0; d--) {
      const i = (index[d] ?? 0) + 1, size = shape[d] ?? 1;
      if (i < size) {
        index[d] = i;
        at += strides[d] ?? 0;
        break;
      }
      index[d] = 0;
      at -= (size - 1) * (strides[d] ?? 0);
    }
  }
  return packed;
}

/** Writes row-major elements in stored form to the start of a storage. */
export function writeElements(storage: Storage, elements: HostArray): void {
  if (elements.length === 0) return;
  const bytes = new Uint8Array(bufferOf(elements), elements.byteOffset, elements.byteLength);
  const device = deviceNamed(storage.device);
  device.write(storage.memory, 0, bytes);
  // Integers may become indices, whose check would wait for the device later.
  if (!device.hostReadable && INTEGERS.some((kind) => elements instanceof kind)) {
    storage.noteBounds(boundsOf(elements));
  }
}

const INTEGERS = [BigInt64Array, Int32Array, Int16Array, Int8Array, Uint8Array];

function boundsOf(elements: HostArray): { readonly least: number; readonly greatest: number } {
  let least = elements[0] ?? 0, greatest = least;
  for (const each of elements) {
    if (each < least) least = each;
    if (each > greatest) greatest = each;
  }
  return { least: Number(least), greatest: Number(greatest) };
}
