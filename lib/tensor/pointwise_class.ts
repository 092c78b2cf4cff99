/**
 * Programs of classes of calls that are one loop over dense elements, directly from the op's definition: the same
 * program that the graph compiler would make, without building a graph, since there is nothing to simplify, fuse or
 * order. Undefined for all other calls.
 */
import { sameList } from "../base/lists.ts";
import { isComplex } from "../base/dtype.ts";
import { contiguousStrides, type TensorMeta } from "../graph/meta.ts";
import { removeDead } from "../loops/dead_code.ts";
import type { Program } from "../loops/ir.ts";
import { withSizeArguments } from "../loops/size_arguments.ts";
import { type Dim, product } from "../sym/expr.ts";
import type { GraphedCall } from "./class_graph.ts";
import type { ClassResult } from "./cached_classes.ts";
import { isFresh } from "./class_sizes.ts";
import { inferResults, mapTensors, tensorsOf } from "./plan.ts";
import { recordProgram } from "./recorded_plan.ts";

/** A program, and how it applies to a call. */
interface PointwiseProgram {
  readonly program: Program;
  /** The values of its sizes, over those of the class. */
  readonly sizes: readonly Dim[];
  /** Its inputs, numbered as in plans. */
  readonly reads: readonly number[];
  readonly result: ClassResult;
}

/** The program of a call. */
export function pointwiseProgram(
  { entry, args, numbers, sizes }: Omit<GraphedCall, "device">,
): PointwiseProgram | undefined {
  const { definition } = entry, { implementation } = definition;
  if (implementation.kind === "composite" || implementation.kind === "host") return undefined;
  const tensors = tensorsOf(entry, args);
  if (!tensors.every(({ layout }) => isFresh(layout) && !isComplex(layout.dtype))) return undefined;
  const given = sizes.constants(entry, args);
  const metas = inferResults(definition, mapTensors(entry, given, (tensor) => sizes.metaOf(tensor)));
  const [meta, ...others] = metas;
  if (!meta || others.length > 0 || isComplex(meta.dtype) || !isDense(meta)) return undefined;
  const { shape, strides, dtype } = meta;
  const isWalked = (tensor: typeof tensors[number]) =>
    tensor.layout.shape.length === 0 || definition.elementwise || sameList(sizes.metaOf(tensor).shape, shape);
  if (!tensors.every(isWalked)) return undefined;
  const { program, reads } = recordProgram({
    entry,
    args: given,
    metas,
    lower: (operands, results, keys) => {
      const lowered = implementation.lower(operands, results, keys);
      return lowered.every(({ kind }) => kind === "pointwise") ? lowered : [];
    },
    layoutOf: (tensor) => ({ ...sizes.metaOf(tensor), extent: product(sizes.metaOf(tensor).shape) }),
    targets: [{ shape, strides, dtype, extent: product(shape), partly: false }],
    numbers,
    sizes: [],
  });
  const [kernel] = program.kernels;
  if (kernel?.kind !== "loops") return undefined;
  const live = { ...program, kernels: [{ ...kernel, body: removeDead(kernel.body) }] };
  return { ...withSizeArguments(live), reads, result: { shape, strides, dtype } };
}

const isDense = ({ shape, strides }: TensorMeta): boolean => sameList(strides, contiguousStrides(shape));
