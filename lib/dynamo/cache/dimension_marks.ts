/**
 * Users' marks on dimensions of tensors. Invariant: a mark stays with its tensor.
 */

/** The mark of one dimension. */
export type DimensionMark =
  /** `strict`: a program that makes a constant of it is an error. */
  | { readonly kind: "dynamic"; readonly min: number; readonly max: number; readonly strict: boolean }
  /** Any size; no facts are known about it. */
  | { readonly kind: "unbacked" }
  | { readonly kind: "static" };

const marks = new WeakMap<object, Map<number, DimensionMark>>();
/** Whether there is any mark: until then guards skip them. */
export const marked = { any: false };

/** Declares how a dimension of a tensor is treated when the tensor is an input of a compiled function. */
export function markDimension(tensor: object, dim: number, mark: DimensionMark): void {
  let known = marks.get(tensor);
  if (!known) marks.set(tensor, known = new Map());
  known.set(dim, mark);
  marked.any = true;
}

/** Returns the mark of a dimension. */
export function markOf(tensor: object, dim: number): DimensionMark | undefined {
  return marks.get(tensor)?.get(dim);
}

/** The dimensions of a tensor that are marked as unbacked. */
export function dimensionsMarked(tensor: object): readonly number[] {
  const known = marks.get(tensor);
  return known ? [...known].flatMap(([dim, { kind }]) => kind === "static" ? [] : [dim]) : [];
}

/**
 * Returns whether a version respects the tensor's current marks, given the dimensions that are symbols in it or were
 * marked when it was compiled; like PyTorch's guards on dynamic indices.
 */
export function knowsMarks(tensor: object, dims: readonly number[]): boolean {
  const found = dimensionsMarked(tensor);
  for (let i = 0; i < found.length; i++) if (!dims.includes(found[i] ?? -1)) return false;
  return true;
}
