/**
 * Functions of a complex variable as one op over pairs [..., 2] of real and imaginary parts. Invariant: the gradient
 * is that of the function rather than of the steps that compute its value, so that it is defined where the steps have
 * none.
 */
import { refuseChoice } from "../../base/checked_input.ts";
import { DynError } from "../../base/errors.ts";
import { contiguousMeta } from "../../graph/meta.ts";
import { composeOp } from "../definition.ts";
import { required } from "../params.ts";
import { COMPLEX_FUNCTION_NAMES, complexFunctionNamed } from "./functions.ts";
import { type ComplexRule } from "./rule.ts";

const NAMES = COMPLEX_FUNCTION_NAMES;

function functionOf(name: string) {
  const found = complexFunctionNamed(name);
  return found ?? refuseChoice("a complex function", NAMES, name);
}

const complexFunction = composeOp({
  name: "complexFunction",
  doc: "A function of complex numbers whose input and result are pairs in the last dimension.",
  params: { self: required("tensor"), name: required("string", { oneOf: NAMES }) },
  exposure: { method: false, free: false },
  infer: ({ self }) => contiguousMeta(self.shape, self.dtype, self.device),
  compose(o, { self, name }) {
    const { re, im } = functionOf(name).value(o, { re: o.select(self, -1, 0), im: o.select(self, -1, 1) });
    return o.stack([re, im], -1);
  },
  gradient: {
    saves: ["self", "out"],
    single(o, grad, { args: { self, name }, out: [out] }) {
      if (!out) return {};
      const complex = (pairs: typeof self) => o.viewAsComplex(o.contiguous(pairs));
      const slope = functionOf(name).derivative(o, complex(self), complex(out));
      return { self: o.viewAsReal(o.mul(complex(grad), o.conj(slope))) };
    },
  },
  samples: NAMES.map((name) => ({ args: [{ tensor: [3, 2], range: [0.2, 0.8] as const }, name] })),
});

/** One rule for each function. */
export const functionRules: readonly ComplexRule[] = NAMES.map((name) => ({
  name,
  compose: (o, { self }) => {
    if (typeof self !== "object" || self === null || !("dtype" in self)) {
      throw new DynError(`Expected a tensor for ${name}`);
    }
    return o.viewAsComplex(o.complexFunction(o.viewAsReal(self), name));
  },
}));

export const complexFunctions = { complexFunction } as const;
