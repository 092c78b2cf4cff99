/**
 * Collects events and memory samples while a program runs. Invariant: the program behaves as without the profile, and
 * the events collected are complete at any time; only kernels on devices with a queue are serialised, since each is
 * timed.
 */
import { types } from "node:util";
import { AsyncLocalStorage } from "node:async_hooks";
import { type Ended, observed, type Observer, type SpanKind } from "../../base/observation.ts";
import { recording } from "../../base/recording.ts";
import { type DeviceName, findDevice, type ProgramCall, type TimeSpan } from "../../loops/device.ts";
import { type Launch, launches, type LaunchWatcher } from "../../loops/launch.ts";
import { evaluate, type Sym } from "../../sym/expr.ts";
import { DynError } from "../../base/errors.ts";
import type { EventKind, MemorySample, ProfileEvent, Recorded } from "./events.ts";

type Open = { -readonly [K in Exclude<keyof ProfileEvent, "parent">]: ProfileEvent[K] } & {
  parent: Open | null;
};

/** The asynchronous span that contains the code after an `await`. */
const around = new AsyncLocalStorage<Open>();

/** Collects from `start` to `stop`. */
export class Collector implements Observer {
  #events: Open[] = [];
  #memory: MemorySample[] = [];
  /** Open spans of this job, innermost last. */
  readonly #stack: Open[] = [];
  /** Devices that were used, and their memory in use at the last sample. */
  readonly #devices = new Map<DeviceName, number>([["cpu", -1]]);
  #origin = 0;
  #takeAway: (() => void) | null = null;
  #former: LaunchWatcher | null = null;

  /** Starts. Throws DynError if another collector is active. */
  start(): void {
    if (observed.by !== null) throw new DynError("Expected no active profile but found one");
    observed.by = this;
    this.#former = launches.watcher;
    launches.watcher = (launch, call) => this.#launched(launch, call);
    this.#takeAway = recording.add({
      active: () => true,
      wants: () => false,
      begin() {},
      end() {},
      artifact() {},
      phase: ({ name, start, duration }) => {
        const event = this.#begin("compile", name, start - performance.timeOrigin * 1000 - this.#origin);
        this.#add(event, duration);
      },
    });
    this.clear();
  }

  /** Stops. */
  stop(): void {
    observed.by = null;
    launches.watcher = this.#former;
    this.#takeAway?.();
  }

  /** Clears the events; open spans continue. */
  clear(): void {
    this.#events = [];
    this.#memory = [];
    for (const device of this.#devices.keys()) this.#devices.set(device, -1);
    this.#origin = performance.now() * 1000;
    this.#sample();
  }

  /** Events collected so far, in order of their start. */
  get recorded(): Recorded {
    const events = this.#events.toSorted((a, b) => a.start - b.start || b.duration - a.duration);
    nestPhases(events);
    for (const event of events) {
      event.selfDuration = event.duration;
      event.kernelDuration = event.kind === "kernel" ? event.duration : 0;
    }
    for (const { parent, duration } of events) if (parent) parent.selfDuration -= duration;
    for (const event of events) {
      event.selfDuration = Math.max(0, event.selfDuration);
      if (event.kind !== "kernel") continue;
      for (let at = event.parent; at !== null; at = at.parent) at.kernelDuration += event.duration;
    }
    return { events, memory: this.#memory, origin: performance.timeOrigin * 1000 + this.#origin };
  }

  span<T>(kind: SpanKind, name: string, body: () => T): T {
    const event = this.#begin(kind, name), before = this.#sample();
    this.#stack.push(event);
    const end = () => {
      event.memory = this.#sample() - before;
      this.#add(event, this.#now() - event.start);
    };
    let result: T;
    try {
      result = kind === "user" ? around.run(event, body) : body();
    } catch (thrown) {
      this.#leave(event);
      end();
      throw thrown;
    }
    this.#leave(event);
    if (kind !== "user" || !types.isPromise(result)) end();
    else {
      event.isAsync = true;
      result.then(end, end);
    }
    return result;
  }

  began(name: string, bytes: number): Ended {
    const event = this.#begin("collective", name, this.#now(), null), origin = this.#origin;
    event.bytes = bytes;
    event.isAsync = true;
    return (milliseconds) => {
      if (observed.by === this && this.#origin === origin) this.#add(event, 1000 * milliseconds);
    };
  }

  /** Records a step of a schedule that began at `start`. */
  step(name: string, start: number): void {
    this.#add(this.#begin("step", name, start, null), this.#now() - start);
  }

  /** Microseconds since the start. */
  get now(): number {
    return this.#now();
  }

  #now(): number {
    return performance.now() * 1000 - this.#origin;
  }

  #leave(event: Open): void {
    while (this.#stack.length > 0 && this.#stack.pop() !== event);
  }

  #begin(
    kind: EventKind,
    name: string,
    start = this.#now(),
    parent: Open | null = this.#stack.at(-1) ?? around.getStore() ?? null,
  ): Open {
    return {
      name,
      kind,
      start,
      duration: 0,
      parent,
      selfDuration: 0,
      kernelDuration: 0,
      memory: 0,
      device: null,
      bytes: null,
      flops: null,
      isAsync: false,
    };
  }

  /** Adds an event that has ended, unless it began before the collection did. */
  #add(event: Open, duration: number): void {
    event.duration = duration;
    if (event.start >= 0) this.#events.push(event);
  }

  /** Records changes of memory in use; returns the total of all devices. */
  #sample(): number {
    let sum = 0;
    for (const [device, before] of this.#devices) {
      const use = findDevice(device)?.memoryUse;
      if (!use) continue;
      const { allocated, reserved } = use;
      sum += allocated;
      if (allocated === before) continue;
      this.#devices.set(device, allocated);
      this.#memory.push({ time: this.#now(), device, allocated, reserved });
    }
    return sum;
  }

  #launched(launch: Launch, call: ProgramCall): boolean {
    const { program, device, costs } = launch;
    if (!this.#devices.has(device)) this.#devices.set(device, -1);
    const runs: { readonly kernels: readonly number[]; readonly span: TimeSpan }[] = [];
    const clock = {
      ran(kernels: readonly number[], span: TimeSpan) {
        const last = runs.at(-1);
        if (`${last?.kernels}` !== `${kernels}`) runs.push({ kernels, span });
        else if (last) {
          const { start, duration } = last.span;
          runs[runs.length - 1] = { kernels, span: { start, duration: duration + span.duration } };
        }
      },
    };
    const timed = { ...call, clock };
    const passed = this.#former ? this.#former(launch, timed) : program.run(timed);
    const sizeOf = (symbol: Sym): number => call.sizes[costs?.sizes.indexOf(symbol) ?? -1] ?? 0;
    for (const { kernels, span } of runs) {
      const found = kernels.flatMap((at) => costs?.kernels[at] ?? []);
      const name = found.map((cost) => cost.name).join(" + ") || `kernel ${kernels}`;
      const event = this.#begin("kernel", name, span.start * 1000 - this.#origin);
      event.device = device;
      if (found.length > 0) {
        const sum = (values: readonly number[]) => values.reduce((all, each) => all + each, 0);
        event.bytes = sum(
          found.map((cost) => evaluate(cost.bytesRead, sizeOf) + evaluate(cost.bytesWritten, sizeOf)),
        );
        event.flops = sum(found.map((cost) => evaluate(cost.operations, sizeOf)));
      }
      this.#add(event, span.duration * 1000);
    }
    this.#sample();
    return passed;
  }
}

/** Phases of compilations are reported at their ends, before the enclosing ones end, so they are nested by their times. */
function nestPhases(events: readonly Open[]): void {
  const phases = events.filter(({ kind }) => kind === "compile");
  for (const within of Map.groupBy(phases, ({ parent }) => parent).values()) {
    const open: Open[] = [];
    for (const event of within) {
      while (open.length > 0 && endOf(open.at(-1)) < endOf(event)) open.pop();
      event.parent = open.at(-1) ?? event.parent;
      open.push(event);
    }
  }
}

const endOf = (event: Open | undefined): number => event ? event.start + event.duration : 0;
