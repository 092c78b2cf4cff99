/**
 * Ambient state that decides what tensor programs compute: one entry for each piece of it, with the functions that tell
 * it and those that change it. Input: calls of these functions in traced programs; output: their models, and the
 * state that guards compare. Invariant: the table is total over `AmbientState`; what changes a piece is traced, or
 * breaks the graph, so that every graph and every unit runs under the state that its guard demands.
 */
import { getDefaultDtype, setDefaultDtype } from "../base/dtype.ts";
import { chooseDefaultDevice, defaultDevice } from "../tensor/default_device.ts";
import {
  ambient,
  enableGrad,
  inferenceMode,
  isGradEnabled,
  isInferenceMode,
  noGrad,
  setGradEnabled,
} from "../tensor/modes.ts";
import { getRngState, initialSeed, manualSeed, setRngState } from "../tensor/random.ts";
import { breakGraph, type BreakKind } from "./break_reasons.ts";
import type { AmbientState } from "./guards/ambient_state.ts";
import type { ModelTable } from "./trace/builtins/table.ts";
import { type CallRequest, type CallResult, type Interpreter, PUSHED } from "./trace/interpreter.ts";
import { constant, isCallable, type Primitive, UNDEFINED, type Value } from "./variables/value.ts";
import { functionLabel } from "./variables/wrap.ts";

/** One piece of it. */
interface AmbientEntry<T extends Primitive> {
  /** The value in force. */
  readonly now: () => T;
  /** The value at this point of a traced program. */
  readonly traced: (m: Interpreter) => T;
  /** Functions without arguments that tell it. */
  readonly getters: readonly object[];
  /** Functions that change it for a body, which is stepped through: which body, and to what. */
  readonly scopes: readonly {
    readonly fn: object;
    readonly read: (args: readonly Value[]) => { readonly body: Value | undefined; readonly value: T };
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
      { fn: noGrad, read: ([body]) => ({ body, value: false }) },
      { fn: enableGrad, read: ([body]) => ({ body, value: true }) },
      { fn: setGradEnabled, read: ([enabled, body]) => ({ body, value: flag(enabled) }) },
    ],
    setters: [],
    breaks: "gradientState",
  },
  inference: {
    now: () => ambient.inference,
    traced: () => ambient.inference,
    getters: [isInferenceMode],
    scopes: [],
    setters: [inferenceMode],
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
};

/** Graphs take random numbers as they run, so that no guard looks at the generator, whose calls stand between graphs. */
const RANDOM: readonly object[] = [manualSeed, initialSeed, getRngState, setRngState];

function flag(value: Value | undefined): boolean {
  if (value?.kind !== "constant" || typeof value.value !== "boolean") {
    return breakGraph("gradientState", "a mode that is not known");
  }
  return value.value;
}

/** The state in force. */
export function ambientState(): AmbientState {
  return {
    gradEnabled: TABLE.gradEnabled.now(),
    inference: TABLE.inference.now(),
    defaultDtype: TABLE.defaultDtype.now(),
    defaultDevice: TABLE.defaultDevice.now(),
  };
}

/** Adds the models of everything that tells or changes ambient state. */
export function addAmbient(table: ModelTable): void {
  for (const entry of Object.values(TABLE)) addEntry(table, entry);
  for (const fn of RANDOM) table.call(fn, () => breakGraph("builtin", functionLabel(fn)));
}

function addEntry(table: ModelTable, entry: AmbientEntry<Primitive>): void {
  for (const fn of entry.getters) table.call(fn, (m) => constant(entry.traced(m)));
  for (const fn of entry.setters) table.call(fn, () => breakGraph(entry.breaks, functionLabel(fn)));
  for (const { fn, read } of entry.scopes) {
    table.call(fn, (m, request) => {
      const { body, value } = read(request.args);
      return withGradients(m, request, { body, enabled: value === true });
    });
  }
}

/** Steps through a body with gradients off or on. */
function withGradients(
  m: Interpreter,
  request: CallRequest,
  { body, enabled }: { readonly body: Value | undefined; readonly enabled: boolean },
): CallResult {
  if (!body || !isCallable(body)) return breakGraph("throws", "a body that is no function");
  const former = m.gradEnabled;
  m.gradEnabled = enabled;
  m.call({
    callee: body,
    self: UNDEFINED,
    args: [],
    completion: { kind: "gradMode", former, outer: request.completion },
  });
  return PUSHED;
}
