/**
 * Tensor parallelism by a plan, like torch.distributed.tensor.parallel: each rank of a group computes a part of a
 * model's layers. Invariants: inputs of column-wise layers and outputs of row-wise ones are the same on all ranks; so
 * are their gradients, without division by the number of ranks, since all of them compute one loss.
 */
import { checkKind, optionsOf, refuseSurplus } from "../base/checked_input.ts";
import { DynError } from "../base/errors.ts";
import { MultiheadAttention } from "../nn/attention.ts";
import { Linear } from "../nn/linear.ts";
import { checkModule, type Module } from "../nn/module.ts";
import { Embedding } from "../nn/sparse.ts";
import { type AttentionStyle, divideAttention, divideMultihead } from "./attention_parts.ts";
import { joinedGroup } from "./collectives.ts";
import type { ProcessGroup } from "./group.ts";
import {
  divideColumns,
  divideEmbeddingColumns,
  divideEmbeddingRows,
  divideGathered,
  divideRows,
  keepOnParts,
  type Place,
} from "./linear_parts.ts";
import { Division } from "./parts.ts";

/**
 * The division of a layer. "colwise": each rank computes a part of the output features from the whole input. "rowwise":
 * each rank has a part of the input features (for an embedding: of its rows), and results are summed. "gathered":
 * "colwise", with the results concatenated on all ranks, as for the last layer of a model. "onParts": a layer between
 * column-wise and row-wise ones that works element by element; its parameters stay whole. "attention": each rank
 * computes some heads of an nn.MultiheadAttention; an object describes the heads of a hand-written one.
 */
export type ParallelStyle = "colwise" | "rowwise" | "gathered" | "onParts" | "attention" | AttentionStyle;

/** Styles by the paths of layers, in which `*` matches one name. */
export type ParallelPlan = Readonly<Record<string, ParallelStyle>>;

/** Settings of `parallelizeModule`. */
export interface ParallelOptions {
  /** The processes that divide the layers; default: all. */
  readonly group?: ProcessGroup | null;
}

const LINEAR = { colwise: divideColumns, rowwise: divideRows, gathered: divideGathered } as const;
const EMBEDDING = { colwise: divideEmbeddingColumns, rowwise: divideEmbeddingRows } as const;

function divide(layer: Module, style: ParallelStyle, place: Place): void {
  if (typeof style === "object") return divideAttention(layer, style, place);
  if (style === "onParts") return keepOnParts(layer, place);
  if (style === "attention") {
    if (layer instanceof MultiheadAttention) return divideMultihead(layer, place);
    throw new DynError(
      `Expected a MultiheadAttention at ${place.path} but found ${layer.constructor.name}; ` +
        "for others give { heads, output }",
    );
  }
  if (layer instanceof Linear) return LINEAR[style](layer, place);
  if (layer instanceof Embedding && style !== "gathered") return EMBEDDING[style](layer, place);
  const expected = style === "gathered" ? "a Linear" : "a Linear or an Embedding";
  throw new DynError(
    `Expected ${expected} at ${place.path} for "${style}" but found ${layer.constructor.name}`,
  );
}

/**
 * Divides layers of a model over the ranks, as torch.distributed.tensor.parallel.parallelize_module: `{
 * "blocks.*.attention": "attention", "blocks.*.first": "colwise", "blocks.*.second": "rowwise" }`. Between a
 * column-wise and a row-wise layer each rank has a part of the features; layers there must work element by element
 * ("onParts" if they have parameters). All ranks start from the parameters and buffers of the group's first. Parameters
 * and state dicts hold parts. Throws DynError for paths without a layer, other layers, sizes and numbers of heads that
 * are not divisible by the ranks, and parameters shared with layers that are divided differently.
 */
export function parallelizeModule<M extends Module>(
  module: M,
  plan: ParallelPlan,
  options: ParallelOptions = {},
): M {
  if (arguments.length > 3) refuseSurplus("parallelizeModule", 3, arguments);
  checkModule(module, "parallelizeModule");
  checkKind(plan, "an object", "the plan of parallelizeModule");
  const { group } = joinedGroup(optionsOf("parallelizeModule", options, ["group"]).group),
    division = new Division(group),
    all = module.namedModules();
  division.begin(module);
  for (const [pattern, style] of Object.entries(plan)) {
    const names = pattern.split(".");
    const fits = (path: string) => {
      const found = path.split(".");
      return found.length === names.length && names.every((name, k) => name === "*" || name === found[k]);
    };
    const layers = all.filter(([path]) => path !== "" && fits(path));
    if (layers.length === 0) throw new DynError(`Expected a layer at ${pattern} but found none`);
    for (const [path, layer] of layers) divide(layer, style, { division, path });
  }
  division.end(module);
  return module;
}
