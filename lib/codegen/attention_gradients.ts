/**
 * Gradients of attention in few kernels for devices with workgroups (Dao et al. 2022): fuses the products behind scores
 * and gradients of weights, the elementwise kernels on them, and the products that produce gradients of queries, keys
 * and values. These last products compute their first operands on the fly: sums over keys in kernels that run by blocks
 * of rows, sums over rows in kernels that run by blocks of keys. Elements that both need are computed once if there is
 * room to store them. Invariant: only patterns that are fully recognised are fused: row sums are computed before, and
 * no element depends on another one.
 */
import { hintOf } from "../sym/decide.ts";
import type {
  BufferDecl,
  BufferView,
  ComputedElements,
  ExternKernel,
  Kernel,
  LoopKernel,
  Program,
  ValueId,
} from "../loops/ir.ts";
import { Mentions, usesOf } from "../loops/uses.ts";
import { laidOut } from "../loops/arena.ts";
import { axisOf } from "./strip_mining.ts";
import { masksColumns } from "./masked_columns.ts";
import { chainFrom, type Found, withChain } from "./row_chain.ts";
import { flipped, type RowBlock } from "./row_form.ts";
import { RowValues } from "./row_values.ts";
import type { Grid, Target } from "./target.ts";

/** With fewer rows, tiles would be mostly empty. */
const LEAST_ROWS = 16;
/**
 * Rows of the smallest block of a causal mask: columns hidden from each of them are hidden from larger blocks of them.
 */
const CAUSAL = 32;
/** Maximum number of results of one kernel, whose sums are all in registers. */
const MOST_RESULTS = 2;

/** Fuses gradients of attention into few kernels. */
export function fusedGradients(program: Program, { grid, kernelBuffers }: Target): Program {
  if (!grid) return program;
  const kept = withGradients(program, { grid, kernelBuffers, stores: true });
  return kept === program || hintOf(kept.arenaBytes) <= grid.temporaries
    ? kept
    : withGradients(program, { grid, kernelBuffers, stores: false });
}

/** The same; `stores` says whether elements may be stored. */
function withGradients(
  program: Program,
  { grid, kernelBuffers, stores }: {
    readonly grid: Grid;
    readonly kernelBuffers: number;
    readonly stores: boolean;
  },
): Program {
  let made = program;
  const mentions = new Mentions(program.kernels);
  for (let at = 0; at < made.kernels.length; at++) {
    const found = chainFrom(made, { at, whole: true, mentions });
    const fused = found && fusedChain(made, found, { grid, stores });
    if (!found || !fused?.every((kernel) => usesOf(kernel).all.size <= kernelBuffers)) continue;
    const { before, after } = found.chain, buffers = [...made.buffers];
    const own = fused.map((kernel) =>
      kernel.kind === "extern" && kernel.computed ? withLocals(kernel, buffers) : kernel
    );
    made = { ...withChain(made, found, [...before, ...own, ...after]), buffers };
  }
  return made === program ? program : laidOut(made);
}

/** A kernel with thread-local buffers for its elements, numbered after the others. */
function withLocals(kernel: ExternKernel, buffers: BufferDecl[]): ExternKernel {
  const inputs = kernel.inputs.map((view, at): BufferView => {
    const buffer = buffers[view.buffer];
    if (!buffer || at % 2 > 0) return view;
    return { ...view, buffer: buffers.push({ ...buffer, role: { kind: "local" } }) - 1 };
  });
  return { ...kernel, inputs };
}

/** A product of matrices from which elements are computed. */
type Factors = ComputedElements["products"][number];

/** A product whose first operand is computed on the fly: the value of an element, and the other operand. */
interface Result {
  readonly element: ValueId;
  readonly over: "rows" | "keys";
  readonly made: BufferView;
  readonly operand: BufferView;
  readonly out: BufferView;
  readonly kernel: ExternKernel;
}

/** The kernels that replace a chain; undefined if the pattern is not recognised. */
function fusedChain(
  program: Program,
  found: Found,
  { grid, stores }: Pick<Setting, "grid" | "stores">,
): readonly Kernel[] | undefined {
  const { chain, scores: { space, columns }, isLocal } = found;
  if (hintOf(space.rows) < LEAST_ROWS) return undefined;
  const matrix = axisOf("b", space.batch).symbol, row = axisOf("m", space.rows).symbol;
  const values = new RowValues({ row, key: axisOf("n", columns).symbol, columns, isLocal });
  const whole: RowBlock = {
    ...space,
    matrix: space.batch === 1 ? 0 : matrix,
    first: 0,
    count: space.rows,
  };
  const products: Factors[] = [], results: Result[] = [], behind: LoopKernel[] = [];
  const written = new Set<number>();
  for (const [at, kernel] of chain.kernels.entries()) {
    const { all } = usesOf(kernel), isBehind = [...all].some((buffer) => written.has(buffer));
    if (kernel.kind === "loops" && isBehind && ![...all].some(isLocal)) {
      behind.push(kernel);
      for (const buffer of usesOf(kernel).written) written.add(buffer);
      continue;
    }
    if (isBehind) return undefined;
    if (kernel.kind === "loops") {
      const own = chain.steps[at]?.forBlock(whole, isLocal), loop = own?.kind === "loops" && own.body.at(-1);
      if (own?.kind !== "loops" || !loop || loop.kind !== "loop") return undefined;
      if (!values.take([...own.body.slice(0, -1), ...loop.body], loop.axis.symbol)) return undefined;
      continue;
    }
    const [a, b] = kernel.inputs, [out] = kernel.outputs;
    const isFloat = [a, b, out].every((view) => program.buffers[view?.buffer ?? -1]?.dtype === "float32");
    if (!a || !b || !out || !isFloat) return undefined;
    if (isLocal(out.buffer)) {
      if (isLocal(a.buffer) || isLocal(b.buffer)) return undefined;
      products.push({ a, b, value: values.product(out.buffer) });
      continue;
    }
    const result = resultOf(kernel, { isLocal, values, adds: chain.steps[at]?.adds !== undefined });
    if (!result) return undefined;
    results.push(result);
    written.add(out.buffer);
  }
  if (values.reductions.length > 0 || values.stores.length > 0 || results.length === 0) return undefined;
  const causal = masksColumns(found, { steps: chain.steps.length, rows: CAUSAL });
  const setting: Setting = { found, grid, stores, products, values, matrix, causal };
  const kept = storedFor(results, setting);
  const groups = grouped(results.filter((each) => each !== kept));
  const kernels = groups.flatMap((group) => computedKernel(group, setting, kept) ?? []);
  if (kernels.length < groups.length || conflict(kernels, written)) return undefined;
  return [...kernels, ...kept ? [{ ...kept.kernel, ...causal ? { causal } as const : {} }] : [], ...behind];
}

/** Returns whether any of the kernels reads what it or a later one writes. */
const conflict = (kernels: readonly ExternKernel[], written: ReadonlySet<number>): boolean =>
  kernels.some((kernel) =>
    [...usesOf(kernel).all].some((id) => written.has(id) && !usesOf(kernel).written.has(id))
  );

/** The only sum over keys, if a sum over rows computes the same elements and can store them for it. */
function storedFor(
  results: readonly Result[],
  { found: { scores }, grid, stores }: Setting,
): Result | undefined {
  const [kept, other] = results.filter(({ over }) => over === "keys");
  const isShared = results.some(({ over, element }) => over === "rows" && element === kept?.element);
  const { batch, rows } = scores.space;
  const elements = hintOf(batch) * hintOf(rows) * hintOf(scores.columns);
  return stores && !other && isShared && grid.stores(elements) ? kept : undefined;
}

interface Setting {
  readonly found: Found;
  readonly grid: Grid;
  /** Whether elements may be stored. */
  readonly stores: boolean;
  readonly products: readonly Factors[];
  readonly values: RowValues;
  readonly matrix: ComputedElements["matrix"];
  readonly causal: boolean;
}

/** A product with local elements: a sum over keys, or over rows if the operand is transposed. */
function resultOf(
  kernel: ExternKernel,
  { isLocal, values, adds }: {
    readonly isLocal: Found["isLocal"];
    readonly values: RowValues;
    readonly adds: boolean;
  },
): Result | undefined {
  const [a, b] = kernel.inputs, [out] = kernel.outputs;
  if (!a || !b || !out || isLocal(a.buffer) === isLocal(b.buffer)) return undefined;
  const turned = isLocal(b.buffer), [made, operand] = turned ? [flipped(b), flipped(a)] : [a, b];
  const element = values.held(made.buffer);
  if (element === undefined || (turned && !adds)) return undefined;
  return { element, over: adds ? "rows" : "keys", made, operand, out: turned ? flipped(out) : out, kernel };
}

/** Groups results that one kernel computes together. */
function grouped(results: readonly Result[]): readonly (readonly Result[])[] {
  return (["rows", "keys"] as const).flatMap((over) => {
    const own = results.filter((result) => result.over === over);
    return Array.from(
      { length: Math.ceil(own.length / MOST_RESULTS) },
      (_, k) => own.slice(k * MOST_RESULTS, (k + 1) * MOST_RESULTS),
    );
  });
}

/** The kernel of some results; undefined if it cannot handle their sizes. */
function computedKernel(
  results: readonly Result[],
  { found: { chain, scores }, grid, products, values, matrix, causal }: Setting,
  kept: Result | undefined,
): ExternKernel | undefined {
  const [first] = results, { row, key } = values.setting;
  const columns = results.flatMap(({ out }) => {
    const size = out.shape.at(-1);
    return typeof size === "number" ? [size] : [];
  });
  const elements = results.map(({ element }) => element), keeps = elements.indexOf(kept?.element ?? -1);
  const given = values.ofRows(elements);
  const needed = values.needed(elements, given);
  const used = products.filter(({ value }) => needed.has(value));
  if (!first || columns.length < results.length || used.length === 0) return undefined;
  const { over, kernel } = first, { batch, rows } = scores.space;
  const block = grid.computed({
    elements: hintOf(batch) * hintOf(rows) * hintOf(scores.columns),
    causal,
    columns,
    products: used.length,
  });
  const body = values.statements(elements, [...given, ...products.map(({ value }) => value)]);
  const ofRows = given.map((value) => values.piece(value, []));
  if (block === undefined || !body || !ofRows.every((piece) => piece)) return undefined;
  return {
    kind: "extern",
    name: `gradients_${kernel.name}`,
    call: kernel.call,
    inputs: results.flatMap(({ made, operand }) => [made, operand]),
    outputs: [...results.map(({ out }) => out), ...keeps < 0 || !kept ? [] : [kept.made]],
    origins: [...new Set(chain.kernels.flatMap(({ origins }) => origins))],
    originals: chain.kernels.flatMap(({ originals }) => originals ?? []),
    computed: {
      products: used,
      matrix,
      row,
      key,
      ofRows: ofRows.flatMap((piece) => piece ?? []),
      elements: { body, values: elements },
      over,
      block,
      causal,
      ...keeps < 0 ? {} : { stored: keeps },
    },
  };
}
