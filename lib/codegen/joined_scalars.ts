/**
 * Joins consecutive kernels without loops: an optimizer's arithmetic on the step count of each parameter is a few
 * operations, and launching a kernel costs more. Invariant: statements keep their order, and a guard's decision stays
 * between the kernels before and after it.
 */
import type { Kernel, LoopKernel, Program, ValueId } from "../loops/ir.ts";
import { indirect, usesOf } from "../loops/uses.ts";
import { nextId } from "../loops/value_types.ts";
import { cloneStatement, type Renaming } from "./statement_list.ts";
import type { Target } from "./target.ts";

/** Larger kernels take drivers longer to compile. */
const MOST_KERNELS = 16;

/** The program with joined kernels. */
export function joinScalars(program: Program, target: Target): Program {
  const { kernels, guard } = program, joined: Kernel[] = [];
  let members = 0, after = guard?.after;
  for (const [at, kernel] of kernels.entries()) {
    const last = joined.at(-1), splits = guard?.after === at;
    const both =
      members > 0 && members < MOST_KERNELS && !splits && last && isScalar(kernel) && isScalar(last)
        ? together(last, kernel)
        : undefined;
    if (splits) after = joined.length;
    if (both && bindingsOf(both, program) <= target.kernelBuffers) {
      joined[joined.length - 1] = both;
      members++;
    } else {
      joined.push(kernel);
      members = isScalar(kernel) ? 1 : 0;
    }
  }
  if (joined.length === kernels.length) return program;
  return {
    ...program,
    kernels: joined,
    guard: guard &&
      { ...guard, after: guard.after === kernels.length ? joined.length : after ?? guard.after },
  };
}

function isScalar(kernel: Kernel): kernel is LoopKernel {
  return kernel.kind === "loops" && kernel.blocks === undefined &&
    kernel.body.every((s) =>
      s.kind !== "loop" && s.kind !== "masked" && (!("index" in s) || indirect(s.index).length === 0)
    );
}

function together(one: LoopKernel, other: LoopKernel): LoopKernel {
  const from = nextId(one.body), later = (id: ValueId): ValueId => id + from;
  const names: Renaming = { use: later, define: later, replace: (symbol) => symbol };
  return {
    ...one,
    body: [...one.body, ...other.body.map((s) => cloneStatement(s, names))],
    origins: [...new Set([...one.origins, ...other.origins])],
    originals: [...one.originals ?? [], ...other.originals ?? []],
  };
}

/** The number of memories that a kernel binds: all temporaries share one. */
function bindingsOf(kernel: Kernel, { buffers }: Program): number {
  return new Set([...usesOf(kernel).all].map((id) => buffers[id]?.role.kind === "temporary" ? -1 : id)).size;
}
