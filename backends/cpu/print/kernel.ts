/**
 * One loop kernel as C++ functions that a team of threads runs together. Input: a loop kernel; output: phases, each
 * a function body over (a, s, t, nt): table of buffer addresses, sizes, number of this thread, number of threads.
 * Invariants: phases run one after another; the threads of one phase write different elements; results do not
 * depend on the number of threads (a reduction of everything is cut in chunks of fixed size).
 */
import { TextWriter } from "../../../lib/base/text_writer.ts";
import { add, boundsOf, type Dim, freeSymbols, mul, product, type Sym } from "../../../lib/sym/expr.ts";
import {
  type BufferDecl,
  type BufferId,
  isPosition,
  type Loop,
  type LoopKernel,
  type Statement,
} from "../../../lib/loops/ir.ts";
import { SCALAR_OPS } from "../../../lib/loops/scalar.ts";
import { collides } from "../../../lib/loops/uses.ts";
import { valueTypes } from "../../../lib/loops/value_types.ts";
import { type KernelNames, NestPrinter, type Range } from "./nest.ts";
import { combine, neutral } from "./reductions.ts";
import type { Need } from "./scalar.ts";
import { MEMORY_TYPE, VALUE_TYPE } from "./types.ts";

/** What all kernels of a program share. */
export interface KernelContext {
  readonly buffers: readonly BufferDecl[];
  /** Place of a size in the table of sizes. */
  sizeIndex(symbol: Sym): number;
  readonly need: Need;
  fold(text: string): void;
}

/** One function to be run by a team. */
export interface Phase {
  /** The body, without signature; equal bodies may share a function. */
  readonly body: string;
  /** What goes into the table of addresses, in order. */
  readonly buffers: readonly BufferId[];
  /** An estimate of its work (loads and stores 4, operations by their weight), for deciding on threads; 0: one thread. */
  readonly work: Dim;
  /** Chunked reductions: bytes of partial results per chunk, and how many chunks there are. */
  readonly partials?: { readonly bytes: number; readonly chunks: string };
}

/** Work of one chunk of a reduction of everything, in elements. */
const CHUNK = 32768;
/** Lanes of one piece where a vector loop is shared out together with the loops around it. */
const PIECE = 4096;

/** The phases of a loop kernel. */
export function printLoopKernel(kernel: LoopKernel, context: KernelContext): Phase[] {
  const { body } = kernel;
  const loops = body.filter((s): s is Loop => s.kind === "loop");
  const flows = loops.some((l) => l.reductions.length + l.carried.length > 0);
  const stores = body.some((s) => s.kind === "store" || s.kind === "masked");
  if (flows || stores || loops.length === 0) {
    return reducedPhases(body, loops, context) ?? [serial(body, context)];
  }
  const values = body.filter((s) => s.kind !== "loop");
  return loops.map((loop) => shared(loop, values, context) ?? serial([...values, loop], context));
}

/** Collects what a function refers to and puts its declarations in front. */
function bodyText(
  context: KernelContext,
  print: (out: TextWriter, names: KernelNames) => void,
): { body: string; buffers: BufferId[] } {
  const buffers: BufferId[] = [], sizes = new Set<number>();
  const names: KernelNames = {
    buffer(id) {
      let at = buffers.indexOf(id);
      if (at < 0) at = buffers.push(id) - 1;
      return `p${at}`;
    },
    size(symbol) {
      const at = context.sizeIndex(symbol);
      sizes.add(at);
      return `s${at}`;
    },
    need: context.need,
    fold: (text) => context.fold(text),
  };
  const out = new TextWriter();
  out.indent(() => print(out, names));
  const declarations = buffers.map((id, i) => {
    const type = MEMORY_TYPE[context.buffers[id]?.dtype ?? "float32"];
    return `  ${type}* const p${i} = (${type}*) a[${i}];`;
  });
  for (const at of [...sizes].sort((x, y) => x - y)) declarations.push(`  const long s${at} = s[${at}];`);
  return { body: [...declarations, out.toString()].join("\n"), buffers };
}

function printer(
  body: readonly Statement[],
  context: KernelContext,
  { out, names, ranges }: { out: TextWriter; names: KernelNames; ranges?: ReadonlyMap<Loop, Range> },
): NestPrinter {
  return new NestPrinter(out, context.buffers, names, ranges).types(valueTypes(body));
}

function serial(body: readonly Statement[], context: KernelContext): Phase {
  const printed = bodyText(context, (out, names) => printer(body, context, { out, names }).statements(body));
  return { ...printed, work: 0 };
}

/** A nest below one parallel loop, shared out; undefined where it must run in order. */
function shared(loop: Loop, values: readonly Statement[], context: KernelContext): Phase | undefined {
  if (loop.order !== "parallel" || collides([loop])) return undefined;
  const chain: Loop[] = [loop];
  for (let last = loop; !last.vector;) {
    const [inner] = last.body;
    if (last.body.length !== 1 || inner?.kind !== "loop" || inner.order !== "parallel") break;
    chain.push(last = inner);
  }
  const vector = chain.find((l) => l.vector), outer = chain.filter((l) => !l.vector);
  const all = [...values, loop];
  const printed = bodyText(context, (out, names) => {
    const ranges = new Map<Loop, Range>();
    const nest = printer(all, context, { out, names, ranges });
    const size = (l: Loop): string => nest.index(l.axis.size);
    nest.statements(values);
    const many = typeof loop.axis.size === "number" && loop.axis.size >= 64;
    if (loop.vector) {
      out.line(`const long groups = (${size(loop)} + 15) / 16, from = groups * t / nt * 16;`);
      out.line(
        `const long end = groups * (t + 1) / nt * 16, to = end < ${size(loop)} ? end : ${size(loop)};`,
      );
      ranges.set(loop, { from: "from", to: "to" });
      return nest.statements([loop]);
    }
    const outside = product(outer.map((l) => l.axis.size));
    const pieces = vector !== undefined && boundsOf(vector.axis.size)[1] > PIECE &&
      !(boundsOf(outside)[0] >= 64);
    if (many || (outer.length === 1 && !pieces)) {
      ranges.set(loop, { from: `(${size(loop)}) * t / nt`, to: `(${size(loop)}) * (t + 1) / nt` });
      return nest.statements([loop]);
    }
    const parts = outer.map((l) => ({ name: nest.axis(l.axis.symbol), size: `(${size(l)})` }));
    if (pieces && vector !== undefined) {
      parts.push({ name: "piece", size: `((${size(vector)} + ${PIECE - 1}) / ${PIECE})` });
    }
    out.line(`const long total = ${parts.map((p) => p.size).join(" * ")};`);
    out.block("for (long w = total * t / nt; w < total * (t + 1) / nt; w++) {", () => {
      parts.forEach((p, i) => {
        const below = parts.slice(i + 1).map((q) => ` / ${q.size}`).join("");
        out.line(`const long ${p.name} = w${below}${i > 0 ? ` % ${p.size}` : ""};`);
      });
      if (pieces && vector !== undefined) {
        out.line(
          `const long from = piece * ${PIECE}, to = from + ${PIECE} < ${size(vector)} ? from + ${PIECE} : ${
            size(vector)
          };`,
        );
        ranges.set(vector, { from: "from", to: "to" });
      }
      nest.statements(outer.at(-1)?.body ?? []);
    });
  });
  return { ...printed, work: workOf(all) };
}

/** A reduction of everything: chunks in parallel, then their results in order; undefined where it is small. */
function reducedPhases(
  body: readonly Statement[],
  loops: readonly Loop[],
  context: KernelContext,
): Phase[] | undefined {
  const [loop] = loops;
  if (loops.length !== 1 || loop === undefined || loop.order !== "reduction" || collides(body)) {
    return undefined;
  }
  if (loop.carried.length > 0 || loop.reductions.some((r) => isPosition(r.op))) return undefined;
  const count = elementsOf(loop);
  if (boundsOf(count)[1] <= 2 * CHUNK || [...freeSymbols(count)].some((s) => !isSize(s))) return undefined;
  const before = body.slice(0, body.indexOf(loop)), after = body.slice(body.indexOf(loop) + 1);
  if (before.some((s) => s.kind === "store" || s.kind === "masked")) return undefined;
  const bytes = 8 * loop.reductions.length;
  const slot = (dtype: Loop["reductions"][number]["dtype"], k: number, chunk: string): string =>
    `*(${MEMORY_TYPE[dtype]}*) (partials + (${chunk} * ${loop.reductions.length} + ${k}) * 8)`;
  let chunks = "";
  const lengths = (nest: NestPrinter): { n: string; each: string } => {
    const n = nest.index(loop.axis.size), inner = nest.index(elementsOf(loop, true));
    return { n, each: `chunk_length(${n}, ${inner}, ${CHUNK})` };
  };
  const parts = bodyText(context, (out, names) => {
    const ranges = new Map<Loop, Range>();
    const nest = printer(body, context, { out, names, ranges });
    const { n, each } = lengths(nest);
    chunks = `chunk_count(${n}, ${each})`;
    nest.statements(before);
    out.line(`const long each = ${each}, chunks = chunk_count(${n}, each);`);
    out.block("for (long c = chunks * t / nt; c < chunks * (t + 1) / nt; c++) {", () => {
      out.line(`const long from = c * each, to = from + each < ${n} ? from + each : ${n};`);
      ranges.set(loop, { from: "from", to: "to" });
      nest.statements([loop]);
      loop.reductions.forEach((r, k) => out.line(`${slot(r.dtype, k, "c")} = ${nest.value(r.id)};`));
    });
  });
  const end = bodyText(context, (out, names) => {
    const nest = printer(body, context, { out, names });
    const { n, each } = lengths(nest);
    nest.statements(before);
    out.line(`const long chunks = chunk_count(${n}, ${each});`);
    loop.reductions.forEach((r, k) => {
      if (isPosition(r.op)) return;
      const type = VALUE_TYPE[r.dtype], name = nest.define(r.id, r.dtype);
      const next = combine(r.op, r.dtype, [name, "x"]);
      out.line(`${type} ${name} = ${neutral(r.op, r.dtype)};`);
      out.block("for (long c = 0; c < chunks; c++) {", () => {
        out.line(`const ${type} x = ${slot(r.dtype, k, "c")};`, `${name} = ${next};`);
      });
    });
    nest.statements(after);
  });
  const partials = { bytes, chunks };
  return [{ ...parts, work: workOf(body), partials }, { ...end, work: 0, partials }];
}

const isSize = (symbol: Sym): boolean => symbol.node.kind === "symbol" && symbol.node.role.kind === "size";

/** How many innermost iterations a nest has (of its deepest path); `inside` leaves its own loop out. */
function elementsOf(loop: Loop, inside = false): Dim {
  const inner = loop.body.filter((s): s is Loop => s.kind === "loop").map((l) => elementsOf(l));
  const most = inner.reduce<Dim>(
    (m, d) => typeof m === "number" && typeof d === "number" ? Math.max(m, d) : m === 1 ? d : m,
    1,
  );
  return inside ? most : mul(lengthOf(loop.axis.size), most);
}

/** A loop's length; the most that it can be where that differs within a call. */
function lengthOf(size: Dim): Dim {
  return [...freeSymbols(size)].every(isSize) ? size : boundsOf(size)[1];
}

/** The estimate that Phase.work describes. */
function workOf(body: readonly Statement[]): Dim {
  let total: Dim = 0;
  for (const s of body) {
    if (s.kind === "loop") {
      const length = lengthOf(s.axis.size);
      total = add(total, mul(length === Infinity ? 64 : length, workOf(s.body)));
    } else if (s.kind === "masked") total = add(total, workOf(s.body));
    else if (s.kind === "load" || s.kind === "store") total = add(total, 4);
    else if (s.kind === "scalar") total = add(total, SCALAR_OPS[s.op].weight);
  }
  return total;
}

/**
 * The epilogue of a library call: `axes` gives, for each of its loops in order, the part to run as C++ expressions
 * over the arguments (b, m0, m1, c0, c1), or undefined for all of it.
 */
export function printEpilogue(
  kernel: LoopKernel,
  parts: readonly (Range | undefined)[],
  context: KernelContext,
): { readonly body: string; readonly buffers: readonly BufferId[] } {
  const ranges = new Map<Loop, Range>();
  const divide = (body: readonly Statement[], [range, ...rest]: readonly (Range | undefined)[]): void => {
    const loop = body.find((s) => s.kind === "loop");
    if (!loop) return;
    if (range !== undefined) ranges.set(loop, range);
    divide(loop.body, rest);
  };
  const { body } = kernel;
  divide(body, parts);
  return bodyText(context, (out, names) => printer(body, context, { out, names, ranges }).statements(body));
}
