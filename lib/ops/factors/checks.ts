/** Checks of the matrices that linear algebra ops take. They return sizes, or throw a DynError that names the op. */
import { DynError } from "../../base/errors.ts";
import type { TensorLike } from "../tensor_like.ts";
import { isEqual, isLess } from "../../sym/decide.ts";
import type { Dim } from "../../sym/expr.ts";
import { checkCategory } from "../pointwise.ts";
import { shapeText } from "../shapes.ts";

/** The namespace of linear algebra. */
export const LINALG = { method: false, free: false, namespaces: ["linalg"] } as const;

/**
 * The sizes of matrices in the last two dimensions. Throws DynError for other ranks, and types that are not floating.
 */
export function checkMatrices(name: string, A: TensorLike): { readonly rows: Dim; readonly columns: Dim } {
  const [rows, columns] = A.shape.slice(-2);
  if (rows === undefined || columns === undefined) {
    throw new DynError(`Expected matrices in ${name} but found shape ${shapeText(A.shape)}`);
  }
  checkCategory(name, A.dtype, ["float"]);
  return { rows, columns };
}

/** The side of square matrices. Throws DynError for other shapes, and types that are not floating. */
export function checkSquare(name: string, A: TensorLike): Dim {
  const n = A.shape.at(-1) ?? 1;
  if (A.shape.length < 2 || !isEqual(n, A.shape.at(-2) ?? 1)) {
    throw new DynError(`Expected square matrices in ${name} but found ${shapeText(A.shape)}`);
  }
  checkCategory(name, A.dtype, ["float"]);
  return n;
}

/** The smaller of two sizes, which determines the shape of factors. */
export function lesser(rows: Dim, columns: Dim): Dim {
  return isLess(rows, columns) ? rows : columns;
}
