/**
 * Custom ops, like `torch.library.custom_op`: a function of tensors that may do anything with their elements becomes
 * an op, which transforms, the tape and compiled graphs treat as one step. Invariant: an op writes only to the
 * arguments that it names, and its results share memory with none of them.
 */
import {
  checkFunction,
  checkOptions,
  optionsOf,
  refuseChoice,
  refuseSurplus,
  refuseValue,
} from "../base/checked_input.ts";
import { DynError } from "../base/errors.ts";
import { reportFallback } from "../base/fallback.ts";
import { flatten, unflatten } from "../base/tree.ts";
import { Node } from "../graph/node.ts";
import type { DeviceName } from "../loops/device.ts";
import { ops } from "../tensor/eager.ts";
import { checkLeaf } from "../tensor/inplace.ts";
import { ambient, noGrad } from "../tensor/modes.ts";
import { hasTangents } from "../tensor/tangents.ts";
import { isTensor, modes, recordsGrad, Tensor } from "../tensor/tensor.ts";
import { Function as AutogradFunction, type FunctionContext } from "./function.ts";
import { ForwardMode } from "./forward/mode.ts";
import { makeFx } from "./make_fx.ts";
import { namedParameters } from "./parameter_names.ts";

/** A function over tensors and plain values that returns a tensor, several, or nothing. */
export type OpFunction = (...args: never[]) => unknown;

/** Properties of an op besides its function. */
export interface CustomOpOptions {
  /** The parameters that it writes to: by name, or by position. */
  readonly mutatesArgs?: readonly (string | number)[];
  /**
   * Its parameters and results, as `(Tensor x, float scale) -> Tensor`; by default, names are taken from the function.
   */
  readonly schema?: string;
  /** The devices that the function supports; by default, all of them. */
  readonly deviceTypes?: DeviceName | readonly DeviceName[];
  /**
   * Whether it begins a collective (base/pending_collectives.ts), which graphs await late.
   *
   * @internal
   */
  readonly isDeferrable?: boolean;
  /**
   * Whether it only shows something, as printing does: it has no results, and no gradient passes through it.
   *
   * @internal
   */
  readonly isDisplay?: boolean;
}

/** Computes gradients of an op's arguments from those of its results. */
export type OpBackward = (context: FunctionContext, ...grads: never[]) => unknown;

/** Saves the values that the op's gradient reads. */
export interface AutogradOptions {
  readonly setupContext?: (context: FunctionContext, inputs: never, output: never) => void;
}

/** A user-defined op. Throws DynError for calls that it does not support. */
export interface CustomOp<F extends OpFunction = OpFunction> {
  (...args: Parameters<F>): ReturnType<F>;
  /** `namespace::name`. */
  readonly qualifiedName: string;
  /** The positions of the parameters that it writes to. */
  readonly mutated: readonly number[];
  /** Registers how to compute results without elements, which compiled code needs. Returns the function. */
  registerFake<G extends OpFunction>(fake: G): G;
  /** Registers its gradient. */
  registerAutograd(backward: OpBackward, options?: AutogradOptions): void;
  /** Registers its implementation for a device. Returns the function. */
  registerKernel<G extends OpFunction>(devices: DeviceName | readonly DeviceName[], kernel: G): G;
}

/** The registrations of an op. */
interface Known {
  readonly name: string;
  readonly mutated: readonly number[];
  readonly kernels: Map<DeviceName | "", OpFunction>;
  readonly isDeferrable: boolean;
  readonly isDisplay: boolean;
  fake: OpFunction | null;
  function: typeof AutogradFunction;
  isDifferentiable: boolean;
  /** The op as a function without side effects. */
  functional: ((...args: readonly unknown[]) => readonly unknown[]) | null;
}

const known = new WeakMap<object, Known>();
const byName = new Map<string, CustomOp>();

/** Returns whether a function is a custom op. */
export function isCustomOp(fn: unknown): fn is CustomOp {
  return typeof fn === "function" && known.has(fn);
}

/** Returns the op of a qualified name. Throws DynError if there is none. */
export function customOpNamed(name: string): CustomOp {
  const found = byName.get(name);
  if (found) return found;
  refuseChoice("a custom op", [...byName.keys()], name);
}

/**
 * Defines an op: `name` has a namespace ("mylib::relu"). Throws DynError for an invalid name, and if the function lacks
 * a parameter of `mutatesArgs`.
 */
export function customOp<F extends OpFunction>(
  name: string,
  fn: F,
  options: CustomOpOptions = {},
): CustomOp<F> {
  if (arguments.length > 3) refuseSurplus("customOp", 3, arguments);
  const { mutatesArgs = [], schema, deviceTypes, isDeferrable = false, isDisplay = false } = optionsOf(
    "customOp",
    options,
    ["mutatesArgs", "schema", "deviceTypes", "isDeferrable", "isDisplay"],
  );
  if (!/^\w+::\w+(\.\w+)?$/.test(name)) {
    throw new DynError(`Expected the name of an op with its namespace, as mylib::relu, but found ${name}`);
  }
  const isNamed = schema !== undefined || mutatesArgs.some((each) => typeof each === "string");
  const parameters = isNamed ? namedParameters(fn, schema) : [], names = parameters.map((each) => each.name);
  const asked = mutatesArgs.map((each) => {
    const at = typeof each === "number" ? each : names.indexOf(each);
    if (at >= 0) return at;
    refuseChoice(`each of mutatesArgs of ${name}`, names, each);
  });
  const mutated = [
    ...new Set([...asked, ...parameters.flatMap(({ isWritten }, at) => isWritten ? [at] : [])]),
  ];
  const op = (...args: readonly unknown[]): unknown => callCustomOp(entryOf(op), args);
  const entry: Known = {
    name,
    mutated,
    kernels: new Map([deviceTypes ?? ""].flat().map((device): [DeviceName, OpFunction] => [device, fn])),
    isDeferrable,
    isDisplay,
    fake: isDisplay ? () => undefined : null,
    function: functionOf(name, () => entry, { backward: null, options: {} }),
    isDifferentiable: false,
    functional: null,
  };
  known.set(op, entry);
  const made = Object.assign(op, {
    qualifiedName: name,
    mutated,
    registerFake<G extends OpFunction>(fake: G): G {
      entry.fake = fake;
      return fake;
    },
    registerAutograd(backward: OpBackward, options: AutogradOptions = {}): void {
      if (mutated.length > 0) {
        throw new DynError(`Expected an op that writes to no argument to differentiate but found ${name}`);
      }
      checkFunction(backward, `that returns the gradients of ${name}`);
      checkOptions("registerAutograd", { setupContext: ["function"] }, options);
      entry.function = functionOf(name, () => entry, { backward, options });
      entry.isDifferentiable = true;
    },
    registerKernel<G extends OpFunction>(devices: DeviceName | readonly DeviceName[], kernel: G): G {
      for (const device of [devices].flat()) entry.kernels.set(device, kernel);
      return kernel;
    },
  });
  Object.defineProperty(made, "name", { value: name.replace("::", "_") });
  if (!isOp<F>(made)) throw new DynError(`Expected a function for ${name}`);
  byName.set(name, made);
  return made;
}

function isOp<F extends OpFunction>(op: unknown): op is CustomOp<F> {
  return isCustomOp(op);
}

function entryOf(op: object): Known {
  const entry = known.get(op);
  if (entry) return entry;
  refuseValue("an op made by library.customOp", op);
}

/** Creates a Function that runs the kernel of an op, with its registered gradient. */
function functionOf(
  name: string,
  entry: () => Known,
  { backward, options }: { readonly backward: OpBackward | null; readonly options: AutogradOptions },
): typeof AutogradFunction {
  const Op = class extends AutogradFunction {
    static override forward(...args: readonly unknown[]): unknown {
      return runKernel(entry(), args);
    }

    static override setupContext(context: FunctionContext, inputs: readonly never[], output: never): void {
      const { setupContext } = options;
      if (setupContext) Reflect.apply(setupContext, options, [context, inputs, output]);
    }

    static override backward(context: FunctionContext, ...grads: never[]): unknown {
      if (backward !== null) return backward(context, ...grads);
      throw new DynError(
        `Expected a gradient of ${name} but found none: define it with registerAutograd, or call it under noGrad`,
      );
    }
  };
  return Object.defineProperty(Op, "name", { value: name });
}

function callCustomOp(entry: Known, args: readonly unknown[]): unknown {
  const { leaves, spec } = flatten(args, isTensor), tensors = leaves.filter(isTensor);
  const { top } = modes;
  if (top?.apart && !(top instanceof ForwardMode)) {
    if (!entry.isDisplay) {
      reportFallback("vmap", `vmap: ${entry.name} has no rule for batches and runs for each element`);
    }
    return apart(entry, { leaves, spec }, top.apart.bind(top));
  }
  if (entry.isDisplay) return noGrad(() => runKernel(entry, args));
  const carried = tensors.some((each) => hasTangents(each));
  if (carried && !(entry.isDifferentiable && tensors.every((each) => args.includes(each)))) {
    throw new DynError(
      `Expected tensors without tangents for ${entry.name} but found some: define its gradient with registerAutograd`,
    );
  }
  if (entry.mutated.length > 0) return callMutating(entry, args);
  const inLists = args.filter((each) => !isTensor(each)).flatMap((each) => flatten(each, isTensor).leaves);
  if (recordsGrad(inLists.filter(isTensor))) {
    throw new DynError(
      `Expected tensors that require grad as separate arguments of ${entry.name} but found them in a list`,
    );
  }
  return carried || recordsGrad(tensors)
    ? entry.function.apply(...args)
    : noGrad(() => runKernel(entry, args));
}

/** Calls an op for each element of a batch. */
function apart(
  entry: Known,
  { leaves, spec }: ReturnType<typeof flatten>,
  run: (
    inputs: readonly (Tensor | null)[],
    code: (inputs: readonly (Tensor | null)[]) => readonly (Tensor | null)[],
  ) => readonly (Tensor | null)[],
): unknown {
  if (entry.mutated.length > 0) {
    throw new DynError(`Expected an op that writes to no argument under vmap but found ${entry.name}`);
  }
  const form: { isList: boolean } = { isList: false };
  const found = run(leaves.map((leaf) => isTensor(leaf) ? leaf : null), (inputs) => {
    const own = unflatten(spec, leaves.map((leaf, k) => inputs[k] ?? leaf));
    const result = callCustomOp(entry, Array.isArray(own) ? own : []);
    form.isList = Array.isArray(result);
    return [result].flat().filter(isTensor);
  });
  return form.isList ? found : found[0];
}

/** Calls an op that writes to arguments, and marks them as written. */
function callMutating(entry: Known, args: readonly unknown[]): unknown {
  const written = entry.mutated.map((at) => args[at]).filter(isTensor);
  if (ambient.gradEnabled && recordsGrad(flatten(args, isTensor).leaves.filter(isTensor))) {
    written.forEach(checkLeaf);
    throw new DynError(
      `Expected tensors that do not require grad for ${entry.name}, which writes to arguments; call it under noGrad`,
    );
  }
  const result = noGrad(() => runKernel(entry, args));
  for (const each of written) each.storage.version++;
  return result;
}

/** Runs an op on elements. Throws DynError for results that share memory with arguments or each other. */
function runKernel({ name, kernels }: Known, args: readonly unknown[]): unknown {
  const tensors = flatten(args, isTensor).leaves.filter(isTensor);
  const device = tensors.find((each) => each.ndim > 0)?.device ?? tensors[0]?.device ?? "cpu";
  const kernel = kernels.get(device) ?? kernels.get("");
  if (!kernel) {
    const has = [...kernels.keys()].join(", ");
    throw new DynError(
      `Expected ${name} on ${has} but found tensors on ${device}: add a kernel with registerKernel`,
    );
  }
  const result: unknown = Reflect.apply(kernel, undefined, args);
  const given = new Set(tensors.map(({ storage }) => storage));
  for (const each of [result].flat()) {
    if (each === undefined || each === null) continue;
    if (!isTensor(each)) throw new DynError(`Expected tensors from ${name} but found ${typeof each}`);
    if (given.has(each.storage)) {
      throw new DynError(
        `Expected results of ${name} with memory of their own but found one that shares it with an argument or another ` +
          "result; return a clone",
      );
    }
    given.add(each.storage);
  }
  return result;
}

/** Results of an op without elements, and whether they are a list. */
interface FakeResults {
  readonly tensors: readonly Tensor[];
  readonly isList: boolean;
}

/**
 * Infers the results of an op on tensors of which only metadata is known, by its registered function; null if there
 * is none. Results have no elements.
 */
export function fakeResults(op: CustomOp, args: readonly unknown[]): FakeResults | null {
  const { fake } = entryOf(op);
  if (fake === null) return null;
  const traced = makeFx(fake)(...args), [result] = traced.graph.output.args;
  const tensors = [result].flat().flatMap((each) => {
    if (each === undefined || each === null) return [];
    const value = each instanceof Node ? each.meta.value : null;
    if (value?.kind === "tensor") return [Tensor.elementless(value.tensor)];
    throw new DynError(`Expected tensors from the fake of ${op.qualifiedName}`);
  });
  return { tensors, isList: Array.isArray(result) };
}

/** Returns whether gradients of results flow to arguments. */
export function isDifferentiable(op: CustomOp): boolean {
  return entryOf(op).isDifferentiable;
}

/** Returns whether calls start work that is awaited later. */
export function isDeferrable(op: CustomOp): boolean {
  return entryOf(op).isDeferrable;
}

/**
 * Returns an op as a function without side effects: it returns its results, then the new values of the arguments that
 * it writes to.
 */
export function functionalised(op: CustomOp): (...args: readonly unknown[]) => readonly unknown[] {
  const entry = entryOf(op);
  return entry.functional ??= (...args) => {
    const own = args.map((each, at) =>
      entry.mutated.includes(at) && isTensor(each) ? noGrad(() => ops.clone(each)) : each
    );
    const result = callCustomOp(entry, own);
    return [...[result].flat().filter(isTensor), ...entry.mutated.map((at) => own[at])];
  };
}
