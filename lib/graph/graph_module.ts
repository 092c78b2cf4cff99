/**
 * A graph with the values that its `get_attr` nodes name, as a callable: what graph backends receive. A call
 * interprets it with a runner for its operations. Invariant: the graph may be changed between calls as long as
 * `recompile` is called afterwards, as in torch.fx.
 */
import { refuseSurplus } from "../base/checked_input.ts";
import { preferringOwnBuiltins } from "../base/own_builtins.ts";
import { showAsText } from "../base/console_text.ts";
import type { Graph } from "./node.ts";
import { type Attributes, Interpreter, type Runner } from "./interpreter.ts";
import { printGraph } from "./print.ts";
import type { GraphSignature } from "./signature.ts";

/** An object that can also be called; a call is its `forward`. */
export abstract class Callable {
  constructor() {
    const call = (...args: unknown[]): unknown => self.forward(...args);
    const self: Callable = Object.setPrototypeOf(call, new.target.prototype);
    // Backends pass `gm.forward` around as a value
    Object.defineProperty(self, "forward", {
      value: self.forward.bind(self),
      writable: true,
      configurable: true,
    });
    return self;
  }

  /** Computes a call. */
  abstract forward(...args: unknown[]): unknown;
}

// Makes it callable, with `call` and `apply` like any function.
Object.setPrototypeOf(Callable.prototype, Function.prototype);

/** Calling it is `forward`. */
export interface GraphModule {
  (...args: unknown[]): unknown;
}

/** A graph ready to be called, compiled or printed. */
export class GraphModule extends Callable {
  #interpreter: Interpreter | undefined;
  #graph: Graph | (() => Graph);
  readonly #calling: Graph | undefined;

  /** `graph` may be a function that creates it on demand. */
  constructor(
    graph: Graph | (() => Graph),
    /** @internal */
    readonly attributes: Attributes,
    /** @internal */
    readonly runner: Runner,
    /**
     * Effects of calls besides the returned values, for graphs made by aot.
     *
     * @internal
     */
    readonly signature?: GraphSignature,
    /** The graph as it was captured, with calls that `graph` inlines; see captured_module.ts. */
    calling?: Graph,
  ) {
    super();
    this.#graph = graph;
    this.#calling = calling;
  }

  /** The nodes, in order. */
  get graph(): Graph {
    return this.#graph = this.#made();
  }

  #made(): Graph {
    return typeof this.#graph === "function" ? this.#graph() : this.#graph;
  }

  /**
   * The graph as it was captured, with calls of updates, unless somebody has accessed, and may have changed, `graph`.
   *
   * @internal
   */
  get calling(): Graph {
    return this.isUntouched && this.#calling ? this.#calling : this.graph;
  }

  /**
   * Whether nobody has accessed, and may have changed, its graph.
   *
   * @internal
   */
  get isUntouched(): boolean {
    return typeof this.#graph === "function";
  }

  /** Runs the graph by interpretation. */
  override forward(...args: unknown[]): unknown {
    this.#interpreter ??= preferringOwnBuiltins(() =>
      new Interpreter(this.graph, this.runner, this.attributes)
    );
    return this.#interpreter.run(args);
  }

  /** Makes later calls use the changed graph. */
  recompile(): void {
    if (arguments.length > 0) refuseSurplus("recompile", 0, arguments);
    this.#interpreter = undefined;
  }

  /** The source of `forward`. */
  get code(): string {
    return printGraph(this.#made());
  }

  /** The source of `forward` with shapes and element types, printed to the console and returned. */
  printReadable(): string {
    if (arguments.length > 0) refuseSurplus("printReadable", 0, arguments);
    const text = this.readable();
    console.log(text);
    return text;
  }

  /** Returns the text that `printReadable` prints. */
  readable(name = "forward"): string {
    return printGraph(this.#made(), { types: true, name });
  }

  /** Returns its source, as PyTorch prints it. */
  override toString(): string {
    return `GraphModule()\n\n${this.code}`;
  }
}

showAsText(GraphModule.prototype);
