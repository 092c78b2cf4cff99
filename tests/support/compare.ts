/** Compares a printer with the reference interpreter on a program and host arrays. */
import { assert } from "@std/assert";
import { decodeElements, toBfloat16 } from "../../lib/base/bfloat16.ts";
import { type DType, type HostArray, hostArray, isFloat, itemSize } from "../../lib/base/dtype.ts";
import type { Program } from "../../lib/loops/ir.ts";
import { interpret } from "../reference/interpret.ts";

/** Runs a program by the printer under test. Fills the outputs; returns the generated source. */
export type Runner = (
  program: Program,
  inputs: readonly HostArray[],
  outputs: readonly HostArray[],
) => string;

/** A host array of these values. */
export function toHost(dtype: DType, values: readonly number[]): HostArray {
  const array = hostArray(
    dtype,
    new ArrayBuffer(Math.ceil(values.length * itemSize(dtype) / 64) * 64),
    { length: values.length },
  );
  values.forEach((v, i) => {
    if (array instanceof BigInt64Array) array[i] = BigInt(Math.trunc(v));
    else array[i] = dtype === "bfloat16" ? toBfloat16(v) : v;
  });
  return array;
}

/** Bytes of a host array. */
export function bytesOf(a: HostArray): Uint8Array {
  return new Uint8Array(a.buffer, a.byteOffset, a.byteLength);
}

/** Runs a program both ways; every output element must agree within `tolerance` relative to max(1, |expected|). */
export function compare(
  program: Program,
  inputs: readonly HostArray[],
  options: { run: Runner; tolerance?: number },
): void {
  const tolerance = options.tolerance ?? 2e-6;
  const decls = program.outputs.map((id) => {
    const decl = program.buffers[id];
    assert(decl && typeof decl.length === "number");
    return { dtype: decl.dtype, length: decl.length };
  });
  const fresh = () => decls.map(({ dtype, length }) => toHost(dtype, new Array<number>(length).fill(0)));
  const want = fresh(), got = fresh();
  interpret(program, { inputs, outputs: want });
  const source = options.run(program, inputs, got);
  decls.forEach(({ dtype, length }, i) => {
    const [have, expected] = [got[i], want[i]].map((each) => each && decodeElements(dtype, each));
    for (let k = 0; k < length; k++) {
      const x = Number(have?.[k]), y = Number(expected?.[k]);
      const close = Object.is(x, y) || x === y || (Number.isNaN(x) && Number.isNaN(y)) ||
        (isFloat(dtype) && Math.abs(x - y) <= tolerance * Math.max(1, Math.abs(y)));
      assert(close, `element ${k} is ${x}, expected ${y}\n${source}`);
    }
  });
}
