/**
 * Classes of calls: calls of one op that differ in sizes only run one program, compiled as graphs are, with the sizes
 * as its arguments. Invariant: a program serves a call only if all assumptions about sizes made during its
 * compilation hold for that call; a call without a class runs a program of its own shape.
 *
 * Creating a class takes milliseconds, so it is created only if it pays: for large calls, for calls whose sizes keep
 * changing, and for frequent calls that run faster as a class.
 */
import { complexMeta } from "../ops/complex/views.ts";
import { counters, logs } from "../base/logs.ts";
import { type DType, getDefaultDtype } from "../base/dtype.ts";
import { InternalError, messageOf } from "../base/errors.ts";
import type { Graph } from "../graph/node.ts";
import { type CompiledProgram, type DeviceName, deviceReplacements } from "../loops/device.ts";
import type { Program } from "../loops/ir.ts";
import { noteCosts } from "../loops/launch.ts";
import { costsOf } from "../loops/metrics.ts";
import { printProgram } from "../loops/print.ts";
import type { Dim } from "../sym/expr.ts";
import { graphOf } from "./class_graph.ts";
import { type ClassCall, classOf, ClassSizes, EqualByChance, isFresh } from "./class_sizes.ts";
import {
  cacheClasses,
  type CachedClass,
  cachedClasses,
  cachedCode,
  type ClassResult,
  shippedText,
} from "./cached_classes.ts";
import { contiguousLayout, type Layout, layoutOf } from "./layout.ts";
import {
  type LoadedNumber,
  mapTensors,
  type OpEntry,
  type Plan,
  type TensorArgs,
  tensorsOf,
} from "./plan.ts";
import { pointwiseProgram } from "./pointwise_class.ts";
import { deviceNamed, isShapesOnly } from "./storage.ts";
import { Tensor } from "./tensor.ts";

/** A graph as a program, as far as calls need it. */
interface GraphProgram {
  readonly program: Program;
  /** The values of its sizes, over those of the graph. */
  readonly sizes: readonly Dim[];
  /** Code depends on whether such a size is at most its limit, so that calls with another answer need another program. */
  readonly limits: readonly { readonly size: Dim; readonly limit: number }[];
  /** The placeholder of each program input. */
  readonly inputs: readonly number[];
  readonly outputs: readonly (
    | {
      readonly kind: "tensor";
      readonly of: "output" | "input";
      readonly index: number;
      readonly shape: readonly Dim[];
      readonly strides: readonly Dim[];
      readonly offset: Dim;
      readonly dtype: DType;
      /** Whether the result is the complex tensor whose pairs these are. */
      readonly isPairs: boolean;
    }
    | { readonly kind: "input" | "constant" | "size" }
  )[];
}

/** Compiles a functional graph whose first results have memory of their own. */
type GraphToProgram = (
  graph: Graph,
  about: { readonly name: string; readonly ownResults: number },
) => GraphProgram;

let compiler: GraphToProgram | null = null;

/** Sets the compiler of graphs; without it, calls run programs of their own shapes. */
export function installGraphPrograms(compile: GraphToProgram): void {
  compiler = compile;
}

/** Number of elements from which on the first call creates a class. */
const LARGE = 1 << 14;
/** Number of different sizes of one class that run separate programs before the class is created. */
const PATIENCE = 2;
/** Maximum number of programs of one key with different assumptions about sizes; further calls have no class. */
const MOST_VARIANTS = 8;

/** A program that serves many sizes. */
interface CallClass extends CachedClass {
  readonly program: CompiledProgram;
  /** Whether its program has been prepared. */
  isReady: boolean;
}

/** The classes of one key. */
interface Family {
  /** Its name in the disk cache; null if it is not cached. */
  readonly cacheName: string | null;
  readonly classes: CallClass[];
  /** Whether the classes of earlier processes have been loaded. */
  hasLoaded: boolean;
  /** Whether such calls never have a class, because they run op by op. */
  isOpByOp: boolean;
  /** Number of different sizes seen. */
  seen: number;
}

let families = new WeakMap<OpEntry, Map<string, Family>>();
/** Compiled programs by device and complete text. */
const programs = new Map<string, CompiledProgram>();
let replacementsSeen = 0;

/** Forgets classes of devices that others have replaced. */
function keepCurrent(): void {
  if (replacementsSeen === deviceReplacements()) return;
  replacementsSeen = deviceReplacements();
  families = new WeakMap();
  programs.clear();
}

/** A call that may have a class. */
export interface ClassRequest {
  readonly entry: OpEntry;
  readonly args: TensorArgs;
  readonly numbers: readonly LoadedNumber[];
}

/**
 * When a call gets a class: if it pays ("usual"), only if the class is in use ("ready"), only if it exists, possibly on
 * disk ("cached"), or always.
 */
export type ClassPolicy = "usual" | "ready" | "cached" | "often";

/** The plan of a call by its class; undefined if it has none. */
export function classPlan(request: ClassRequest, policy: ClassPolicy = "usual"): Plan | undefined {
  if (isShapesOnly(deviceOf(tensorsOf(request.entry, request.args), request.args) ?? "cpu")) return undefined;
  const row = asRow(request);
  if (row === null) return planByClass(request, policy);
  const plan = planByClass(row.request, policy);
  return plan && {
    ...plan,
    results: plan.results.map(({ dtype, device }) => contiguousLayout(row.shape, dtype, device)),
  };
}

/**
 * A call whose elements depend on their own position alone, over dense tensors of one shape, as a call over rows of as
 * many elements, so that all such shapes are one class; null for other calls. Random elements are drawn by their
 * positions.
 */
function asRow({ entry, args, numbers }: ClassRequest): {
  readonly request: ClassRequest;
  readonly shape: readonly number[];
} | null {
  const { elementwise = false, implementation } = entry.definition,
    isDrawn = implementation.kind === "random";
  if (!elementwise && !isDrawn) return null;
  const tensors = tensorsOf(entry, args).filter(({ layout }) => layout.shape.length > 0), [first] = tensors;
  const sizes = isDrawn && first === undefined ? sizesAmong(entry, args) : null;
  const shape = first?.layout.shape ?? sizes?.shape ?? [];
  if (shape.length < 2) return null;
  const isAlike = ({ layout }: Tensor) =>
    isFresh(layout) && layout.shape.length === shape.length &&
    shape.every((size, d) => layout.shape[d] === size);
  if (!tensors.every(isAlike)) return null;
  const inRow = (tensor: Tensor): Tensor => {
    const { layout: { numel, dtype, device, shape }, storage, offset } = tensor;
    return shape.length === 0
      ? tensor
      : new Tensor(storage, contiguousLayout([numel], dtype, device), offset);
  };
  const size = sizes ? { [sizes.param]: [shape.reduce((a, b) => a * b, 1)] } : {};
  return { request: { entry, args: { ...mapTensors(entry, args, inRow), ...size }, numbers }, shape };
}

/** The parameter of a call that says the shape of its result, and that shape, if it has elements. */
function sizesAmong(
  { slots }: OpEntry,
  args: TensorArgs,
): { readonly param: string; readonly shape: readonly number[] } | null {
  for (const { name: param, kind } of slots) {
    const value = args[param];
    if (kind !== "sizes" || !Array.isArray(value)) continue;
    const shape = value.filter((each) => typeof each === "number" && Number.isInteger(each) && each > 0);
    return shape.length === value.length ? { param, shape } : null;
  }
  return null;
}

function planByClass({ entry, args, numbers }: ClassRequest, policy: ClassPolicy): Plan | undefined {
  const tensors = tensorsOf(entry, args), device = deviceOf(tensors, args);
  if (compiler === null || device === undefined || deviceNamed(device).compileClass === undefined) {
    return undefined;
  }
  if (tensors.some(({ layout }) => layout.numel === 0)) return undefined;
  const call = classOf(entry, args, numbers), { key, values } = call;
  const family = familyOf(entry, `${device} ${getDefaultDtype()} ${key}`);
  if (family.isOpByOp) return undefined;
  let found = family.classes.find(({ sizes }) => sizes.admits(values));
  if (policy === "ready" && !found?.isReady) return undefined;
  if (found === undefined) {
    const pays = policy === "often" || tensors.some(({ layout }) => layout.numel >= LARGE) ||
      requestedElements(call) >= LARGE;
    if (policy === "cached" && !pays) return undefined;
    if (!pays && family.seen++ < PATIENCE) return undefined;
    found = cachedClass(family, { entry, args, numbers }, { device, call });
    if (found === undefined && policy === "cached") return undefined;
    if (found === undefined && (family.isOpByOp || family.classes.length >= MOST_VARIANTS)) return undefined;
    found ??= newClass(family, { entry, args, numbers }, { device, call });
    if (found === undefined) {
      family.seen = -Infinity;
      return undefined;
    }
  }
  const { sizes, program, programSizes, reads } = found;
  const at = (d: Dim) => sizes.evaluate(d, values);
  const results = found.results.map(({ shape, strides, dtype }): Layout =>
    layoutOf({ shape: shape.map(at), strides: strides.map(at), dtype, device })
  );
  if (results.some(({ numel }) => numel === 0)) return undefined;
  const draws = entry.definition.implementation.kind === "random";
  // Here, where the program's changes to builtins are not in effect
  if (!found.isReady) program.prepare?.();
  found.isReady = true;
  return { results, program, reads, numbers, draws, sizes: programSizes.map(at) };
}

/** Returns the number of elements that a call without operands may produce. */
function requestedElements({ values, units }: ClassCall): number {
  return values.reduce((product, value, k) => product * value * (units[k] ?? 1), 1);
}

function familyOf(entry: OpEntry, key: string): Family {
  keepCurrent();
  let byKey = families.get(entry);
  if (!byKey) families.set(entry, byKey = new Map());
  let family = byKey.get(key);
  if (!family) {
    const cacheName = entry.cacheName === null ? null : `${entry.cacheName} ${key}`;
    byKey.set(key, family = { cacheName, classes: [], hasLoaded: false, isOpByOp: false, seen: 0 });
  }
  return family;
}

/** Returns the device of a call, if all its tensors are on it. */
function deviceOf(tensors: readonly Tensor[], args: TensorArgs): DeviceName | undefined {
  const [first] = tensors, { device: asked } = args;
  const device = first?.layout.device ?? (typeof asked === "string" ? asked : "cpu");
  return tensors.every(({ layout }) => layout.device === device) ? device : undefined;
}

/** The device of a call, and its class form. */
interface Placed {
  readonly device: DeviceName;
  readonly call: ClassCall;
}

/** The class that an earlier process created for such calls. */
function cachedClass(family: Family, request: ClassRequest, { device, call }: Placed): CallClass | undefined {
  if (family.cacheName === null || family.hasLoaded) return undefined;
  family.hasLoaded = true;
  const layouts = withoutMemory(request);
  const kept = cachedClasses(family.cacheName, call);
  family.isOpByOp = kept?.length === 0;
  for (const each of kept ?? []) {
    // Compiled again, for the same sizes, only if more than its code is needed
    const program = (): Program => {
      const made = compileCall(layouts, { device, sizes: new ClassSizes(call, each.sizes.hints) });
      if (typeof made === "object" && hasText(each, textOf(made))) return made.program;
      throw new InternalError(
        `Expected the code of ${request.entry.definition.name} to equal the stored code`,
      );
    };
    family.classes.push({
      ...each,
      program: compiledOnce(each, device, { program, request }),
      isReady: false,
    });
  }
  return family.classes.find(({ sizes }) => sizes.admits(call.values));
}

const hasText = ({ text }: CachedClass, made: string): boolean => text === made || text === shippedText(made);

/** A call of the same layouts, whose tensors hold no memory. */
function withoutMemory({ entry, args, numbers }: ClassRequest): ClassRequest {
  const hollow = ({ layout }: Tensor) => Tensor.elementless(layout.meta);
  return { entry, args: mapTensors(entry, args, hollow), numbers };
}

function newClass(family: Family, request: ClassRequest, { device, call }: Placed): CallClass | undefined {
  const { name } = request.entry.definition;
  const sizes = new ClassSizes(call);
  try {
    const made = compileCall(request, { device, sizes });
    if (made === "op by op") {
      family.isOpByOp = true;
      if (family.cacheName !== null) cacheClasses(family.cacheName, []);
      return undefined;
    }
    if (!made) return undefined;
    const { program, programSizes, reads, results } = made;
    const parts: CachedClass = {
      sizes,
      programSizes,
      reads,
      results,
      kernelCount: program.kernels.length,
      text: textOf(made),
    };
    const found = {
      ...parts,
      program: compiledOnce(parts, device, { program: () => program, request }),
      isReady: false,
    };
    family.classes.push(found);
    counters.add("eager", "classes");
    if (family.cacheName !== null) cacheClasses(family.cacheName, family.classes);
    return found;
  } catch (thrown) {
    logs.emit("tiers", () => `${name} runs by shape: ${messageOf(thrown)}`, "debug");
    if (thrown instanceof InternalError) {
      logs.emit("perf_hints", () => `${name} has no class: ${messageOf(thrown)}`);
    }
    return undefined;
  }
}

/** A call as a program. */
interface CompiledCall {
  readonly program: Program;
  /** The values of its sizes, over those of the class. */
  readonly programSizes: readonly Dim[];
  readonly reads: readonly number[];
  readonly results: readonly ClassResult[];
  /** Whether each size is at most its limit. */
  readonly answers: readonly boolean[];
}

function compileCall(
  request: ClassRequest,
  { device, sizes }: { readonly device: DeviceName; readonly sizes: ClassSizes },
): CompiledCall | "op by op" | undefined {
  const straight = pointwiseProgram({ ...request, sizes });
  if (!straight) return compileSettled(request, { device, sizes });
  const { program, sizes: programSizes, reads, result } = straight;
  return { program, programSizes, reads, results: [result], answers: [] };
}

/** The same with the graph compiler, after sizes that are equal by chance became constants. */
function compileSettled(
  request: ClassRequest,
  at: { readonly device: DeviceName; readonly sizes: ClassSizes },
): ReturnType<typeof compileGraphOf> {
  for (;;) {
    try {
      return compileGraphOf(request, at);
    } catch (thrown) {
      if (!(thrown instanceof EqualByChance)) throw thrown;
      at.sizes.fix(thrown.symbols);
    }
  }
}

function compileGraphOf(
  { entry, args, numbers }: ClassRequest,
  { device, sizes }: { readonly device: DeviceName; readonly sizes: ClassSizes },
): CompiledCall | "op by op" | undefined {
  const made = graphOf({ entry, args, numbers, sizes, device });
  if (!made) return "op by op";
  if (!compiler) return undefined;
  const compiled = compiler(made.graph, { name: entry.definition.name, ownResults: made.results });
  const { program, inputs, outputs, limits } = compiled;
  const results = outputs.flatMap((output, at) => {
    if (output.kind !== "tensor" || output.of !== "output" || output.index !== at || output.offset !== 0) {
      return [];
    }
    const { shape, strides, dtype, isPairs } = output;
    if (!isPairs) return [{ shape, strides, dtype }];
    const whole = complexMeta({ shape, strides, offset: 0, dtype, device });
    return [{ shape: whole.shape, strides: whole.strides, dtype: whole.dtype }];
  });
  // Programs do not make results that alias an operand or another result
  if (results.length !== made.results || program.outputs.length !== made.results) return undefined;
  if (program.kernels.length === 0) return undefined;
  return {
    program,
    programSizes: compiled.sizes,
    reads: inputs.map((input) => made.places[input] ?? 0),
    results,
    answers: limits.map(({ size, limit }) => sizes.isAtMost(size, limit)),
  };
}

/** The complete text of a program and of the answers that it was compiled with. */
const textOf = ({ answers, program }: CompiledCall): string =>
  `${answers}\n${printProgram(program, { origins: false })}`;

/** The program for a device, shared by all classes with the same text and answers. */
function compiledOnce(
  { text, kernelCount }: Pick<CachedClass, "text" | "kernelCount">,
  device: DeviceName,
  { program, request: { entry } }: { readonly program: () => Program; readonly request: ClassRequest },
): CompiledProgram {
  const compile = deviceNamed(device).compileClass;
  if (!compile) throw new InternalError(`Expected a device that compiles classes but found ${device}`);
  const key = `${device} ${text}`;
  const known = programs.get(key);
  if (known) return known;
  const made = compile({
    name: entry.definition.name,
    kernelCount,
    program,
    ...entry.cacheName === null ? { cached: null, store() {} } : cachedCode(key),
  });
  noteCosts(made, () => costsOf(program()));
  programs.set(key, made);
  return made;
}
