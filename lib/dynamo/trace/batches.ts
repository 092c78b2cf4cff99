/**
 * Traces functions over batches, as `vmap` runs them. Invariant: a tensor that represents one element has no node in
 * the graph; an operation that needs one breaks the graph before the function's call, which then runs as plain
 * JavaScript.
 */
import { DynError, messageOf } from "../../base/errors.ts";
import type { TensorMeta } from "../../graph/meta.ts";
import { Graph, type Node } from "../../graph/node.ts";
import { formOf } from "../../ops/complex/form.ts";
import { makeOpApi, nameResults } from "../../ops/api.ts";
import { BatchCall } from "../../ops/batching/call.ts";
import { drawn, type Randomness } from "../../ops/batching/random.ts";
import { batchRuleOf } from "../../ops/batching/table.ts";
import { parseCall } from "../../ops/call.ts";
import { type OpDefinition, viewsMemory } from "../../ops/definition.ts";
import type { OpApi } from "../../ops/generated.ts";
import { GraphValue, isGraphValue, mapArguments, tensorArguments } from "../../ops/graph_builder.ts";
import { sameShape } from "../../ops/shapes.ts";
import type { CallTarget } from "../../ops/table.ts";
import type { Dim } from "../../sym/expr.ts";
import { breakGraph, refuseCall } from "../break_reasons.ts";
import { numberOfDim } from "../variables/numbers.ts";
import { constant, isCallable, NULL, TensorValue, UNDEFINED, type Value } from "../variables/value.ts";
import { gradientsAsked } from "./asked_gradients.ts";
import { beginHistory } from "./history_starts.ts";
import {
  type CallRequest,
  type CallResult,
  type Interpreter,
  type OpenBatch,
  PUSHED,
} from "./interpreter.ts";
import { allElements, newArray, newObject } from "./contents.ts";
import { besideNumbersOnly, inOneDimension } from "./lone_numbers.ts";
import type { Resolved } from "./op_rule.ts";
import { callOp, callResolved, namedArray, withFittingScalars, writeInto } from "./tensor_ops.ts";
import { checkInplace } from "./in_place.ts";
import { forgetRestored, stateOf } from "./trace_state.ts";

/** `overBatch(f, wholes, { size, randomness })`. */
export function traceOverBatch(m: Interpreter, request: CallRequest): CallResult {
  const [callee = UNDEFINED, list = UNDEFINED, options = UNDEFINED] = request.args;
  if (!isCallable(callee)) return breakGraph("throws", "a value that is not a function runs over a batch");
  const wholes = tensorsOf(m, list), [size] = wholes[0]?.meta.shape ?? [];
  const asked = options.kind === "object" ? m.plainProperty(options, "randomness") : null;
  if (size === undefined || asked?.kind !== "constant") {
    return breakGraph("batch", "a batch that is not known");
  }
  const batch = new TracedBatch(m, { size, randomness: randomnessOf(asked.value), depth: m.callers.length });
  const before = new Set(m.output.graph.nodes), state = stateOf(m, m.callers);
  m.batch = batch;
  m.call({
    callee,
    self: UNDEFINED,
    args: wholes.map((whole) => batch.element(whole)),
    completion: {
      kind: "inside",
      then(value) {
        m.batch = batch.outer;
        forgetRestored(m);
        const changed = state.changed({ backwards: true });
        if (changed !== null) breakGraph("batch", changed);
        const made = m.output.graph.nodes.filter((node) => !before.has(node));
        if (made.some((node) => [...node.inputs()].some((input) => batch.owns(input)))) {
          breakGraph("batch", "a call that has no rule for batches");
        }
        const given = (name: string): Value =>
          value.kind === "object" ? m.plainProperty(value, name) ?? UNDEFINED : UNDEFINED;
        const results = tensorsOf(m, given("tensors")),
          found = results.map((result) => batch.wholeOf(result));
        m.complete(
          request.completion,
          newObject(m, [
            ["tensors", newArray(m, results.map((result, k) => found[k] ?? result))],
            ["aside", given("aside")],
            ["batched", newArray(m, found.map((whole) => constant(whole !== null)))],
          ]),
        );
      },
    },
  });
  return PUSHED;
}

/** `unlessTraced(plain, traced)` of forward-mode transforms: the whole of `traced`, or a break before the call. */
export function traceWhole(
  m: Interpreter,
  { args: [, traced = UNDEFINED], completion }: CallRequest,
): CallResult {
  if (!isCallable(traced)) return breakGraph("throws", "a value that is not a function is called");
  const then = (value: Value): void => {
    m.forwardTransforms--;
    m.complete(completion, value);
  };
  m.forwardTransforms++;
  m.call({ callee: traced, self: UNDEFINED, args: [], completion: { kind: "inside", then } });
  return PUSHED;
}

/** `ownHistory(x)`: a tensor to differentiate with respect to. */
export function ownHistory(m: Interpreter, tensor: TensorValue): TensorValue {
  if (m.batch !== null) return m.batch.ownHistory(tensor);
  return tensor.requiresGrad ? tensor : beginHistory(m, tensor);
}

/** Makes calls with recording on: a history begins where the program calls for it, whatever is recorded around that. */
function recorded<R>(m: Interpreter, body: () => R): R {
  const { gradEnabled } = m;
  m.gradEnabled = true;
  try {
    return body();
  } finally {
    m.gradEnabled = gradEnabled;
  }
}

function randomnessOf(value: unknown): Randomness {
  return value === "same" || value === "different" ? value : "error";
}

function tensorsOf(m: Interpreter, value: Value): TensorValue[] {
  if (value.kind !== "object" || value.exotic.kind !== "array") {
    return breakGraph("batch", "no list of tensors");
  }
  return allElements(m, value).map((each) =>
    each.kind === "tensor" ? each : breakGraph("batch", "a value that is not a tensor")
  );
}

/** Options of a run over a batch. */
interface BatchOptions {
  readonly size: Dim;
  readonly randomness: Randomness;
  readonly depth: number;
}

/** One run of a function over a batch. */
class TracedBatch implements OpenBatch {
  readonly outer: OpenBatch | null;
  readonly depth: number;
  readonly #size: Dim;
  readonly #randomness: Randomness;
  /** Holds the nodes that identify tensors of one element. */
  readonly #scratch = new Graph();
  readonly #elements = new Map<Node, TensorValue>();
  readonly #wholes = new Map<Node, TensorValue>();
  /** Leaves of gradients with respect to single elements, by the nodes from which calls on them start. */
  readonly #leaves = new Map<Node, TensorValue>();
  /** The ops on tensors of one element. */
  readonly #api: OpApi<GraphValue>;

  constructor(readonly m: Interpreter, { size, randomness, depth }: BatchOptions) {
    this.outer = m.batch;
    this.depth = depth;
    this.#size = size;
    this.#randomness = randomness;
    this.#api = makeOpApi((called, given) => {
      const args = parseCall(called, given, isGraphValue), definition = formOf(called, args);
      return this.#shown(definition, this.call({ definition, inplace: false }, args));
    });
  }

  /** A tensor of one element. */
  element(whole: TensorValue): TensorValue {
    const { shape, strides, ...rest } = whole.meta;
    const meta: TensorMeta = { ...rest, shape: shape.slice(1), strides: strides.slice(1) };
    const { requiresGrad } = whole, node = this.#mark(meta, requiresGrad);
    const element = new TensorValue(meta, requiresGrad, node, null, null);
    this.#elements.set(node, element);
    this.#wholes.set(node, whole);
    return element;
  }

  #mark(tensor: TensorMeta, requiresGrad: boolean): Node {
    return this.#scratch.create("placeholder", "element", {
      meta: { value: { kind: "tensor", tensor, requiresGrad } },
    });
  }

  /** Returns whether a node marks a tensor of one element. */
  owns(node: Node): boolean {
    return this.#elements.has(node);
  }

  /** The tensor with leading batch dimension that an element represents; null if it has no batch. */
  wholeOf({ node }: TensorValue): TensorValue | null {
    return node ? this.#wholes.get(node) ?? null : null;
  }

  call(target: CallTarget, args: Resolved): Value {
    const { definition, inplace } = target, { implementation } = definition;
    const isBatched = tensorArguments(args).some(({ value }) => this.owns(value.node));
    // A composition may draw random numbers
    const isPlain = !isBatched && implementation.kind !== "random" &&
      (implementation.kind !== "composite" || definition.gradient.kind === "rule");
    if (inplace) return this.#inPlace(target, args, isBatched);
    if (isPlain) return this.#below(() => callResolved(this.m, target, args));
    if (definition.dataDependent?.(args)) {
      return breakGraph("batch", `${definition.name}, whose sizes depend on elements`);
    }
    if (this.m.autocast !== "") return breakGraph("batch", "a region of autocast");
    try {
      if (besideNumbersOnly(this.m, definition, args)) {
        const part = (called: OpDefinition, given: Resolved): GraphValue => {
          const shown = this.#shown(called, this.call({ definition: called, inplace: false }, given));
          return isGraphValue(shown) ? shown : breakGraph("batch", called.name);
        };
        return this.#value(definition, inOneDimension(this.m, definition, args, part));
      }
      return this.#made(definition, args);
    } catch (thrown) {
      if (thrown instanceof DynError) refuseCall(messageOf(thrown));
      throw thrown;
    }
  }

  beginHistory(tensor: TensorValue): TensorValue {
    const { node, real } = tensor, whole = this.wholeOf(tensor);
    if (real || !node) return breakGraph("gradientState", "requiresGrad_ changes a tensor");
    // From here on a shared tensor has a separate history for each element
    const leaf = this.#below(() => beginHistory(this.m, whole ?? this.#spread(tensor)));
    if (whole === null) {
      this.m.output.tensors.set(node, new TensorValue(tensor.meta, false, node, null, null));
    }
    tensor.node = this.#mark(tensor.meta, true);
    tensor.requiresGrad = true;
    this.#elements.set(tensor.node, tensor);
    return this.#startAt(tensor, leaf);
  }

  /** A tensor to differentiate with respect to: each element of the batch has its own. */
  ownHistory(tensor: TensorValue): TensorValue {
    const whole = this.wholeOf(tensor), { requiresGrad } = whole ?? tensor;
    if (!requiresGrad) return this.beginHistory(tensor);
    const leaf = whole ?? this.#below(() => ownHistory(this.m, this.#spread(tensor)));
    return this.#startAt(this.element(leaf), leaf);
  }

  /**
   * Makes calls on an element start from a tensor whose gradients have memory of their own, as those of `autograd.grad`
   * have.
   */
  #startAt(element: TensorValue, leaf: TensorValue): TensorValue {
    const { node } = element;
    if (node) {
      this.#leaves.set(node, leaf);
      const start = this.#below(() => recorded(this.m, () => this.#op("mul", [leaf, constant(1)])));
      this.#wholes.set(node, start);
      let copy = start;
      for (let batch = this.outer; batch; batch = batch.outer) copy = batch.wholeOf(copy) ?? copy;
      this.m.output.copiesOfLeaves.add(this.m.output.nodeOf(copy));
    }
    return element;
  }

  /** Expands a shared tensor along the batch. */
  #spread(tensor: TensorValue): TensorValue {
    const front = this.#op("unsqueeze", [tensor, constant(0)]);
    const sizes = [this.#size, ...tensor.meta.shape].map((size) => numberOfDim(this.m.output, size));
    return this.#op("expand", [front, newArray(this.m, sizes)]);
  }

  /** The tensor of a node, in any batch. */
  tensorAt(node: Node): TensorValue | undefined {
    return this.#elements.get(node) ?? this.outer?.tensorAt(node) ?? this.m.output.tensors.get(node);
  }

  #op(name: string, args: readonly Value[]): TensorValue {
    const made = callOp(this.m, this.m.opNamed(name), args, false);
    return made.kind === "tensor" ? made : breakGraph("batch", name);
  }

  gradients(request: CallRequest): Value {
    const { m } = this,
      [outputs = UNDEFINED, inputs = UNDEFINED, given = UNDEFINED, last = UNDEFINED] = request.args;
    const [roots, leaves] = [outputs, inputs].map((list) =>
      tensorsOf(m, list.kind === "tensor" ? newArray(m, [list]) : list)
    );
    const options = given.kind === "object" && given.exotic.kind !== "array" ? given : last;
    const named = options.kind === "object" ? m.plainProperty(options, "gradOutputs") : null;
    const asked = options === given || given.kind === "constant" ? named ?? NULL : given;
    const tangents = asked.kind === "tensor"
      ? [asked]
      : asked.kind === "object" && asked.exotic.kind === "array"
      ? allElements(m, asked)
      : [];
    const isBatched = [...roots ?? [], ...leaves ?? []].some((each) => this.wholeOf(each) !== null);
    if (!isBatched) {
      const ofElements = tangents.some((each) => each.kind === "tensor" && this.wholeOf(each) !== null);
      if (ofElements) return breakGraph("batch", "gradients of a tensor that all elements of a batch share");
      return this.#below(() => gradientsAsked(m, request));
    }
    const wholes = (leaves ?? []).map((leaf) =>
      (leaf.node && this.#leaves.get(leaf.node)) ?? this.wholeOf(leaf) ??
        breakGraph("batch", "a gradient of a tensor that all elements of a batch share")
    );
    const all = this.#below(() => {
      const outs = (roots ?? []).map((root) =>
        this.wholeOf(root) ?? breakGraph("batch", "a result without the batch")
      );
      const seeds = outs.map((out, k): Value => {
        const tangent = tangents[k] ?? NULL;
        if (tangent.kind !== "tensor") return this.#op("onesLike", [out]);
        return this.wholeOf(tangent) ??
          this.#op("expandAs", [this.#op("unsqueeze", [tangent, constant(0)]), out]);
      });
      const args = [newArray(m, outs), newArray(m, wholes), newArray(m, seeds), options];
      return gradientsAsked(m, { ...request, args });
    });
    if (all.kind !== "object") return breakGraph("batch", "gradients");
    return newArray(m, allElements(m, all).map((each) => each.kind === "tensor" ? this.element(each) : each));
  }

  /** Calls ops on whole batches. */
  #below<R>(body: () => R): R {
    const { m } = this;
    m.batch = this.outer;
    try {
      return body();
    } finally {
      m.batch = this;
    }
  }

  #made(definition: OpDefinition, given: Resolved): Value {
    const { implementation, gradient } = definition, rule = batchRuleOf(definition);
    if (implementation.kind === "composite" && !rule) {
      const recorded = this.m.gradEnabled &&
        tensorArguments(given).some(({ value }) => this.#requiresGrad(value));
      if (gradient.kind === "rule" && recorded) breakGraph("batch", `the gradient of ${definition.name}`);
      return this.#value(definition, implementation.compose(this.#api, given));
    }
    // Beside whole batches, all of which have dimensions, numbers would rank in another way
    const args = withFittingScalars(this.m, definition, given);
    const inferred: TensorMeta | readonly TensorMeta[] = definition.infer(
      mapArguments(args, ({ meta }) => meta),
    );
    const metas = [inferred].flat();
    const batched = new Set<GraphValue>();
    const wholes = mapArguments(args, (value) => {
      const whole = this.#wholes.get(value.node);
      if (!whole) return value;
      const shown = new GraphValue(this.m.output.nodeOf(whole), whole.meta);
      batched.add(shown);
      return shown;
    });
    const results = this.#below(() => {
      const o = makeOpApi<GraphValue>((part, given) =>
        this.#shown(
          part,
          callResolved(this.m, { definition: part, inplace: false }, parseCall(part, given, isGraphValue)),
        )
      );
      const run = (given: Resolved) =>
        [this.#shown(definition, callResolved(this.m, { definition, inplace: false }, given))].flat();
      const over = new BatchCall({ o, definition, args: wholes, batched, size: this.#size, out: metas, run });
      if (implementation.kind === "random") return drawn(over, this.#randomness);
      const found = viewsMemory(definition) ? null : rule?.apply(over) ?? null;
      return found === null ? breakGraph("batch", `${definition.name}, which has no rule`) : [found].flat();
    });
    const elements = results.map((result, k) => {
      const whole = this.tensorAt(result.node), meta = metas[k];
      const fits = whole && meta && sameShape(whole.meta.shape.slice(1), meta.shape) &&
        whole.meta.dtype === meta.dtype;
      return fits ? this.element(whole) : breakGraph("batch", `a result of ${definition.name}`);
    });
    const [only] = elements;
    return only && !Array.isArray(inferred) ? only : this.#named(definition, elements);
  }

  #inPlace(target: CallTarget, args: Resolved, isBatched: boolean): Value {
    const { m } = this, { definition } = target, [first] = tensorArguments(args);
    if (!isBatched || !first) {
      if (definition.implementation.kind === "random") {
        breakGraph("batch", "random numbers for all elements of a batch");
      }
      return this.#below(() => callResolved(m, target, args));
    }
    const element = this.#elements.get(first.value.node), whole = element && this.wholeOf(element);
    if (!element || !whole) return refuseCall("a write of a batch into a tensor that its elements share");
    if (definition.implementation.kind === "view") return breakGraph("batch", `${definition.name}_`);
    const made = this.call({ definition, inplace: false }, args);
    if (made.kind !== "tensor") return breakGraph("batch", `${definition.name}_`);
    checkInplace(first.value, { ...made.meta, requiresGrad: made.requiresGrad });
    this.#below(() => writeInto(m, whole, this.wholeOf(made) ?? made));
    for (const [node, each] of this.#elements) {
      each.requiresGrad = this.#wholes.get(node)?.requiresGrad ?? false;
    }
    return element;
  }

  #requiresGrad({ node }: GraphValue): boolean {
    return this.tensorAt(node)?.requiresGrad ?? false;
  }

  /** Returns the result of a call as values that ops accept. */
  #shown(definition: OpDefinition, value: Value): GraphValue | readonly GraphValue[] {
    const shown = (each: Value): GraphValue =>
      each.kind === "tensor"
        ? new GraphValue(this.m.output.nodeOf(each), each.meta)
        : breakGraph("batch", `a part of ${definition.name}`);
    return value.kind === "object"
      ? nameResults(definition, allElements(this.m, value).map(shown))
      : shown(value);
  }

  /** Returns the result of a composition as values of the program. */
  #value(definition: OpDefinition, result: GraphValue | readonly GraphValue[]): Value {
    const traced = ({ node }: GraphValue): TensorValue =>
      this.tensorAt(node) ?? breakGraph("batch", `a part of ${definition.name}`);
    return isGraphValue(result) ? traced(result) : this.#named(definition, result.map(traced));
  }

  #named(definition: OpDefinition, values: readonly TensorValue[]): Value {
    return namedArray(this.m, definition, values);
  }
}
