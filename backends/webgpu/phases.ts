/**
 * The phases of a convolution's strides in the gradient of its input.
 */
import { InternalError } from "../../lib/base/errors.ts";
import { ofPhase, phasesOf } from "../../lib/codegen/product_sizes.ts";
import type { BufferView, ConvGeometry } from "../../lib/loops/ir.ts";
import type { Dim } from "../../lib/sym/expr.ts";
import type { ShaderWriter } from "./print/statements.ts";

/** The vertical or horizontal axis of an image. */
export type Axis = "y" | "x";

/**
 * Phases of the strides, of the gradient of an input: phase n1 has `taps_` taps, which begin at `first_` and are a
 * stride apart, and the positions that begin at `start_`; the first tap of its first position corresponds to result
 * `lead_`.
 */
export class Phases {
  readonly strides: Readonly<Record<Axis, number>>;
  /** Names of the number of taps of a phase, vertically and horizontally. */
  readonly taps: Readonly<Record<Axis, string>> = { y: "taps_y", x: "taps_x" };

  constructor(
    readonly w: ShaderWriter,
    readonly setting: { readonly call: ConvGeometry; readonly weight: BufferView },
  ) {
    const [y, x] = phasesOf(setting.call);
    this.strides = { y, x };
  }

  get count(): number {
    return this.strides.y * this.strides.x;
  }

  /** Maximum number of positions of an image in a phase, vertically and horizontally. */
  sizes(images: BufferView): readonly [Dim, Dim] {
    return [ofPhase(size(images, 2), this.strides.y), ofPhase(size(images, 3), this.strides.x)];
  }

  /** The depth of the product for this many channels. */
  depth(channels: Dim): string {
    return `${this.w.number("summed channels", channels)} * taps_y * taps_x`;
  }

  prepare(): void {
    const { w, strides } = this, { call, weight } = this.setting;
    w.line(`let first_y = n1 / ${strides.x}; let first_x = n1 % ${strides.x};`);
    for (const [d, axis] of (["y", "x"] as const).entries()) {
      const stride = strides[axis], padding = call.padding[d] ?? 0, taps = w.index(size(weight, 2 + d));
      const before = Math.ceil(padding / stride) * stride - padding;
      w.line(`let taps_${axis} = (${taps} - first_${axis} + ${stride - 1}) / ${stride};`);
      w.line(`let start_${axis} = (first_${axis} + ${before}) % ${stride};`);
      w.line(`let lead_${axis} = (start_${axis} + ${padding} - first_${axis}) / ${stride};`);
    }
  }
}

/** A size of an image or a weight. */
export function size(view: BufferView, dimension: number): Dim {
  const found = view.shape[dimension];
  if (found === undefined) throw new InternalError("Expected images and weights of four dimensions");
  return found;
}
