/**
 * Kernels that run by blocks as one C++ function, like that of a loop kernel: a loop over the blocks, which a team
 * divides, around their statements and library calls. One thread runs all of a block. Invariant: kernels that differ
 * only in their buffers, as those of equal layers, are printed once.
 */
import { InternalError } from "../../../lib/base/errors.ts";
import { canonicalFormOf } from "../../../lib/loops/canonical_form.ts";
import type { Blocks, BufferId, BufferView, ExternKernel, Kernel } from "../../../lib/loops/ir.ts";
import { Sym } from "../../../lib/sym/expr.ts";
import { countersOf } from "../../../lib/loops/kernel_groups.ts";
import { printExtern } from "./extern.ts";
import { bodyText, type KernelContext, type KernelFunction, printer } from "./kernel.ts";
import type { NestPrinter } from "./nest.ts";

/** Printed functions of blocks, by the form of their kernels. */
export class PrintedBlocks {
  readonly #known = new Map<
    string,
    { readonly buffers: readonly BufferId[]; readonly made: KernelFunction }
  >();
  readonly #numbers = new Map<object, number>();

  /** Returns the function of kernels, printed by `print` unless those of other buffers have been printed. */
  of(
    kernels: readonly Kernel[],
    blocks: Blocks,
    { buffers: declared }: KernelContext,
    print: () => KernelFunction,
  ): KernelFunction {
    const buffers: BufferId[] = [],
      placeOf = (id: BufferId): number => {
        const at = buffers.indexOf(id);
        return at < 0 ? buffers.push(id) - 1 : at;
      };
    const forms = kernels.map((kernel) => this.#formOf(kernel, placeOf));
    if (forms.includes(null)) return print();
    const kinds = buffers.map((id) => {
      const { dtype, role, length } = declared[id] ?? {};
      return [dtype, role?.kind === "local" ? length : null];
    });
    const key = this.#text([forms, kinds, { ...blocks, work: null }]), first = this.#known.get(key);
    if (!first) {
      const made = print();
      this.#known.set(key, { buffers, made });
      return made;
    }
    const place = (id: BufferId): BufferId => {
      const placed = buffers[first.buffers.indexOf(id)];
      if (placed === undefined) throw new InternalError(`Expected a buffer of the blocks but found b${id}`);
      return placed;
    };
    const { body, routines, far } = first.made;
    return { body, routines, buffers: first.made.buffers.map(place), far: far.map(place), work: blocks.work };
  }

  /** The form of a kernel over the places of its buffers; null if it is not known which ones are equal. */
  #formOf(kernel: Kernel, placeOf: (id: BufferId) => number): unknown {
    if (kernel.kind === "loops") {
      const canonical = canonicalFormOf(kernel.body);
      return canonical ? [this.#numberOf(canonical.kind), ...canonical.buffers.map(placeOf)] : null;
    }
    const { name: _, origins: _origins, originals: _originals, blocks: _blocks, inputs, outputs, ...others } =
      kernel;
    if (!isAlone(kernel)) return null;
    const placed = (view: BufferView) => ({ ...view, buffer: placeOf(view.buffer) });
    return { ...others, inputs: inputs.map(placed), outputs: outputs.map(placed) };
  }

  #text(form: unknown): string {
    return JSON.stringify(form, (_, value) => value instanceof Sym ? `s${this.#numberOf(value)}` : value);
  }

  #numberOf(object: object): number {
    const number = this.#numbers.get(object) ?? this.#numbers.size;
    this.#numbers.set(object, number);
    return number;
  }
}

/** Returns whether a library call has no statements around it, which would mention buffers. */
const isAlone = ({ epilogue, prologues, weights, computed }: ExternKernel): boolean =>
  !epilogue && !prologues && !weights && !computed;

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
