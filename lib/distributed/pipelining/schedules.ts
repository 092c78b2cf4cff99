/**
 * Steps of a pipeline: batches are split into micro-batches, so that stages work concurrently. The first stage receives
 * the batch, the last one the targets; outputs and losses are returned there. Invariant: gradients are those of the
 * mean of the micro-batches' losses, which is the loss of the whole batch if that is a mean over it.
 */
import { checkInteger } from "../../base/checked_numbers.ts";
import { DynError } from "../../base/errors.ts";
import { type Trailing, trailing } from "../../base/arguments.ts";
import { cat } from "../../tensor/generated_functions.ts";
import { noGrad } from "../../tensor/modes.ts";
import { Tensor } from "../../tensor/tensor.ts";
import { DistributedError } from "../errors.ts";
import { meet } from "../group.ts";
import { gpipe, oneForwardOneBackward, type Order } from "./orders.ts";
import { type PipelineStage, type StageOutput, StageRun, tensorsOf } from "./stage.ts";

/** The loss of a micro-batch: a tensor without dimensions. */
export type PipelineLoss = (output: Tensor, target: Tensor) => Tensor;

/** Settings of a schedule, the same on all ranks. */
export interface ScheduleOptions {
  /** Loss of the last stage's output; without it steps make only forward passes. Must be given on all ranks. */
  readonly lossFn?: PipelineLoss | null;
  /** Whether gradients are those of the mean of the losses rather than of their sum; default true. */
  readonly scaleGrads?: boolean;
}

/** Options of a step besides the batch of the first stage. */
export interface StepOptions {
  /** Target of the last stage's output. */
  readonly target?: Tensor;
  /** A list that receives the losses of the micro-batches, replacing its contents, on the last stage. */
  readonly losses?: Tensor[];
}

/** The batch of the first stage, followed by options. */
export type StepArguments = readonly (Tensor | StepOptions)[];

interface Step {
  readonly batch: readonly Tensor[];
  readonly options: StepOptions;
}

function stepOf(given: StepArguments): Step {
  const batch = given.filter((each) => each instanceof Tensor), rest = given.slice(batch.length);
  const [options = {}] = rest;
  if (rest.length > 1 || options instanceof Tensor) {
    throw new DynError(
      "Expected tensors and then { target, losses } but found options before the last argument",
    );
  }
  return { batch, options };
}

/** A pipeline's schedule; create a `ScheduleGPipe` or a `Schedule1F1B`. */
abstract class Schedule {
  readonly #lossFn: PipelineLoss | null;
  readonly #scaleGrads: boolean;

  /** Throws DynError for invalid numbers of micro-batches. */
  constructor(
    private readonly stage: PipelineStage,
    private readonly nMicrobatches: number,
    ...given: Trailing<ScheduleOptions, ["lossFn", "scaleGrads"]>
  ) {
    const { lossFn, scaleGrads } = trailing<ScheduleOptions>("schedules", {
      positional: ["lossFn", "scaleGrads"],
      flags: { scaleGrads: true },
    }, given);
    this.#lossFn = lossFn ?? null;
    this.#scaleGrads = scaleGrads ?? true;
    checkInteger("the number of micro-batches", nMicrobatches, 1);
  }

  /** @internal */
  protected abstract readonly order: Order;

  /**
   * Runs the forward pass of all micro-batches and, with a loss, their backward passes. The first stage passes the
   * batch, whose first size must be a multiple of the number of micro-batches, the last stage `{ target, losses }`.
   * Returns the outputs concatenated along the first dimension on the last stage, null on others. Gradients are
   * accumulated. Throws DynError for batches that cannot be split, DistributedError if stages make different calls or
   * time out.
   */
  step(...given: StepArguments): StageOutput | null {
    return this.#run(given, this.#lossFn !== null);
  }

  /** Like `step` without backward passes; computes losses if there are targets. */
  eval(...given: StepArguments): StageOutput | null {
    return noGrad(() => this.#run(given, false));
  }

  #run(given: StepArguments, goesBack: boolean): StageOutput | null {
    const { stage, nMicrobatches: n } = this, { batch, options } = stepOf(given);
    const batches = this.#chunks(batch, options, goesBack),
      losses: Tensor[] = [],
      outputs: StageOutput[] = [];
    meet(
      stage.group,
      `${goesBack ? "a step" : "a forward pass"} of ${this.constructor.name} with ${n} micro-batches`,
    );
    const run = new StageRun(stage), scale = this.#scaleGrads ? 1 / n : 1;
    const lossOf = (index: number) => (output: StageOutput) => {
      const loss = this.#loss(output, batches.targets[index]);
      losses.push(loss.detach());
      return loss;
    };
    for (const { kind, index } of this.order(stage, n)) {
      this.#at(`the ${kind} pass of micro-batch ${index}`, () => {
        if (kind === "backward") return goesBack ? run.backward(index, scale) : undefined;
        const output = run.forward(index, batches.inputs[index] ?? [], goesBack ? lossOf(index) : null);
        if (!stage.isLast) return;
        if (!goesBack && this.#lossFn && options.target) lossOf(index)(output);
        outputs.push(output);
      });
    }
    this.#at("what it has sent", () => run.finish());
    options.losses?.splice(0, Infinity, ...losses);
    return stage.isLast ? joined(outputs) : null;
  }

  /** Splits the arguments into micro-batches. */
  #chunks(batch: readonly Tensor[], { target, losses }: StepOptions, goesBack: boolean) {
    const { stage, nMicrobatches: n } = this, where = `stage ${stage.stageIndex} of ${stage.numStages}`;
    if (stage.isFirst !== batch.length > 0) {
      throw new DynError(
        `Expected ${stage.isFirst ? "a batch" : "no batch"} on ${where} but found ${batch.length} tensors`,
      );
    }
    if (!stage.isLast && (target || losses)) {
      throw new DynError(`Expected target and losses on the last stage alone but found them on ${where}`);
    }
    if (stage.isLast && goesBack && !target) {
      throw new DynError(`Expected a target on ${where}, which has the loss, but found none`);
    }
    const parts = (whole: Tensor): Tensor[] => {
      if (whole.ndim > 0 && whole.size(0) > 0 && whole.size(0) % n === 0) return whole.chunk(n, 0);
      throw new DynError(
        `Expected a batch divisible into ${n} micro-batches but found [${whole.shape.join(", ")}]`,
      );
    };
    const columns = batch.map(parts);
    return {
      inputs: Array.from({ length: n }, (_, k) => columns.flatMap((column) => column[k] ?? [])),
      targets: target ? parts(target) : [],
    };
  }

  #loss(output: StageOutput, target: Tensor | undefined): Tensor {
    if (!this.#lossFn || !target) throw new DynError("Expected a target on the last stage but found none");
    if (!(output instanceof Tensor)) {
      throw new DynError("Expected one output of the last stage but found several");
    }
    const loss = this.#lossFn(output, target);
    if (loss.ndim === 0) return loss;
    throw new DynError(`Expected a loss without dimensions but found [${loss.shape.join(", ")}]`);
  }

  /** Adds what the stage was doing to errors of messages. */
  #at(what: string, body: () => void): void {
    try {
      body();
    } catch (thrown) {
      if (!(thrown instanceof DistributedError)) throw thrown;
      const { stageIndex, numStages } = this.stage;
      throw new DistributedError(`Stage ${stageIndex} of ${numStages}, ${what}: ${thrown.message}`, {
        cause: thrown,
      });
    }
  }
}

/** Concatenates outputs of micro-batches. */
function joined(outputs: readonly StageOutput[]): StageOutput {
  const lists = outputs.map((output) => tensorsOf(output, "the last stage")), [first = []] = lists;
  const all = noGrad(() => first.map((_, k) => cat(lists.flatMap((list) => list[k]?.detach() ?? []), 0)));
  const [only] = all;
  return outputs[0] instanceof Tensor && only ? only : all;
}

/**
 * All forward passes and then all backward passes, like torch.distributed.pipelining.ScheduleGPipe (Huang et al. 2019).
 * Arguments: the stage, the number of micro-batches, then the loss and other settings.
 */
export class ScheduleGPipe extends Schedule {
  /** @internal */
  protected override readonly order = gpipe;
}

/**
 * Alternates forward and backward passes, like torch.distributed.pipelining.Schedule1F1B (Narayanan et al. 2019): a
 * stage keeps the activations of only as many micro-batches as there are stages from it on. Arguments as for
 * ScheduleGPipe.
 */
export class Schedule1F1B extends Schedule {
  /** @internal */
  protected override readonly order = oneForwardOneBackward;
}
