/** Schedules composed of schedules: one after the other, or all at once. */
import { checkInstances, checkKind, refuseSurplus } from "../base/checked_input.ts";
import { type Arguments, argumentsOf } from "../base/arguments.ts";
import { DynError } from "../base/errors.ts";
import { namingNumbers } from "../base/json_numbers.ts";
import type { AnyOptimizer } from "./optimizer.ts";
import { LRScheduler, type ScheduleState } from "./schedule.ts";
import { scheduleState, type TorchScheduleState } from "./torch_state.ts";

interface Schedules {
  readonly milestones: readonly number[];
  readonly schedulers: readonly LRScheduler[];
}

const SEQUENTIAL = { required: ["schedulers", "milestones"], positional: [] } as const;

/** Returns the optimizer that schedules share. Throws DynError if there is none, or several. */
function sharedOptimizer(schedulers: readonly LRScheduler[], given: AnyOptimizer | null): AnyOptimizer {
  checkInstances(schedulers, LRScheduler, "a combined schedule");
  const optimizer = given ?? schedulers[0]?.optimizer;
  if (!optimizer) throw new DynError("Expected at least one schedule but found none");
  if (schedulers.some((each) => each.optimizer !== optimizer)) {
    throw new DynError("Expected schedules of one optimizer but found others");
  }
  return optimizer;
}

/** A schedule that delegates to other schedules, so that its rates depend on the previous steps. */
abstract class CombinedSchedule extends LRScheduler {
  /** The schedules, in order. */
  readonly schedulers: readonly LRScheduler[];

  constructor(optimizer: AnyOptimizer, schedulers: readonly LRScheduler[]) {
    super(optimizer);
    this.schedulers = schedulers;
  }

  /** Steps the schedules that are active. */
  protected abstract advance(): void;

  /** Advances by one epoch; call it after `optimizer.step()`. Throws DynError for an explicit epoch. */
  override step(epoch?: number | null): void {
    if (arguments.length > 1) refuseSurplus("step", 1, arguments);
    if (epoch !== undefined && epoch !== null) this.rateAt();
    this.lastEpoch++;
    this.advance();
    this.setRates((rate) => rate);
  }

  /** Restores the initial rates and starts again. */
  override restart(): void {
    this.setRates((_rate, base) => base);
    this.begin();
  }

  /** Throws DynError: rates depend on the previous steps. */
  override rateAt(): number {
    throw new DynError(`Expected steps of ${this.constructor.name} one by one but found the number of one`);
  }

  /** The rates after the last step. */
  override getLr(): number[] {
    return this.getLastLr();
  }

  /** The state, including those of its schedules. */
  override stateDict(): ScheduleState {
    if (arguments.length > 0) refuseSurplus("stateDict", 0, arguments);
    return namingNumbers({
      ...super.stateDict(),
      // Each has its own last rates; those of the groups are of the schedule that is active
      schedulers: this.schedulers.map((each) => ({ ...each.stateDict(), lastLr: each.getLastLr() })),
    });
  }

  /** Restores a state. Throws DynError if it does not match. */
  override loadStateDict(given: ScheduleState | TorchScheduleState): void {
    if (arguments.length > 1) refuseSurplus("loadStateDict", 1, arguments);
    const { schedulers: states = [], ...own } = scheduleState(given, this.stateDict()) ?? {};
    checkKind(states, "a list", "schedulers of loadStateDict");
    if (states.length !== this.schedulers.length) {
      throw new DynError(
        `Expected the states of ${this.schedulers.length} schedulers but found ${states.length}`,
      );
    }
    states.forEach((each, i) => this.schedulers[i]?.loadStateDict(each));
    super.loadStateDict(own);
  }
}

/** Sequential schedules: the next one starts at each milestone. */
export class SequentialLR extends CombinedSchedule {
  /** The steps at which it changes. */
  readonly milestones: readonly number[];

  /** Takes the optimizer, then PyTorch's arguments; trailing ones also by name. */
  constructor(optimizer: AnyOptimizer, ...given: Arguments<Schedules, object, typeof SEQUENTIAL>) {
    const { schedulers, milestones } = argumentsOf<Schedules, object>("SequentialLR", SEQUENTIAL, given);
    super(optimizer, schedulers);
    checkKind(milestones, "a list", "milestones of SequentialLR");
    sharedOptimizer(schedulers, optimizer);
    this.milestones = milestones;
    if (schedulers.length !== milestones.length + 1) {
      throw new DynError(
        `Expected one milestone fewer than schedulers but found ${milestones.length} for ${schedulers.length}`,
      );
    }
    this.restart();
  }

  private current(): LRScheduler | undefined {
    return this.schedulers[this.milestones.filter((m) => m <= this.lastEpoch).length];
  }

  /** Sets the initial rates. */
  override begin(): void {
    this.lastEpoch = 0;
    this.current()?.begin();
    this.setRates((rate) => rate);
  }

  protected override advance(): void {
    if (this.milestones.includes(this.lastEpoch)) this.current()?.restart();
    else this.current()?.step();
  }
}

/** Schedules that are all applied at each step, as torch.optim.lr_scheduler.ChainedScheduler. */
export class ChainedScheduler extends CombinedSchedule {
  /** Takes schedules, and their optimizer if it is ambiguous. */
  constructor(schedulers: readonly LRScheduler[], optimizer: AnyOptimizer | null = null) {
    super(sharedOptimizer(schedulers, optimizer), schedulers);
  }

  /** Sets the initial rates. */
  override begin(): void {
    this.lastEpoch = 0;
    for (const each of this.schedulers) each.begin();
    this.setRates((rate) => rate);
  }

  protected override advance(): void {
    for (const each of this.schedulers) each.step();
  }
}
