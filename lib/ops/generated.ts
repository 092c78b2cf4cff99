/**
 * The ops as one typed interface. Written by tools/generate.ts from the definitions in lib/ops; run `deno task generate`.
 */
import type { Complex } from "../base/complex.ts";
import type { DType } from "../base/dtype.ts";
import type { DeviceName } from "../loops/device.ts";
import type { Dim } from "../sym/expr.ts";
import type { IntOrInts, Scalar } from "./params.ts";
import type * as named from "./generated_options.ts";
import type { Operand, Results } from "./generated_options.ts";
import type { TensorLike } from "./tensor_like.ts";
import type { Trailing } from "../base/arguments.ts";

/** Optional arguments in order: any by position, then the others by name. */
type Rest<O, Names extends readonly (keyof O)[]> = [...Trailing<O, Names>, options?: O];

/** Arguments by name, where numbers that change between calls of a graph are tensors. */
type OperandNumbers<O, K extends keyof O, T> = Omit<O, K> & { readonly [P in K]?: O[P] | T };

/** Public names of all ops. */
export type OpName = keyof OpApi<TensorLike>;

/** Every op as a function of tensors of type T. Trailing arguments may be given by name. */
export interface OpApi<T extends TensorLike> {
  add(self: T, other: Operand<T>, options?: OperandNumbers<named.AlphaOptions, "alpha", T>): T;
  sub(self: T, other: Operand<T>, options?: OperandNumbers<named.AlphaOptions, "alpha", T>): T;
  rsub(self: T, other: Operand<T>, options?: OperandNumbers<named.AlphaOptions, "alpha", T>): T;
  mul(self: T, other: Operand<T>): T;
  div(self: T, other: Operand<T>, options?: named.DivOptions): T;
  floorDivide(self: T, other: Operand<T>): T;
  remainder(self: T, other: Operand<T>): T;
  fmod(self: T, other: Operand<T>): T;
  pow(self: Operand<T>, exponent: Operand<T>): T;
  floatPower(self: Operand<T>, exponent: Operand<T>): T;
  eq(self: T, other: Operand<T>): T;
  ne(self: T, other: Operand<T>): T;
  lt(self: T, other: Operand<T>): T;
  le(self: T, other: Operand<T>): T;
  gt(self: T, other: Operand<T>): T;
  ge(self: T, other: Operand<T>): T;
  logicalAnd(self: T, other: Operand<T>): T;
  logicalOr(self: T, other: Operand<T>): T;
  logicalXor(self: T, other: Operand<T>): T;
  logicalNot(self: T): T;
  bitwiseAnd(self: T, other: Operand<T>): T;
  bitwiseOr(self: T, other: Operand<T>): T;
  bitwiseXor(self: T, other: Operand<T>): T;
  bitwiseNot(self: T): T;
  bitwiseLeftShift(self: T, other: Operand<T>): T;
  bitwiseRightShift(self: T, other: Operand<T>): T;
  isnan(self: T): T;
  isinf(self: T): T;
  isposinf(self: T): T;
  isneginf(self: T): T;
  isfinite(self: T): T;
  isreal(self: T): T;
  signbit(self: T): T;
  where(condition: T, input: Operand<T>, other: Operand<T>): T;
  maskedFill(self: T, mask: T, value: Operand<T>): T;
  isclose(
    self: T,
    other: T,
    ...rest: Rest<OperandNumbers<named.IscloseOptions, "rtol" | "atol", T>, ["rtol", "atol", "equalNan"]>
  ): T;
  neg(self: T): T;
  abs(self: T): T;
  sign(self: T): T;
  square(self: T): T;
  positive(self: T): T;
  floor(self: T): T;
  ceil(self: T): T;
  trunc(self: T): T;
  round(self: T, options?: named.RoundOptions): T;
  frac(self: T): T;
  sigmoid(self: T, ...rest: Rest<named.InplaceOptions, ["inplace"]>): T;
  logit(self: T, ...rest: Rest<OperandNumbers<named.LogitOptions, "eps", T>, ["eps"]>): T;
  sqrt(self: T): T;
  rsqrt(self: T): T;
  reciprocal(self: T): T;
  exp(self: T): T;
  exp2(self: T): T;
  expm1(self: T): T;
  log(self: T): T;
  log2(self: T): T;
  log10(self: T): T;
  log1p(self: T): T;
  sin(self: T): T;
  cos(self: T): T;
  tan(self: T): T;
  asin(self: T): T;
  acos(self: T): T;
  atan(self: T): T;
  sinh(self: T): T;
  cosh(self: T): T;
  tanh(self: T, ...rest: Rest<named.InplaceOptions, ["inplace"]>): T;
  asinh(self: T): T;
  acosh(self: T): T;
  atanh(self: T): T;
  erf(self: T): T;
  erfc(self: T): T;
  lgamma(self: T): T;
  sinc(self: T): T;
  deg2rad(self: T): T;
  rad2deg(self: T): T;
  maximum(self: T, other: Operand<T>): T;
  minimum(self: T, other: Operand<T>): T;
  fmax(self: T, other: Operand<T>): T;
  fmin(self: T, other: Operand<T>): T;
  clamp(self: T, ...rest: Rest<named.ClampOptions<T>, ["min", "max"]>): T;
  clampMin(self: T, min: Operand<T>): T;
  clampMax(self: T, max: Operand<T>): T;
  nanToNum(
    self: T,
    ...rest: Rest<
      OperandNumbers<named.NanToNumOptions, "nan" | "posinf" | "neginf", T>,
      ["nan", "posinf", "neginf"]
    >
  ): T;
  heaviside(self: T, other: Operand<T>): T;
  relu(self: T, ...rest: Rest<named.InplaceOptions, ["inplace"]>): T;
  thresholdBackward(grad: T, self: T, threshold: number | T): T;
  relu6(self: T, ...rest: Rest<named.InplaceOptions, ["inplace"]>): T;
  hardtanh(
    self: T,
    ...rest: Rest<
      OperandNumbers<named.HardtanhOptions, "minVal" | "maxVal", T>,
      ["minVal", "maxVal", "inplace"]
    >
  ): T;
  leakyRelu(
    self: T,
    ...rest: Rest<OperandNumbers<named.LeakyReluOptions, "negativeSlope", T>, ["negativeSlope", "inplace"]>
  ): T;
  threshold(
    self: T,
    threshold: number | T,
    value: number | T,
    ...rest: Rest<named.InplaceOptions, ["inplace"]>
  ): T;
  threshold(self: T, named: { readonly threshold: number; readonly value: number } & named.InplaceOptions): T;
  threshold(self: T, threshold: number, named: { readonly value: number } & named.InplaceOptions): T;
  prelu(self: T, weight: T): T;
  hardsigmoid(self: T, ...rest: Rest<named.InplaceOptions, ["inplace"]>): T;
  hardswish(self: T, ...rest: Rest<named.InplaceOptions, ["inplace"]>): T;
  softshrink(self: T, ...rest: Rest<OperandNumbers<named.LambdOptions, "lambd", T>, ["lambd"]>): T;
  hardshrink(self: T, ...rest: Rest<OperandNumbers<named.LambdOptions, "lambd", T>, ["lambd"]>): T;
  sum(self: T, ...rest: Rest<named.SumOptions, ["dim", "keepdim"]>): T;
  mean(self: T, ...rest: Rest<named.SumOptions, ["dim", "keepdim"]>): T;
  prod(self: T, ...rest: Rest<named.ProdOptions, ["dim", "keepdim"]>): T;
  amax(self: T, ...rest: Rest<named.DimKeepdimOptions, ["dim", "keepdim"]>): T;
  amin(self: T, ...rest: Rest<named.DimKeepdimOptions, ["dim", "keepdim"]>): T;
  argmax(self: T, ...rest: Rest<named.ArgmaxOptions, ["dim", "keepdim"]>): T;
  argmin(self: T, ...rest: Rest<named.ArgmaxOptions, ["dim", "keepdim"]>): T;
  any(self: T, ...rest: Rest<named.DimKeepdimOptions, ["dim", "keepdim"]>): T;
  all(self: T, ...rest: Rest<named.DimKeepdimOptions, ["dim", "keepdim"]>): T;
  max(self: T, other: T): T;
  max(
    self: T,
    dim: number,
    ...rest: Rest<named.MaxOptions<T>, ["keepdim"]>
  ): Results<T, ["values", "indices"]>;
  max(self: T, options: named.MaxOptions<T> & { readonly dim: number }): Results<T, ["values", "indices"]>;
  max(self: T, dim?: null | named.MaxOptions<T>, keepdim?: boolean): T;
  min: OpApi<T>["max"];
  countNonzero(self: T, ...rest: Rest<named.DimOptions, ["dim"]>): T;
  nansum(self: T, ...rest: Rest<named.SumOptions, ["dim", "keepdim"]>): T;
  nanmean(self: T, ...rest: Rest<named.SumOptions, ["dim", "keepdim"]>): T;
  zeros(size: readonly Dim[], options?: named.ZerosOptions): T;
  zeros(...size: (Dim | named.ZerosOptions)[]): T;
  zeros(named: { readonly size: readonly Dim[] } & named.ZerosOptions): T;
  ones: OpApi<T>["zeros"];
  empty: OpApi<T>["zeros"];
  zerosLike(self: T, options?: named.ZerosOptions): T;
  onesLike(self: T, options?: named.ZerosOptions): T;
  emptyLike(self: T, options?: named.ZerosOptions): T;
  newZeros(self: T, size: readonly Dim[], options?: named.ZerosOptions): T;
  newZeros(self: T, ...size: (Dim | named.ZerosOptions)[]): T;
  newZeros(self: T, named: { readonly size: readonly Dim[] } & named.ZerosOptions): T;
  newOnes: OpApi<T>["newZeros"];
  newEmpty: OpApi<T>["newZeros"];
  full(size: readonly Dim[], fillValue: Scalar | Dim | Complex, options?: named.ZerosOptions): T;
  full(
    named: { readonly size: readonly Dim[]; readonly fillValue: Scalar | Dim | Complex } & named.ZerosOptions,
  ): T;
  full(size: readonly Dim[], named: { readonly fillValue: Scalar | Dim | Complex } & named.ZerosOptions): T;
  fullLike(self: T, fillValue: Scalar | Dim | Complex, options?: named.ZerosOptions): T;
  fullLike(self: T, named: { readonly fillValue: Scalar | Dim | Complex } & named.ZerosOptions): T;
  newFull(self: T, size: readonly Dim[], fillValue: Scalar | Dim | Complex, options?: named.ZerosOptions): T;
  newFull(
    self: T,
    named: { readonly size: readonly Dim[]; readonly fillValue: Scalar | Dim | Complex } & named.ZerosOptions,
  ): T;
  newFull(
    self: T,
    size: readonly Dim[],
    named: { readonly fillValue: Scalar | Dim | Complex } & named.ZerosOptions,
  ): T;
  fill(self: T, value: Operand<T>): T;
  zero(self: T): T;
  arange(start: Scalar | Dim, ...rest: Rest<named.ArangeOptions, ["end", "step"]>): T;
  arange(named: { readonly start: Scalar | Dim } & named.ArangeOptions): T;
  linspace(start: Scalar | Dim | T, end: Scalar | Dim | T, steps: Dim, options?: named.ZerosOptions): T;
  linspace(
    named:
      & { readonly start: Scalar | Dim; readonly end: Scalar | Dim; readonly steps: Dim }
      & named.ZerosOptions,
  ): T;
  linspace(
    start: Scalar | Dim,
    named: { readonly end: Scalar | Dim; readonly steps: Dim } & named.ZerosOptions,
  ): T;
  linspace(start: Scalar | Dim, end: Scalar | Dim, named: { readonly steps: Dim } & named.ZerosOptions): T;
  logspace(
    start: Scalar | Dim | T,
    end: Scalar | Dim | T,
    steps: Dim,
    ...rest: Rest<named.LogspaceOptions, ["base"]>
  ): T;
  logspace(
    named:
      & { readonly start: Scalar | Dim; readonly end: Scalar | Dim; readonly steps: Dim }
      & named.LogspaceOptions,
  ): T;
  logspace(
    start: Scalar | Dim,
    named: { readonly end: Scalar | Dim; readonly steps: Dim } & named.LogspaceOptions,
  ): T;
  logspace(start: Scalar | Dim, end: Scalar | Dim, named: { readonly steps: Dim } & named.LogspaceOptions): T;
  eye(n: Dim, ...rest: Rest<named.EyeOptions, ["m"]>): T;
  eye(named: { readonly n: Dim } & named.EyeOptions): T;
  scalarTensor(s: Scalar | Dim, options?: named.ZerosOptions): T;
  scalarTensor(named: { readonly s: Scalar | Dim } & named.ZerosOptions): T;
  convert(self: T, dtype: DType): T;
  to(self: T, dtype: DType): T;
  float(self: T): T;
  double(self: T): T;
  long(self: T): T;
  int(self: T): T;
  half(self: T): T;
  bfloat16(self: T): T;
  short(self: T): T;
  char(self: T): T;
  byte(self: T): T;
  bool(self: T): T;
  clone(self: T): T;
  copy(self: T, src: Operand<T>, ...rest: Rest<named.CopyOptions, ["nonBlocking"]>): T;
  view(self: T, size: readonly Dim[]): T;
  view(self: T, ...size: Dim[]): T;
  view(self: T, named: { readonly size: readonly Dim[] }): T;
  reshape(self: T, shape: readonly Dim[]): T;
  reshape(self: T, ...shape: Dim[]): T;
  reshape(self: T, named: { readonly shape: readonly Dim[] }): T;
  contiguous(self: T): T;
  permute(self: T, dims: readonly number[]): T;
  permute(self: T, ...dims: number[]): T;
  permute(self: T, named: { readonly dims: readonly number[] }): T;
  squeeze(self: T, ...rest: Rest<named.DimOptions, ["dim"]>): T;
  squeeze(self: T, ...dim: (number | named.DimOptions)[]): T;
  unsqueeze(self: T, dim: number): T;
  unsqueeze(self: T, named: { readonly dim: number }): T;
  expand(self: T, size: readonly Dim[], options?: named.ImplicitOptions): T;
  expand(self: T, ...size: (Dim | named.ImplicitOptions)[]): T;
  expand(self: T, named: { readonly size: readonly Dim[] } & named.ImplicitOptions): T;
  select(self: T, dim: number, index: Dim): T;
  select(self: T, named: { readonly dim: number; readonly index: Dim }): T;
  select(self: T, dim: number, named: { readonly index: Dim }): T;
  slice(self: T, ...rest: Rest<named.SliceOptions, ["dim", "start", "end", "step"]>): T;
  diagonal(self: T, ...rest: Rest<named.DiagonalOptions, ["offset", "dim1", "dim2"]>): T;
  alias(self: T): T;
  detach(self: T): T;
  unfold(self: T, dimension: number, size: Dim, step: Dim): T;
  unfold(self: T, named: { readonly dimension: number; readonly size: Dim; readonly step: Dim }): T;
  unfold(self: T, dimension: number, named: { readonly size: Dim; readonly step: Dim }): T;
  unfold(self: T, dimension: number, size: Dim, named: { readonly step: Dim }): T;
  asStrided(
    self: T,
    size: readonly Dim[],
    stride: readonly Dim[],
    ...rest: Rest<named.StorageOffsetOptions, ["storageOffset"]>
  ): T;
  asStrided(
    self: T,
    named: { readonly size: readonly Dim[]; readonly stride: readonly Dim[] } & named.StorageOffsetOptions,
  ): T;
  asStrided(
    self: T,
    size: readonly Dim[],
    named: { readonly stride: readonly Dim[] } & named.StorageOffsetOptions,
  ): T;
  aliasCopy(self: T): T;
  asStridedCopy: OpApi<T>["asStrided"];
  diagonalCopy(self: T, ...rest: Rest<named.DiagonalOptions, ["offset", "dim1", "dim2"]>): T;
  expandCopy: OpApi<T>["expand"];
  permuteCopy: OpApi<T>["permute"];
  squeezeCopy(self: T, ...rest: Rest<named.DimOptions, ["dim"]>): T;
  squeezeCopy(self: T, ...dim: (number | named.DimOptions)[]): T;
  unfoldCopy: OpApi<T>["unfold"];
  unsqueezeCopy(self: T, dim: number): T;
  unsqueezeCopy(self: T, named: { readonly dim: number }): T;
  viewCopy: OpApi<T>["view"];
  narrowCopy(self: T, dim: number, start: Dim, length: Dim): T;
  narrowCopy(self: T, named: { readonly dim: number; readonly start: Dim; readonly length: Dim }): T;
  narrowCopy(self: T, dim: number, named: { readonly start: Dim; readonly length: Dim }): T;
  narrowCopy(self: T, dim: number, start: Dim, named: { readonly length: Dim }): T;
  splitWithSizesCopy(
    self: T,
    splitSizes: readonly Dim[],
    ...rest: Rest<named.SplitWithSizesCopyOptions, ["dim"]>
  ): T[];
  splitWithSizesCopy(
    self: T,
    named: { readonly splitSizes: readonly Dim[] } & named.SplitWithSizesCopyOptions,
  ): T[];
  tCopy(self: T): T;
  transposeCopy(self: T, dim0: number, dim1: number): T;
  transposeCopy(self: T, named: { readonly dim0: number; readonly dim1: number }): T;
  transposeCopy(self: T, dim0: number, named: { readonly dim1: number }): T;
  unbindCopy(self: T, ...rest: Rest<named.SplitWithSizesCopyOptions, ["dim"]>): T[];
  unsafeSplit(
    self: T,
    splitSize: Dim | readonly Dim[],
    ...rest: Rest<named.SplitWithSizesCopyOptions, ["dim"]>
  ): T[];
  unsafeSplit(
    self: T,
    named: { readonly splitSize: Dim | readonly Dim[] } & named.SplitWithSizesCopyOptions,
  ): T[];
  unsafeChunk(self: T, chunks: number, ...rest: Rest<named.SplitWithSizesCopyOptions, ["dim"]>): T[];
  unsafeChunk(self: T, named: { readonly chunks: number } & named.SplitWithSizesCopyOptions): T[];
  selectScatter(self: T, src: T, dim: number, index: Dim): T;
  selectScatter(self: T, src: T, named: { readonly dim: number; readonly index: Dim }): T;
  selectScatter(self: T, src: T, dim: number, named: { readonly index: Dim }): T;
  sliceScatter(self: T, src: T, ...rest: Rest<named.SliceOptions, ["dim", "start", "end", "step"]>): T;
  diagonalScatter(self: T, src: T, ...rest: Rest<named.DiagonalOptions, ["offset", "dim1", "dim2"]>): T;
  diagEmbed(self: T, ...rest: Rest<named.DiagEmbedOptions, ["offset", "dim1", "dim2"]>): T;
  unfoldBackward(grad: T, inputSizes: readonly Dim[], dim: number, size: Dim, step: Dim): T;
  asStridedBackward(
    grad: T,
    inputSizes: readonly Dim[],
    size: readonly Dim[],
    stride: readonly Dim[],
    ...rest: Rest<named.StorageOffsetOptions, ["storageOffset"]>
  ): T;
  readStrided(
    self: T,
    size: readonly Dim[],
    stride: readonly Dim[],
    ...rest: Rest<named.StorageOffsetOptions, ["storageOffset"]>
  ): T;
  writeStrided(
    self: T,
    src: T,
    size: readonly Dim[],
    stride: readonly Dim[],
    ...rest: Rest<named.StorageOffsetOptions, ["storageOffset"]>
  ): T;
  asStridedScatter(
    self: T,
    src: T,
    size: readonly Dim[],
    stride: readonly Dim[],
    ...rest: Rest<named.StorageOffsetOptions, ["storageOffset"]>
  ): T;
  asStridedScatter(
    self: T,
    src: T,
    named: { readonly size: readonly Dim[]; readonly stride: readonly Dim[] } & named.StorageOffsetOptions,
  ): T;
  asStridedScatter(
    self: T,
    src: T,
    size: readonly Dim[],
    named: { readonly stride: readonly Dim[] } & named.StorageOffsetOptions,
  ): T;
  transpose: OpApi<T>["transposeCopy"];
  swapaxes(self: T, axis0: number, axis1: number): T;
  swapaxes(self: T, named: { readonly axis0: number; readonly axis1: number }): T;
  swapaxes(self: T, axis0: number, named: { readonly axis1: number }): T;
  t(self: T): T;
  T(self: T): T;
  mT(self: T): T;
  movedim(self: T, source: IntOrInts, destination: IntOrInts): T;
  movedim(self: T, named: { readonly source: IntOrInts; readonly destination: IntOrInts }): T;
  movedim(self: T, source: IntOrInts, named: { readonly destination: IntOrInts }): T;
  flatten(self: T, ...rest: Rest<named.FlattenOptions, ["startDim", "endDim"]>): T;
  unflatten(self: T, dim: number, sizes: readonly Dim[]): T;
  unflatten(self: T, named: { readonly dim: number; readonly sizes: readonly Dim[] }): T;
  unflatten(self: T, dim: number, named: { readonly sizes: readonly Dim[] }): T;
  viewAs(self: T, other: T): T;
  reshapeAs(self: T, other: T): T;
  expandAs(self: T, other: T): T;
  broadcastTo(self: T, size: readonly Dim[]): T;
  broadcastTo(self: T, named: { readonly size: readonly Dim[] }): T;
  narrow: OpApi<T>["narrowCopy"];
  split: OpApi<T>["unsafeSplit"];
  splitWithSizes: OpApi<T>["splitWithSizesCopy"];
  chunk: OpApi<T>["unsafeChunk"];
  tensorSplit(
    self: T,
    indicesOrSections: Dim | readonly Dim[],
    ...rest: Rest<named.SplitWithSizesCopyOptions, ["dim"]>
  ): T[];
  tensorSplit(
    self: T,
    named: { readonly indicesOrSections: Dim | readonly Dim[] } & named.SplitWithSizesCopyOptions,
  ): T[];
  hsplit(self: T, indicesOrSections: IntOrInts): T[];
  hsplit(self: T, named: { readonly indicesOrSections: IntOrInts }): T[];
  vsplit: OpApi<T>["hsplit"];
  dsplit: OpApi<T>["hsplit"];
  unbind(self: T, ...rest: Rest<named.SplitWithSizesCopyOptions, ["dim"]>): T[];
  gather(self: T, dim: number, index: T, options?: named.GatherOptions): T;
  gather(self: T, named: { readonly dim: number; readonly index: T } & named.GatherOptions): T;
  gather(self: T, dim: number, named: { readonly index: T } & named.GatherOptions): T;
  scatter(self: T, dim: number, index: T, ...rest: Rest<named.ScatterOptions<T>, ["src", "value"]>): T;
  scatter(self: T, named: { readonly dim: number; readonly index: T } & named.ScatterOptions<T>): T;
  scatter(self: T, dim: number, named: { readonly index: T } & named.ScatterOptions<T>): T;
  scatterSet(self: T, dim: number, index: T, src: Operand<T>): T;
  scatterAdd(self: T, dim: number, index: T, src: T): T;
  scatterAdd(self: T, named: { readonly dim: number; readonly index: T; readonly src: T }): T;
  scatterAdd(self: T, dim: number, named: { readonly index: T; readonly src: T }): T;
  scatterAdd(self: T, dim: number, index: T, named: { readonly src: T }): T;
  take(self: T, index: T): T;
  put(self: T, index: T, source: T, ...rest: Rest<named.AccumulateOptions, ["accumulate"]>): T;
  takeAlongDim(self: T, indices: T, ...rest: Rest<named.TakeAlongDimOptions, ["dim"]>): T;
  indexSelect(self: T, dim: number, index: T): T;
  indexSelect(self: T, named: { readonly dim: number; readonly index: T }): T;
  indexSelect(self: T, dim: number, named: { readonly index: T }): T;
  indexAdd(
    self: T,
    dim: number,
    index: T,
    source: T,
    options?: OperandNumbers<named.AlphaOptions, "alpha", T>,
  ): T;
  indexAdd(
    self: T,
    named: { readonly dim: number; readonly index: T; readonly source: T } & named.AlphaOptions,
  ): T;
  indexAdd(self: T, dim: number, named: { readonly index: T; readonly source: T } & named.AlphaOptions): T;
  indexAdd(self: T, dim: number, index: T, named: { readonly source: T } & named.AlphaOptions): T;
  indexCopy(self: T, dim: number, index: T, source: T): T;
  indexCopy(self: T, named: { readonly dim: number; readonly index: T; readonly source: T }): T;
  indexCopy(self: T, dim: number, named: { readonly index: T; readonly source: T }): T;
  indexCopy(self: T, dim: number, index: T, named: { readonly source: T }): T;
  indexFill(self: T, dim: number, index: T, value: Operand<T>): T;
  indexFill(self: T, named: { readonly dim: number; readonly index: T; readonly value: Operand<T> }): T;
  indexFill(self: T, dim: number, named: { readonly index: T; readonly value: Operand<T> }): T;
  indexFill(self: T, dim: number, index: T, named: { readonly value: Operand<T> }): T;
  index(self: T, indices: readonly (T | null)[]): T;
  gatherIndices(self: T, indices: readonly (T | null)[]): T;
  indexPut(
    self: T,
    indices: readonly (T | null)[],
    values: T,
    ...rest: Rest<named.AccumulateOptions, ["accumulate"]>
  ): T;
  putIndices: OpApi<T>["indexPut"];
  maskedSelect(self: T, mask: T): T;
  maskedScatter(self: T, mask: T, source: T): T;
  flip(self: T, dims: IntOrInts): T;
  flip(self: T, ...dims: number[]): T;
  flip(self: T, named: { readonly dims: IntOrInts }): T;
  fliplr(self: T): T;
  flipud(self: T): T;
  roll(self: T, shifts: Dim | readonly Dim[], ...rest: Rest<named.RollOptions, ["dims"]>): T;
  roll(self: T, named: { readonly shifts: Dim | readonly Dim[] } & named.RollOptions): T;
  rollDims(self: T, shifts: readonly Dim[], dims: readonly number[]): T;
  repeat(self: T, repeats: readonly Dim[]): T;
  repeat(self: T, ...repeats: Dim[]): T;
  repeat(self: T, named: { readonly repeats: readonly Dim[] }): T;
  tile(self: T, dims: readonly Dim[]): T;
  tile(self: T, ...dims: Dim[]): T;
  tile(self: T, named: { readonly dims: readonly Dim[] }): T;
  repeatInterleave(self: T, ...rest: Rest<named.RepeatInterleaveOptions<T>, ["repeats", "dim"]>): T;
  rot90(self: T, ...rest: Rest<named.Rot90Options, ["k", "dims"]>): T;
  tril(self: T, ...rest: Rest<named.TrilOptions, ["diagonal"]>): T;
  triu(self: T, ...rest: Rest<named.TrilOptions, ["diagonal"]>): T;
  diag(self: T, ...rest: Rest<named.DiagOptions, ["diagonal"]>): T;
  cat(tensors: readonly T[], ...rest: Rest<named.SplitWithSizesCopyOptions, ["dim"]>): T;
  stack(tensors: readonly T[], ...rest: Rest<named.SplitWithSizesCopyOptions, ["dim"]>): T;
  cumsum(self: T, dim: number, options?: named.DtypeOptions): T;
  cumsum(self: T, named: { readonly dim: number } & named.DtypeOptions): T;
  cumprod: OpApi<T>["cumsum"];
  logcumsumexp(self: T, dim: number): T;
  logcumsumexp(self: T, named: { readonly dim: number }): T;
  runningMax(self: T, dim: number): T;
  runningMin(self: T, dim: number): T;
  cummax(self: T, dim: number): Results<T, ["values", "indices"]>;
  cummax(self: T, named: { readonly dim: number }): Results<T, ["values", "indices"]>;
  cummin: OpApi<T>["cummax"];
  atan2(self: T, other: Operand<T>): T;
  hypot(self: T, other: Operand<T>): T;
  copysign(self: T, other: Operand<T>): T;
  xlogy(self: Operand<T>, other: Operand<T>): T;
  xlog1py(self: Operand<T>, other: Operand<T>): T;
  logaddexp(self: T, other: Operand<T>): T;
  logaddexp2(self: T, other: Operand<T>): T;
  lerp(self: T, end: T, weight: Operand<T>): T;
  addcmul(self: T, tensor1: T, tensor2: T, options?: OperandNumbers<named.ValueOptions, "value", T>): T;
  addcdiv(self: T, tensor1: T, tensor2: T, options?: OperandNumbers<named.ValueOptions, "value", T>): T;
  ldexp(self: T, other: T): T;
  nonzero(self: T, options: named.NonzeroOptions & { readonly asTuple: true }): Results<T, ["indices"]>;
  nonzero(self: T, options?: named.NonzeroOptions): T;
  argwhere(self: T): T;
  maskPositions(mask: T, count: Dim): T;
  repeatedIndices(repeats: T, size: Dim, ...rest: Rest<named.RepeatedIndicesOptions, ["outputSize"]>): T;
  uniqueGroups(
    self: T,
    ...rest: Rest<named.UniqueGroupsOptions, ["dim", "consecutive"]>
  ): Results<T, ["output", "inverseIndices", "counts"]>;
  unique(
    self: T,
    sorted: boolean | undefined,
    returnInverse: true,
    returnCounts: true,
    dim?: number | null | named.UniqueOptions,
    options?: named.UniqueOptions,
  ): Results<T, ["output", "inverseIndices", "counts"]>;
  unique(
    self: T,
    options: named.UniqueOptions & { readonly returnInverse: true; readonly returnCounts: true },
  ): Results<T, ["output", "inverseIndices", "counts"]>;
  unique(
    self: T,
    sorted: boolean | undefined,
    options: named.UniqueOptions & { readonly returnInverse: true; readonly returnCounts: true },
  ): Results<T, ["output", "inverseIndices", "counts"]>;
  unique(
    self: T,
    sorted: boolean | undefined,
    returnInverse: true,
    returnCounts?: false | named.UniqueOptions,
    dim?: number | null | named.UniqueOptions,
    options?: named.UniqueOptions,
  ): Results<T, ["output", "inverseIndices"]>;
  unique(
    self: T,
    options: named.UniqueOptions & { readonly returnInverse: true },
  ): Results<T, ["output", "inverseIndices"]>;
  unique(
    self: T,
    sorted: boolean | undefined,
    options: named.UniqueOptions & { readonly returnInverse: true },
  ): Results<T, ["output", "inverseIndices"]>;
  unique(
    self: T,
    sorted: boolean | undefined,
    returnInverse: false | undefined,
    returnCounts: true,
    dim?: number | null | named.UniqueOptions,
    options?: named.UniqueOptions,
  ): Results<T, ["output", "counts"]>;
  unique(
    self: T,
    options: named.UniqueOptions & { readonly returnCounts: true },
  ): Results<T, ["output", "counts"]>;
  unique(
    self: T,
    sorted: boolean | undefined,
    options: named.UniqueOptions & { readonly returnCounts: true },
  ): Results<T, ["output", "counts"]>;
  unique(
    self: T,
    sorted?: boolean | named.UniqueOptions,
    returnInverse?: false | named.UniqueOptions,
    returnCounts?: false | named.UniqueOptions,
    dim?: number | null | named.UniqueOptions,
    options?: named.UniqueOptions,
  ): T;
  uniqueConsecutive(
    self: T,
    returnInverse: true,
    returnCounts: true,
    dim?: number | null | named.UniqueConsecutiveOptions,
    sorted?: boolean | named.UniqueConsecutiveOptions,
    options?: named.UniqueConsecutiveOptions,
  ): Results<T, ["output", "inverseIndices", "counts"]>;
  uniqueConsecutive(
    self: T,
    options: named.UniqueConsecutiveOptions & { readonly returnInverse: true; readonly returnCounts: true },
  ): Results<T, ["output", "inverseIndices", "counts"]>;
  uniqueConsecutive(
    self: T,
    returnInverse: true,
    returnCounts?: false | named.UniqueConsecutiveOptions,
    dim?: number | null | named.UniqueConsecutiveOptions,
    sorted?: boolean | named.UniqueConsecutiveOptions,
    options?: named.UniqueConsecutiveOptions,
  ): Results<T, ["output", "inverseIndices"]>;
  uniqueConsecutive(
    self: T,
    options: named.UniqueConsecutiveOptions & { readonly returnInverse: true },
  ): Results<T, ["output", "inverseIndices"]>;
  uniqueConsecutive(
    self: T,
    returnInverse: false | undefined,
    returnCounts: true,
    dim?: number | null | named.UniqueConsecutiveOptions,
    sorted?: boolean | named.UniqueConsecutiveOptions,
    options?: named.UniqueConsecutiveOptions,
  ): Results<T, ["output", "counts"]>;
  uniqueConsecutive(
    self: T,
    options: named.UniqueConsecutiveOptions & { readonly returnCounts: true },
  ): Results<T, ["output", "counts"]>;
  uniqueConsecutive(
    self: T,
    returnInverse?: false | named.UniqueConsecutiveOptions,
    returnCounts?: false | named.UniqueConsecutiveOptions,
    dim?: number | null | named.UniqueConsecutiveOptions,
    sorted?: boolean | named.UniqueConsecutiveOptions,
    options?: named.UniqueConsecutiveOptions,
  ): T;
  bincount(self: T, ...rest: Rest<named.BincountOptions<T>, ["weights", "minlength"]>): T;
  constantPadNd(
    self: T,
    pad: readonly Dim[],
    ...rest: Rest<OperandNumbers<named.ConstantPadNdOptions, "value", T>, ["value"]>
  ): T;
  constantPadNd(self: T, named: { readonly pad: readonly Dim[] } & named.ConstantPadNdOptions): T;
  padBy(self: T, pad: readonly Dim[], mode: "reflect" | "replicate" | "circular"): T;
  padByBackward(
    grad: T,
    inputSizes: readonly Dim[],
    pad: readonly Dim[],
    mode: "reflect" | "replicate" | "circular",
  ): T;
  pad(
    self: T,
    pad: readonly Dim[],
    ...rest: Rest<OperandNumbers<named.PadOptions, "value", T>, ["mode", "value"]>
  ): T;
  pad(self: T, named: { readonly pad: readonly Dim[] } & named.PadOptions): T;
  scatterCombined(self: T, dim: number, index: T, src: T, reduce: "prod" | "amax" | "amin"): T;
  scatterReduce(
    self: T,
    dim: number,
    index: T,
    src: T,
    reduce: "sum" | "prod" | "mean" | "amax" | "amin",
    options?: named.IncludeSelfOptions,
  ): T;
  scatterReduce(
    self: T,
    named: {
      readonly dim: number;
      readonly index: T;
      readonly src: T;
      readonly reduce: "sum" | "prod" | "mean" | "amax" | "amin";
    } & named.IncludeSelfOptions,
  ): T;
  scatterReduce(
    self: T,
    dim: number,
    named:
      & { readonly index: T; readonly src: T; readonly reduce: "sum" | "prod" | "mean" | "amax" | "amin" }
      & named.IncludeSelfOptions,
  ): T;
  scatterReduce(
    self: T,
    dim: number,
    index: T,
    named:
      & { readonly src: T; readonly reduce: "sum" | "prod" | "mean" | "amax" | "amin" }
      & named.IncludeSelfOptions,
  ): T;
  scatterReduce(
    self: T,
    dim: number,
    index: T,
    src: T,
    named: { readonly reduce: "sum" | "prod" | "mean" | "amax" | "amin" } & named.IncludeSelfOptions,
  ): T;
  scatterExtreme(
    self: T,
    dim: number,
    index: T,
    src: T,
    reduce: "prod" | "amax" | "amin",
    includeSelf: boolean,
  ): T;
  indexReduce(
    self: T,
    dim: number,
    index: T,
    source: T,
    reduce: "prod" | "mean" | "amax" | "amin",
    options?: named.IncludeSelfOptions,
  ): T;
  indexReduce(
    self: T,
    named: {
      readonly dim: number;
      readonly index: T;
      readonly source: T;
      readonly reduce: "prod" | "mean" | "amax" | "amin";
    } & named.IncludeSelfOptions,
  ): T;
  indexReduce(
    self: T,
    dim: number,
    named:
      & { readonly index: T; readonly source: T; readonly reduce: "prod" | "mean" | "amax" | "amin" }
      & named.IncludeSelfOptions,
  ): T;
  indexReduce(
    self: T,
    dim: number,
    index: T,
    named:
      & { readonly source: T; readonly reduce: "prod" | "mean" | "amax" | "amin" }
      & named.IncludeSelfOptions,
  ): T;
  indexReduce(
    self: T,
    dim: number,
    index: T,
    source: T,
    named: { readonly reduce: "prod" | "mean" | "amax" | "amin" } & named.IncludeSelfOptions,
  ): T;
  sortLast(self: T, descending: boolean): Results<T, ["values", "indices"]>;
  firstOfSorted(self: T, count: Dim, descending: boolean): Results<T, ["values", "indices"]>;
  sort(
    self: T,
    ...rest: Rest<named.SortOptions, ["dim", "descending", "stable"]>
  ): Results<T, ["values", "indices"]>;
  argsort(self: T, ...rest: Rest<named.ArgsortOptions, ["dim", "descending", "stable"]>): T;
  msort(self: T): T;
  topk(
    self: T,
    k: Dim,
    ...rest: Rest<named.TopkOptions, ["dim", "largest", "sorted"]>
  ): Results<T, ["values", "indices"]>;
  topk(self: T, named: { readonly k: Dim } & named.TopkOptions): Results<T, ["values", "indices"]>;
  kthvalue(
    self: T,
    k: Dim,
    ...rest: Rest<named.KthvalueOptions, ["dim", "keepdim"]>
  ): Results<T, ["values", "indices"]>;
  kthvalue(self: T, named: { readonly k: Dim } & named.KthvalueOptions): Results<T, ["values", "indices"]>;
  medianOfAll(self: T, numbersOnly: boolean): T;
  median(
    self: T,
    dim: number,
    ...rest: Rest<named.ArgmaxOptions, ["keepdim"]>
  ): Results<T, ["values", "indices"]>;
  median(self: T, options: named.ArgmaxOptions & { readonly dim: number }): Results<T, ["values", "indices"]>;
  median(self: T, dim?: null | named.ArgmaxOptions, keepdim?: boolean): T;
  nanmedian: OpApi<T>["median"];
  quantile(self: T, q: Operand<T>, ...rest: Rest<named.QuantileOptions, ["dim", "keepdim"]>): T;
  nanquantile(self: T, q: Operand<T>, ...rest: Rest<named.QuantileOptions, ["dim", "keepdim"]>): T;
  searchsorted(sortedSequence: T, self: Operand<T>, options?: named.SearchsortedOptions<T>): T;
  countBefore(sequence: T, values: T, right: boolean, int32: boolean): T;
  bucketize(self: Operand<T>, boundaries: T, options?: named.BucketizeOptions): T;
  isin(elements: Operand<T>, testElements: Operand<T>, options?: named.IsinOptions): T;
  digamma(self: T): T;
  trigamma(self: T): T;
  erfinv(self: T): T;
  ndtr(self: T): T;
  entr(self: T): T;
  erfcx(self: T): T;
  logNdtr(self: T): T;
  ndtri(self: T): T;
  mvlgamma(self: T, p: number): T;
  mvlgamma(self: T, named: { readonly p: number }): T;
  i0(self: T): T;
  i0e(self: T): T;
  i1(self: T): T;
  i1e(self: T): T;
  modifiedBesselI0(self: T): T;
  modifiedBesselI1(self: T): T;
  modifiedBesselK0(self: T): T;
  modifiedBesselK1(self: T): T;
  scaledModifiedBesselK0(self: T): T;
  scaledModifiedBesselK1(self: T): T;
  besselJ0(self: T): T;
  besselJ1(self: T): T;
  besselY0(self: T): T;
  besselY1(self: T): T;
  sphericalBesselJ0(self: T): T;
  airyAi(self: T): T;
  zeta(self: Operand<T>, other: Operand<T>): T;
  polygamma(n: number, self: T): T;
  polygamma(named: { readonly n: number; readonly self: T }): T;
  polygamma(n: number, named: { readonly self: T }): T;
  polygammaOf(self: T, n: number): T;
  igamma(self: T, other: T): T;
  igammac(self: T, other: T): T;
  gelu(self: T, ...rest: Rest<named.GeluOptions, ["approximate"]>): T;
  silu(self: T, ...rest: Rest<named.InplaceOptions, ["inplace"]>): T;
  mish(self: T, ...rest: Rest<named.InplaceOptions, ["inplace"]>): T;
  softplus(
    self: T,
    ...rest: Rest<OperandNumbers<named.SoftplusOptions, "beta" | "threshold", T>, ["beta", "threshold"]>
  ): T;
  logsigmoid(self: T): T;
  softsign(self: T): T;
  tanhshrink(self: T): T;
  eluLinear(self: T, alpha: number | T, scale: number, rate: number | T): T;
  elu(self: T, ...rest: Rest<OperandNumbers<named.AlphaInplaceOptions, "alpha", T>, ["alpha", "inplace"]>): T;
  celu(
    self: T,
    ...rest: Rest<OperandNumbers<named.AlphaInplaceOptions, "alpha", T>, ["alpha", "inplace"]>
  ): T;
  selu(self: T, ...rest: Rest<named.InplaceOptions, ["inplace"]>): T;
  glu(self: T, ...rest: Rest<named.GluOptions, ["dim"]>): T;
  maxPool2dWithIndicesBackward(
    gradOutput: T,
    self: T,
    kernelSize: Dim | readonly Dim[],
    stride: Dim | readonly Dim[] | null | undefined,
    padding: Dim | readonly Dim[] | undefined,
    dilation: Dim | readonly Dim[] | undefined,
    ceilMode: boolean | undefined,
    indices: T,
    options?: named.MaxPool2dWithIndicesBackwardOptions,
  ): T;
  maxPool2dWithIndicesBackward(
    gradOutput: T,
    self: T,
    named:
      & { readonly kernelSize: Dim | readonly Dim[]; readonly indices: T }
      & named.MaxPool2dWithIndicesBackwardOptions,
  ): T;
  maxPoolOffsets(
    self: T,
    kernel: readonly Dim[],
    stride: readonly Dim[],
    padding: readonly Dim[],
    dilation: readonly Dim[],
    ceilMode: boolean,
  ): Results<T, ["values", "offsets"]>;
  maxPoolBackward(
    grad: T,
    offsets: T,
    inputSizes: readonly Dim[],
    kernel: readonly Dim[],
    stride: readonly Dim[],
    padding: readonly Dim[],
    dilation: readonly Dim[],
    ceilMode: boolean,
  ): T;
  maxPool1d(
    self: T,
    kernelSize: Dim | readonly Dim[],
    stride: Dim | readonly Dim[] | null | undefined,
    padding: Dim | readonly Dim[] | undefined,
    dilation: Dim | readonly Dim[] | undefined,
    ceilMode: boolean | undefined,
    returnIndices: true,
    options?: named.MaxPool1dOptions,
  ): Results<T, ["values", "indices"]>;
  maxPool1d(
    self: T,
    kernelSize: Dim | readonly Dim[],
    options: named.MaxPool1dOptions & { readonly returnIndices: true },
  ): Results<T, ["values", "indices"]>;
  maxPool1d(
    self: T,
    kernelSize: Dim | readonly Dim[],
    stride: Dim | readonly Dim[] | null | undefined,
    padding: Dim | readonly Dim[] | undefined,
    dilation: Dim | readonly Dim[] | undefined,
    ceilMode: boolean | undefined,
    options: named.MaxPool1dOptions & { readonly returnIndices: true },
  ): Results<T, ["values", "indices"]>;
  maxPool1d(
    self: T,
    kernelSize: Dim | readonly Dim[],
    stride?: Dim | readonly Dim[] | null,
    padding?: Dim | readonly Dim[],
    dilation?: Dim | readonly Dim[],
    ceilMode?: boolean,
    returnIndices?: false | named.MaxPool1dOptions,
  ): T;
  maxPool1d(self: T, named: { readonly kernelSize: Dim | readonly Dim[] } & named.MaxPool1dOptions): T;
  maxPool2d: OpApi<T>["maxPool1d"];
  maxPool3d: OpApi<T>["maxPool1d"];
  windowSum(
    self: T,
    kernel: readonly Dim[],
    stride: readonly Dim[],
    padding: readonly Dim[],
    ceilMode: boolean,
  ): T;
  windowSumBackward(
    grad: T,
    inputSizes: readonly Dim[],
    kernel: readonly Dim[],
    stride: readonly Dim[],
    padding: readonly Dim[],
    ceilMode: boolean,
  ): T;
  windowSizes(
    self: T,
    kernel: readonly Dim[],
    stride: readonly Dim[],
    padding: readonly Dim[],
    ceilMode: boolean,
    countIncludePad: boolean,
  ): T;
  avgPool1d(
    self: T,
    kernelSize: Dim | readonly Dim[],
    ...rest: Rest<
      named.AvgPool1dOptions,
      ["stride", "padding", "ceilMode", "countIncludePad", "divisorOverride"]
    >
  ): T;
  avgPool1d(self: T, named: { readonly kernelSize: Dim | readonly Dim[] } & named.AvgPool1dOptions): T;
  avgPool2d: OpApi<T>["avgPool1d"];
  avgPool3d: OpApi<T>["avgPool1d"];
  lpPool1d(
    self: T,
    normType: number,
    kernelSize: Dim | readonly Dim[],
    ...rest: Rest<named.StrideCeilModeOptions, ["stride", "ceilMode"]>
  ): T;
  lpPool1d(
    self: T,
    named:
      & { readonly normType: number; readonly kernelSize: Dim | readonly Dim[] }
      & named.StrideCeilModeOptions,
  ): T;
  lpPool1d(
    self: T,
    normType: number,
    named: { readonly kernelSize: Dim | readonly Dim[] } & named.StrideCeilModeOptions,
  ): T;
  lpPool2d: OpApi<T>["lpPool1d"];
  lpPool3d: OpApi<T>["lpPool1d"];
  fractionalMaxPool2d(
    self: T,
    kernelSize: IntOrInts,
    outputSize: IntOrInts | null | undefined,
    outputRatio: number | readonly number[] | null | undefined,
    returnIndices: true,
    ...rest: Rest<named.FractionalMaxPool2dOptions<T>, ["randomSamples"]>
  ): Results<T, ["values", "indices"]>;
  fractionalMaxPool2d(
    self: T,
    kernelSize: IntOrInts,
    options: named.FractionalMaxPool2dOptions<T> & { readonly returnIndices: true },
  ): Results<T, ["values", "indices"]>;
  fractionalMaxPool2d(
    self: T,
    kernelSize: IntOrInts,
    outputSize: IntOrInts | null | undefined,
    outputRatio: number | readonly number[] | null | undefined,
    options: named.FractionalMaxPool2dOptions<T> & { readonly returnIndices: true },
  ): Results<T, ["values", "indices"]>;
  fractionalMaxPool2d(
    self: T,
    kernelSize: IntOrInts,
    outputSize?: IntOrInts | null,
    outputRatio?: number | readonly number[] | null,
    returnIndices?: false | named.FractionalMaxPool2dOptions<T>,
    randomSamples?: T | null,
  ): T;
  fractionalMaxPool2d(
    self: T,
    named: { readonly kernelSize: IntOrInts } & named.FractionalMaxPool2dOptions<T>,
  ): T;
  fractionalMaxPool3d: OpApi<T>["fractionalMaxPool2d"];
  cauchy(
    self: T,
    ...rest: Rest<OperandNumbers<named.CauchyOptions, "median" | "sigma", T>, ["median", "sigma"]>
  ): T;
  logNormal(
    self: T,
    ...rest: Rest<OperandNumbers<named.LogNormalOptions, "mean" | "std", T>, ["mean", "std"]>
  ): T;
  geometric(self: T, p: number, options?: named.GeometricOptions): T;
  random(self: T, ...rest: Rest<named.RandomOptions, ["from", "to"]>): T;
  fillDiagonal(self: T, fillValue: Scalar | Dim | T, ...rest: Rest<named.FillDiagonalOptions, ["wrap"]>): T;
  rand(size: readonly Dim[], options?: named.RandOptions): T;
  rand(...size: (Dim | named.RandOptions)[]): T;
  rand(named: { readonly size: readonly Dim[] } & named.RandOptions): T;
  randn: OpApi<T>["rand"];
  randLike(self: T, options?: named.RandOptions): T;
  randnLike(self: T, options?: named.RandOptions): T;
  randint(low: Dim, ...rest: Rest<named.RandintOptions, ["high", "size"]>): T;
  randint(named: { readonly low: Dim } & named.RandintOptions): T;
  randintLike(self: T, low: Dim, ...rest: Rest<named.RandintLikeOptions, ["high"]>): T;
  randintLike(self: T, named: { readonly low: Dim } & named.RandintLikeOptions): T;
  randperm(n: Dim, options?: named.RandOptions): T;
  randperm(named: { readonly n: Dim } & named.RandOptions): T;
  bernoulli(self: T, ...rest: Rest<named.BernoulliOptions<T>, ["p"]>): T;
  uniform(self: T, ...rest: Rest<OperandNumbers<named.UniformOptions, "from" | "to", T>, ["from", "to"]>): T;
  normal(self: T, ...rest: Rest<OperandNumbers<named.NormalOptions, "mean" | "std", T>, ["mean", "std"]>): T;
  exponential(self: T, ...rest: Rest<OperandNumbers<named.ExponentialOptions, "lambd", T>, ["lambd"]>): T;
  multinomial(self: T, numSamples: Dim, ...rest: Rest<named.MultinomialOptions, ["replacement"]>): T;
  multinomial(self: T, named: { readonly numSamples: Dim } & named.MultinomialOptions): T;
  dropoutMask(self: T, p: number | T): T;
  dropout(
    self: T,
    ...rest: Rest<OperandNumbers<named.DropoutOptions, "p", T>, ["p", "training", "inplace"]>
  ): T;
  dropout1d(
    self: T,
    ...rest: Rest<OperandNumbers<named.DropoutOptions, "p", T>, ["p", "training", "inplace"]>
  ): T;
  dropout2d(
    self: T,
    ...rest: Rest<OperandNumbers<named.DropoutOptions, "p", T>, ["p", "training", "inplace"]>
  ): T;
  dropout3d(
    self: T,
    ...rest: Rest<OperandNumbers<named.DropoutOptions, "p", T>, ["p", "training", "inplace"]>
  ): T;
  alphaDropout(
    self: T,
    ...rest: Rest<OperandNumbers<named.AlphaDropoutOptions, "p", T>, ["p", "training", "inplace"]>
  ): T;
  featureAlphaDropout(
    self: T,
    ...rest: Rest<OperandNumbers<named.AlphaDropoutOptions, "p", T>, ["p", "training", "inplace"]>
  ): T;
  rrelu(
    self: T,
    ...rest: Rest<
      OperandNumbers<named.RreluOptions, "lower" | "upper", T>,
      ["lower", "upper", "training", "inplace"]
    >
  ): T;
  gumbelSoftmax(logits: T, ...rest: Rest<named.GumbelSoftmaxOptions<T>, ["tau", "hard", "eps", "dim"]>): T;
  var(self: T, ...rest: Rest<named.VarOptions, ["dim", "unbiased", "keepdim"]>): T;
  std(self: T, ...rest: Rest<named.VarOptions, ["dim", "unbiased", "keepdim"]>): T;
  varMean(
    self: T,
    ...rest: Rest<named.VarOptions, ["dim", "unbiased", "keepdim"]>
  ): Results<T, ["variance", "mean"]>;
  stdMean(
    self: T,
    ...rest: Rest<named.VarOptions, ["dim", "unbiased", "keepdim"]>
  ): Results<T, ["deviation", "mean"]>;
  logsumexp(self: T, dim: IntOrInts, ...rest: Rest<named.LogsumexpOptions, ["keepdim"]>): T;
  logsumexp(self: T, named: { readonly dim: IntOrInts } & named.LogsumexpOptions): T;
  norm0(self: T, dim: readonly number[], keepdim: boolean): T;
  norm2(self: T, dim: readonly number[], keepdim: boolean): T;
  normP(self: T, p: number, dim: readonly number[], keepdim: boolean): T;
  vectorNorm(x: T, ...rest: Rest<named.VectorNormOptions, ["ord", "dim", "keepdim"]>): T;
  norm(self: T, ...rest: Rest<named.NormOptions, ["p", "dim", "keepdim", "dtype"]>): T;
  normalize(self: T, ...rest: Rest<OperandNumbers<named.NormalizeOptions, "eps", T>, ["p", "dim", "eps"]>): T;
  cosineSimilarity(
    x1: T,
    x2: T,
    ...rest: Rest<OperandNumbers<named.CosineSimilarityOptions, "eps", T>, ["dim", "eps"]>
  ): T;
  pairwiseDistance(
    x1: T,
    x2: T,
    ...rest: Rest<OperandNumbers<named.PairwiseDistanceOptions, "eps", T>, ["p", "eps", "keepdim"]>
  ): T;
  dist(self: T, other: T, ...rest: Rest<named.POptions, ["p"]>): T;
  renorm(self: T, p: number, dim: number, maxnorm: number | T): T;
  renorm(self: T, named: { readonly p: number; readonly dim: number; readonly maxnorm: number }): T;
  renorm(self: T, p: number, named: { readonly dim: number; readonly maxnorm: number }): T;
  renorm(self: T, p: number, dim: number, named: { readonly maxnorm: number }): T;
  segmentNumbers(bounds: T, size: number, areOffsets: boolean, unsafe: boolean): T;
  segmentReduce(
    data: T,
    reduce: "sum" | "mean" | "max" | "min" | "prod",
    options?: named.SegmentReduceOptions<T>,
  ): T;
  segmentReduce(
    data: T,
    named: { readonly reduce: "sum" | "mean" | "max" | "min" | "prod" } & named.SegmentReduceOptions<T>,
  ): T;
  embedding(
    input: T,
    weight: T,
    ...rest: Rest<named.EmbeddingOptions, ["paddingIdx", "maxNorm", "normType", "scaleGradByFreq", "sparse"]>
  ): T;
  embeddingRows(
    weight: T,
    indices: T,
    ...rest: Rest<named.EmbeddingRowsOptions, ["paddingIdx", "scaleGradByFreq"]>
  ): T;
  embeddingBackward(
    grad: T,
    indices: T,
    rows: Dim,
    ...rest: Rest<named.EmbeddingBackwardOptions, ["paddingIdx"]>
  ): T;
  oneHot(self: T, ...rest: Rest<named.OneHotOptions, ["numClasses"]>): T;
  oneHotClasses(self: T, numClasses: Dim): T;
  oneHotOfAll(self: T): T;
  embeddingBag(
    input: T,
    weight: T,
    ...rest: Rest<
      named.EmbeddingBagOptions<T>,
      [
        "offsets",
        "maxNorm",
        "normType",
        "scaleGradByFreq",
        "mode",
        "sparse",
        "perSampleWeights",
        "includeLastOffset",
        "paddingIdx",
      ]
    >
  ): T;
  scaledDotProductAttention(
    query: T,
    key: T,
    value: T,
    ...rest: Rest<
      OperandNumbers<named.ScaledDotProductAttentionOptions<T>, "dropoutP" | "scale", T>,
      ["attnMask", "dropoutP", "isCausal"]
    >
  ): T;
  einsum(equation: string, operands: readonly T[]): T;
  einsum(equation: string, ...operands: T[]): T;
  einsum(named: { readonly equation: string; readonly operands: readonly T[] }): T;
  einsum(equation: string, named: { readonly operands: readonly T[] }): T;
  tensordotDims(self: T, other: T, dimsSelf: readonly number[], dimsOther: readonly number[]): T;
  inner(self: T, other: T): T;
  trace(self: T): T;
  kron(self: T, other: T): T;
  bilinear(input1: T, input2: T, weight: T, ...rest: Rest<named.BiasOptions<T>, ["bias"]>): T;
  atleast1d(self: T): T;
  atleast2d(self: T): T;
  atleast3d(self: T): T;
  hstack(tensors: readonly T[]): T;
  vstack(tensors: readonly T[]): T;
  dstack(tensors: readonly T[]): T;
  columnStack(tensors: readonly T[]): T;
  blockDiag(tensors: readonly T[]): T;
  blockDiag(...tensors: T[]): T;
  meshgrid(tensors: readonly T[], options?: named.MeshgridOptions): T[];
  meshgrid(...tensors: (T | named.MeshgridOptions)[]): T[];
  cartesianProd(tensors: readonly T[]): T;
  cartesianProd(...tensors: T[]): T;
  broadcastTensors(tensors: readonly T[]): T[];
  broadcastTensors(...tensors: T[]): T[];
  ravel(self: T): T;
  diagflat(self: T, ...rest: Rest<named.DiagflatOptions, ["offset"]>): T;
  triuIndices(row: number, col: number, ...rest: Rest<named.TriuIndicesOptions, ["offset"]>): T;
  triuIndices(named: { readonly row: number; readonly col: number } & named.TriuIndicesOptions): T;
  triuIndices(row: number, named: { readonly col: number } & named.TriuIndicesOptions): T;
  trilIndices: OpApi<T>["triuIndices"];
  tensordot(self: T, other: T, ...rest: Rest<named.TensordotOptions, ["dims"]>): T;
  diff(self: T, ...rest: Rest<named.DiffOptions<T>, ["n", "dim", "prepend", "append"]>): T;
  trapezoid(y: T, ...rest: Rest<named.TrapezoidOptions<T>, ["x"]>): T;
  cumulativeTrapezoid(y: T, ...rest: Rest<named.TrapezoidOptions<T>, ["x"]>): T;
  sumToSize: OpApi<T>["view"];
  interpolate(
    self: T,
    ...rest: Rest<
      named.InterpolateOptions,
      ["size", "scaleFactor", "mode", "alignCorners", "recomputeScaleFactor", "antialias"]
    >
  ): T;
  upsampleNearest(self: T, ...rest: Rest<named.SizeScaleFactorOptions, ["size", "scaleFactor"]>): T;
  upsampleBilinear(self: T, ...rest: Rest<named.SizeScaleFactorOptions, ["size", "scaleFactor"]>): T;
  im2col(
    self: T,
    kernelSize: Dim | readonly Dim[],
    ...rest: Rest<named.Im2colOptions, ["dilation", "padding", "stride"]>
  ): T;
  im2col(self: T, named: { readonly kernelSize: Dim | readonly Dim[] } & named.Im2colOptions): T;
  pixelShuffle(self: T, upscaleFactor: Dim): T;
  pixelShuffle(self: T, named: { readonly upscaleFactor: Dim }): T;
  pixelUnshuffle(self: T, downscaleFactor: Dim): T;
  pixelUnshuffle(self: T, named: { readonly downscaleFactor: Dim }): T;
  channelShuffle(self: T, groups: number): T;
  channelShuffle(self: T, named: { readonly groups: number }): T;
  localResponseNorm(
    self: T,
    size: number,
    ...rest: Rest<
      OperandNumbers<named.LocalResponseNormOptions, "alpha" | "beta" | "k", T>,
      ["alpha", "beta", "k"]
    >
  ): T;
  localResponseNorm(self: T, named: { readonly size: number } & named.LocalResponseNormOptions): T;
  col2im(
    self: T,
    outputSize: Dim | readonly Dim[],
    kernelSize: Dim | readonly Dim[],
    ...rest: Rest<named.Im2colOptions, ["dilation", "padding", "stride"]>
  ): T;
  col2im(
    self: T,
    named:
      & { readonly outputSize: Dim | readonly Dim[]; readonly kernelSize: Dim | readonly Dim[] }
      & named.Im2colOptions,
  ): T;
  col2im(
    self: T,
    outputSize: Dim | readonly Dim[],
    named: { readonly kernelSize: Dim | readonly Dim[] } & named.Im2colOptions,
  ): T;
  gridSample(
    input: T,
    grid: T,
    ...rest: Rest<named.GridSampleOptions, ["mode", "paddingMode", "alignCorners"]>
  ): T;
  gridSampler(input: T, grid: T, interpolationMode: number, paddingMode: number, alignCorners: boolean): T;
  gridSampler(
    input: T,
    grid: T,
    named: {
      readonly interpolationMode: number;
      readonly paddingMode: number;
      readonly alignCorners: boolean;
    },
  ): T;
  gridSampler(
    input: T,
    grid: T,
    interpolationMode: number,
    named: { readonly paddingMode: number; readonly alignCorners: boolean },
  ): T;
  gridSampler(
    input: T,
    grid: T,
    interpolationMode: number,
    paddingMode: number,
    named: { readonly alignCorners: boolean },
  ): T;
  gridSampler2d: OpApi<T>["gridSampler"];
  gridSampler3d: OpApi<T>["gridSampler"];
  affineGrid(theta: T, size: readonly Dim[], ...rest: Rest<named.AffineGridOptions, ["alignCorners"]>): T;
  affineGrid(theta: T, named: { readonly size: readonly Dim[] } & named.AffineGridOptions): T;
  marginRankingLoss(
    input1: T,
    input2: T,
    target: T,
    ...rest: Rest<OperandNumbers<named.MarginReductionOptions, "margin", T>, ["margin", "reduction"]>
  ): T;
  hingeEmbeddingLoss(
    self: T,
    target: T,
    ...rest: Rest<OperandNumbers<named.HingeEmbeddingLossOptions, "margin", T>, ["margin", "reduction"]>
  ): T;
  cosineEmbeddingLoss: OpApi<T>["marginRankingLoss"];
  outlierMarks(self: T): T;
  gaussianNllLoss(
    self: T,
    target: T,
    var_: Operand<T>,
    ...rest: Rest<OperandNumbers<named.GaussianNllLossOptions, "eps", T>, ["full", "eps", "reduction"]>
  ): T;
  poissonNllLoss(
    self: T,
    target: T,
    ...rest: Rest<
      OperandNumbers<named.PoissonNllLossOptions, "eps", T>,
      ["logInput", "full", "sizeAverage", "eps", "reduce", "reduction"]
    >
  ): T;
  tripletMarginLoss(
    anchor: T,
    positive: T,
    negative: T,
    ...rest: Rest<
      OperandNumbers<named.TripletMarginLossOptions, "margin" | "eps", T>,
      ["margin", "p", "eps", "swap", "sizeAverage", "reduce", "reduction"]
    >
  ): T;
  multiMarginLoss(
    self: T,
    target: T,
    ...rest: Rest<
      OperandNumbers<named.MultiMarginLossOptions<T>, "margin", T>,
      ["p", "margin", "weight", "sizeAverage", "reduce", "reduction"]
    >
  ): T;
  multilabelSoftMarginLoss(
    self: T,
    target: T,
    ...rest: Rest<named.MultilabelSoftMarginLossOptions<T>, ["weight", "sizeAverage", "reduce", "reduction"]>
  ): T;
  cdist(x1: T, x2: T, ...rest: Rest<named.CdistOptions, ["p", "computeMode"]>): T;
  pdist(self: T, ...rest: Rest<named.POptions, ["p"]>): T;
  multilabelMarginLoss(
    self: T,
    target: T,
    ...rest: Rest<named.MultilabelMarginLossOptions, ["sizeAverage", "reduce", "reduction"]>
  ): T;
  linearCrossEntropy(
    input: T,
    linearWeight: T,
    target: T,
    options?: OperandNumbers<named.LinearCrossEntropyOptions<T>, "labelSmoothing", T>,
  ): T;
  ctcLoss(
    logProbs: T,
    targets: T,
    inputLengths: T,
    targetLengths: T,
    ...rest: Rest<named.CtcLossOptions, ["blank", "reduction", "zeroInfinity"]>
  ): T;
  ctcLosses(
    logProbs: T,
    targets: T,
    inputLengths: T,
    targetLengths: T,
    blank: number,
  ): Results<T, ["losses", "slopes"]>;
  ctcSlopes(slopes: T, logProbs: T): T;
  chebyshevPolynomialT(x: Operand<T>, n: Operand<T>): T;
  chebyshevPolynomialU(x: Operand<T>, n: Operand<T>): T;
  chebyshevPolynomialV(x: Operand<T>, n: Operand<T>): T;
  chebyshevPolynomialW(x: Operand<T>, n: Operand<T>): T;
  hermitePolynomialH(x: Operand<T>, n: Operand<T>): T;
  hermitePolynomialHe(x: Operand<T>, n: Operand<T>): T;
  laguerrePolynomialL(x: Operand<T>, n: Operand<T>): T;
  legendrePolynomialP(x: Operand<T>, n: Operand<T>): T;
  shiftedChebyshevPolynomialT(x: Operand<T>, n: Operand<T>): T;
  shiftedChebyshevPolynomialU(x: Operand<T>, n: Operand<T>): T;
  shiftedChebyshevPolynomialV(x: Operand<T>, n: Operand<T>): T;
  shiftedChebyshevPolynomialW(x: Operand<T>, n: Operand<T>): T;
  gcd(self: T, other: T): T;
  lcm(self: T, other: T): T;
  matrixNorm(A: T, ...rest: Rest<named.MatrixNormOptions, ["ord", "dim", "keepdim"]>): T;
  linalgNorm(A: T, ...rest: Rest<named.LinalgNormOptions, ["ord", "dim", "keepdim"]>): T;
  linalgDiagonal(A: T, options?: named.DiagEmbedOptions): T;
  cross(self: T, other: T, ...rest: Rest<named.TakeAlongDimOptions, ["dim"]>): T;
  linalgCross(self: T, other: T, ...rest: Rest<named.TakeAlongDimOptions, ["dim"]>): T;
  vecdot(x: T, y: T, ...rest: Rest<named.GluOptions, ["dim"]>): T;
  multiDot(tensors: readonly T[]): T;
  inv(A: T): T;
  slogdet(A: T): Results<T, ["sign", "logabsdet"]>;
  slogdetPairs(A: T): Results<T, ["sign", "logabsdet"]>;
  det(A: T): T;
  logdet(A: T): T;
  matrixPower(A: T, n: number): T;
  matrixPower(A: T, named: { readonly n: number }): T;
  vander(x: T, ...rest: Rest<named.VanderOptions, ["N"]>): T;
  solve(A: T, B: T, options?: named.SolveOptions): T;
  solveEx(A: T, B: T, options?: named.SolveExOptions): Results<T, ["result", "info"]>;
  invEx(A: T, options?: named.InvExOptions): Results<T, ["inverse", "info"]>;
  tensorinv(A: T, ...rest: Rest<named.TensorinvOptions, ["ind"]>): T;
  frequencies(self: T): T;
  cov(self: T, options?: named.CovOptions<T>): T;
  corrcoef(self: T): T;
  singularFactors(A: T): Results<T, ["U", "S", "Vh"]>;
  singularPairs(A: T): Results<T, ["U", "S", "Vh"]>;
  svdvals(A: T): T;
  aminmax(self: T, options?: named.ArgmaxOptions): Results<T, ["min", "max"]>;
  mode(self: T, ...rest: Rest<named.KthvalueOptions, ["dim", "keepdim"]>): Results<T, ["values", "indices"]>;
  histc(self: T, ...rest: Rest<named.HistcOptions, ["bins", "min", "max"]>): T;
  unravelIndex(indices: T, shape: readonly number[]): T[];
  unravelIndex(indices: T, named: { readonly shape: readonly number[] }): T[];
  combinations(self: T, ...rest: Rest<named.CombinationsOptions, ["r", "withReplacement"]>): T;
  choiceIndices(n: number, r: number, repeat: boolean, options?: named.ChoiceIndicesOptions): T;
  binEdges(self: T, bins: number, ...rest: Rest<named.BinEdgesOptions, ["range"]>): T;
  binnedSums(
    points: T,
    edges: readonly T[],
    weight: T | null | undefined,
    density: boolean,
    options?: named.BinnedSumsOptions<T>,
  ): T;
  histogram(self: T, bins: Operand<T>, options?: named.HistogramOptions<T>): Results<T, ["hist", "binEdges"]>;
  backSubstitution(A: T, B: T, upper: boolean, unitriangular: boolean): T;
  solveTriangular(A: T, B: T, upper: boolean, options?: named.SolveTriangularOptions): T;
  solveTriangular(A: T, B: T, named: { readonly upper: boolean } & named.SolveTriangularOptions): T;
  triangularSolve(
    self: T,
    A: T,
    ...rest: Rest<named.TriangularSolveOptions, ["upper", "transpose", "unitriangular"]>
  ): Results<T, ["solution", "cloned_coefficient"]>;
  choleskyFactor(A: T, checkErrors: boolean): Results<T, ["L", "info"]>;
  choleskyPairs(A: T, checkErrors: boolean): Results<T, ["L", "info"]>;
  choleskyEx(A: T, options?: named.CholeskyExOptions): Results<T, ["L", "info"]>;
  cholesky(A: T, ...rest: Rest<named.UpperOptions, ["upper"]>): T;
  choleskyInverse(L: T, ...rest: Rest<named.UpperOptions, ["upper"]>): T;
  choleskySolve(self: T, L: T, ...rest: Rest<named.UpperOptions, ["upper"]>): T;
  tallQr(A: T): Results<T, ["Q", "R"]>;
  tallQrPairs(A: T): Results<T, ["Q", "R"]>;
  completeQr(A: T): Results<T, ["Q", "R"]>;
  completeQrPairs(A: T): Results<T, ["Q", "R"]>;
  qr(A: T, ...rest: Rest<named.QrOptions, ["mode"]>): Results<T, ["Q", "R"]>;
  symmetricEigen(A: T): Results<T, ["eigenvalues", "eigenvectors"]>;
  hermitianPairs(A: T): Results<T, ["eigenvalues", "eigenvectors"]>;
  eigh(A: T, ...rest: Rest<named.UPLOOptions, ["UPLO"]>): Results<T, ["eigenvalues", "eigenvectors"]>;
  eigvalsh(A: T, ...rest: Rest<named.UPLOOptions, ["UPLO"]>): T;
  eigenPairs(
    A: T,
    ...rest: Rest<named.EigenPairsOptions, ["paired"]>
  ): Results<T, ["eigenvalues", "eigenvectors"]>;
  eig(A: T): Results<T, ["eigenvalues", "eigenvectors"]>;
  eigvals(A: T): T;
  extremePairs(
    A: T,
    X: T,
    B: T | null | undefined,
    iK: T | null | undefined,
    niter: number,
    tol: number,
    largest: boolean,
    options?: named.ExtremePairsOptions<T>,
  ): Results<T, ["E", "X"]>;
  lobpcg(
    A: T,
    ...rest: Rest<named.LobpcgOptions<T>, ["k", "B", "X", "n", "iK", "niter", "tol", "largest"]>
  ): Results<T, ["E", "X"]>;
  svdLowrank(
    A: T,
    ...rest: Rest<named.SvdLowrankOptions<T>, ["q", "niter", "M"]>
  ): Results<T, ["U", "S", "V"]>;
  pcaLowrank(
    A: T,
    ...rest: Rest<named.PcaLowrankOptions, ["q", "center", "niter"]>
  ): Results<T, ["U", "S", "V"]>;
  luFactorEx(A: T, options?: named.PivotCheckErrorsOptions): Results<T, ["LU", "pivots", "info"]>;
  luFactorPairs: OpApi<T>["luFactorEx"];
  permutationOf(pivots: T, rows: number, options?: named.PermutationOfOptions): T;
  luFactor(A: T, options?: named.PivotOptions): Results<T, ["LU", "pivots"]>;
  luUnpack(
    LUData: T,
    LUPivots: T,
    ...rest: Rest<named.LuUnpackOptions, ["unpackData", "unpackPivots"]>
  ): Results<T, ["P", "L", "U"]>;
  linalgLu(A: T, options?: named.PivotOptions): Results<T, ["P", "L", "U"]>;
  lu(self: T, ...rest: Rest<named.LuOptions, ["pivot", "getInfos"]>): Results<T, ["LU", "pivots", "infos"]>;
  linalgLuSolve(LU: T, pivots: T, B: T, options?: named.LinalgLuSolveOptions): T;
  luSolve(self: T, LUData: T, LUPivots: T): T;
  linalgSvd(A: T, ...rest: Rest<named.LinalgSvdOptions, ["fullMatrices"]>): Results<T, ["U", "S", "Vh"]>;
  svd(self: T, ...rest: Rest<named.SvdOptions, ["some", "computeUv"]>): Results<T, ["U", "S", "V"]>;
  pseudoinverse(A: T, bound: T, hermitian: boolean): T;
  pinv(A: T, ...rest: Rest<named.PinvOptions<T>, ["rcond"]>): T;
  pinverse(A: T, ...rest: Rest<named.PinverseOptions, ["rcond"]>): T;
  matrixRank(A: T, ...rest: Rest<named.MatrixRankOptions<T>, ["tol"]>): T;
  cond(A: T, ...rest: Rest<named.CondOptions, ["p"]>): T;
  lstsq(
    A: T,
    B: T,
    ...rest: Rest<named.LstsqOptions, ["rcond"]>
  ): Results<T, ["solution", "residuals", "rank", "singular_values"]>;
  tensorsolve(A: T, B: T, ...rest: Rest<named.TensorsolveOptions, ["dims"]>): T;
  matrixExp(A: T): T;
  geqrf(self: T): Results<T, ["a", "tau"]>;
  householderProduct(A: T, tau: T): T;
  ormqr(self: T, tau: T, other: T, ...rest: Rest<named.OrmqrOptions, ["left", "transpose"]>): T;
  ldlFactorEx(A: T, options?: named.LdlFactorExOptions): Results<T, ["LD", "pivots", "info"]>;
  ldlFactor(A: T, options?: named.HermitianOptions): Results<T, ["LD", "pivots"]>;
  ldlSolve(LD: T, pivots: T, B: T, options?: named.HermitianOptions): T;
  ldlSolutions(LD: T, pivots: T, B: T): T;
  lyapunov(X: T, C: T): T;
  matrixSqrth(A: T): T;
  polarFactors(A: T, isometry: T): Results<T, ["U", "H"]>;
  linalgPolar(A: T): Results<T, ["U", "H"]>;
  angle(self: T): T;
  frexp(self: T): Results<T, ["mantissa", "exponent"]>;
  nextafter(self: T, other: T): T;
  nativeLayerNorm(
    self: T,
    normalizedShape: readonly Dim[],
    weight: T | null | undefined,
    bias: T | null | undefined,
    eps: number | T,
    options?: named.WeightBiasOptions<T>,
  ): Results<T, ["output", "mean", "rstd"]>;
  nativeLayerNorm(
    self: T,
    named: { readonly normalizedShape: readonly Dim[]; readonly eps: number } & named.WeightBiasOptions<T>,
  ): Results<T, ["output", "mean", "rstd"]>;
  nativeGroupNorm(
    self: T,
    weight: T | null | undefined,
    bias: T | null | undefined,
    n: Dim,
    c: Dim,
    hxw: Dim,
    group: number,
    eps: number | T,
    options?: named.WeightBiasOptions<T>,
  ): Results<T, ["output", "mean", "rstd"]>;
  nativeBatchNorm(
    self: T,
    weight: T | null | undefined,
    bias: T | null | undefined,
    runningMean: T | null | undefined,
    runningVar: T | null | undefined,
    training: boolean,
    momentum: number | T,
    eps: number | T,
    options?: named.NativeBatchNormOptions<T>,
  ): Results<T, ["output", "mean", "rstd"]>;
  nativeDropoutBackward(gradOutput: T, mask: T, scale: number | T): T;
  nativeDropoutBackward(gradOutput: T, mask: T, named: { readonly scale: number }): T;
  mm(self: T, mat2: T): T;
  bmm(self: T, mat2: T): T;
  mv(self: T, vec: T): T;
  dot(self: T, tensor: T): T;
  matmul(self: T, other: T): T;
  addmm(
    self: T,
    first: T,
    second: T,
    options?: OperandNumbers<named.BetaAlphaOptions, "beta" | "alpha", T>,
  ): T;
  addmv(
    self: T,
    first: T,
    second: T,
    options?: OperandNumbers<named.BetaAlphaOptions, "beta" | "alpha", T>,
  ): T;
  baddbmm(
    self: T,
    first: T,
    second: T,
    options?: OperandNumbers<named.BetaAlphaOptions, "beta" | "alpha", T>,
  ): T;
  addbmm(
    self: T,
    first: T,
    second: T,
    options?: OperandNumbers<named.BetaAlphaOptions, "beta" | "alpha", T>,
  ): T;
  addr(
    self: T,
    first: T,
    second: T,
    options?: OperandNumbers<named.BetaAlphaOptions, "beta" | "alpha", T>,
  ): T;
  outer(self: T, vec2: T): T;
  linear(input: T, weight: T, ...rest: Rest<named.BiasOptions<T>, ["bias"]>): T;
  convolution(
    input: T,
    weight: T,
    bias: T | null | undefined,
    stride: readonly number[],
    padding: readonly number[],
    dilation: readonly number[],
    groups: number,
    options?: named.BiasOptions<T>,
  ): T;
  convolutionBackwardInput(
    grad: T,
    weight: T,
    inputSizes: readonly Dim[],
    stride: readonly number[],
    padding: readonly number[],
    dilation: readonly number[],
    groups: number,
  ): T;
  convolutionBackwardWeight(
    grad: T,
    input: T,
    weightSizes: readonly Dim[],
    stride: readonly number[],
    padding: readonly number[],
    dilation: readonly number[],
    groups: number,
  ): T;
  conv1d(
    input: T,
    weight: T,
    ...rest: Rest<named.Conv1dOptions<T>, ["bias", "stride", "padding", "dilation", "groups"]>
  ): T;
  conv2d: OpApi<T>["conv1d"];
  conv3d: OpApi<T>["conv1d"];
  convTranspose1d(
    input: T,
    weight: T,
    ...rest: Rest<
      named.ConvTranspose1dOptions<T>,
      ["bias", "stride", "padding", "outputPadding", "groups", "dilation"]
    >
  ): T;
  convTranspose2d: OpApi<T>["convTranspose1d"];
  convTranspose3d: OpApi<T>["convTranspose1d"];
  adaptiveSum(self: T, dim: number, count: Dim): T;
  adaptiveSumBackward(grad: T, dim: number, size: Dim): T;
  windowLengths(like: T, size: Dim, count: Dim): T;
  adaptiveAvgPool1d(self: T, outputSize: Dim | readonly (Dim | null)[]): T;
  adaptiveAvgPool1d(self: T, named: { readonly outputSize: Dim | readonly (Dim | null)[] }): T;
  adaptiveAvgPool2d: OpApi<T>["adaptiveAvgPool1d"];
  adaptiveAvgPool3d: OpApi<T>["adaptiveAvgPool1d"];
  adaptiveMax(self: T, dim: number, count: Dim): T;
  adaptiveMaxima(self: T, sizes: readonly Dim[]): T;
  adaptiveMaxOffsets(self: T, sizes: readonly Dim[], kernel: readonly Dim[]): T;
  adaptiveMaxIndices(self: T, sizes: readonly Dim[]): T;
  adaptiveMaxPool1d(
    self: T,
    outputSize: Dim | readonly (Dim | null)[],
    returnIndices: true,
    options?: named.ReturnIndicesOptions,
  ): Results<T, ["values", "indices"]>;
  adaptiveMaxPool1d(
    self: T,
    outputSize: Dim | readonly (Dim | null)[],
    options: named.ReturnIndicesOptions & { readonly returnIndices: true },
  ): Results<T, ["values", "indices"]>;
  adaptiveMaxPool1d(
    self: T,
    outputSize: Dim | readonly (Dim | null)[],
    returnIndices?: false | named.ReturnIndicesOptions,
  ): T;
  adaptiveMaxPool1d(
    self: T,
    named: { readonly outputSize: Dim | readonly (Dim | null)[] } & named.ReturnIndicesOptions,
  ): T;
  adaptiveMaxPool2d: OpApi<T>["adaptiveMaxPool1d"];
  adaptiveMaxPool3d: OpApi<T>["adaptiveMaxPool1d"];
  maxUnpool1d(
    self: T,
    indices: T,
    kernelSize: Dim | readonly Dim[],
    ...rest: Rest<named.MaxUnpool1dOptions, ["stride", "padding", "outputSize"]>
  ): T;
  maxUnpool1d(
    self: T,
    indices: T,
    named: { readonly kernelSize: Dim | readonly Dim[] } & named.MaxUnpool1dOptions,
  ): T;
  maxUnpool2d: OpApi<T>["maxUnpool1d"];
  maxUnpool3d: OpApi<T>["maxUnpool1d"];
  softmax(self: T, dim: number, ...rest: Rest<named.DtypeOptions, ["dtype"]>): T;
  softmax(self: T, named: { readonly dim: number } & named.DtypeOptions): T;
  safeSoftmax(self: T, dim: number, ...rest: Rest<named.DtypeOptions, ["dtype"]>): T;
  logSoftmax: OpApi<T>["softmax"];
  softmin: OpApi<T>["softmax"];
  layerNorm(
    self: T,
    normalizedShape: readonly Dim[],
    ...rest: Rest<OperandNumbers<named.LayerNormOptions<T>, "eps", T>, ["weight", "bias", "eps"]>
  ): T;
  layerNorm(self: T, named: { readonly normalizedShape: readonly Dim[] } & named.LayerNormOptions<T>): T;
  rmsNorm(
    self: T,
    normalizedShape: readonly Dim[],
    ...rest: Rest<OperandNumbers<named.RmsNormOptions<T>, "eps", T>, ["weight", "eps"]>
  ): T;
  rmsNorm(self: T, named: { readonly normalizedShape: readonly Dim[] } & named.RmsNormOptions<T>): T;
  groupNorm(
    self: T,
    numGroups: number,
    ...rest: Rest<OperandNumbers<named.LayerNormOptions<T>, "eps", T>, ["weight", "bias", "eps"]>
  ): T;
  groupNorm(self: T, named: { readonly numGroups: number } & named.LayerNormOptions<T>): T;
  instanceNorm(
    self: T,
    ...rest: Rest<
      OperandNumbers<named.InstanceNormOptions<T>, "momentum" | "eps", T>,
      ["runningMean", "runningVar", "weight", "bias", "useInputStats", "momentum", "eps"]
    >
  ): T;
  batchNormTraining(
    self: T,
    ...rest: Rest<OperandNumbers<named.LayerNormOptions<T>, "eps", T>, ["weight", "bias", "eps"]>
  ): Results<T, ["output", "mean", "variance"]>;
  batchNormInference(
    self: T,
    runningMean: T,
    runningVar: T,
    ...rest: Rest<OperandNumbers<named.LayerNormOptions<T>, "eps", T>, ["weight", "bias", "eps"]>
  ): T;
  mseLoss(self: T, target: T, ...rest: Rest<named.ReductionWeightOptions<T>, ["reduction", "weight"]>): T;
  l1Loss(self: T, target: T, ...rest: Rest<named.ReductionWeightOptions<T>, ["reduction", "weight"]>): T;
  smoothL1Loss(
    self: T,
    target: T,
    ...rest: Rest<OperandNumbers<named.SmoothL1LossOptions, "beta", T>, ["reduction", "beta"]>
  ): T;
  huberLoss(
    self: T,
    target: T,
    ...rest: Rest<OperandNumbers<named.HuberLossOptions<T>, "delta", T>, ["reduction", "delta", "weight"]>
  ): T;
  softMarginLoss(self: T, target: T, ...rest: Rest<named.SoftMarginLossOptions, ["reduction"]>): T;
  nllLoss(
    self: T,
    target: T,
    ...rest: Rest<named.NllLossOptions<T>, ["weight", "ignoreIndex", "reduction"]>
  ): T;
  crossEntropy(
    self: T,
    target: T,
    ...rest: Rest<
      OperandNumbers<named.CrossEntropyOptions<T>, "labelSmoothing", T>,
      ["weight", "ignoreIndex", "reduction", "labelSmoothing"]
    >
  ): T;
  binaryCrossEntropy(
    self: T,
    target: T,
    ...rest: Rest<named.BinaryCrossEntropyOptions<T>, ["weight", "reduction"]>
  ): T;
  binaryCrossEntropyWithLogits(
    self: T,
    target: T,
    ...rest: Rest<named.BinaryCrossEntropyWithLogitsOptions<T>, ["weight", "reduction", "posWeight"]>
  ): T;
  klDiv(self: T, target: T, ...rest: Rest<named.KlDivOptions, ["reduction", "logTarget"]>): T;
  toDevice(self: T, device: DeviceName): T;
  readBits(self: T, dtype: DType): T;
  bitView(self: T, dtype: DType): T;
  viewAsReal(self: T): T;
  viewAsComplex(self: T): T;
  complexFunction(
    self: T,
    name:
      | "exp"
      | "exp2"
      | "expm1"
      | "log"
      | "log2"
      | "log10"
      | "log1p"
      | "sqrt"
      | "rsqrt"
      | "reciprocal"
      | "square"
      | "sinh"
      | "cosh"
      | "tanh"
      | "sin"
      | "cos"
      | "tan"
      | "asin"
      | "acos"
      | "atan"
      | "asinh"
      | "acosh"
      | "atanh"
      | "sigmoid",
  ): T;
  complex(real: T, imag: T): T;
  polar(abs: T, angle: T): T;
  real(self: T): T;
  imag(self: T): T;
  conj(self: T): T;
  conjPhysical(self: T): T;
  resolveConj(self: T): T;
  resolveNeg(self: T): T;
  sgn(self: T): T;
  vdot(self: T, other: T): T;
  fourierPairs(self: T, ...rest: Rest<named.FourierPairsOptions, ["inverse"]>): T;
  fftFft(self: T, ...rest: Rest<named.FftFftOptions, ["n", "dim", "norm"]>): T;
  fftIfft(self: T, ...rest: Rest<named.FftFftOptions, ["n", "dim", "norm"]>): T;
  fftRfft(self: T, ...rest: Rest<named.FftFftOptions, ["n", "dim", "norm"]>): T;
  fftIrfft(self: T, ...rest: Rest<named.FftFftOptions, ["n", "dim", "norm"]>): T;
  fftHfft(self: T, ...rest: Rest<named.FftFftOptions, ["n", "dim", "norm"]>): T;
  fftIhfft(self: T, ...rest: Rest<named.FftFftOptions, ["n", "dim", "norm"]>): T;
  fftFft2(self: T, ...rest: Rest<named.FftFft2Options, ["s", "dim", "norm"]>): T;
  fftIfft2(self: T, ...rest: Rest<named.FftFft2Options, ["s", "dim", "norm"]>): T;
  fftRfft2(self: T, ...rest: Rest<named.FftFft2Options, ["s", "dim", "norm"]>): T;
  fftIrfft2(self: T, ...rest: Rest<named.FftFft2Options, ["s", "dim", "norm"]>): T;
  fftFftn(self: T, ...rest: Rest<named.FftFftnOptions, ["s", "dim", "norm"]>): T;
  fftIfftn(self: T, ...rest: Rest<named.FftFftnOptions, ["s", "dim", "norm"]>): T;
  fftRfftn(self: T, ...rest: Rest<named.FftFftnOptions, ["s", "dim", "norm"]>): T;
  fftIrfftn(self: T, ...rest: Rest<named.FftFftnOptions, ["s", "dim", "norm"]>): T;
  fftHfft2(self: T, ...rest: Rest<named.FftFft2Options, ["s", "dim", "norm"]>): T;
  fftIhfft2(self: T, ...rest: Rest<named.FftFft2Options, ["s", "dim", "norm"]>): T;
  fftHfftn(self: T, ...rest: Rest<named.FftFftnOptions, ["s", "dim", "norm"]>): T;
  fftIhfftn(self: T, ...rest: Rest<named.FftFftnOptions, ["s", "dim", "norm"]>): T;
  fftFftfreq(n: Dim, ...rest: Rest<named.FftFftfreqOptions, ["d"]>): T;
  fftFftfreq(named: { readonly n: Dim } & named.FftFftfreqOptions): T;
  fftRfftfreq: OpApi<T>["fftFftfreq"];
  fftFftshift(self: T, ...rest: Rest<named.DimOptions, ["dim"]>): T;
  fftIfftshift(self: T, ...rest: Rest<named.DimOptions, ["dim"]>): T;
  stft(
    self: T,
    nFft: Dim,
    ...rest: Rest<
      named.StftOptions<T>,
      ["hopLength", "winLength", "window", "center", "padMode", "normalized", "onesided", "returnComplex"]
    >
  ): T;
  stft(self: T, named: { readonly nFft: Dim } & named.StftOptions<T>): T;
  istft(
    self: T,
    nFft: Dim,
    ...rest: Rest<
      named.IstftOptions<T>,
      ["hopLength", "winLength", "window", "center", "normalized", "onesided", "length", "returnComplex"]
    >
  ): T;
  istft(self: T, named: { readonly nFft: Dim } & named.IstftOptions<T>): T;
  hannWindow(windowLength: Dim, ...rest: Rest<named.HannWindowOptions, ["periodic"]>): T;
  hannWindow(named: { readonly windowLength: Dim } & named.HannWindowOptions): T;
  hammingWindow(
    windowLength: Dim,
    ...rest: Rest<named.HammingWindowOptions, ["periodic", "alpha", "beta"]>
  ): T;
  hammingWindow(named: { readonly windowLength: Dim } & named.HammingWindowOptions): T;
  blackmanWindow: OpApi<T>["hannWindow"];
  bartlettWindow: OpApi<T>["hannWindow"];
  kaiserWindow(windowLength: Dim, ...rest: Rest<named.KaiserWindowOptions, ["periodic", "beta"]>): T;
  kaiserWindow(named: { readonly windowLength: Dim } & named.KaiserWindowOptions): T;
}
