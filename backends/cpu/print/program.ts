/**
 * A whole program as C++: one translation unit that exports `dyn_graph(frame)`, and others for the kernels of large
 * programs. Invariant: the text depends on the program alone, not on the machine, so equal programs share a library.
 */
import { TextWriter } from "../../../lib/base/text_writer.ts";
import type { Dim } from "../../../lib/sym/expr.ts";
import type { BufferId, Kernel, Program, ProgramGuard } from "../../../lib/loops/ir.ts";
import { kernelGroups, originalKernels } from "../../../lib/loops/kernel_groups.ts";
import { frameLayout } from "../frame.ts";
import type { Routine } from "../runtime_library.ts";
import { type PrintedCall, printSequence } from "./call_sequence.ts";
import { CallPrinter, KERNEL, ORIGIN, type PrintedFunction } from "./calls.ts";
import { FUNCTION_PRELUDE } from "./functions.ts";
import { type KeptOperand, withRecords } from "./kept_operands.ts";
import { PRELUDE } from "./prelude.ts";
import { memoryType } from "./types.ts";

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

/** Prints a program. */
export function printProgram(given: Program): PrintedProgram {
  const { program, keeps, records } = withRecords(given);
  const groups = kernelGroups(program.kernels);
  const isTable = ([kernel]: readonly Kernel[]) => kernel?.kind === "loops" && kernel.table !== undefined;
  const isLong = program.kernels.length > LONG || groups.some(isTable);
  const printer = new CallPrinter(program, { records, isLong });
  const calls = groups.map((group) => printer.print(group));
  const { functions, routines } = printer, shared = [PRELUDE, FUNCTION_PRELUDE, ...printer.shared];
  const parts = partsOf(functions.filter((f) => f.kernel)), inParts = new Set(parts.flat());
  const kernels = new Map(
    parts.flatMap((part, p) =>
      part.map((f, i) => [f.name, `((const Kernel*) routine[${routines.length + p}])[${i}]`] as const)
    ),
  );
  const { guard } = program;
  const entry = entryText(program, {
    calls,
    guard: guard && { ...guard, after: kernelGroups(program.kernels.slice(0, guard.after)).length },
    routines: routines.length + parts.length,
    kernels,
    size: printer.size,
    isLong,
    usesFar: printer.usesFar && !isLong,
  });
  const own = functions.filter((f) => !inParts.has(f)).map((f) => f.text);
  const annotated = [...shared, ...own, entry].join("\n");
  const partTexts = parts.map((part) =>
    [...shared, ...part.map((f) => f.text), partEntry(part.map((f) => f.name))].join("\n")
  );
  return {
    text: annotated.split("\n").filter((line) => !line.trimStart().startsWith(ORIGIN)).join("\n"),
    annotated: [...partTexts.map((t) => t.slice(t.indexOf(KERNEL))), annotated].join("\n"),
    routines,
    parts: partTexts,
    calls: originalKernels(groups),
    keeps,
  };
}

/** Number of calls from which on a program's calls are a table. */
const LONG = 48;
/** Number of characters of kernels from which on a program is cut into parts, and of each part. */
const LARGE = 40000, PART = 20000;

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

function entryText(program: Program, entry: EntryParts): string {
  const { inputs, outputs, sizes } = program;
  const layout = frameLayout(
    { inputs: inputs.length, outputs: outputs.length, sizes: sizes.length },
    entry.routines,
  );
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
