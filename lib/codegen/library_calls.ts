/**
 * Legalises library calls: those that a target's library lacks become loops, and epilogues that it does not run become
 * separate kernels.
 *
 * These loops are straightforward, correct for every shape and stride; speed is the library's job.
 */
import { type DType, isFloat } from "../base/dtype.ts";
import type {
  BufferId,
  BufferView,
  ConvGeometry,
  ExternKernel,
  Kernel,
  LoopKernel,
  Program,
} from "../loops/ir.ts";
import { isRegion } from "../loops/regions.ts";
import { add, type Dim, floorDiv, mod, mul, product, sub, symbol } from "../sym/expr.ts";
import { loopOver, recordLowered } from "../loops/nest.ts";
import { type MakeTemporary, replaceWithTemporaries, rowMajor } from "./kernels.ts";
import type { Target } from "./target.ts";
import { InternalError } from "../base/errors.ts";
import { flatIndex, loadBufferOperand, type Loader, Recorder, type Value } from "../loops/record.ts";

/** Legalises the library calls of a program for a target. */
export function libraryCalls(program: Program, target: Target): Program {
  const typeOf = (id: BufferId): DType => program.buffers[id]?.dtype ?? "float32";
  return replaceWithTemporaries(
    program,
    (kernel, temporary) =>
      kernel.kind === "loops" || isRegion(kernel)
        ? [kernel]
        : expanded(kernel, { target, typeOf, temporary }),
  );
}

interface Context {
  readonly target: Target;
  readonly typeOf: (id: BufferId) => DType;
  readonly temporary: MakeTemporary;
}

function expanded(kernel: ExternKernel, context: Context): readonly Kernel[] {
  const { target, typeOf } = context;
  const dtypes = new Set([...kernel.inputs, ...kernel.outputs].map(({ buffer }) => typeOf(buffer)));
  const support = target.supports(kernel, dtypes), { epilogue, ...call } = kernel;
  if (support !== "none" && (support.epilogue || !epilogue)) return [kernel];
  const calls = support === "none" ? asLoops(kernel, context) : [call];
  return [...calls, ...(epilogue ? [epilogue] : [])];
}

/** The call as loops. Sorts write all elements to a temporary, from which the first ones are copied. */
function asLoops(kernel: ExternKernel, { typeOf, temporary }: Context): readonly Kernel[] {
  const [input] = kernel.inputs, [first] = kernel.outputs;
  const partly = kernel.call.op === "sort" && input !== undefined && first !== undefined &&
    input.shape.at(-1) !== first.shape.at(-1);
  if (!partly) return [externAsLoops(kernel, typeOf)];
  const { shape } = input;
  const whole = kernel.outputs.map(({ buffer }) => {
    const dtype = typeOf(buffer);
    return { ...rowMajor(temporary(dtype, product(shape)), shape), dtype };
  });
  const typeOfAll = (id: BufferId): DType => whole.find(({ buffer }) => buffer === id)?.dtype ?? typeOf(id);
  const copies = kernel.outputs.map((to, k) => {
    const from = whole[k], dtype = typeOf(to.buffer);
    return recordLowered(
      {
        kind: "pointwise",
        shape: to.shape,
        dtype,
        element: (o, index) => from ? o.load(from, index) : o.constant(0, dtype),
      },
      [{ ...to, dtype }],
      { name: `${kernel.name}_first` },
    );
  });
  return [externAsLoops({ ...kernel, outputs: whole }, typeOfAll), ...copies];
}

/** Builds nested loops around what a recorder records. */
class Nest {
  readonly recorder: Recorder;
  #axes = 0;

  constructor(loader: Loader) {
    this.recorder = new Recorder(loader);
  }

  /** One parallel loop per size around `body`, which gets the counters. */
  parallel(sizes: readonly Dim[], body: (index: readonly Dim[]) => void, index: readonly Dim[] = []): void {
    const [size, ...rest] = sizes;
    if (size === undefined) return body(index);
    const counter = this.#axis(size);
    const { statements } = this.recorder.nested(() => this.parallel(rest, body, [...index, counter]));
    this.recorder.push(loopOver({ symbol: counter, size }, statements, { vector: rest.length === 0 }));
  }

  /** Σ over all counters of the result of `body`. */
  sum(sizes: readonly Dim[], body: (index: readonly Dim[]) => Value): Value {
    const go = (rest: readonly Dim[], index: readonly Dim[]): Value => {
      const [size, ...inner] = rest;
      if (size === undefined) return body(index);
      const counter = this.#axis(size);
      const { statements, result } = this.recorder.nested(() => go(inner, [...index, counter]));
      const id = this.recorder.ids.next(), { dtype } = result;
      const reductions = [{ id, op: "sum", value: result.id, dtype }] as const;
      this.recorder.push(loopOver({ symbol: counter, size }, statements, { order: "reduction", reductions }));
      return { id, dtype };
    };
    return go(sizes, []);
  }

  #axis(size: Dim) {
    const upper = typeof size === "number" ? size : size.upper;
    return symbol(`i${this.#axes++}`, { kind: "axis" }, [0, Math.max(0, upper - 1)]);
  }
}

/** Expands the call of `kernel` into loops. `dtypeOf` gives the element types of its buffers. */
function externAsLoops(kernel: ExternKernel, dtypeOf: (buffer: BufferId) => DType): LoopKernel {
  const nest = new Nest(loadBufferOperand);
  const views = (list: readonly BufferView[]) => list.map((v) => ({ ...v, dtype: dtypeOf(v.buffer) }));
  const call: Call = { nest, inputs: views(kernel.inputs), outputs: views(kernel.outputs) };
  switch (kernel.call.op) {
    case "matmul":
      matmul(call, kernel.call.accumulate);
      break;
    case "convForward":
    case "convBackwardInput":
    case "convBackwardWeight":
      convolution(call, kernel.call);
      break;
    case "sort":
      sort(call, kernel.call.descending);
      break;
    case "region":
      throw new InternalError("Expected regions to be expanded");
    default:
      kernel.call satisfies never;
  }
  const { name, origins, originals } = kernel;
  return { kind: "loops", name, body: nest.recorder.statements, origins, originals };
}

type Convolution = Extract<ExternKernel["call"], ConvGeometry>;

interface TypedView extends BufferView {
  readonly dtype: DType;
}

interface Call {
  readonly nest: Nest;
  readonly inputs: readonly TypedView[];
  readonly outputs: readonly TypedView[];
}

function take<T>(list: readonly T[], at: number): T {
  const item = list[at];
  if (item === undefined) throw new InternalError(`Expected operand ${at} but found ${list.length} operands`);
  return item;
}

function store({ nest }: Call, view: TypedView, index: readonly Dim[], value: Value): void {
  nest.recorder.store(view, flatIndex(view, index), { value });
}

/** The printer decides whether a·b is added without intermediate rounding */
function matmul(call: Call, accumulate: boolean): void {
  const a = take(call.inputs, 0), b = take(call.inputs, 1), out = take(call.outputs, 0);
  const o = call.nest.recorder;
  const rank = out.shape.length;
  call.nest.parallel(out.shape, (index) => {
    const batch = index.slice(0, rank - 2), m = take(index, rank - 2), n = take(index, rank - 1);
    const dot = call.nest.sum(
      [take(a.shape, a.shape.length - 1)],
      ([k = 0]) => o.mul(o.load(a, [...batch, m, k]), o.load(b, [...batch, k, n])),
    );
    store(call, out, index, accumulate ? o.add(o.load(out, index), dot) : dot);
  });
}

/** Loads operand[..., y, x] if (y, x) is inside, else 0. */
function loadInside(o: Recorder, view: TypedView, outer: readonly Dim[], [y, x]: readonly [Dim, Dim]): Value {
  const at = [...outer, y, x];
  const inside = [[y, take(view.shape, 2)], [x, take(view.shape, 3)]] as const;
  let valid = o.constant(true, "bool");
  for (const [position, size] of inside) {
    const p = o.index(position, "int64");
    valid = o.and(valid, o.and(o.ge(p, o.constant(0, "int64")), o.lt(p, o.index(size, "int64"))));
  }
  return o.masked(valid, () => o.load(view, at), o.constant(0, view.dtype));
}

/** Position in the input of tap k for output position p. */
function place(geometry: ConvGeometry, axis: 0 | 1, p: Dim, k: Dim): Dim {
  return sub(add(mul(p, geometry.stride[axis]), mul(k, geometry.dilation[axis])), geometry.padding[axis]);
}

/** A convolution, or one of its gradients: each result is a sum of pixels, or gradients, times another operand. */
function convolution(call: Call, g: Convolution): void {
  const { nest } = call, o = nest.recorder, bias = call.inputs[2];
  const first = take(call.inputs, 0), second = take(call.inputs, 1), out = take(call.outputs, 0);
  const [outputs = 1, inPerGroup = 1, ...taps] = (g.op === "convBackwardWeight" ? out : second).shape;
  const outPerGroup = floorDiv(outputs, g.groups);
  /** The pixel under a tap of the filter of an output channel. */
  const pixel = (image: TypedView, [n = 0, oc = 0, y = 0, x = 0]: readonly Dim[], tap: readonly Dim[]) => {
    const [ic = 0, ky = 0, kx = 0] = tap, channel = add(mul(floorDiv(oc, outPerGroup), inPerGroup), ic);
    return loadInside(o, image, [n, channel], [place(g, 0, y, ky), place(g, 1, x, kx)]);
  };
  const sumAt = (index: readonly Dim[]): Value => {
    switch (g.op) {
      case "convForward":
        return nest.sum([inPerGroup, ...taps], (tap) => {
          const x = pixel(first, index, tap);
          return o.mul(x, o.load(second, [index[1] ?? 0, ...tap]));
        });
      case "convBackwardInput": {
        const [n = 0, channel = 0, y = 0, x = 0] = index;
        const group = floorDiv(channel, inPerGroup), ic = mod(channel, inPerGroup);
        return nest.sum([outPerGroup, ...taps], ([k = 0, ky = 0, kx = 0]) => {
          const oc = add(mul(group, outPerGroup), k);
          // y = oy·stride + ky·dilation − padding, so oy exists where the difference is a multiple of the stride
          const dy = sub(add(y, g.padding[0]), mul(ky, g.dilation[0]));
          const dx = sub(add(x, g.padding[1]), mul(kx, g.dilation[1]));
          const zero = o.constant(0, "int64");
          const whole = o.and(
            o.eq(o.index(mod(dy, g.stride[0]), "int64"), zero),
            o.eq(o.index(mod(dx, g.stride[1]), "int64"), zero),
          );
          const value = loadInside(o, first, [n, oc], [floorDiv(dy, g.stride[0]), floorDiv(dx, g.stride[1])]);
          const given = o.select(whole, value, o.constant(0, first.dtype));
          return o.mul(given, o.load(second, [oc, ic, ky, kx]));
        });
      }
      case "convBackwardWeight": {
        const [oc = 0, ...tap] = index;
        return nest.sum([0, 2, 3].map((d) => take(first.shape, d)), ([n = 0, oy = 0, ox = 0]) => {
          const x = pixel(second, [n, oc, oy, ox], tap);
          return o.mul(o.load(first, [n, oc, oy, ox]), x);
        });
      }
      default:
        return g satisfies never;
    }
  };
  nest.parallel(out.shape, (index) => {
    const total = sumAt(index), added = g.op === "convForward" ? bias : undefined;
    store(call, out, index, added ? o.add(total, o.load(added, [index[1] ?? 0])) : total);
  });
}

/** Stable: the place of an element is the number of elements that precede it. NaN is greatest. */
function sort(call: Call, descending: boolean): void {
  const input = take(call.inputs, 0), values = take(call.outputs, 0), indices = take(call.outputs, 1);
  const o = call.nest.recorder;
  const length = take(input.shape, input.shape.length - 1);
  const isNan = (v: Value) => isFloat(v.dtype) ? o.isNan(v) : o.constant(false, "bool");
  const below = (a: Value, b: Value) => o.or(o.lt(a, b), o.and(o.not(isNan(a)), isNan(b)));
  call.nest.parallel(input.shape, (index) => {
    const outer = index.slice(0, -1), at = take(index, index.length - 1);
    const own = o.load(input, index);
    const rank = call.nest.sum([length], ([other = 0]) => {
      const value = o.load(input, [...outer, other]);
      const before = descending ? below(own, value) : below(value, own);
      const after = descending ? below(value, own) : below(own, value);
      const earlier = o.lt(o.index(other, "int64"), o.index(at, "int64"));
      return o.cast(o.or(before, o.and(o.not(after), earlier)), "int64");
    });
    const place = o.indirect(rank, length);
    store(call, values, [...outer, place], own);
    store(call, indices, [...outer, place], o.index(at, "int64"));
  });
}
