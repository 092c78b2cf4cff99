/**
 * Custom ops: the namespace `library`, like `torch.library`. Transforms, the tape and compiled graphs treat a custom
 * op as one step. Invariant: registering by name and by op are equivalent.
 */
import { optionsOf, refuseSurplus, refuseValue } from "./base/checked_input.ts";
import { gradcheck } from "./autograd/gradcheck.ts";
import {
  type AutogradOptions,
  type CustomOp,
  customOp,
  customOpNamed,
  fakeResults,
  isCustomOp,
  isDifferentiable,
  type OpBackward,
  type OpFunction,
} from "./autograd/custom_op.ts";
import { DynError } from "./base/errors.ts";
import { isFloat } from "./base/dtype.ts";
import { flatten, mapTree } from "./base/tree.ts";
import { compile } from "./compile.ts";
import type { DeviceName } from "./loops/device.ts";
import { noGrad } from "./tensor/modes.ts";
import { ops } from "./tensor/eager.ts";
import { isTensor, type Tensor } from "./tensor/tensor.ts";

export { type AutogradOptions, type CustomOp, customOp, type OpBackward, type OpFunction };
export { kernel, type KernelOptions } from "./autograd/user_kernel.ts";
export type { CustomOpOptions } from "./autograd/custom_op.ts";

/** An op, or its qualified name. */
export type OpOrName = CustomOp | string;

function opOf(op: OpOrName): CustomOp {
  if (typeof op === "string") return customOpNamed(op);
  if (isCustomOp(op)) return op;
  refuseValue("an op made by library.customOp, or its name,", op);
}

/**
 * Registers how to compute an op's results for tensors without elements, like `torch.library.register_fake`. Returns
 * the function.
 */
export function registerFake<F extends OpFunction>(op: OpOrName, fake: F): F {
  if (arguments.length > 2) refuseSurplus("registerFake", 2, arguments);
  return opOf(op).registerFake(fake);
}

/** Registers an op's gradient, like `torch.library.register_autograd`. */
export function registerAutograd(op: OpOrName, backward: OpBackward, options: AutogradOptions = {}): void {
  if (arguments.length > 3) refuseSurplus("registerAutograd", 3, arguments);
  opOf(op).registerAutograd(backward, options);
}

/** Registers an op's implementation for devices, like `torch.library.register_kernel`. Returns the function. */
export function registerKernel<F extends OpFunction>(
  op: OpOrName,
  devices: DeviceName | readonly DeviceName[],
  kernel: F,
): F {
  if (arguments.length > 3) refuseSurplus("registerKernel", 3, arguments);
  return opOf(op).registerKernel(devices, kernel);
}

/** The checks of `opCheck`: declared writes, the gradient, the fake implementation, and a compiled call. */
const CHECKS = ["testSchema", "testAutogradRegistration", "testFaketensor", "testAotDispatch"] as const;

/** A check of `opCheck`. */
export type OpCheckName = (typeof CHECKS)[number];

/** The results of an op's checks: "SUCCESS", or a description of the failure. */
export type OpCheckResults = Readonly<Partial<Record<OpCheckName, string>>>;

/** Options of `opCheck`: the checks to make, and whether it throws. */
export interface OpCheckOptions {
  /** The checks to make; default: all of them. */
  readonly testUtils?: OpCheckName | readonly OpCheckName[];
  /** Whether errors are thrown (default) or returned. */
  readonly raiseException?: boolean;
}

const OP_CHECK = ["testUtils", "raiseException"] as const;

/**
 * Checks an op on arguments, like `torch.library.opcheck`: its declared writes, its fake implementation, and that
 * compiled calls and gradients agree with eager ones. Throws DynError for the first fault, unless `raiseException` is
 * false.
 */
export function opCheck(
  op: OpOrName,
  args: readonly unknown[],
  options: OpCheckOptions = {},
): OpCheckResults {
  if (arguments.length > 3) refuseSurplus("opCheck", 3, arguments);
  const { testUtils = CHECKS, raiseException = true } = optionsOf("opCheck", options, OP_CHECK);
  const checked = opOf(op), results: Partial<Record<OpCheckName, string>> = {};
  for (const name of [testUtils].flat()) {
    const fault = FAULTS[name](checked, args);
    results[name] = fault ?? "SUCCESS";
    if (fault !== null && raiseException) {
      throw new DynError(`Expected ${checked.qualifiedName} to pass ${name} but found that ${fault}`);
    }
  }
  return results;
}

const apply = (op: CustomOp, args: readonly unknown[]): unknown => Reflect.apply(op, undefined, args);

/** Copies arguments, so that they may be written to. */
function copied(args: readonly unknown[], requiresGrad = false): readonly unknown[] {
  const made = mapTree(args, (leaf) => {
    if (!isTensor(leaf)) return leaf;
    const own = noGrad(() => ops.clone(leaf));
    return requiresGrad && leaf.requiresGrad ? own.requiresGrad_() : own;
  }, isTensor);
  return Array.isArray(made) ? made : [];
}

const tensorsOf = (value: unknown): readonly Tensor[] => flatten(value, isTensor).leaves.filter(isTensor);

const isSame = (a: Tensor, b: Tensor): boolean =>
  `${a.shape}` === `${b.shape}` && a.dtype === b.dtype && a.detach().allclose(b.detach(), { equalNan: true });

const FAULTS: Readonly<
  Record<OpCheckName, (op: CustomOp, args: readonly unknown[]) => string | null>
> = {
  testSchema(op, args) {
    const given = copied(args), before = copied(args);
    noGrad(() => apply(op, given));
    const changed = given.flatMap((each, at) =>
      tensorsOf(each).every((x, k) => isSame(x, tensorsOf(before[at])[k] ?? x)) ? [] : [at]
    );
    const unsaid = changed.find((at) => !op.mutated.includes(at));
    return unsaid === undefined ? null : `it writes to argument ${unsaid}, which mutatesArgs does not name`;
  },
  testAutogradRegistration(op, args) {
    const needs = tensorsOf(args).some(({ requiresGrad }) => requiresGrad);
    if (!needs) return null;
    if (!isDifferentiable(op)) return "an argument requires grad, and it has no gradient (registerAutograd)";
    const given = copied(args, true),
      inputs = tensorsOf(given).filter((x) => x.requiresGrad && isFloat(x.dtype));
    if (inputs.some(({ dtype }) => dtype !== "float64")) return null;
    try {
      gradcheck(() => tensorsOf(apply(op, given)), inputs);
      return null;
    } catch (thrown) {
      return thrown instanceof Error ? thrown.message : String(thrown);
    }
  },
  testFaketensor(op, args) {
    const expected = tensorsOf(noGrad(() => apply(op, copied(args)))), found = fakeResults(op, args)?.tensors;
    if (!found) return "it has no fake (registerFake)";
    const form = (list: readonly Tensor[]) =>
      list.map(({ dtype, shape }) => `${dtype} [${shape}]`).join(", ");
    return form(found) === form(expected)
      ? null
      : `its fake returns ${form(found)} where it returns ${form(expected)}`;
  },
  testAotDispatch(op, args) {
    const plain = copied(args, true), traced = copied(args, true);
    const run = (...given: readonly unknown[]): unknown => apply(op, given);
    const compiled = compile(run, { backend: "aot_eager", fullgraph: true });
    const both = [tensorsOf([run(...plain), plain]), tensorsOf([compiled(...traced), traced])] as const;
    if (!both[0].every((x, k) => isSame(x, both[1][k] ?? x))) return "a compiled call returns something else";
    const gradients = [plain, traced].map((given, k) => {
      const outputs = (both[k] ?? []).filter((x) => x.requiresGrad && !x.isLeaf);
      if (outputs.length === 0) return [];
      outputs.map((x) => x.sum()).reduce((a, b) => a.add(b)).backward();
      return tensorsOf(given).flatMap(({ grad }) => grad ?? []);
    });
    const [a = [], b = []] = gradients;
    return a.length === b.length && a.every((x, k) => isSame(x, b[k] ?? x))
      ? null
      : "gradients of a compiled call differ";
  },
};
