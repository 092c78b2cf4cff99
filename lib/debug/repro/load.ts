/**
 * The runtime of repros: the namespace `repro` that their programs import. It builds the case from the description that
 * script.ts writes and users may edit, tries it and sets the exit code. Invariant: `run` reports whether the case still
 * fails as described; under `dyn minify` it passes the case on instead.
 */
import { refuseSurplus } from "../../base/checked_input.ts";
import { encodeElements, numberArray } from "../../base/bfloat16.ts";
import { type DType, type HostArray, isDType, itemSize } from "../../base/dtype.ts";
import { DynError, messageOf } from "../../base/errors.ts";
import { isPlainObject } from "../../base/tree.ts";
import type { GraphModule } from "../../graph/graph_module.ts";
import { type Argument, isRecord, Node, type SourcePosition } from "../../graph/node.ts";
import { placeOfNode, userPosition } from "../../graph/place.ts";
import type { GraphSignature } from "../../graph/signature.ts";
import { add, type Dim, floorDiv, max, min, mod, mul, Sym } from "../../sym/expr.ts";
import { defaultDevice } from "../../tensor/default_device.ts";
import { layoutOf } from "../../tensor/layout.ts";
import { contiguousStrides } from "../../graph/meta.ts";
import { readStored, writeElements } from "../../tensor/host.ts";
import { allocateStorage, type Storage } from "../../tensor/storage.ts";
import { isTensor, Tensor } from "../../tensor/tensor.ts";
import { load as loadTensors } from "../../data/safetensors.ts";
import { resultOf } from "../check/copies.ts";
import { locate } from "../check/locate.ts";
import { check } from "../check/verdict.ts";
import {
  type AmbientState,
  compilerOf,
  type Fault,
  faultOf,
  faultText,
  isSameFault,
  type ReproCase,
  type Stage,
  withAmbientState,
} from "./case.ts";
import { GraphRecorder, HISTORIES, type HistoryKind } from "./recorder.ts";

/** An input of a repro: a size, a size that is a symbol, or a tensor. */
export type ReproInput =
  | number
  | { readonly size: number; readonly source?: string; readonly dynamic: readonly number[] }
  | ReproTensor;

/** A tensor of a repro. */
export interface ReproTensor {
  readonly dtype: DType;
  readonly shape: readonly number[];
  /** Default: row-major. */
  readonly strides?: readonly number[];
  readonly offset?: number;
  readonly device?: string;
  /** Whether a gradient is computed, and whether the tensor is a leaf or another op's result. */
  readonly grad?: "leaf" | "result";
  /** The name that guards use. */
  readonly source?: string;
  /** The elements of its memory, in order. */
  readonly data?: readonly (number | bigint)[] | Tensor;
  /** The input whose memory it shares. */
  readonly memoryOf?: string;
  /** Dimensions whose sizes are symbols. */
  readonly dynamic?: readonly number[];
}

/** The functions that a repro builds its graph with. */
export interface ReproTools {
  /** The ops by their graph names: `ops.add(x, 1)`. */
  readonly ops: Readonly<Record<string, (...args: readonly unknown[]) => Argument>>;
  /** Sets the line of the program that the following statements come from. */
  readonly at: (place: string, code: string) => void;
  /** Sets whether gradients of the following statements are recorded. */
  readonly history: (kind: HistoryKind) => void;
  /** Arithmetic of sizes. */
  readonly size: {
    readonly of: (input: Argument, part?: "shape" | "stride" | "offset", dim?: number) => Dim;
    readonly add: typeof add;
    readonly mul: typeof mul;
    readonly floorDiv: typeof floorDiv;
    readonly mod: typeof mod;
    readonly min: typeof min;
    readonly max: typeof max;
  };
}

/** The argument of `repro.run`. */
export interface ReproDescription {
  readonly stage: Stage;
  readonly backend: string;
  /** The expected failure. */
  readonly fault:
    | Omit<Extract<Fault, { kind: "accuracy" }>, "text">
    | Exclude<Fault, { kind: "accuracy" }>;
  readonly ambientState: AmbientState;
  readonly signature?: GraphSignature;
  readonly inputs: Readonly<Record<string, ReproInput>>;
  /** Builds the graph; `inputs` are the ones above, by name. */
  readonly graph: (tools: ReproTools, inputs: Readonly<Record<string, Node>>) => Argument;
}

/** Loads the tensors of a file beside the program. */
export function load(url: URL): Readonly<Record<string, Tensor>> {
  if (arguments.length > 1) refuseSurplus("load", 1, arguments);
  return loadTensors(url);
}

/** Receives the case instead of trying it. */
let taker: ((found: ReproCase, fault: Fault) => void) | null = null;

/** Runs `body`, which imports a repro, and returns the case that it describes; null if it describes none. */
export async function caseDescribedBy(
  body: () => Promise<unknown>,
): Promise<{ readonly found: ReproCase; readonly fault: Fault } | null> {
  const taken: { readonly found: ReproCase; readonly fault: Fault }[] = [];
  taker = (found, fault) => taken.push({ found, fault });
  try {
    await body();
  } finally {
    taker = null;
  }
  return taken[0] ?? null;
}

/** Tries a repro, prints the outcome, and sets the exit code: 1 as long as it fails as described. */
export function run(description: ReproDescription): void {
  if (arguments.length > 1) refuseSurplus("run", 1, arguments);
  const { fault: described } = description;
  const fault: Fault = described.kind === "accuracy" ? { ...described, text: "" } : described;
  const found = caseOfDescription(description);
  if (taker) return taker(found, fault);
  const now = faultOf(found, compilerOf(found), { compare: fault.kind !== "error" });
  if (now === null) {
    console.log("No longer fails");
    return;
  }
  const same = isSameFault(fault, now);
  console.log(`${same ? "Fails" : "Fails, but in another way"}: ${faultText(now)}`);
  if (now.kind === "accuracy") console.log(firstWrong(found));
  Deno.exitCode = same ? 1 : 3;
}

/** Describes the line at which a wrong answer begins. */
function firstWrong(found: ReproCase): string {
  const { gm, args, ambientState } = found;
  const compile = compilerOf(found);
  const culprit = withAmbientState(ambientState, () => {
    const finding = check({ compiled: compile(gm, args), gm }, args);
    return finding && locate({ gm, finding, compile }, args);
  });
  if (!culprit) return "No part of the graph is wrong by itself";
  return `First wrong op: ${placeOfNode(culprit.node)}\n    ${userPosition(culprit.node)?.code ?? ""}`
    .trimEnd();
}

/** Builds the case. Throws DynError for an inconsistent description. */
export function caseOfDescription(description: ReproDescription): ReproCase {
  const { stage, backend, ambientState } = description;
  const args = makeInputs(description.inputs);
  const gm = makeGraph(description, args);
  return { stage, backend, ambientState, gm, args: [...args.values()] };
}

function makeGraph(
  { inputs, graph, signature }: ReproDescription,
  args: ReadonlyMap<string, unknown>,
): GraphModule {
  const recorder = new GraphRecorder();
  const nodes: Record<string, Node> = {};
  for (const [name, value] of args) {
    const described = inputs[name];
    const { source, dynamic = [] } = typeof described === "object" ? described : {};
    nodes[name] = recorder.input(name, value, { dynamic: (dim) => dynamic.includes(dim), source });
  }
  let stack: readonly SourcePosition[] = [];
  let history: HistoryKind = "kept";
  const call = (target: string, given: readonly unknown[]): Argument => {
    const last = given.at(-1);
    const args = given.map(argumentOf);
    const kwargs = isPlainObject(last) ? args.pop() : undefined;
    return recorder.call(
      target,
      { args, ...(kwargs !== undefined && isRecord(kwargs) ? { kwargs } : {}) },
      { stack, ...HISTORIES[history] },
    );
  };
  const tools: ReproTools = {
    ops: new Proxy({}, {
      get: (_, target) => (...given: readonly unknown[]) => call(String(target), given),
    }),
    at: (place, code) => void (stack = [positionOf(place, code)]),
    history: (kind) => void (history = kind),
    size: { of: sizeOf, add, mul, floorDiv, mod, min, max },
  };
  return recorder.finish(argumentOf(graph(tools, nodes)), signature);
}

/** Parses a position as written by `at`: `block (model.ts:5)`. */
function positionOf(place: string, code: string): SourcePosition {
  const [, functionName = "", file = place, line = "0"] = place.match(/^(.*) \((.*):(\d+)\)$/) ?? [];
  return { functionName, file, line: Number(line), column: 1, code };
}

/** Converts a value of the program to an argument of a node. Throws DynError for other values. */
function argumentOf(value: unknown): Argument {
  if (value instanceof Node || value === null || value === undefined) return value;
  if (Array.isArray(value)) return value.map(argumentOf);
  if (isPlainObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, argumentOf(each)]));
  }
  switch (typeof value) {
    case "number":
    case "bigint":
    case "boolean":
    case "string":
      return value;
    default:
      if (value instanceof Sym) return value;
      throw new DynError(`Expected an argument of an op but found ${Deno.inspect(value, { depth: 0 })}`);
  }
}

/** A size of an input. */
function sizeOf(input: Argument, part?: "shape" | "stride" | "offset", dim = 0): Dim {
  const { value } = input instanceof Node ? input.meta : { value: undefined };
  if (value?.kind === "size") return value.size;
  if (value?.kind === "tensor" && part !== undefined) {
    const { shape, strides, offset } = value.tensor;
    const found = part === "offset" ? offset : part === "shape" ? shape[dim] : strides[dim];
    if (found !== undefined) return found;
  }
  throw new DynError("Expected an input of the graph that gives this size");
}

/** Creates tensors with the described memory, by name. */
export function tensors(described: Readonly<Record<string, ReproTensor>>): Record<string, Tensor> {
  if (arguments.length > 1) refuseSurplus("tensors", 1, arguments);
  const made = makeInputs(described);
  return Object.fromEntries([...made].flatMap(([name, value]) => isTensor(value) ? [[name, value]] : []));
}

/** Creates the inputs with the described memory. */
function makeInputs(inputs: Readonly<Record<string, ReproInput>>): Map<string, unknown> {
  const storages = new Map<string, Storage>();
  const made = new Map<string, unknown>();
  for (const [name, input] of Object.entries(inputs)) {
    if (typeof input === "number" || "size" in input) {
      made.set(name, typeof input === "number" ? input : input.size);
      continue;
    }
    const { dtype, shape, strides, offset = 0, device = defaultDevice(), grad, data, memoryOf } = input;
    if (!isDType(dtype)) {
      throw new DynError(`Expected an element type for ${name} but found ${String(dtype)}`);
    }
    const layout = layoutOf({ shape, strides: strides ?? contiguousStrides(shape), dtype, device });
    const storage = memoryOf === undefined
      ? makeStorage(name, { dtype, device, data })
      : storages.get(memoryOf);
    if (!storage) throw new DynError(`Expected an input before ${name} but found ${String(memoryOf)}`);
    if (storage.byteLength < (offset + layout.extent) * itemSize(dtype)) {
      throw new DynError(`Expected elements for all of ${name} but found ${storage.byteLength} bytes`);
    }
    storages.set(name, storage);
    const tensor = new Tensor(storage, layout, offset);
    if (grad !== undefined) tensor.requiresGrad_();
    made.set(name, grad === "result" ? resultOf(tensor) : tensor);
  }
  return made;
}

function makeStorage(
  name: string,
  { dtype, device, data }: {
    readonly dtype: DType;
    readonly device: string;
    readonly data: readonly (number | bigint)[] | Tensor | undefined;
  },
): Storage {
  if (data === undefined) throw new DynError(`Expected elements or memoryOf for ${name}`);
  const elements = isTensor(data) ? readStored(data) : elementsOf(data, dtype);
  const storage = allocateStorage(device, elements.byteLength);
  writeElements(storage, elements);
  return storage;
}

function elementsOf(data: readonly (number | bigint)[], dtype: DType): HostArray {
  const elements = numberArray(dtype, data.length);
  data.forEach((each, at) => {
    try {
      elements[at] = elements instanceof BigInt64Array ? BigInt(each) : Number(each);
    } catch (cause) {
      throw new DynError(`Expected an element of ${dtype} but found ${each}: ${messageOf(cause)}`);
    }
  });
  return encodeElements(dtype, elements);
}
