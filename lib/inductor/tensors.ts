/**
 * Tensors during lowering: views of stored buffers, and lazy ones that are only a formula for an element. The loader
 * records reads of both. Invariant: a lazy tensor can be stored at any time before code is emitted; from then on every
 * reader loads it instead of recomputing it.
 */
import type { DType } from "../base/dtype.ts";
import { config } from "../base/config.ts";
import { InternalError } from "../base/errors.ts";
import type { Node } from "../graph/node.ts";
import { userPosition } from "../graph/place.ts";
import type { Element, Operand } from "../loops/body.ts";
import type { BufferId } from "../loops/ir.ts";
import {
  type BufferOperand,
  flatIndex,
  isBufferOperand,
  type Loader,
  type Recorder,
  type Value,
} from "../loops/record.ts";
import type { Dim } from "../sym/expr.ts";

/** The origin of a buffer, and its visibility. */
type StorageRole =
  /** A placeholder's memory. */
  | { readonly kind: "input"; readonly input: number }
  /** Made by the program. */
  | { readonly kind: "internal" };

/** A flat array of the program under construction. */
export interface Storage {
  readonly id: BufferId;
  readonly name: string;
  readonly dtype: DType;
  /** Elements. */
  readonly length: Dim;
  readonly role: StorageRole;
}

/** A formula for the elements of a tensor. */
export interface LazyTensor extends Operand {
  readonly kind: "lazy";
  readonly id: number;
  readonly element: Element;
  /** The buffer, once the tensor has been stored. */
  stored: BufferOperand | undefined;
  /** The graph node it computes, by position. */
  readonly order: number;
  /** Op names and user lines, for kernel names and comments. */
  readonly label: Label;
  /** A view: the tensor whose elements it shows. */
  readonly viewOf: Operand | undefined;
  /** Strides that the result should have if it is stored. */
  readonly strides: readonly Dim[];
}

/** A node's name in generated names and comments. */
export interface Label {
  readonly target: string;
  /** The user's innermost line. */
  readonly origin: string | undefined;
}

/** The label of a node's result. */
export function labelOf(node: Node, target: string = node.target): Label {
  const place = userPosition(node);
  if (!place) return { target, origin: undefined };
  const file = place.file.slice(place.file.lastIndexOf("/") + 1);
  return { target, origin: `${file}:${place.line} ${place.code}` };
}

export function isLazy(operand: Operand): operand is LazyTensor {
  return "kind" in operand && operand.kind === "lazy";
}

/** The stored form of an operand, if it has one. */
export function storedForm(operand: Operand): BufferOperand | undefined {
  if (isBufferOperand(operand)) return operand;
  return isLazy(operand) ? operand.stored : undefined;
}

const keyOf = (index: readonly Dim[]) => index.map((d) => typeof d === "number" ? d : `#${d.id}`).join();

/** Records reads of operands: loads of stored ones, formulas of lazy ones (each once per scope and index). */
export function makeLoader(seen?: (tensor: LazyTensor) => void): Loader {
  return (recorder, operand, index): Value => {
    const stored = storedForm(operand);
    if (stored) return recorder.loadBuffer(stored.buffer, flatIndex(stored, index), stored.dtype);
    if (!isLazy(operand)) {
      throw new InternalError(`Expected a tensor of the graph but found shape ${operand.shape}`);
    }
    seen?.(operand);
    return inline(recorder, operand, index);
  };
}

/** Records the formula of a tensor at an index, even where the tensor is stored. */
export function inline(recorder: Recorder, tensor: LazyTensor, index: readonly Dim[]): Value {
  return recorder.memo(
    `tensor ${tensor.id} ${keyOf(index)}`,
    () => resultValue(recorder, tensor.element(recorder, index), tensor.dtype),
  );
}

/** Returns an op's element for its readers before it is stored: unrounded unless the settings request rounding. */
export function resultValue(recorder: Recorder, value: Value, dtype: DType): Value {
  return config.inductor.emulatePrecisionCasts ? recorder.narrow(value, dtype) : recorder.cast(value, dtype);
}
