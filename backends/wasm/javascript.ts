/**
 * Kernels that have no lanes, as JavaScript over the WebAssembly memory. Input: a kernel; output: a step that runs
 * it. Invariant: every buffer of the program is an input at its address in that memory.
 */
import type { BufferDecl, Kernel, Program } from "../../lib/loops/ir.ts";
import type { DeviceName, Memory } from "../../lib/loops/device.ts";
import { compileToJavaScript } from "../js/program.ts";
import type { Run } from "./run.ts";
import type { WasmMemory } from "./memory.ts";

/** The views that printed JavaScript reads by name, over a memory that threads may share. */
class SharedViews implements Memory {
  readonly device: DeviceName = "cpu";
  readonly byteLength: number;
  readonly uint8: Uint8Array;
  readonly int8: Int8Array;
  readonly int16: Int16Array;
  readonly uint16: Uint16Array;
  readonly int32: Int32Array;
  readonly int64: BigInt64Array;
  readonly float32: Float32Array;
  readonly float64: Float64Array;

  constructor(readonly buffer: ArrayBufferLike) {
    this.byteLength = buffer.byteLength;
    this.uint8 = new Uint8Array(buffer);
    this.int8 = new Int8Array(buffer);
    this.int16 = new Int16Array(buffer);
    this.uint16 = new Uint16Array(buffer);
    this.int32 = new Int32Array(buffer);
    this.int64 = new BigInt64Array(buffer);
    this.float32 = new Float32Array(buffer);
    this.float64 = new Float64Array(buffer);
  }
}

/** A step that runs a kernel as JavaScript over a memory. */
export function javaScriptStep(
  kernel: Kernel,
  program: Program,
  { memory }: WasmMemory,
): (run: Run) => void {
  const buffers = program.buffers.map((decl): BufferDecl => ({
    ...decl,
    role: { kind: "input", written: true },
  }));
  const compiled = compileToJavaScript({
    ...program,
    buffers,
    inputs: buffers.map((_, id) => id),
    outputs: [],
    arenaBytes: 0,
    kernels: [kernel],
    guard: undefined,
  });
  let views: SharedViews | undefined;
  return ({ addresses, sizes }) => {
    const { buffer } = memory;
    const whole = views = views?.buffer === buffer ? views : new SharedViews(buffer);
    compiled.run({ inputs: buffers.map(() => whole), outputs: [], byteOffsets: addresses, sizes });
  };
}
