/**
 * The calls of a long program as data: one function for all calls that differ only in their buffers, and a table of
 * functions and buffers, so that compile time depends on the number of distinct calls, not on the length of the
 * program. Each call numbers its buffers from 0. Invariant: calls run in order, as if they were statements of the
 * entry.
 */
import { itemSize } from "../../../lib/base/dtype.ts";
import { InternalError } from "../../../lib/base/errors.ts";
import { TextWriter } from "../../../lib/base/text_writer.ts";
import type { BufferDecl, BufferId, ProgramGuard } from "../../../lib/loops/ir.ts";
import type { Dim } from "../../../lib/sym/expr.ts";
import { memoryType } from "./types.ts";

/** One printed call. */
export interface PrintedCall {
  /** The user's lines, as comments. */
  readonly origins: readonly string[];
  /** Statements over `b0`, `b1`, …, `s`, `threads` and `routine`. */
  readonly text: string;
  /** The buffers behind those names. */
  readonly buffers: readonly BufferId[];
  /** Whether it takes them as the table `p` of their addresses, in order, rather than by name. */
  readonly untyped?: boolean;
}

/** The contents of a program's tables. */
export interface Sequence {
  readonly calls: readonly PrintedCall[];
  readonly buffers: readonly BufferDecl[];
  readonly guard: ProgramGuard | undefined;
  /** Definitions of kernels that are printed in parts, by name. */
  readonly kernels: ReadonlyMap<string, string>;
  /** Returns the slot of a buffer in the frame; null: it is in the arena. */
  readonly placeOf: (id: BufferId) => number | null;
  readonly size: (d: Dim) => string;
}

const PRELUDE = `typedef void (*Step)(char* const* p, const long* s, long threads, char* const* routine);
struct Call { Step step; int count; };
`;

/** Functions and tables that precede the entry, and its statements. */
export function printSequence(sequence: Sequence): { readonly before: string; readonly statements: string } {
  const { calls, buffers, guard, placeOf, size } = sequence;
  const steps = new Map<string, { readonly name: string; readonly body: string }>(),
    before = new TextWriter(),
    rows = new TextWriter();
  const operands: number[] = [];
  for (const { origins, text, buffers: used, untyped = false } of calls) {
    const types = untyped ? [] : used.map((id) => memoryType(declared(buffers, id).dtype));
    const key = `${types}\n${text}`;
    const step = steps.get(key) ?? { name: `step${steps.size}`, body: stepBody(types, text, sequence) };
    steps.set(key, step);
    for (const origin of origins) rows.line(origin);
    rows.line(`{${step.name}, ${used.length}},`);
    operands.push(...used);
  }
  before.line(PRELUDE.trimEnd());
  for (const { name, body } of steps.values()) {
    before.block(
      `OUTL void ${name}(char* const* p, const long* s, long threads, char* const* routine) {`,
      () => before.line(body),
    );
  }
  const places = buffers.map(({ role }, id) => {
    const place = placeOf(id);
    if (place !== null) return place;
    return role.kind === "temporary" && typeof role.offset === "number" ? -1 - role.offset : -1;
  });
  const most = Math.max(1, ...calls.map(({ buffers: { length } }) => length));
  before.block("static const Call calls[] = {", () => before.line(rows.toString().trimEnd()), "};");
  before.line(`static const int operands[] = {${operands.join(", ") || "0"}};`);
  before.line(`static const long places[] = {${places.join(", ") || "0"}};`);
  const windows = buffers.flatMap(({ role, dtype }, id) =>
    role.kind === "window" ? [`{${id}, ${role.of}, ${role.from * itemSize(dtype)}}`] : []
  );
  if (windows.length > 0) {
    before.line(`static const struct { int id, of; long from; } windows[] = {${windows.join(", ")}};`);
  }
  before.block(
    "OUTL const int* run_calls(int from, int to, const int* at, char* const* b, const long* s, long threads, char* const* routine, double* times) {",
    () => {
      before.block("for (int c = from; c < to; c++) {", () => {
        before.line(`char* p[${most}];`);
        before.line("for (int i = 0; i < calls[c].count; i++) p[i] = b[*at++];");
        before.line("calls[c].step(p, s, threads, routine);");
        before.line("if (times) times[c + 1] = seconds();");
      });
      before.line("return at;");
    },
  );
  const statements = new TextWriter();
  statements.indent(() => {
    statements.line(`char* b[${Math.max(1, buffers.length)}];`);
    statements.line(
      `for (int i = 0; i < ${buffers.length}; i++) b[i] = places[i] < 0 ? arena + (-1 - places[i]) : (char*) (unsigned long) frame[places[i]];`,
    );
    for (const [id, { role }] of buffers.entries()) {
      if (role.kind !== "temporary" || typeof role.offset === "number") continue;
      statements.line(`b[${id}] = arena + (${size(role.offset)});`);
    }
    if (windows.length > 0) {
      statements.line(
        `for (int i = 0; i < ${windows.length}; i++) b[windows[i].id] = b[windows[i].of] + windows[i].from;`,
      );
    }
    statements.line("const int* at = operands;");
    const run = (from: number, to: number) =>
      statements.line(`at = run_calls(${from}, ${to}, at, b, s, threads, routine, times);`);
    run(0, guard?.after ?? calls.length);
    if (guard) {
      statements.line(
        `if (*(const ${memoryType(declared(buffers, guard.flag).dtype)}*) b[${guard.flag}]) return;`,
      );
      run(guard.after, calls.length);
    }
  });
  return { before: before.toString(), statements: statements.toString() };
}

/** The statements of a step: declarations of its names, then its body. */
function stepBody(types: readonly string[], text: string, { kernels }: Sequence): string {
  const names = new Set(text.match(/\bk\d+\b/g));
  const needed = [...names].flatMap((name) => {
    const definition = kernels.get(name);
    return definition === undefined ? [] : [`const Kernel ${name} = ${definition};`];
  });
  const buffers = types.map((type, i) => `${type}* const b${i} = (${type}*) p[${i}];`);
  return [...needed, ...buffers, text.trimEnd()].join("\n");
}

function declared(buffers: readonly BufferDecl[], id: BufferId): BufferDecl {
  const found = buffers[id];
  if (!found) throw new InternalError(`Expected a buffer b${id} but found none`);
  return found;
}
