/**
 * A part of a captured graph that is compiled when it is first reached, because some of its sizes are unknown before.
 * Invariant: a version serves the calls whose sizes satisfy the assumptions of its compilation; sizes that it does not
 * mention may have any value.
 */
import { config } from "../base/config.ts";
import { DynError, messageOf } from "../base/errors.ts";
import { reportFallback } from "../base/fallback.ts";
import { logs } from "../base/logs.ts";
import type { CompiledFunction, GraphBackend } from "../graph/backend.ts";
import type { GraphModule } from "../graph/graph_module.ts";
import type { Graph, Node } from "../graph/node.ts";
import { type Dim, evaluate, type Sym } from "../sym/expr.ts";
import { ShapeEnv } from "../sym/shape_env.ts";
import type { SizeGuard, SizeSource } from "../sym/size_guards.ts";
import { ambient } from "../tensor/modes.ts";
import { isTensor, modes, type Tensor } from "../tensor/tensor.ts";
import {
  GraphPart,
  listOf,
  moduleOf,
  outsideSymbols,
  type PartNodes,
  type PreparedPart,
} from "./graph_part.ts";

/** One compilation of a part. */
interface Version {
  readonly graph: Graph;
  readonly run: CompiledFunction;
  /** Sizes that are arguments, in order. */
  readonly sizes: readonly Sym[];
  /** Which input tensors require a gradient. */
  readonly requiring: string;
  readonly fits: (sizeOf: (symbol: Sym) => number) => boolean;
}

/** A part that is compiled. */
export class CompiledPart {
  readonly #symbols: readonly Sym[];
  readonly #versions: Version[] = [];
  /** Settings of the code generator when the graph was captured. */
  readonly #settings = { ...config.inductor };
  /** Whether a result was captured as one that requires a gradient. */
  readonly #givesGradients: boolean;
  #plain: GraphPart | undefined;

  constructor(
    readonly captured: GraphModule,
    readonly nodes: PartNodes,
    readonly options: {
      readonly backend: GraphBackend;
      /** Whether a later part writes to an input or result of this one. */
      readonly writtenLater: boolean;
    },
  ) {
    this.#symbols = [...outsideSymbols(nodes)];
    this.#givesGradients = nodes.results.some(({ meta: { value } }) =>
      value.kind === "tensor" && value.requiresGrad
    );
  }

  /** Prepares the part for the values of a call, and compiles it if no version serves them. */
  prepare(values: ReadonlyMap<Node, unknown>, sizeOf: (symbol: Sym) => number): PreparedPart {
    const inputs = this.nodes.inputs.map((node) => values.get(node));
    // The part would save more values for its backward than the tape does, and they must not be overwritten
    const saves = ambient.gradEnabled && this.#givesGradients &&
      inputs.some((value) => isTensor(value) && value.requiresGrad);
    if (saves && this.options.writtenLater) return this.#opByOp.prepare(values, sizeOf);
    if (!this.#laidOutAsCaptured(inputs, sizeOf)) return this.#opByOp.prepare(values, sizeOf);
    const requiring = inputs.map((value) => isTensor(value) && value.requiresGrad ? "1" : "0").join("");
    const version = this.#versions.find((each) => each.requiring === requiring && each.fits(sizeOf)) ??
      this.#version(inputs, { sizeOf, requiring });
    if (!version) return this.#opByOp.prepare(values, sizeOf);
    const args = [...version.sizes.map(sizeOf), ...inputs];
    return { graph: version.graph, run: () => listOf(version.run(...args)) };
  }

  get #opByOp(): GraphPart {
    return this.#plain ??= new GraphPart(this.captured, this.nodes);
  }

  /** Returns whether the tensors of a call have the layouts of the capture. */
  #laidOutAsCaptured(inputs: readonly unknown[], sizeOf: (symbol: Sym) => number): boolean {
    return this.nodes.inputs.every(({ meta: { value } }, at) => {
      const tensor = inputs[at];
      if (value.kind !== "tensor" || !isTensor(tensor)) return true;
      const { shape, strides, dtype } = value.tensor;
      return tensor.dtype === dtype && sameSizes(shape, tensor.shape, sizeOf) &&
        (tensor.shape.includes(0) || sameStrides(strides, tensor, sizeOf));
    });
  }

  #version(
    inputs: readonly unknown[],
    { sizeOf, requiring }: { readonly sizeOf: (symbol: Sym) => number; readonly requiring: string },
  ): Version | undefined {
    if (this.#versions.length >= config.cacheSizeLimit) {
      logs.emit("perf_hints", "A part of a graph runs op by op: its sizes have needed too many versions");
      return undefined;
    }
    const env = new ShapeEnv(), stand = new Map<Sym, Dim>(), origin = new Map<string, Sym>();
    for (const symbol of this.#symbols) {
      const hint = sizeOf(symbol), base = `${symbol}`;
      const range = hint < 0 ? [-Infinity, -1] as const : [2, Infinity] as const;
      stand.set(symbol, env.createSize({ base, part: { kind: "value" } }, hint, { duck: false, range }));
      origin.set(base, symbol);
    }
    const dynamic = this.#symbols.filter((symbol) => typeof stand.get(symbol) !== "number");
    const gm = moduleOf(this.captured, this.nodes, {
      replace: (symbol) => stand.get(symbol) ?? symbol,
      sizes: dynamic.flatMap((symbol) => symOf(stand.get(symbol))),
      requiresGrad: (input) => {
        const value = inputs[this.nodes.inputs.indexOf(input)];
        return isTensor(value) && value.requiresGrad;
      },
    });
    const run = this.#compile(gm, [...dynamic.map(sizeOf), ...inputs]);
    if (!run) return undefined;
    const fixed = [...stand].flatMap(([symbol, dim]) => typeof dim === "number" ? [{ symbol, dim }] : []);
    const guards = env.guards();
    const version: Version = {
      graph: gm.graph,
      run,
      sizes: dynamic,
      requiring,
      fits: (size) => {
        const valueOf = ({ base }: SizeSource) => {
          const symbol = origin.get(base);
          return symbol === undefined ? NaN : size(symbol);
        };
        return fixed.every(({ symbol, dim }) => size(symbol) === dim) &&
          guards.every((guard: SizeGuard) => ShapeEnv.holds(guard, env, valueOf));
      },
    };
    this.#versions.unshift(version);
    return version;
  }

  /** Compiles a graph under the settings of the capture; undefined if that fails and the part runs op by op. */
  #compile(gm: GraphModule, examples: readonly unknown[]): CompiledFunction | undefined {
    // A part may run several times in one call, and its earlier results are still needed
    const { trace: _, ...settings } = this.#settings,
      inductor = { ...settings, staticResults: false, replay: false };
    try {
      return config.patch({ inductor }, () => modes.without(() => this.options.backend(gm, examples))) ??
        undefined;
    } catch (error) {
      // An op's error about its operands is the program's error
      if (error instanceof DynError || this.#settings.errorOnFallback) throw error;
      reportFallback(
        "op by op",
        `a part of a graph runs op by op, because its compilation failed. ${messageOf(error)}`,
      );
      return undefined;
    }
  }
}

function symOf(d: Dim | undefined): Sym[] {
  return d === undefined || typeof d === "number" ? [] : [d];
}

function sameSizes(
  expected: readonly Dim[],
  found: readonly Dim[],
  sizeOf: (symbol: Sym) => number,
): boolean {
  return expected.length === found.length && expected.every((d, at) => evaluate(d, sizeOf) === found[at]);
}

/** Strides of dimensions of size 1 may be any. */
function sameStrides(expected: readonly Dim[], tensor: Tensor, sizeOf: (symbol: Sym) => number): boolean {
  const found = tensor.stride();
  return expected.every((d, at) => tensor.shape[at] === 1 || evaluate(d, sizeOf) === found[at]);
}
