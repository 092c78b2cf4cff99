/**
 * Attention in one kernel for devices with workgroups (Dao et al. 2022): fuses the product that computes the scores,
 * the softmax kernels that turn their rows into weights, and the product of these with values, which then computes its
 * weights on the fly. Invariant: only patterns that are fully recognised are fused: rows are shifted by their maximum,
 * exponentials are summed, and all else is elementwise. Maxima and sums that a backward pass needs are stored as
 * before.
 */
import { hintOf } from "../sym/decide.ts";
import type { AttentionWeights, BufferDecl, ExternKernel, Program, ValueId } from "../loops/ir.ts";
import { Mentions, usesOf } from "../loops/uses.ts";
import { laidOut } from "../loops/arena.ts";
import { axisOf } from "./strip_mining.ts";
import { masksColumns } from "./masked_columns.ts";
import { chainFrom, type Found, withChain } from "./row_chain.ts";
import type { RowBlock } from "./row_form.ts";
import { RowValues } from "./row_values.ts";
import type { Grid, Target } from "./target.ts";

/** With fewer rows, tiles would be mostly empty. */
const LEAST_ROWS = 16;

/** Fuses attention into single kernels. */
export function fusedAttention(program: Program, { grid, kernelBuffers }: Target): Program {
  if (!grid) return program;
  let found = program;
  const mentions = new Mentions(program.kernels);
  for (let at = 0; at < found.kernels.length; at++) {
    const chain = chainFrom(found, { at, whole: false, mentions });
    const fused = chain && fusedChain(found, chain, grid);
    if (fused && usesOf(fused).all.size <= kernelBuffers) found = withAttention(found, chain, fused);
  }
  return found === program ? program : laidOut(found);
}

function withAttention(program: Program, found: Found, kernel: ExternKernel): Program {
  const { chain, isLocal } = found, { epilogue } = kernel;
  const after = chain.after.filter((each) => each !== epilogue);
  const buffers = program.buffers.map((buffer, id): BufferDecl =>
    isLocal(id) ? { ...buffer, role: { kind: "local" } } : buffer
  );
  return { ...withChain(program, found, [...chain.before, kernel, ...after]), buffers };
}

/** The kernel that replaces a chain of kernels; undefined if the pattern is not recognised. */
function fusedChain(
  program: Program,
  { chain, scores, end, isLocal }: Found,
  grid: Grid,
): ExternKernel | undefined {
  const { rows, batch } = scores.space, last = program.kernels[end - 1];
  const at = last ? chain.kernels.findLastIndex((kernel) => kernel.kind === "extern") : -1;
  const first = chain.kernels[0], between = chain.kernels.slice(1, at);
  if (first?.kind !== "extern" || last?.kind !== "extern" || at < 2 || chain.steps[at]?.adds) {
    return undefined;
  }
  const [queries, keys] = first.inputs, [weights, values] = last.inputs, [out] = last.outputs;
  if (!queries || !keys || !weights || !values || !out || !isLocal(scores.buffer)) return undefined;
  const isFloat = [queries, keys, values, out, weights].every(({ buffer }) =>
    program.buffers[buffer]?.dtype === "float32"
  );
  const columns = out.shape.at(-1) ?? 1;
  if (!isFloat || !isLocal(weights.buffer) || hintOf(rows) < LEAST_ROWS || typeof columns !== "number") {
    return undefined;
  }
  const block = grid.attention(columns);
  const row = axisOf("m", rows).symbol, key = axisOf("n", scores.columns).symbol;
  const matrix = axisOf("b", batch).symbol;
  if (block === undefined) return undefined;
  const found = new RowValues({ row, key, columns: scores.columns, isLocal });
  const product = found.product(scores.buffer);
  const whole: RowBlock = { ...scores.space, matrix: batch === 1 ? 0 : matrix, first: 0, count: rows };
  const understood = between.every((_, k) => {
    const kernel = chain.steps[k + 1]?.forBlock(whole, isLocal);
    const loop = kernel?.kind === "loops" ? kernel.body.at(-1) : undefined;
    if (kernel?.kind !== "loops" || loop?.kind !== "loop") return false;
    return found.take([...kernel.body.slice(0, -1), ...loop.body], loop.axis.symbol);
  });
  const softmax = understood ? softmaxOf(found, product, found.held(weights.buffer)) : undefined;
  if (!softmax) return undefined;
  const { epilogue } = last, isBehind = epilogue && chain.after.includes(epilogue);
  if (epilogue && !isBehind && !chain.kernels.slice(at + 1).includes(epilogue)) return undefined;
  return {
    ...last,
    name: `attention_${last.name}`,
    origins: [...new Set(chain.kernels.flatMap(({ origins }) => origins))],
    originals: chain.kernels.slice(0, at + 1).flatMap(({ originals }) => originals ?? []),
    weights: {
      ...softmax,
      queries,
      keys,
      matrix,
      row,
      key,
      product,
      block,
      causal: masksColumns({ chain, scores, isLocal }, { steps: at + 1, rows: block }),
    },
  };
}

type Softmax = Pick<AttentionWeights, "score" | "factor" | "maximum" | "sum" | "finish">;

/** Weights as exp(score − maximum) · factors, some of which are constant along a row. */
function softmaxOf(found: RowValues, product: ValueId, weight: ValueId | undefined): Softmax | undefined {
  const [maximum, sum, another] = found.reductions;
  if (maximum?.op !== "max" || sum?.op !== "sum" || another || weight === undefined) return undefined;
  const shifted = operandsOf(found, sum.value, "exp")?.[0], parts = operandsOf(found, shifted, "sub");
  if (!parts || parts[0] !== maximum.value || !isShift(found, parts[1], maximum.id)) return undefined;
  const factors = factorsOf(found, weight);
  const own = factors?.findIndex((each) => !each.inverse && each.id === sum.value) ?? -1;
  if (!factors || own < 0) return undefined;
  const others = factors.toSpliced(own, 1),
    one = found.add({ kind: "constant", id: 0, value: 1, dtype: "float32" });
  const all = (list: readonly Factor[]): ValueId =>
    list.reduce<ValueId>((all, { id, inverse }) => {
      const args = [all, id];
      return all === one && !inverse
        ? id
        : found.add({ kind: "scalar", id: 0, op: inverse ? "div" : "mul", args, dtype: "float32" });
    }, one);
  const elements = others.filter(({ id }) => !found.isOfRow(id));
  const score = found.piece(maximum.value, [product]);
  const factor = elements.length > 0 ? found.piece(all(elements), []) : undefined;
  const scale = all(others.filter(({ id }) => found.isOfRow(id)));
  const finish = found.piece(scale, [maximum.id, sum.id], found.stores);
  if (!score || !finish || (elements.length > 0 && !factor) || found.readsStored()) return undefined;
  return { score, factor, maximum: maximum.id, sum: sum.id, finish };
}

function operandsOf(found: RowValues, id: ValueId | undefined, op: string): readonly ValueId[] | undefined {
  const node = id === undefined ? undefined : found.node(id);
  return node?.kind === "scalar" && node.op === op ? node.args : undefined;
}

/** Returns whether a value is the maximum, or its replacement by 0 where it is −∞. */
function isShift(found: RowValues, id: ValueId | undefined, maximum: ValueId): boolean {
  if (id === undefined || id === maximum) return id === maximum;
  const node = found.node(id);
  if (node?.kind !== "select" || node.otherwise !== maximum) return false;
  const is = (value: ValueId | undefined, constant: number) => {
    const known = value === undefined ? undefined : found.node(value);
    return known?.kind === "constant" && known.value === constant;
  };
  const compared = operandsOf(found, node.condition, "eq");
  const [a, b] = compared ?? [];
  return is(node.then, 0) && ((a === maximum && is(b, -Infinity)) || (b === maximum && is(a, -Infinity)));
}

interface Factor {
  readonly id: ValueId;
  /** Whether the weight is divided by it. */
  readonly inverse: boolean;
}

/** Returns the factors of a value. */
function factorsOf(found: RowValues, id: ValueId): readonly Factor[] | undefined {
  const product = operandsOf(found, id, "mul"), quotient = operandsOf(found, id, "div");
  const [a, b] = product ?? quotient ?? [];
  if (a === undefined || b === undefined || found.isOfRow(id)) return [{ id, inverse: false }];
  const left = factorsOf(found, a), right = product ? factorsOf(found, b) : [{ id: b, inverse: true }];
  return left && right && [...left, ...right];
}
