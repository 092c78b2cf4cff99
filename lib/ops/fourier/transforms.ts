/**
 * The transforms of `torch.fft`. Results are complex, except those of the c2r transforms. Invariant: a size crops its
 * dimension or pads it with zeros; tensors of any length are accepted.
 */
import { capitalized } from "../../base/names.ts";
import { getDefaultDtype, partType } from "../../base/dtype.ts";
import { ceilDiv, type Dim, floorDiv, max, mul, sub } from "../../sym/expr.ts";
import { contiguousMeta, type TensorMeta } from "../../graph/meta.ts";
import { composeOp, type TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import { nullable, optional, required } from "../params.ts";
import { t } from "../pointwise.ts";
import { numberOf, sizeAsNumber } from "../numbers.ts";
import { normalizeDim } from "../shapes.ts";
import {
  axesOf,
  type Axis,
  axisOf,
  checkType,
  complexToComplex,
  complexToReal,
  type Direction,
  halfOf,
  realToComplex,
  transformedType,
} from "./axes.ts";

/** The namespace of these ops. */
const FFT = { method: false, free: false, namespaces: ["fft"] } as const;

const norm = nullable("string", { oneOf: ["backward", "ortho", "forward"] });

/** The types of arguments and results; real ones have spectra of half the length. */
type Kind = "c2c" | "r2c" | "c2r";

const CONVERSIONS = { c2c: complexToComplex, r2c: realToComplex, c2r: complexToReal } as const;

/** The axes with the sizes of the result, by default 2·(n − 1) for the last one of c2r. */
function resultAxes(
  kind: Kind,
  x: TensorLike,
  axes: readonly Axis[],
  sizes: readonly Dim[] | null,
): Axis[] {
  if (kind !== "c2r" || sizes !== null && sizes.at(-1) !== -1) return [...axes];
  return axes.map((axis, k) =>
    k < axes.length - 1 ? axis : { ...axis, size: max(1, mul(2, sub(x.shape[axis.dim] ?? 1, 1))) }
  );
}

function metaOf(name: string, kind: Kind, x: TensorMeta, axes: readonly Axis[]): TensorMeta {
  checkType(name, x, kind === "r2c");
  const shape = [...x.shape];
  axes.forEach(({ dim, size }, k) => {
    shape[dim] = kind === "r2c" && k === axes.length - 1 ? halfOf(size) : size;
  });
  const complex = transformedType(x);
  return contiguousMeta(shape, kind === "c2r" ? partType(complex) : complex, x.device);
}

/** The kind, direction and scaling of a transform. */
interface Spec {
  readonly kind: Kind;
  readonly inverse: boolean;
}

const convert = <T extends TensorLike>(
  o: OpApi<T>,
  { kind, x, axes, direction }: {
    readonly kind: Kind;
    readonly x: T;
    readonly axes: readonly Axis[];
    readonly direction: Direction;
  },
): T => CONVERSIONS[kind](o, x, axes, direction);

/** Notes on the arguments and results of each kind of transform, for the documentation. */
const ABOUT: Readonly<Record<Kind, string>> = {
  c2c: "",
  r2c: "of real numbers: the half that determines the other one",
  c2r: "of a Hermitian tensor given by one half, which is real; `n` is the size of the result",
};

const nameOf = (torch: string): string => `fft${capitalized(torch)}`;

const docOf = (torch: string, { kind, inverse }: Spec, where: string): string =>
  ["The", inverse ? "inverse" : "", "discrete Fourier transform", where, ABOUT[kind]].filter(Boolean).join(
    " ",
  ) +
  `. As \`torch.fft.${torch}\`. Computed on the host.`;

/** A transform along one dimension. */
function along(torch: string, { kind, inverse }: Spec) {
  const axes = (self: TensorLike, n: Dim | null, dim: number) =>
    resultAxes(kind, self, [axisOf(self, dim, n)], n === null ? null : [n]);
  return composeOp({
    name: nameOf(torch),
    doc: docOf(torch, { kind, inverse }, kind === "c2c" ? "along a dimension" : ""),
    params: { self: required("tensor"), n: nullable("size"), dim: optional("int", -1), norm },
    exposure: FFT,
    hostParts: true,
    infer: ({ self, n, dim }) => metaOf(torch, kind, self, axes(self, n, dim)),
    compose(o, { self, n, dim, norm }) {
      checkType(torch, self, kind === "r2c");
      return convert(o, { kind, x: self, axes: axes(self, n, dim), direction: { inverse, norm } });
    },
    samples: [],
    errors: [{ args: [t(3), 0], message: "at least 1" }, { args: [t(3), null, 1], message: "Expected dim" }],
  });
}

/** A transform along several dimensions; by default the last ones. */
function alongAll(
  torch: string,
  { kind, inverse, two }: Spec & { readonly two: boolean },
) {
  const axes = (self: TensorLike, s: readonly Dim[] | null, dim: number | readonly number[] | null) =>
    resultAxes(kind, self, axesOf(self, dim, s), s);
  return composeOp({
    name: nameOf(torch),
    doc: docOf(torch, { kind, inverse }, two ? "along two dimensions" : "along all or some dimensions"),
    params: {
      self: required("tensor"),
      s: nullable("counts"),
      dim: two ? { ...nullable("dims"), default: [-2, -1] } : nullable("dims"),
      norm,
    },
    exposure: FFT,
    hostParts: true,
    infer: ({ self, s, dim }) => metaOf(torch, kind, self, axes(self, s, dim)),
    compose(o, { self, s, dim, norm }) {
      checkType(torch, self, kind === "r2c");
      return convert(o, { kind, x: self, axes: axes(self, s, dim), direction: { inverse, norm } });
    },
    samples: [],
    errors: [{ args: [t(3, 4), [2, 2, 2], [0, 1]], message: "as many sizes" }],
  });
}

/** An op that rolls each dimension by half of its size. */
function shift(torch: string, half: (size: Dim) => Dim) {
  return composeOp({
    name: nameOf(torch),
    doc:
      `Frequencies moved ${
        torch === "fftshift" ? "so that 0 is in the middle" : "back from fftshift"
      }, along ` +
      `\`dim\` or all dimensions. As \`torch.fft.${torch}\`.`,
    params: { self: required("tensor"), dim: nullable("dims") },
    exposure: FFT,
    infer: ({ self }) => contiguousMeta(self.shape, self.dtype, self.device),
    compose(o, { self, dim }) {
      const rank = self.shape.length, list = typeof dim === "number" ? [dim] : dim;
      const dims = (list ?? self.shape.map((_, d) => d)).map((d) => normalizeDim(d, rank));
      return o.roll(self, dims.map((d) => half(self.shape[d] ?? 1)), dims);
    },
    samples: [{ args: [t(4, 5)] }, { args: [t(4, 5), [1]] }],
    errors: [{ args: [t()], message: "as many shifts as dims" }],
  });
}

/** The frequencies of a transform's results. */
function frequencies(torch: string, half: boolean) {
  return composeOp({
    name: nameOf(torch),
    doc: `Frequencies of the results of ${
      half ? "rfft" : "fft"
    } of n samples that are d apart. As \`torch.fft.${torch}\`.`,
    params: {
      n: required("size"),
      d: optional("float", 1),
      dtype: nullable("dtype", { keyword: true }),
      device: nullable("device", { keyword: true }),
    },
    exposure: FFT,
    infer: ({ n, dtype, device }) =>
      contiguousMeta([half ? halfOf(n) : n], dtype ?? getDefaultDtype(), device ?? "cpu"),
    compose(o, { n, d, dtype, device }) {
      const options = { dtype: dtype ?? getDefaultDtype(), device };
      const up = o.arange(0, half ? halfOf(n) : ceilDiv(n, 2), 1, options);
      const all = half ? up : o.cat([up, o.arange(mul(-1, floorDiv(n, 2)), 0, 1, options)]);
      const numbers = [sizeAsNumber(o, n, device), d] as const;
      return o.mul(all, numberOf(o, numbers, (m, count, apart) => m.div(m.constant(1), m.mul(count, apart))));
    },
    gradient: { kind: "none", because: "it reads no elements" },
    samples: [{ args: [5] }, { args: [4, 0.5] }],
  });
}

export const fourierTransforms = {
  fftFft: along("fft", { kind: "c2c", inverse: false }),
  fftIfft: along("ifft", { kind: "c2c", inverse: true }),
  fftRfft: along("rfft", { kind: "r2c", inverse: false }),
  fftIrfft: along("irfft", { kind: "c2r", inverse: true }),
  fftHfft: along("hfft", { kind: "c2r", inverse: false }),
  fftIhfft: along("ihfft", { kind: "r2c", inverse: true }),
  fftFft2: alongAll("fft2", { kind: "c2c", inverse: false, two: true }),
  fftIfft2: alongAll("ifft2", { kind: "c2c", inverse: true, two: true }),
  fftRfft2: alongAll("rfft2", { kind: "r2c", inverse: false, two: true }),
  fftIrfft2: alongAll("irfft2", { kind: "c2r", inverse: true, two: true }),
  fftFftn: alongAll("fftn", { kind: "c2c", inverse: false, two: false }),
  fftIfftn: alongAll("ifftn", { kind: "c2c", inverse: true, two: false }),
  fftRfftn: alongAll("rfftn", { kind: "r2c", inverse: false, two: false }),
  fftIrfftn: alongAll("irfftn", { kind: "c2r", inverse: true, two: false }),
  fftHfft2: alongAll("hfft2", { kind: "c2r", inverse: false, two: true }),
  fftIhfft2: alongAll("ihfft2", { kind: "r2c", inverse: true, two: true }),
  fftHfftn: alongAll("hfftn", { kind: "c2r", inverse: false, two: false }),
  fftIhfftn: alongAll("ihfftn", { kind: "r2c", inverse: true, two: false }),
  fftFftfreq: frequencies("fftfreq", false),
  fftRfftfreq: frequencies("rfftfreq", true),
  fftFftshift: shift("fftshift", (size) => floorDiv(size, 2)),
  fftIfftshift: shift("ifftshift", (size) => ceilDiv(size, 2)),
} as const;
