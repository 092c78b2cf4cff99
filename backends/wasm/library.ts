/**
 * Library calls on WebAssembly, on all threads of the pool: matrix products and sorting. Operands and results are in the
 * WebAssembly memory. Invariant: products are of float32.
 */
import { itemSize, valueType } from "../../lib/base/dtype.ts";
import { InternalError } from "../../lib/base/errors.ts";
import type { ExternOp } from "../../lib/loops/ir.ts";
import type { MemoryKind } from "./binary.ts";
import {
  GEMM_SCRATCH,
  GEMM_SLACK,
  PRODUCT_FIELDS,
  productModule,
  PRODUCTS_JOB,
  UNIT_FIELDS,
} from "./gemm.ts";
import { aligned, count, type Operand, type Operands, type Placed, type Shaped } from "./operands.ts";
import { libraryCode, useLibraryModule } from "./library_code.ts";
import { DIMENSION_WORDS, SORT_FIELDS, sortBytes, sortModule } from "./sort.ts";
import type { Code, JobPool } from "./pool.ts";

/** The functions of products, some of which programs import. */
export const productCode = (pool: JobPool): Code => libraryCode(pool, PRODUCTS.name, productModule);

/** A module of the library. */
export interface LibraryModule {
  readonly name: string;
  /** The words that callers pass, by name and place. */
  readonly words: string;
  readonly write: (memory: MemoryKind) => Uint8Array<ArrayBuffer>;
}

const PRODUCTS: LibraryModule = {
  name: "products",
  words: [...PRODUCT_FIELDS, ...UNIT_FIELDS].join(" "),
  write: productModule,
};

/** The module that a call needs; null for sorting, which has one for each type. */
export function libraryModuleOf({ op }: ExternOp): LibraryModule | null {
  return op === "sort" ? null : PRODUCTS;
}

/** A module that was written before. */
export type WrittenModule = Omit<LibraryModule, "write"> & { readonly bytes: Uint8Array<ArrayBuffer> };

/** Loads modules that were written for the pool's kind of memory; those for callers of other words are skipped. */
export function useLibrary(pool: JobPool, given: readonly WrittenModule[]): void {
  for (const { name, words, bytes } of given) {
    if (name === PRODUCTS.name && words === PRODUCTS.words) useLibraryModule(pool, name, bytes);
  }
}

/** Bytes that a call needs after the operands: its description, and every thread's scratch memory. */
export function libraryBytes(pool: JobPool, { op }: ExternOp, operands: Operands<Shaped>): number {
  const { threads } = pool;
  if (isEmpty(operands)) return 0;
  if (op === "sort") return sortCallBytes(pool, operands);
  return aligned(4 * productWords(operands, threads)) + threads * PRODUCT_SCRATCH;
}

/** Runs a call. */
export function runLibrary(pool: JobPool, call: ExternOp, placed: Placed): void {
  if (isEmpty(placed)) return;
  if (call.op === "matmul") return runProducts(pool, placed, call.accumulate);
  if (call.op === "sort") return runSort(pool, placed, call.descending);
  throw new InternalError(`Expected a call of the library but found ${call.op}`);
}

const PRODUCT_SCRATCH = aligned(GEMM_SCRATCH + GEMM_SLACK);

/** Returns whether there is nothing to compute. */
const isEmpty = ({ outputs }: Operands<Shaped>): boolean => outputs.every(({ shape }) => count(shape) === 0);
const size = (view: Shaped | undefined, d: number): number => view?.shape.at(d) ?? 1;
const stride = (view: Shaped | undefined, d: number): number => 4 * (view?.strides.at(d) ?? 0);

/** Divides a product into bands of rows or of columns. */
function bandsOf({ outputs: [out] }: Operands<Shaped>, threads: number) {
  const m = size(out, -2), n = size(out, -1), batch = count(out?.shape.slice(0, -2) ?? []);
  const byRow = m >= n;
  // Enough units for all threads, but no band so narrow that packing the other operand dominates
  const bands = batch >= 2 * threads
    ? 1
    : Math.max(1, Math.min(2 * threads, Math.floor((byRow ? m : n) / 24)));
  const width = Math.ceil((byRow ? m : n) / bands / 24) * 24;
  return { m, n, batch, byRow, width, bands: Math.max(1, Math.ceil((byRow ? m : n) / width)) };
}

function productWords(operands: Operands<Shaped>, threads: number): number {
  const { batch, bands } = bandsOf(operands, threads);
  return PRODUCT_FIELDS.length + batch * bands * UNIT_FIELDS.length;
}

function runProducts(pool: JobPool, operands: Placed, accumulate: boolean): void {
  const { inputs: [a, b], outputs: [out], free } = operands;
  if (!a || !b || !out) return;
  const { m, n, batch, byRow, width, bands } = bandsOf(operands, pool.threads);
  const k = size(a, -1), units = batch * bands;
  const words = new Int32Array(pool.memory.buffer, free, productWords(operands, pool.threads));
  const [aRow, bColumn, outRow, outColumn] = [stride(a, -2), stride(b, -1), stride(out, -2), stride(out, -1)];
  words.set([aRow, stride(a, -1), stride(b, -2), bColumn, outRow, outColumn, k, accumulate ? 1 : 0]);
  let next = PRODUCT_FIELDS.length;
  const lead = out.shape.slice(0, -2);
  const each = (d: number, [x, y, z]: readonly [number, number, number]): void => {
    if (d < lead.length) {
      for (let i = 0; i < (lead[d] ?? 0); i++) {
        each(d + 1, [
          x + i * stride(a, d - lead.length - 2),
          y + i * stride(b, d - lead.length - 2),
          z + i * stride(out, d),
        ]);
      }
      return;
    }
    for (let band = 0; band < bands; band++) {
      const from = band * width, extent = Math.min(width, (byRow ? m : n) - from);
      words.set(
        byRow
          ? [x + from * aRow, y, z + from * outRow, extent, n]
          : [x, y + from * bColumn, z + from * outColumn, m, extent],
        next,
      );
      next += UNIT_FIELDS.length;
    }
  };
  each(0, [a.address, b.address, out.address]);
  pool.run(productCode(pool), PRODUCTS_JOB, {
    description: free,
    units,
    scratch: { bytes: PRODUCT_SCRATCH, address: free + aligned(words.byteLength) },
    work: batch * m * n * k / 4,
  });
}

const lengthOf = ({ inputs: [input] }: Operands<Shaped>): number => input?.shape.at(-1) ?? 1;
const countOf = ({ outputs: [values] }: Operands<Shaped>): number => values?.shape.at(-1) ?? 1;
const words = ({ inputs: [input] }: Operands<Shaped>): number =>
  SORT_FIELDS.length + DIMENSION_WORDS * Math.max(0, (input?.shape.length ?? 0) - 1);

/** Bytes that a call needs after the operands: its description, and every thread's scratch memory. */
function sortCallBytes({ threads }: JobPool, operands: Operands<Shaped>): number {
  return aligned(4 * words(operands)) + threads * aligned(sortBytes(lengthOf(operands), countOf(operands)));
}

/** Sorts rows along the last dimension, whatever the strides are. */
function runSort(pool: JobPool, placed: Placed, descending: boolean): void {
  const { inputs: [input], outputs: [values, indices], free } = placed;
  if (!input || !values || !indices) throw new InternalError("Expected an input and two results of sort");
  const length = lengthOf(placed), count = countOf(placed), outer = input.shape.slice(0, -1);
  const step = (view: Operand, d: number) => (view.strides.at(d) ?? 0) * itemSize(view.dtype);
  const operands = [input, values, indices];
  new Int32Array(pool.memory.buffer, free, words(placed)).set([
    length,
    count,
    descending ? 1 : 0,
    ...operands.map(({ address }) => address),
    ...operands.map((view) => step(view, -1)),
    outer.length,
    ...outer.flatMap((rows, d) => [rows, ...operands.map((view) => step(view, d))]),
  ]);
  const rows = outer.reduce((product, n) => product * n, 1);
  const dtype = valueType(input.dtype);
  if (dtype !== input.dtype) throw new InternalError(`Expected no ${input.dtype} to sort as they are`);
  pool.run(libraryCode(pool, `sort ${dtype}`, (memory) => sortModule(memory, dtype)), dtype, {
    description: free,
    units: rows,
    scratch: { bytes: aligned(sortBytes(length, count)), address: free + aligned(4 * words(placed)) },
    work: rows * length * 4 * Math.ceil(Math.log2(length + 1)),
  });
}
