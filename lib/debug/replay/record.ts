/**
 * Execution records, `config.replayRecordEnabled`: a call of a compiled function that throws, in compilation or
 * afterwards, is written as a program that makes only that call: a folder with `replay.ts` and the tensors it needs.
 * Invariant: the state before the call is recorded, without effects on the program; an error is recorded once, by the
 * innermost compiled function.
 */
import { types } from "node:util";
import { join } from "node:path";
import { Config, config, InductorConfig } from "../../base/config.ts";
import { functionTitle } from "../../base/compile_times.ts";
import { messageOf } from "../../base/errors.ts";
import { logs } from "../../base/logs.ts";
import { TextWriter } from "../../base/text_writer.ts";
import { backendModule } from "../../graph/backends.ts";
import type { CallRecorder, CompiledCall } from "../../dynamo/call_recorder.ts";
import { captureMany } from "../../dynamo/frame/capture.ts";
import { save } from "../../data/safetensors.ts";
import { ambient } from "../../tensor/modes.ts";
import { defaultGenerator, type GeneratorState } from "../../tensor/random.ts";
import { isTensor, modes, Tensor } from "../../tensor/tensor.ts";
import { copyArguments } from "../check/copies.ts";
import { describeInputs, TENSOR_FILE, valueText } from "../repro/script.ts";
import { newFolder, ownImportsText } from "../repro/write.ts";
import { Recorded } from "./encode.ts";

const recordedErrors = new WeakSet<object>();

/** The state before a call. */
interface Snapshot {
  readonly recorded: Recorded;
  readonly target: string;
  readonly self: string;
  readonly args: readonly string[];
  /** Copies, since the call may write to the originals. */
  readonly tensors: readonly (readonly [name: string, value: Tensor])[];
  readonly generator: GeneratorState;
  readonly gradEnabled: boolean;
}

/** Records calls that throw, also those whose promise is rejected. */
export const recordFailures: CallRecorder = (call, run) => {
  const snapshot = attempted(call);
  const failed = (error: unknown): void => {
    const isObject = typeof error === "object" && error !== null;
    if (snapshot === null || (isObject && recordedErrors.has(error))) return;
    if (isObject) recordedErrors.add(error);
    tell(call, () => write(call, snapshot, error));
  };
  let result: unknown;
  try {
    result = run();
  } catch (error) {
    failed(error);
    throw error;
  }
  if (types.isPromise(result)) result.catch(failed);
  return result;
};

const titleOf = ({ name, place }: CompiledCall): string => functionTitle({ name, place: place() });

function attempted(call: CompiledCall): Snapshot | null {
  try {
    return modes.without(() => captureMany(() => snapshotOf(call)));
  } catch (error) {
    logs.emit("repro", `A call of ${titleOf(call)} could not be recorded: ${messageOf(error)}`, "warning");
    return null;
  }
}

function tell(call: CompiledCall, body: () => readonly string[]): void {
  try {
    logs.emit("repro", modes.without(body).join("\n"), "error");
  } catch (error) {
    logs.emit("repro", `A call of ${titleOf(call)} could not be recorded: ${messageOf(error)}`, "warning");
  }
}

function snapshotOf({ fn, self, args }: CompiledCall): Snapshot {
  const recorded = new Recorded();
  const receiver = recorded.expression(self, "this");
  const key = methodKey(self, fn);
  const target = key === null
    ? recorded.expression(fn, "the function")
    : `${receiver}[${JSON.stringify(key)}]`;
  const expressions = args.map((arg, at) => recorded.expression(arg, `argument ${at}`));
  const named = [...recorded.tensors];
  const copies = copyArguments(named.map(([, value]) => value)).args.filter(isTensor);
  return {
    recorded,
    target,
    self: receiver,
    args: expressions,
    tensors: named.flatMap(([name], at) => copies[at] ? [[name, copies[at]] as const] : []),
    generator: defaultGenerator.state,
    gradEnabled: ambient.gradEnabled,
  };
}

/**
 * Returns the name of a function that is a method of its receiver, so that it is called with its `super`; null for
 * other functions.
 */
function methodKey(self: unknown, fn: object): string | null {
  for (let at: unknown = self; typeof at === "object" && at !== null; at = Object.getPrototypeOf(at)) {
    for (const [key, { value }] of Object.entries(Object.getOwnPropertyDescriptors(at))) {
      if (value === fn) return key;
    }
  }
  return null;
}

/** Writes a record and returns lines with its location. */
function write(call: CompiledCall, snapshot: Snapshot, error: unknown): string[] {
  const title = titleOf(call), place = call.place();
  const { recorded, target, self, args, generator, gradEnabled } = snapshot;
  const inputs = describeInputs(snapshot.tensors.map(([name, value]) => ({ name, value })));
  const name = error instanceof Error ? error.name : typeof error;
  const out = new TextWriter();
  out.line(`// A call of ${title} that threw ${name}`);
  for (const line of messageOf(error).split("\n").slice(0, 12)) out.line(`//   ${line}`);
  if (place) out.line(`// The function is at ${place.file}:${place.line}`);
  for (const each of recorded.missing) out.line(`// Not recorded: ${each}`);
  out.line(
    "//",
    "// deno run -A replay.ts, or dyn replay on this folder: exit code 1 while the call throws so, else 0",
  );
  out.line('import * as dyn from "jsr:@x/dyn";');
  const backend = call.options["backend"];
  const module = typeof backend === "string" ? backendModule(backend) : undefined;
  if (module !== undefined) out.line(`import ${JSON.stringify(module)};`);
  const devices = new Set(snapshot.tensors.map(([, { device }]) => device));
  devices.delete("cpu");
  for (const device of devices) out.line(`await dyn.init({ device: ${JSON.stringify(device)} });`);
  if (Object.keys(inputs.tensors).length > 0) {
    out.gap().line(`const file = dyn.repro.load(new URL(${JSON.stringify(TENSOR_FILE)}, import.meta.url));`);
  }
  if (inputs.texts.length > 0) {
    out.gap().block("const tensors = dyn.repro.tensors({", () => {
      for (const [each, text] of inputs.texts) out.line(`${each}: ${text},`);
    }, "});");
  }
  out.gap().line(...recorded.creations).line(...recorded.fills).gap();
  out.block("dyn.repro.replay({", () => {
    out.line(`error: ${JSON.stringify(name)},`);
    out.line(`ambientState: ${valueText({ gradEnabled, generator, settings: changedSettings() })},`);
    out.line(`target: ${target},`, `self: ${self},`, `args: [${args.join(", ")}],`);
    out.line(`options: ${valueText(call.options)},`);
  }, "});");
  const folder = newFolder(`${title}_replay`);
  Deno.writeTextFileSync(join(folder, "replay.ts"), out.toString());
  if (Object.keys(inputs.tensors).length > 0) save(inputs.tensors, join(folder, TENSOR_FILE));
  const own = ownImportsText();
  if (own !== null) Deno.writeTextFileSync(join(folder, "deno.json"), own);
  return [
    `A call of ${title} threw ${name}; dyn replay ${folder} makes it again`,
    ...recorded.missing.slice(0, 10).map((each) => `  not recorded: ${each}`),
  ];
}

/** Settings that differ from the defaults, except those of debugging tools. */
function changedSettings(): Record<string, unknown> {
  const differing = (of: object, standard: object): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(of).filter(([key, value]) =>
        ["number", "string", "boolean"].includes(typeof value) && Reflect.get(standard, key) !== value
      ),
    );
  const { replayRecordEnabled: _on, reproDir: _where, ...rest } = differing(config, new Config());
  const inductor = differing(config.inductor, new InductorConfig());
  return { ...rest, ...Object.keys(inductor).length > 0 ? { inductor } : {} };
}
