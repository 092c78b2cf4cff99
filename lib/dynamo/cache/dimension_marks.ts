/**
 * What users have said of dimensions of tensors. Input: tensors, dimensions and marks; output: the mark of a dimension,
 * and whether a compiled version knows of those that a tensor has now. Invariant: a mark stays with its tensor.
 */

/** What the user said about one dimension. */
export type DimensionMark =
  /** `strict`: a program that makes a constant of it is an error. */
  | { readonly kind: "dynamic"; readonly min: number; readonly max: number; readonly strict: boolean }
  /** Any size, which nothing is known of. */
  | { readonly kind: "unbacked" }
  | { readonly kind: "static" };

const marks = new WeakMap<object, Map<number, DimensionMark>>();
/** Guards need not look before there is a mark. */
let isAnyMarked = false;

/** Says how a dimension of a tensor is to be treated when the tensor is an input of a compiled function. */
export function markDimension(tensor: object, dim: number, mark: DimensionMark): void {
  let known = marks.get(tensor);
  if (!known) marks.set(tensor, known = new Map());
  known.set(dim, mark);
  isAnyMarked = true;
}

/** What was said about a dimension. */
export function markOf(tensor: object, dim: number): DimensionMark | undefined {
  return marks.get(tensor)?.get(dim);
}

/** The dimensions of a tensor that are to have any size. */
export function dimensionsMarked(tensor: object): readonly number[] {
  const known = marks.get(tensor);
  return known ? [...known].flatMap(([dim, { kind }]) => kind === "static" ? [] : [dim]) : [];
}

/**
 * Whether a version in which these dimensions are symbols, or were marked when it was compiled, does what is said of a
 * tensor now, as PyTorch's guards on dynamic indices.
 */
export function knowsMarks(tensor: object, dims: readonly number[]): boolean {
  if (!isAnyMarked) return true;
  const marked = dimensionsMarked(tensor);
  for (let i = 0; i < marked.length; i++) if (!dims.includes(marked[i] ?? -1)) return false;
  return true;
}
