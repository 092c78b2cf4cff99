/** Helpers for tests of capture: a counting backend, and programs compiled by it. */
import "../../backends/cpu/device.ts";
import "../../lib/autograd/install.ts";
import "../../lib/tensor/install.ts";
import { cacheEntries, type CompileChoices, optimize, resumedEntries } from "../../lib/dynamo/mod.ts";
import type { GraphModule } from "../../lib/graph/graph_module.ts";
import { tensor } from "../../lib/tensor/creation.ts";
import type { Tensor } from "../../lib/tensor/tensor.ts";

type AnyFunction = (this: unknown, ...args: never[]) => unknown;

/** The observations of a counting backend. */
export interface Captured<F> {
  readonly run: F;
  readonly graphs: GraphModule[];
  /** The operations of each graph. */
  ops(): string[][];
  /** Operations of all graphs together. */
  opCount(): number;
  /** The modified function of the newest entry. */
  code(): string;
  /** Guards of the newest entry, without those on ambient state. */
  guards(): string[];
  entries(): number;
  /** Modified functions of the parts behind graph breaks, in order of their names. */
  resumed(): string[];
}

/** Compiles with a backend that interprets graphs and remembers them. */
export function capture<F extends AnyFunction>(fn: F, choices: Partial<CompileChoices> = {}): Captured<F> {
  const graphs: GraphModule[] = [];
  const run = optimize(fn, {
    ...choices,
    backend: (gm) => {
      graphs.push(gm);
      return (...inputs) => gm.forward(...inputs);
    },
  });
  const ops = () =>
    graphs.map((gm) => gm.graph.nodes.filter((n) => n.op.startsWith("call_")).map((n) => n.target));
  return {
    run,
    graphs,
    ops,
    opCount: () => ops().flat().length,
    code: () => stable(cacheEntries(run)[0]?.code ?? ""),
    guards: () =>
      (cacheEntries(run)[0]?.guards.codeParts ?? []).filter((g) => !g.startsWith("___check_global_state")),
    entries: () => cacheEntries(run).length,
    resumed: () =>
      [...resumedEntries(run).values()].flatMap((entries) => entries.map((e) => stable(e.code))).sort(),
  };
}

/** Generated text with the numbers of graphs and lines left out, so that it does not depend on other tests. */
export function stable(code: string): string {
  return code.replaceAll(/__compiled_fn_\d+/g, "__compiled_fn").replaceAll(/resume_at_\d+/g, "resume_at_N");
}

/** A float32 tensor. */
export function vector(...values: number[]): Tensor {
  return tensor(values, { dtype: "float32" });
}

/** The elements of a tensor. */
export function list(t: unknown): unknown {
  return t && typeof t === "object" && "tolist" in t && typeof t.tolist === "function" ? t.tolist() : t;
}
