/**
 * Transposed convolutions of [batch?, channels, …]. Invariant: they are the input gradients of convolutions; three
 * dimensions are computed as planes of two.
 */
import { DynError } from "../../base/errors.ts";
import { add, type Dim, mul, sub } from "../../sym/expr.ts";
import { isEqual, isLess, sizeText } from "../../sym/decide.ts";
import { contiguousMeta } from "../../graph/meta.ts";
import { checkBias, checkPositions, type Geometry, raise, settle } from "./convolution.ts";
import { composeOp, type Sample, type TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import { nullable, optional, required } from "../params.ts";
import { t } from "../pointwise.ts";
import { knownSize, shapeText, spread } from "../shapes.ts";

/** Sizes of images and of kernels in calls that fail. */
const SIZES = [2, 2, 2] as const;

const FUNCTIONAL = { method: false, namespaces: ["nn.functional"] } as const;

/** convTranspose1d, convTranspose2d and convTranspose3d. */
function convTransposeOf(rank: 1 | 2 | 3, samples: readonly Sample[]) {
  const name = `convTranspose${rank}d`;
  return composeOp({
    name,
    doc: `The transposed convolution over ${rank} dimension(s), as \`nn.functional.conv_transpose${rank}d\`.`,
    params: {
      input: required("tensor"),
      weight: required("tensor"),
      bias: nullable("tensor"),
      stride: optional("intOrInts", 1),
      padding: optional("intOrInts", 0),
      outputPadding: optional("intOrInts", 0),
      groups: optional("int", 1),
      dilation: optional("intOrInts", 1),
    },
    exposure: FUNCTIONAL,
    infer(args) {
      const { geometry, batched } = settle(name, args, rank);
      const { input, weight, bias } = args;
      const features = mul(weight.shape[1] ?? 1, geometry.groups);
      checkBias(bias, features);
      const channels = input.shape[batched ? 1 : 0] ?? 1;
      if (!isEqual(channels, weight.shape[0] ?? 1)) {
        throw new DynError(
          `Expected an input of ${sizeText(weight.shape[0] ?? 1)} channels but found ${
            shapeText(input.shape)
          }`,
        );
      }
      if (knownSize(weight.shape[0] ?? 1) % geometry.groups !== 0) {
        throw new DynError(
          `Expected channels that divide into ${geometry.groups} groups but found ${shapeText(weight.shape)}`,
        );
      }
      const spatial = transposedSizes(args, geometry, rank);
      const batch = batched ? [input.shape[0] ?? 1] : [];
      return contiguousMeta([...batch, features, ...spatial], input.dtype, input.device);
    },
    compose(o, args) {
      const { geometry: g, batched } = settle(name, args, rank);
      const { weight, bias } = args;
      const input = batched ? args.input : o.unsqueeze(args.input, 0);
      const spatial = transposedSizes(args, g, rank);
      const features = mul(weight.shape[1] ?? 1, g.groups), batch = input.shape[0] ?? 1;
      let out: typeof input;
      if (rank === 1) {
        const [stride, padding, dilation] = raise(g);
        out = o.squeeze(
          o.convolutionBackwardInput(
            o.unsqueeze(input, 2),
            o.unsqueeze(weight, 2),
            [batch, features, 1, ...spatial],
            stride,
            padding,
            dilation,
            g.groups,
          ),
          2,
        );
      } else if (rank === 2) {
        const sizes = [batch, features, ...spatial];
        out = o.convolutionBackwardInput(input, weight, sizes, g.stride, g.padding, g.dilation, g.groups);
      } else {
        out = transposed3d(o, { input, weight, sizes: [batch, features, ...spatial] }, g);
      }
      if (bias) out = o.add(out, o.reshape(bias, [features, ...spatial.map(() => 1)]));
      return batched ? out : o.squeeze(out, 0);
    },
    samples,
    errors: [{
      args: [{ tensor: [1, 3, ...SIZES.slice(0, rank)] }, { tensor: [3, 1, ...SIZES.slice(0, rank)] }],
      options: { groups: 2 },
      message: "Expected channels that divide into 2 groups",
    }, {
      args: [{ tensor: [1, 3, ...SIZES.slice(1, rank), 0] }, { tensor: [3, 1, ...SIZES.slice(0, rank)] }],
      message: "Expected an input with positions",
    }],
  });
}

/** The depth of the kernel unrolled: planes of transposed convolutions, each added at its position. */
function transposed3d<T extends TensorLike>(
  o: OpApi<T>,
  { input, weight, sizes }: { readonly input: T; readonly weight: T; readonly sizes: readonly Dim[] },
  g: Geometry,
): T {
  const [depthStride = 1, ...stride] = g.stride, [depthPad = 0, ...padding] = g.padding;
  const [depthDilation = 1, ...dilation] = g.dilation, [batch = 1, features = 1, depth = 1, ...plane] = sizes;
  const [, channels = 1, own = 1, ...from] = input.shape, kernel = knownSize(weight.shape[2] ?? 1);
  const flat = o.reshape(o.transpose(input, 1, 2), [mul(batch, own), channels, ...from]);
  const whole = [batch, features, add(depth, 2 * depthPad), ...plane], reach = mul(sub(own, 1), depthStride);
  let total: T | null = null;
  for (let z = 0; z < kernel; z++) {
    const planes = [mul(batch, own), features, ...plane];
    const part = o.convolutionBackwardInput(
      flat,
      o.select(weight, 2, z),
      planes,
      stride,
      padding,
      dilation,
      g.groups,
    );
    const slices = o.transpose(o.reshape(part, [batch, own, features, ...plane]), 1, 2);
    const start = z * depthDilation, base: T = total ?? o.newZeros(part, whole);
    const before = o.slice(base, 2, start, add(start, add(reach, 1)), depthStride);
    total = o.sliceScatter(base, o.add(before, slices), 2, start, add(start, add(reach, 1)), depthStride);
  }
  if (!total) throw new DynError("Expected a kernel with elements but found none");
  return o.narrow(total, 2, depthPad, depth);
}

function transposedSizes(
  args: {
    readonly input: TensorLike;
    readonly weight: TensorLike;
    readonly outputPadding: number | readonly number[];
  },
  g: Geometry,
  rank: number,
): Dim[] {
  const extra = spread(args.outputPadding, rank, "outputPadding");
  checkPositions(args.input, rank);
  return args.input.shape.slice(-rank).map((size, d) => {
    const stride = g.stride[d] ?? 1, dilation = g.dilation[d] ?? 1, more = extra[d] ?? 0;
    if (more < 0 || more >= Math.max(stride, dilation)) {
      throw new DynError(`Expected outputPadding of at least 0, below stride or dilation, but found ${more}`);
    }
    const grown = add(mul(sub(size, 1), stride), mul(sub(args.weight.shape[d + 2] ?? 1, 1), dilation));
    const made = add(grown, 1 + more - 2 * (g.padding[d] ?? 0));
    if (isLess(made, 1)) {
      throw new DynError(`Expected an output with elements but its dimension ${d - rank} would have ${made}`);
    }
    return made;
  });
}

export const transposedConvolutions = {
  convTranspose1d: convTransposeOf(1, [{ args: [t(2, 3, 4), t(3, 2, 3), t(2)], options: { stride: 2 } }]),
  convTranspose2d: convTransposeOf(2, [{
    args: [t(2, 3, 4, 4), t(3, 2, 3, 3)],
    options: { stride: 2, padding: 1, outputPadding: 1 },
  }, {
    // More padding than a stride
    args: [t(1, 2, 3, 3), t(2, 1, 1, 2)],
    options: { padding: 1, outputPadding: 1, dilation: 2 },
  }]),
  convTranspose3d: convTransposeOf(3, [{
    args: [t(1, 2, 2, 3, 3), t(2, 1, 2, 2, 2), t(2)],
    options: { stride: [2, 1, 2], padding: [1, 0, 1], outputPadding: [1, 0, 0], groups: 2 },
  }]),
} as const;
