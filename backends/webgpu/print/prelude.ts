/**
 * Functions that a shader calls because the language lacks them or computes them inexactly. Functions of the shared
 * mathematics are printed from their bodies; this file has the few that are more than arithmetic. Invariant: NaN,
 * infinities and −0 behave as in PyTorch.
 */
import type { ValueType } from "../../../lib/base/dtype.ts";
import { InternalError } from "../../../lib/base/errors.ts";
import { TextWriter } from "../../../lib/base/text_writer.ts";
import type { Statement, ValueId } from "../../../lib/loops/ir.ts";
import { functionOf } from "../../../lib/loops/math/function.ts";
import type { ScalarOpName } from "../../../lib/loops/scalar.ts";
import { valueTypes } from "../../../lib/loops/value_types.ts";
import { UNKNOWN_ZERO } from "./parameters.ts";
import { castText, constantText, type HelperName, type Helpers, registerType, scalarText } from "./scalar.ts";

/** The parameters of a function by name, and its result. */
interface Signature {
  readonly parameters: Readonly<Record<string, string>>;
  readonly result: string;
}

interface Helper extends Signature {
  readonly needs: readonly HelperName[];
  readonly body: string;
}

const helper = (signature: Signature, body: string, ...needs: HelperName[]): Helper => ({
  ...signature,
  needs,
  body,
});

const NUMBER = { parameters: {}, result: "f32" }, FACT = { parameters: {}, result: "bool" };
const OF_FLOAT = { parameters: { x: "f32" }, result: "f32" }, TEST = { ...OF_FLOAT, result: "bool" };
const OF_FLOATS = { parameters: { a: "f32", b: "f32" }, result: "f32" },
  COMPARISON = { ...OF_FLOATS, result: "bool" };
const OF_INTEGERS = { parameters: { a: "i32", b: "i32" }, result: "i32" };
const TO_FLOAT = { parameters: { x: "i32" }, result: "f32" }, TO_INTEGER = { ...OF_FLOAT, result: "i32" };

/** The beginning of a definition. */
function headOf(name: string, { parameters, result }: Signature): string {
  const given = Object.entries(parameters).map(([parameter, type]) => `${parameter}: ${type}`);
  return `fn ${name}(${given.join(", ")}) -> ${result}`;
}

const HELPERS: Readonly<Record<HelperName, Helper>> = {
  // Constant expressions may not be infinite or NaN, hence variables.
  inf: helper(NUMBER, "{ return bitcast<f32>(inf_bits); }\nvar<private> inf_bits: u32 = 0x7f800000u;"),
  nan: helper(NUMBER, "{ return bitcast<f32>(nan_bits); }\nvar<private> nan_bits: u32 = 0x7fc00000u;"),
  // Hides a value from compilers, which simplify identities of finite numbers such as x / x = 1.
  hidden: helper(OF_FLOAT, `{ return bitcast<f32>(bitcast<i32>(x) ^ ${UNKNOWN_ZERO}); }`),
  zero: helper(NUMBER, `{ return bitcast<f32>(${UNKNOWN_ZERO}); }`),
  // Whether fma rounds once: (1 + 2⁻¹²)² = 1 + 2⁻¹¹ + 2⁻²⁴
  fuses: helper(
    FACT,
    "{ let h = hidden(1.000244140625); return fma(h, h, -1.00048828125) != 0.0; }",
    "hidden",
  ),
  // Compilers may simplify x != x to false.
  is_nan: helper(TEST, "{ return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }"),
  // For numbers only: compilers turn "y where x < y, else x" into max(x, y), which is not NaN if x is.
  less: helper(COMPARISON, "{ return (a < b) & !(is_nan(a) | is_nan(b)); }", "is_nan"),
  at_most: helper(COMPARISON, "{ return (a <= b) & !(is_nan(a) | is_nan(b)); }", "is_nan"),
  // Compilers assume that a value equals itself, even if it is NaN.
  same: helper(COMPARISON, "{ return (a == b) & !(is_nan(a) | is_nan(b)); }", "is_nan"),
  // Devices divide to within 2.5 units in the last place, so that 27.75 / 2.3125 may be less than 12; dividing by
  // numbers whose reciprocal is subnormal may fail altogether. The remainder of a quotient computed from the
  // reciprocal, which one fma gives exactly, corrects it where that is possible. Quotients that are 0, infinite, NaN or
  // close to these are left to the device's division, which takes longer.
  divide: helper(
    OF_FLOATS,
    `{
  let r = 1.0 / hidden(b); let q = a * r;
  if (fuses() & (abs(q) < 3.0e38) & (abs(q) > 1.0e-37)) { return fma(fma(-q, b, a), r, q); }
  let scale = select(1.0, 0.0625, abs(b) > 4.0e37);
  return (a * scale) / hidden(b * scale);
}`,
    "fuses",
    "hidden",
  ),
  // Works in the same way.
  root: helper(
    OF_FLOAT,
    `{
  let s = sqrt(x);
  let c = fma(fma(-s, s, x), 0.5 * inverseSqrt(x), s);
  return select(s, c, fuses() & !is_nan(c));
}`,
    "fuses",
    "is_nan",
  ),
  // One driver computes log1p(exp(−|i|)) as 0 for the integer i = 3, though for no float: what it knows about integers
  // is hidden from floats.
  to_float: helper(TO_FLOAT, `{ return hidden(f32(x ^ ${UNKNOWN_ZERO})); }`, "hidden"),
  // The low bits of the 64-bit integer that CPUs compute: all are 0 from 2⁵⁵ on, for infinities and for NaN.
  to_integer: helper(
    TO_INTEGER,
    `{
  let bits = bitcast<u32>(x) & 0x7fffffffu;
  if (bits < 0x4f000000u) { return i32(x); }
  if (bits >= 0x5b000000u) { return 0; }
  let low = i32(((bits & 0x7fffffu) | 0x800000u) << ((bits >> 23u) - 150u));
  return select(low, -low, x < 0.0);
}`,
  ),
  // Accurate to a few units in the last place if the device's powers of two are: the rounding error of x log₂ e is
  // corrected afterwards. The language allows errors that grow with the exponent, which are negligible compared to 1 if
  // that is negative.
  short_exp: helper(
    OF_FLOAT,
    `{
  let y = x * 1.4426950216293335;
  let rest = fma(x, 1.4426950216293335, -y) + x * 1.925963e-8;
  let p = exp2(y);
  return select(select(p, p * fma(rest, 0.6931471806, 1.0), abs(x) < 87.0), x, is_nan(x));
}`,
    "is_nan",
  ),
  minimum: helper(OF_FLOATS, "{ return select(min(a, b), a + b, is_nan(a) || is_nan(b)); }", "is_nan"),
  maximum: helper(OF_FLOATS, "{ return select(max(a, b), a + b, is_nan(a) || is_nan(b)); }", "is_nan"),
  // Shifts by the number of bits or more leave zeros, or signs
  shift_left: helper(OF_INTEGERS, "{ return select(0, a << (u32(b) & 31u), u32(b) < 32u); }"),
  shift_right: helper(
    OF_INTEGERS,
    "{ return select(select(0, -1, a < 0), a >> (u32(b) & 31u), u32(b) < 32u); }",
  ),
  trunc_div: helper(OF_INTEGERS, "{ if (b == 0) { return 0; } return a / b; }"),
  // Long division: each step subtracts a multiple of b by a power of two, which is exact
  trunc_mod_f: helper(
    OF_FLOATS,
    `{
  let y = abs(b);
  var r = abs(a);
  if (is_nan(a) || is_nan(b) || r > 3.4028235e38 || y == 0.0) { return nan(); }
  if (y > 3.4028235e38) { return a; }
  for (var i = 0; i < 300 && r >= y; i = i + 1) {
    let s = ldexp(y, frexp(r).exp - frexp(y).exp);
    r = r - select(s, 0.5 * s, s > r);
  }
  return select(r, -r, (bitcast<u32>(a) >> 31u) != 0u);
}`,
    "is_nan",
    "nan",
  ),
  mul_high: helper(
    OF_INTEGERS,
    `{
  let x = bitcast<u32>(a); let y = bitcast<u32>(b);
  let x0 = x & 0xffffu; let x1 = x >> 16u; let y0 = y & 0xffffu; let y1 = y >> 16u;
  let mid = x1 * y0 + ((x0 * y0) >> 16u);
  let mid2 = x0 * y1 + (mid & 0xffffu);
  return bitcast<i32>(x1 * y1 + (mid >> 16u) + (mid2 >> 16u));
}`,
  ),
};

/** The functions of one shader; with short exponentials, these are computed by the device's function. */
export class ShaderFunctions implements Helpers {
  readonly #texts = new Map<string, string>();
  readonly #signatures = new Map<string, Signature>();

  constructor(readonly exponentials: "exact" | "short" = "exact") {}

  use(name: HelperName): string {
    if (!this.#texts.has(name)) {
      const { needs, body, ...signature } = HELPERS[name];
      for (const other of needs) this.use(other);
      this.#define(name, signature, body);
    }
    return name;
  }

  call(op: ScalarOpName, dtype: ValueType): string {
    if (op === "exp" && this.exponentials === "short") return this.use("short_exp");
    const { name, parameters, body, result } = functionOf(op, dtype, "single");
    if (this.#texts.has(name)) return name;
    const out = new TextWriter(), types = valueTypes(body, new Map(parameters.map((p) => [p.id, p.dtype])));
    out.block("{", () => {
      this.#statements(body, { out, types });
      out.line(`return v${result.id};`);
    });
    const given = parameters.map((p) => [`v${p.id}`, registerType(p.dtype)]);
    const signature = { parameters: Object.fromEntries(given), result: registerType(result.dtype) };
    this.#define(name, signature, out.toString().trimEnd());
    return name;
  }

  byElement(name: string): string {
    const vectors = `${name}_4`, signature = this.#signatures.get(name);
    if (!signature) throw new InternalError(`Expected a function of the shader but found ${name}`);
    if (this.#texts.has(vectors)) return vectors;
    const given = Object.entries(signature.parameters);
    const elements = ["x", "y", "z", "w"].map((part) =>
      `${name}(${given.map(([parameter]) => `${parameter}.${part}`).join(", ")})`
    );
    const parameters = Object.fromEntries(given.map(([parameter, type]) => [parameter, `vec4<${type}>`]));
    const wide = { parameters, result: `vec4<${signature.result}>` };
    this.#define(vectors, wide, `{ return vec4(${elements.join(", ")}); }`);
    return vectors;
  }

  #define(name: string, signature: Signature, body: string): void {
    this.#signatures.set(name, signature);
    this.#texts.set(name, `${headOf(name, signature)} ${body}`);
  }

  #statements(
    body: readonly Statement[],
    function_: { readonly out: TextWriter; readonly types: ReadonlyMap<ValueId, ValueType> },
  ): void {
    const { out, types } = function_;
    const typeOf = (id: ValueId | undefined): ValueType => {
      const found = id === undefined ? undefined : types.get(id);
      if (!found) throw new InternalError(`Expected v${id} to be defined before its use`);
      return found;
    };
    for (const s of body) {
      if (s.kind === "loop" || s.kind === "store" || s.kind === "load" || s.kind === "index") {
        throw new InternalError(`Expected arithmetic in a scalar function but found a ${s.kind}`);
      }
      if (s.kind === "masked") {
        out.line(`var v${s.id} = v${s.otherwise};`);
        out.block(`if (v${s.condition}) {`, () => {
          this.#statements(s.body, function_);
          out.line(`v${s.id} = v${s.value};`);
        });
        continue;
      }
      const text = s.kind === "constant"
        ? constantText(s.value, s.dtype, this)
        : s.kind === "scalar"
        ? scalarText(s.op, s.args.map((id) => `v${id}`), {
          dtype: typeOf(s.args[0]),
          helpers: this,
          trusted: true,
        })
        : s.kind === "cast"
        ? castText(`v${s.value}`, { from: typeOf(s.value), to: s.dtype, helpers: this })
        : `select(v${s.otherwise}, v${s.then}, v${s.condition})`;
      out.line(`let v${s.id}: ${registerType(s.dtype)} = ${text};`);
    }
  }

  /** Their definitions; the language does not require any order. */
  get text(): string {
    return [...this.#texts.values()].join("\n");
  }
}
