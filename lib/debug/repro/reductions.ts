/**
 * Reductions of a failing case, each of which tries smaller cases. Invariant: a reduced case fails in the same way as
 * the original; a change that the ops reject counts as one that does not fail.
 */
import { type DType } from "../../base/dtype.ts";
import { DynError, orNull } from "../../base/errors.ts";
import { type Argument, isList, type Node } from "../../graph/node.ts";
import { probeGraph, tensorCalls } from "../../graph/probe.ts";
import { ops } from "../../tensor/eager.ts";
import { noGrad } from "../../tensor/modes.ts";
import { isTensor, type Tensor } from "../../tensor/tensor.ts";
import { copyArguments } from "../check/copies.ts";
import { type Call, type Edit, rebuild } from "./rebuild.ts";

/** Returns whether a changed call still fails in the same way. */
export type Fails = (call: Call) => boolean;

/** A kind of reduction. */
export interface Reduction {
  readonly name: string;
  readonly run: (call: Call, fails: Fails) => Call;
}

/** Returns the changed call if it can be built and fails, else null. */
function tried(call: Call, edit: Edit, fails: Fails): Call | null {
  const changed = orNull(DynError, () => rebuild(call, edit));
  return changed && fails(changed) ? changed : null;
}

/** All reductions, the most effective first. */
export const REDUCTIONS: readonly Reduction[] = [
  { name: "cut off the end", run: cutEnd },
  { name: "drop results", run: dropResults },
  { name: "take nodes out", run: (call, fails) => inChunks(call, fails, withoutNodes) },
  { name: "make values inputs", run: (call, fails) => inChunks(call, fails, withInputs) },
  { name: "shrink sizes", run: shrinkSizes },
  { name: "simplify inputs", run: simplifyInputs },
];

/** Finds the shortest failing prefix of the graph, by halving, then step by step. */
function cutEnd(call: Call, fails: Fails): Call {
  const nodes = tensorCalls(call.gm.graph);
  const upTo = (at: number): Call | null => {
    const node = nodes[at];
    return node ? tried(call, { output: [node] }, fails) : null;
  };
  let best: Call | null = null, low = -1, high = nodes.length - 1;
  // The last node may not be the one that fails: halving starts at the last that does
  for (; high >= 0 && !best; high--) best = upTo(high);
  if (!best) return call;
  for (high++; high - low > 1;) {
    const middle = low + high >> 1, found = upTo(middle);
    if (found) {
      best = found;
      high = middle;
    } else low = middle;
  }
  return best;
}

/** Removes results that the failure does not need. */
function dropResults(call: Call, fails: Fails): Call {
  let best = call;
  for (let at = 0; at < resultsOf(best).length;) {
    const results = resultsOf(best);
    const found = results.length > 1 ? tried(best, { output: results.toSpliced(at, 1) }, fails) : null;
    if (found) best = found;
    else at++;
  }
  return best;
}

function resultsOf({ gm }: Call): readonly Argument[] {
  const [list = null] = gm.graph.output.args;
  return isList(list) ? list : [list];
}

/** Applies a change to halves of the nodes, quarters, … and single nodes, as delta debugging does. */
function inChunks(call: Call, fails: Fails, edit: (call: Call, nodes: readonly Node[]) => Edit | null): Call {
  let best = call;
  for (
    let size = Math.ceil(tensorCalls(best.gm.graph).length / 2);
    size >= 1;
    size = size === 1 ? 0 : size >> 1
  ) {
    for (let from = 0; from < tensorCalls(best.gm.graph).length;) {
      const nodes = tensorCalls(best.gm.graph);
      const change = edit(best, nodes.slice(from, from + size));
      const found = change && tried(best, change, fails);
      if (found) best = found;
      else from += size;
    }
  }
  return best;
}

/** Replaces each node by its first operand of the same type and sizes. */
function withoutNodes(_call: Call, nodes: readonly Node[]): Edit | null {
  const replaced = new Map<Node, Argument>();
  for (const node of nodes) {
    const operand = [...node.inputs()].find((input) => isAlike(input, node));
    if (operand) replaced.set(node, operand);
  }
  return replaced.size === 0 ? null : { replaced };
}

function isAlike({ meta: { value: a } }: Node, { meta: { value: b } }: Node): boolean {
  return a.kind === "tensor" && b.kind === "tensor" && a.tensor.dtype === b.tensor.dtype &&
    `${a.tensor.shape}` === `${b.tensor.shape}`;
}

/** Replaces each node by an input with the node's value. */
function withInputs({ gm, args }: Call, nodes: readonly Node[]): Edit | null {
  const { module, nodes: all } = probeGraph(gm, { as: "clone", keepsResults: false });
  let values: unknown;
  try {
    values = noGrad(() => module.forward(...copyArguments(args).args));
  } catch {
    return null;
  }
  if (!Array.isArray(values)) return null;
  const inputs = new Map<Node, unknown>();
  for (const node of nodes) {
    const value: unknown = values[all.indexOf(node)];
    const { value: known } = node.meta;
    if (!isTensor(value)) continue;
    inputs.set(node, known.kind === "tensor" && known.requiresGrad ? value.requiresGrad_() : value);
  }
  return inputs.size === 0 ? null : { inputs };
}

/** Reduces every size of the inputs to 1, 2 or half, consistently wherever the program has that number. */
function shrinkSizes(call: Call, fails: Fails): Call {
  let best = call;
  const sizes = (): number[] =>
    [...new Set(best.args.filter(isTensor).flatMap(({ shape }) => [...shape]))].filter((size) => size > 1)
      .sort((a, b) => b - a);
  const failed = new Set<string>();
  for (let changed = true; changed;) {
    changed = false;
    for (const size of sizes()) {
      for (const smaller of [1, 2, 3, size >> 1]) {
        const key = `${size} ${smaller}`;
        if (smaller < 1 || smaller >= size || failed.has(key)) continue;
        const constant = (value: number) => value === size ? smaller : value;
        const found = tried(
          best,
          { args: best.args.map((arg) => shrunk(arg, size, smaller)), constant },
          fails,
        );
        if (found) {
          best = found;
          changed = true;
          break;
        }
        failed.add(key);
      }
    }
  }
  return best;
}

/** Takes the first elements along every dimension of one size. */
function shrunk(arg: unknown, size: number, smaller: number): unknown {
  if (arg === size) return smaller;
  if (!isTensor(arg) || !arg.shape.includes(size)) return arg;
  return remade(
    arg,
    (tensor) =>
      tensor.shape.reduce<Tensor>(
        (part, each, dim) => each === size ? ops.slice(part, dim, 0, smaller) : part,
        tensor,
      ),
  );
}

/** Creates a leaf with its own memory from a tensor's elements. */
function remade(tensor: Tensor, change: (tensor: Tensor) => Tensor): Tensor {
  const made = noGrad(() => ops.clone(ops.contiguous(change(tensor.detach()))));
  return tensor.requiresGrad ? made.requiresGrad_() : made;
}

const SMALLER_TYPES: Readonly<Partial<Record<DType, DType>>> = { float64: "float32", int64: "int32" };

/** Simplifies inputs one by one: no gradient, row-major, a smaller type, simple elements. */
function simplifyInputs(call: Call, fails: Fails): Call {
  let best = call;
  const changes: readonly ((tensor: Tensor) => Tensor | null)[] = [
    (tensor) => tensor.requiresGrad ? tensor.detach() : null,
    (tensor) => tensor.isContiguous() && tensor.offset === 0 ? null : remade(tensor, (each) => each),
    (tensor) => {
      const smaller = SMALLER_TYPES[tensor.dtype];
      return smaller === undefined ? null : remade(tensor, (each) => ops.to(each, smaller));
    },
    (tensor) => tensor.isFloatingPoint() ? remade(tensor, (each) => ops.onesLike(each)) : null,
    (tensor) =>
      tensor.isFloatingPoint()
        ? remade(tensor, (each) => ops.div(ops.round(ops.mul(each, 4)), 4))
        : remade(tensor, (each) => ops.zerosLike(each)),
  ];
  for (let at = 0; at < best.args.length; at++) {
    for (const change of changes) {
      const arg = best.args[at];
      const changed = isTensor(arg) ? change(arg) : null;
      if (!changed) continue;
      best = tried(best, { args: best.args.with(at, changed) }, fails) ?? best;
    }
  }
  return best;
}
