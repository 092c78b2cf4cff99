/** Padding layers: each pads the last dimensions of its input, as many as its name says. */
import { pad } from "../tensor/generated_functions.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { spread } from "../base/arguments.ts";
import { Module } from "./module.ts";

type Mode = "constant" | "reflect" | "replicate" | "circular";

abstract class Pad extends Module {
  /** [before, after] of the last dimension, then of the one before it, … */
  readonly padding: readonly number[];
  protected abstract readonly mode: Mode;

  constructor(rank: number, padding: number | readonly number[], readonly value: number | null = null) {
    super();
    this.padding = spread(padding, 2 * rank);
  }

  override forward(x: Tensor): Tensor {
    return pad(x, this.padding, this.mode, this.value);
  }

  override extraRepr(): string {
    return `padding=[${this.padding}]${this.value ? `, value=${this.value}` : ""}`;
  }
}

abstract class ConstantPad extends Pad {
  protected override readonly mode: Mode = "constant";
}
abstract class ReflectionPad extends Pad {
  protected override readonly mode: Mode = "reflect";
}
abstract class ReplicationPad extends Pad {
  protected override readonly mode: Mode = "replicate";
}
abstract class CircularPad extends Pad {
  protected override readonly mode: Mode = "circular";
}

/** What is written around each sample: one count for all sides, or one a side. */
export type Padding = number | readonly number[];

/** Pads with a value, as torch.nn.ConstantPad1d. */
export class ConstantPad1d extends ConstantPad {
  constructor(padding: Padding, value: number) {
    super(1, padding, value);
  }
}

/** Pads with a value, as torch.nn.ConstantPad2d. */
export class ConstantPad2d extends ConstantPad {
  constructor(padding: Padding, value: number) {
    super(2, padding, value);
  }
}

/** Pads with a value, as torch.nn.ConstantPad3d. */
export class ConstantPad3d extends ConstantPad {
  constructor(padding: Padding, value: number) {
    super(3, padding, value);
  }
}

/** Pads with zeros, as torch.nn.ZeroPad1d. */
export class ZeroPad1d extends ConstantPad {
  constructor(padding: Padding) {
    super(1, padding);
  }
}

/** Pads with zeros, as torch.nn.ZeroPad2d. */
export class ZeroPad2d extends ConstantPad {
  constructor(padding: Padding) {
    super(2, padding);
  }
}

/** Pads with zeros, as torch.nn.ZeroPad3d. */
export class ZeroPad3d extends ConstantPad {
  constructor(padding: Padding) {
    super(3, padding);
  }
}

/** Pads with the mirror image, as torch.nn.ReflectionPad1d. */
export class ReflectionPad1d extends ReflectionPad {
  constructor(padding: Padding) {
    super(1, padding);
  }
}

/** Pads with the mirror image, as torch.nn.ReflectionPad2d. */
export class ReflectionPad2d extends ReflectionPad {
  constructor(padding: Padding) {
    super(2, padding);
  }
}

/** Pads with the mirror image, as torch.nn.ReflectionPad3d. */
export class ReflectionPad3d extends ReflectionPad {
  constructor(padding: Padding) {
    super(3, padding);
  }
}

/** Pads with its edges, as torch.nn.ReplicationPad1d. */
export class ReplicationPad1d extends ReplicationPad {
  constructor(padding: Padding) {
    super(1, padding);
  }
}

/** Pads with its edges, as torch.nn.ReplicationPad2d. */
export class ReplicationPad2d extends ReplicationPad {
  constructor(padding: Padding) {
    super(2, padding);
  }
}

/** Pads with its edges, as torch.nn.ReplicationPad3d. */
export class ReplicationPad3d extends ReplicationPad {
  constructor(padding: Padding) {
    super(3, padding);
  }
}

/** Pads with its other end, as torch.nn.CircularPad1d. */
export class CircularPad1d extends CircularPad {
  constructor(padding: Padding) {
    super(1, padding);
  }
}

/** Pads with its other end, as torch.nn.CircularPad2d. */
export class CircularPad2d extends CircularPad {
  constructor(padding: Padding) {
    super(2, padding);
  }
}

/** Pads with its other end, as torch.nn.CircularPad3d. */
export class CircularPad3d extends CircularPad {
  constructor(padding: Padding) {
    super(3, padding);
  }
}
