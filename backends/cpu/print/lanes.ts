/**
 * Vector loops whose body is one straight run as C++: plain loops that the compiler vectorises. Reductions keep
 * partial results in small arrays, whole groups of lanes at a time, so that contributions never leave registers.
 */
import { isPosition, type Loop, type Reduction, type Statement } from "../../../lib/loops/ir.ts";
import { LANES } from "../../../lib/loops/reductions.ts";
import type { ScalarOpName } from "../../../lib/loops/scalar.ts";
import { InternalError } from "../../../lib/base/errors.ts";
import type { Range, StatementPrinter } from "./names.ts";
import { combine, foldName, foldText, neutral } from "./reductions.ts";
import { MEMORY_TYPE, VALUE_TYPE } from "./types.ts";

/** Iterations up to which the compiler puts copies of a body in place of a loop. */
const MOST_COPIES = 16;

/** Scalar operations that are printed as selections by one of their operands. */
const SELECTING: ReadonlySet<ScalarOpName> = new Set(["shl", "shr", "truncDiv"]);

/**
 * Returns the word that keeps a short loop whose elements depend on conditions. GCC 11 and 12 would put copies of its
 * body in its place and vectorise the loop around it, in which loads move below the conditions that need them: groups
 * of such loads then all have the first one's mask, and lose their order (GCC's bug 114375). In a loop that is kept
 * there is one load where a group would have several.
 */
export function keepingLoop({ axis: { size }, body }: Loop): string | undefined {
  const isShort = typeof size === "number" && size <= MOST_COPIES;
  return isShort && body.some(isConditional) ? "KEEP_LOOP" : undefined;
}

function isConditional(s: Statement): boolean {
  return s.kind === "masked" || s.kind === "select" || (s.kind === "scalar" && SELECTING.has(s.op));
}

/** Prints the pragmas of a loop whose iterations are independent. */
function independent({ out }: StatementPrinter, loop: Loop): void {
  const kept = keepingLoop(loop);
  out.line(`_Pragma("GCC ivdep")${kept ? ` ${kept}` : ""}`);
}

/** Prints a loop that runs in lanes. */
export function printLanes(nest: StatementPrinter, loop: Loop): void {
  const i = nest.axis(loop.axis.symbol), { from, to } = nest.range(loop), { out } = nest;
  if (loop.reductions.length > 0) return groups(nest, loop, { i, from, to });
  if (loop.streams) return streamed(nest, loop, { i, from, to });
  independent(nest, loop);
  out.block(`for (long ${i} = ${from}; ${i} < ${to}; ${i}++) {`, () => nest.statements(loop.body));
}

/** A loop's counter and its bounds, as printed. */
interface Counter extends Range {
  readonly i: string;
}

/** Bytes of a cache line. */
const LINE = 64;

/** C++ functions that store lines past the caches; \`streamed\` orders them among other stores. */
export const STREAM = String.raw`INL bool is_line(const void* p) { return ((unsigned long) p & ${
  LINE - 1
}) == 0; }
template <int BYTES> INL void stream(void* to, const void* from) {
#if defined(__x86_64__)
  typedef float Part __attribute__((vector_size(VECTOR_BYTES), may_alias));
  UNROLL
  for (int i = 0; i < BYTES; i += VECTOR_BYTES) {
    Part part;
    __builtin_memcpy(&part, (const char*) from + i, VECTOR_BYTES);
#if defined(__AVX__)
    __asm__ ("vmovntps %1, %0" : "=m"(*(Part*) ((char*) to + i)) : "v"(part));
#else
    __asm__ ("movntps %1, %0" : "=m"(*(Part*) ((char*) to + i)) : "x"(part));
#endif
  }
#else
  __builtin_memcpy(to, from, BYTES);
#endif
}
INL void streamed() {
#if defined(__x86_64__)
  __asm__ volatile ("sfence" ::: "memory");
#endif
}`;

/**
 * Whole lines of lanes are stored past the caches, if the call requests it and memory starts at a line; the rest as in
 * any loop.
 */
function streamed(nest: StatementPrinter, loop: Loop, { i, from, to }: Counter): void {
  const { body, axis: { size } } = loop,
    { out } = nest,
    b = `b${nest.unique()}`,
    past = `past${nest.unique()}`;
  const accesses = body.filter((s) => s.kind === "store" || s.kind === "load");
  const stores = accesses.filter((s) => s.kind === "store");
  const elements = stores.map((store) => ({ ...nest.element(store), array: `o${nest.unique()}` }));
  // A multiple of the vector of the smallest elements: with fewer, the compiler uses small vectors for all types
  const lanes = Math.max(LANES, ...accesses.map((each) => LINE / nest.element(each).bytes));
  const far = [...new Set(stores.map(({ buffer }) => nest.names.far(buffer)))];
  out.block("{", () => {
    out.line(`long ${b} = ${from};`, `bool ${past} = ${far.join(" && ")};`);
    out.block(`if (${past}) {`, () => {
      out.line(`const long ${i} = ${b};`);
      out.line(`${past} = ${elements.map(({ text }) => `is_line(&${text})`).join(" && ")};`);
    });
    out.block(`for (; ${past} && ${b} + ${lanes} <= ${to}; ${b} += ${lanes}) {`, () => {
      for (const { type, array } of elements) {
        out.line(`${type} ${array}[${lanes}] __attribute__((aligned(${LINE})));`);
      }
      out.line('_Pragma("GCC ivdep") _Pragma("GCC unroll 1")');
      out.block(`for (long l = 0; l < ${lanes}; l++) {`, () => {
        out.line(`const long ${i} = ${b} + l;`);
        nest.elsewhere(body, new Map(stores.map((s, n) => [s, `${elements[n]?.array}[l]`])));
      });
      out.line(`const long ${i} = ${b};`);
      for (const { text, array, bytes } of elements) {
        out.line(`stream<${lanes * bytes}>(&${text}, ${array});`);
      }
    });
    const rest = () => {
      independent(nest, loop);
      out.block(`for (long ${i} = ${b}; ${i} < ${to}; ${i}++) {`, () => nest.statements(body));
    };
    const isWhole = from === "0" && typeof size === "number" && size % lanes === 0;
    if (isWhole) out.block(`if (!${past}) {`, rest);
    else rest();
  });
}

function groups(
  nest: StatementPrinter,
  { body, reductions, axis: { size, symbol } }: Loop,
  { i, from, to }: Counter,
): void {
  const { out } = nest, b = `b${nest.unique()}`;
  for (const r of reductions) openLanes(nest, r);
  const group = (count: string): void => {
    out.line('_Pragma("GCC ivdep") _Pragma("GCC unroll 1")');
    out.block(`for (long l = 0; l < ${count}; l++) {`, () => {
      out.line(`const long ${i} = ${b} + l;`);
      if (from === "0") nest.inGroup({ axis: symbol, first: b, lane: "l" }, body);
      else nest.statements(body);
      for (const { id, op, dtype, value } of reductions) {
        if (isPosition(op)) throw new InternalError(`Expected a fold but found ${op} in lanes`);
        const total = `v${id}_lanes[l]`;
        out.line(`${total} = ${combine(op, dtype, [total, nest.value(value)])};`);
      }
    });
  };
  out.block("{", () => {
    out.line(`long ${b} = ${from};`);
    if (typeof size !== "number" || size >= LANES) {
      out.block(`for (; ${b} + ${LANES} <= ${to}; ${b} += ${LANES}) {`, () => group(`${LANES}`));
    }
    if (typeof size !== "number" || size % LANES !== 0) group(`${to} - ${b}`);
  });
  for (const r of reductions) closeLanes(nest, r);
}

/** Declares the partial results of a reduction. */
export function openLanes(
  nest: StatementPrinter,
  { id, op, dtype }: Pick<Reduction, "id" | "op" | "dtype">,
): void {
  if (isPosition(op)) throw new InternalError(`Expected one result of ${op} and not several`);
  nest.out.line(`${MEMORY_TYPE[dtype]} v${id}_lanes[${LANES}] __attribute__((aligned(64)));`);
  nest.out.line(`for (int l = 0; l < ${LANES}; l++) v${id}_lanes[l] = ${neutral(op, dtype)};`);
}

/** Combines the partial results of a reduction. */
export function closeLanes(
  nest: StatementPrinter,
  { id, op, dtype }: Pick<Reduction, "id" | "op" | "dtype">,
): void {
  nest.names.fold(foldText(op, dtype, dtype));
  nest.out.line(`const ${VALUE_TYPE[dtype]} v${id} = ${foldName(op, dtype, dtype)}_end(v${id}_lanes);`);
  nest.define(id, dtype);
}
