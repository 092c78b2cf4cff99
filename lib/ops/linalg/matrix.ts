/**
 * Matrix products of matrices, batches and vectors. Invariant: everything is built from two primitives, mm and bmm;
 * floats go to the runtime library, integers to plain loops.
 */
import { DynError } from "../../base/errors.ts";
import { type DType, isDifferentiable, isFloat } from "../../base/dtype.ts";
import { type Dim, product } from "../../sym/expr.ts";
import { isEqual } from "../../sym/decide.ts";
import { contiguousMeta, type TensorMeta } from "../../graph/meta.ts";
import type { Lowered, Operand } from "../../loops/body.ts";
import { type TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import { nullable, optional, required } from "../params.ts";
import { checkSameType, resultTypeOf } from "../promotion.ts";
import { broadcastShapes, broadcastsTo, shapeText } from "../shapes.ts";
import { deviceOf, type OperandOf, t } from "../pointwise.ts";
import { composeWideOp, lowerWideOp } from "../wide.ts";

/** Checks that two operands have one type and these ranks, and that their inner sizes agree. */
function checkProduct(name: string, a: TensorMeta, b: TensorMeta, rank: number): void {
  if (a.shape.length !== rank || b.shape.length !== rank) {
    throw new DynError(
      `Expected ${name} of two ${rank}-d tensors but found shapes ${shapeText(a.shape)} and ${
        shapeText(b.shape)
      }`,
    );
  }
  checkTypes(name, a, b);
  const inner = a.shape.at(-1) ?? 1, outer = b.shape.at(-2) ?? 1;
  const batches = rank < 3 || isEqual(a.shape[0] ?? 1, b.shape[0] ?? 1);
  if (!isEqual(inner, outer) || !batches) {
    throw new DynError(
      `Expected shapes that multiply in ${name} but found ${shapeText(a.shape)} and ${shapeText(b.shape)}`,
    );
  }
}

function checkTypes(name: string, a: TensorMeta, b: TensorMeta): void {
  checkSameType(name, a, b);
  if (a.dtype === "bool") throw new DynError(`Expected ${name} of numbers but found bool tensors`);
}

/** The product of (batches of) matrices: a library call for floats, a sum of products for integers. */
function productOf(a: Operand, b: Operand, result: TensorMeta | undefined): Lowered[] {
  if (!result) return [];
  const { shape, dtype } = result;
  if (isFloat(dtype)) {
    const call = { op: "matmul", accumulate: false } as const;
    return [{ kind: "extern", call, inputs: [a, b], outputs: [{ shape, dtype }] }];
  }
  return [{
    kind: "reduction",
    shape,
    dtype,
    op: "sum",
    over: [a.shape.at(-1) ?? 1],
    accumulator: dtype,
    element: (o, index, [k]) => {
      const batch = index.slice(0, -2), row = index.at(-2) ?? 0, column = index.at(-1) ?? 0;
      return o.mul(o.load(a, [...batch, row, k ?? 0]), o.load(b, [...batch, k ?? 0, column]));
    },
  }];
}

const mm = lowerWideOp({
  name: "mm",
  doc: "The product of an n × k and a k × m matrix, as `torch.mm`.",
  params: { self: required("tensor"), mat2: required("tensor") },
  infer({ self, mat2 }) {
    checkProduct("mm", self, mat2, 2);
    return contiguousMeta([self.shape[0] ?? 1, mat2.shape[1] ?? 1], self.dtype, deviceOf([self, mat2]));
  },
  lower: ({ self, mat2 }, [result]) => productOf(self, mat2, result),
  gradient: {
    saves: ["self", "mat2"],
    single: (o, grad, { args: { self, mat2 }, needs }) => ({
      self: needs("self") ? o.mm(grad, o.t(mat2)) : null,
      mat2: needs("mat2") ? o.mm(o.t(self), grad) : null,
    }),
  },
  samples: [
    { args: [t(3, 4), t(4, 2)] },
    { args: [{ tensor: [3, 4], transposed: true }, t(4, 2)] },
    { args: [t(3, 0), t(0, 2)] },
    { args: [{ tensor: [2, 3], dtype: "int64" }, { tensor: [3, 2], dtype: "int64" }] },
  ],
  errors: [{ args: [t(3, 4), t(3, 4)], message: "multiply" }, { args: [t(3), t(3)], message: "2-d" }],
});

const bmm = lowerWideOp({
  name: "bmm",
  doc: "Products of b × n × k and b × k × m matrices, as `torch.bmm`.",
  params: { self: required("tensor"), mat2: required("tensor") },
  infer({ self, mat2 }) {
    checkProduct("bmm", self, mat2, 3);
    const [b, n] = self.shape;
    return contiguousMeta([b ?? 1, n ?? 1, mat2.shape[2] ?? 1], self.dtype, deviceOf([self, mat2]));
  },
  lower: ({ self, mat2 }, [result]) => productOf(self, mat2, result),
  gradient: {
    saves: ["self", "mat2"],
    single: (o, grad, { args: { self, mat2 }, needs }) => ({
      self: needs("self") ? o.bmm(grad, o.mT(mat2)) : null,
      mat2: needs("mat2") ? o.bmm(o.mT(self), grad) : null,
    }),
  },
  samples: [{ args: [t(2, 3, 4), t(2, 4, 2)] }],
  errors: [{ args: [t(2, 3, 4), t(3, 4, 2)], message: "multiply" }],
});

const mv = composeWideOp({
  name: "mv",
  doc: "A matrix times a vector, as `torch.mv`.",
  params: { self: required("tensor"), vec: required("tensor") },
  infer({ self, vec }) {
    if (self.shape.length !== 2 || vec.shape.length !== 1) {
      throw new DynError(
        `Expected mv of a matrix and a vector but found ${shapeText(self.shape)} and ${shapeText(vec.shape)}`,
      );
    }
    return matmulMeta(self, vec);
  },
  compose: (o, { self, vec }) => o.squeeze(o.mm(self, o.unsqueeze(vec, 1)), 1),
  samples: [{ args: [t(3, 4), t(4)] }],
  errors: [{ args: [t(3, 4), t(3)], message: "multiply" }],
});

const dot = composeWideOp({
  name: "dot",
  doc: "The sum of products of two vectors, as `torch.dot`.",
  params: { self: required("tensor"), tensor: required("tensor") },
  infer({ self, tensor }) {
    if (self.shape.length !== 1 || tensor.shape.length !== 1) {
      throw new DynError(
        `Expected dot of two vectors but found ${shapeText(self.shape)} and ${shapeText(tensor.shape)}`,
      );
    }
    return matmulMeta(self, tensor);
  },
  compose: (o, { self, tensor }) => o.sum(o.mul(self, tensor), null, false, { dtype: self.dtype }),
  samples: [{ args: [t(4), t(4)] }],
  errors: [{ args: [t(4), t(3)], message: "multiply" }],
});

/** Metadata of matmul of any ranks. */
function matmulMeta(a: TensorMeta, b: TensorMeta): TensorMeta {
  const fail = () =>
    new DynError(
      `Expected shapes that multiply in matmul but found ${shapeText(a.shape)} and ${shapeText(b.shape)}`,
    );
  if (a.shape.length === 0 || b.shape.length === 0) {
    throw new DynError("Expected tensors with at least one dimension in matmul but found a 0-d one");
  }
  checkTypes("matmul", a, b);
  const inner = a.shape.at(-1) ?? 1, outer = (b.shape.length === 1 ? b.shape[0] : b.shape.at(-2)) ?? 1;
  if (!isEqual(inner, outer)) throw fail();
  const batch = broadcastShapes(a.shape.slice(0, -2), b.shape.slice(0, -2));
  const rows = a.shape.length === 1 ? [] : [a.shape.at(-2) ?? 1];
  const columns = b.shape.length === 1 ? [] : [b.shape.at(-1) ?? 1];
  return contiguousMeta([...batch, ...rows, ...columns], a.dtype, deviceOf([a, b]));
}

/** Matrices folded into batches: [...batch, n, k] → [product of batch, n, k]. */
function batched<T extends TensorLike>(o: OpApi<T>, x: T, batch: readonly Dim[]): T {
  const matrix = x.shape.slice(-2);
  return o.reshape(o.expand(x, [...batch, ...matrix]), [product(batch), ...matrix]);
}

const matmul = composeWideOp({
  name: "matmul",
  doc: "The product of matrices, vectors and broadcast batches of matrices, as `torch.matmul`.",
  params: { self: required("tensor"), other: required("tensor") },
  infer: ({ self, other }) => matmulMeta(self, other),
  compose(o, { self, other }) {
    const [ra, rb] = [self.shape.length, other.shape.length];
    if (ra === 1 && rb === 1) return o.dot(self, other);
    if (ra === 2 && rb === 2) return o.mm(self, other);
    if (ra === 1) return o.squeeze(o.matmul(o.unsqueeze(self, 0), other), -2);
    if (rb === 1) return o.squeeze(o.matmul(self, o.unsqueeze(other, 1)), -1);
    if (rb === 2) {
      // One matrix for all batches: fold them into rows
      const rows = product(self.shape.slice(0, -1)), inner = self.shape.at(-1) ?? 1;
      return o.reshape(o.mm(o.reshape(self, [rows, inner]), other), [
        ...self.shape.slice(0, -1),
        other.shape[1] ?? 1,
      ]);
    }
    const batch = broadcastShapes(self.shape.slice(0, -2), other.shape.slice(0, -2));
    const result = o.bmm(batched(o, self, batch), batched(o, other, batch));
    return o.reshape(result, [...batch, self.shape.at(-2) ?? 1, other.shape.at(-1) ?? 1]);
  },
  exposure: { namespaces: ["linalg"] },
  samples: [
    { args: [t(3, 4), t(4, 2)] },
    { args: [t(4), t(4)] },
    { args: [t(4), t(2, 4, 3)] },
    { args: [t(2, 3, 4), t(4)] },
    { args: [t(2, 3, 4), t(4, 2)] },
    { args: [t(2, 1, 3, 4), t(3, 4, 2)] },
  ],
  errors: [{ args: [t(3, 4), t(3, 4)], message: "multiply" }, { args: [t(), t(3)], message: "0-d" }],
});

/** beta · input + alpha · product, without neutral factors; beta 0 ignores input, even NaN. */
function combine<T extends TensorLike>(
  o: OpApi<T>,
  terms: { input: T; product: T; beta: OperandOf<T>; alpha: OperandOf<T> },
): T {
  const { input, product, beta, alpha } = terms;
  const right = alpha === 1 ? product : o.mul(product, alpha);
  if (beta === 0) return o.add(o.zero(input), right);
  return o.add(beta === 1 ? input : o.mul(input, beta), right);
}

/** A factor for integers: its fraction is dropped. */
function factorOf<T>(factor: OperandOf<T>, dtype: DType): OperandOf<T> {
  return typeof factor === "number" && !isDifferentiable(dtype) ? Math.trunc(factor) : factor;
}

/** addmm and similar ops: a product added to a tensor that broadcasts to it. */
function addProduct(
  name: "addmm" | "addmv" | "baddbmm" | "addbmm" | "addr",
  names: readonly [first: string, second: string],
  product: <T extends TensorLike>(o: OpApi<T>, a: T, b: T) => T,
  shapeOf: (a: TensorMeta, b: TensorMeta) => readonly Dim[],
  [whole, ...factors]: readonly [readonly number[], readonly number[], readonly number[]],
) {
  const operands = factors.map((s) => t(...s));
  // Operands of products have one type, except that outer products promote like a multiplication
  const typeOf = (self: TensorLike, a: TensorLike, b: TensorLike) =>
    name === "addr" ? resultTypeOf([self, a, b]) : a.dtype;
  return composeWideOp({
    name,
    doc: `beta · input + alpha · the product of the other two, as \`torch.${name}\`; ${
      names[1]
    } is the second factor.`,
    otherNames: { [names[0]]: "first", [names[1]]: "second" },
    params: {
      self: required("tensor"),
      first: required("tensor"),
      second: required("tensor"),
      // Without a share of the input, its elements are not read
      beta: optional("scalarOperand", 1, { keyword: true, changes: { not: [0] } }),
      alpha: optional("scalarOperand", 1, { keyword: true, changes: {} }),
    },
    inplace: true,
    infer({ self, first, second, beta, alpha }) {
      const shape = shapeOf(first, second);
      const dtype = typeOf(self, first, second);
      if (name !== "addr") checkTypes(name, first, second);
      if (name !== "addr" && self.dtype !== dtype) {
        throw new DynError(`Expected tensors of one dtype for ${name} but found ${self.dtype} and ${dtype}`);
      }
      if (!broadcastsTo(self.shape, shape)) {
        throw new DynError(
          `Expected an input that broadcasts to ${shapeText(shape)} but found ${shapeText(self.shape)}`,
        );
      }
      for (const factor of name === "addr" ? [beta, alpha] : []) {
        if (!isDifferentiable(dtype) && typeof factor === "number" && !Number.isInteger(factor)) {
          throw new DynError(`Expected integer factors for ${dtype} tensors but found ${factor}`);
        }
      }
      return contiguousMeta(shape, dtype, deviceOf([first, second]));
    },
    compose: (o, { self, first, second, beta, alpha }) => {
      const dtype = typeOf(self, first, second), right = product(o, first, second);
      const typed = (x: typeof right) => x.dtype === dtype ? x : o.to(x, dtype);
      return typed(combine(o, {
        input: typed(self),
        product: typed(right),
        beta: factorOf(beta, dtype),
        alpha: factorOf(alpha, dtype),
      }));
    },
    samples: [
      { args: [t(...whole), ...operands] },
      { args: [t(...whole.slice(1)), ...operands], options: { beta: 0.5, alpha: 2 } },
    ],
    errors: [{ args: [t(7), ...operands], message: "broadcasts" }],
  });
}

const checked =
  (name: string, rank: number, shape: (a: readonly Dim[], b: readonly Dim[]) => Dim[]) =>
  (a: TensorMeta, b: TensorMeta): Dim[] => {
    checkProduct(name, a, b, rank);
    return shape(a.shape, b.shape);
  };

const addmm = addProduct(
  "addmm",
  ["mat1", "mat2"],
  (o, a, b) => o.mm(a, b),
  checked("addmm", 2, (a, b) => [a[0] ?? 1, b[1] ?? 1]),
  [[3, 2], [3, 4], [4, 2]],
);
const addmv = addProduct("addmv", ["mat", "vec"], (o, a, b) => o.mv(a, b), (a, b) => {
  if (a.shape.length !== 2 || b.shape.length !== 1) {
    throw new DynError(
      `Expected addmv of a matrix and a vector but found ${shapeText(a.shape)} and ${shapeText(b.shape)}`,
    );
  }
  return matmulMeta(a, b).shape;
}, [[3], [3, 4], [4]]);
const baddbmm = addProduct(
  "baddbmm",
  ["batch1", "batch2"],
  (o, a, b) => o.bmm(a, b),
  checked("baddbmm", 3, (a, b) => [a[0] ?? 1, a[1] ?? 1, b[2] ?? 1]),
  [[2, 3, 2], [2, 3, 4], [2, 4, 2]],
);
const addbmm = addProduct(
  "addbmm",
  ["batch1", "batch2"],
  (o, a, b) => o.sum(o.bmm(a, b), 0),
  checked("addbmm", 3, (a, b) => [a[1] ?? 1, b[2] ?? 1]),
  [[3, 2], [2, 3, 4], [2, 4, 2]],
);
const addr = addProduct("addr", ["vec1", "vec2"], (o, a, b) => o.outer(a, b), (a, b) => {
  if (a.shape.length !== 1 || b.shape.length !== 1) {
    throw new DynError(
      `Expected addr of two vectors but found ${shapeText(a.shape)} and ${shapeText(b.shape)}`,
    );
  }
  return [a.shape[0] ?? 1, b.shape[0] ?? 1];
}, [[3, 4], [3], [4]]);

const outer = composeWideOp({
  name: "outer",
  doc: "All products of elements of two vectors, as `torch.outer`.",
  params: { self: required("tensor"), vec2: required("tensor") },
  exposure: { aliases: ["ger"] },
  infer({ self, vec2 }) {
    if (self.shape.length !== 1 || vec2.shape.length !== 1) {
      throw new DynError(
        `Expected outer of two vectors but found ${shapeText(self.shape)} and ${shapeText(vec2.shape)}`,
      );
    }
    return contiguousMeta([...self.shape, ...vec2.shape], resultTypeOf([self, vec2]), deviceOf([self, vec2]));
  },
  compose: (o, { self, vec2 }) => o.mul(o.unsqueeze(self, 1), vec2),
  samples: [{ args: [t(3), t(4)] }],
  errors: [{ args: [t(3, 1), t(4)], message: "vectors" }],
});

const linear = composeWideOp({
  name: "linear",
  doc: "input · weightᵀ + bias, for weight of shape [out, in], as `nn.functional.linear`.",
  params: { input: required("tensor"), weight: required("tensor"), bias: nullable("tensor") },
  exposure: { method: false, free: false, namespaces: ["nn.functional"] },
  infer({ input, weight, bias }) {
    if (weight.shape.length < 1 || weight.shape.length > 2) {
      throw new DynError(`Expected a weight of 1 or 2 dimensions but found ${shapeText(weight.shape)}`);
    }
    if (input.shape.length === 0) throw new DynError("Expected an input with dimensions but found a 0-d one");
    checkTypes("linear", input, weight);
    if (!isEqual(input.shape.at(-1) ?? 1, weight.shape.at(-1) ?? 1)) {
      throw new DynError(
        `Expected an input of ${weight.shape.at(-1)} features but found shape ${shapeText(input.shape)}`,
      );
    }
    const shape = [...input.shape.slice(0, -1), ...weight.shape.slice(0, -1)];
    if (bias && !broadcastsTo(bias.shape, shape)) {
      throw new DynError(
        `Expected a bias that broadcasts to ${shapeText(shape)} but found ${shapeText(bias.shape)}`,
      );
    }
    return contiguousMeta(shape, input.dtype, deviceOf([input, weight, bias]));
  },
  compose(o, { input, weight, bias }) {
    const result = o.matmul(input, weight.shape.length === 1 ? weight : o.t(weight));
    return bias ? o.add(result, bias) : result;
  },
  gradient: {
    saves: ["input", "weight"],
    single(o, grad, { args: { input, weight, bias }, needs }) {
      const given = weight.shape.length === 1 ? o.unsqueeze(grad, -1) : grad;
      const matrix = weight.shape.length === 1 ? o.unsqueeze(weight, 0) : weight;
      const rows = <T extends TensorLike>(api: OpApi<T>, x: T): T =>
        x.shape.length === 2 ? x : api.reshape(x, [product(x.shape.slice(0, -1)), x.shape.at(-1) ?? 1]);
      return {
        input: needs("input") ? o.matmul(given, matrix) : null,
        // In the layout of the weight
        weight: needs("weight") ? o.reshape(o.mm(o.t(rows(o, given)), rows(o, input)), weight.shape) : null,
        bias: bias && needs("bias") ? o.sumToSize(grad, bias.shape) : null,
      };
    },
  },
  samples: [{ args: [t(3, 4), t(2, 4), t(2)] }, { args: [t(2, 3, 4), t(2, 4)] }, { args: [t(4), t(2, 4)] }],
  errors: [{ args: [t(3, 4), t(2, 3)], message: "features" }],
});

export const matrix = {
  mm,
  bmm,
  mv,
  dot,
  matmul,
  addmm,
  addmv,
  baddbmm,
  addbmm,
  addr,
  outer,
  linear,
} as const;
