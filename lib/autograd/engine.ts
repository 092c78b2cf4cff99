/**
 * The backward engine: walks the graph from roots to leaves in descending order of creation, sums the gradients that
 * arrive at each node and runs it. It accumulates into `.grad` of leaves, or returns the requested gradients.
 * Invariant: every node runs at most once, after all that contribute to it; memory of intermediate gradients that
 * nothing can reference is freed immediately.
 */
import { asProgram } from "../base/own_builtins.ts";
import { checkedTensors, checkTensor } from "../tensor/checked.ts";
import { DynError, InternalError } from "../base/errors.ts";
import { AssumptionFailed } from "../graph/numbers.ts";
import { isFloat } from "../base/dtype.ts";
import { ownWeakSet } from "../base/collections.ts";
import { observed } from "../base/observation.ts";
import { type BackwardOptions, replaceGradient } from "../tensor/autograd_state.ts";
import { aliasOf, asWhole, ops } from "../tensor/eager.ts";
import { checkGradient } from "../tensor/gradient_checks.ts";
import { setGradEnabled } from "../tensor/modes.ts";
import { lastSerial, type Storage, watchAllocations } from "../tensor/storage.ts";
import { autogradStateOf, isTensor, modes, Tensor } from "../tensor/tensor.ts";
import { withoutSubclasses } from "../tensor/tensor_subclass.ts";
import { checkGradients } from "./anomaly.ts";
import { runPass } from "./deferred/compiled_passes.ts";
import { AccumulateGrad, type Edge, fitGradient, gradientEdge, Node } from "./node.ts";

/** Adds gradients of the roots to the `.grad` of the leaves, or of `inputs` alone. */
export function backward(
  roots: readonly Tensor[],
  gradients: readonly (Tensor | null)[],
  options: BackwardOptions & { readonly inputs?: Tensor | readonly Tensor[] | null | undefined } = {},
): void {
  const edges = rootEdges(roots, gradients);
  if (options.inputs) {
    return backwardInto(edges, checkedTensors(options.inputs, "inputs of backward"), options);
  }
  new Pass(edges, {
    createGraph: options.createGraph ?? false,
    retainGraph: keeps(options),
    captures: null,
    hooks: "all",
  })
    .run();
}

/** Adds gradients of the roots to the `.grad` of some tensors. Throws DynError if there are none. */
function backwardInto(roots: readonly Root[], inputs: readonly Tensor[], options: BackwardOptions): void {
  if (inputs.length === 0) throw new DynError("Expected inputs of backward but found an empty list");
  const edges = edgesOf(inputs), found = capture(roots, edges, { ...options, hooks: "all" });
  inputs.forEach((input, k) => {
    const grad = found[k], node = edges[k]?.node;
    if (!grad) return;
    addGradient(input, grad, { ...options, own: (each) => ops.clone(each) });
    if (node instanceof AccumulateGrad) {
      callAfterHooks(node, input);
    }
  });
}

/** Adds a gradient to that of a tensor; `own` creates the gradient to keep. Returns whether it is the first. */
function addGradient(
  tensor: Tensor,
  grad: Tensor,
  { createGraph, own }: Pick<BackwardOptions, "createGraph"> & { readonly own: (grad: Tensor) => Tensor },
): boolean {
  const state = autogradStateOf(tensor), { grad: before } = state;
  if (before === null) state.grad = own(grad);
  else if (createGraph || before.requiresGrad) replaceGradient(state, ops.add(before, grad));
  else before.add_(grad);
  return before === null;
}

/** Returns the gradients of some inputs, null for those that do not contribute. The `.grad` of leaves is unchanged. */
export function gradientsAt(
  inputs: readonly Tensor[],
  outputs: readonly Tensor[],
  { tangents, ...options }: BackwardOptions & { readonly tangents: readonly (Tensor | null)[] },
): (Tensor | null)[] {
  const captures = edgesOf(inputs);
  return capture(rootEdges(outputs, tangents), captures, { ...options, hooks: "all" });
}

/**
 * `grad` for graphs, in which every input contributes, and which call the hooks of leaves themselves. Throws
 * AssumptionFailed if one does not, because an op with a gradient of its own returned none for it.
 */
export function gradients(
  outputs: readonly Tensor[],
  inputs: readonly Tensor[],
  { tangents, ...options }: BackwardOptions & { readonly tangents: readonly (Tensor | null)[] },
): Tensor[] {
  return capture(rootEdges(outputs, tangents), edgesOf(inputs), { ...options, hooks: "results" })
    .map((found, k) => {
      if (found) return found;
      throw new AssumptionFailed(`Expected a gradient of input ${k} but found none`);
    });
}

/** Returns the gradients of some edges. */
function capture(
  roots: readonly Root[],
  captures: readonly Edge[],
  { hooks, ...options }: BackwardOptions & Pick<PassOptions, "hooks">,
): (Tensor | null)[] {
  const pass = new Pass(roots, {
    createGraph: options.createGraph ?? false,
    retainGraph: keeps(options),
    captures,
    hooks,
  });
  pass.run();
  // A gradient that was passed in is returned itself, and one gradient of two inputs is one tensor. A rule may have
  // created it as a view, whose history is not that of its base; modes track tensors by identity
  const whole = new Map(roots.map(({ grad }) => [grad, grad]));
  return captures.map((_, k) => {
    const found = pass.captured[k] ?? null;
    return found && modes.top === null ? whole.getOrInsertComputed(found, asWhole) : found;
  });
}

function edgesOf(inputs: readonly Tensor[]): Edge[] {
  return inputs.map((input, k) => {
    checkTensor(input, "an input of gradients");
    const edge = gradientEdge(input);
    if (!edge) throw new DynError(`Expected an input that requires grad but input ${k} does not`);
    return edge;
  });
}

const keeps = ({ retainGraph, createGraph }: BackwardOptions): boolean => retainGraph ?? createGraph ?? false;

interface Root {
  readonly edge: Edge;
  readonly grad: Tensor;
}

function rootEdges(roots: readonly Tensor[], gradients: readonly (Tensor | null)[]): Root[] {
  return roots.map((root, k) => {
    checkTensor(root, "a backward pass");
    const edge = gradientEdge(root);
    if (!edge) {
      throw new DynError(
        `Expected a tensor that requires grad and has a gradFn but element ${k} of tensors does not`,
      );
    }
    const given = gradients[k] ?? null;
    if (given === null) {
      if (root.numel() !== 1) {
        throw new DynError(
          `Expected a scalar output, or a gradient for it, but grad can be implicitly created only for scalar outputs and found shape [${root.shape}]`,
        );
      }
      if (!isFloat(root.dtype)) {
        throw new DynError(
          `Expected a real output, or a gradient for it, but grad can be implicitly created only for real scalar outputs and found ${root.dtype}`,
        );
      }
      return { edge, grad: withoutSubclasses(() => ops.onesLike(root)) };
    }
    if (`${given.shape}` !== `${root.shape}`) {
      throw new DynError(
        `Expected a gradient of shape [${root.shape}] for output ${k} but found [${given.shape}]`,
      );
    }
    return { edge, grad: given };
  });
}

interface PassOptions {
  readonly createGraph: boolean;
  readonly retainGraph: boolean;
  /** The edges whose gradients are returned instead of added to `.grad`. */
  readonly captures: readonly Edge[] | null;
  /** Which hooks run: also those of leaves, or only those of results of operations. */
  readonly hooks: "all" | "results";
}

/** The backward passes that run, the innermost last. */
const running: Pass[] = [];

/** The present backward pass. Throws InternalError outside of one. */
export function currentPass(): Pick<Pass, "reaches"> {
  const pass = running.at(-1);
  if (!pass) throw new InternalError("Expected a backward pass but found none");
  return pass;
}

/** One backward pass. */
class Pass {
  readonly captured: (Tensor | null)[] = [];
  readonly #dependencies = new Map<Node, number>();
  /** The nodes on the way to wanted gradients, by their edges, and the results whose gradients are wanted. */
  readonly #leading = new Map<Node, readonly number[]>();
  readonly #wanted = new Map<Node, Set<number>>();
  readonly #buffers = new Map<Node, (Tensor | null)[]>();
  /** Number of buffered gradients in each storage made by this pass. */
  readonly #pending = new Map<Storage, number>();
  /** Storages that left the pass: in `.grad`, captured, or seen by a hook. */
  readonly #given = ownWeakSet<Storage>();
  /** Tensors that had no gradient before this pass. */
  readonly #firsts: Tensor[] = [];
  readonly #start = lastSerial();

  constructor(readonly roots: readonly Root[], readonly options: PassOptions) {
    for (const { node, output } of options.captures ?? []) {
      const outputs = this.#wanted.get(node) ?? new Set();
      for (const each of [output, ...node.dependents(output)]) outputs.add(each);
      this.#wanted.set(node, outputs);
    }
  }

  run(): void {
    const { roots, options: { createGraph } } = this;
    const devices = new Set(roots.map(({ grad }) => grad.device));
    running.push(this);
    try {
      runPass({ createGraph, devices }, () => setGradEnabled(createGraph, () => this.#walk()));
    } catch (error) {
      // Promised gradients that were never computed are absent
      for (const tensor of this.#firsts) if (tensor.grad?.storage.filled === false) tensor.grad = null;
      throw error;
    } finally {
      running.pop();
    }
  }

  #walk(): void {
    const order = this.#collect();
    for (const { edge, grad } of this.roots) {
      this.#given.add(grad.storage);
      this.#add(edge, grad);
    }
    for (const { edge: { node } } of this.roots) {
      if (node instanceof AccumulateGrad && this.#dependencies.get(node) === 0) this.#finish(node);
    }
    for (const node of order) this.#finish(node);
  }

  /** Returns all operations reachable from the roots, in execution order. */
  #collect(): Node[] {
    const found: Node[] = [];
    const stack: Node[] = [];
    const visit = (node: Node) => {
      if (this.#dependencies.has(node)) return;
      this.#dependencies.set(node, 0);
      stack.push(node);
    };
    for (const { edge } of this.roots) visit(edge.node);
    for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
      if (!(node instanceof AccumulateGrad)) found.push(node);
      for (const edge of node.edges) {
        if (!edge) continue;
        visit(edge.node);
        this.#dependencies.set(edge.node, (this.#dependencies.get(edge.node) ?? 0) + 1);
      }
    }
    found.sort((a, b) => b.sequence - a.sequence);
    if (this.options.captures) {
      for (const node of found.toReversed()) {
        const needed = node.edges.flatMap((edge, k) => edge !== null && this.#isNeeded(edge) ? [k] : []);
        if (needed.length > 0) this.#leading.set(node, needed);
      }
    }
    return found;
  }

  /** Returns whether gradients flow to an edge in this pass. */
  reaches(edge: Edge): boolean {
    return this.#dependencies.has(edge.node) && this.#isNeeded(edge);
  }

  /** Returns whether gradients must arrive at a result of a node. */
  #isNeeded({ node, output }: Edge): boolean {
    if (this.options.captures === null || this.#wanted.get(node)?.has(output)) return true;
    return this.#leading.get(node)?.some((edge) => node.reaches(output, edge)) === true;
  }

  /** Returns whether a node must pass gradients on. */
  #runs(node: Node): boolean {
    return this.options.captures === null || this.#leading.has(node);
  }

  /** Adds a gradient to the sum at an edge. */
  #add({ node, output }: Edge, grad: Tensor): void {
    let buffer = this.#buffers.get(node);
    if (!buffer) this.#buffers.set(node, buffer = []);
    const before = buffer[output] ?? null;
    if (before === null) {
      buffer[output] = grad;
      this.#hold(grad.storage);
      return;
    }
    const sum = ops.add(before, grad);
    buffer[output] = sum;
    this.#hold(sum.storage);
    this.#drop(before);
    this.#hold(grad.storage);
    this.#drop(grad);
  }

  #hold(storage: Storage): void {
    this.#pending.set(storage, (this.#pending.get(storage) ?? 0) + 1);
  }

  /** Frees the memory of a consumed gradient unless something else refers to it. */
  #drop(grad: Tensor): void {
    const { storage } = grad;
    const left = (this.#pending.get(storage) ?? 1) - 1;
    this.#pending.set(storage, left);
    if (left > 0) return;
    this.#pending.delete(storage);
    this.#releaseIfDead(storage);
  }

  #releaseIfDead(storage: Storage): void {
    if (this.options.createGraph || storage.serial <= this.#start) return;
    if (this.#given.has(storage) || this.#pending.has(storage)) return;
    storage.release();
  }

  /** Runs a node on its gradients. */
  #finish(node: Node): void {
    const grads = this.#buffers.get(node) ?? [];
    this.#buffers.delete(node);
    node.precondition?.();
    const arrived = grads.slice();
    const hidden = this.#hidden(node, grads);
    this.#hooks(node, grads, hidden);
    let results: readonly (Tensor | null)[] | undefined;
    if (hidden.length > 0) {
      const inside = node.applyInside(fill(grads), { results: hidden, wanted: this.#isWanted(node) });
      results = inside.edges;
      for (const [output, grad] of inside.results) {
        grads[output] = grad;
        this.#given.add(grad.storage);
      }
    }
    this.#retain(node, grads);
    this.#capture(node, grads);
    if (node instanceof AccumulateGrad) {
      const [grad] = grads;
      // The leaf may have been told since that it requires none
      if (grad && this.options.captures === null && node.variable.requiresGrad) {
        this.#accumulate(node.variable, grad);
        callAfterHooks(node, node.variable);
      }
    } else if (this.#runs(node) && grads.some((g) => g)) {
      this.#apply(node, grads, results);
    } else if (hidden.length > 0 && !this.options.retainGraph) {
      // Gradients between its results have been computed, although none of its inputs needs one
      node.release();
    }
    for (const grad of arrived) if (grad) this.#drop(grad);
    if (node instanceof AccumulateGrad) return;
    for (const edge of node.edges) {
      if (!edge) continue;
      const left = (this.#dependencies.get(edge.node) ?? 1) - 1;
      this.#dependencies.set(edge.node, left);
      if (left === 0 && edge.node instanceof AccumulateGrad) this.#finish(edge.node);
    }
  }

  /** Returns results whose gradient is wanted and partly flows inside the node. */
  #hidden(node: Node, grads: readonly (Tensor | null)[]): number[] {
    const { captures } = this.options;
    const asked = new Set([
      ...node.hooks.entries().flatMap(([output, hooks]) =>
        hooks.size > 0 && this.#isNeeded({ node, output }) ? [output] : []
      ),
      ...captures
        ? captures.flatMap((edge) => edge.node === node ? [edge.output] : [])
        : node.retained.keys(),
    ]);
    return [...asked].filter((output) => node.dependents(output).some((other) => grads[other]));
  }

  #hooks(node: Node, grads: (Tensor | null)[], hidden: readonly number[]): void {
    if (node instanceof AccumulateGrad && this.options.hooks === "results") return;
    for (const [output, hooks] of node.hooks) {
      if (hidden.includes(output)) continue;
      for (const hook of hooks.values()) {
        const grad = grads[output];
        if (!grad) break;
        this.#given.add(grad.storage);
        const replaced = replacedBy(asProgram(() => hook(grad)), grad);
        if (replaced === grad) continue;
        grads[output] = replaced;
        this.#given.add(replaced.storage);
      }
    }
  }

  #retain(node: Node, grads: readonly (Tensor | null)[]): void {
    for (const [output, tensor] of node.retained) {
      const grad = grads[output];
      if (!grad || this.options.captures !== null) continue;
      const before = tensor.grad;
      tensor.grad = before === null ? this.#own(grad) : ops.add(before, grad);
      if (before === null) this.#firsts.push(tensor);
    }
  }

  #capture(node: Node, grads: readonly (Tensor | null)[]): void {
    this.options.captures?.forEach((edge, k) => {
      if (edge.node !== node) return;
      const grad = grads[edge.output];
      if (!grad) return;
      this.captured[k] = grad;
      this.#given.add(grad.storage);
    });
  }

  /** Returns a predicate for the edges of a node at which a gradient is wanted. */
  #isWanted(node: Node): (k: number) => boolean {
    return (k) => {
      const edge = node.edges[k];
      return edge !== null && edge !== undefined && this.#isNeeded(edge);
    };
  }

  /** Passes gradients on: `found`, or else those that the node computes. */
  #apply(
    node: Node,
    grads: readonly (Tensor | null)[],
    found: readonly (Tensor | null)[] | undefined,
  ): void {
    const wanted = this.#isWanted(node);
    const complete = node.edges.length === 0 ? grads : fill(grads);
    const watch = node.ownsTemporaries && !this.options.createGraph;
    const apply = (given: readonly (Tensor | null)[]) => node.apply(given, { wanted });
    const mode = node.isOpaque ? modes.top : null;
    const run = () => found ?? (mode?.apart ? mode.apart(complete, apply) : apply(complete));
    const seen = () => observed.by === null ? run() : observed.by.span("backward", node.name, run);
    const { result, allocated } = watch ? watchAllocations(seen) : { result: seen(), allocated: [] };
    if (!this.options.retainGraph) node.release();
    checkGradients(node.name, node.madeAt, result);
    if (node.keepsGradients) {
      for (const grad of [...complete, ...result]) if (grad) this.#given.add(grad.storage);
    }
    if (result.length !== node.edges.length) {
      throw new InternalError(
        `Expected ${node.edges.length} gradients from ${node.name} but found ${result.length}`,
      );
    }
    // Gradients may share memory, which is dead only once all are passed on
    const handed = result.filter((grad, k): grad is Tensor =>
      grad !== null && node.edges[k] !== null && wanted(k)
    );
    for (const grad of handed) this.#hold(grad.storage);
    result.forEach((grad, k) => {
      const edge = node.edges[k];
      if (edge && grad && wanted(k)) this.#add(edge, fitTo(node, k, grad));
    });
    for (const grad of handed) this.#drop(grad);
    for (const storage of allocated) this.#releaseIfDead(storage);
  }

  /** Adds to a leaf's `.grad`, preserving its storage. */
  #accumulate(variable: Tensor, grad: Tensor): void {
    const { createGraph } = this.options;
    if (addGradient(variable, grad, { createGraph, own: (each) => this.#own(each) })) {
      this.#firsts.push(variable);
    }
  }

  /** Returns a gradient to keep: itself if nothing else has its memory, else a copy. */
  #own(grad: Tensor): Tensor {
    const { storage } = grad;
    if (this.options.createGraph) return this.#given.has(storage) ? ops.clone(grad) : grad;
    const fresh = storage.serial > this.#start && !storage.isKept && !this.#given.has(storage) &&
      grad.isContiguous() && grad.offset === 0 && (this.#pending.get(storage) ?? 0) <= 1;
    if (!fresh) return ops.clone(grad);
    this.#given.add(storage);
    return aliasOf(grad);
  }
}

/** Replaces holes of a sparse list by null. */
function fill(grads: readonly (Tensor | null)[]): readonly (Tensor | null)[] {
  return Array.from(grads, (grad) => grad ?? null);
}

/**
 * Calls the hooks of a leaf to which a gradient was added. Throws DynError for a tensor that one returns, which would be
 * lost; methods that write in place return the leaf or its gradient.
 */
function callAfterHooks(node: AccumulateGrad, leaf: Tensor): void {
  for (const hook of node.after.values()) {
    const given = asProgram<unknown>(() => hook(leaf));
    if (!isTensor(given) || given === leaf || given === leaf.grad) continue;
    throw new DynError(
      "Expected nothing from a hook after a gradient was added but found a tensor, which replaces none; " +
        "assign it to .grad of the hook's argument",
    );
  }
}

/** Returns the gradient to use after a hook. Throws DynError if the hook returned an incompatible one. */
function replacedBy(given: unknown, grad: Tensor): Tensor {
  if (given === undefined || given === null) return grad;
  checkTensor(given, "a gradient that a hook returns");
  checkGradient(given, grad, "a gradient from a hook");
  return given;
}

function fitTo(node: Node, k: number, grad: Tensor): Tensor {
  const layout = node.inputs[k];
  return layout ? fitGradient(grad, layout, node.name) : grad;
}
