/**
 * Ambient state that affects what tensor programs compute: one entry for each piece, with the functions that read it
 * and those that change it. Invariant: the table is total over `AmbientState`; a change of state is traced or breaks
 * the graph, so that every graph and every unit runs under the state that its guard requires.
 */
import type { AnyFunction } from "../base/arguments.ts";
import { getDefaultDtype, setDefaultDtype } from "../base/dtype.ts";
import { autocast, autocastSettings, getAutocastDtype, isAutocastEnabled } from "../tensor/autocast.ts";
import { chooseDefaultDevice, defaultDevice } from "../tensor/default_device.ts";
import {
  ambient,
  enableGrad,
  inferenceMode,
  isGradEnabled,
  isInferenceMode,
  noGrad,
  type RegionModes,
  setGradEnabled,
} from "../tensor/modes.ts";
import {
  disableSavedTensorsHooks,
  hooksSavedTensors,
  savedTensorsHooks,
  saveOnCpu,
} from "../autograd/saved_hooks.ts";
import * as memoryUse from "../tensor/memory_use.ts";
import { getRngState, initialSeed, manualSeed, setRngState } from "../tensor/random.ts";
import { breakGraph, type BreakKind } from "./break_reasons.ts";
import type { AmbientState } from "./guards/ambient_state.ts";
import type { ModelTable } from "./trace/builtins/table.ts";
import { isOwnModule } from "../base/errors.ts";
import { refuseLater } from "./trace/later_reads.ts";
import { findProperty } from "./trace/objects.ts";
import { modesOf } from "./trace/region_modes.ts";
import { enumerableKeys } from "./trace/object_keys.ts";
import { type CallRequest, type CallResult, type Interpreter, PUSHED } from "./trace/interpreter.ts";
import { constant, isCallable, type Primitive, UNDEFINED, type Value } from "./variables/value.ts";
import { functionLabel } from "./variables/labels.ts";

/** A body and the state in force inside. */
interface Region {
  readonly body: Value | undefined;
  readonly modes: Partial<RegionModes>;
}

/** One piece of ambient state. */
interface AmbientEntry<T extends Primitive> {
  /** The current value. */
  readonly now: () => T;
  /** The value at this point of a traced program. */
  readonly traced: (m: Interpreter) => T;
  /** Functions without arguments that return it. */
  readonly getters: readonly object[];
  /** Functions that change it for the duration of a body, which is traced: the body, and the new value. */
  readonly scopes: readonly {
    readonly fn: AnyFunction;
    readonly read: (m: Interpreter, args: readonly Value[]) => Region;
  }[];
  /** Functions that change it and break the graph. */
  readonly setters: readonly object[];
  readonly breaks: BreakKind;
}

type AmbientTable = { readonly [K in keyof AmbientState]: AmbientEntry<AmbientState[K]> };

const TABLE: AmbientTable = {
  gradEnabled: {
    now: () => ambient.gradEnabled,
    traced: (m) => m.gradEnabled,
    getters: [isGradEnabled],
    scopes: [
      { fn: noGrad, read: (_m, [body]) => ({ body, modes: { gradEnabled: false } }) },
      { fn: enableGrad, read: (_m, [body]) => ({ body, modes: { gradEnabled: true } }) },
      { fn: setGradEnabled, read: (_m, [on, body]) => ({ body, modes: { gradEnabled: flag(on) } }) },
    ],
    setters: [],
    breaks: "gradientState",
  },
  inference: {
    now: () => ambient.inference,
    traced: (m) => m.inference,
    getters: [isInferenceMode],
    scopes: [
      { fn: inferenceMode, read: (_m, [body]) => ({ body, modes: { gradEnabled: false, inference: true } }) },
    ],
    setters: [],
    breaks: "gradientState",
  },
  defaultDtype: {
    now: getDefaultDtype,
    traced: () => getDefaultDtype(),
    getters: [getDefaultDtype],
    scopes: [],
    setters: [setDefaultDtype],
    breaks: "builtin",
  },
  defaultDevice: {
    now: defaultDevice,
    traced: () => defaultDevice(),
    getters: [defaultDevice],
    scopes: [],
    setters: [chooseDefaultDevice],
    breaks: "builtin",
  },
  autocast: {
    now: () => ambient.autocast ?? "",
    traced: (m) => m.autocast,
    getters: [],
    scopes: [{
      fn: autocast,
      read(m, args) {
        const [device, ...others] = args, isNamed = args.length > 2;
        const isDevice = device?.kind === "constant" && typeof device.value === "string";
        if (isNamed && !(isDevice && others[0]?.kind === "object")) breakGraph("throws", "autocast");
        const [options, body] = isNamed ? others : args;
        const { dtype, enabled } = settingsOf(m, options);
        return { body, modes: { autocast: enabled ? dtype : "" } };
      },
    }],
    setters: [],
    breaks: "gradientState",
  },
  savedTensorsHooks: {
    now: hooksSavedTensors,
    traced: hooksSavedTensors,
    getters: [],
    scopes: [],
    // A graph decides itself what it saves, so hooks would see none of it
    setters: [savedTensorsHooks, disableSavedTensorsHooks, saveOnCpu],
    breaks: "gradientState",
  },
};

/** The options of a region as the tracer knows them, or the program's error if they are invalid. */
function settingsOf(m: Interpreter, options: Value | undefined): ReturnType<typeof autocastSettings> {
  const unknown = () => breakGraph("gradientState", "a region of autocast whose options are not known");
  const given: Record<string, unknown> = {};
  if (options?.kind === "constant" && typeof options.value === "string") given["deviceType"] = options.value;
  else if (options?.kind === "object" && options.exotic.kind === "plain") {
    for (const key of enumerableKeys(m, options)) {
      const found = findProperty(m, options, key);
      if (found.kind !== "value" || found.value.kind !== "constant") return unknown();
      given[String(key)] = found.value.value;
    }
  } else return unknown();
  try {
    return autocastSettings(given);
  } catch {
    return breakGraph("throws", "autocast");
  }
}

/** Graphs draw random numbers as they run, so no guard checks the generator, and calls of it stay between graphs. */
const RANDOM: readonly object[] = [manualSeed, initialSeed, getRngState, setRngState];

/** They report the memory that the program holds at that moment, before the graph has run. */
const MEMORY: readonly object[] = Object.values(memoryUse);

function flag(value: Value | undefined): boolean {
  if (value?.kind !== "constant" || typeof value.value !== "boolean") {
    return breakGraph("gradientState", "a mode that is not known");
  }
  return value.value;
}

/** The current state. */
export function ambientState(): AmbientState {
  return {
    gradEnabled: TABLE.gradEnabled.now(),
    inference: TABLE.inference.now(),
    defaultDtype: TABLE.defaultDtype.now(),
    defaultDevice: TABLE.defaultDevice.now(),
    autocast: TABLE.autocast.now(),
    savedTensorsHooks: TABLE.savedTensorsHooks.now(),
  };
}

/** Adds the models of all functions that read or change ambient state. */
export function addAmbient(table: ModelTable): void {
  for (const entry of Object.values(TABLE)) addEntry(table, entry);
  table.call(isAutocastEnabled, (m) => constant(m.autocast !== ""), 1);
  table.call(getAutocastDtype, (m) => constant(m.autocast === "" ? "bfloat16" : m.autocast), 1);
  for (const fn of [...RANDOM, ...MEMORY]) table.call(fn, () => breakGraph("builtin", functionLabel(fn)));
}

function addEntry(table: ModelTable, entry: AmbientEntry<Primitive>): void {
  for (const fn of entry.getters) {
    table.call(fn, (m) => {
      refuseLater(m, functionLabel(fn));
      return constant(entry.traced(m));
    }, 0);
  }
  for (const fn of entry.setters) table.call(fn, () => breakGraph(entry.breaks, functionLabel(fn)));
  for (const { fn, read } of entry.scopes) {
    table.call(fn, (m, request) => {
      return inRegion(m, request, read(m, request.args));
    }, fn.length);
  }
}

/** Traces a body with gradients or autocast switched off or on. */
function inRegion(m: Interpreter, request: CallRequest, { body, modes }: Region): CallResult {
  if (!body || !isCallable(body)) return breakGraph("throws", "a body that is not a function");
  if (modes.gradEnabled === false && m.forwardTransforms > 0 && !isOwnModule(m.top.code.module.url)) {
    return breakGraph("gradientState", "tangents of what records no gradients");
  }
  const former = modesOf(m);
  Object.assign(m, modes);
  m.call({
    callee: body,
    self: UNDEFINED,
    args: [],
    completion: { kind: "ambientMode", former, outer: request.completion },
  });
  return PUSHED;
}
