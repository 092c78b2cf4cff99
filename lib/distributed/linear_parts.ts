/**
 * Linear layers and embeddings of which each rank of a group computes a part, and the layers between them. Invariant:
 * inputs of column-wise layers and outputs of row-wise ones are the same on all ranks; so are the gradients of
 * parameters that all ranks have.
 */
import { DynError } from "../base/errors.ts";
import type { Linear } from "../nn/linear.ts";
import type { Module } from "../nn/module.ts";
import { Parameter } from "../nn/parameter.ts";
import type { Embedding } from "../nn/sparse.ts";
import { cat, embedding, linear } from "../tensor/generated_functions.ts";
import { Tensor } from "../tensor/tensor.ts";
import { enterParts, gatherShards, leaveParts } from "./collective_ops.ts";
import type { ProcessGroup } from "./group.ts";
import type { Division } from "./parts.ts";

/** A layer's place in a divided model. */
export interface Place {
  readonly division: Division;
  readonly path: string;
}

/** Concatenates the parts of all ranks along a dimension, on all ranks; the gradient is equal on all of them. */
export function joinParts(part: Tensor, dim: number, group: ProcessGroup): Tensor {
  const all = gatherShards(part, group);
  return dim === 0 ? all : cat(all.split(part.size(0), 0), dim);
}

function replaceForward(layer: Module, forward: (x: Tensor) => Tensor): void {
  Object.defineProperty(layer, "forward", { value: forward, configurable: true, writable: true });
}

/** Reduces a layer to a rank's part of the output features; with `sizes`, to its part of each of these consecutive groups. */
export function divideColumns(layer: Linear, { division, path }: Place, sizes?: readonly number[]): void {
  const { group } = division, cut = sizes ? { dim: 0, sizes } : { dim: 0 };
  layer.weight = division.part(layer.weight, cut, `${path}.weight`);
  if (layer.bias) layer.bias = division.part(layer.bias, cut, `${path}.bias`);
  replaceForward(layer, (x) => linear(enterParts(x, group), layer.weight, layer.bias));
}

/** Reduces a layer to a rank's part of the output features, which are concatenated on all ranks. */
export function divideGathered(layer: Linear, place: Place): void {
  divideColumns(layer, place);
  const { division: { group } } = place;
  replaceForward(
    layer,
    (x) => joinParts(linear(enterParts(x, group), layer.weight, layer.bias), x.ndim - 1, group),
  );
}

/** Reduces a layer to a rank's part of the input features. */
export function divideRows(layer: Linear, { division, path }: Place): void {
  const { group } = division;
  layer.weight = division.part(layer.weight, { dim: 1 }, `${path}.weight`);
  replaceForward(layer, (x) => {
    const sum = leaveParts(linear(x, layer.weight), group);
    return layer.bias ? sum.add(layer.bias) : sum;
  });
}

function checkPlain({ paddingIdx, maxNorm, scaleGradByFreq }: Embedding, path: string): void {
  if (paddingIdx === null && maxNorm === null && !scaleGradByFreq) return;
  throw new DynError(`Expected an embedding without paddingIdx, maxNorm and scaleGradByFreq at ${path}`);
}

/** Reduces an embedding to a rank's part of the features of all rows. */
export function divideEmbeddingColumns(layer: Embedding, { division, path }: Place): void {
  checkPlain(layer, path);
  layer.weight = division.part(layer.weight, { dim: 1 }, `${path}.weight`);
  replaceForward(layer, (x) => embedding(x, layer.weight));
}

/** Reduces an embedding to a rank's part of the rows; those of others count as zeros, and results are summed. */
export function divideEmbeddingRows(layer: Embedding, { division, path }: Place): void {
  checkPlain(layer, path);
  const { group } = division;
  layer.weight = division.part(layer.weight, { dim: 0 }, `${path}.weight`);
  const rows = layer.weight.size(0), first = group.rank * rows;
  replaceForward(layer, (x) => {
    const own = x.sub(first), isHere = own.ge(0).logicalAnd(own.lt(rows));
    const found = embedding(own.mul(isHere), layer.weight);
    return leaveParts(found.mul(isHere.unsqueeze(-1)), group);
  });
}

/** The position of a parameter. */
export interface Held {
  readonly module: Module;
  readonly field: string;
}

/** Sums the gradients of whole parameters that a module uses on parts. */
export function enterOnCall(module: Module, held: readonly Held[], group: ProcessGroup): void {
  const { forward } = module;
  Object.defineProperty(module, "forward", {
    value: (...args: readonly unknown[]) => {
      const parameters = held.map(({ module, field }): unknown => Reflect.get(module, field));
      held.forEach(({ module, field }, k) => {
        const parameter = parameters[k];
        // In a sharded module these are gathered tensors
        if (parameter instanceof Tensor) Reflect.set(module, field, enterParts(parameter, group));
      });
      try {
        return Reflect.apply(forward, module, args);
      } finally {
        held.forEach(({ module, field }, k) => void Reflect.set(module, field, parameters[k]));
      }
    },
    configurable: true,
    writable: true,
  });
}

/** Keeps the parameters of a layer between columns and rows whole. */
export function keepOnParts(layer: Module, { division: { group } }: Place): void {
  const held = layer.modules().flatMap((module) =>
    Object.entries(module).flatMap(([field, value]) => value instanceof Parameter ? [{ module, field }] : [])
  );
  enterOnCall(layer, held, group);
}
