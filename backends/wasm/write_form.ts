/**
 * Writes programs as WebAssembly forms. Invariant: kernels that run together are one step; equivalent kernels, and
 * equivalent groups of them, are written once.
 */
import { generate } from "../../lib/codegen/generate.ts";
import type { Blocks, Kernel, LoopKernel, Program } from "../../lib/loops/ir.ts";
import { bufferMapping, type CanonicalForm, canonicalFormOf } from "../../lib/loops/canonical_form.ts";
import { KnownBlocks } from "../../lib/loops/known_blocks.ts";
import { kernelGroups, originalKernels } from "../../lib/loops/kernel_groups.ts";
import { type MemoryKind, ModuleWriter } from "./binary.ts";
import { blockSegment, type Printing, type Segment, segmentOf } from "./segments.ts";
import type { Step, StepKind, WasmForm } from "./form.ts";
import { Functions } from "./functions.ts";
import { GEMM_IMPORTS } from "./gemm.ts";
import { wasmTarget } from "./target.ts";

type LoopsStep = Extract<StepKind, { readonly kind: "loops" }>;

/** The context of writing a module. */
interface Writing {
  /** Every size is below this. */
  readonly limit: number;
  readonly fuses: boolean;
  readonly memory: MemoryKind;
}

/** Writes a program. */
export function writeForm(program: Program, { limit, fuses, memory }: Writing): WasmForm {
  const generated = generate(program, wasmTarget(limit));
  const multiplies = generated.kernels.some(({ kind, blocks }) => kind === "extern" && blocks);
  const writer = new ModuleWriter(memory, multiplies ? GEMM_IMPORTS : []),
    room = new Functions(writer, fuses);
  const groups = kernelGroups(generated.kernels), given = originalKernels(groups);
  const printing: Printing = { program: generated, room, limit }, known = new Map<string, string>();
  const job = ({ body, buffers, units, grain, work, scratch }: Segment): LoopsStep => {
    const text = body.finish().toBase64(), name = known.get(text) ?? `segment${known.size}`;
    if (!known.has(text)) {
      known.set(text, name);
      writer.export(writer.add(body), name);
    }
    return { kind: "loops", name, buffers, units: units ?? null, grain, work, scratch };
  };
  const firsts = new Map<object, { readonly canonical: CanonicalForm; readonly made: LoopsStep }>();
  const loops = (kernel: LoopKernel): LoopsStep => {
    const canonical = canonicalFormOf(kernel.body), first = canonical && firsts.get(canonical.kind);
    if (first) {
      const { made } = first,
        buffers = made.buffers.map(bufferMapping(first.canonical, canonical, (id) => id));
      return { ...made, buffers, work: kernel.work ?? 0 };
    }
    const made = job(segmentOf(kernel, printing));
    if (canonical) firsts.set(canonical.kind, { canonical, made });
    return made;
  };
  const writtenBlocks = new KnownBlocks<LoopsStep>();
  const blocked = (group: readonly Kernel[], blocks: Blocks): LoopsStep => {
    const { made, place } = writtenBlocks.of(group, blocks, {
      buffers: generated.buffers,
      make: () => job(blockSegment(group, blocks, printing)),
    });
    return { ...made, buffers: made.buffers.map(place), work: blocks.work };
  };
  const kindOf = (kernel: Kernel, group: readonly Kernel[]): StepKind => {
    if (kernel.blocks) return blocked(group, kernel.blocks);
    if (kernel.kind === "loops") return loops(kernel);
    const { call, inputs, outputs } = kernel;
    return { kind: "extern", call, inputs, outputs };
  };
  const steps = groups.flatMap((group, at): Step[] => {
    const [kernel] = group;
    return kernel ? [{ ...kindOf(kernel, group), kernels: given[at] ?? [] }] : [];
  });
  const { name, buffers, inputs, outputs, sizes, arenaBytes } = generated;
  const guard = generated.guard &&
    { ...generated.guard, after: kernelGroups(generated.kernels.slice(0, generated.guard.after)).length };
  return {
    frame: { name, buffers, inputs, outputs, sizes, arenaBytes, guard },
    steps,
    module: writer.finish().toBase64(),
  };
}
