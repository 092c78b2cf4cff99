/**
 * Captures one call as one graph, for export: the graph, its input tensors, the sources of its sizes, and the
 * results. Invariant: the program is not changed: the graph runs on copies; a call with other effects is refused.
 */
import type { AnyFunction } from "../../base/arguments.ts";
import { DynError, Unsupported } from "../../base/errors.ts";
import { apply } from "../../base/own_builtins.ts";
import { flatten, type TreeSpec } from "../../base/tree.ts";
import type { GraphModule } from "../../graph/graph_module.ts";
import type { Sym } from "../../sym/expr.ts";
import type { SizeGuard, SizeSource, SourcePart } from "../../sym/size_guards.ts";
import { noGrad } from "../../tensor/modes.ts";
import { isTensor, type Tensor } from "../../tensor/tensor.ts";
import { originalOf, whileExporting } from "../functions/marks.ts";
import { optimize } from "./optimize.ts";
import type { EndedTrace } from "./program.ts";
import type { ShapesSpec } from "./shapes_spec.ts";

/** The origin of a size in the traced call: a part of a tensor, or a number. */
export interface SizeOrigin {
  readonly holder: unknown;
  readonly part: SourcePart;
}

/** A leaf of the call's result. */
export type ReturnedLeaf =
  | { readonly kind: "output"; readonly output: number }
  /** A tensor that was passed in or is held by the function. */
  | { readonly kind: "given"; readonly tensor: Tensor }
  | { readonly kind: "constant"; readonly value: null | undefined };

/** A call as one graph. */
export interface WholeProgram {
  /** Its placeholders take `inputs`; its output is a flat list. */
  readonly gm: GraphModule;
  /** A tensor, or the size of a size's placeholder. */
  readonly inputs: readonly (Tensor | SizeOrigin)[];
  readonly sizes: ReadonlyMap<Sym, SizeOrigin>;
  readonly guards: readonly SizeGuard[];
  readonly originOf: (source: SizeSource) => SizeOrigin;
  readonly tree: TreeSpec;
  readonly leaves: readonly ReturnedLeaf[];
}

/** The call to capture. */
interface WholeCall {
  readonly self: unknown;
  readonly args: readonly unknown[];
  readonly name: string;
  /** Dimensions by parameter, in addition to the marks on tensors themselves. */
  readonly shapesSpec: ShapesSpec;
  /** The function whose parameters `shapesSpec` names, if `fn` passes its arguments on to it. */
  readonly signature: object | undefined;
}

/**
 * Captures a call. Throws Unsupported, with the explanation of the break, if it is not one graph; DynError for effects
 * on objects and for results that are not tensors.
 */
export function captureWhole(
  fn: AnyFunction,
  { self, args, name, shapesSpec, signature }: WholeCall,
): WholeProgram {
  const graphs: { readonly gm: GraphModule; readonly examples: readonly unknown[] }[] = [];
  let trace: EndedTrace | null = null, outputs: readonly unknown[] = [];
  const compiled = optimize(originalOf(fn) as AnyFunction, {
    name,
    backendName: "export",
    fullgraph: true,
    shapesSpec,
    signature,
    backend: (gm, examples) => {
      graphs.push({ gm, examples });
      return (...inputs) => outputs = copiedRun(gm, inputs);
    },
    hooks: {
      onTraced(ended) {
        refuseEffects(name, ended.effects);
        trace = ended;
      },
      onUncompiled(reason) {
        throw new Unsupported(reason);
      },
    },
  });
  const returned: unknown = whileExporting(() => noGrad(() => apply(compiled, self, [...args])));
  const ended = trace as EndedTrace | null, [only, ...more] = graphs;
  if (!only || !ended || more.length > 0) {
    throw new DynError(`Expected ${name} to be one graph but found ${graphs.length}`);
  }
  const { gm, examples } = only, { sizes } = ended;
  const originOf = ({ base, part }: SizeSource): SizeOrigin => ({ holder: ended.valueNamed(base), part });
  const { leaves, spec } = flatten(returned, isTensor);
  const inputs = gm.graph.placeholders.map(({ name: input, meta: { value } }, at): Tensor | SizeOrigin => {
    const example = examples[at];
    if (value.kind === "size" && typeof value.size !== "number") return originOf(sizes.sourceOf(value.size));
    if (isTensor(example) && value.kind === "tensor") return example;
    throw new DynError(`Expected tensors and sizes as inputs of ${name} but found ${value.kind} at ${input}`);
  });
  return {
    gm,
    inputs,
    sizes: new Map(sizes.symbols.map((symbol) => [symbol, originOf(sizes.sourceOf(symbol))])),
    guards: sizes.guards(),
    originOf,
    tree: spec,
    leaves: leaves.map((leaf, at) => returnedLeaf(leaf, { outputs, at, name })),
  };
}

/** Runs a graph on copies, so that its writes are not visible. */
function copiedRun(gm: GraphModule, inputs: readonly unknown[]): readonly unknown[] {
  const given = inputs.map((input) => isTensor(input) ? input.detach().clone() : input);
  const found = gm.forward(...given);
  if (Array.isArray(found)) return found;
  throw new DynError(`Expected a list of outputs from a graph but found ${typeof found}`);
}

function refuseEffects(name: string, effects: readonly string[]): void {
  const [first] = effects;
  if (first === undefined) return;
  throw new DynError(
    `Expected ${name} to compute on tensors alone but found that it also does: ${first.trim()}. What runs without the ` +
      "program cannot change its objects; return the value instead, or leave it out while `compiler.isExporting()`",
  );
}

function returnedLeaf(
  leaf: unknown,
  { outputs, at, name }: {
    readonly outputs: readonly unknown[];
    readonly at: number;
    readonly name: string;
  },
): ReturnedLeaf {
  if (leaf === null || leaf === undefined) return { kind: "constant", value: leaf };
  if (isTensor(leaf)) {
    const output = outputs.indexOf(leaf);
    return output < 0 ? { kind: "given", tensor: leaf } : { kind: "output", output };
  }
  throw new DynError(
    `Expected tensors, null and undefined in what ${name} returns but found ${
      Deno.inspect(leaf)
    } as leaf ${at}`,
  );
}
