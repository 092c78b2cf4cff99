/**
 * Complex tensors of given shapes, and conversions. Invariant: random complex numbers have variance 1, as in PyTorch;
 * a conversion to a real type keeps the real part.
 */
import { complexType, type DType, isComplex, partType } from "../../base/dtype.ts";
import type { DeviceName } from "../../loops/device.ts";
import { creation } from "../creation/creation.ts";
import type { TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import { random } from "../creation/random.ts";
import { asComplex, isComplexTensor, joined, partsOf } from "./parts.ts";
import { truth } from "./reductions.ts";
import { type ComplexRule, rule } from "./rule.ts";

/** The requested type, or that of a given tensor. */
const typeFor = (asked: DType | null, self?: TensorLike): DType => asked ?? self?.dtype ?? "complex64";

/** The requested type and device, or those of a given tensor. */
const placeFor = (self: TensorLike, dtype: DType | null, device: DeviceName | null) => ({
  dtype: typeFor(dtype, self),
  device: device ?? self.device,
});

/** A new tensor: `make` creates the parts of a complex one, `plain` a real one. */
function made<T extends TensorLike>(
  o: OpApi<T>,
  dtype: DType,
  make: { readonly pairs: (part: DType) => T } | { readonly parts: (part: DType) => readonly [T, T] },
): T {
  const part = partType(dtype);
  if ("pairs" in make) return o.viewAsComplex(make.pairs(part));
  const [re, im] = make.parts(part);
  return joined(o, { re, im });
}

/** Converts to any type. */
function converted<T extends TensorLike>(o: OpApi<T>, self: T, dtype: DType): T {
  if (self.dtype === dtype) return self;
  if (isComplex(dtype)) return asComplex(o, self, { dtype, like: self });
  return dtype === "bool" ? truth(o, self) : o.to(partsOf(o, self).re, dtype);
}

/** The standard deviation of each part of numbers of variance 1. */
const HALF = Math.SQRT1_2;

export const creationRules: readonly ComplexRule[] = [
  rule(
    creation.zeros,
    (o, { size, dtype, device }) =>
      made(o, typeFor(dtype), { pairs: (part) => o.zeros([...size, 2], { dtype: part, device }) }),
  ),
  rule(
    creation.empty,
    (o, { size, dtype, device }) =>
      made(o, typeFor(dtype), { pairs: (part) => o.empty([...size, 2], { dtype: part, device }) }),
  ),
  rule(creation.ones, (o, { size, dtype, device }) => o.full(size, 1, { dtype: typeFor(dtype), device })),
  rule(creation.full, (o, { size, fillValue, dtype, device }) =>
    made(o, typeFor(dtype), {
      parts(part) {
        const options = { dtype: part, device };
        return [o.full(size, fillValue, options), o.zeros(size, options)];
      },
    })),
  rule(
    creation.eye,
    (o, { n, m, dtype, device }) => o.to(o.eye(n, m, { dtype: "bool", device }), typeFor(dtype)),
  ),
  rule(
    creation.zerosLike,
    (o, { self, dtype, device }) => o.zeros(self.shape, placeFor(self, dtype, device)),
  ),
  rule(
    creation.emptyLike,
    (o, { self, dtype, device }) => o.empty(self.shape, placeFor(self, dtype, device)),
  ),
  rule(creation.onesLike, (o, { self, dtype, device }) => o.ones(self.shape, placeFor(self, dtype, device))),
  rule(
    creation.fullLike,
    (o, { self, fillValue, dtype, device }) => o.full(self.shape, fillValue, placeFor(self, dtype, device)),
  ),
  rule(creation.newZeros, (o, { self, size, dtype, device }) => o.zeros(size, placeFor(self, dtype, device))),
  rule(creation.newEmpty, (o, { self, size, dtype, device }) => o.empty(size, placeFor(self, dtype, device))),
  rule(creation.newOnes, (o, { self, size, dtype, device }) => o.ones(size, placeFor(self, dtype, device))),
  rule(
    creation.newFull,
    (o, { self, size, fillValue, dtype, device }) => o.full(size, fillValue, placeFor(self, dtype, device)),
  ),
  rule(creation.scalarTensor, (o, { s, dtype, device }) => o.full([], s, { dtype, device })),
  rule(creation.convert, (o, { self, dtype }) => converted(o, self, dtype)),
  rule(creation.to, (o, { self, dtype }) => converted(o, self, dtype)),
  rule(creation.copy, (o, { self, src }) => {
    const { dtype } = self;
    if (isComplex(dtype)) {
      const value = asComplex(o, src, { dtype, like: self });
      return o.viewAsComplex(o.copy(o.viewAsReal(self), o.viewAsReal(value)));
    }
    return o.copy(self, isComplexTensor(src) ? partsOf(o, src).re : src);
  }),
  rule(
    random.rand,
    (o, { size, dtype, device }) =>
      made(o, typeFor(dtype), { pairs: (part) => o.rand([...size, 2], { dtype: part, device }) }),
  ),
  rule(
    random.randn,
    (o, { size, dtype, device }) =>
      made(o, typeFor(dtype), {
        pairs: (part) => o.mul(o.randn([...size, 2], { dtype: part, device }), HALF),
      }),
  ),
  rule(random.randLike, (o, { self, dtype, device }) => o.rand(self.shape, placeFor(self, dtype, device))),
  rule(random.randnLike, (o, { self, dtype, device }) => o.randn(self.shape, placeFor(self, dtype, device))),
  rule(random.uniform, (o, { self, from, to }) => o.viewAsComplex(o.uniform(o.viewAsReal(self), from, to))),
  rule(random.normal, (o, { self, mean, std }) => {
    const dtype = complexType(self.dtype);
    return o.add(o.mul(o.randn(self.shape, { dtype, device: self.device }), std), mean);
  }),
];
