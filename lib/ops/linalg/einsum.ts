/**
 * Sums of products over named dimensions. Invariant: operands are contracted from left to right, each pair as one
 * batched matrix product.
 */
import { type DType, isFloat } from "../../base/dtype.ts";
import { refuseValue } from "../../base/checked_input.ts";
import { DynError, invariant } from "../../base/errors.ts";
import { type Dim, product } from "../../sym/expr.ts";
import { isEqual } from "../../sym/decide.ts";
import { contiguousMeta } from "../../graph/meta.ts";
import { composeOp, type TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import { nullable, required } from "../params.ts";
import { deviceOf, t } from "../pointwise.ts";
import { resultTypeOf } from "../promotion.ts";
import { broadcastShapes, normalizeDims, reducedShape, shapeText } from "../shapes.ts";
import { composeWideOp } from "../wide.ts";

/** Labels of dimensions: letters, and numbers for those under an ellipsis. */
type Labels = readonly string[];

/** An equation with every dimension labelled. */
interface Equation {
  readonly inputs: readonly Labels[];
  readonly output: Labels;
  readonly sizes: ReadonlyMap<string, Dim>;
}

function parseTerm(term: string, rank: number): { labels: string[]; ellipsis: number } {
  const [before = "", after, ...more] = term.split("...");
  if (more.length > 0) {
    throw new DynError(
      `Expected at most one ellipsis but found ${more.length + 1} in ${JSON.stringify(term)}`,
    );
  }
  const letters = [...before, ...after ?? ""];
  for (const letter of letters) {
    if (!/[A-Za-z]/.test(letter)) {
      throw new DynError(`Expected letters as dimensions but found ${JSON.stringify(letter)}`);
    }
  }
  const ellipsis = rank - letters.length;
  if (ellipsis < 0 || (after === undefined && ellipsis > 0)) {
    throw new DynError(`Expected ${letters.length} dimensions for ${JSON.stringify(term)} but found ${rank}`);
  }
  if (after === undefined) return { labels: letters, ellipsis: 0 };
  // Dimensions under an ellipsis are aligned from the right
  const wild = Array.from({ length: ellipsis }, (_, i) => `${ellipsis - 1 - i}`);
  return { labels: [...before, ...wild, ...after], ellipsis };
}

function parse(equation: string, operands: readonly TensorLike[]): Equation {
  const [left = "", right, ...more] = equation.replaceAll(" ", "").split("->");
  if (more.length > 0) {
    throw new DynError(`Expected one arrow but found ${more.length + 1} in ${JSON.stringify(equation)}`);
  }
  const terms = left.split(",");
  if (terms.length !== operands.length) {
    throw new DynError(
      `Expected ${terms.length} operands for ${JSON.stringify(equation)} but found ${operands.length}`,
    );
  }
  const parsed = terms.map((term, i) => parseTerm(term, operands[i]?.shape.length ?? 0));
  const inputs = parsed.map((p) => p.labels);
  const sizes = new Map<string, Dim>();
  inputs.forEach((labels, i) =>
    labels.forEach((label, d) => {
      const size = operands[i]?.shape[d] ?? 1, known = sizes.get(label);
      if (known === undefined || isEqual(known, 1)) sizes.set(label, size);
      else if (!isEqual(size, 1) && !isEqual(size, known)) {
        throw new DynError(`Expected one size of dimension ${label} but found ${known} and ${size}`);
      }
    })
  );
  const wild = Math.max(...parsed.map((p) => p.ellipsis));
  const under = Array.from({ length: wild }, (_, i) => `${wild - 1 - i}`);
  return { inputs, output: outputLabels(right, inputs, under), sizes };
}

function outputLabels(
  right: string | undefined,
  inputs: readonly Labels[],
  under: readonly string[],
): Labels {
  const all = inputs.flat();
  if (right === undefined) {
    const once = [...new Set(all)].filter((l) => /[A-Za-z]/.test(l) && all.indexOf(l) === all.lastIndexOf(l))
      .sort();
    return [...under, ...once];
  }
  const [before = "", after] = right.split("...");
  const labels = [...before, ...after === undefined ? [] : under, ...after ?? ""];
  labels.forEach((label, i) => {
    if (!all.includes(label)) {
      throw new DynError(`Expected dimension ${label} of the result in an operand but found it in none`);
    }
    if (labels.indexOf(label) !== i) {
      throw new DynError(`Expected dimension ${label} once in the result but found it twice`);
    }
  });
  return labels;
}

/** A tensor with its dimensions named. */
interface Named<T> {
  readonly value: T;
  readonly labels: Labels;
}

/** Repeated labels become diagonals. */
function diagonalize<T extends TensorLike>(o: OpApi<T>, term: Named<T>): Named<T> {
  let { value, labels } = term;
  for (;;) {
    const first = labels.findIndex((l, d) => labels.indexOf(l, d + 1) >= 0);
    if (first < 0) return { value, labels };
    const label = labels[first] ?? "", second = labels.indexOf(label, first + 1);
    value = o.diagonal(value, 0, first, second);
    labels = [...labels.filter((_, d) => d !== first && d !== second), label];
  }
}

/** Sums out labels that are not wanted. */
function sumOut<T extends TensorLike>(
  o: OpApi<T>,
  term: Named<T>,
  wanted: ReadonlySet<string>,
  dtype: DType | null = term.value.dtype,
): Named<T> {
  const gone = term.labels.flatMap((l, d) => wanted.has(l) ? [] : [d]);
  if (gone.length === 0) return term;
  return {
    value: o.sum(term.value, gone, false, { dtype }),
    labels: term.labels.filter((l) => wanted.has(l)),
  };
}

/** A term permuted to labels, with size 1 for those that it lacks. */
function align<T extends TensorLike>(o: OpApi<T>, term: Named<T>, labels: Labels): T {
  const own = labels.filter((l) => term.labels.includes(l));
  const order = own.map((l) => term.labels.indexOf(l));
  const value = order.every((d, i) => d === i) ? term.value : o.permute(term.value, order);
  if (own.length === labels.length) return value;
  let next = 0;
  return o.reshape(value, labels.map((l) => term.labels.includes(l) ? value.shape[next++] ?? 1 : 1));
}

/** Contracts two terms over labels that neither the result nor a later term needs. */
function contract<T extends TensorLike>(
  o: OpApi<T>,
  pair: readonly [Named<T>, Named<T>],
  at: { readonly wanted: ReadonlySet<string>; readonly sizes: ReadonlyMap<string, Dim> },
): Named<T> {
  const own = (term: Named<T>, other: Named<T>) => sumOut(o, term, new Set([...at.wanted, ...other.labels]));
  const a = own(pair[0], pair[1]), b = own(pair[1], pair[0]);
  const isOne = (term: Named<T>, l: string) => isEqual(term.value.shape[term.labels.indexOf(l)] ?? 1, 1);
  const shared = a.labels.filter((l) => b.labels.includes(l));
  const labels = [...new Set([...a.labels, ...b.labels])];
  // A broadcast dimension cannot be the inner one of a product
  const summed = shared.filter((l) => !at.wanted.has(l));
  if (summed.length === 0 || shared.some((l) => isOne(a, l) !== isOne(b, l))) {
    const value = o.mul(align(o, a, labels), align(o, b, labels));
    return sumOut(o, { value, labels }, at.wanted);
  }
  const batch = shared.filter((l) => at.wanted.has(l));
  const left = a.labels.filter((l) => !shared.includes(l)),
    right = b.labels.filter((l) => !shared.includes(l));
  const sizes = (ls: Labels) => ls.map((l) => at.sizes.get(l) ?? 1);
  const fold = (term: Named<T>, groups: readonly Labels[]) =>
    o.reshape(align(o, term, groups.flat()), groups.map((g) => product(sizes(g))));
  const result = o.bmm(fold(a, [batch, left, summed]), fold(b, [batch, summed, right]));
  const kept = [...batch, ...left, ...right];
  return { value: o.reshape(result, sizes(kept)), labels: kept };
}

const isLabels = (value: unknown): value is readonly unknown[] =>
  Array.isArray(value) && value.every((each) => typeof each === "number" || each === "...");

/** A list of dimension numbers as a term of an equation: 0 … 25 are capitals, 26 … 51 small letters. */
function termOf(labels: readonly unknown[]): string {
  return labels.map((label) => {
    if (label === "...") return "...";
    if (typeof label !== "number" || !Number.isInteger(label) || label < 0 || label > 51) {
      throw new DynError(`Expected dimensions of einsum in [0, 51] but found ${String(label)}`);
    }
    return String.fromCharCode(label < 26 ? 65 + label : 71 + label);
  }).join("");
}

/**
 * The equation and its operands from PyTorch's forms of the call: operands spread or in a list, the text before or
 * after them, or none, where each operand is followed by the numbers of its dimensions and the result's come last.
 */
function arrangeEinsum(
  given: readonly unknown[],
  isTensor: (value: unknown) => boolean,
): readonly unknown[] {
  const [first, second] = given;
  if (typeof first === "string") return Array.isArray(second) ? given : [first, given.slice(1)];
  if (typeof second === "string") return [second, first, ...given.slice(2)];
  if (!isTensor(first) || !isLabels(second)) return given;
  const operands = given.filter((each) => isTensor(each)), terms = given.filter(isLabels).map(termOf);
  const [result, surplus = given.find((each) => !isTensor(each) && !isLabels(each))] = terms.slice(
    operands.length,
  );
  if (surplus !== undefined) {
    refuseValue("operands of einsum, the dimensions of each, and those of the result", surplus);
  }
  const left = terms.slice(0, operands.length).join(",");
  return [result === undefined ? left : `${left}->${result}`, operands];
}

const einsum = composeOp({
  name: "einsum",
  doc: 'Sums of products of operands over the dimensions that an equation such as "bij,bjk->bik" names. As ' +
    "`torch.einsum`, in all of its forms.",
  params: { equation: required("string"), operands: required("tensors", { variadic: true }) },
  exposure: { method: false },
  arrange: arrangeEinsum,
  infer({ equation, operands }) {
    if (operands.length === 0) throw new DynError("Expected at least one operand of einsum but found none");
    const { inputs, output, sizes } = parse(equation, operands);
    const [first = [], ...others] = inputs, kept = new Set(output);
    // A single operand is summed with the type of sums; products of several keep their type
    const isSum = others.length === 0 && first.some((l) => !kept.has(l));
    const dtype = resultTypeOf(operands);
    return contiguousMeta(
      output.map((l) => sizes.get(l) ?? 1),
      isSum && !isFloat(dtype) ? "int64" : dtype,
      deviceOf(operands),
    );
  },
  compose(o, { equation, operands }) {
    const { inputs, output, sizes } = parse(equation, operands);
    const terms = operands.map((value, i) => diagonalize(o, { value, labels: inputs[i] ?? [] }));
    let [result, ...rest] = terms;
    invariant(result, "Expected at least one operand of einsum but found none");
    while (rest.length > 0) {
      const [next, ...later] = rest;
      if (!next) break;
      const wanted = new Set([...output, ...later.flatMap((term) => term.labels)]);
      result = contract(o, [result, next], { wanted, sizes });
      rest = later;
    }
    const dtype = operands.length === 1 ? null : result.value.dtype;
    return align(o, sumOut(o, result, new Set(output), dtype), output);
  },
  samples: [
    { args: ["ij,jk->ik", [t(2, 3), t(3, 4)]] },
    { args: ["bij,bkj->bik", [t(2, 3, 4), t(2, 5, 4)]] },
    { args: ["ii->i", [t(3, 3)]] },
    { args: ["i,j->", [t(3), t(2)]] },
    { args: ["...ij,...jk", [t(2, 2, 3), t(3, 4)]] },
  ],
  errors: [{ args: ["ij,jk", [t(2, 3)]], message: "2 operands" }],
});

/** The dimensions that are contracted, of either operand. */
const contracted = (
  self: TensorLike,
  other: TensorLike,
  { dimsSelf, dimsOther }: { readonly dimsSelf: readonly number[]; readonly dimsOther: readonly number[] },
) => ({
  left: normalizeDims(dimsSelf, self.shape.length),
  right: normalizeDims(dimsOther, other.shape.length),
});

const tensordotDims = composeWideOp({
  name: "tensordotDims",
  doc: "Sums of products over dimensions of one tensor paired with dimensions of another.",
  params: {
    self: required("tensor"),
    other: required("tensor"),
    dimsSelf: required("ints"),
    dimsOther: required("ints"),
  },
  exposure: { method: false, free: false },
  infer({ self, other, dimsSelf, dimsOther }) {
    const at = contracted(self, other, { dimsSelf, dimsOther });
    if (at.left.length !== at.right.length) {
      throw new DynError(
        `Expected the same number of dims for both tensors but found ${at.left.length} and ${at.right.length}`,
      );
    }
    at.left.forEach((d, i) => {
      const a = self.shape[d] ?? 1, b = other.shape[at.right[i] ?? 0] ?? 1;
      if (!isEqual(a, b) && !isEqual(a, 1) && !isEqual(b, 1)) {
        throw new DynError(
          `Expected contracted sizes that agree but found ${shapeText(self.shape)} and ${
            shapeText(other.shape)
          }`,
        );
      }
    });
    const shape = [
      ...reducedShape(self.shape, at.left, false),
      ...reducedShape(other.shape, at.right, false),
    ];
    return contiguousMeta(shape, self.dtype, self.device);
  },
  compose(o, { self, other, dimsSelf, dimsOther }) {
    const at = contracted(self, other, { dimsSelf, dimsOther });
    const rest = (x: typeof self, gone: readonly number[]) => x.shape.filter((_, d) => !gone.includes(d));
    const left = [...rest(self, at.left), ...rest(other, at.right)];
    if (left.every((size) => size === 1)) {
      // A single number is a sum of products, not a product of matrices
      const flat = (x: typeof self, dims: readonly number[]) =>
        o.reshape(o.permute(x, [...dims, ...x.shape.map((_, d) => d).filter((d) => !dims.includes(d))]), [
          -1,
        ]);
      const products = o.mul(flat(self, at.left), flat(other, at.right));
      return o.reshape(o.sum(products, null, false, { dtype: products.dtype }), left);
    }
    const name = (i: number) => String.fromCharCode(97 + i);
    const a = self.shape.map((_, d) => name(d));
    const b = other.shape.map((_, d) => {
      const i = at.right.indexOf(d);
      return i < 0 ? name(self.shape.length + d) : name(at.left[i] ?? 0);
    });
    const kept = [
      ...a.filter((_, d) => !at.left.includes(d)),
      ...b.filter((_, d) => !at.right.includes(d)),
    ];
    return o.einsum(`${a.join("")},${b.join("")}->${kept.join("")}`, [self, other]);
  },
  samples: [{ args: [t(2, 3, 4), t(4, 3, 2), [1, 2], [1, 0]] }],
});

const inner = composeOp({
  name: "inner",
  doc: "Sums of products over the last dimensions, as `torch.inner`.",
  params: { self: required("tensor"), other: required("tensor") },
  infer({ self, other }) {
    if (self.shape.length === 0 || other.shape.length === 0) {
      return contiguousMeta(
        broadcastShapes(self.shape, other.shape),
        resultTypeOf([self, other]),
        self.device,
      );
    }
    if (!isEqual(self.shape.at(-1) ?? 1, other.shape.at(-1) ?? 1)) {
      throw new DynError(
        `Expected last sizes that agree but found ${shapeText(self.shape)} and ${shapeText(other.shape)}`,
      );
    }
    return contiguousMeta([...self.shape.slice(0, -1), ...other.shape.slice(0, -1)], self.dtype, self.device);
  },
  compose: (o, { self, other }) =>
    self.shape.length === 0 || other.shape.length === 0
      ? o.mul(self, other)
      : o.tensordotDims(self, other, [-1], [-1]),
  samples: [{ args: [t(2, 3), t(4, 3)] }],
  errors: [{ args: [t(2, 3), t(4, 2)], message: "agree" }],
});

function checkMatrix({ shape }: TensorLike): void {
  if (shape.length !== 2) throw new DynError(`Expected a matrix but found ${shapeText(shape)}`);
}

const trace = composeOp({
  name: "trace",
  doc: "The sum of the diagonal of a matrix, as `torch.trace`.",
  params: { self: required("tensor") },
  infer({ self }) {
    checkMatrix(self);
    return contiguousMeta([], isFloat(self.dtype) ? self.dtype : "int64", self.device);
  },
  compose: (o, { self }) => o.sum(o.diagonal(self)),
  samples: [{ args: [t(3, 4)] }],
  errors: [{ args: [t(3)], message: "matrix" }],
});

const kron = composeOp({
  name: "kron",
  doc: "The Kronecker product, as `torch.kron`.",
  params: { self: required("tensor"), other: required("tensor") },
  infer({ self, other }) {
    const [a, b] = padded(self, other);
    return contiguousMeta(a.map((s, d) => product([s, b[d] ?? 1])), resultTypeOf([self, other]), self.device);
  },
  compose(o, { self, other }) {
    const [a, b] = padded(self, other);
    const left = o.reshape(self, a.flatMap((s) => [s, 1])),
      right = o.reshape(other, b.flatMap((s) => [1, s]));
    return o.reshape(o.mul(left, right), a.map((s, d) => product([s, b[d] ?? 1])));
  },
  samples: [{ args: [t(2, 3), t(2, 2)] }, { args: [t(2), t(2, 2)] }],
});

function padded(a: TensorLike, b: TensorLike): [Dim[], Dim[]] {
  const rank = Math.max(a.shape.length, b.shape.length);
  const pad = (shape: readonly Dim[]) => [...new Array<Dim>(rank - shape.length).fill(1), ...shape];
  return [pad(a.shape), pad(b.shape)];
}

const bilinear = composeOp({
  name: "bilinear",
  doc: "x1ᵀ · weight[k] · x2 + bias[k] for each k, as `nn.functional.bilinear`.",
  params: {
    input1: required("tensor"),
    input2: required("tensor"),
    weight: required("tensor"),
    bias: nullable("tensor"),
  },
  exposure: { method: false, free: false, namespaces: ["nn.functional"] },
  infer({ input1, input2, weight }) {
    const fits = weight.shape.length === 3 && isEqual(input1.shape.at(-1) ?? 1, weight.shape[1] ?? 1) &&
      isEqual(input2.shape.at(-1) ?? 1, weight.shape[2] ?? 1);
    if (!fits) {
      throw new DynError(
        `Expected a weight that fits both inputs but found ${
          [input1, input2, weight].map((x) => shapeText(x.shape)).join(", ")
        }`,
      );
    }
    return contiguousMeta([...input1.shape.slice(0, -1), weight.shape[0] ?? 1], input1.dtype, input1.device);
  },
  compose(o, { input1, input2, weight, bias }) {
    const out = o.einsum("...i,kij,...j->...k", [input1, weight, input2]);
    return bias ? o.add(out, bias) : out;
  },
  samples: [{ args: [t(2, 3), t(2, 4), t(5, 3, 4), t(5)] }],
});

export const contractions = { einsum, tensordotDims, inner, trace, kron, bilinear } as const;
