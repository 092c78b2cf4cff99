/**
 * Address computations of convolutions: indices of images, windows and filters are split and combined into offsets in
 * memory, as operands and results of tiled products and of patch convolutions.
 */
import { InternalError } from "../../lib/base/errors.ts";
import type { BufferView, ExternKernel } from "../../lib/loops/ir.ts";
import { phasesOf } from "../../lib/codegen/product_sizes.ts";
import { type Dim, mul, product } from "../../lib/sym/expr.ts";
import type { ConvolutionOp, Fours } from "./vec4.ts";
import type { PatchJob } from "./patches.ts";
import { type Axis, Phases, size } from "./phases.ts";
import type { Bindings } from "./print/bindings.ts";
import type { ShaderWriter } from "./print/statements.ts";
import type { TileElement, TileOperand, TileProduct, TileResult } from "./tile_stage.ts";

/** The context of a gather. */
interface GatherSetting {
  readonly w: ShaderWriter;
  readonly bindings: Bindings;
  readonly call: ConvolutionOp;
  readonly filter: BufferView | undefined;
  /** Number of parts into which sums are split. */
  readonly splits: number;
  /** Whether an epilogue is called for each result. */
  readonly finishes: boolean;
  /** How memory is accessed, including the operand that is read by vectors. */
  readonly fours: Fours;
  readonly inFours: BufferView | undefined;
}

/** A position, and the name of its declarations. */
interface Named {
  readonly place: string;
  readonly as: string;
}

/** The two positions of an element, by name. */
type Both = Parameters<TileOperand["element"]>[0];

/** Data that depend on the phase of the strides. */
interface Phased {
  readonly phases?: Phases | undefined;
}

/**
 * Writes lines that decompose positions: for each an offset `at_` and, if elements may be outside, `y_` and `x_`. An
 * element is at the sum of its two offsets.
 */
export class Gather {
  readonly #setting: GatherSetting;
  /** Numbers of views, in the order of their first use. */
  readonly #views = new Map<BufferView, number>();

  constructor(setting: GatherSetting) {
    this.#setting = setting;
  }

  get groups(): Dim {
    return this.#setting.call.groups;
  }

  /** One product for each group. */
  get whole(): Pick<TileProduct, "batch" | "prepare"> {
    return { batch: [this.groups], prepare() {} };
  }

  /** The phases of the gradient of the input; undefined if it is a single product. */
  phases(weight: BufferView): Phases | undefined {
    const { w, call } = this.#setting, counts = phasesOf(call);
    return product(counts) === 1 ? undefined : new Phases(w, { call, weight });
  }

  /** A channel of the current group as an index among all channels. */
  channel(within: string, perGroup: Dim): string {
    return this.groups === 1 ? within : `(n0 * ${this.#setting.w.index(perGroup)} + ${within})`;
  }

  /** An index of one dimension. */
  base(view: BufferView, dimension: number, { place, as }: Named): void {
    this.#at(as, [this.#offset(view), this.#term(view, dimension, place)]);
  }

  /** Indices of the leading dimensions, which `outer` may change, and of the last two. */
  folded(
    view: BufferView,
    dimension: number,
    { place, as, outer, phases }: Named & Phased & { readonly outer?: (text: string) => string },
  ): void {
    const [, , height = 0, width = 0] = view.shape, [, , line = 0, step = 0] = view.strides;
    const isWhole = line === mul(width, step) && view.strides[dimension] === mul(height, line);
    if (isWhole && !outer) return this.#at(as, [this.#term(view, 3, place)]);
    if (phases) {
      this.#apartBy(phases.taps, { place, as }, (axis) => `* ${phases.strides[axis]} + first_${axis}`);
    } else this.#apart(view, { place, as });
    const term = this.#term(view, dimension, outer?.(`outer_${as}`) ?? `outer_${as}`);
    this.#at(as, [term, ...this.#inPlane(view, (axis) => `${axis}_${as}`)]);
  }

  /** Writes the start of the window at a position of `images` in the input. */
  window(input: BufferView, { images, place, as }: Named & { readonly images: BufferView }): void {
    const { stride: [sy, sx], padding: [py, px] } = this.#setting.call;
    this.#apart(images, { place, as }, { y: `* ${sy} - ${py}`, x: `* ${sx} - ${px}` });
    const start = [this.#offset(input), this.#term(input, 0, `outer_${as}`)];
    this.#at(as, [...start, ...this.#inPlane(input, (axis) => `${axis}_${as}`)]);
  }

  /** Writes the offset of a weight's tap in a window. */
  windowTap(input: BufferView, { weight, place, as }: Named & { readonly weight: BufferView }): void {
    this.#taps(weight, { place, as });
    const channel = this.channel(`outer_${as}`, size(weight, 1));
    this.#at(as, [this.#term(input, 1, channel), ...this.#inPlane(input, (axis) => `${axis}_${as}`)]);
  }

  /** Returns the input element that a tap of a window reads: zero in the padding. */
  met(input: BufferView, at: Both): TileElement {
    const element = this.element(input, at);
    if (this.#setting.call.padding.every((p) => p === 0)) return element;
    return {
      ...element,
      inside: this.#isInside(input, (axis) => `u32(${axis}_${at.other} + ${axis}_${at.depth})`),
    };
  }

  /** Writes a position of `images` in coordinates of the gradient's results, before taps are subtracted. */
  source(
    grad: BufferView,
    { images, place, as, phases }: Named & Phased & { readonly images: BufferView },
  ): void {
    const [py, px] = this.#setting.call.padding;
    if (phases) {
      this.#apartBy(this.#positions(images, phases), { place, as }, (axis) => `+ lead_${axis}`);
    } else this.#apart(images, { place, as }, { y: `+ ${py}`, x: `+ ${px}` });
    this.#at(as, [this.#offset(grad), this.#term(grad, 0, `outer_${as}`)]);
  }

  /** Writes the offset that a tap of the weight subtracts, for this many channels in a group. */
  sourceTap(
    grad: BufferView,
    { channels, weight, place, as, phases }: Named & Phased & {
      readonly channels: Dim;
      readonly weight: BufferView;
    },
  ): void {
    if (phases) this.#apartBy(phases.taps, { place, as });
    else this.#taps(weight, { place, as });
    this.#at(as, [this.#term(grad, 1, this.channel(`outer_${as}`, channels))]);
  }

  /**
   * The gradient of the result that reads a position with a tap: zero outside, and, without phases, between strides.
   */
  metFrom(grad: BufferView, at: Both, ofPhase: boolean): TileElement {
    const [sy, sx] = ofPhase ? [1, 1] : this.#setting.call.stride, strides = { y: sy, x: sx };
    const strided = (axis: Axis) => `u32(${axis}_${at.other} - ${axis}_${at.depth})`;
    const place = (axis: Axis) =>
      strides[axis] === 1 ? strided(axis) : `${strided(axis)} / ${strides[axis]}u`;
    const terms = this.#inPlane(grad, (axis) => `i32(${place(axis)})`);
    const whole = (["y", "x"] as const).filter((axis) => strides[axis] !== 1)
      .map((axis) => `${strided(axis)} % ${strides[axis]}u == 0u`);
    return {
      text: this.#load(grad, [`at_${at.other}`, `at_${at.depth}`, ...terms].join(" + ")),
      inside: [...whole, this.#isInside(grad, place)].join(" && "),
    };
  }

  element(view: BufferView, { other, depth }: Both): TileElement {
    return { text: this.#load(view, `at_${other} + at_${depth}`) };
  }

  /** Returns how four elements of an operand are read at once, if possible. */
  fours(view: BufferView): Pick<TileOperand, "four"> {
    const { bindings, inFours } = this.#setting;
    if (view !== inFours) return {};
    return { four: ({ other, depth }) => bindings.loadFour(view.buffer, `at_${other} + at_${depth}`) };
  }

  /** A convolution of patches. */
  patches({ inputs: [input, weight, bias], outputs: [out] }: ExternKernel): PatchJob {
    const { bindings, inFours, call, w } = this.#setting;
    if (!input || !weight || !out) throw new InternalError("Expected the operands of a convolution");
    return {
      input,
      weight,
      out,
      padding: call.padding,
      load: (view, place) => this.#load(view, place),
      ...inFours === weight && { loadFour: (view, place) => bindings.loadFour(view.buffer, place) },
      place: ({ image, y, x }, as) => {
        w.line(`let outer_${as} = ${image}; let y_${as} = ${y}; let x_${as} = ${x};`);
        this.#placed(out, as);
      },
      result: this.images(out, size(weight, 0), { bias }),
    };
  }

  /** Results by channel and position. */
  images(
    out: BufferView,
    channels: Dim,
    { bias, phases }: Phased & { readonly bias?: BufferView | undefined },
  ): TileResult {
    const { w, finishes, fours } = this.#setting;
    return {
      row: (place, as) => {
        w.line(`let channel_${as} = ${this.channel(place, channels)};`);
        this.#at(as, [this.#term(out, 1, `channel_${as}`)]);
        if (!bias) return;
        const at = [this.#offset(bias), this.#term(bias, 0, `channel_${as}`)].join(" + ");
        w.line(`let bias_${as} = ${this.#load(bias, at)};`);
      },
      column: (place, as) => {
        if (phases) {
          const sizes = this.#positions(out, phases);
          this.#apartBy(sizes, { place, as }, (axis) => `* ${phases.strides[axis]} + start_${axis}`);
          const inside = (axis: Axis, d: number) => `${axis}_${as} < ${this.#size(out, d)}`;
          w.line(`let is_${as} = ${inside("y", 2)} && ${inside("x", 3)};`);
        } else this.#apart(out, { place, as });
        this.#placed(out, as);
      },
      store: ({ row, column, value }) => {
        if (phases) w.line(`if (is_${column}) {`);
        this.#store(out, { row, column, value: bias ? `(${value} + bias_${row})` : value });
        if (finishes) w.line(`finish(outer_${column}, channel_${row}, y_${column}, x_${column});`);
        if (phases) w.line("}");
      },
      ...fours.stores && {
        storeFour: ({ row, column, value }) => {
          this.#storeFour(out, { row, column, value: bias ? `(${value} + bias_${row})` : value });
          if (finishes) w.line(`finish(outer_${column}, channel_${row}, y_${column}, x_${column} / 4);`);
        },
      },
    };
  }

  /** Results by channel and tap. */
  taps(out: BufferView, channels: Dim): TileResult {
    return {
      row: (place, as) => this.base(out, 0, { place: this.channel(place, channels), as }),
      column: (place, as) => this.folded(out, 1, { place, as }),
      store: (at) => this.#store(out, at),
      ...this.#setting.fours.stores && {
        storeFour: (at) => this.#storeFour(out, at),
      },
    };
  }

  /** Writes the offset of a result. */
  #placed(out: BufferView, as: string): void {
    const start = [this.#offset(out), this.#term(out, 0, `outer_${as}`)];
    this.#at(as, [...start, ...this.#inPlane(out, (axis) => `${axis}_${as}`)]);
  }

  #store(out: BufferView, { row, column, value }: Parameters<TileResult["store"]>[0]): void {
    const { w, bindings } = this.#setting, place = this.#place(out, row, column);
    w.line(bindings.store(out.buffer, place, { text: value, mode: "set", helpers: w.helpers }));
  }

  #storeFour(out: BufferView, { row, column, value }: Parameters<TileResult["store"]>[0]): void {
    const { w, bindings } = this.#setting;
    w.line(bindings.storeFour(out.buffer, this.#place(out, row, column), value));
  }

  #place(out: BufferView, row: string, column: string): string {
    const terms = [`at_${row}`, `at_${column}`], { splits } = this.#setting;
    if (splits > 1) terms.push(`part * ${this.#number(out, "count", product(out.shape))}`);
    return terms.join(" + ");
  }

  /**
   * Decomposes a position by the last two sizes of a view: `outer_`, `y_` and `x_`, the latter with an offset added.
   */
  #apart(view: BufferView, { place, as }: Named, { y, x }: Record<Axis, string> = { y: "", x: "" }): void {
    if (size(view, 2) === 1 && size(view, 3) === 1) {
      const { w } = this.#setting;
      return w.line(`let outer_${as} = ${place}; let y_${as} = 0 ${y}; let x_${as} = 0 ${x};`);
    }
    const sizes = { y: this.#size(view, 2), x: this.#size(view, 3) };
    this.#apartBy(sizes, { place, as }, (axis) => axis === "y" ? y : x);
  }

  /** The same, for sizes that are expressions. */
  #apartBy(
    { y, x }: Readonly<Record<Axis, string>>,
    { place, as }: Named,
    added: (axis: Axis) => string = () => "",
  ): void {
    const { w } = this.#setting, line = `line_${as}`;
    w.line(`let ${line} = ${place} / ${x}; let outer_${as} = ${line} / ${y};`);
    w.line(`let y_${as} = (${line} - outer_${as} * ${y}) ${added("y")};`);
    w.line(`let x_${as} = (${place} - ${line} * ${x}) ${added("x")};`);
  }

  /** Returns the number of vertical and horizontal positions of an image in a phase. */
  #positions(images: BufferView, phases: Phases): Readonly<Record<Axis, string>> {
    const [y = 1, x = 1] = phases.sizes(images);
    return { y: this.#number(images, "phase y", y), x: this.#number(images, "phase x", x) };
  }

  /** Decomposes a tap of a weight into its distances in a window. */
  #taps(weight: BufferView, named: Named): void {
    const [dy, dx] = this.#setting.call.dilation;
    this.#apart(weight, named, { y: `* ${dy}`, x: `* ${dx}` });
  }

  #at(as: string, terms: readonly string[]): void {
    this.#setting.w.line(`let at_${as} = ${terms.join(" + ")};`);
  }

  #inPlane(view: BufferView, place: (axis: Axis) => string): readonly string[] {
    return [this.#term(view, 2, place("y")), this.#term(view, 3, place("x"))];
  }

  #term(view: BufferView, dimension: number, text: string): string {
    return `${text} * ${this.#number(view, `stride ${dimension}`, view.strides[dimension] ?? 0, dimension)}`;
  }

  /** Returns the condition that unsigned positions, which wrap to huge numbers below 0, are inside images. */
  #isInside(images: BufferView, place: (axis: Axis) => string): string {
    const within = (axis: Axis, d: number) => `${place(axis)} < u32(${this.#size(images, d)})`;
    return `${within("y", 2)} && ${within("x", 3)}`;
  }

  #load(view: BufferView, place: string): string {
    return this.#setting.bindings.load(view.buffer, place);
  }

  #size(view: BufferView, dimension: number): string {
    return this.#number(view, `size ${dimension}`, size(view, dimension), dimension);
  }

  #offset(view: BufferView): string {
    return this.#number(view, "offset", view.offset);
  }

  /** A number of a view. The sizes of filters are part of the text: divisions by them are frequent. */
  #number(view: BufferView, meaning: string, value: Dim, dimension = 0): string {
    const { w, filter } = this.#setting;
    if (view === filter && dimension >= 2) return w.index(value);
    const number = this.#views.get(view) ?? this.#views.size;
    this.#views.set(view, number);
    return w.number(`${meaning} of view ${number}`, value);
  }
}
