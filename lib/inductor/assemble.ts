/**
 * Assembles kernels into a program: numbers the remaining buffers, lays out temporaries and locates the results.
 * Invariant: a temporary is alive from the first to the last kernel that mentions it.
 */
import { config } from "../base/config.ts";
import { itemSize } from "../base/dtype.ts";
import { InternalError } from "../base/errors.ts";
import type { BufferDecl, BufferId, Kernel, Program, ProgramGuard } from "../loops/ir.ts";
import { cachedAnalysis } from "../loops/canonical_form.ts";
import { allOf, usesOf } from "../loops/uses.ts";
import { type Dim, freeSymbols, mul, type Sym } from "../sym/expr.ts";
import type { CompiledGraph, CompiledOutput } from "./compiled_graph.ts";
import type { OutputValue } from "./lowering.ts";
import { type Lifetime, lifetimesOf, planMemory } from "../loops/memory.ts";
import { measure } from "../loops/metrics.ts";
import { movedKernel } from "../loops/moved_kernel.ts";
import type { Storage } from "./tensors.ts";

/** The parts of a program. */
export interface Parts {
  readonly name: string;
  readonly kernels: readonly Kernel[];
  readonly storages: readonly Storage[];
  readonly outputIds: readonly BufferId[];
  readonly outputs: readonly OutputValue[];
  /** The buffer of the flag that stops the program; see `ProgramGuard`. */
  readonly flag: BufferId | undefined;
}

/** Numbers the buffers that kernels still use, lays out memory and describes the outputs. */
export function assembleProgram(
  { name, kernels, storages, outputIds, outputs, flag }: Parts,
): CompiledGraph {
  const lifetimes = lifetimesOf(kernels);
  const written = new Set(kernels.flatMap((kernel) => [...usesOf(kernel).written]));
  const isOutput = new Set(outputIds);
  const shown = new Set(outputs.flatMap((o) => o.kind === "tensor" ? [o.view.buffer] : []));
  const kept = storages.filter((s) =>
    lifetimes.has(s.id) || isOutput.has(s.id) || (s.role.kind === "input" && shown.has(s.id))
  );
  const temporaries = kept.filter((s) => s.role.kind === "internal" && !isOutput.has(s.id));
  const plan = planMemory(
    temporaries.map((s): Lifetime => ({
      bytes: mul(s.length, itemSize(s.dtype)),
      ...lifetimes.get(s.id) ?? { first: 0, last: kernels.length },
    })),
    config.inductor.memoryPlanning,
  );
  const offsets = new Map(temporaries.map((s, i) => [s.id, plan.offsets[i] ?? 0]));
  const number = new Map(kept.map((s, i) => [s.id, i]));
  const buffers = kept.map((s): BufferDecl => ({
    name: s.name,
    dtype: s.dtype,
    length: s.length,
    role: s.role.kind === "input"
      ? { kind: "input", written: written.has(s.id) }
      : isOutput.has(s.id)
      ? { kind: "output" }
      : { kind: "temporary", offset: offsets.get(s.id) ?? 0 },
  }));
  const inputStorages = kept.filter((s) => s.role.kind === "input");
  const numbered = (id: BufferId): BufferId => {
    const found = number.get(id);
    if (found === undefined) {
      throw new InternalError(`Expected a stored buffer but found ${storages[id]?.name}`);
    }
    return found;
  };
  const final = kernels.map((k) => movedKernel(k, (id) => ({ buffer: numbered(id), offset: 0 })));
  const program: Program = {
    name,
    buffers,
    inputs: inputStorages.map((s) => numbered(s.id)),
    outputs: outputIds.map(numbered),
    sizes: sizesOf(buffers, final, plan.arenaBytes),
    arenaBytes: plan.arenaBytes,
    kernels: final,
    ...(flag === undefined ? {} : { guard: guardOf(numbered(flag), final) }),
  };
  return {
    program,
    inputs: inputStorages.map((s) => s.role.kind === "input" ? s.role.input : -1),
    outputBuffers: outputIds.map((id) => {
      const storage = storages[id];
      if (!storage) throw new InternalError(`Expected an output buffer ${id} but found none`);
      return { length: storage.length, dtype: storage.dtype };
    }),
    outputs: outputs.map((o) => describeOutput(o, { inputStorages, outputIds })),
    metrics: measure(program),
  };
}

/** The guard decides right after its flag is written. */
function guardOf(flag: BufferId, kernels: readonly Kernel[]): ProgramGuard {
  return { flag, after: kernels.findLastIndex((kernel) => usesOf(kernel).written.has(flag)) + 1 };
}

function describeOutput(
  output: OutputValue,
  from: { readonly inputStorages: readonly Storage[]; readonly outputIds: readonly BufferId[] },
): CompiledOutput {
  switch (output.kind) {
    case "input":
      return { kind: "input", placeholder: output.input };
    case "constant":
    case "size":
      return output;
    case "tensor": {
      const { buffer, shape, strides, offset, dtype } = output.view;
      const asOutput = from.outputIds.indexOf(buffer);
      const of = asOutput >= 0 ? "output" : "input";
      const index = asOutput >= 0 ? asOutput : from.inputStorages.findIndex((s) => s.id === buffer);
      return { kind: "tensor", of, index, shape, strides, offset, dtype, isPairs: output.isPairs };
    }
    default:
      return output satisfies never;
  }
}

/** Size symbols of the whole program, by first appearance. */
function sizesOf(buffers: readonly BufferDecl[], kernels: readonly Kernel[], arenaBytes: Dim): Sym[] {
  const found = new Set<Sym>();
  const visit = (d: Dim) => {
    if (typeof d === "number") return;
    for (const s of freeSymbols(d)) if (s.node.kind === "symbol" && s.node.role.kind === "size") found.add(s);
  };
  for (const buffer of buffers) {
    visit(buffer.length);
    if (buffer.role.kind === "temporary") visit(buffer.role.offset);
  }
  visit(arenaBytes);
  for (const kernel of kernels) {
    if (kernel.kind === "loops") sizesIn(kernel.body).forEach(visit);
    else {
      if (kernel.call.op === "region") kernel.call.program.sizes.forEach(visit);
      for (const views of [kernel.inputs, kernel.outputs]) {
        for (const { offset, shape, strides } of views) {
          visit(offset);
          shape.forEach(visit);
          strides.forEach(visit);
        }
      }
      sizesIn(kernel.epilogue?.body ?? []).forEach(visit);
    }
  }
  return [...found];
}

/** The sizes and offsets in statements that are not constants, without duplicates. */
const sizesIn = cachedAnalysis((body) => {
  const found = new Set<Dim>();
  for (const s of allOf(body)) {
    if (s.kind === "loop") found.add(s.axis.size);
    else if ("index" in s) found.add(s.index);
  }
  return [...found].filter((each) => typeof each !== "number");
});
