/**
 * Layers that infer their input size from the first input, like torch.nn.LazyLinear and its relatives. After the first
 * call, or after a state is loaded, the layer is an instance of the complete class. Invariant: parameters keep their
 * identity, so that optimizers may be created before.
 */
import { trailing } from "../base/arguments.ts";
import { DynError, InternalError } from "../base/errors.ts";
import { removeHooks } from "../base/hook_list.ts";
import { isPlainObject } from "../base/tree.ts";
import { isTensor, type Tensor } from "../tensor/tensor.ts";
import { Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d } from "./conv.ts";
import { dropEmptyLists } from "./hooks.ts";
import { withoutInit } from "./init_skipping.ts";
import { Linear } from "./linear.ts";
import { Module, type StateDict } from "./module.ts";
import {
  BatchNorm1d,
  BatchNorm2d,
  BatchNorm3d,
  type BatchNormOptions,
  InstanceNorm1d,
  InstanceNorm2d,
  InstanceNorm3d,
  STATISTICS,
} from "./normalization.ts";
import { isUninitialized } from "../tensor/uninitialized.ts";
import { Parameter } from "./parameter.ts";
import { UninitializedBuffer, UninitializedParameter } from "./uninitialized.ts";

/** The arguments of a layer except its input size. */
export type WithoutInputs<A extends readonly unknown[]> = A extends readonly [number, ...infer Rest] ? Rest
  : A extends readonly [infer Named extends object]
    ? [Omit<Named, "inFeatures" | "inChannels" | "numFeatures">]
  : never;

/** A class of layers. */
type LayerClass = new (...given: never) => Module;

/** The name of the argument that is the input size. */
type InputSize = "inFeatures" | "inChannels" | "numFeatures";

/** The class that a lazy layer becomes, and how the missing argument is inferred. */
interface Plan {
  readonly Layer: LayerClass;
  readonly size: InputSize;
  /** Allowed numbers of input dimensions; null for any but 0. */
  readonly ranks: readonly number[] | null;
  /** The input dimension that determines the size; negative: from the end. */
  readonly dim: number;
  /** The state entries, with their dimensions, that determine the size. */
  readonly told: readonly (readonly [key: string, dim: number])[];
  /** The other arguments of the layer. */
  readonly given: readonly unknown[];
}

/** Fields that the complete layer takes from the lazy one. */
const KEPT: ReadonlySet<string> = new Set(["training", "registeredHooks", "compiledForward", "lazyPlan"]);

/** A layer before its first input. */
abstract class LazyLayer extends Module {
  /** @internal */
  readonly lazyPlan: Plan;

  constructor(plan: Plan) {
    super();
    this.lazyPlan = plan;
    // Invalid arguments throw now; zero channels are divisible by any number of groups
    for (const [field, value] of Object.entries(withoutInit(() => built(plan, 0)))) {
      if (KEPT.has(field)) continue;
      Reflect.set(
        this,
        field,
        isTensor(value) ? withoutShape(value, `${field} of ${new.target.name}`) : value,
      );
    }
    this.registerLoadStateDictPreHook(readLazily);
  }

  /** Completes the layer for the input, and calls it. Throws DynError for inputs of other ranks. */
  override forward(x: Tensor, ...rest: readonly unknown[]): Tensor {
    const { lazyPlan: plan } = this;
    become(this, built(plan, sizeOf(x, plan, this)));
    return Reflect.apply(plan.Layer.prototype.forward, this, [x, ...rest]);
  }

  /** The settings that it prints before its first input. */
  override extraRepr(): string {
    return Reflect.apply(this.lazyPlan.Layer.prototype.extraRepr, this, []);
  }
}

/** A parameter of a layer for 0 inputs, or a buffer that depends on their number, as one that has no shape yet. */
function withoutShape(tensor: Tensor, name: string): Tensor {
  const { dtype, device } = tensor;
  if (tensor instanceof Parameter) {
    const { requiresGrad } = tensor;
    return new UninitializedParameter({ dtype, device, requiresGrad, name: `the parameter ${name}` });
  }
  return tensor.numel() > 0 ? tensor : new UninitializedBuffer({ dtype, device, name: `the buffer ${name}` });
}

/** Creates the complete layer for a number of inputs. */
function built({ Layer, size, given }: Plan, inputs: number): Module {
  const [first, ...rest] = given;
  const made: unknown = Reflect.construct(
    Layer,
    isPlainObject(first) ? [{ [size]: inputs, ...first }, ...rest] : [inputs, ...given],
  );
  if (made instanceof Module) return made;
  throw new InternalError(`Expected a layer but found ${typeof made}`);
}

/** Completes a lazy layer before it loads a state. */
function readLazily(module: Module, state: StateDict, prefix: string): void {
  const size = module instanceof LazyLayer ? sizeIn(state, prefix, module) : null;
  if (!(module instanceof LazyLayer) || size === null) return;
  become(module, withoutInit(() => built(module.lazyPlan, size)));
}

function sizeOf(x: Tensor, { ranks, dim }: Plan, { constructor }: LazyLayer): number {
  const size = isTensor(x) ? x.shape.at(dim) : undefined;
  if (size !== undefined && (ranks === null || ranks.includes(x.ndim))) return size;
  const wanted = ranks === null ? "at least 1" : ranks.join(" or ");
  throw new DynError(
    `Expected an input of ${wanted} dimensions for ${constructor.name} but found ` +
      (isTensor(x) ? `shape [${x.shape.join(", ")}]` : typeof x),
  );
}

/**
 * The input size that a state implies; null if it contains no such entry, or that of a layer before its first input.
 */
function sizeIn(
  state: StateDict,
  prefix: string,
  { lazyPlan: { told }, ...layer }: LazyLayer,
): number | null {
  for (const [key, dim] of told) {
    const entry = state[prefix + key];
    if (entry === undefined || isUninitialized(entry)) continue;
    const size = entry.shape[dim];
    if (size === undefined || entry.numel() === 0) continue;
    const groups: unknown = Reflect.get(layer, "groups");
    return dim === 1 && typeof groups === "number" ? size * groups : size;
  }
  return null;
}

/** Turns a lazy layer into the complete one. */
export function become(lazy: LazyLayer, made: Module): void {
  for (const [field, value] of Object.entries(made)) {
    if (KEPT.has(field)) continue;
    const former: unknown = Reflect.get(lazy, field);
    if (isTensor(former) && isTensor(value)) adopt(former, value, `${field} of ${lazy.constructor.name}`);
    else Reflect.set(lazy, field, value);
  }
  Reflect.deleteProperty(lazy, "lazyPlan");
  const { registeredHooks: hooks } = lazy;
  if (hooks) removeHooks(hooks.reading, ({ hook }) => hook === readLazily);
  dropEmptyLists(lazy);
  Object.setPrototypeOf(lazy, Object.getPrototypeOf(made));
}

/** Gives a tensor of a lazy layer the value of the complete one; it keeps the value that it has been given before. */
function adopt(former: Tensor, value: Tensor, name: string): void {
  if (isUninitialized(former)) {
    const { dtype, device } = former;
    former.replaceData(value.detach().to({ dtype, device }));
  } else if (`${former.shape}` !== `${value.shape}`) {
    throw new DynError(`Expected shape [${value.shape}] for ${name} but found [${former.shape}]`);
  }
}

/** The plan of a convolution over `rank` spatial dimensions; `dim` is the input dimension of its weight. */
const conv = (Layer: LayerClass, rank: number, given: readonly unknown[], dim = 1): Plan => ({
  Layer,
  size: "inChannels",
  ranks: [rank + 1, rank + 2],
  dim: -rank - 1,
  told: [["weight", dim]],
  given,
});

/** The plan of a layer with statistics per channel. */
const statistics = (
  Layer: LayerClass,
  ranks: readonly number[],
  given: readonly unknown[],
  dim = 1,
): Plan => ({
  Layer,
  size: "numFeatures",
  ranks,
  dim,
  told: [["weight", 0], ["running_mean", 0]],
  given,
});

/** Arguments of instance norms; lazy ones are affine and track running statistics by default, as in PyTorch. */
const followed = (given: readonly unknown[]): readonly unknown[] => [
  {
    affine: true,
    trackRunningStats: true,
    ...trailing<BatchNormOptions>("a lazy InstanceNorm", STATISTICS, given),
  },
];

/** Linear that infers inFeatures from its first input, as torch.nn.LazyLinear. */
export class LazyLinear extends LazyLayer {
  /** Takes what Linear takes without the first argument. */
  constructor(...given: WithoutInputs<ConstructorParameters<typeof Linear>>) {
    super({ Layer: Linear, size: "inFeatures", ranks: null, dim: -1, told: [["weight", 1]], given });
  }
}
/** The class of the layer after its first input. */
export interface LazyLinear extends Omit<Linear, keyof Module> {}

/** Conv1d that infers inChannels from its first input, as torch.nn.LazyConv1d. */
export class LazyConv1d extends LazyLayer {
  /** Takes what Conv1d takes without the first argument. */
  constructor(...given: WithoutInputs<ConstructorParameters<typeof Conv1d>>) {
    super(conv(Conv1d, 1, given));
  }
}
/** The class of the layer after its first input. */
export interface LazyConv1d extends Omit<Conv1d, keyof Module> {}

/** Conv2d that infers inChannels from its first input, as torch.nn.LazyConv2d. */
export class LazyConv2d extends LazyLayer {
  /** Takes what Conv2d takes without the first argument. */
  constructor(...given: WithoutInputs<ConstructorParameters<typeof Conv2d>>) {
    super(conv(Conv2d, 2, given));
  }
}
/** The class of the layer after its first input. */
export interface LazyConv2d extends Omit<Conv2d, keyof Module> {}

/** Conv3d that infers inChannels from its first input, as torch.nn.LazyConv3d. */
export class LazyConv3d extends LazyLayer {
  /** Takes what Conv3d takes without the first argument. */
  constructor(...given: WithoutInputs<ConstructorParameters<typeof Conv3d>>) {
    super(conv(Conv3d, 3, given));
  }
}
/** The class of the layer after its first input. */
export interface LazyConv3d extends Omit<Conv3d, keyof Module> {}

/** ConvTranspose1d that infers inChannels from its first input, as torch.nn.LazyConvTranspose1d. */
export class LazyConvTranspose1d extends LazyLayer {
  /** Takes what ConvTranspose1d takes without the first argument. */
  constructor(...given: WithoutInputs<ConstructorParameters<typeof ConvTranspose1d>>) {
    super(conv(ConvTranspose1d, 1, given, 0));
  }
}
/** The class of the layer after its first input. */
export interface LazyConvTranspose1d extends Omit<ConvTranspose1d, keyof Module> {}

/** ConvTranspose2d that infers inChannels from its first input, as torch.nn.LazyConvTranspose2d. */
export class LazyConvTranspose2d extends LazyLayer {
  /** Takes what ConvTranspose2d takes without the first argument. */
  constructor(...given: WithoutInputs<ConstructorParameters<typeof ConvTranspose2d>>) {
    super(conv(ConvTranspose2d, 2, given, 0));
  }
}
/** The class of the layer after its first input. */
export interface LazyConvTranspose2d extends Omit<ConvTranspose2d, keyof Module> {}

/** ConvTranspose3d that infers inChannels from its first input, as torch.nn.LazyConvTranspose3d. */
export class LazyConvTranspose3d extends LazyLayer {
  /** Takes what ConvTranspose3d takes without the first argument. */
  constructor(...given: WithoutInputs<ConstructorParameters<typeof ConvTranspose3d>>) {
    super(conv(ConvTranspose3d, 3, given, 0));
  }
}
/** The class of the layer after its first input. */
export interface LazyConvTranspose3d extends Omit<ConvTranspose3d, keyof Module> {}

/** BatchNorm1d that infers numFeatures from its first input, as torch.nn.LazyBatchNorm1d. */
export class LazyBatchNorm1d extends LazyLayer {
  /** Takes what BatchNorm1d takes without the first argument. */
  constructor(...given: WithoutInputs<ConstructorParameters<typeof BatchNorm1d>>) {
    super(statistics(BatchNorm1d, [2, 3], given));
  }
}
/** The class of the layer after its first input. */
export interface LazyBatchNorm1d extends Omit<BatchNorm1d, keyof Module> {}

/** BatchNorm2d that infers numFeatures from its first input, as torch.nn.LazyBatchNorm2d. */
export class LazyBatchNorm2d extends LazyLayer {
  /** Takes what BatchNorm2d takes without the first argument. */
  constructor(...given: WithoutInputs<ConstructorParameters<typeof BatchNorm2d>>) {
    super(statistics(BatchNorm2d, [4], given));
  }
}
/** The class of the layer after its first input. */
export interface LazyBatchNorm2d extends Omit<BatchNorm2d, keyof Module> {}

/** BatchNorm3d that infers numFeatures from its first input, as torch.nn.LazyBatchNorm3d. */
export class LazyBatchNorm3d extends LazyLayer {
  /** Takes what BatchNorm3d takes without the first argument. */
  constructor(...given: WithoutInputs<ConstructorParameters<typeof BatchNorm3d>>) {
    super(statistics(BatchNorm3d, [5], given));
  }
}
/** The class of the layer after its first input. */
export interface LazyBatchNorm3d extends Omit<BatchNorm3d, keyof Module> {}

/** InstanceNorm1d that infers numFeatures from its first input, as torch.nn.LazyInstanceNorm1d. */
export class LazyInstanceNorm1d extends LazyLayer {
  /** Takes what InstanceNorm1d takes without the first argument. */
  constructor(...given: WithoutInputs<ConstructorParameters<typeof InstanceNorm1d>>) {
    super(statistics(InstanceNorm1d, [2, 3], followed(given), -2));
  }
}
/** The class of the layer after its first input. */
export interface LazyInstanceNorm1d extends Omit<InstanceNorm1d, keyof Module> {}

/** InstanceNorm2d that infers numFeatures from its first input, as torch.nn.LazyInstanceNorm2d. */
export class LazyInstanceNorm2d extends LazyLayer {
  /** Takes what InstanceNorm2d takes without the first argument. */
  constructor(...given: WithoutInputs<ConstructorParameters<typeof InstanceNorm2d>>) {
    super(statistics(InstanceNorm2d, [3, 4], followed(given), -3));
  }
}
/** The class of the layer after its first input. */
export interface LazyInstanceNorm2d extends Omit<InstanceNorm2d, keyof Module> {}

/** InstanceNorm3d that infers numFeatures from its first input, as torch.nn.LazyInstanceNorm3d. */
export class LazyInstanceNorm3d extends LazyLayer {
  /** Takes what InstanceNorm3d takes without the first argument. */
  constructor(...given: WithoutInputs<ConstructorParameters<typeof InstanceNorm3d>>) {
    super(statistics(InstanceNorm3d, [4, 5], followed(given), -4));
  }
}
/** The class of the layer after its first input. */
export interface LazyInstanceNorm3d extends Omit<InstanceNorm3d, keyof Module> {}
