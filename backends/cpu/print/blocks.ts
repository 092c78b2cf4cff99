/**
 * Kernels that run by blocks as one C++ function: a loop over the blocks, which a team shares out, around their statements
 * and library calls, each made by the thread that has the block. Input: kernels over the counters of the same blocks;
 * output: a function as of a loop kernel.
 */
import { InternalError } from "../../../lib/base/errors.ts";
import type { Blocks, Kernel } from "../../../lib/loops/ir.ts";
import { printExtern } from "./extern.ts";
import { bodyText, type KernelContext, type KernelFunction, printer } from "./kernel.ts";

/** Prints such kernels. */
export function printBlocks(
  kernels: readonly Kernel[],
  { axes, work }: Blocks,
  context: KernelContext,
): KernelFunction {
  const printed = bodyText(context, (out, names) => {
    const around = printer([], context, { out, names });
    axes.forEach(({ symbol }, at) => around.nameAxis(symbol, `g${at}`));
    around.team(axes, () => {
      for (const kernel of kernels) {
        out.block("{", () => {
          if (kernel.kind === "loops") {
            const inner = printer(kernel.body, context, { out, names });
            axes.forEach(({ symbol }, at) => inner.nameAxis(symbol, `g${at}`));
            return inner.statements(kernel.body);
          }
          printExtern({ ...kernel, team: "one" }, {
            context,
            calls: out,
            buffer: (id) => names.buffer(id),
            size: (d) => around.index(d),
            nest() {
              throw new InternalError(`Expected ${kernel.name} without nests around it in blocks`);
            },
            routine: (name) => names.routine(name),
            declare: (text) => context.declare(text),
          });
        });
      }
    });
  });
  return { ...printed, work };
}
