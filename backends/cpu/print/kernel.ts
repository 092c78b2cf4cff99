/**
 * One loop kernel as a C++ function that a team of threads runs together.
 */
import { TextWriter } from "../../../lib/base/text_writer.ts";
import { InternalError } from "../../../lib/base/errors.ts";
import { add, type Dim, mul, sub, type Sym, symbol } from "../../../lib/sym/expr.ts";
import type {
  BufferDecl,
  BufferId,
  Loop,
  LoopKernel,
  Prologue,
  Statement,
  Team,
} from "../../../lib/loops/ir.ts";
import { mapStatements } from "../../../lib/loops/map_statements.ts";
import { bufferMapping, type CanonicalForm, canonicalFormOf } from "../../../lib/loops/canonical_form.ts";
import { valueTypes } from "../../../lib/loops/value_types.ts";
import type { Routine } from "../runtime_library.ts";
import type { KernelNames, Range } from "./names.ts";
import { NestPrinter } from "./nest.ts";
import { STREAM } from "./lanes.ts";
import type { Need } from "./scalar.ts";
import { memoryType, printIndex } from "./types.ts";

/** Context shared by all kernels of a program. */
export interface KernelContext {
  readonly buffers: readonly BufferDecl[];
  /** Index of a size in the table of sizes. */
  sizeIndex(symbol: Sym): number;
  readonly need: Need;
  fold(text: string): void;
  /** Adds a declaration at the top. */
  declare(text: string): void;
  /** Functions of the first of several equivalent statements, by canonical form and how they are printed. */
  readonly equivalents: Map<object, Map<string, FirstFunction>>;
}

type FunctionText = Omit<KernelFunction, "work">;

/** The function of the first of several equivalent nests. */
interface FirstFunction {
  readonly canonical: CanonicalForm;
  readonly text: FunctionText;
}

/** The function of statements, printed once for equivalent ones; `how`: everything else that its text depends on. */
function cachedFunction(
  body: readonly Statement[],
  how: string,
  { context, print }: { readonly context: KernelContext; readonly print: () => FunctionText },
): FunctionText {
  const canonical = canonicalFormOf(body);
  if (!canonical) return print();
  const { equivalents, buffers } = context,
    known = equivalents.get(canonical.kind) ?? new Map<string, FirstFunction>();
  equivalents.set(canonical.kind, known);
  const key = `${how} ${canonical.buffers.map((id) => isLocal(buffers[id])).join()}`, first = known.get(key);
  if (first) {
    const { text } = first, place = bufferMapping(first.canonical, canonical, (id) => id);
    return { ...text, buffers: text.buffers.map(place), far: text.far.map(place) };
  }
  const text = print();
  known.set(key, { canonical, text });
  return text;
}

/** A function to be run by a team. */
export interface KernelFunction {
  /** The body, without signature; equal bodies may share a function. */
  readonly body: string;
  /** Buffers in the table of addresses, in order. */
  readonly buffers: readonly BufferId[];
  /** Routines in the table, after the buffers. */
  readonly routines: readonly Routine[];
  /** After these, for each of these buffers, whether the caches have lost it. */
  readonly far: readonly BufferId[];
  /** As in LoopKernel; 0: one thread. */
  readonly work: Dim;
}

/** A loop kernel as a function; `body`: its statements, if they have to work for any length. */
export function printLoopKernel(
  { body: own, work = 0, team }: LoopKernel,
  context: KernelContext,
  body: readonly Statement[] = own,
): KernelFunction {
  const print = () =>
    bodyText(context, (out, names) => printer(body, context, { out, names }).statements(body));
  const printed = cachedFunction(own, body === own ? "" : "any length", { context, print });
  return { ...printed, work: onTeam(work, team) };
}

/** The work of a kernel on the chosen team. A kernel without work runs serially in any case. */
function onTeam(work: Dim, team: Team | undefined): Dim {
  if (team === undefined || work === 0) return work;
  return team === "one" ? 0 : 1e15;
}

/** A zero that is opaque to the compiler. */
const NOTHING = "nothing";

/** The names of a function's parameters. */
interface Parameters {
  readonly buffers: ReadonlyMap<BufferId, string>;
  readonly counters: ReadonlyMap<Sym, string>;
}

const NONE: Parameters = { buffers: new Map(), counters: new Map() };

/** Prints a function's body and the declarations that it refers to. */
export function bodyText(
  context: KernelContext,
  print: (out: TextWriter, names: KernelNames) => void,
  given: Parameters = NONE,
): Omit<KernelFunction, "work"> {
  const buffers: BufferId[] = [],
    locals: BufferId[] = [],
    routines: Routine[] = [],
    far: BufferId[] = [],
    sizes = new Set<number>();
  const placeIn = <T>(list: T[], each: T): number => {
    const at = list.indexOf(each);
    return at < 0 ? list.push(each) - 1 : at;
  };
  let usesNothing = false;
  const names: KernelNames = {
    buffer(id) {
      const parameter = given.buffers.get(id);
      if (parameter !== undefined) return parameter;
      return isLocal(context.buffers[id]) ? `l${placeIn(locals, id)}` : `p${placeIn(buffers, id)}`;
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
    routine: (name) => `r${placeIn(routines, name)}`,
    fold: (text) => context.fold(text),
    far(id) {
      context.declare(STREAM);
      return `f${placeIn(far, id)}`;
    },
  };
  const out = new TextWriter();
  out.indent(() => {
    print(out, names);
    if (far.length > 0) out.line(`if (${far.map((_, i) => `f${i}`).join(" || ")}) streamed();`);
  });
  const typeOf = (id: BufferId) => memoryType(context.buffers[id]?.dtype ?? "float32");
  const localText = (name: string, { slot, type, length }: Local): string => {
    if (typeof length === "number") return `${type} ${name}[${length}] ${ALIGNED};`;
    context.declare(LOCAL_MEMORY);
    const count = printIndex(length, (symbol) => `s[${context.sizeIndex(symbol)}]`);
    return `${type}* const ${name} = (${type}*) local_memory<${slot}>((${count}) * sizeof(${type}));`;
  };
  const declarations = [
    ...buffers.map((id, i) => `  ${typeOf(id)}* const p${i} = (${typeOf(id)}*) a[${i}];`),
    ...routines.map((_, i) => `  void* const r${i} = a[${buffers.length + i}];`),
    ...far.map((_, i) => `  const bool f${i} = a[${buffers.length + routines.length + i}];`),
    ...locals.map((id, i) =>
      `  ${localText(`l${i}`, { slot: i, type: typeOf(id), length: context.buffers[id]?.length ?? 0 })}`
    ),
  ];
  for (const at of [...sizes].sort((x, y) => x - y)) declarations.push(`  const long s${at} = s[${at}];`);
  if (usesNothing) declarations.push(`  long ${NOTHING} = 0; __asm__("" : "+r"(${NOTHING}));`);
  return { body: [...declarations, out.toString()].join("\n"), buffers, routines, far };
}

interface Local {
  /** Index among the local buffers of its function. */
  readonly slot: number;
  readonly type: string;
  readonly length: Dim;
}

/**
 * Local buffers with lengths known in the call: memory is reused between calls, since kernels do not call each other.
 */
const LOCAL_MEMORY = String.raw`extern "C" void* aligned_alloc(unsigned long, unsigned long);
extern "C" void free(void*);
template <int SLOT> OUTL void* local_memory(unsigned long bytes) {
  static __thread void* at;
  static __thread unsigned long kept;
  if (kept < bytes) {
    free(at);
    kept = (bytes + 65535) & ~65535UL;
    at = aligned_alloc(4096, kept);
  }
  return at;
}`;

const ALIGNED = "__attribute__((aligned(64)))";

const isLocal = (buffer: BufferDecl | undefined): boolean => buffer?.role.kind === "local";

/** Prints statements of a kernel. */
export function printer(
  body: readonly Statement[],
  context: KernelContext,
  { out, names, ranges }: { out: TextWriter; names: KernelNames; ranges?: ReadonlyMap<Loop, Range> },
): NestPrinter {
  return new NestPrinter(out, context.buffers, names, ranges).types(valueTypes(body));
}

/** The loops of a nest around a call, from the outermost. */
function loopsOf(body: readonly Statement[]): readonly Loop[] {
  const loop = body.find((s) => s.kind === "loop");
  return loop ? [loop, ...loopsOf(loop.body)] : [];
}

/**
 * The ranges of a nest's loops, in order, as C++ expressions over the arguments of its function; undefined: the whole
 * loop.
 */
export type Parts = readonly (Range | undefined)[];

/** The function of a nest around a library call. */
export type NestFunction = Pick<KernelFunction, "body" | "buffers">;

/** The epilogue of a library call, over the arguments (b, m0, m1, c0, c1). */
export function printEpilogue({ body }: LoopKernel, parts: Parts, context: KernelContext): NestFunction {
  const print = () => nestFunction(body, parts, { context, given: NONE });
  return cachedFunction(body, JSON.stringify(parts), { context, print });
}

function nestFunction(
  body: readonly Statement[],
  parts: Parts,
  { context, given }: { readonly context: KernelContext; readonly given: Parameters },
): FunctionText {
  const ranges = new Map<Loop, Range>();
  loopsOf(body).forEach((loop, d) => {
    const range = parts[d];
    if (range !== undefined) ranges.set(loop, range);
  });
  const print = (out: TextWriter, names: KernelNames) => {
    const made = printer(body, context, { out, names, ranges });
    for (const [symbol, name] of given.counters) made.nameAxis(symbol, name);
    made.statements(body);
  };
  return bodyText(context, print, given);
}

/**
 * A prologue of a library call, over the arguments (b, r0, r1, c0, c1, to, ld): it writes rows and columns of the
 * operand, in the order of its loops, to `to`, whose rows are `ld` elements apart.
 */
export function printPrologue({ nest }: Prologue, operand: BufferId, context: KernelContext): NestFunction {
  const loops = loopsOf(nest.body), [row, column] = loops.slice(-2).map(({ axis }) => axis.symbol);
  const parts: Parts = loops.length > 2 ? [{ from: "b", to: "b + 1" }, ROWS, COLUMNS] : [ROWS, COLUMNS];
  const parameter = (name: string): Sym => symbol(name, { kind: "axis" }, [0, 2 ** 31]);
  const [r0, c0, ld] = ["r0", "c0", "ld"].map(parameter);
  if (!row || !column || !r0 || !c0 || !ld) {
    throw new InternalError("Expected rows and columns of an operand");
  }
  const place = add(mul(sub(row, r0), ld), sub(column, c0));
  const moved = mapStatements(nest.body, (s) => s.kind === "store" ? { ...s, index: place } : s);
  const type = memoryType(context.buffers[operand]?.dtype ?? "float32");
  const given: Parameters = {
    buffers: new Map([[operand, `((${type}*) to)`]]),
    counters: new Map([[r0, "r0"], [c0, "c0"], [ld, "ld"]]),
  };
  return nestFunction(moved, parts, { context, given });
}

const ROWS: Range = { from: "r0", to: "r1" }, COLUMNS: Range = { from: "c0", to: "c1" };
