/**
 * Kernels that run by blocks as one C++ function, like that of a loop kernel: a loop over the blocks, which a team
 * divides, around their statements and library calls. One thread runs all of a block.
 */
import { InternalError } from "../../../lib/base/errors.ts";
import type { Blocks, Kernel } from "../../../lib/loops/ir.ts";
import { countersOf } from "../../../lib/loops/kernel_groups.ts";
import { printExtern } from "./extern.ts";
import { bodyText, type KernelContext, type KernelFunction, printer } from "./kernel.ts";
import type { NestPrinter } from "./nest.ts";

/** Prints such kernels. */
export function printBlocks(
  kernels: readonly Kernel[],
  blocks: Blocks,
  context: KernelContext,
): KernelFunction {
  const { axes, inOrder, uneven = false, work } = blocks;
  const printed = bodyText(context, (out, names) => {
    const outside = printer([], context, { out, names });
    const named = (nest: NestPrinter): NestPrinter => {
      countersOf(blocks).forEach(({ symbol }, at) => nest.nameAxis(symbol, `g${at}`));
      return nest;
    };
    named(outside);
    const block = (kernel: Kernel) => {
      if (kernel.kind === "loops") {
        return named(printer(kernel.body, context, { out, names })).statements(kernel.body);
      }
      printExtern({ ...kernel, team: "one" }, {
        context,
        calls: out,
        buffer: (id) => names.buffer(id),
        record: "0",
        size: (d) => outside.index(d),
        nest() {
          throw new InternalError(`Expected ${kernel.name} without nests around it in blocks`);
        },
        routine: (name) => names.routine(name),
        declare: (text) => context.declare(text),
      });
    };
    const all = () => kernels.forEach((kernel) => out.block("{", () => block(kernel)));
    outside.team(axes, () => inOrder ? outside.around(inOrder, all) : all(), uneven);
  });
  return { ...printed, work };
}
