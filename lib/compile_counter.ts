/** Backends that count the graphs that reach them; graphs are interpreted. Invariant: nothing is compiled. */
import { type BreakReason, breakText } from "./base/errors.ts";
import type { GraphBackend } from "./graph/backend.ts";
import type { GraphModule } from "./graph/graph_module.ts";

/** A callable backend that is also notified of breaks, recompilations and uncompiled calls of its functions. */
export abstract class WatchingBackend {
  constructor() {
    const call: GraphBackend = (gm, inputs) => self.compile(gm, inputs);
    const self: WatchingBackend = Object.setPrototypeOf(call, new.target.prototype);
    return self;
  }

  /** Maximum number of entries of each function; undefined: as in config. */
  get cacheSizeLimit(): number | undefined {
    return undefined;
  }

  abstract compile(gm: GraphModule, exampleInputs: readonly unknown[]): ReturnType<GraphBackend>;

  /** Called when a graph ends at a break. */
  onBreak(_reason: BreakReason): void {}

  /** Called when no entry serves a call, with the failed guard of each. */
  onRecompile(_title: string, _reasons: readonly string[]): void {}

  /** Called when calls will run uncompiled. */
  onUncompiled(_reason: BreakReason): void {}
}
Object.setPrototypeOf(WatchingBackend.prototype, Function.prototype);

/** Calling it is `compile`. */
export interface CompileCounter {
  (gm: GraphModule, exampleInputs: readonly unknown[]): ReturnType<GraphBackend>;
}

/** A backend that counts graphs and their operations, like `torch._dynamo.testing.CompileCounter`. */
export class CompileCounter extends WatchingBackend {
  frameCount = 0;
  opCount = 0;

  override compile(gm: GraphModule): ReturnType<GraphBackend> {
    this.frameCount++;
    this.opCount += gm.graph.nodes.filter((n) => n.op.startsWith("call_")).length;
    return (...args) => gm.forward(...args);
  }

  clear(): void {
    this.frameCount = 0;
    this.opCount = 0;
  }
}

/** Calling it is `compile`. */
export interface CompilationProfiler {
  (gm: GraphModule, exampleInputs: readonly unknown[]): ReturnType<GraphBackend>;
}

/** The reason why a function would have been compiled again, and the number of such calls. */
export interface RecompilationCause {
  /** The function, or the rest of one after a graph break. */
  readonly name: string;
  /** The guard that failed, what was found instead, and the line that needs it. */
  readonly guard: string;
  readonly count: number;
}

/**
 * A backend that compiles nothing and reports what was captured, where graphs break and which guards fail, as
 * `torch._dynamo.utils.CompileProfiler`. Functions keep one entry each, so that every call that differs from the first
 * is reported.
 */
export class CompilationProfiler extends WatchingBackend {
  readonly #graphs: ReadonlyMap<string, number>[] = [];
  readonly #breaks: BreakReason[] = [];
  readonly #uncompiled: BreakReason[] = [];
  readonly #causes = new Map<string, { readonly name: string; readonly guard: string; count: number }>();

  override get cacheSizeLimit(): number {
    return 1;
  }

  override compile(gm: GraphModule): ReturnType<GraphBackend> {
    const operations = new Map<string, number>();
    for (const node of gm.graph.nodes) {
      if (node.op.startsWith("call_")) operations.set(node.target, (operations.get(node.target) ?? 0) + 1);
    }
    this.#graphs.push(operations);
    return (...args) => gm.forward(...args);
  }

  override onBreak(reason: BreakReason): void {
    this.#breaks.push(reason);
  }

  override onUncompiled(reason: BreakReason): void {
    this.#uncompiled.push(reason);
  }

  override onRecompile(name: string, reasons: readonly string[]): void {
    for (const guard of reasons) {
      const key = `${name} ${guard}`, known = this.#causes.get(key);
      if (known) known.count++;
      else this.#causes.set(key, { name, guard, count: 1 });
    }
  }

  /** Places of graph breaks, without duplicates. */
  get breakReasons(): readonly BreakReason[] {
    return [...this.#breaks];
  }

  /** Guards that failed, the most frequent first. */
  get recompilations(): readonly RecompilationCause[] {
    return [...this.#causes.values()].map((each) => ({ ...each })).toSorted((a, b) => b.count - a.count);
  }

  /** Reports captured graphs, graph breaks, and causes of recompilations, as text. */
  report(): string {
    const lines = this.#graphs.map((operations, i) =>
      `graph ${i}: ${[...operations].map(([name, count]) => `${name} ×${count}`).join(", ")}`
    );
    const total = this.#graphs.reduce((sum, ops) => sum + [...ops.values()].reduce((a, b) => a + b, 0), 0);
    const causes = this.recompilations;
    return [
      `${this.#graphs.length} graphs, ${total} operations`,
      ...lines,
      `${this.#breaks.length} graph breaks`,
      ...this.#breaks.map(breakText),
      `${causes.reduce((sum, { count }) => sum + count, 0)} recompilations`,
      ...causes.map(({ name, guard, count }) => `${name} ×${count}: ${guard}`),
      ...this.#uncompiled.length > 0 ? ["runs uncompiled", ...this.#uncompiled.map(breakText)] : [],
    ].join("\n");
  }
}
