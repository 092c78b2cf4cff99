/**
 * `rearrange`: axes of a tensor in another order, split and merged, by a pattern of their names. Invariant: sizes are
 * never computed, so that those of compiled functions may change between calls; the ops infer them.
 */
import { checkKind, isIterable, refuseSurplus, refuseValue } from "../base/checked_input.ts";
import { DynError } from "../base/errors.ts";
import { stack } from "../tensor/generated_functions.ts";
import { isTensor, type Tensor } from "../tensor/tensor.ts";

/** One dimension of a tensor as the axes that it consists of, the last varying fastest; none: a dimension of size 1. */
type Group = readonly string[];

/** The whole dimensions that a pattern does not name. */
const OTHERS = "...";

/** The same outside of parentheses, within which they are one dimension. */
const APART: Group = [OTHERS];

/**
 * The elements of a tensor with other axes, as `torch.func.rearrange` and einops: `rearrange(images, "b (h p) (w q) c -> b
 * (h w) (p q c)", { p: 16, q: 16 })`. Both sides of the pattern name the same axes; parentheses stand for one dimension of
 * several axes, of which all but one have a length; "1" and "()" are dimensions of size 1, and "..." are all others. A list
 * of tensors is stacked along a new first dimension. Throws DynError if the pattern, the lengths and the shape do not fit.
 */
export function rearrange(
  tensor: Tensor | readonly Tensor[],
  pattern: string,
  axesLengths: Readonly<Record<string, number>> = {},
): Tensor {
  if (arguments.length > 3) refuseSurplus("rearrange", 3, arguments);
  const x = isTensor(tensor) ? tensor : stack(listOf(tensor));
  if (typeof pattern !== "string") return refuseValue("text as the pattern of rearrange", pattern);
  checkKind(axesLengths, "an object", "the lengths of rearrange");
  const [from, to, ...more] = pattern.split("->");
  if (from === undefined || to === undefined || more.length > 0) {
    return refuseValue("a pattern of rearrange with one ->", pattern);
  }
  const left = groupsOf(from), right = groupsOf(to), names = left.flat();
  checkAxes(names, right.flat(), axesLengths);
  if (left.some((group) => group !== APART && group.includes(OTHERS))) {
    return refuseValue('"..." outside of parentheses before -> in rearrange', pattern);
  }
  const others = x.ndim - left.filter((group) => group !== APART).length;
  if (others < 0 || (others > 0 && !names.includes(OTHERS))) {
    throw new DynError(
      `Expected ${left.length} dimensions for ${from.trim()} of rearrange but found ${x.ndim}`,
    );
  }
  const dims = withOthers(left, others), merged = withOthers(right, others);
  const split = splitAxes(x, dims, axesLengths), axes = dims.flat(), order = merged.flat();
  const moved = order.length > 0 ? split.permute(order.map((axis) => axes.indexOf(axis))) : split;
  return mergeAxes(moved, merged);
}

/** Dimensions with names for the `count` ones that the pattern does not name. */
function withOthers(groups: readonly Group[], count: number): readonly Group[] {
  const others = Array.from({ length: count }, (_, at) => `${OTHERS}${at}`);
  return groups.flatMap((group) =>
    group === APART
      ? others.map((axis) => [axis])
      : [group.flatMap((axis) => axis === OTHERS ? others : [axis])]
  );
}

function listOf(value: unknown): readonly Tensor[] {
  const list: readonly unknown[] = isIterable(value) && typeof value !== "string" ? [...value] : [];
  return list.length > 0 && list.every(isTensor)
    ? list
    : refuseValue("a tensor or a list of tensors for rearrange", value);
}

/** The dimensions of one side of a pattern. */
function groupsOf(side: string): readonly Group[] {
  const words = side.replaceAll("(", " ( ").replaceAll(")", " ) ").split(" ").filter((word) => word !== "");
  const groups: Group[] = [];
  let open: string[] | null = null;
  for (const word of words) {
    if (word === "(") {
      if (open) return refusePairs(side);
      open = [];
    } else if (word === ")") {
      if (!open) return refusePairs(side);
      groups.push(open);
      open = null;
    } else {
      const axes = word === "1" ? [] : [checkedName(word)];
      if (open) open.push(...axes);
      else groups.push(word === OTHERS ? APART : axes);
    }
  }
  return open ? refusePairs(side) : groups;
}

const refusePairs = (side: string): never =>
  refuseValue("parentheses of rearrange in pairs, none inside of others", side);

function checkedName(word: string): string {
  return word === OTHERS || /^[A-Za-z_]\w*$/.test(word)
    ? word
    : refuseValue('names of axes, 1 or "..." in the pattern of rearrange', word);
}

/** Throws DynError unless both sides name the same axes, each once, and all that have lengths. */
function checkAxes(left: Group, right: Group, lengths: Readonly<Record<string, number>>): void {
  for (const side of [left, right]) {
    const twice = side.find((axis, at) => side.indexOf(axis) !== at);
    if (twice !== undefined) {
      throw new DynError(`Expected each axis of rearrange once a side but found ${twice} twice`);
    }
  }
  const single = [
    ...left.filter((axis) => !right.includes(axis)),
    ...right.filter((axis) => !left.includes(axis)),
  ];
  if (single.length > 0) {
    throw new DynError(
      `Expected the axes of rearrange on both sides of -> but found ${single.join(", ")} on one`,
    );
  }
  for (const [axis, length] of Object.entries(lengths)) {
    if (!left.includes(axis) || axis === OTHERS) {
      throw new DynError(`Expected lengths of axes in the pattern of rearrange but found ${axis}`);
    }
    if (!Number.isInteger(length) || length < 1) {
      refuseValue(`a positive integer for ${axis} of rearrange`, length);
    }
  }
}

/** The tensor with a dimension for each axis. */
function splitAxes(x: Tensor, dims: readonly Group[], lengths: Readonly<Record<string, number>>): Tensor {
  let split = x;
  for (const [dim, group] of [...dims.entries()].reverse()) {
    const sizes = group.map((axis) => lengths[axis] ?? -1), size = x.size(dim), [only] = sizes;
    if (group.length === 0) {
      if (size !== 1) {
        throw new DynError(`Expected a dimension of size 1 at ${dim} for rearrange but found ${size}`);
      }
      split = split.squeeze(dim);
    } else if (group.length > 1) {
      const open = group.filter((axis) => lengths[axis] === undefined);
      if (open.length > 1) {
        throw new DynError(
          `Expected a length for all but one of ${group.join(", ")} of rearrange but found none for ${
            open.join(", ")
          }`,
        );
      }
      split = split.unflatten(dim, sizes);
    } else if (only !== undefined && only !== -1 && only !== size) {
      throw new DynError(`Expected ${group[0]} of rearrange to have length ${only} but found ${size}`);
    }
  }
  return split;
}

/** The tensor with the axes of each group as one dimension. */
function mergeAxes(x: Tensor, groups: readonly Group[]): Tensor {
  let merged = x, end = x.ndim;
  for (const group of [...groups].reverse()) {
    const start = end - group.length;
    if (group.length === 0) merged = merged.unsqueeze(start);
    else if (group.length > 1) merged = merged.flatten(start, end - 1);
    end = start;
  }
  return merged;
}
