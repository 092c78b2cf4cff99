/**
 * Backends that watch. Input: captured graphs; output: the graph itself, interpreted. Invariant: what they count
 * is what reached a backend.
 */
import type { GraphBackend } from "./graph/backend.ts";
import type { GraphModule } from "./graph/graph_module.ts";

/** Makes instances callable: a call is `compile`. */
abstract class BackendObject {
  constructor() {
    const call: GraphBackend = (gm, inputs) => self.compile(gm, inputs);
    const self: BackendObject = Object.setPrototypeOf(call, new.target.prototype);
    return self;
  }

  abstract compile(gm: GraphModule, exampleInputs: readonly unknown[]): ReturnType<GraphBackend>;
}
Object.setPrototypeOf(BackendObject.prototype, Function.prototype);

/** Calling it is `compile`. */
export interface CompileCounter {
  (gm: GraphModule, exampleInputs: readonly unknown[]): ReturnType<GraphBackend>;
}

/** A backend that counts graphs and their operations, as `torch._dynamo.testing.CompileCounter`. */
export class CompileCounter extends BackendObject {
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

/** A backend that compiles nothing and reports which operations were captured in how many graphs. */
export class CompilationProfiler extends BackendObject {
  readonly #graphs: ReadonlyMap<string, number>[] = [];

  override compile(gm: GraphModule): ReturnType<GraphBackend> {
    const operations = new Map<string, number>();
    for (const node of gm.graph.nodes) {
      if (node.op.startsWith("call_")) operations.set(node.target, (operations.get(node.target) ?? 0) + 1);
    }
    this.#graphs.push(operations);
    return (...args) => gm.forward(...args);
  }

  /** A table of the captured graphs. */
  report(): string {
    const lines = this.#graphs.map((operations, i) =>
      `graph ${i}: ${[...operations].map(([name, count]) => `${name} ×${count}`).join(", ")}`
    );
    const total = this.#graphs.reduce((sum, ops) => sum + [...ops.values()].reduce((a, b) => a + b, 0), 0);
    return [`${this.#graphs.length} graphs, ${total} operations`, ...lines].join("\n");
  }
}
