/**
 * Compares exported models in ONNX Runtime with plain execution. Invariant: a difference is an error; a model that is
 * not compared is reported with its reason.
 */
import { assertEquals } from "@std/assert";
import { openSession, type OrtTensor } from "../../backends/onnxrt/library.ts";
import { isSupportedType, toOrtTensor } from "../../backends/onnxrt/tensors.ts";
import { DynError, messageOf, Unsupported } from "../../lib/base/errors.ts";
import { hostArray, isFloat } from "../../lib/base/dtype.ts";
import { flatten } from "../../lib/base/tree.ts";
import { findTarget } from "../../lib/ops/table.ts";
import { isTensor, type Tensor } from "../../lib/tensor/tensor.ts";
import { onnxBytes } from "../../packaging/onnx/program.ts";
import { compiler, type ExportedProgram, noGrad } from "../../mod.ts";

/** The outcome of a call: compared, with the ops of its graph; or why not. */
export type Comparison =
  | { readonly kind: "same"; readonly ops: readonly string[] }
  | { readonly kind: "refused" | "lacking" | "no call"; readonly why: string };

type Program = (...args: unknown[]) => unknown;

const leavesOf = (value: unknown): readonly unknown[] => flatten(value, isTensor).leaves;

/** The tensors of a call's result, in their order. */
export const tensorsOf = (value: unknown): Tensor[] => leavesOf(value).filter(isTensor);

/** Tolerance of elements, relative to themselves and a tenth of the largest of them (at most 1000). */
const ALLOWED: Readonly<Record<string, number>> = { float32: 2e-5, float64: 1e-10 };

/** Throws where elements, types or shapes are not those of plain execution. */
export function assertSame(found: OrtTensor | undefined, wanted: Tensor, where: string): void {
  const { dtype, shape } = wanted;
  assertEquals([found?.type, found?.dims], [dtype, shape], where);
  if (!found) throw new Error(`Expected elements at ${where}`);
  const { buffer, byteOffset, byteLength } = found.data,
    bytes = new Uint8Array(buffer, byteOffset, byteLength);
  const got = Array.from(hostArray(dtype, bytes.slice().buffer), Number);
  const want = Array.from(wanted.detach().contiguous().toTypedArray(), Number);
  assertEquals(got.length, want.length, where);
  const finite = want.filter(Number.isFinite).map(Math.abs);
  const scale = isFloat(dtype) ? Math.min(1000, finite.reduce((a, b) => Math.max(a, b), 0)) / 10 : 0;
  got.forEach((x, k) => {
    const y = want[k] ?? NaN, allowed = (ALLOWED[dtype] ?? 0) * (Math.abs(y) + scale);
    if (x === y || (Number.isNaN(x) && Number.isNaN(y)) || Math.abs(x - y) <= allowed) return;
    throw new Error(`Expected ${y} but found ${x} at ${k} of ${where}`);
  });
}

/** Runs a model; gives as many results. */
export function runModel(
  bytes: Uint8Array<ArrayBuffer>,
  args: readonly unknown[],
  count: number,
): readonly (OrtTensor | undefined)[] {
  const isWide = tensorsOf([...args]).some(({ dtype }) => dtype === "float64");
  const session = openSession(bytes, 1, isWide ? "basic" : "all"), feeds: Record<string, OrtTensor> = {};
  leavesOf([...args]).forEach((leaf, at) => {
    if (isTensor(leaf)) feeds[`input_${at}`] = toOrtTensor(leaf.detach().contiguous()).tensor;
  });
  const names = Array.from({ length: count }, (_, at) => `output_${at}`);
  const found = session.run(feeds, Object.fromEntries(names.map((name) => [name, null])), {});
  return names.map((name) => found[name]);
}

/**
 * Returns whether ONNX Runtime accepts the model but has no code for it; of transposed convolutions it has none where
 * the output's padding reaches the stride, which a dilation allows.
 */
const isLacking = (why: string): boolean =>
  /NOT_IMPLEMENTED|Could not find an implementation|Failed to find kernel|output_padding \(\d+\) may be too large/
    .test(why);

/** Exports a call, runs it in ONNX Runtime and compares. Throws for every difference and for models that are invalid. */
export function compareInRuntime(program: Program, args: readonly unknown[]): Comparison {
  let wanted: readonly Tensor[], exported: ExportedProgram, bytes: Uint8Array<ArrayBuffer>;
  try {
    wanted = noGrad(() => tensorsOf(program(...args)));
  } catch (error) {
    return { kind: "no call", why: messageOf(error) };
  }
  if (![...wanted, ...tensorsOf([...args])].every(({ dtype }) => isSupportedType(dtype))) {
    return { kind: "lacking", why: "types that are not handed over" };
  }
  try {
    exported = compiler.export(program, [...args]);
    bytes = onnxBytes(exported);
  } catch (error) {
    if (error instanceof DynError || error instanceof Unsupported) {
      return { kind: "refused", why: error.message };
    }
    throw error;
  }
  try {
    const found = runModel(bytes, args, wanted.length);
    wanted.forEach((each, at) => assertSame(found[at], each, `result ${at}`));
  } catch (error) {
    if (isLacking(messageOf(error))) return { kind: "lacking", why: messageOf(error) };
    throw error;
  }
  const { nodes } = exported.parts.functional.graph;
  return { kind: "same", ops: nodes.flatMap(({ target }) => findTarget(target)?.definition.name ?? []) };
}
