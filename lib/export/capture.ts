/**
 * Captures a call of a function or module for export: its functional graph and call specification. Invariant: every
 * tensor input of the graph is an argument or held under a name.
 */
import { checkKind } from "../base/checked_input.ts";
import type { AnyFunction } from "../base/arguments.ts";
import { type FunctionalGraph, functionalOf } from "../aot/functional_graph.ts";
import { DynError } from "../base/errors.ts";
import { flatten, type TreeSpec, unflatten } from "../base/tree.ts";
import {
  captureWhole,
  markDimension,
  type ShapesSpec,
  type SizeOrigin,
  type WholeProgram,
} from "../dynamo/mod.ts";
import { contiguousStrides } from "../graph/meta.ts";
import { type Argument, isList } from "../graph/node.ts";
import { Module } from "../nn/module.ts";
import { Parameter } from "../nn/parameter.ts";
import { hintOf, type Question, simplified } from "../sym/decide.ts";
import { type Dim, print } from "../sym/expr.ts";
import type { SizeGuard } from "../sym/size_guards.ts";
import { noGrad } from "../tensor/modes.ts";
import { isTensor, type Tensor } from "../tensor/tensor.ts";
import {
  type ArgumentSpec,
  type CallSpec,
  type ConstantLeaf,
  type Constraint,
  type HeldKind,
  type InputSpec,
  related,
  type ResultSpec,
  type SizeOriginSpec,
  type ValueSource,
} from "../packages/call_spec.ts";

/** A tensor that a program holds. */
export interface Held {
  readonly kind: HeldKind;
  readonly tensor: Tensor;
}

/** The parts of an exported program. */
export interface ExportedParts extends FunctionalGraph {
  readonly call: CallSpec;
  readonly inputs: readonly InputSpec[];
  readonly held: ReadonlyMap<string, Held>;
  readonly resultTree: TreeSpec;
  readonly results: readonly ResultSpec[];
}

/** Options of `export`. */
export interface ExportOptions {
  /**
   * Sizes that may differ between calls: none by default; `true`: all except those that the program specialises on; or
   * the dimensions of parameters by name, as in `shapesSpec` of `compile`.
   */
  readonly dynamic?: boolean | ShapesSpec | undefined;
}

/** Exports a call. Throws Unsupported if it is not one graph, DynError for values that cannot be exported. */
export function exportCall(
  target: AnyFunction | Module,
  given: readonly unknown[],
  dynamic: boolean | ShapesSpec,
): ExportedParts {
  checkKind(given, "a list", "the example inputs of an export");
  const isModule = target instanceof Module;
  const name = isModule ? target.constructor.name : target.name || "fn";
  const { leaves: own, spec: argumentTree } = flatten([...given], isTensor);
  own.forEach((leaf, at) => {
    refuseLeaf(leaf, at, name);
    if (!isTensor(leaf) || own.indexOf(leaf) === at) return;
    throw new DynError(`Expected a tensor of its own for each argument of ${name} but found one twice`);
  });
  const leaves = dynamic === true ? own.map(markedCopy) : own, args = unflatten(argumentTree, leaves);
  if (!Array.isArray(args)) throw new DynError("Expected a list of arguments");
  const whole = captureWhole(isModule ? moduleMethod(target, "call") : target, {
    self: isModule ? target : undefined,
    args,
    name,
    shapesSpec: typeof dynamic === "object" ? dynamic : {},
    signature: isModule ? moduleMethod(target, "forward") : undefined,
  });
  const names = new HeldNames(leaves, isModule ? target : null);
  const origin = ({ holder, part }: SizeOrigin): SizeOriginSpec => ({ of: names.sourceOf(holder), part });
  const { placeholders } = whole.gm.graph;
  const inputs = whole.inputs.map((input, at): InputSpec => {
    const node = placeholders[at]?.name ?? "";
    return {
      name: node,
      value: isTensor(input) ? names.sourceOf(input, node) : { kind: "size", origin: origin(input) },
    };
  });
  const sizes = [...whole.sizes].map(([symbol, from]) => ({
    symbol,
    hint: hintOf(symbol),
    origin: origin(from),
  }));
  const results = takeResults(whole, names);
  const { functional, plan } = functionalOf(whole.gm);
  if (plan.addressed.length > 0) {
    throw new DynError(
      `Expected views that follow from shapes and strides in ${name} but found one of a given memory layout`,
    );
  }
  const lifted = plan.lifted.map((tensor, at): InputSpec => {
    const node = functional.graph.placeholders[whole.inputs.length + at]?.name ?? `constant_${at}`;
    return { name: node, value: names.sourceOf(tensor, node) };
  });
  return {
    functional,
    // The program now holds the tensors of the graph
    plan: { ...plan, lifted: [] },
    inputs: [...inputs, ...lifted],
    held: names.held,
    resultTree: whole.tree,
    results,
    call: {
      name,
      arguments: leaves.map((leaf, at) =>
        argumentSpec(leaf, { whole, mutations: plan.mutations, sizes, at })
      ),
      argumentTree,
      sizes,
      constraints: whole.guards.flatMap((guard) =>
        constraintsOf(guard, (source) => origin(whole.originOf(source)))
      ),
    },
  };
}

/** Copies a tensor of the user's with symbolic sizes if the program allows them; returns other values unchanged. */
function markedCopy(leaf: unknown): unknown {
  if (!isTensor(leaf)) return leaf;
  const copy = noGrad(() => leaf.detach().clone());
  if (leaf.requiresGrad) copy.requiresGrad_(true);
  for (let d = 0; d < copy.ndim; d++) {
    markDimension(copy, d, { kind: "dynamic", min: 2, max: Infinity, strict: false });
  }
  return copy;
}

function moduleMethod(module: Module, key: "call" | "forward"): AnyFunction {
  return Reflect.get(module, key);
}

function refuseLeaf(leaf: unknown, at: number, name: string): void {
  if (isTensor(leaf) || leaf === null) return;
  if (typeof leaf !== "object" && typeof leaf !== "function" && typeof leaf !== "symbol") return;
  throw new DynError(
    `Expected tensors, numbers, strings and containers of them as arguments of ${name} but found ${
      Deno.inspect(leaf)
    } as leaf ${at}`,
  );
}

/** Names of the tensors that the program reads. */
class HeldNames {
  readonly held = new Map<string, Held>();
  readonly #names = new Map<Tensor, string>();
  readonly #known: ReadonlyMap<Tensor, { readonly name: string; readonly kind: HeldKind }>;

  constructor(readonly leaves: readonly unknown[], module: Module | null) {
    const known = new Map<Tensor, { readonly name: string; readonly kind: HeldKind }>();
    for (const [name, tensor] of module?.namedBuffers() ?? []) known.set(tensor, { name, kind: "buffer" });
    for (const [name, tensor] of module?.namedParameters() ?? []) {
      known.set(tensor, { name, kind: "parameter" });
    }
    this.#known = known;
  }

  /** Returns the source of a value; a tensor that is not an argument is held from now on. */
  sourceOf(value: unknown, wish = "tensor"): ValueSource {
    const leaf = this.leaves.indexOf(value);
    if (leaf >= 0 && this.leaves.lastIndexOf(value) !== leaf) {
      throw new DynError(
        `Expected integers that differ, where sizes depend on them, but found ${value} twice`,
      );
    }
    if (leaf >= 0) return { kind: "argument", leaf };
    if (!isTensor(value)) {
      throw new DynError(`Expected a size of an argument or a tensor but found one of ${typeof value}`);
    }
    let name = this.#names.get(value);
    if (name === undefined) {
      const known = this.#known.get(value);
      name = known?.name ?? wish.replace(/_+$/, "");
      for (let again = 1; this.held.has(name); again++) name = `${wish}_${again}`;
      this.#names.set(value, name);
      const kind = known?.kind ?? (value instanceof Parameter ? "parameter" : "constant");
      this.held.set(name, { kind, tensor: value.detach() });
    }
    return { kind: "held", name };
  }
}

/** Makes the results of the call the outputs of the graph, without duplicates. */
function takeResults({ gm, leaves }: WholeProgram, names: HeldNames): ResultSpec[] {
  const [given = null] = gm.graph.output.args, listed: readonly Argument[] = isList(given) ? given : [];
  const wanted: number[] = [];
  const results = leaves.map((leaf): ResultSpec => {
    if (leaf.kind === "constant") return leaf;
    if (leaf.kind === "given") return { kind: "given", value: names.sourceOf(leaf.tensor) };
    if (!wanted.includes(leaf.output)) wanted.push(leaf.output);
    return { kind: "output", output: wanted.indexOf(leaf.output) };
  });
  gm.graph.output.args = [wanted.map((at) => listed[at] ?? null)];
  gm.recompile();
  return results;
}

function argumentSpec(
  leaf: unknown,
  { whole, mutations, sizes, at }: {
    readonly whole: WholeProgram;
    readonly mutations: FunctionalGraph["plan"]["mutations"];
    readonly sizes: CallSpec["sizes"];
    readonly at: number;
  },
): ArgumentSpec {
  const ofLeaf = sizes.filter(({ origin: { of } }) => of.kind === "argument" && of.leaf === at);
  if (!isTensor(leaf)) {
    return ofLeaf.length > 0 ? { kind: "integer" } : { kind: "constant", value: leaf as ConstantLeaf };
  }
  const input = whole.inputs.indexOf(leaf), value = whole.gm.graph.placeholders[input]?.meta.value;
  const { dtype, device } = leaf, written = mutations.some(({ input: each }) => each === input);
  if (value?.kind === "tensor") {
    const shape = value.tensor.shape.map(simplified), strides = value.tensor.strides.map(simplified);
    return { kind: "tensor", shape, strides, dtype, device, written };
  }
  const shape = leaf.shape.map((size, d): Dim =>
    ofLeaf.find(({ origin: { part } }) => part.kind === "shape" && part.dim === d)?.symbol ?? size
  );
  return { kind: "tensor", shape, strides: contiguousStrides(shape), dtype, device, written };
}

type SizeSourceOf = Extract<SizeGuard, { readonly kind: "source" }>["source"];

function constraintsOf(guard: SizeGuard, origin: (source: SizeSourceOf) => SizeOriginSpec): Constraint[] {
  const { text } = guard;
  switch (guard.kind) {
    case "source":
      return [{ kind: "source", origin: origin(guard.source), equals: guard.equals, text }];
    case "relation": {
      const { relation, left, right } = guard;
      return [{ kind: "relation", relation, left, right, holds: true, text }];
    }
    case "range": {
      const { symbol, lower, upper } = guard, holds = true, relation = "le";
      return [
        { kind: "relation", relation, left: lower, right: symbol, holds, text },
        ...Number.isFinite(upper)
          ? [{ kind: "relation", relation, left: symbol, right: upper, holds, text } as const]
          : [],
      ];
    }
    default:
      return guard satisfies never;
  }
}

const SIGNS = { eq: "==", lt: "<", le: "<=" } as const;

/** Returns the constraint for an assumption about sizes. */
export function constraintOfQuestion({ relation, left, right }: Question): Constraint {
  const holds = related(relation, hintOf(left), hintOf(right));
  const text = `${print(left)} ${SIGNS[relation]} ${print(right)} to be ${holds}`;
  return { kind: "relation", relation, left, right, holds, text };
}
