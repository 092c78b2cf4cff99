/** Lays temporaries out anew after passes have reordered kernels or made some temporaries unnecessary. */
import { config } from "../base/config.ts";
import { itemSize } from "../base/dtype.ts";
import { mul } from "../sym/expr.ts";
import type { BufferDecl, Program } from "./ir.ts";
import { placedTemporaries, planMemory } from "./memory.ts";

/** The program with its temporaries in an arena of minimal size. */
export function laidOut(program: Program): Program {
  const { buffers } = program;
  const kept = [...placedTemporaries(program)].flatMap(([id, lifetime]) => {
    const buffer = buffers[id];
    return buffer ? [{ id, ...lifetime, bytes: mul(buffer.length, itemSize(buffer.dtype)) }] : [];
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
