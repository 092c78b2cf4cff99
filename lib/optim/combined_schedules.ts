/** Schedules made of schedules: one after the other, or all at once. */
import { checkInstances, checkKind } from "../base/checked_input.ts";
import { type Arguments, argumentsOf } from "../base/arguments.ts";
import { DynError } from "../base/errors.ts";
import type { Optimizer } from "./optimizer.ts";
import { LRScheduler, type ScheduleState } from "./schedule.ts";

interface Schedules {
  readonly milestones: readonly number[];
  readonly schedulers: readonly LRScheduler[];
}

const SEQUENTIAL = { required: ["schedulers", "milestones"], positional: [] } as const;

/** A schedule made of others, whose states are part of its own. */
abstract class CombinedSchedule extends LRScheduler {
  /** The schedulers, in order. */
  abstract readonly schedulers: readonly LRScheduler[];

  override stateDict(): ScheduleState {
    return { ...super.stateDict(), schedulers: this.schedulers.map((each) => each.stateDict()) };
  }

  override loadStateDict(
    { schedulers = [], ...state }: ScheduleState & { schedulers?: readonly ScheduleState[] },
  ) {
    const { length } = this.schedulers;
    checkKind(schedulers, "a list", "schedulers of loadStateDict");
    if (schedulers.length > 0 && schedulers.length !== length) {
      throw new DynError(`Expected the states of ${length} schedulers but found ${schedulers.length}`);
    }
    schedulers.forEach((each, i) => this.schedulers[i]?.loadStateDict(each));
    super.loadStateDict(state);
  }
}

/** One schedule after the other: the next one from each milestone on. */
export class SequentialLR extends CombinedSchedule {
  /** The schedulers, in order. */
  readonly schedulers: readonly LRScheduler[];
  /** The steps at which it changes. */
  readonly milestones: readonly number[];

  /** Takes the optimizer, then PyTorch's arguments; trailing ones also by name. */
  constructor(optimizer: Optimizer, ...given: Arguments<Schedules, object, typeof SEQUENTIAL>) {
    super(optimizer);
    const { schedulers, milestones } = argumentsOf<Schedules, object>("SequentialLR", SEQUENTIAL, given);
    checkKind(milestones, "a list", "milestones of SequentialLR");
    sharedOptimizer(schedulers, optimizer);
    this.schedulers = schedulers;
    this.milestones = milestones;
    if (schedulers.length !== milestones.length + 1) {
      throw new DynError(
        `Expected one milestone fewer than schedulers but found ${milestones.length} for ${schedulers.length}`,
      );
    }
    this.apply();
  }

  /** The rate of a group after `epoch` steps, where `base` is the one that it began with. */
  override rateAt(epoch: number, base: number, group: number): number {
    const passed = this.milestones.filter((m) => m <= epoch).length, scheduler = this.schedulers[passed];
    if (!scheduler) throw new DynError("Expected a schedule for every part but found none");
    return scheduler.rateAt(epoch - (this.milestones[passed - 1] ?? 0), base, group);
  }
}

/** The optimizer that schedules share. Throws DynError for none, or for several. */
function sharedOptimizer(schedulers: readonly LRScheduler[], given: Optimizer | null): Optimizer {
  checkInstances(schedulers, LRScheduler, "a combined schedule");
  const optimizer = given ?? schedulers[0]?.optimizer;
  if (!optimizer) throw new DynError("Expected at least one schedule but found none");
  if (schedulers.some((each) => each.optimizer !== optimizer)) {
    throw new DynError("Expected schedules of one optimizer but found others");
  }
  return optimizer;
}

/**
 * Schedules that all act on the rate: its factors are multiplied, as torch.optim.lr_scheduler.ChainedScheduler. Throws
 * DynError for schedules that set the rate instead of scaling it, where PyTorch's result depends on the way there.
 */
export class ChainedScheduler extends CombinedSchedule {
  /** The schedules. */
  readonly schedulers: readonly LRScheduler[];

  /** Takes schedules, and their optimizer where there may be doubt. */
  constructor(schedulers: readonly LRScheduler[], optimizer: Optimizer | null = null) {
    super(sharedOptimizer(schedulers, optimizer));
    this.schedulers = schedulers;
    const other = schedulers.find((each) => !each.isFactor);
    if (other) throw new DynError(`Expected schedules that scale rates but found ${other.constructor.name}`);
    this.apply();
  }

  /** The rate of a group after `epoch` steps, where `base` is the one that it began with. */
  override rateAt(epoch: number, base: number, group: number): number {
    return this.schedulers.reduce((rate, each) => rate * each.rateAt(epoch, base, group) / base, base);
  }
}
