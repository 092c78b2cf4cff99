/**
 * Layers whose matrices are divided over the processes of a group, by a plan, as torch.distributed.tensor.parallel. Input: a
 * model and how layers are divided; output: the same model, of which each rank computes a part. Invariants: what goes into a
 * layer by columns and comes out of one by rows is the same on all ranks; so are its gradients, without division by the
 * number of ranks, since all of them compute one loss.
 */
import { DynError } from "../base/errors.ts";
import { Linear } from "../nn/linear.ts";
import type { Module } from "../nn/module.ts";
import { Parameter } from "../nn/parameter.ts";
import { Embedding } from "../nn/sparse.ts";
import { embedding, linear } from "../tensor/generated_functions.ts";
import { noGrad } from "../tensor/modes.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { broadcast, joinedGroup } from "./collectives.ts";
import { enterParts, leaveParts } from "./functional.ts";
import { getGlobalRank, type ProcessGroup } from "./group.ts";

/**
 * How a layer is divided. "colwise": each rank computes a part of the features that come out, the same input going into
 * all. "rowwise": each rank has a part of the features that go in (of an embedding: of its rows), and results are added up.
 */
export type ParallelStyle = "colwise" | "rowwise";

/** Styles by the paths of layers, in which `*` stands for one name. */
export type ParallelPlan = Readonly<Record<string, ParallelStyle>>;

/** Settings of `parallelizeModule`. */
export interface ParallelOptions {
  /** The processes that share the layers; all unless given. */
  readonly group?: ProcessGroup | null;
}

/** The rank's part of a parameter along a dimension. Its elements become those of the group's first rank. */
function partOf(parameter: Parameter, dim: number | null, { group, path }: Divided): Parameter {
  broadcast(parameter, getGlobalRank(group, 0), { group });
  if (dim === null) return parameter;
  const whole = parameter.size(dim), size = whole / group.size;
  if (!Number.isInteger(size)) {
    throw new DynError(`Expected a size of ${path} that ${group.size} ranks divide but found ${whole}`);
  }
  const part = noGrad(() => parameter.detach().narrow(dim, group.rank * size, size).clone());
  return new Parameter(part, parameter.requiresGrad);
}

/** A layer's place. */
interface Divided {
  readonly group: ProcessGroup;
  readonly path: string;
}

function divideLinear(layer: Linear, style: ParallelStyle, place: Divided): (x: Tensor) => Tensor {
  const isColumns = style === "colwise", { group } = place;
  layer.weight = partOf(layer.weight, isColumns ? 0 : 1, place);
  if (layer.bias) layer.bias = partOf(layer.bias, isColumns ? 0 : null, place);
  if (isColumns) return (x) => linear(enterParts(x, group), layer.weight, layer.bias);
  return (x) => {
    const sum = leaveParts(linear(x, layer.weight), group);
    return layer.bias ? sum.add(layer.bias) : sum;
  };
}

function divideEmbedding(layer: Embedding, style: ParallelStyle, place: Divided): (x: Tensor) => Tensor {
  const { group, path } = place;
  const { paddingIdx, maxNorm, scaleGradByFreq } = layer;
  if (paddingIdx !== null || maxNorm !== null || scaleGradByFreq) {
    throw new DynError(`Expected an embedding without paddingIdx, maxNorm and scaleGradByFreq at ${path}`);
  }
  layer.weight = partOf(layer.weight, style === "colwise" ? 1 : 0, place);
  if (style === "colwise") return (x) => embedding(x, layer.weight);
  const rows = layer.weight.size(0), first = group.rank * rows;
  return (x) => {
    const own = x.sub(first), isHere = own.ge(0).logicalAnd(own.lt(rows));
    const found = embedding(own.mul(isHere), layer.weight);
    return leaveParts(found.mul(isHere.unsqueeze(-1)), group);
  };
}

function divide(layer: Module, style: ParallelStyle, place: Divided): void {
  const forward = layer instanceof Linear
    ? divideLinear(layer, style, place)
    : layer instanceof Embedding
    ? divideEmbedding(layer, style, place)
    : null;
  if (!forward) {
    throw new DynError(
      `Expected a Linear or an Embedding at ${place.path} but found ${layer.constructor.name}`,
    );
  }
  Object.defineProperty(layer, "forward", { value: forward, configurable: true, writable: true });
}

/**
 * Divides the linear layers and embeddings of a model over the ranks, as
 * torch.distributed.tensor.parallel.parallelize_module: `{ "blocks.*.first": "colwise", "blocks.*.second": "rowwise" }`.
 * What comes out of a layer by columns is a part of the features, for layers that treat every feature by itself and then
 * for one by rows. Parameters and state dicts hold parts. Throws DynError for paths without a layer, other layers, and sizes
 * that the ranks do not divide.
 */
export function parallelizeModule<M extends Module>(
  module: M,
  plan: ParallelPlan,
  { group: given }: ParallelOptions = {},
): M {
  const { group } = joinedGroup(given), all = module.namedModules();
  for (const [pattern, style] of Object.entries(plan)) {
    const names = pattern.split(".");
    const fits = (path: string) => {
      const found = path.split(".");
      return found.length === names.length && names.every((name, k) => name === "*" || name === found[k]);
    };
    const layers = all.filter(([path]) => path !== "" && fits(path));
    if (layers.length === 0) throw new DynError(`Expected a layer at ${pattern} but found none`);
    for (const [path, layer] of layers) divide(layer, style, { group, path });
  }
  return module;
}
