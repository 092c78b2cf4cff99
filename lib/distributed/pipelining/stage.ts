/**
 * One stage of a pipeline: a part of a model on one rank. Invariant: a stage makes the passes of each micro-batch once,
 * and saves the tensors for the backward pass in between.
 */
import { optionsOf } from "../../base/checked_input.ts";
import { backward } from "../../autograd/engine.ts";
import { DynError } from "../../base/errors.ts";
import type { Module } from "../../nn/module.ts";
import { full, zerosLike } from "../../tensor/generated_functions.ts";
import { Tensor } from "../../tensor/tensor.ts";
import { joinedGroup } from "../collectives.ts";
import type { ProcessGroup } from "../group.ts";
import { Link } from "./links.ts";

/** Settings of a stage. */
export interface PipelineStageOptions {
  /** One process for each stage, in their order; default: all. */
  readonly group?: ProcessGroup | null;
  /** Device on which activations and gradients arrive; default: that of the stage's parameters, else "cpu". */
  readonly device?: string;
}

/** The output of a stage: one tensor or several. */
export type StageOutput = Tensor | readonly Tensor[];

/** A micro-batch between its forward and its backward pass. */
interface InFlight {
  readonly inputs: readonly Tensor[];
  /** Roots of the backward pass. */
  readonly roots: readonly Tensor[];
}

/** Returns the tensors of an output. Throws DynError for anything else. */
export function tensorsOf(output: unknown, what: string): readonly Tensor[] {
  const list: readonly unknown[] = Array.isArray(output) ? output : [output];
  return list.map((each) => {
    if (each instanceof Tensor) return each;
    throw new DynError(`Expected a tensor or an array of tensors from ${what} but found ${each}`);
  });
}

/** The work of a stage in one step; created by the schedules. */
export class StageRun {
  readonly #inFlight = new Map<number, InFlight>();
  readonly #before: Link | null;
  readonly #after: Link | null;

  constructor(private readonly stage: PipelineStage) {
    const { group, device, stageIndex } = stage;
    this.#before = stage.isFirst ? null : new Link(group, stageIndex - 1, device);
    this.#after = stage.isLast ? null : new Link(group, stageIndex + 1, device);
  }

  /**
   * Runs the stage on a micro-batch. `own`: that of the first stage. `rootOf` computes the loss from the last stage's
   * output; null if there is no backward pass.
   */
  forward(
    index: number,
    own: readonly Tensor[],
    rootOf: ((output: StageOutput) => Tensor) | null,
  ): StageOutput {
    const { stage } = this, inputs = this.#before?.receiveActivations() ?? own;
    const output: unknown = Reflect.apply(stage.submodule.call, stage.submodule, inputs);
    const outputs = tensorsOf(output, `stage ${stage.stageIndex}`), [only] = outputs;
    const found = outputs.length === 1 && only && !Array.isArray(output) ? only : outputs;
    this.#after?.sendActivations(outputs);
    if (rootOf) {
      const roots = stage.isLast ? [rootOf(found)] : outputs.filter(({ requiresGrad }) => requiresGrad);
      this.#inFlight.set(index, { inputs, roots });
    }
    return found;
  }

  /** Runs the backward pass of a micro-batch; `scale` is the gradient of the loss, in the last stage. */
  backward(index: number, scale: number): void {
    const entry = this.#inFlight.get(index);
    if (!entry) throw new DynError(`Expected a forward pass of micro-batch ${index} but found none`);
    this.#inFlight.delete(index);
    const { inputs, roots } = entry;
    const gradients = this.#after?.receiveGradients(roots) ??
      roots.map(({ shape, dtype, device }) => full(shape, scale, { dtype, device }));
    if (roots.length > 0) backward(roots, gradients);
    const asked = inputs.filter(({ requiresGrad }) => requiresGrad);
    this.#before?.sendGradients(asked.map((input) => input.grad ?? zerosLike(input)));
  }

  /** Waits until the neighbours have received everything. */
  finish(): void {
    this.#before?.finish();
    this.#after?.finish();
  }
}

/**
 * A part of a model that one rank runs as stage `stageIndex` of `numStages`, like
 * torch.distributed.pipelining.PipelineStage. Its module takes the output of the previous stage: one tensor or several.
 */
export class PipelineStage {
  /** One process for each stage. */
  readonly group: ProcessGroup;
  /** Device on which activations and gradients arrive. */
  readonly device: string;

  /** Throws DynError unless this process has that position in the group. */
  constructor(
    readonly submodule: Module,
    readonly stageIndex: number,
    readonly numStages: number,
    options: PipelineStageOptions = {},
  ) {
    const { group: given, device } = optionsOf("PipelineStage", options, ["group", "device"]);
    const { group } = joinedGroup(given);
    if (numStages !== group.size || stageIndex !== group.rank) {
      throw new DynError(
        `Expected stage ${group.rank} of ${group.size} on rank ${group.rank} of a group of ${group.size} ` +
          `but found stage ${stageIndex} of ${numStages}`,
      );
    }
    this.group = group;
    this.device = device ?? submodule.parameters()[0]?.device ?? "cpu";
  }

  /** Returns whether it receives the program's input. */
  get isFirst(): boolean {
    return this.stageIndex === 0;
  }

  /** Returns whether it returns the model's output. */
  get isLast(): boolean {
    return this.stageIndex === this.numStages - 1;
  }
}
