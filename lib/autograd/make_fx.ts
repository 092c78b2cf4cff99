/**
 * Traces a function on fake tensors into a graph of the ops it calls, like `make_fx(tracing_mode="fake")`. Invariant:
 * calls of autograd inside the function are part of the graph; tensors that the function captures become attributes.
 */
import { checkFunction, refuseSurplus } from "../base/checked_input.ts";
import { DynError, InternalError } from "../base/errors.ts";
import { flatten, unflatten } from "../base/tree.ts";
import { type Argument, Graph, type Node } from "../graph/node.ts";
import { GraphModule } from "../graph/graph_module.ts";
import {
  callArguments,
  GraphBuilder,
  graphNameOf,
  GraphValue,
  mapArguments,
  tensorArguments,
} from "../ops/graph_builder.ts";
import { isDifferentiable } from "../base/dtype.ts";
import { nameResults } from "../ops/api.ts";
import { asList, ops } from "../tensor/eager.ts";
import { graphRunner } from "../tensor/graph_runner.ts";
import { recordInplace } from "../tensor/inplace.ts";
import type { Execute } from "../tensor/plan.ts";
import { layoutOf } from "../tensor/layout.ts";
import { ambient, type DispatchMode, type ResolvedCall } from "../tensor/modes.ts";
import { autograd, isTensor, modes, recordsGrad, Tensor } from "../tensor/tensor.ts";

/** Traces `fn`; call the result with example arguments. */
export function makeFx(fn: (...args: never[]) => unknown): (...args: unknown[]) => GraphModule {
  if (arguments.length > 1) refuseSurplus("makeFx", 1, arguments);
  checkFunction(fn, "to trace");
  return (...args) => {
    const { leaves, spec } = flatten(args, isTensor);
    const mode = new TracingMode();
    const fakes = leaves.map((leaf, at) => isTensor(leaf) ? mode.input(leaf, `arg_${at}`) : leaf);
    const given = unflatten(spec, fakes);
    if (!Array.isArray(given)) throw new InternalError("Expected a list of arguments");
    const result = modes.with(mode, () => Reflect.apply(fn, undefined, given));
    return mode.finish(result);
  };
}

/** Appends every call to a graph and returns fake tensors. */
class TracingMode implements DispatchMode<Tensor> {
  readonly #graph = new Graph();
  readonly #builder = new GraphBuilder(this.#graph);
  readonly #values = new Map<Tensor, GraphValue>();
  readonly #attributes: Record<string, unknown> = {};

  /** Creates an input with the metadata of a tensor. */
  input(like: Tensor, name: string): Tensor {
    const fake = Tensor.elementless(like.meta);
    fake.requiresGrad_(like.requiresGrad);
    this.#values.set(fake, this.#builder.tensor(name, like.meta, { requiresGrad: like.requiresGrad }));
    return fake;
  }

  call({ definition, args, inplace }: ResolvedCall<Tensor>): Tensor | readonly Tensor[] {
    const tensors = tensorArguments(args).map(({ value }) => value);
    if (inplace) return this.#inPlace({ definition, args, inplace }, recordsGrad(tensors));
    const records = recordsGrad(tensors) && definition.gradient.kind !== "none";
    if (
      records && definition.gradient.kind === "composite" && definition.implementation.kind === "composite"
    ) {
      const { implementation } = definition;
      return modes.with(this, () => implementation.compose(ops, args));
    }
    this.#builder.shared = {
      requiresGrad: records,
      ...(ambient.gradEnabled ? {} : { noGrad: true as const }),
    };
    const made = this.#builder.call({
      definition,
      args: mapArguments(args, (tensor) => this.#valueOf(tensor)),
    });
    const results = made instanceof GraphValue
      ? [this.#fake(made, { definition, args, inplace })]
      : made.map((value) => this.#fake(value, { definition, args, inplace }));
    if (records) autograd().record({ definition, args, results });
    const [only] = results;
    return made instanceof GraphValue && only ? only : nameResults(definition, results);
  }

  /** Ends the graph with the result of the function. */
  finish(result: unknown): GraphModule {
    this.#builder.output(this.#argument(result));
    this.#graph.lint();
    return new GraphModule(this.#graph, this.#attributes, graphRunner);
  }

  #inPlace({ definition, args }: ResolvedCall<Tensor>, records: boolean): Tensor {
    const [target] = tensorArguments(args).map(({ value }) => value);
    if (!target) throw new DynError(`Expected a tensor to write to in ${definition.name}_`);
    if (definition.inplace === "layout") {
      throw new DynError(
        `Expected ${definition.name} out of place where a function is traced but found it in place`,
      );
    }
    const write = ({ definition, args }: Pick<ResolvedCall<Tensor>, "definition" | "args">) => {
      const given = callArguments({
        definition,
        args: mapArguments(args, (tensor) => this.#valueOf(tensor)),
      });
      const value = {
        kind: "tensor",
        tensor: target.meta,
        requiresGrad: records || target.requiresGrad,
      } as const;
      this.#graph.create("call_function", `${graphNameOf(definition)}_`, {
        ...given,
        meta: { value, ...(ambient.gradEnabled ? {} : { noGrad: true }) },
      });
      target.storage.version++;
    };
    if (!records || !isDifferentiable(target.dtype)) {
      write({ definition, args });
      return target;
    }
    // Ops and copies that the tape creates before the write are part of the trace
    const run: Execute = ({ definition }, args) => asList(this.call({ definition, args, inplace: false }));
    modes.with(this, () => recordInplace({ definition, args }, target, { run, write }));
    return target;
  }

  #fake({ node, meta }: GraphValue, { definition, args }: ResolvedCall<Tensor>): Tensor {
    const { implementation } = definition;
    const viewed = implementation.kind === "view" ? args[implementation.of] : undefined;
    const copies = implementation.kind === "view" &&
      implementation.copies?.(mapArguments(args, (tensor) => tensor.meta));
    const fake = isTensor(viewed) && !copies
      ? new Tensor(viewed.storage, layoutOf(meta), Number(meta.offset))
      : Tensor.elementless(meta);
    this.#values.set(fake, new GraphValue(node, meta));
    return fake;
  }

  #valueOf(tensor: Tensor): GraphValue {
    const known = this.#values.get(tensor);
    if (known) return known;
    if (!tensor.storage.filled) {
      const same = this.#sameMemory(tensor);
      if (same) return same;
      throw new DynError("Expected a tensor of this trace but found a fake one of another");
    }
    const name = `_tensor_constant${Object.keys(this.#attributes).length}`;
    this.#attributes[name] = tensor;
    const { requiresGrad, meta } = tensor;
    const node: Node = this.#graph.create("get_attr", name, {
      meta: { value: { kind: "tensor", tensor: meta, requiresGrad } },
    });
    const value = new GraphValue(node, meta);
    this.#values.set(tensor, value);
    return value;
  }

  /** The value of another tensor object for the same elements, as the tape unpacks saved tensors. */
  #sameMemory({ storage, layout, offset }: Tensor): GraphValue | undefined {
    for (const [known, value] of this.#values) {
      if (known.storage === storage && known.layout === layout && known.offset === offset) return value;
    }
    return undefined;
  }

  #argument(value: unknown): Argument {
    if (isTensor(value)) return this.#valueOf(value).node;
    if (value instanceof GraphValue) return value.node;
    if (Array.isArray(value)) return value.map((each) => this.#argument(each));
    switch (typeof value) {
      case "number":
      case "bigint":
      case "boolean":
      case "string":
      case "undefined":
        return value;
      case "object":
        if (value === null) return null;
        return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, this.#argument(each)]));
      default:
        throw new DynError(`Expected tensors and plain values in the result but found a ${typeof value}`);
    }
  }
}
