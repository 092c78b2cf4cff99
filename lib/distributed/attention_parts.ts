/**
 * Attention whose heads are divided over the processes of a group: each rank computes some heads of the layer.
 * Invariants: ranks have whole heads; queries stay with the keys and values that they attend to; inputs and outputs
 * are the same on all ranks, and so are their gradients.
 */
import { DynError } from "../base/errors.ts";
import type { AttentionCall, MultiheadAttention } from "../nn/attention.ts";
import { Linear } from "../nn/linear.ts";
import type { Module } from "../nn/module.ts";
import { Parameter } from "../nn/parameter.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { enterParts, leaveParts } from "./collective_ops.ts";
import type { ProcessGroup } from "./group.ts";
import { divideColumns, divideRows, enterOnCall, type Held, joinParts, type Place } from "./linear_parts.ts";
import { checkDivides } from "./parts.ts";

/** The projections of a hand-written attention, by head. Paths are relative to the module. */
export interface AttentionStyle {
  /**
   * Number of heads of each linear layer that is a projection: `{ q: 8, k: 2, v: 2 }`, or `{ qkv: [8, 2, 2] }` for
   * one layer with the features of queries, keys and values in sequence.
   */
  readonly heads: Readonly<Record<string, number | readonly number[]>>;
  /** The linear layer that takes the concatenated values of all heads. */
  readonly output: string;
  /** Fields of the module that count heads, or features of all heads: each becomes the rank's share. */
  readonly fields?: readonly string[];
  /**
   * Other parameters, or layers with some, that are used only on heads, like norms of queries and keys: their gradients
   * are summed.
   */
  readonly onHeads?: readonly string[];
  /** Other parameters, or layers with some, that are used before the projections or after the output. */
  readonly whole?: readonly string[];
}

function checkHeads(heads: number, { path, division: { group } }: Place): void {
  checkDivides(`a number of heads of ${path}`, heads, group);
}

/** Returns the rank's part of a mask per sequence and head; other masks apply to all heads. */
function ownMask(mask: Tensor | null | undefined, heads: number, group: ProcessGroup): Tensor | null {
  if (!mask || mask.ndim !== 3) return mask ?? null;
  const [rows = 0, length = 0, keys = 0] = mask.shape, own = heads / group.size;
  const byHead = mask.reshape([rows / heads, heads, length, keys]);
  return byHead.narrow(1, group.rank * own, own).reshape([rows / group.size, length, keys]);
}

/** Divides nn.MultiheadAttention. */
export function divideMultihead(layer: MultiheadAttention, place: Place): void {
  const { division, path } = place, { group } = division, { numHeads, embedDim } = layer;
  checkHeads(numHeads, place);
  const part = (field: string, parameter: Parameter | null, dim: number, blocks = 1) =>
    parameter &&
    division.part(parameter, { dim, sizes: Array<number>(blocks).fill(embedDim) }, `${path}.${field}`);
  layer.inProjWeight = part("inProjWeight", layer.inProjWeight, 0, 3);
  layer.qProjWeight = part("qProjWeight", layer.qProjWeight, 0);
  layer.kProjWeight = part("kProjWeight", layer.kProjWeight, 0);
  layer.vProjWeight = part("vProjWeight", layer.vProjWeight, 0);
  layer.inProjBias = part("inProjBias", layer.inProjBias, 0, 3);
  layer.biasK = part("biasK", layer.biasK, 2);
  layer.biasV = part("biasV", layer.biasV, 2);
  divideRows(layer.outProj, { division, path: `${path}.outProj` });
  const { attendTo } = layer;
  layer.attendTo = (query: Tensor, key: Tensor, value: Tensor, call: AttentionCall) => {
    const q = enterParts(query, group), k = key === query ? q : enterParts(key, group);
    const v = value === query ? q : value === key ? k : enterParts(value, group);
    const attnMask = ownMask(call.attnMask, numHeads, group);
    const [mixed, weights] = Reflect.apply(attendTo, layer, [q, k, v, { ...call, attnMask }]);
    if (!weights) return [mixed, null];
    const isMean = call.averageAttnWeights ?? true;
    return [
      mixed,
      isMean ? leaveParts(weights, group).div(group.size) : joinParts(weights, weights.ndim - 3, group),
    ];
  };
}

/** Returns the layer at a path below a module. */
function layerAt(module: Module, name: string, { path }: Place): Linear {
  const found = module.namedModules().find(([each]) => each === name)?.[1];
  if (found instanceof Linear) return found;
  throw new DynError(
    `Expected a Linear at ${path}.${name} but found ${found ? found.constructor.name : "nothing"}`,
  );
}

const isAt = (path: string, names: readonly string[]): boolean =>
  names.some((name) => path === name || path.startsWith(`${name}.`));

/** Returns the parameters that ranks use on their heads. Throws DynError for parameters in no list. */
function usedOnHeads(module: Module, style: AttentionStyle, { path }: Place): Held[] {
  const { heads, output, onHeads = [], whole = [] } = style, found: Held[] = [];
  for (const [below, owner] of module.namedModules()) {
    for (const [field, value] of Object.entries(owner)) {
      if (!(value instanceof Parameter)) continue;
      const name = below === "" ? field : `${below}.${field}`;
      if (isAt(name, onHeads)) found.push({ module: owner, field });
      else if (!isAt(name, [...Object.keys(heads), output, ...whole])) {
        throw new DynError(
          `Expected ${name} of ${path} in onHeads (used on heads) or in whole (used on all features) but found it in neither`,
        );
      }
    }
  }
  return found;
}

/** Divides fields of a module that count heads or their features. */
function divideFields(module: Module, fields: readonly string[], { path, division: { group } }: Place): void {
  for (const field of fields) {
    const count: unknown = Reflect.get(module, field);
    if (typeof count !== "number") {
      throw new DynError(`Expected a number at ${path}.${field} but found ${count}`);
    }
    checkDivides(`a number at ${path}.${field}`, count, group);
    Object.defineProperty(module, field, {
      value: count / group.size,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
}

/** Divides a module that computes queries, keys and values by linear layers. */
export function divideAttention(module: Module, style: AttentionStyle, place: Place): void {
  const { division, path } = place, { group } = division, held = usedOnHeads(module, style, place);
  for (const [name, given] of Object.entries(style.heads)) {
    const layer = layerAt(module, name, place), counts = typeof given === "number" ? [given] : given;
    const at = { division, path: `${path}.${name}` }, features = layer.weight.size(0);
    const all = counts.reduce((sum, count) => sum + count, 0);
    for (const count of counts) checkHeads(count, at);
    if (!(all > 0) || features % all !== 0) {
      throw new DynError(`Expected features of ${all} heads at ${at.path} but found ${features}`);
    }
    divideColumns(layer, at, counts.map((count) => count * features / all));
  }
  divideRows(layerAt(module, style.output, place), { division, path: `${path}.${style.output}` });
  divideFields(module, style.fields ?? [], place);
  enterOnCall(module, held, group);
}
