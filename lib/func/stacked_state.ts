/**
 * Stacks the parameters and buffers of several models of one class along a new first dimension, like
 * `torch.func.stack_module_state`: with `vmap` and `functionalCall` they run as one.
 */
import { checkInstances, refuseSurplus } from "../base/checked_input.ts";
import { DynError } from "../base/errors.ts";
import { Module } from "../nn/module.ts";
import { noGrad } from "../tensor/modes.ts";
import { stack } from "../tensor/generated_functions.ts";
import type { Tensor } from "../tensor/tensor.ts";
import type { NamedTensors } from "./functional_call.ts";

/**
 * Returns parameters, which are new leaves, and buffers of models. Throws DynError for an empty list, models of several
 * classes, and a mix of training and evaluation.
 */
export function stackModuleState(models: readonly Module[]): [params: NamedTensors, buffers: NamedTensors] {
  if (arguments.length > 1) refuseSurplus("stackModuleState", 1, arguments);
  checkInstances(models, Module, "stackModuleState");
  const [first] = models;
  if (!first) throw new DynError("Expected at least one model but found none");
  const other = models.find((each) => each.constructor !== first.constructor);
  if (other) {
    throw new DynError(
      `Expected models of one class but found ${first.constructor.name} and ${other.constructor.name}`,
    );
  }
  if (models.some((each) => each.training !== first.training)) {
    throw new DynError("Expected models that all train, or all evaluate, but found both");
  }
  const stacked = (of: (model: Module) => readonly (readonly [string, Tensor])[]) => {
    const maps = models.map((model) => new Map(of(model)));
    return of(first).map(([name, { requiresGrad }]) => {
      const all = maps.map((map) => {
        const found = map.get(name);
        if (found) return found;
        throw new DynError(`Expected ${name} in every model but found one without it`);
      });
      return [name, noGrad(() => stack(all).detach()).requiresGrad_(requiresGrad)] as const;
    });
  };
  return [
    Object.fromEntries(stacked((model) => model.namedParameters())),
    Object.fromEntries(stacked((model) => model.namedBuffers())),
  ];
}
