/**
 * Calls of a region: the kernels of one program, compiled once, are scheduled over the buffers of each call. Invariant:
 * a region's temporaries are buffers of the calling program, which lays them out.
 */
import { InternalError } from "../base/errors.ts";
import type { BufferId, Program } from "../loops/ir.ts";
import { usesOf } from "../loops/uses.ts";
import type { BufferOperand } from "../loops/record.ts";
import { add } from "../sym/expr.ts";
import type { CompiledGraph, CompiledOutput } from "./compiled_graph.ts";
import type { RegionWork } from "./computation.ts";
import type { Place } from "../loops/moved_buffers.ts";
import type { Label, Storage } from "./tensors.ts";
import type { WorkPlan } from "./work_plan.ts";

/** A call of a region. */
interface RegionCall {
  /** The operands of the region's placeholders. */
  readonly inputs: readonly (BufferOperand | undefined)[];
  readonly label: Label;
  /** Memory for results that need none of their own, by result; see overwriting.ts. */
  readonly into: ReadonlyMap<number, BufferOperand>;
  /** Its position in the order of execution; by default that of the call. */
  readonly order?: number;
}

/** Schedules a call and returns the results. */
export function callRegion(
  plan: WorkPlan,
  { program, inputs: placeholders, outputBuffers, outputs }: CompiledGraph,
  { inputs, label, into, order }: RegionCall,
): BufferOperand[] {
  const internal = (name: string, dtype: Storage["dtype"], length: Storage["length"]): BufferId =>
    plan.storage(`${label.target}_${name}`, dtype, { length, role: { kind: "internal" } }).id;
  const isWhole = into.size === 0 && program.guard === undefined &&
    program.buffers.every(({ role }) => role.kind !== "input" || !role.written) &&
    inputs.every((operand) => operand === undefined || operand.offset === 0);
  const places = program.buffers.map(({ name, dtype, length, role }, id): Place | undefined => {
    switch (role.kind) {
      case "input": {
        const operand = inputs[placeholders[program.inputs.indexOf(id)] ?? -1];
        if (!operand) throw new InternalError(`Expected memory for ${name} of ${label.target}`);
        return { buffer: operand.buffer, offset: operand.offset };
      }
      case "output": {
        const at = program.outputs.indexOf(id), made = outputBuffers[at];
        const target = into.get(outputs.findIndex((each) => isOutput(each, at)));
        if (target) return { buffer: target.buffer, offset: 0 };
        if (!made) throw new InternalError(`Expected an output ${name} of ${label.target}`);
        return { buffer: internal(name, made.dtype, made.length), offset: 0 };
      }
      case "temporary":
      case "local":
        return isWhole ? undefined : { buffer: internal(name, dtype, length), offset: 0 };
      case "window":
        throw new InternalError(`Expected ${label.target} before its kernels are given windows`);
      default:
        return role satisfies never;
    }
  });
  const placeAt = (id: BufferId | undefined): Place => {
    const place = id === undefined ? undefined : places[id];
    if (!place) throw new InternalError(`Expected a buffer ${id} of ${label.target}`);
    return place;
  };
  const results = outputs.map((output) => resultOf(output, program, placeAt));
  for (const view of results) plan.made.add(view);
  const [target] = results;
  if (!target) throw new InternalError(`Expected results of ${label.target}`);
  const buffersOf = (ids: Iterable<BufferId>) => [...new Set([...ids].map((id) => placeAt(id).buffer))];
  const common = { kind: "region", program, places, reads: buffersOf(program.inputs) } as const;
  const work: RegionWork = isWhole
    ? {
      ...common,
      writes: buffersOf(program.outputs),
      arena: program.arenaBytes === 0 ? null : internal("arena", "uint8", program.arenaBytes),
    }
    : { ...common, writes: buffersOf(program.kernels.flatMap((kernel) => [...usesOf(kernel).written])) };
  plan.job(work, target, { sizes: [], over: [], label, ...(order === undefined ? {} : { order }) });
  return results;
}

/** Returns whether a result is an entire output of the program. */
export function isOutput(result: CompiledOutput, at: number): boolean {
  return result.kind === "tensor" && result.of === "output" && result.index === at;
}

function resultOf(
  output: CompiledOutput,
  program: Program,
  placeAt: (id: BufferId | undefined) => Place,
): BufferOperand {
  if (output.kind !== "tensor") {
    throw new InternalError(`Expected tensors as the results of a region but found a ${output.kind}`);
  }
  const { of, index, shape, strides, offset, dtype } = output;
  const { buffer, offset: start } = placeAt((of === "output" ? program.outputs : program.inputs)[index]);
  return { buffer, offset: add(start, offset), shape, strides, dtype };
}
