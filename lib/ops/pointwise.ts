/**
 * Builders of elementwise ops: they turn a scalar body and a derivative into a whole definition, with broadcasting
 * and promotion. Invariant: bodies get all operands in one element type, that of the computation; the result is
 * converted to the result's type.
 */
import { DynError } from "../base/errors.ts";
import { categoryOf, type DType, type DTypeCategory, isFloat } from "../base/dtype.ts";
import { type Dim, Sym } from "../sym/expr.ts";
import { isEqual } from "../sym/decide.ts";
import { contiguousMeta, type TensorMeta } from "../graph/meta.ts";
import type { Body, Lowered, Operand } from "../loops/body.ts";
import type { DeviceName } from "../loops/device.ts";
import type { ScalarOps } from "../loops/scalar.ts";
import type { OpApi } from "./generated.ts";
import { type Param, required, type Scalar } from "./params.ts";
import {
  defineOp,
  type Exposure,
  type Gradient,
  type OpDefinition,
  type Sample,
  type TensorLike,
} from "./definition.ts";
import { castTo, elementOf, floatTypeOf, isTensor, resultTypeOf } from "./promotion.ts";
import { broadcastShapes } from "./shapes.ts";
import { defineWideOp, lowerWideOp } from "./wide.ts";

/** An operand, where tensors are of type T. */
export type OperandOf<T> = T | Scalar | Dim;

/** How operand types determine the computation type and the result type. */
type TypeRule = "promote" | "float" | "compare" | "logical";

/** The types that a rule gives for operands. */
export function typesOf(
  rule: TypeRule,
  operands: readonly OperandOf<Pick<TensorLike, "shape" | "dtype">>[],
): { compute: DType; result: DType } {
  const promoted = resultTypeOf(operands);
  switch (rule) {
    case "promote":
      return { compute: promoted, result: promoted };
    case "float":
      return { compute: floatTypeOf(promoted), result: floatTypeOf(promoted) };
    case "compare":
      return { compute: promoted, result: "bool" };
    case "logical":
      return { compute: "bool", result: "bool" };
    default:
      return rule satisfies never;
  }
}

/** The device of the results: that of the first tensor with dimensions, else of the first. Checks the others. */
export function deviceOf(operands: readonly (OperandOf<TensorMeta> | null)[]): DeviceName {
  const tensors = operands.filter((x): x is TensorMeta => isTensor(x));
  const first = tensors.find((t) => t.shape.length > 0) ?? tensors[0];
  for (const t of tensors) {
    if (first && t.shape.length > 0 && t.device !== first.device) {
      throw new DynError(`Expected all tensors on one device but found ${first.device} and ${t.device}`);
    }
  }
  return first?.device ?? "cpu";
}

/** Metadata of the result of an elementwise op. At least one operand must be a tensor. */
export function pointwiseMeta(operands: readonly OperandOf<TensorMeta>[], dtype: DType): TensorMeta {
  if (!operands.some((x) => isTensor(x))) {
    throw new DynError("Expected at least one tensor but found only numbers");
  }
  const shape = broadcastShapes(...operands.map((x) => isTensor(x) ? x.shape : []));
  return contiguousMeta(shape, dtype, deviceOf(operands));
}

/** Elements of `result`, each from its index. */
export function elements(
  result: TensorMeta | undefined,
  element: <V>(o: Body<V>, index: readonly Dim[]) => V,
): Lowered[] {
  return result ? [{ kind: "pointwise", shape: result.shape, dtype: result.dtype, element }] : [];
}

/** Elements of `result` from broadcast operands, all converted to `compute`. */
export function pointwise<const T extends readonly OperandOf<Operand>[]>(
  result: TensorMeta | undefined,
  spec: {
    readonly operands: T;
    readonly compute: DType;
    readonly body: <V>(o: Body<V>, values: { readonly [K in keyof T]: V }) => V;
  },
): Lowered[] {
  if (!result) return [];
  const { operands, compute, body } = spec;
  return elements(result, <V>(o: Body<V>, index: readonly Dim[]) => {
    const values = operands.map((x) => elementOf(o, x, { index, dtype: compute }));
    return castTo(o, body(o, values as { readonly [K in keyof T]: V }), result.dtype);
  });
}

/** Elements of `result` from those of one operand, computed in `compute`, by default the operand's type. */
export function eachElement(
  self: Operand,
  result: TensorMeta | undefined,
  body: <V>(o: Body<V>, x: V) => V,
  compute: DType = self.dtype,
): Lowered[] {
  return pointwise(result, { operands: [self], compute, body: (o, [x]) => body(o, x) });
}

/** A number as a value of x's type. */
export function k<V>(o: ScalarOps<V>, x: V, value: number): V {
  return o.constant(value, o.dtypeOf(x));
}

/** A tensor of this shape in samples. */
export function t(
  ...shape: readonly number[]
): { readonly tensor: readonly number[] } {
  return { tensor: shape };
}

/** Calls of an elementwise op of one operand: plain, transposed, 0-d, empty. */
export function unarySamples(range?: readonly [number, number], dtype?: DType): Sample[] {
  const of = (tensor: readonly number[], transposed = false) => ({
    tensor,
    ...(transposed ? { transposed } : {}),
    ...(range ? { range } : {}),
    ...(dtype ? { dtype } : {}),
  });
  return [
    { args: [of([3, 4])] },
    { args: [of([4, 3], true)] },
    { args: [of([])] },
    { args: [of([0, 2])] },
  ];
}

/** Calls of an elementwise op of two operands: same shapes, broadcast, a number, mixed types. */
export function binarySamples(range: readonly [number, number] = [-2, 2], number = 1.5): Sample[] {
  return [
    { args: [{ tensor: [3, 4], range }, { tensor: [3, 4], range }] },
    { args: [{ tensor: [3, 1], range }, { tensor: [2, 1, 4], range }] },
    { args: [{ tensor: [4, 2], range, transposed: true }, number] },
    { args: [{ tensor: [0, 3], range }, { tensor: [3], range }] },
    { args: [{ tensor: [2, 2], range, dtype: "float64" }, { tensor: [2], range }] },
  ];
}

/** The values that a derivative may read. */
export interface UnaryContext<T> {
  readonly grad: T;
  readonly self: T;
  readonly out: T;
}

/** The body, derivative and type rule of a unary op. */
export interface UnarySpec {
  readonly name: string;
  readonly graphName?: string;
  readonly doc: string;
  readonly rule: TypeRule;
  /** Categories that it accepts; default: all. */
  readonly accepts?: readonly DTypeCategory[];
  readonly body: <V>(o: Body<V>, x: V) => V;
  /** The gradient and the values that it reads, or why there is none. */
  readonly derivative:
    | {
      readonly reads: readonly ("self" | "out")[];
      readonly of: <T extends TensorLike>(o: OpApi<T>, context: UnaryContext<T>) => T;
    }
    | string;
  readonly range?: readonly [number, number];
  readonly inplace?: boolean;
  readonly exposure?: Exposure;
}

/** Parameters of ops of one tensor. */
export interface UnaryParams {
  readonly [name: string]: Param;
  readonly self: Param<"tensor", false>;
}

/** The gradient of an op of one tensor. */
function unaryGradient(derivative: UnarySpec["derivative"]): Gradient<UnaryParams> {
  if (typeof derivative === "string") return { kind: "none", because: derivative };
  const { reads, of } = derivative;
  return {
    kind: "rule",
    saves: reads,
    rule(o, { args, out, grads }) {
      const [grad] = grads, [result] = out;
      if (!grad || !result) return {};
      return { self: of(o, { grad, self: args.self, out: result }) };
    },
  };
}

/** Defines an op of one tensor. */
export function unary(spec: UnarySpec): OpDefinition<UnaryParams> {
  const params: UnaryParams = { self: required("tensor") };
  const compute = (dtype: DType) => typesOf(spec.rule, [{ shape: [1], dtype }]);
  return lowerWideOp<UnaryParams>({
    name: spec.name,
    ...(spec.graphName ? { graphName: spec.graphName } : {}),
    doc: spec.doc,
    params,
    inplace: spec.inplace ?? true,
    ...(spec.exposure ? { exposure: spec.exposure } : {}),
    elementwise: true,
    infer({ self }) {
      checkCategory(spec.name, self.dtype, spec.accepts);
      return contiguousMeta(self.shape, compute(self.dtype).result, self.device);
    },
    lower: ({ self }, [result]) =>
      eachElement(self, result, (o, x) => spec.body(o, x), compute(self.dtype).compute),
    gradient: unaryGradient(spec.derivative),
    samples: unarySamples(spec.range, sampleType(spec.accepts)),
  });
}

/** The type of samples of an op that takes no floats. */
function sampleType(accepts: readonly DTypeCategory[] | undefined): DType | undefined {
  return accepts && !accepts.includes("float") ? "int64" : undefined;
}

/** Calls of an op of two integer operands. Ranges keep them fit for shifts. */
function integerSamples(): Sample[] {
  const range: readonly [number, number] = [0, 7];
  return [
    { args: [{ tensor: [3, 4], dtype: "int64", range }, { tensor: [3, 4], dtype: "int64", range }] },
    { args: [{ tensor: [3, 1], dtype: "int32", range }, { tensor: [2, 1, 4], dtype: "int32", range }] },
    { args: [{ tensor: [4, 2], dtype: "uint8", range, transposed: true }, 3] },
    { args: [{ tensor: [0, 3], dtype: "int64" }, { tensor: [3], dtype: "int64" }] },
  ];
}

/** Throws unless a type's category is accepted. */
export function checkCategory(
  op: string,
  dtype: DType,
  accepts: readonly DTypeCategory[] | undefined,
): void {
  if (accepts && !accepts.includes(categoryOf(dtype))) {
    const wanted = accepts.map((each) => each === "float" ? "floating-point" : each).join(" or ");
    throw new DynError(`Expected a tensor of ${wanted} type for ${op} but found ${dtype}`);
  }
}

/** Metadata of a result like `self`, whose type must be of an accepted category. */
export function acceptedMeta(
  op: string,
  self: TensorMeta,
  accepts: readonly DTypeCategory[] = ["float"],
): TensorMeta {
  checkCategory(op, self.dtype, accepts);
  return contiguousMeta(self.shape, self.dtype, self.device);
}

/** The values that a derivative of a binary op may read. */
interface BinaryContext<T> {
  readonly grad: T;
  readonly self: T;
  readonly other: OperandOf<T>;
  readonly out: T;
}

type BinaryDerivative = <T extends TensorLike>(o: OpApi<T>, context: BinaryContext<T>) => T;

/** The body, derivatives and type rule of an op of a tensor and a tensor or number. */
interface BinarySpec {
  readonly name: string;
  readonly graphName?: string;
  readonly doc: string;
  readonly rule: TypeRule;
  readonly accepts?: readonly DTypeCategory[];
  readonly body: <V>(o: Body<V>, a: V, b: V) => V;
  /** Gradients by operand before they are summed to its shape; or why there are none. */
  readonly derivative:
    | {
      readonly reads: readonly ("self" | "other" | "out")[];
      readonly self?: BinaryDerivative;
      readonly other?: BinaryDerivative;
    }
    | string;
  readonly range?: readonly [number, number];
  /** The number operand in samples. */
  readonly number?: number;
  /** Whether it divides by `other`, so that integers refuse the number 0. */
  readonly divides?: boolean;
  /** Whether `other` must be a tensor, as in PyTorch. */
  readonly tensorsOnly?: boolean;
  /** Whether each gradient is one operation, rounded once. */
  readonly oneStep?: boolean;
  readonly inplace?: boolean;
  readonly exposure?: Exposure;
  readonly otherNames?: Readonly<Record<string, string>>;
}

/** Parameters of binary ops. */
interface BinaryParams {
  readonly [name: string]: Param;
  readonly self: Param<"tensor", false>;
  readonly other: Param<"operand", false>;
}

function binaryGradient(derivative: BinarySpec["derivative"]): Gradient<BinaryParams> {
  if (typeof derivative === "string") return { kind: "none", because: derivative };
  return {
    kind: "rule",
    saves: derivative.reads,
    rule(o, { args, out, grads, needs }) {
      const [grad] = grads, [result] = out;
      if (!grad || !result) return {};
      const { self, other } = args;
      const context = { grad, self, other, out: result };
      return {
        self: needs("self") && derivative.self ? reduceTo(o, derivative.self(o, context), self) : null,
        other: isTensor(other) && needs("other") && derivative.other
          ? reduceTo(o, derivative.other(o, context), other)
          : null,
      };
    },
  };
}

/** Options of a divisor. */
export const DIVISOR = { late: true, loadable: "nonzero" } as const;

/** Throws if integers are divided by the number 0. */
export function checkDivisor(dtype: DType, other: OperandOf<TensorMeta>): void {
  const isZero = () =>
    other === false || ((typeof other === "number" || other instanceof Sym) && isEqual(other, 0));
  if (!isFloat(dtype) && isZero()) {
    throw new DynError(`Expected a nonzero divisor for integers but found ${String(other)}`);
  }
}

/** Defines an op of a tensor and a tensor or number. */
export function binary(spec: BinarySpec): OpDefinition<BinaryParams> {
  const params: BinaryParams = {
    self: required("tensor"),
    other: required("operand", spec.divides ? DIVISOR : { late: true }),
  };
  const integral = sampleType(spec.accepts) === "int64";
  const define = spec.oneStep ? defineOp<BinaryParams> : defineWideOp<BinaryParams>;
  return define({
    name: spec.name,
    ...(spec.graphName ? { graphName: spec.graphName } : {}),
    doc: spec.doc,
    params,
    inplace: spec.inplace ?? true,
    ...(spec.exposure ? { exposure: spec.exposure } : {}),
    ...(spec.otherNames ? { otherNames: spec.otherNames } : {}),
    elementwise: true,
    infer({ self, other }) {
      const { compute, result } = typesOf(spec.rule, [self, other]);
      checkCategory(spec.name, compute, spec.accepts);
      if (spec.divides) checkDivisor(compute, other);
      if (spec.tensorsOnly && !isTensor(other)) {
        throw new DynError(`Expected a tensor for other of ${spec.name} but found ${String(other)}`);
      }
      return pointwiseMeta([self, other], result);
    },
    implementation: {
      kind: "lower",
      lower: ({ self, other }, [result]) =>
        pointwise(result, {
          operands: [self, other],
          compute: typesOf(spec.rule, [self, other]).compute,
          body: (o, [a, b]) => spec.body(o, a, b),
        }),
    },
    gradient: binaryGradient(spec.derivative),
    samples: (integral ? integerSamples() : binarySamples(spec.range, spec.number)).filter((s) =>
      !spec.tensorsOnly || typeof s.args[1] === "object"
    ),
    errors: [{
      args: integral
        ? [{ tensor: [3, 4], dtype: "int64" }, { tensor: [3, 5], dtype: "int64" }]
        : [t(3, 4), t(3, 5)],
      message: "broadcast",
    }],
  });
}

/** Sums a gradient over broadcast dimensions and converts it, so that it fits its tensor. */
export function reduceTo<T extends TensorLike>(o: OpApi<T>, grad: T, like: TensorLike): T {
  const summed = sumTo(o, grad, like.shape);
  return summed.dtype === like.dtype ? summed : o.to(summed, like.dtype);
}

/** Sums a tensor to a shape that broadcasts to its own. */
export function sumTo<T extends TensorLike>(o: OpApi<T>, value: T, shape: readonly Dim[]): T {
  const lead = value.shape.length - shape.length;
  const dims: number[] = [];
  for (let d = 0; d < value.shape.length; d++) {
    const target = shape[d - lead], size = value.shape[d] ?? 1;
    if (d < lead || target === undefined) dims.push(d);
    else if (target !== size && isEqual(target, 1)) dims.push(d);
  }
  if (dims.length === 0) return value;
  const summed = o.sum(value, dims, true);
  return lead > 0 ? o.reshape(summed, shape) : summed;
}
