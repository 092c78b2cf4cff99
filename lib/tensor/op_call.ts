/**
 * A call of an op as handlers of the program receive it. Invariant: `run` without arguments makes exactly the call that
 * the program made; tensors that a handler has seen keep their elements.
 */
import { refuseOption, refuseValue } from "../base/checked_input.ts";
import { asProgram } from "../base/own_builtins.ts";
import { nameResults } from "../ops/api.ts";
import { parseCall } from "../ops/call.ts";
import { graphNameOf } from "../ops/graph_builder.ts";
import { keepMemory } from "./kept_memory.ts";
import type { ResolvedCall } from "./modes.ts";
import { unwatched } from "./storage.ts";
import { isTensor, type Tensor } from "./tensor.ts";

/** The result of an op: a tensor, or several. */
export type OpResult = Tensor | readonly Tensor[];

/** Arguments of a call by the names of the op's parameters; null for absent ones. */
export type OpArguments = Readonly<Record<string, unknown>>;

/** The ways from a handler to the ops. */
export interface Continuation {
  /** Makes a call below the handler. */
  readonly run: (call: ResolvedCall<Tensor>) => OpResult;
  /** Calls the parts of an op, which reach the handler; null for an op that has none. */
  readonly parts: (call: ResolvedCall<Tensor>) => OpResult | null;
}

/** A call of an op that has not run yet. */
export class OpCall {
  /** The op's name; an underscore ends that of a call that writes into its first tensor. */
  readonly name: string;
  /** The arguments by name. */
  readonly args: OpArguments;
  readonly #call: ResolvedCall<Tensor>;
  readonly #continuation: Continuation;

  /** @internal */
  constructor(call: ResolvedCall<Tensor>, continuation: Continuation) {
    this.name = `${graphNameOf(call.definition)}${call.inplace ? "_" : ""}`;
    this.args = call.args;
    this.#call = call;
    this.#continuation = continuation;
    for (const value of Object.values(call.args)) keepMemory(value);
  }

  /** Makes the call below the handler, with other values for the arguments in `changed`. */
  run(changed: OpArguments = {}): OpResult {
    return keepMemory(this.#continuation.run(this.#with(changed)));
  }

  /**
   * Calls the ops that a composed op consists of (`linear`: `t`, `matmul`, `add`), each of which reaches the handler;
   * null for an op that does not consist of others, like `decompose` of PyTorch's ops.
   */
  decompose(changed: OpArguments = {}): OpResult | null {
    return keepMemory(this.#continuation.parts(this.#with(changed)));
  }

  /**
   * Lets a handler of the program answer the call. Throws DynError for what is no result of an op.
   *
   * @internal
   */
  answeredBy(handler: (call: OpCall) => unknown): OpResult {
    const result = unwatched(() => asProgram(() => handler(this))), { definition, args } = this.#call;
    keepMemory(result);
    if (isTensor(result)) return result;
    if (Array.isArray(result) && result.every(isTensor)) return nameResults(definition, result, args);
    refuseValue(`a tensor, or a list of tensors, from dispatch of ${this.name}`, result);
  }

  #with(changed: OpArguments): ResolvedCall<Tensor> {
    const { definition, args, inplace } = this.#call, names = Object.keys(changed);
    if (names.length === 0) return this.#call;
    const unknown = names.find((name) => !Object.hasOwn(definition.params, name));
    if (unknown !== undefined) refuseOption(this.name, Object.keys(definition.params), unknown);
    const named = Object.entries({ ...args, ...changed }).filter(([, value]) => value !== null);
    return { definition, args: parseCall(definition, [Object.fromEntries(named)], isTensor), inplace };
  }
}
