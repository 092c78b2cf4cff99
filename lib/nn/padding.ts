/** Padding layers: each pads as many of the last dimensions as its name says. */
import { refuseSurplus } from "../base/checked_input.ts";
import { pad } from "../tensor/generated_functions.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { type Arguments, argumentsOf, spread } from "../base/arguments.ts";
import { settings } from "../base/console_text.ts";
import { Module } from "./module.ts";

type Mode = "constant" | "reflect" | "replicate" | "circular";

/** The number of elements around each sample: one for all sides, or one per side. */
export type Padding = number | readonly number[];

interface Sides {
  readonly padding: Padding;
}

interface Filled extends Sides {
  readonly value: number;
}

const SIDES = { required: ["padding"], positional: [] } as const;
const FILLED = { required: ["padding", "value"], positional: [] } as const;
type SideArguments = Arguments<Sides, object, typeof SIDES>;
type FilledArguments = Arguments<Filled, object, typeof FILLED>;

abstract class Pad extends Module {
  /** Number of dimensions that are padded. */
  protected static readonly rank: number;
  /** [before, after] of the last dimension, then of the one before it, … */
  readonly padding: readonly number[];
  protected abstract readonly mode: Mode;

  constructor(padding: Padding, readonly value: number | null = null) {
    super();
    this.padding = spread(padding, 2 * new.target.rank);
  }

  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    return pad(x, this.padding, this.mode, this.value);
  }

  override extraRepr(): string {
    return settings([this.padding]);
  }
}

abstract class ConstantPad extends Pad {
  protected override readonly mode: Mode = "constant";

  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(...given: FilledArguments) {
    const { padding, value } = argumentsOf<Filled, object>(new.target.name, FILLED, given);
    super(padding, value);
  }

  override extraRepr(): string {
    return settings([], { padding: this.padding, value: this.value });
  }
}

/** A padding layer without a fill value. */
abstract class PlainPad extends Pad {
  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(...given: SideArguments) {
    super(argumentsOf<Sides, object>(new.target.name, SIDES, given).padding);
  }
}

abstract class ZeroPad extends PlainPad {
  protected override readonly mode: Mode = "constant";
}
abstract class ReflectionPad extends PlainPad {
  protected override readonly mode: Mode = "reflect";
}
abstract class ReplicationPad extends PlainPad {
  protected override readonly mode: Mode = "replicate";
}
abstract class CircularPad extends PlainPad {
  protected override readonly mode: Mode = "circular";
}

/** Pads with a value, as torch.nn.ConstantPad1d. */
export class ConstantPad1d extends ConstantPad {
  /** Number of dimensions that are padded. */
  protected static override readonly rank = 1;
}

/** Pads with a value, as torch.nn.ConstantPad2d. */
export class ConstantPad2d extends ConstantPad {
  /** Number of dimensions that are padded. */
  protected static override readonly rank = 2;
}

/** Pads with a value, as torch.nn.ConstantPad3d. */
export class ConstantPad3d extends ConstantPad {
  /** Number of dimensions that are padded. */
  protected static override readonly rank = 3;
}

/** Pads with zeros, as torch.nn.ZeroPad1d. */
export class ZeroPad1d extends ZeroPad {
  /** Number of dimensions that are padded. */
  protected static override readonly rank = 1;
}

/** Pads with zeros, as torch.nn.ZeroPad2d. */
export class ZeroPad2d extends ZeroPad {
  /** Number of dimensions that are padded. */
  protected static override readonly rank = 2;
}

/** Pads with zeros, as torch.nn.ZeroPad3d. */
export class ZeroPad3d extends ZeroPad {
  /** Number of dimensions that are padded. */
  protected static override readonly rank = 3;
}

/** Pads with the input's mirror image, as torch.nn.ReflectionPad1d. */
export class ReflectionPad1d extends ReflectionPad {
  /** Number of dimensions that are padded. */
  protected static override readonly rank = 1;
}

/** Pads with the input's mirror image, as torch.nn.ReflectionPad2d. */
export class ReflectionPad2d extends ReflectionPad {
  /** Number of dimensions that are padded. */
  protected static override readonly rank = 2;
}

/** Pads with the input's mirror image, as torch.nn.ReflectionPad3d. */
export class ReflectionPad3d extends ReflectionPad {
  /** Number of dimensions that are padded. */
  protected static override readonly rank = 3;
}

/** Pads with the input's edge elements, as torch.nn.ReplicationPad1d. */
export class ReplicationPad1d extends ReplicationPad {
  /** Number of dimensions that are padded. */
  protected static override readonly rank = 1;
}

/** Pads with the input's edge elements, as torch.nn.ReplicationPad2d. */
export class ReplicationPad2d extends ReplicationPad {
  /** Number of dimensions that are padded. */
  protected static override readonly rank = 2;
}

/** Pads with the input's edge elements, as torch.nn.ReplicationPad3d. */
export class ReplicationPad3d extends ReplicationPad {
  /** Number of dimensions that are padded. */
  protected static override readonly rank = 3;
}

/** Pads with elements from the input's opposite end, as torch.nn.CircularPad1d. */
export class CircularPad1d extends CircularPad {
  /** Number of dimensions that are padded. */
  protected static override readonly rank = 1;
}

/** Pads with elements from the input's opposite end, as torch.nn.CircularPad2d. */
export class CircularPad2d extends CircularPad {
  /** Number of dimensions that are padded. */
  protected static override readonly rank = 2;
}

/** Pads with elements from the input's opposite end, as torch.nn.CircularPad3d. */
export class CircularPad3d extends CircularPad {
  /** Number of dimensions that are padded. */
  protected static override readonly rank = 3;
}
