/**
 * A batch of deferred calls as data: its text, by which equal batches are found again, its graph, and its execution
 * one by one. Invariant: batches with the same text compute the same from tensors of the same layouts.
 */
import { getDefaultDtype } from "../../base/dtype.ts";
import { InternalError } from "../../base/errors.ts";
import { GraphModule } from "../../graph/graph_module.ts";
import { Graph } from "../../graph/node.ts";
import type { Memory } from "../../loops/device.ts";
import {
  callArguments,
  GraphBuilder,
  graphNameOf,
  GraphValue,
  listOf,
  mapArguments,
} from "../../ops/graph_builder.ts";
import { callResolved, callResolvedInplace } from "../../tensor/eager.ts";
import { graphRunner } from "../../tensor/graph_runner.ts";
import { ambient, type ResolvedCall } from "../../tensor/modes.ts";
import { constantKey } from "../../tensor/plan.ts";
import { allocateStorage, type Storage } from "../../tensor/storage.ts";
import { isTensor, Tensor } from "../../tensor/tensor.ts";

/** A value of a batch: one of its inputs, or a result of one of its calls. */
type ValueName = `i${number}` | `v${number}.${number}`;

/** One call. */
interface DeferredCall extends ResolvedCall<Tensor> {
  readonly results: readonly Tensor[];
}

/** Calls that run together. */
export class Batch {
  readonly inputs: Tensor[] = [];
  readonly calls: DeferredCall[] = [];
  /** The tensors whose storages the calls fill, unless their elements will not be read. */
  readonly made: Map<Storage, Tensor> = new Map();
  /** Storages that are to be released once the calls have run. */
  readonly dropped: Set<Storage> = new Set();
  readonly #names = new Map<Tensor, ValueName>();
  readonly #lines: string[] = [];

  /** The name of a tensor that the batch knows. */
  nameOf(tensor: Tensor): ValueName | undefined {
    const known = this.#names.get(tensor);
    if (known !== undefined) return known;
    if (!this.made.has(tensor.storage)) return undefined;
    // The tape returns saved values as tensors of its own
    for (const [other, name] of this.#names) {
      if (
        other.storage === tensor.storage && other.layout === tensor.layout && other.offset === tensor.offset
      ) {
        this.#names.set(tensor, name);
        return name;
      }
    }
    return undefined;
  }

  /** Adds an input. */
  input(tensor: Tensor): void {
    const { layout, offset } = tensor;
    this.#lines.push(`i${this.inputs.length}: t${layout.id}${offset === 0 ? "" : `@${offset}`}`);
    this.#names.set(tensor, `i${this.inputs.length}`);
    this.inputs.push(tensor);
  }

  /** Adds a call, all of whose tensors have names. */
  add(call: DeferredCall): void {
    const { definition, args, inplace, results } = call;
    const at = this.calls.length, texts: string[] = [];
    for (const name of Object.keys(definition.params)) texts.push(this.#text(args[name]));
    this.#lines.push(`v${at}: ${graphNameOf(definition)}${inplace ? "_" : ""}(${texts.join()})`);
    if (!inplace) results.forEach((result, k) => this.#names.set(result, `v${at}.${k}`));
    this.calls.push(call);
  }

  #text(value: unknown): string {
    if (isTensor(value)) return this.#known(value);
    if (Array.isArray(value)) return `[${value.map((each: unknown) => this.#text(each)).join()}]`;
    return constantKey(value ?? null, false);
  }

  #known(tensor: Tensor): ValueName {
    const name = this.nameOf(tensor);
    if (name === undefined) {
      throw new InternalError(`Expected a tensor of the batch but found [${tensor.shape}]`);
    }
    return name;
  }

  /** The tensors whose elements will be read. */
  get wanted(): readonly Tensor[] {
    return [...this.made].flatMap(([storage, tensor]) => this.dropped.has(storage) ? [] : [tensor]);
  }

  /** The text of everything that the graph and its compilation depend on. */
  get key(): string {
    const results = this.wanted.map((tensor) => this.#known(tensor)).join();
    const state = `${getDefaultDtype()} ${ambient.inference}`;
    return [state, ...this.#lines, `return ${results}`].join("\n");
  }

  /** The text shared by batches that differ only in sizes and numbers. */
  get structure(): string {
    return this.calls.map(({ definition, inplace }) => `${graphNameOf(definition)}${inplace ? "_" : ""}`)
      .join();
  }

  /** Returns the calls as a graph from the inputs to the wanted tensors. */
  graph(): GraphModule {
    const graph = new Graph(), builder = new GraphBuilder(graph);
    const values = new Map<ValueName, GraphValue>();
    this.inputs.forEach((tensor, k) => values.set(`i${k}`, builder.tensor(`input_${k}`, tensor.meta)));
    const valueOf = (tensor: Tensor): GraphValue => {
      const found = values.get(this.#known(tensor));
      if (found) return found;
      throw new InternalError(`Expected a value of [${tensor.shape}] made by an earlier call`);
    };
    this.calls.forEach(({ definition, args, inplace, results }, at) => {
      const given = { definition, args: mapArguments(args, valueOf) };
      if (!inplace) {
        listOf(builder.call(given)).forEach((value, k) => values.set(`v${at}.${k}`, value));
        return;
      }
      const [target] = results;
      if (!target) throw new InternalError(`Expected a tensor that ${definition.name}_ writes to`);
      graph.create("call_function", `${graphNameOf(definition)}_`, {
        ...callArguments(given),
        meta: { value: { kind: "tensor", tensor: target.meta, requiresGrad: false } },
      });
    });
    builder.output(this.wanted.map((tensor) => valueOf(tensor).node));
    graph.lint();
    return new GraphModule(graph, {}, graphRunner);
  }

  /** Makes the calls one by one, as if they had never been deferred. */
  runEach(): void {
    for (const { definition, args, inplace, results } of this.calls) {
      if (inplace) {
        callResolvedInplace(definition, args);
        continue;
      }
      const found = callResolved(definition, args), list = isTensor(found) ? [found] : found;
      list.forEach((each, k) => {
        const promised = results[k];
        if (promised && this.made.get(promised.storage) === promised) fill(promised, each);
      });
    }
  }

  /** Fills the wanted tensors with the results of a compiled graph. */
  take(found: readonly unknown[]): void {
    // A graph output that is an input, that occurs twice or that a backend keeps needs memory of its own
    const taken = new Set<Memory>(this.inputs.map(({ storage }) => storage.memory));
    this.wanted.forEach((tensor, k) => {
      const result = found[k];
      if (!isTensor(result)) {
        throw new InternalError(`Expected a tensor as result ${k} but found ${typeof result}`);
      }
      const { memory, isKept } = result.storage;
      fill(tensor, isKept || taken.has(memory) ? copyOf(result, tensor) : result);
      taken.add(memory);
    });
  }
}

/** Gives a promised tensor the memory of another one, which nothing else references. */
function fill(promised: Tensor, from: Tensor): void {
  const fits = from.layout === promised.layout && from.offset === promised.offset;
  promised.storage.fill((fits ? from : copyOf(from, promised)).storage.memory);
}

/** Returns a copy with the layout of another tensor. */
function copyOf(from: Tensor, like: Tensor): Tensor {
  const { layout, device } = like;
  const copy = new Tensor(allocateStorage(device, layout.byteLength, layout), layout);
  copy.copy_(from);
  return copy;
}
