/**
 * Runs a graph node by node. Invariant: a value is dropped after its last use, so that at any time only what later
 * nodes read is alive.
 */
import { checkInstance, checkOneOf } from "../base/checked_input.ts";
import { asProgram } from "../base/own_builtins.ts";
import { DynError, noteUndone } from "../base/errors.ts";
import { evaluate, Sym } from "../sym/expr.ts";
import { type CapturedCall, customGradientOf } from "./custom_gradient.ts";
import { gradientCallOf, takesGradients } from "./gradient_call.ts";
import { isHigherOrder, type RegionAccess, runHigherOrder } from "./higher_order.ts";
import { type Argument, Graph, hasEffect, isList, isRecord, Node, type Region } from "./node.ts";
import { isUpdate, rowsOf } from "./updates.ts";
import { type ElementAccess, isNumberNode, numberOf } from "./numbers.ts";
import { readsTogether } from "./reads_together.ts";
import {
  type LateBinding,
  lateBindings,
  readBinding,
  readLateBinding,
  type SizeBinding,
  sizeBindings,
} from "./sizes.ts";

/** Runs operations and finds attributes on behalf of a graph. */
export interface Runner extends ElementAccess {
  /** Branches and loops over tensors. */
  readonly regions: RegionAccess;
  /** Runs the op of this graph name ("add", "add_") on evaluated arguments. */
  callOp(target: string, args: readonly unknown[], kwargs: Readonly<Record<string, unknown>>): unknown;
  /**
   * Computes gradients of outputs with respect to inputs, each with memory of its own; `tangents` are the gradients of
   * the outputs, null: ones.
   */
  gradients(call: {
    readonly outputs: readonly unknown[];
    readonly inputs: readonly unknown[];
    readonly tangents: readonly unknown[];
    readonly retainGraph: boolean;
    readonly createGraph: boolean;
  }): readonly unknown[];
  /** Makes a tensor without history require gradients. */
  startHistory(tensor: unknown): unknown;
  /** Gives results the history of a call with a gradient of its own. */
  giveHistory(call: CapturedCall<unknown>): void;
  /** Runs a call for which the captured program had disabled gradients. */
  withoutGradient<R>(body: () => R): R;
  /** Begins to track changes. */
  begin(): Transaction;
}

/** Tracks the changes of a run. */
export interface Transaction {
  /** Called before a value is written in place. */
  willWrite(value: unknown): void;
  /** Undoes all changes; false if that was not possible. */
  rollBack(): boolean;
}

/** Values that `get_attr` and `call_module` nodes name, and functions that `call_function` nodes name. */
export type Attributes = Readonly<Record<string, unknown>>;

/** The values of a run. */
interface Frame {
  readonly values: unknown[];
  readonly sizeOf: (symbol: Sym) => number;
  readonly transaction: Transaction;
  /** Elements that an earlier node has read. */
  readonly elements: Map<Node, unknown>;
}

type Evaluator = (frame: Frame) => unknown;

interface Step {
  readonly slot: number;
  readonly run: Evaluator;
  /** Sizes that its value determines. */
  readonly gives: readonly LateBinding[];
  /** Slots that this step is the last to read. */
  readonly frees: readonly number[];
}

/**
 * A graph prepared to run many times. Later changes to the graph are ignored. A run that throws leaves everything
 * unchanged.
 */
export class Interpreter {
  readonly #steps: Step[] = [];
  /** Initial contents of the slots. */
  readonly #unset: readonly undefined[];
  readonly #names: readonly string[];
  readonly #bindings: ReadonlyMap<Sym, SizeBinding>;
  readonly #result: Evaluator;
  readonly #slots = new Map<Node, number>();
  readonly #regions = new Map<Region, Interpreter>();
  readonly #reads: ReadonlyMap<Node, readonly Node[]>;

  constructor(
    readonly graph: Graph,
    readonly runner: Runner,
    readonly attributes: Attributes = {},
  ) {
    checkInstance(graph, Graph, "Interpreter");
    const { placeholders, output } = graph;
    this.#names = placeholders.map((node) => node.name);
    this.#bindings = new Map(sizeBindings(graph).map((binding) => [binding.symbol, binding]));
    for (const node of placeholders) this.#slots.set(node, this.#slots.size);
    this.#reads = readsTogether(graph);
    const lastUser = new Map<Node, Node>();
    for (const node of graph.nodes) {
      lastUser.set(node, node);
      for (const input of node.inputs()) lastUser.set(input, node);
    }
    const dying = new Map<Node, Node[]>();
    for (const [node, user] of lastUser) dying.set(user, [...dying.get(user) ?? [], node]);
    const late = lateBindings(graph);
    for (const node of graph.nodes) {
      if (node.op === "placeholder" || node.op === "output") continue;
      const evaluator = this.#evaluatorOf(node);
      const run: Evaluator = node.meta.noGrad
        ? (frame) => runner.withoutGradient(() => evaluator(frame))
        : evaluator;
      this.#slots.set(node, this.#slots.size);
      const frees = (dying.get(node) ?? []).map((dead) => this.#slotOf(dead));
      this.#steps.push({ slot: this.#slotOf(node), run, gives: late.get(node) ?? [], frees });
    }
    this.#result = this.#argument(output.args[0]);
    this.#unset = Array.from(this.#steps, () => undefined);
  }

  /** Runs the graph. Throws DynError for a wrong number of arguments. */
  run(args: readonly unknown[]): unknown {
    if (args.length !== this.#names.length) {
      throw new DynError(
        `Expected ${this.#names.length} arguments (${this.#names.join(", ")}) but found ${args.length}`,
      );
    }
    // All slots exist from the start, so that elements inherited by arrays do not interfere
    const values = [...args, ...this.#unset];
    const sizes = new Map<Sym, number>();
    // Sizes are read at the first use, from the arguments as they were passed
    const sizeOf = (symbol: Sym): number => {
      let size = sizes.get(symbol);
      if (size === undefined) {
        const binding = this.#bindings.get(symbol);
        if (!binding) {
          throw new DynError(`Expected an input that determines the size ${symbol} but found none`);
        }
        sizes.set(symbol, size = readBinding(binding, args));
      }
      return size;
    };
    const frame: Frame = { values, sizeOf, transaction: this.runner.begin(), elements: new Map() };
    try {
      for (const { slot, run, gives, frees } of this.#steps) {
        const value = values[slot] = run(frame);
        for (const binding of gives) sizes.set(binding.symbol, readLateBinding(binding, value));
        for (const dead of frees) values[dead] = undefined;
      }
      return this.#result(frame);
    } catch (error) {
      throw frame.transaction.rollBack() ? noteUndone(error, this.graph) : error;
    }
  }

  #slotOf(node: Node): number {
    const slot = this.#slots.get(node);
    if (slot === undefined) throw new DynError(`Expected ${node.name} before its first use`);
    return slot;
  }

  #evaluatorOf(node: Node): Evaluator {
    const { runner, attributes } = this;
    const { target } = node;
    if (takesGradients(node)) return this.#gradientsOf(node);
    if (node.meta.gradient) return this.#historyOf(node);
    const region = node.meta.region && this.#interpreterOf(node.meta.region);
    const args = node.args.map((each) => this.#argument(each));
    const kwargs = Object.entries(node.kwargs).map(([key, each]) => [key, this.#argument(each)] as const);
    const own = Object.hasOwn(attributes, target) ? attributes[target] : undefined;
    const positional = (frame: Frame) => args.map((each) => each(frame));
    const named = (frame: Frame) => Object.fromEntries(kwargs.map(([key, each]) => [key, each(frame)]));
    if (region && isUpdate(node)) return this.#updateOf(node, region);
    if (region) return (frame) => region.run(positional(frame));
    const reads = this.#reads.get(node);
    if (reads) return this.#elementOf(node, reads);
    switch (node.op) {
      case "get_attr":
        checkOneOf("an attribute of the graph module", target, Object.keys(attributes));
        return () => own;
      case "call_module":
        return (frame) => callableOf(own, target)(...positional(frame));
      case "call_function":
        if (own !== undefined) return (frame) => callableOf(own, target)(...positional(frame));
        if (target === "getitem") return (frame) => item(runner, positional(frame));
        if (isNumberNode(node)) return (frame) => numberOf(target, positional(frame), runner);
        if (isHigherOrder(node)) return (frame) => this.#higherOrder(target, positional(frame));
        return this.#opOf(node, { positional, named });
      case "call_method":
        return this.#opOf(node, { positional, named });
      case "placeholder":
      case "output":
        throw new DynError(`Expected an operation but found the ${node.op} ${node.name}`);
      default:
        return node.op satisfies never;
    }
  }

  /** One of the elements that nodes read together. */
  #elementOf(node: Node, reads: readonly Node[]): Evaluator {
    const tensors = reads.map(({ args }) => this.#argument(args[0]));
    return (frame) => {
      const { elements } = frame;
      if (!elements.has(node)) {
        const found = this.runner.items(tensors.map((each) => each(frame)));
        for (const [k, read] of reads.entries()) elements.set(read, found[k]);
      }
      return numberOf(node.target, [elements.get(node)], this.runner);
    };
  }

  #opOf(
    node: Node,
    { positional, named }: {
      readonly positional: (frame: Frame) => unknown[];
      readonly named: (frame: Frame) => Record<string, unknown>;
    },
  ): Evaluator {
    const { runner } = this, { target } = node;
    if (node.meta.leaf) {
      return (frame) => runner.startHistory(runner.callOp(target, positional(frame), named(frame)));
    }
    if (!hasEffect(node)) return (frame) => runner.callOp(target, positional(frame), named(frame));
    return (frame) => {
      const args = positional(frame);
      frame.transaction.willWrite(args[0]);
      return runner.callOp(target, args, named(frame));
    };
  }

  /** Writes the results of a region into its mutated inputs. */
  #updateOf(node: Node, region: Interpreter): Evaluator {
    const { runner } = this, { mutatedInputs = [] } = node.meta.region ?? {};
    const rows = rowsOf(node).map((row) => row.map((each) => this.#argument(each)));
    return (frame) => {
      for (const row of rows) {
        const args = row.map((each) => each(frame)), found = region.run(args);
        for (const [k, value] of (Array.isArray(found) ? found : []).entries()) {
          const target = args[mutatedInputs[k] ?? -1];
          frame.transaction.willWrite(target);
          runner.withoutGradient(() => runner.callOp("copy_", [target, value], {}));
        }
      }
      return [];
    };
  }

  #interpreterOf(region: Region): Interpreter {
    const known = this.#regions.get(region) ?? new Interpreter(region.graph, this.runner);
    this.#regions.set(region, known);
    return known;
  }

  #higherOrder(target: string, args: readonly unknown[]): readonly unknown[] {
    const functionNamed = (name: string) => {
      const fn = callableOf(this.attributes[name], name);
      return (...values: readonly unknown[]) => {
        const results = fn(...values);
        if (Array.isArray(results)) return results;
        throw new DynError(`Expected a list of results from ${name}`);
      };
    };
    return runHigherOrder(target, args, { access: this.runner.regions, functionNamed });
  }

  #gradientsOf(node: Node): Evaluator {
    const { outputs, inputs, tangents, retainGraph, createGraph } = gradientCallOf(node);
    const [roots, leaves, given] = [outputs, inputs, tangents].map((list) =>
      list.map((each) => this.#argument(each))
    );
    const values = (list: readonly Evaluator[] = [], frame: Frame) => list.map((each) => each(frame));
    return (frame) =>
      this.runner.gradients({
        outputs: values(roots, frame),
        inputs: values(leaves, frame),
        tangents: values(given, frame),
        retainGraph,
        createGraph,
      });
  }

  #historyOf(node: Node): Evaluator {
    const call = customGradientOf(node);
    if (!call) throw new DynError(`Expected a call with a gradient at ${node.name}`);
    const { gradient: { name, graph, written } } = call, backward = new Interpreter(graph, this.runner);
    const [inputs, results] = [call.inputs, call.results].map((list) =>
      list.map((each) => this.#argument(each))
    );
    const saved = call.saved.map((each) => {
      const result = typeof each === "number" ? results?.[each] : undefined;
      return result ?? this.#argument(each);
    });
    const values = (list: readonly Evaluator[] = [], frame: Frame) => list.map((each) => each(frame));
    const gradient = (given: readonly unknown[]): readonly unknown[] => {
      const found = backward.run(given);
      if (Array.isArray(found)) return found;
      throw new DynError(`Expected a list of gradients from ${name}`);
    };
    return (frame) => {
      const own = values(results, frame);
      this.runner.giveHistory({
        name,
        inputs: values(inputs, frame),
        results: own,
        saved: values(saved, frame),
        written,
        gradient,
      });
      return own;
    };
  }

  /** Compiles an argument tree once, so that a run only fills in the values. */
  #argument(argument: Argument): Evaluator {
    if (argument instanceof Node) {
      const slot = this.#slotOf(argument);
      return ({ values }) => values[slot];
    }
    if (argument instanceof Sym) return ({ sizeOf }) => evaluate(argument, sizeOf);
    if (isList(argument)) {
      const items = argument.map((each) => this.#argument(each));
      return (frame) => items.map((each) => each(frame));
    }
    if (isRecord(argument)) {
      const fields = Object.entries(argument).map(([key, each]) => [key, this.#argument(each)] as const);
      return (frame) => Object.fromEntries(fields.map(([key, each]) => [key, each(frame)]));
    }
    return () => argument;
  }
}

/** `getitem` selects one of several results; on a tensor it is the op of that name. */
function item(runner: Runner, args: readonly unknown[]): unknown {
  const [container, index] = args;
  if (Array.isArray(container) && typeof index === "number") return container[index];
  return runner.callOp("getitem", args, {});
}

function callableOf(value: unknown, name: string): (...args: unknown[]) => unknown {
  if (typeof value === "function") return (...args) => asProgram(() => Reflect.apply(value, undefined, args));
  if (typeof value === "object" && value !== null) {
    for (const method of ["call", "forward"]) {
      const found: unknown = Reflect.get(value, method);
      if (typeof found === "function") return (...args) => Reflect.apply(found, value, args);
    }
  }
  throw new DynError(`Expected a function or a module at ${name} but found ${typeof value}`);
}
