/**
 * Updates of many tensors by one formula, as optimizers compute them, as one unit of scheduling: the program of a
 * region that writes to its inputs runs on rows of them. Invariant: no row touches what another one writes, which
 * graphs with updates promise.
 */
import type { BufferDecl, BufferId, Program } from "../loops/ir.ts";
import { flatForm } from "../loops/flat_form.ts";
import { movedKernel } from "../loops/moved_kernel.ts";
import { arenaOfRows } from "../loops/regions.ts";
import type { BufferOperand } from "../loops/record.ts";
import type { CompiledGraph } from "./compiled_graph.ts";
import type { RowsWork } from "./computation.ts";
import { isOutput } from "./region_call.ts";
import type { Label } from "./tensors.ts";
import type { WorkPlan } from "./work_plan.ts";

/** Bytes of temporaries of a row up to which all rows have theirs at the same time. */
const FEW_BYTES = 1024;

/** A program that writes results into its inputs. */
export interface InPlace {
  readonly program: Program;
  /** The placeholder of each input. */
  readonly inputs: readonly number[];
}

/**
 * A region whose results replace inputs, given by result, as a program that writes to these; null if its kernels are
 * not simple loops of known lengths, or need much memory.
 */
export function inPlace(
  { program, inputs, outputs }: CompiledGraph,
  replaced: readonly number[],
): InPlace | null {
  const { kernels, buffers, sizes, guard, arenaBytes } = program;
  if (sizes.length > 0 || guard || typeof arenaBytes !== "number" || arenaBytes > FEW_BYTES) return null;
  if (kernels.some((kernel) => flatForm(kernel, (id) => buffers[id]?.dtype) === null)) return null;
  const targets = new Map<BufferId, BufferId>();
  for (const [at, output] of program.outputs.entries()) {
    const result = outputs.findIndex((each) => isOutput(each, at));
    const target = program.inputs[inputs.indexOf(replaced[result] ?? -1)];
    if (target === undefined) return null;
    targets.set(output, target);
  }
  const place = (id: BufferId): BufferId => targets.get(id) ?? id;
  const written = new Set(targets.values());
  return {
    inputs,
    program: {
      ...program,
      outputs: [],
      kernels: kernels.map((kernel) => movedKernel(kernel, (id) => ({ buffer: place(id), offset: 0 }))),
      buffers: buffers.map((buffer, id): BufferDecl => {
        if (written.has(id)) return { ...buffer, role: { kind: "input", written: true } };
        return targets.has(id) ? { ...buffer, role: { kind: "temporary", offset: 0 } } : buffer;
      }),
    },
  };
}

/** Schedules the runs of a program on rows of operands, each a whole buffer. */
export function runOnRows(
  plan: WorkPlan,
  { program }: InPlace,
  { rows, label, order }: {
    readonly rows: readonly (readonly BufferOperand[])[];
    readonly label: Label;
    readonly order: number;
  },
): void {
  const role = { kind: "internal" } as const, length = arenaOfRows(program, rows.length);
  const isWritten = program.inputs.map((id) => {
    const { role } = program.buffers[id] ?? {};
    return role?.kind === "input" && role.written;
  });
  const written = rows.flatMap((row) => row.filter((_, at) => isWritten[at])), [target] = written;
  if (!target) return;
  const work: RowsWork = {
    kind: "rows",
    program,
    rows: rows.map((row) => row.map(({ buffer }) => buffer)),
    arena: length === 0 ? null : plan.storage(`${label.target}_arena`, "uint8", { length, role }).id,
    reads: [...new Set(rows.flat().map(({ buffer }) => buffer))],
    writes: written.map(({ buffer }) => buffer),
  };
  plan.job(work, target, { sizes: [], over: [], label, order });
}
