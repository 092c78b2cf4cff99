/**
 * One loop kernel as a C++ function that a team of threads runs together. Input: a loop kernel; output: a function body
 * over (a, s, t, nt): table of buffer addresses, sizes, number of this thread, number of threads.
 */
import { TextWriter } from "../../../lib/base/text_writer.ts";
import type { Dim, Sym } from "../../../lib/sym/expr.ts";
import type { BufferDecl, BufferId, Loop, LoopKernel, Statement } from "../../../lib/loops/ir.ts";
import { valueTypes } from "../../../lib/loops/value_types.ts";
import type { KernelNames, Range } from "./names.ts";
import { NestPrinter } from "./nest.ts";
import type { Need } from "./scalar.ts";
import { MEMORY_TYPE } from "./types.ts";

/** What all kernels of a program share. */
export interface KernelContext {
  readonly buffers: readonly BufferDecl[];
  /** Place of a size in the table of sizes. */
  sizeIndex(symbol: Sym): number;
  readonly need: Need;
  fold(text: string): void;
}

/** A function to be run by a team. */
export interface KernelFunction {
  /** The body, without signature; equal bodies may share a function. */
  readonly body: string;
  /** What goes into the table of addresses, in order. */
  readonly buffers: readonly BufferId[];
  /** As LoopKernel has it; 0: one thread. */
  readonly work: Dim;
}

/** A loop kernel as a function. */
export function printLoopKernel({ body, work = 0 }: LoopKernel, context: KernelContext): KernelFunction {
  const printed = bodyText(context, (out, names) => printer(body, context, { out, names }).statements(body));
  return { ...printed, work };
}

/** A zero of which the compiler knows nothing. */
const NOTHING = "nothing";

/** Collects what a function refers to and puts its declarations in front. */
function bodyText(
  context: KernelContext,
  print: (out: TextWriter, names: KernelNames) => void,
): { body: string; buffers: BufferId[] } {
  const buffers: BufferId[] = [], sizes = new Set<number>();
  let usesNothing = false;
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
    nothing() {
      usesNothing = true;
      return NOTHING;
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
  if (usesNothing) declarations.push(`  long ${NOTHING} = 0; __asm__("" : "+r"(${NOTHING}));`);
  return { body: [...declarations, out.toString()].join("\n"), buffers };
}

function printer(
  body: readonly Statement[],
  context: KernelContext,
  { out, names, ranges }: { out: TextWriter; names: KernelNames; ranges?: ReadonlyMap<Loop, Range> },
): NestPrinter {
  return new NestPrinter(out, context.buffers, names, ranges).types(valueTypes(body));
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
