/**
 * Sequences of different lengths: the namespace `nn.utils.rnn`, like torch.nn.utils.rnn. They are packed by time step
 * for recurrent layers, and padded again.
 */
import { checkKind, checkOneOf, optionsOf, refuseSurplus, refuseValue } from "../../base/checked_input.ts";
import { checkedTensors, checkTensor } from "../../tensor/checked.ts";
import { DynError } from "../../base/errors.ts";
import { type Trailing, trailing } from "../../base/arguments.ts";
import { showAsText, withSettings } from "../../base/console_text.ts";
import { tensor } from "../../tensor/creation.ts";
import { cat, stack } from "../../tensor/generated_functions.ts";
import { isTensor, type Tensor } from "../../tensor/tensor.ts";

/** Sequences by time step: the first elements of all, then the second ones of those that have them, and so on. */
export class PackedSequence {
  /** Takes the elements, the number of sequences at each time step, and permutations of the batch. */
  constructor(
    /** [sum of lengths, ...] */
    readonly data: Tensor,
    /** Number of sequences at each time step, descending. */
    readonly batchSizes: readonly number[],
    /** The batch index of each sequence, in descending order of length; null if unchanged. */
    readonly sortedIndices: readonly number[] | null = null,
    /** New position of each sequence of the batch; null if unchanged. */
    readonly unsortedIndices: readonly number[] | null = null,
  ) {}

  /** Its parts, as PyTorch prints them. */
  toString(): string {
    return withSettings("PackedSequence", this);
  }
}

showAsText(PackedSequence.prototype);

/** The lengths as numbers, in the order of the batch. */
function numbersOf(lengths: Tensor | readonly number[]): number[] {
  if (isTensor(lengths)) return Array.from(lengths.toTypedArray(), Number);
  if (Array.isArray(lengths)) return [...lengths];
  refuseValue("lengths of sequences in a list or a tensor", lengths);
}

function inverseOf(order: readonly number[]): number[] {
  const inverse: number[] = new Array(order.length);
  order.forEach((from, to) => inverse[from] = to);
  return inverse;
}

/** Permutes a dimension. */
export function reordered(x: Tensor, order: readonly number[] | null, dim: number): Tensor {
  if (arguments.length > 3) refuseSurplus("reordered", 3, arguments);
  checkTensor(x, "reordered");
  if (order !== null) checkKind(order, "a list", "the order of rows");
  return order === null ? x : x.indexSelect(dim, tensor([...order], { dtype: "int64", device: x.device }));
}

/** Options of packing. */
export interface PackOptions {
  /** Whether the batch is the first dimension; default false. */
  readonly batchFirst?: boolean;
  /** Whether lengths must be in descending order; default true. */
  readonly enforceSorted?: boolean;
}

const PACK_PADDED_SEQUENCE = ["batchFirst", "enforceSorted"] as const;

/** Packs a padded batch [L, N, ...] ([N, L, ...] with batchFirst). Throws DynError for invalid lengths. */
export function packPaddedSequence(
  input: Tensor,
  lengths: Tensor | readonly number[],
  ...given: Trailing<PackOptions, typeof PACK_PADDED_SEQUENCE>
): PackedSequence {
  const { batchFirst = false, enforceSorted = true } = trailing<PackOptions>(
    "packPaddedSequence",
    { positional: PACK_PADDED_SEQUENCE, flags: { batchFirst: true, enforceSorted: true } },
    given,
  );
  checkTensor(input, "packPaddedSequence");
  const counts = numbersOf(lengths), x = batchFirst ? input.transpose(0, 1) : input;
  const [most = 0, batch = 0] = x.shape;
  if (counts.length !== batch || counts.some((length) => !(length >= 1 && length <= most))) {
    throw new DynError(`Expected ${batch} lengths in [1, ${most}] but found [${counts}]`);
  }
  const falls = counts.every((length, i) => i === 0 || length <= (counts[i - 1] ?? 0));
  if (enforceSorted && !falls) {
    throw new DynError(
      `Expected lengths in descending order, or enforceSorted: false, but found [${counts}]`,
    );
  }
  const order = enforceSorted
    ? null
    : counts.map((_, i) => i).sort((a, b) => (counts[b] ?? 0) - (counts[a] ?? 0) || a - b);
  const sorted = order ? order.map((i) => counts[i] ?? 0) : counts, rows = reordered(x, order, 1);
  const sizes = Array.from(
    { length: sorted[0] ?? 0 },
    (_, t) => sorted.filter((length) => length > t).length,
  );
  const parts = sizes.map((size, t) => rows.select(0, t).narrow(0, 0, size));
  return new PackedSequence(cat(parts, 0), sizes, order, order && inverseOf(order));
}

/** Options of padPackedSequence. */
export interface PadPackedOptions {
  /** Whether the batch is the first dimension; default false. */
  readonly batchFirst?: boolean;
  /** The padding value; default 0. */
  readonly paddingValue?: number;
  /** The length of the result; default: the maximum. */
  readonly totalLength?: number | null;
}

const PAD_PACKED_SEQUENCE = ["batchFirst", "paddingValue", "totalLength"] as const;

/** Pads a packed batch, and returns its lengths [N] too. Throws DynError for a totalLength that is too small. */
export function padPackedSequence(
  sequence: PackedSequence,
  ...given: Trailing<PadPackedOptions, typeof PAD_PACKED_SEQUENCE>
): [Tensor, Tensor] {
  const { batchFirst = false, paddingValue = 0, totalLength = null } = trailing<PadPackedOptions>(
    "padPackedSequence",
    { positional: PAD_PACKED_SEQUENCE, flags: { batchFirst: true } },
    given,
  );
  if (!(sequence instanceof PackedSequence)) {
    refuseValue("a PackedSequence to pad", sequence);
  }
  const { data, batchSizes, unsortedIndices } = sequence, [batch = 0] = batchSizes;
  const length = totalLength ?? batchSizes.length;
  if (length < batchSizes.length) {
    throw new DynError(`Expected a totalLength of at least ${batchSizes.length} but found ${length}`);
  }
  const rest = data.shape.slice(1), rows: Tensor[] = [];
  const padding = (count: number) => data.newFull([count, ...rest], paddingValue);
  let start = 0;
  for (let t = 0; t < length; t++) {
    const size = batchSizes[t] ?? 0, own = data.narrow(0, start, size);
    rows.push(size === batch ? own : size === 0 ? padding(batch) : cat([own, padding(batch - size)], 0));
    start += size;
  }
  const padded = reordered(stack(rows, 0), unsortedIndices, 1);
  const sorted = Array.from({ length: batch }, (_, i) => batchSizes.filter((size) => size > i).length);
  const lengths = unsortedIndices ? unsortedIndices.map((i) => sorted[i] ?? 0) : sorted;
  return [batchFirst ? padded.transpose(0, 1) : padded, tensor(lengths, { dtype: "int64", device: "cpu" })];
}

/** Options of padSequence. */
export interface PadOptions {
  /** Whether the batch is the first dimension; default false. */
  readonly batchFirst?: boolean;
  /** The padding value; default 0. */
  readonly paddingValue?: number;
  /** Side of the padding; default "right". */
  readonly paddingSide?: "left" | "right";
}

const PAD_SEQUENCE = ["batchFirst", "paddingValue", "paddingSide"] as const;

/**
 * Pads sequences [Lᵢ, ...] to a batch [max L, N, ...], or [N, max L, ...] with batchFirst; a tensor is a list of its
 * parts. Throws DynError if there are none.
 */
export function padSequence(
  several: readonly Tensor[] | Tensor,
  ...given: Trailing<PadOptions, typeof PAD_SEQUENCE>
): Tensor {
  const { batchFirst = false, paddingValue = 0, paddingSide = "right" } = trailing<PadOptions>(
    "padSequence",
    { positional: PAD_SEQUENCE, flags: { batchFirst: true } },
    given,
  );
  const sequences = isTensor(several) ? several.unbind() : several;
  checkKind(sequences, "a list", "padSequence");
  checkOneOf("paddingSide of padSequence", paddingSide, ["left", "right"]);
  checkedTensors(sequences, "padSequence");
  if (sequences.length === 0) throw new DynError("Expected at least one sequence but found none");
  const most = Math.max(...sequences.map((each) => each.shape[0] ?? 0));
  const padded = sequences.map((each) => {
    const [length = 0, ...rest] = each.shape, missing = most - length;
    if (missing === 0) return each;
    const padding = each.newFull([missing, ...rest], paddingValue);
    return cat(paddingSide === "right" ? [each, padding] : [padding, each], 0);
  });
  return stack(padded, batchFirst ? 0 : 1);
}

/** Splits a padded batch into sequences. Throws DynError for invalid lengths. */
export function unpadSequence(
  padded: Tensor,
  lengths: Tensor | readonly number[],
  options: Pick<PackOptions, "batchFirst"> = {},
): Tensor[] {
  if (arguments.length > 3) refuseSurplus("unpadSequence", 3, arguments);
  checkTensor(padded, "unpadSequence");
  const { batchFirst = false } = optionsOf("unpadSequence", options, ["batchFirst"]);
  const rows = batchFirst ? padded : padded.transpose(0, 1), given = numbersOf(lengths);
  if (given.length !== rows.shape[0]) {
    throw new DynError(`Expected ${rows.shape[0]} lengths but found [${given}]`);
  }
  return given.map((length, i) => rows.select(0, i).narrow(0, 0, length));
}

/**
 * Packs sequences [Lᵢ, ...]; a tensor is a list of its parts. Throws DynError for lengths that are not in descending
 * order, unless enforceSorted is false.
 */
export function packSequence(
  several: readonly Tensor[] | Tensor,
  options: Pick<PackOptions, "enforceSorted"> = {},
): PackedSequence {
  if (arguments.length > 2) refuseSurplus("packSequence", 2, arguments);
  const { enforceSorted = true } = optionsOf("packSequence", options, ["enforceSorted"]);
  const sequences = isTensor(several) ? several.unbind() : several;
  return packPaddedSequence(padSequence(sequences), sequences.map((each) => each.shape[0] ?? 0), {
    enforceSorted,
  });
}

/** Unpacks the sequences in the order of the batch, as `torch.nn.utils.rnn.unpack_sequence`. */
export function unpackSequence(packed: PackedSequence): Tensor[] {
  if (arguments.length > 1) refuseSurplus("unpackSequence", 1, arguments);
  const [padded, lengths] = padPackedSequence(packed, { batchFirst: true });
  return unpadSequence(padded, lengths, { batchFirst: true });
}

/** Returns the inverse of a permutation, or null for null, like `torch.nn.utils.rnn.invert_permutation`. */
export function invertPermutation(permutation: Tensor | null): Tensor | null {
  if (arguments.length > 1) refuseSurplus("invertPermutation", 1, arguments);
  if (permutation === null) return null;
  checkTensor(permutation, "invertPermutation");
  return permutation.argsort();
}
