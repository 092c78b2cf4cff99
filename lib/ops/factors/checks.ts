/** Checks of matrices that ops decompose. Input: metadata; output: sizes, or a DynError that names the op. */
import { DynError } from "../../base/errors.ts";
import type { TensorLike } from "../tensor_like.ts";
import { isEqual } from "../../sym/decide.ts";
import type { Dim } from "../../sym/expr.ts";
import { checkCategory } from "../pointwise.ts";
import { shapeText } from "../shapes.ts";

/** Where decompositions are found. */
export const LINALG = { method: false, free: false, namespaces: ["linalg"] } as const;

/** The sizes of matrices in the last two dimensions. Throws DynError for what are none, or not of a float type. */
export function checkMatrices(name: string, A: TensorLike): { readonly rows: Dim; readonly columns: Dim } {
  const [rows, columns] = A.shape.slice(-2);
  if (rows === undefined || columns === undefined) {
    throw new DynError(`Expected matrices in ${name} but found shape ${shapeText(A.shape)}`);
  }
  checkCategory(name, A.dtype, ["float"]);
  return { rows, columns };
}

/** The side of square matrices. Throws DynError for others. */
export function checkSquare(name: string, A: TensorLike): Dim {
  const { rows, columns } = checkMatrices(name, A);
  if (!isEqual(rows, columns)) {
    throw new DynError(`Expected square matrices in ${name} but found ${shapeText(A.shape)}`);
  }
  return columns;
}

/** The lesser of two sizes, which decides the shape of factors. */
export function lesser(rows: Dim, columns: Dim): Dim {
  return isEqual(rows, columns) || Number(rows) < Number(columns) ? rows : columns;
}
