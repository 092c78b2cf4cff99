/**
 * A whole program as C++: one translation unit that exports `dyn_graph(frame)`, and others for the kernels of large
 * programs. Invariant: the text depends on the program alone, not on the machine, so equal programs share a library.
 */
import { InternalError } from "../../../lib/base/errors.ts";
import { TextWriter } from "../../../lib/base/text_writer.ts";
import type { Dim } from "../../../lib/sym/expr.ts";
import type { BufferId, ExternKernel, Kernel, Program, ProgramGuard } from "../../../lib/loops/ir.ts";
import { kernelGroups, originalKernels } from "../../../lib/loops/kernel_groups.ts";
import { KnownBlocks } from "../../../lib/loops/known_blocks.ts";
import { kernelsOfRows } from "../../../lib/loops/moved_kernel.ts";
import { FAR_OUTPUTS, type FrameLayout, frameLayout } from "../frame.ts";
import type { Routine } from "../runtime_library.ts";
import { printBlocks } from "./blocks.ts";
import { type PrintedCall, printSequence } from "./call_sequence.ts";
import { printExtern } from "./extern.ts";
import { type KeptOperand, withRecords } from "./kept_operands.ts";
import { FUNCTION_PRELUDE, ScalarFunctions } from "./functions.ts";
import { type KernelContext, type KernelFunction, printLoopKernel } from "./kernel.ts";
import { printTable } from "./table.ts";
import { memoryType, printIndex } from "./types.ts";

/** A printed program. */
export interface PrintedProgram {
  /** The C++ text. */
  readonly text: string;
  /** The same, with the user's lines as comments. */
  readonly annotated: string;
  /** Library routines whose addresses the frame holds, in order. */
  readonly routines: readonly Routine[];
  /**
   * Units with most of the kernels of a large program, compiled in parallel. Each exports `dyn_entry`, whose address
   * follows those of the routines in the frame.
   */
  readonly parts: readonly string[];
  /** For each call, the kernels of the given program that it runs, or runs parts of. */
  readonly calls: readonly (readonly number[])[];
  /** Operands whose records follow the inputs in the frame. */
  readonly keeps: readonly KeptOperand[];
}

/** Estimated work from which on waking a team pays. */
export const TEAM_WORK = 400000;

const PRELUDE = String.raw`#define INL static inline __attribute__((always_inline))
#define OUTL static __attribute__((noinline))
#define UNROLL _Pragma("GCC unroll 64")
#if defined(__AVX512F__)
enum { VECTOR_BYTES = 64 };
#elif defined(__AVX__)
enum { VECTOR_BYTES = 32 };
#else
enum { VECTOR_BYTES = 16 };
#endif
typedef void (*Kernel)(void* const* a, const long* s, long t, long nt);
// by bits, because the compiler folds x != x into selections that then do not vectorise
INL bool is_nan(float x) { int b; __builtin_memcpy(&b, &x, 4); return (b & 0x7fffffff) > 0x7f800000; }
INL bool is_nan(double x) { long b; __builtin_memcpy(&b, &x, 8); return (b & 0x7fffffffffffffffL) > 0x7ff0000000000000L; }
// compared first, because the compiler folds conversions of constants out of range to other values than the machine
INL long to_long(float x) { return __builtin_fabsf(x) < 0x1p63f ? (long) x : (long) (1UL << 63); }
INL long to_long(double x) { return __builtin_fabs(x) < 0x1p63 ? (long) x : (long) (1UL << 63); }
INL int mul_high(int a, int b) { return (int) ((unsigned long) (unsigned) a * (unsigned) b >> 32); }
INL int float_bits(float x) { int r; __builtin_memcpy(&r, &x, 4); return r; }
INL long float_bits(double x) { long r; __builtin_memcpy(&r, &x, 8); return r; }
INL float bits_float(int x) { float r; __builtin_memcpy(&r, &x, 4); return r; }
INL double bits_float(long x) { double r; __builtin_memcpy(&r, &x, 8); return r; }
// selections without branches: the compiler would move calls into them, which it then does not vectorise
INL int pick(bool c, int a, int b) { const int m = -(int) c; return (a & m) | (b & ~m); }
INL long pick(bool c, long a, long b) { const long m = -(long) c; return (a & m) | (b & ~m); }
INL bool pick(bool c, bool a, bool b) { return (c & a) | (!c & b); }
INL float pick(bool c, float a, float b) { return bits_float(pick(c, float_bits(a), float_bits(b))); }
INL double pick(bool c, double a, double b) { return bits_float(pick(c, float_bits(a), float_bits(b))); }
// extremes without branches, for the last elements of rows too: NaN if either is, the first of equal operands
template <class T> INL T least(T a, T b) { const T m = b < a ? b : a; return pick(is_nan(b), b, m); }
template <class T> INL T greatest(T a, T b) { const T m = b > a ? b : a; return pick(is_nan(b), b, m); }
// division by zero gives zero; the least integer divided by -1 wraps; shifts beyond the width leave the sign
template <class T> INL T trunc_div(T a, T b) {
  const T d = b == (T) 0 ? (T) 1 : b;
  return b == (T) 0 ? (T) 0 : (T) -1 < 0 && d == (T) -1 ? (T) (0 - (unsigned long) a) : (T) (a / d);
}
template <class T> INL T shl(T a, T b) { const int w = 8 * sizeof(T); return b >= 0 && b < w ? (T) ((unsigned long) a << (b & (w - 1))) : (T) 0; }
template <class T> INL T shr(T a, T b) { const int w = 8 * sizeof(T); return b >= 0 && b < w ? (T) (a >> (b & (w - 1))) : (T) (a < 0 ? -1 : 0); }
INL long index_div(long a, long b) { const long q = a / b, r = a % b; return r != 0 && (r < 0) != (b < 0) ? q - 1 : q; }
INL long index_min(long a, long b) { return a < b ? a : b; }
INL long index_max(long a, long b) { return a > b ? a : b; }
INL long index_mod(long a, long b) { const long r = a % b; return r != 0 && (r < 0) != (b < 0) ? r + b : r; }
#ifdef _OPENMP
extern "C" int omp_get_thread_num();
extern "C" int omp_get_num_threads();
extern "C" double omp_get_wtime();
OUTL double seconds() { return omp_get_wtime(); }
#else
// of the only thread
extern "C" long clock();
OUTL double seconds() { return (double) clock() / 1e6; }
#endif
// Runs a kernel on a team if the work pays for waking it.
OUTL void run(Kernel k, void* const* a, const long* s, long threads, double work) {
#ifdef _OPENMP
  if (threads > 1 && work > ${TEAM_WORK}.0) {
    #pragma omp parallel num_threads(threads)
    k(a, s, omp_get_thread_num(), omp_get_num_threads());
    return;
  }
#endif
  k(a, s, 0, 1);
}
`;

/** Prints a program. */
export function printProgram(given: Program): PrintedProgram {
  const { program, keeps, records } = withRecords(given);
  const functions = new ScalarFunctions(), folds = new Set<string>(), declarations = new Set<string>();
  const context: KernelContext = {
    buffers: program.buffers,
    sizeIndex(symbol) {
      const at = program.sizes.indexOf(symbol);
      if (at < 0) throw new InternalError(`Expected a size of the program but found ${symbol}`);
      return at;
    },
    need: functions.need,
    fold: (text) => void folds.add(text),
    declare: (text) => void declarations.add(text),
    equivalents: new Map(),
  };
  const kernels = new Map<string, string>(), printedBlocks = new KnownBlocks<KernelFunction>();
  const kernelOf = (signature: string, body: string): string => {
    const key = signature + body;
    let name = kernels.get(key);
    if (name === undefined) kernels.set(key, name = `k${kernels.size}`);
    return name;
  };
  const routines: Routine[] = [];
  const routine = (name: Routine): string => {
    if (!routines.includes(name)) routines.push(name);
    return `routine[${routines.indexOf(name)}]`;
  };
  const groups = kernelGroups(program.kernels);
  const isTable = ([kernel]: readonly Kernel[]) => kernel?.kind === "loops" && kernel.table !== undefined;
  const isLong = program.kernels.length > LONG || groups.some(isTable);
  const sizeText = (d: Dim): string => printIndex(d, (symbol) => `s[${context.sizeIndex(symbol)}]`);
  // Not in long programs, where a single result takes a small part of the time
  let usesFar = false;
  const farText = (id: BufferId): string => {
    usesFar = true;
    const at = program.outputs.indexOf(id);
    return isLong || at < 0 || at >= FAR_OUTPUTS ? "0L" : `(far >> ${at} & 1)`;
  };
  type NameOf = (id: BufferId) => string;
  const teamKernel = (made: KernelFunction, lines: TextWriter, nameOf: NameOf): void => {
    const name = kernelOf(`${KERNEL}, const long* s, long t, long nt)`, made.body);
    const table = [
      ...made.buffers.map(nameOf),
      ...made.routines.map((each) => `(void*) ${routine(each)}`),
      ...made.far.map((id) => `(void*) ${farText(id)}`),
    ];
    const effort = workText(made.work, sizeText), a = table.join(", ") || "0";
    lines.line(`{ void* const a[] = {${a}}; run(${name}, a, s, threads, ${effort}); }`);
  };
  const calls = groups.map((group): PrintedCall => {
    const table = printTable(group, context);
    if (table) {
      const { body, buffers, lengths, work } = table;
      const name = kernelOf(`${KERNEL}, const long* s, long t, long nt)`, body);
      return {
        origins: originsOf(group),
        text: [
          `static const long n[] = {${lengths.join(", ")}};`,
          `run(${name}, (void* const*) p, n, threads, ${workText(work, sizeText)});`,
        ].join("\n"),
        buffers,
        untyped: true,
      };
    }
    const lines = new TextWriter(), buffers: BufferId[] = [], [kernel] = group;
    const nameOf = (id: BufferId): string => {
      if (!buffers.includes(id)) buffers.push(id);
      return `b${isLong ? buffers.indexOf(id) : id}`;
    };
    if (kernel?.blocks) {
      const { blocks } = kernel;
      const { made, place } = printedBlocks.of(group, blocks, {
        buffers: context.buffers,
        make: () => printBlocks(group, blocks, context),
      });
      const { body, routines, buffers, far } = made;
      const own = { buffers: buffers.map(place), far: far.map(place), work: blocks.work };
      teamKernel({ body, routines, ...own }, lines, nameOf);
    } else {
      for (const each of group) {
        if (each.kind === "extern") externKernel(each, lines, nameOf);
        else {
          for (const run of kernelsOfRows(each)) teamKernel(printLoopKernel(run, context), lines, nameOf);
        }
      }
    }
    return { origins: originsOf(group), text: lines.toString(), buffers };
  });
  function externKernel(kernel: ExternKernel, lines: TextWriter, nameOf: NameOf): void {
    const record = records.get(kernel);
    printExtern(kernel, {
      context,
      calls: lines,
      buffer: nameOf,
      record: record === undefined ? "0" : nameOf(record),
      size: sizeText,
      nest: (parameters, body) => kernelOf(`OUTL void (void* context, ${parameters})`, body),
      routine,
      declare: (text) => void declarations.add(text),
    });
  }
  const shared = [PRELUDE, FUNCTION_PRELUDE, ...declarations, functions.text, ...folds];
  const bodies = [...kernels].map(([key, name]) => ({
    name,
    kernel: key.startsWith(KERNEL),
    text: functionText(key, name),
  }));
  const parts = partsOf(bodies.filter((f) => f.kernel));
  const inParts = new Set(parts.flat());
  const layout = frameLayout(
    { inputs: program.inputs.length, outputs: program.outputs.length, sizes: program.sizes.length },
    routines.length + parts.length,
  );
  const inPart = new Map(
    parts.flatMap((part, p) =>
      part.map((f, i) => [f.name, `((const Kernel*) routine[${routines.length + p}])[${i}]`] as const)
    ),
  );
  const { guard } = program;
  const entry = entryText(program, layout, {
    calls,
    guard: guard && { ...guard, after: kernelGroups(program.kernels.slice(0, guard.after)).length },
    routines: routines.length + parts.length,
    kernels: inPart,
    size: sizeText,
    isLong,
    usesFar: usesFar && !isLong,
  });
  const annotated = [...shared, ...bodies.filter((f) => !inParts.has(f)).map((f) => f.text), entry].join(
    "\n",
  );
  const text = annotated.split("\n").filter((line) => !line.trimStart().startsWith(ORIGIN)).join("\n");
  const partTexts = parts.map((part) =>
    [...shared, ...part.map((f) => f.text), partEntry(part.map((f) => f.name))].join("\n")
  );
  return {
    text,
    annotated: [...partTexts.map((t) => t.slice(t.indexOf(KERNEL))), annotated].join("\n"),
    routines,
    parts: partTexts,
    calls: originalKernels(groups),
    keeps,
  };
}

interface PrintedFunction {
  readonly name: string;
  readonly kernel: boolean;
  readonly text: string;
}

/** Number of calls from which on a program's calls are a table. */
const LONG = 48;
/** The start of every kernel function up to its name. */
const KERNEL = "OUTL void (void* const* a";
/** Number of characters of kernels from which on a program is cut into parts, and of each part. */
const LARGE = 40000, PART = 20000;

function functionText(key: string, name: string): string {
  const at = key.indexOf(")");
  return `${key.slice(0, at + 1).replace("void (", `void ${name}(`)} {\n${key.slice(at + 1)}}\n`;
}

/** The kernels of a large program in parts of about equal length; none for a small one. */
function partsOf(kernels: readonly PrintedFunction[]): PrintedFunction[][] {
  const total = kernels.reduce((sum, f) => sum + f.text.length, 0);
  if (total < LARGE) return [];
  const parts: PrintedFunction[][] = [];
  let length = Infinity;
  for (const f of kernels) {
    if (length >= PART) {
      parts.push([]);
      length = 0;
    }
    parts.at(-1)?.push(f);
    length += f.text.length;
  }
  return parts;
}

function partEntry(names: readonly string[]): string {
  return `static const Kernel kernels[] = {${names.join(", ")}};
extern "C" __attribute__((visibility("default"))) const Kernel* dyn_entry() { return kernels; }
`;
}

const ORIGIN = "// from ";

/** The user's lines that kernels compute, as comments. */
function originsOf(kernels: readonly Kernel[]): readonly string[] {
  const origins = new Set(kernels.flatMap((each) => each.origins));
  return [...origins].map((origin) => `${ORIGIN}${origin.replaceAll("\n", " ")}`);
}

function workText(work: Dim, size: (d: Dim) => string): string {
  return typeof work === "number" ? `${Math.min(work, 1e15)}.0` : `(double) (${size(work)})`;
}

interface EntryParts {
  readonly calls: readonly PrintedCall[];
  /** The guard, which counts the calls before its decision. */
  readonly guard: ProgramGuard | undefined;
  readonly routines: number;
  /** Definitions of the kernels that are printed in parts, by name. */
  readonly kernels: ReadonlyMap<string, string>;
  readonly size: (d: Dim) => string;
  readonly isLong: boolean;
  /** Whether any call depends on which outputs are far from the caches. */
  readonly usesFar: boolean;
}

function entryText(program: Program, layout: FrameLayout, entry: EntryParts): string {
  const { calls, guard, routines, kernels, size, isLong } = entry, { buffers } = program;
  const placeOf = (id: BufferId): number | null => {
    const { role: { kind } = { kind: "temporary" } } = buffers[id] ?? {};
    if (kind === "temporary" || kind === "local" || kind === "window") return null;
    return kind === "input"
      ? layout.inputs + program.inputs.indexOf(id)
      : layout.outputs + program.outputs.indexOf(id);
  };
  const sequence = isLong ? printSequence({ calls, buffers, guard, kernels, placeOf, size }) : null;
  const out = new TextWriter();
  const address = (at: number): string => `(char*) (unsigned long) frame[${at}]`;
  out.block('extern "C" __attribute__((visibility("default"))) void dyn_graph(const double* frame) {', () => {
    out.line("const long threads = (long) frame[0];");
    const values = program.sizes.map((_, i) => `(long) frame[${layout.sizes + i}]`);
    out.line(`const long s[] = {${values.join(", ") || "0"}};`);
    if (routines > 0 || sequence) {
      const all = Array.from({ length: routines }, (_, i) => address(layout.routines + i));
      out.line(`char* const routine[] = {${all.join(", ") || "0"}};`);
    }
    if (!sequence) {
      for (const [name, definition] of kernels) out.line(`const Kernel ${name} = ${definition};`);
    }
    out.line(`char* const arena = ${address(layout.arena)};`);
    out.line(`double* const times = (double*) ${address(layout.times)};`);
    out.line("if (times) times[0] = seconds();");
    if (sequence) return;
    buffers.forEach(({ role, dtype }, id) => {
      if (role.kind === "local") return;
      const type = memoryType(dtype), place = placeOf(id);
      if (role.kind === "window") {
        return out.line(`${type}* const b${id} = b${role.of} + ${role.from};`);
      }
      const at = place !== null
        ? address(place)
        : `arena + (${size(role.kind === "temporary" ? role.offset : 0)})`;
      out.line(`${type}* const b${id} = (${type}*) (${at});`);
    });
    if (entry.usesFar) out.line(`const long far = (long) frame[${layout.far}];`);
    out.line("(void) threads, (void) s, (void) arena;");
  }, "");
  const head = out.toString().trimEnd();
  if (sequence) return `${sequence.before}${head}\n${sequence.statements}}\n`;
  const lines = new TextWriter();
  lines.indent(() => {
    for (const [at, { origins, text }] of calls.entries()) {
      if (guard?.after === at) lines.line(`if (*b${guard.flag}) return;`);
      for (const origin of origins) lines.line(origin);
      lines.line(text.trimEnd());
      lines.line(`if (times) times[${at + 1}] = seconds();`);
    }
  });
  return `${head}\n${lines.toString()}}\n`;
}
