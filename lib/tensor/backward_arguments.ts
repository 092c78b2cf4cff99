/**
 * The arguments of `tensor.backward`: by position, or the trailing ones by name. Invariant: an option that does not
 * exist is an error.
 */
import { optionsOf } from "../base/checked_input.ts";
import type { BackwardOptions } from "./autograd_state.ts";

/** The arguments by name, as of `torch.Tensor.backward`. */
export interface NamedBackward<T> extends BackwardOptions {
  /** The gradient of this tensor; null for a tensor of one element. */
  readonly gradient?: T | null | undefined;
  /** The tensors whose gradients are accumulated; default: all leaves. */
  readonly inputs?: T | readonly T[] | null | undefined;
}

/** Arguments in any accepted form. */
export type BackwardArguments<T> = readonly [
  gradient?: T | null | NamedBackward<T>,
  retainGraph?: boolean | null | BackwardOptions,
  createGraph?: boolean | BackwardOptions,
];

const NAMES = ["gradient", "retainGraph", "createGraph", "inputs"] as const;

/** All arguments by name. Throws DynError for an unknown name. */
export function namedBackward<T extends object>(
  args: BackwardArguments<T>,
  isTensor: (value: object) => value is T,
): NamedBackward<T> {
  const isNamed = (value: unknown): value is NamedBackward<T> =>
    typeof value === "object" && value !== null && !isTensor(value);
  const named = args.find(isNamed) ?? {};
  optionsOf("backward", named, NAMES);
  const [gradient, retainGraph, createGraph] = args;
  return {
    gradient: isNamed(gradient) ? gradient.gradient : gradient ?? named.gradient,
    retainGraph: typeof retainGraph === "boolean" ? retainGraph : named.retainGraph,
    createGraph: typeof createGraph === "boolean" ? createGraph : named.createGraph,
    inputs: named.inputs,
  };
}
