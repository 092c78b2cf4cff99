/**
 * Divides parameters along a dimension over the ranks of a group. Invariants: the concatenated parts of all ranks are
 * the whole; a parameter that several layers share stays shared, or an error says that it cannot.
 */
import { DynError } from "../base/errors.ts";
import type { Module } from "../nn/module.ts";
import { Parameter } from "../nn/parameter.ts";
import { cat } from "../tensor/generated_functions.ts";
import { noGrad } from "../tensor/modes.ts";
import { broadcast } from "./collectives.ts";
import { notePart, partOf, recordShard } from "./divided.ts";
import { shardOf } from "./fully_shard.ts";
import { getGlobalRank, type ProcessGroup } from "./group.ts";

/** The dimension along which a parameter is divided, and the sizes of its consecutive groups there, if any. */
export interface Cut {
  readonly dim: number;
  readonly sizes?: readonly number[];
}

/** Throws DynError unless the ranks of a group divide a number. */
export function checkDivides(what: string, count: number, group: ProcessGroup): void {
  if (count % group.size === 0) return;
  throw new DynError(`Expected ${what} divisible by ${group.size} ranks but found ${count}`);
}

/** The division of one model. */
export class Division {
  /** Parts by their original parameter. */
  readonly #done = new Map<
    Parameter,
    { readonly part: Parameter; readonly cut: string; readonly path: string }
  >();

  constructor(readonly group: ProcessGroup) {}

  /** Copies whole parameters of a model from the group's first rank. */
  begin(model: Module): void {
    const { group } = this, src = getGlobalRank(group, 0);
    for (const each of [...model.parameters(), ...model.buffers()]) {
      if (!partOf(each) && !shardOf(each)) broadcast(each, src, { group });
    }
  }

  /** Returns the rank's part of a parameter. Throws DynError for sizes that are not divisible by the ranks. */
  part(parameter: Parameter, { dim, sizes = [parameter.size(dim)] }: Cut, path: string): Parameter {
    const { group } = this, cut = `${dim}: ${sizes}`, known = this.#done.get(parameter);
    if (known?.cut === cut) return known.part;
    if (known) throw new DynError(`Expected ${path} divided as ${known.path}, which shares its parameter`);
    if (partOf(parameter) || shardOf(parameter)) {
      throw new DynError(`Expected a whole parameter at ${path} but found a part`);
    }
    for (const size of sizes) checkDivides(`a size of ${path}`, size, group);
    const own = noGrad(() =>
      cat(
        parameter.detach().split([...sizes], dim).map((block) =>
          block.chunk(group.size, dim)[group.rank] ?? block
        ),
        dim,
      )
    );
    const part = new Parameter(own, parameter.requiresGrad);
    recordShard(part, parameter, group);
    notePart(part, { group, dim, sizes });
    this.#done.set(parameter, { part, cut, path });
    return part;
  }

  /** Throws DynError if a layer of the model still holds a parameter that was divided elsewhere. */
  end(model: Module): void {
    for (const [path, module] of model.namedModules()) {
      for (const [field, value] of Object.entries(module)) {
        const divided = value instanceof Parameter ? this.#done.get(value) : undefined;
        if (!divided) continue;
        throw new DynError(
          `Expected a plan that divides ${divided.path} and ${path}, which share a parameter, alike but found ${
            path === "" ? field : `${path}.${field}`
          } whole`,
        );
      }
    }
  }
}
