/**
 * Decompositions of complex matrices as ops on pairs of parts, so that no kernel or loop sees complex elements.
 * Invariant: their gradients are those of the ops on real matrices, whose rules are written with adjoints.
 */
import { contiguousMeta, type TensorMeta } from "../../graph/meta.ts";
import { type Gradient, hostOp, type HostTensor, INTERNAL, type OpDefinition } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import type { ArgsOf, Params } from "../params.ts";
import { isTensorLike, type TensorLike } from "../tensor_like.ts";
import { mapTensors } from "../wide.ts";

/** A host op on pairs [..., rows, columns, 2] in place of every matrix that `of` takes. */
export function pairedOp<const P extends Params>(
  of: OpDefinition<P>,
  { name, paired, compute }: {
    readonly name: string;
    /** Which results are complex, hence pairs. */
    readonly paired: readonly boolean[];
    compute(args: ArgsOf<P, HostTensor>): readonly HostTensor[];
  },
): OpDefinition<P> {
  return hostOp<P>({
    name,
    doc: `The results of ${of.name} for complex matrices; complex numbers are pairs of parts.`,
    params: of.params,
    ...of.results ? { results: of.results } : {},
    exposure: INTERNAL,
    infer(args) {
      const matrices = mapTensors<P, TensorMeta, TensorMeta>(
        args,
        ({ shape, dtype, device }) => contiguousMeta(shape.slice(0, -1), dtype, device),
      );
      return [of.infer(matrices)].flat().map((meta, k) =>
        paired[k] ? contiguousMeta([...meta.shape, 2], meta.dtype, meta.device) : meta
      );
    },
    compute,
    gradient: gradientOfPairs(of.gradient, paired),
    samples: [],
  });
}

function gradientOfPairs<P extends Params>(gradient: Gradient<P>, paired: readonly boolean[]): Gradient<P> {
  if (gradient.kind !== "rule") return gradient;
  const { saves, rule } = gradient;
  return {
    kind: "rule",
    saves,
    rule<T extends TensorLike>(o: OpApi<T>, { args, out, grads, needs }: Parameters<typeof rule<T>>[1]) {
      const complex = (x: T) => o.viewAsComplex(o.contiguous(x));
      // Values that are not saved have no elements
      const saved = (x: T, name: string) => saves.includes(name) ? complex(x) : x;
      const found = rule<T>(o, {
        args: mapTensors<P, T, T>(args, saved),
        out: out.map((x, k) => paired[k] ? saved(x, "out") : x),
        grads: grads.map((x, k) => x && paired[k] ? complex(x) : x),
        needs,
      });
      const entries: readonly (readonly unknown[])[] = Object.entries(found)
        .map(([param, grad]) => [param, isTensorLike<T>(grad) ? o.viewAsReal(grad) : grad]);
      return Object.fromEntries(entries);
    },
  };
}
