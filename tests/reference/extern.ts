/**
 * Library calls of loop programs as plain loops over strided views. Invariant: sums run in float64 in ascending order
 * of the reduced index and are rounded once when stored, so that libraries are compared with a more exact result than
 * their own.
 */
import { InternalError } from "../../lib/base/errors.ts";
import type { Dim } from "../../lib/sym/expr.ts";
import type { BufferView, ConvGeometry, ExternKernel } from "../../lib/loops/ir.ts";
import type { Buffer } from "./buffer.ts";
import type { Element } from "./scalar.ts";

/** A strided view with known sizes. */
interface View {
  readonly shape: readonly number[];
  at(...index: readonly number[]): number;
  read(...index: readonly number[]): Element;
  write(value: Element, index: readonly number[]): void;
}

/** Runs the call of a kernel, without its epilogue. */
export function runExtern(kernel: ExternKernel, buffers: readonly Buffer[], known: (d: Dim) => number): void {
  const open = (view: BufferView | undefined): View => {
    if (!view) throw new InternalError(`Expected another operand of ${kernel.name} but found none`);
    return openView(view, buffers[view.buffer], known);
  };
  const { call } = kernel;
  const [first, second, third] = kernel.inputs;
  const output = open(kernel.outputs[0]);
  const written = kernel.outputs[0]?.buffer ?? 0, count = output.shape.reduce((a, b) => a * b, 1);
  // The first part takes all of the sums
  for (let k = count; k < count * (kernel.parts ?? 1); k++) buffers[written]?.set(k, 0);
  switch (call.op) {
    case "matmul":
      return matmul(open(first), open(second), { output, accumulate: call.accumulate });
    case "convForward":
      return convForward(call, {
        input: open(first),
        weight: open(second),
        bias: third && open(third),
        output,
      });
    case "convBackwardInput":
      return accumulate(
        output,
        (add) =>
          eachTap(call, { output: open(first), weight: open(second), input: output }, (at) => {
            add(at.input, at.outputValue() * at.weightValue());
          }),
      );
    case "convBackwardWeight":
      return accumulate(
        output,
        (add) =>
          eachTap(call, { output: open(first), weight: output, input: open(second) }, (at) => {
            add(at.weight, at.outputValue() * at.inputValue());
          }),
      );
    case "sort":
      return sort(open(first), [output, open(kernel.outputs[1])], call.descending);
    case "region":
      throw new InternalError("Expected regions to be expanded");
    default:
      return call satisfies never;
  }
}

function openView(view: BufferView, buffer: Buffer | undefined, known: (d: Dim) => number): View {
  if (!buffer) throw new InternalError(`Expected a buffer but found b${view.buffer}`);
  const shape = view.shape.map(known), strides = view.strides.map(known), offset = known(view.offset);
  const at = (...index: readonly number[]) =>
    index.reduce((sum, i, d) => sum + i * (strides[d] ?? 0), offset);
  return {
    shape,
    at,
    read: (...index) => buffer.get(at(...index)),
    write: (value, index) => buffer.set(at(...index), value),
  };
}

/** Calls `body` for every index of a shape, the last dimension fastest. */
function eachIndex(shape: readonly number[], body: (index: readonly number[]) => void): void {
  const index = shape.map(() => 0);
  const visit = (d: number): void => {
    if (d === shape.length) return body(index);
    for (let i = 0; i < (shape[d] ?? 0); i++) {
      index[d] = i;
      visit(d + 1);
    }
  };
  visit(0);
}

/** Sums contributions to the elements of a view in float64 and stores each once. */
function accumulate(
  view: View,
  contribute: (add: (index: readonly number[], value: number) => void) => void,
): void {
  const sums = new Map<number, number>();
  contribute((index, value) => {
    const at = view.at(...index);
    sums.set(at, (sums.get(at) ?? 0) + value);
  });
  eachIndex(view.shape, (index) => view.write(sums.get(view.at(...index)) ?? 0, index));
}

function matmul(a: View, b: View, { output, accumulate }: { output: View; accumulate: boolean }): void {
  const depth = a.shape.at(-1) ?? 0;
  const own = (view: View, batch: readonly number[]) => batch.slice(batch.length - (view.shape.length - 2));
  const integral =
    typeof (depth > 0 && a.shape.every((s) => s > 0) ? a.read(...a.shape.map(() => 0)) : 0) === "bigint";
  eachIndex(output.shape, (index) => {
    const batch = index.slice(0, -2), i = index.at(-2) ?? 0, j = index.at(-1) ?? 0;
    const start: Element = accumulate ? output.read(...index) : integral ? 0n : 0;
    if (integral) {
      let sum = BigInt(start);
      for (let k = 0; k < depth; k++) {
        sum += BigInt(a.read(...own(a, batch), i, k)) * BigInt(b.read(...own(b, batch), k, j));
      }
      return output.write(BigInt.asIntN(64, sum), index);
    }
    let sum = Number(start);
    for (let k = 0; k < depth; k++) {
      sum += Number(a.read(...own(a, batch), i, k)) * Number(b.read(...own(b, batch), k, j));
    }
    output.write(sum, index);
  });
}

interface ConvViews {
  readonly input: View;
  readonly weight: View;
  readonly output: View;
}

function convForward(call: ConvGeometry, views: ConvViews & { bias: View | undefined }): void {
  const { output, bias } = views;
  accumulate(output, (add) => {
    if (bias) eachIndex(output.shape, (index) => add(index, Number(bias.read(index[1] ?? 0))));
    eachTap(call, views, (at) => add(at.output, at.inputValue() * at.weightValue()));
  });
}

interface Tap {
  readonly input: readonly number[];
  readonly weight: readonly number[];
  readonly output: readonly number[];
  inputValue(): number;
  weightValue(): number;
  outputValue(): number;
}

/** Visits all (input element, weight element, output element) triples that a convolution multiplies. */
function eachTap(call: ConvGeometry, { input, weight, output }: ConvViews, visit: (tap: Tap) => void): void {
  const flat = input.shape.length === 3;
  const lift = (shape: readonly number[]) => flat ? [shape[0] ?? 0, shape[1] ?? 0, 1, shape[2] ?? 0] : shape;
  const drop = (index: readonly number[]) => flat ? [index[0] ?? 0, index[1] ?? 0, index[3] ?? 0] : index;
  const [, , height = 0, width = 0] = lift(input.shape);
  const [outputs = 0, inputsPerGroup = 0, kernelHeight = 0, kernelWidth = 0] = lift(weight.shape);
  const perGroup = outputs / call.groups;
  eachIndex(lift(output.shape), ([n = 0, o = 0, y = 0, x = 0]) => {
    const group = Math.floor(o / perGroup);
    eachIndex([inputsPerGroup, kernelHeight, kernelWidth], ([c = 0, ky = 0, kx = 0]) => {
      const row = y * call.stride[0] - call.padding[0] + ky * call.dilation[0];
      const column = x * call.stride[1] - call.padding[1] + kx * call.dilation[1];
      if (row < 0 || row >= height || column < 0 || column >= width) return;
      const at = {
        input: drop([n, group * inputsPerGroup + c, row, column]),
        weight: drop([o, c, ky, kx]),
        output: drop([n, o, y, x]),
      };
      visit({
        ...at,
        inputValue: () => Number(input.read(...at.input)),
        weightValue: () => Number(weight.read(...at.weight)),
        outputValue: () => Number(output.read(...at.output)),
      });
    });
  });
}

function sort(input: View, [values, indices]: readonly [View, View], descending: boolean): void {
  const rows = input.shape.slice(0, -1), length = input.shape.at(-1) ?? 1, count = values.shape.at(-1) ?? 1;
  const rank = (a: Element, b: Element) => {
    const na = Number.isNaN(a), nb = Number.isNaN(b);
    if (na || nb) return na === nb ? 0 : na ? 1 : -1;
    return a < b ? -1 : a > b ? 1 : 0;
  };
  eachIndex(rows, (row) => {
    const prefix = [...row];
    const order = Array.from({ length }, (_, i) => ({ i, value: input.read(...prefix, i) }));
    // toSorted is stable, even in reversed order
    const sorted = order.toSorted((a, b) => descending ? rank(b.value, a.value) : rank(a.value, b.value));
    sorted.slice(0, count).forEach(({ i, value }, place) => {
      values.write(value, [...prefix, place]);
      indices.write(BigInt(i), [...prefix, place]);
    });
  });
}
