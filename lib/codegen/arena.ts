/** Temporaries laid out anew, after kernels have changed places or need fewer of them. What a prologue makes has no place. */
import { config } from "../base/config.ts";
import { itemSize } from "../base/dtype.ts";
import { mul } from "../sym/expr.ts";
import type { BufferDecl, Program } from "../loops/ir.ts";
import { lifetimesOf, planMemory } from "../loops/memory.ts";

/** The program with its temporaries in an arena of the size that they need. */
export function laidOut(program: Program): Program {
  const { buffers, kernels } = program, lifetimes = lifetimesOf(kernels);
  // What a prologue makes is never in memory as a whole
  const parts = new Set(
    kernels.flatMap((kernel) =>
      kernel.kind === "extern"
        ? kernel.prologues?.flatMap(({ input }) => kernel.inputs[input]?.buffer ?? []) ?? []
        : []
    ),
  );
  const kept = buffers.flatMap(({ role, length, dtype }, id) => {
    const lifetime = role.kind === "temporary" && !parts.has(id) ? lifetimes.get(id) : undefined;
    return lifetime ? [{ id, ...lifetime, bytes: mul(length, itemSize(dtype)) }] : [];
  });
  const { offsets, arenaBytes } = planMemory(kept, config.inductor.memoryPlanning);
  const places = new Map(kept.map(({ id }, at) => [id, offsets[at] ?? 0]));
  return {
    ...program,
    arenaBytes,
    buffers: buffers.map((buffer, id): BufferDecl =>
      buffer.role.kind === "temporary"
        ? { ...buffer, role: { kind: "temporary", offset: places.get(id) ?? 0 } }
        : buffer
    ),
  };
}
