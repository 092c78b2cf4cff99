/**
 * Matrix products of complex tensors: four real products. Invariant: ops that are composed of these products (matmul,
 * einsum, outer) need no rule of their own.
 */
import type { OpDefinition, TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import { matrix } from "../linalg/matrix.ts";
import { joined, partsOf } from "./parts.ts";
import { type ComplexRule, rule } from "./rule.ts";
import { checkSameType } from "../promotion.ts";

function productOf<T extends TensorLike>(
  o: OpApi<T>,
  { a, b, name }: { readonly a: T; readonly b: T; readonly name: string },
  multiply: (x: T, y: T) => T,
): T {
  checkSameType(name, a, b);
  const p = partsOf(o, a), q = partsOf(o, b);
  return joined(o, {
    re: o.sub(multiply(p.re, q.re), multiply(p.im, q.im)),
    im: o.add(multiply(p.re, q.im), multiply(p.im, q.re)),
  });
}

type Product = OpDefinition<typeof matrix.mm.params>;

const productRule = (definition: Product, name: "mm" | "bmm"): ComplexRule =>
  rule(definition, (o, { self, mat2 }) => productOf(o, { a: self, b: mat2, name }, (x, y) => o[name](x, y)));

export const matrixRules: readonly ComplexRule[] = [
  productRule(matrix.mm, "mm"),
  productRule(matrix.bmm, "bmm"),
];
