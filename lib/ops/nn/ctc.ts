/**
 * Connectionist temporal classification (Graves et al. 2006): minus the log-probability of each target over all
 * alignments, from log-probabilities [time, batch, classes]. Invariant: computed on the host in float64, forwards and
 * backwards in time, since each step needs the previous one; the gradient is computed along the way.
 */
import { DynError } from "../../base/errors.ts";
import { isFloat, isInteger } from "../../base/dtype.ts";
import { isEqual } from "../../sym/decide.ts";
import { contiguousMeta, type TensorMeta } from "../../graph/meta.ts";
import { composeOp, type HostTensor, INTERNAL, refusedGradient } from "../definition.ts";
import { hostTensor } from "../host.ts";
import { optional, required } from "../params.ts";
import { t } from "../pointwise.ts";
import { knownSize, shapeText } from "../shapes.ts";
import { composeWideOp, hostWideOp } from "../wide.ts";

/** log(eᵃ + eᵇ) */
function logSum(a: number, b: number): number {
  const high = Math.max(a, b);
  return high === -Infinity ? high : high + Math.log1p(Math.exp(Math.min(a, b) - high));
}

/** One sequence. */
interface Sequence {
  /** Steps in time. */
  readonly steps: number;
  /** The target with blanks around each label. */
  readonly labels: readonly number[];
  readonly blank: number;
  /** The log-probability of a label at a time. */
  readonly at: (time: number, label: number) => number;
}

/** Returns whether an alignment may jump two states ahead: not over a blank, nor between equal labels. */
const mayJump = ({ labels, blank }: Sequence, s: number): boolean =>
  s >= 2 && labels[s] !== blank && labels[s] !== labels[s - 2];

/** Log-probabilities of all alignments of the beginning, by time and state. */
function beginnings(sequence: Sequence): Float64Array[] {
  const { steps, labels, at } = sequence, found: Float64Array[] = [];
  for (let time = 0; time < steps; time++) {
    const before = found[time - 1];
    found.push(Float64Array.from(labels, (label, s) => {
      if (!before) return s < 2 ? at(0, label) : -Infinity;
      let sum = before[s] ?? -Infinity;
      if (s >= 1) sum = logSum(sum, before[s - 1] ?? -Infinity);
      if (mayJump(sequence, s)) sum = logSum(sum, before[s - 2] ?? -Infinity);
      return sum + at(time, label);
    }));
  }
  return found;
}

/** Log-probabilities of all alignments of the rest, including the state itself. */
function endings(sequence: Sequence): Float64Array[] {
  const { steps, labels, at } = sequence, found: Float64Array[] = new Array(steps);
  for (let time = steps - 1; time >= 0; time--) {
    const after = found[time + 1];
    found[time] = Float64Array.from(labels, (label, s) => {
      if (!after) return s >= labels.length - 2 ? at(time, label) : -Infinity;
      let sum = after[s] ?? -Infinity;
      if (s + 1 < labels.length) sum = logSum(sum, after[s + 1] ?? -Infinity);
      if (s + 2 < labels.length && mayJump(sequence, s + 2)) sum = logSum(sum, after[s + 2] ?? -Infinity);
      return sum + at(time, label);
    });
  }
  return found;
}

function lossOf({ steps, labels }: Sequence, alpha: readonly Float64Array[]): number {
  if (steps === 0) return labels.length === 1 ? 0 : Infinity;
  const last = alpha[steps - 1], end = labels.length - 1;
  return -logSum(last?.[end] ?? -Infinity, end > 0 ? last?.[end - 1] ?? -Infinity : -Infinity);
}

interface CtcArgs<T> {
  readonly logProbs: T;
  readonly targets: T;
  readonly inputLengths: T;
  readonly targetLengths: T;
  readonly blank: number;
}

function checkedLength(of: HostTensor, n: number, most: number): number {
  const length = Number(of.data[n]);
  if (length >= 0 && length <= most) return length;
  throw new DynError(`Expected lengths in [0, ${most}] but found ${length}`);
}

/** Losses with PyTorch's gradients: those of logits before a log-softmax. */
function losses(
  { logProbs, targets, inputLengths, targetLengths, blank }: CtcArgs<HostTensor>,
): HostTensor[] {
  const [time = 0, batch = 0, classes = 0] = logProbs.shape, padded = targets.shape.length === 2;
  const found = new Float64Array(batch), slopes = new Float64Array(time * batch * classes);
  let start = 0;
  for (let n = 0; n < batch; n++) {
    const width = padded ? targets.shape[1] ?? 0 : targets.data.length - start;
    const steps = checkedLength(inputLengths, n, time), length = checkedLength(targetLengths, n, width);
    const first = padded ? n * width : start, labels = [blank];
    for (let s = 0; s < length; s++) {
      const label = Number(targets.data[first + s]);
      if (!(label >= 0 && label < classes)) {
        throw new DynError(`Expected a class in [0, ${classes - 1}] but found ${label}`);
      }
      labels.push(label, blank);
    }
    start += length;
    const at = (step: number, label: number) => Number(logProbs.data[(step * batch + n) * classes + label]);
    const sequence: Sequence = { steps, labels, blank, at };
    const alpha = beginnings(sequence), beta = endings(sequence), loss = found[n] = lossOf(sequence, alpha);
    for (let step = 0; step < steps; step++) {
      const through = new Float64Array(classes).fill(-Infinity);
      labels.forEach((label, s) => {
        const both = (alpha[step]?.[s] ?? -Infinity) + (beta[step]?.[s] ?? -Infinity);
        through[label] = logSum(through[label] ?? -Infinity, both);
      });
      for (let c = 0; c < classes; c++) {
        const own = at(step, c), share = through[c] ?? -Infinity;
        slopes[(step * batch + n) * classes + c] = Math.exp(own) - Math.exp(share + loss - own);
      }
    }
  }
  if (!padded && start !== targets.data.length) {
    throw new DynError(`Expected ${start} labels in all targets together but found ${targets.data.length}`);
  }
  return [
    hostTensor([batch], logProbs.dtype, found),
    hostTensor([time, batch, classes], logProbs.dtype, slopes),
  ];
}

function checkCall({ logProbs, targets, inputLengths, targetLengths, blank }: CtcArgs<TensorMeta>): void {
  const rank = logProbs.shape.length, classes = logProbs.shape.at(-1) ?? 0;
  if (rank !== 2 && rank !== 3) {
    throw new DynError(
      `Expected log-probabilities of 2 or 3 dimensions but found ${shapeText(logProbs.shape)}`,
    );
  }
  if (!isFloat(logProbs.dtype)) throw new DynError(`Expected log-probabilities but found ${logProbs.dtype}`);
  for (const each of [targets, inputLengths, targetLengths]) {
    if (!isInteger(each.dtype)) {
      throw new DynError(`Expected integers as targets and lengths but found ${each.dtype}`);
    }
  }
  if (blank < 0 || blank >= knownSize(classes)) {
    throw new DynError(`Expected a blank in [0, ${knownSize(classes) - 1}] but found ${blank}`);
  }
  const batch = rank === 3 ? logProbs.shape[1] ?? 1 : 1;
  for (const lengths of [inputLengths, targetLengths]) {
    const count = lengths.shape.reduce<number>((product, s) => product * knownSize(s), 1);
    if (!isEqual(batch, count)) {
      throw new DynError(`Expected ${batch} lengths but found ${shapeText(lengths.shape)}`);
    }
  }
  const fits = targets.shape.length === 1 ||
    (targets.shape.length === 2 && isEqual(targets.shape[0] ?? 0, batch));
  if (!fits) {
    throw new DynError(`Expected targets of ${batch} sequences but found ${shapeText(targets.shape)}`);
  }
}

const REDUCTIONS = ["none", "mean", "sum"] as const;

const ctcLoss = composeWideOp({
  name: "ctcLoss",
  doc:
    "Minus the log-probability of targets under log-probabilities [time, batch, classes] over all alignments with blanks, " +
    "as `nn.functional.ctc_loss`; targets are padded rows, or all in one vector. Computed on the host.",
  params: {
    logProbs: required("tensor"),
    targets: required("tensor"),
    inputLengths: required("tensor"),
    targetLengths: required("tensor"),
    blank: optional("int", 0),
    reduction: optional("string", "mean", { oneOf: REDUCTIONS }),
    zeroInfinity: optional("bool", false),
  },
  exposure: { method: false },
  hostParts: true,
  infer({ reduction, ...args }) {
    checkCall(args);
    const { logProbs } = args, batch = logProbs.shape.length === 3 ? [logProbs.shape[1] ?? 1] : [];
    return contiguousMeta(reduction === "none" ? batch : [], logProbs.dtype, logProbs.device);
  },
  compose(o, { logProbs, targets, inputLengths, targetLengths, blank, reduction, zeroInfinity }) {
    const single = logProbs.shape.length === 2, flat = (x: typeof logProbs) => o.reshape(x, [-1]);
    const probabilities = single ? o.unsqueeze(logProbs, 1) : logProbs, lengths = flat(targetLengths);
    const [all] = o.ctcLosses(probabilities, targets, flat(inputLengths), lengths, blank);
    const found = zeroInfinity ? o.where(o.eq(all, Infinity), 0, all) : all;
    if (reduction === "none") return single ? o.squeeze(found, 0) : found;
    return reduction === "sum" ? o.sum(found) : o.mean(o.div(found, o.clampMin(lengths, 1)));
  },
  samples: [],
  errors: [{ args: [t(2), t(2), t(2), t(2)], message: "2 or 3 dimensions" }],
});

const ctcLosses = hostWideOp({
  name: "ctcLosses",
  doc: "The loss of each sequence, and its gradient.",
  params: {
    logProbs: required("tensor"),
    targets: required("tensor"),
    inputLengths: required("tensor"),
    targetLengths: required("tensor"),
    blank: required("int"),
  },
  results: ["losses", "slopes"],
  auxiliary: ["slopes"],
  exposure: { method: false, free: false },
  infer: ({ logProbs: { shape, dtype, device } }) => [
    contiguousMeta([shape[1] ?? 1], dtype, device),
    contiguousMeta(shape, dtype, device),
  ],
  compute: losses,
  gradient: {
    saves: ["out", "logProbs"],
    single(o, grad, { args: { logProbs }, out: [, slopes] }) {
      if (!slopes) return {};
      // A gradient of 0 stays 0 where the slope is infinite
      const wide = o.reshape(grad, [1, -1, 1]), once = o.ctcSlopes(slopes, logProbs);
      return { logProbs: o.where(o.eq(wide, 0), 0, o.mul(once, wide)) };
    },
  },
  samples: [],
});

const ctcSlopes = composeOp({
  name: "ctcSlopes",
  doc: "Slopes of losses as a function of the log-probabilities, which has no derivative.",
  params: { slopes: required("tensor"), logProbs: required("tensor") },
  exposure: INTERNAL,
  infer: ({ slopes: { shape, dtype, device } }) => contiguousMeta(shape, dtype, device),
  compose: (o, { slopes }) => o.clone(slopes),
  gradient: refusedGradient("the gradient of ctcLoss"),
  samples: [],
});

export const ctcLossOps = { ctcLoss, ctcLosses, ctcSlopes } as const;
