/**
 * Functions of the shared mathematics as C++, one definition for each operation in use. A short function is inlined. A
 * long one is compiled once, for whole vectors: GCC's `simd` attribute declares its vector forms to loops that call it
 * (the x86 and AArch64 vector function ABIs), so that compile time grows with the number of operations and not with the
 * size of their polynomials. Invariant: a lane's bits do not depend on the form that is called, since all forms run the
 * widest one.
 */
import { isFloat, type ValueType } from "../../../lib/base/dtype.ts";
import { InternalError } from "../../../lib/base/errors.ts";
import { TextWriter } from "../../../lib/base/text_writer.ts";
import type { Statement, ValueId } from "../../../lib/loops/ir.ts";
import { functionOf, type ScalarFunction } from "../../../lib/loops/math/function.ts";
import type { ScalarOpName } from "../../../lib/loops/scalar.ts";
import { valueTypes } from "../../../lib/loops/value_types.ts";
import { castExpression, type Need, scalarExpression } from "./scalar.ts";
import { literal, VALUE_TYPE } from "./types.ts";

/** Maximum number of primitive operations of an inlined function. */
const INLINE_WEIGHT = 40;

/** The functions that one translation unit needs. */
export class ScalarFunctions {
  readonly #texts = new Map<string, string>();

  /** The `need` of the unit's kernels. */
  readonly need: Need = (op, dtype, form) => {
    const found = functionOf(op, dtype, "wide"), { name } = found, vector = hasVectorForm(found);
    if (!this.#texts.has(name)) {
      const text = inlineText(found, this.need);
      this.#texts.set(name, vector ? `${text}\n${vectorText(found)}` : text);
    }
    const inline = form === "inline" || (form === "nested" && !hasMasks(found));
    return vector && inline ? `${name}_inline` : name;
  };

  /** Their definitions, in an order that compiles. */
  get text(): string {
    return [...this.#texts.values()].join("\n");
  }
}

/** Vector forms have lanes of one width. */
function hasVectorForm(f: ScalarFunction): boolean {
  const bytes = LANE_BYTES[f.result.dtype];
  return bytes !== undefined && (f.weight > INLINE_WEIGHT || hasMasks(f)) &&
    f.parameters.every(({ dtype }) => LANE_BYTES[dtype] === bytes);
}

/** Returns whether loops call the vector form of an operation's function. */
export const isCalled = (op: ScalarOpName, dtype: ValueType): boolean =>
  hasVectorForm(functionOf(op, dtype, "wide"));

const hasMasks = ({ body }: ScalarFunction): boolean => body.some((s) => s.kind === "masked");

/** Bytes of vector elements, for types with vector forms. */
const LANE_BYTES: Partial<Record<ValueType, 4 | 8>> = { float32: 4, int32: 4, float64: 8, int64: 8 };

/** Definitions that the texts refer to: vectors of bytes, and the widest as arrays. */
export const FUNCTION_PRELUDE: string = String
  .raw`#if defined(__GNUC__) && !defined(__clang__) && (defined(__x86_64__) || defined(__aarch64__))
#define VECTOR_CALLS
#define HIDDEN visibility("hidden")
template <class T, int BYTES> struct VectorOf { typedef T Type __attribute__((vector_size(BYTES))); };
template <class T, int BYTES> using Vector = typename VectorOf<T, BYTES>::Type;
template <class T> struct Lanes { T x[VECTOR_BYTES / sizeof(T)] __attribute__((aligned(VECTOR_BYTES))); };
template <class T, class V> INL Lanes<T> lanes(V a) { Lanes<T> r = {}; __builtin_memcpy(r.x, &a, sizeof a); return r; }
template <class V, class T> INL V first(const Lanes<T>& y) { V r; __builtin_memcpy(&r, y.x, sizeof r); return r; }
#endif
`;

/**
 * The function for one element. With masked parts it is a template: RARE says whether they are computed. If they are
 * not,
 * `rare` reports whether some would have been needed.
 */
function inlineText(f: ScalarFunction, need: Need): string {
  const out = new TextWriter(), type = VALUE_TYPE[f.result.dtype];
  const vector = hasVectorForm(f), masks = hasMasks(f);
  const parameters = f.parameters.map(({ id, dtype }) => `${VALUE_TYPE[dtype]} v${id}`).join(", ");
  const head = masks
    ? `template <bool RARE> INL ${type} ${f.name}_body(${parameters}, int& rare) {`
    : `INL ${type} ${vector ? `${f.name}_inline` : f.name}(${parameters}) {`;
  out.block(head, () => {
    new BodyPrinter(out, f, need).statements(f.body);
    out.line(`return v${f.result.id};`);
  });
  if (masks) {
    const given = f.parameters.map(({ id }) => `v${id}`).join(", ");
    out.line(
      `INL ${type} ${f.name}_inline(${parameters}) { int rare = 0; return ${f.name}_body<true>(${given}, rare); }`,
    );
  }
  return out.toString().trimEnd();
}

/** Prints the statements of a function. */
class BodyPrinter {
  readonly #types: ReadonlyMap<ValueId, ValueType>;
  /** Whether selections are computed without branches. */
  readonly #pure: boolean;

  constructor(readonly out: TextWriter, f: ScalarFunction, readonly need: Need) {
    this.#types = valueTypes(f.body, new Map(f.parameters.map(({ id, dtype }) => [id, dtype])));
    this.#pure = hasVectorForm(f) && !hasMasks(f);
  }

  statements(body: readonly Statement[]): void {
    for (const s of body) this.#statement(s);
  }

  #statement(s: Statement): void {
    if (s.kind === "loop" || s.kind === "store" || s.kind === "load" || s.kind === "index") {
      throw new InternalError(`Expected arithmetic in a scalar function but found a ${s.kind}`);
    }
    const type = VALUE_TYPE[s.dtype];
    if (s.kind !== "masked") return void this.out.line(`const ${type} v${s.id} = ${this.#expression(s)};`);
    this.out.line(`${type} v${s.id} = v${s.otherwise};`);
    this.out.block("if (RARE) {", () => {
      this.statements(s.body);
      this.out.line(`v${s.id} = v${s.condition} ? v${s.value} : v${s.otherwise};`);
    });
    this.out.line(`else rare |= v${s.condition};`);
  }

  #expression(s: Statement & { kind: "constant" | "scalar" | "cast" | "select" }): string {
    switch (s.kind) {
      case "constant":
        return literal(s.value, s.dtype);
      case "scalar": {
        const args = s.args.map((id) => `v${id}`);
        return scalarExpression(s.op, this.#type(s.args[0]), { args, need: this.need, form: "nested" });
      }
      case "cast":
        return castExpression(`v${s.value}`, this.#type(s.value), s.dtype);
      case "select":
        // GCC 13 and later do not vectorise expressions that they have moved into branches
        return this.#pure
          ? `pick(v${s.condition}, v${s.then}, v${s.otherwise})`
          : `v${s.condition} ? v${s.then} : v${s.otherwise}`;
      default:
        return s satisfies never;
    }
  }

  #type(id: ValueId | undefined): ValueType {
    const found = id === undefined ? undefined : this.#types.get(id);
    if (!found) throw new InternalError(`Expected v${id} to be defined before its use`);
    return found;
  }
}

/** A vector form of the ABI: when it is called, its letter, and the bytes of its vectors. */
interface VectorForm {
  readonly when: string;
  readonly letter: string;
  readonly bytes: number;
  /** For functions that return integers, if those have narrower vectors. */
  readonly integerBytes?: number;
}

/** Instruction sets that call vector forms. */
const VECTOR_ABI: readonly VectorForm[] = [
  { when: "defined(__AVX512F__)", letter: "e", bytes: 64 },
  { when: "defined(__AVX2__)", letter: "d", bytes: 32 },
  { when: "defined(__AVX__)", letter: "c", bytes: 32, integerBytes: 16 },
  { when: "defined(__SSE2__)", letter: "b", bytes: 16 },
  { when: "defined(__aarch64__)", letter: "n", bytes: 16 },
];

/** Its vector forms, and the form for one element. */
function vectorText(f: ScalarFunction): string {
  const out = new TextWriter(), { name } = f, width = LANE_BYTES[f.result.dtype] ?? 4;
  const result = VALUE_TYPE[f.result.dtype], types = f.parameters.map(({ dtype }) => VALUE_TYPE[dtype]);
  const lane = types.map((_, i) => `a${i}[l]`).join(", ");
  out.line(
    "#ifdef VECTOR_CALLS",
    `extern "C" __attribute__((simd("notinbranch"), const, HIDDEN)) ${result} ${name}(${types});`,
  );
  out.block(`INL void ${name}_wide(${types.map((t, i) => `const ${t}* a${i}`)}, ${result}* y) {`, () => {
    const loop = (call: string): string =>
      `_Pragma("GCC ivdep") _Pragma("GCC unroll 1") for (int l = 0; l < VECTOR_BYTES / ${width}; l++) y[l] = ${call};`;
    if (!hasMasks(f)) return out.line(loop(`${name}_inline(${lane})`));
    out.line("int rare = 0;", loop(`${name}_body<false>(${lane}, rare)`));
    out.block("if (__builtin_expect(rare, 0)) {", () => out.line(loop(`${name}_body<true>(${lane}, rare)`)));
  });
  const form = (declared: string, results: string): void => {
    const given = types.map((t, i) => `lanes<${t}>(a${i}).x`).join(", ");
    out.block(`${declared} {`, () => {
      out.line(`Lanes<${result}> y;`, `${name}_wide(${given}, y.x);`, `return first<${results}>(y);`);
    });
  };
  for (const { when, letter, ...sizes } of VECTOR_ABI) {
    const bytes = isFloat(f.result.dtype) ? sizes.bytes : sizes.integerBytes ?? sizes.bytes;
    const symbol = `_ZGV${letter}N${bytes / width}${"v".repeat(types.length)}_${name}`;
    const vector = (type: string): string => `Vector<${type}, ${bytes}>`;
    out.line(`#if ${when}`);
    form(
      `extern "C" __attribute__((HIDDEN)) ${vector(result)} ${symbol}(${
        types.map((t, i) => `${vector(t)} a${i}`)
      })`,
      vector(result),
    );
    out.line("#endif");
  }
  out.line(`__attribute__((HIDDEN)) ${result} ${name}_one(${types}) __asm__("${name}");`);
  form(`${result} ${name}_one(${types.map((t, i) => `${t} a${i}`)})`, result);
  const plain = types.map((t, i) => `${t} a${i}`).join(", "), given = types.map((_, i) => `a${i}`).join(", ");
  out.line("#else", `INL ${result} ${name}(${plain}) { return ${name}_inline(${given}); }`, "#endif");
  return out.toString().trimEnd();
}
