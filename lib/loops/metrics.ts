/**
 * Metrics of programs: counts of kernels, accesses, bytes and operations, for `explain`, logs, profiles and tests.
 * Invariant: counts follow from the program alone. Those of kernels are over the program's sizes; sums have sizes
 * that are symbols with their values in the call that was traced.
 */
import { itemSize } from "../base/dtype.ts";
import { InternalError } from "../base/errors.ts";
import { sameList } from "../base/lists.ts";
import { hintOf } from "../sym/decide.ts";
import { add, type Dim, freeSymbols, max, min, mul, product, type Sym } from "../sym/expr.ts";
import { canonicalFormOf } from "./canonical_form.ts";
import type { BufferId, ExternKernel, Kernel, Loop, Program, Statement } from "./ir.ts";
import { isRegion, uniqueNames } from "./regions.ts";

/** The cost of one run of a kernel. */
export interface KernelCost {
  readonly name: string;
  /** Bytes of distinct elements that it reads and writes. */
  readonly bytesRead: Dim;
  readonly bytesWritten: Dim;
  /** Scalar operations, and two per multiply-add of matrix products and convolutions. */
  readonly operations: Dim;
}

/** Costs of a program's kernels, over the program's sizes in the order of a call. */
export interface ProgramCosts {
  readonly name: string;
  /** The compilation that created it; null: none. */
  readonly compile: string | null;
  readonly kernels: readonly KernelCost[];
  readonly sizes: readonly Sym[];
}

/** Counts of one program. */
export interface ProgramMetrics {
  /** Kernels and library calls. */
  readonly kernels: number;
  /** Each of them, in order. */
  readonly costs: readonly KernelCost[];
  readonly externCalls: number;
  /** Load and store statements in the program's text. */
  readonly loads: number;
  readonly stores: number;
  /** Bytes of distinct elements that kernels read and write, summed over kernels. */
  readonly bytesRead: number;
  readonly bytesWritten: number;
  /** Scalar operations, and two per multiply-add of matrix products and convolutions. */
  readonly operations: number;
  readonly arenaBytes: number;
}

/** Counts of the kernels of regions, which have several calls. */
const ofRegions = new WeakMap<Program, readonly NamedCounts[]>();

/** The counts of each kernel, those of regions included. */
function allCounts(program: Program): NamedCounts[] {
  return program.kernels.flatMap((kernel) => {
    if (!isRegion(kernel)) return { ...countsOf(kernel, program), name: kernel.name, kind: kernel.kind };
    const { program: region, rows = 1 } = kernel.call, known = ofRegions.get(region) ?? allCounts(region);
    ofRegions.set(region, known);
    return rows === 1 ? known : known.map((each) => ({ ...each, cost: timesAsMuch(each.cost, rows) }));
  });
}

/** The cost of several runs on other buffers. */
const timesAsMuch = (
  { bytesRead, bytesWritten, operations }: Counts["cost"],
  runs: number,
): Counts["cost"] => ({
  bytesRead: mul(bytesRead, runs),
  bytesWritten: mul(bytesWritten, runs),
  operations: mul(operations, runs),
});

/** Counts a program. */
export function measure(program: Program): ProgramMetrics {
  const counts = uniqueNames(allCounts(program));
  const costs = counts.map(({ cost, name }) => ({ ...cost, name }));
  const total = (count: (cost: KernelCost) => Dim) =>
    costs.reduce((sum, cost) => sum + hintOf(count(cost)), 0);
  return {
    kernels: counts.length,
    costs,
    externCalls: counts.filter(({ kind }) => kind === "extern").length,
    loads: counts.reduce((sum, { loads }) => sum + loads, 0),
    stores: counts.reduce((sum, { stores }) => sum + stores, 0),
    bytesRead: total((cost) => cost.bytesRead),
    bytesWritten: total((cost) => cost.bytesWritten),
    operations: total((cost) => cost.operations),
    arenaBytes: hintOf(program.arenaBytes),
  };
}

/** Returns the costs of a program as passed to a device. */
export function costsOf(program: Program): ProgramCosts {
  const { name, sizes } = program;
  return { name, compile: null, sizes, kernels: measure(program).costs };
}

/** Counts of a kernel. */
interface Counts {
  readonly loads: number;
  readonly stores: number;
  readonly cost: Omit<KernelCost, "name">;
}

/** The same with the kernel's name and kind. */
type NamedCounts = Counts & Pick<Kernel, "name" | "kind">;

/** Counts of equivalent kernels, with the lengths of the buffers of the first. */
const known = new WeakMap<
  object,
  { readonly lengths: readonly (Dim | undefined)[]; readonly counts: Counts }
>();

function countsOf(kernel: Kernel, program: Program): Counts {
  const form = kernel.kind === "loops" ? canonicalFormOf(kernel.body) : undefined;
  const lengths = form?.buffers.map((id) => program.buffers[id]?.length) ?? [];
  const former = form && known.get(form.kind);
  if (former && sameList(former.lengths, lengths)) return former.counts;
  const accesses = { loads: 0, stores: 0 };
  const at: Visit = { loops: [], read: new Map(), written: new Map(), counts: accesses, program };
  let operations: Dim = 0;
  if (kernel.kind === "extern") {
    operations = externOperations(kernel);
    for (const [views, touched] of [[kernel.inputs, at.read], [kernel.outputs, at.written]] as const) {
      for (const { buffer, shape } of views) touched.set(buffer, bytesOf(product(shape), buffer, program));
    }
  }
  const body = kernel.kind === "loops" ? kernel.body : kernel.epilogue?.body ?? [];
  operations = add(operations, visit(body, at));
  const sum = (touched: ReadonlyMap<BufferId, Dim>) => [...touched.values()].reduce(add, 0);
  const counts = {
    ...accesses,
    cost: { bytesRead: sum(at.read), bytesWritten: sum(at.written), operations },
  };
  if (form) known.set(form.kind, { lengths, counts });
  return counts;
}

interface Visit {
  readonly loops: readonly Loop[];
  /** Bytes of distinct elements by buffer. */
  readonly read: Map<BufferId, Dim>;
  readonly written: Map<BufferId, Dim>;
  readonly counts: { loads: number; stores: number };
  readonly program: Program;
}

const bytesOf = (elements: Dim, buffer: BufferId, { buffers }: Program): Dim =>
  mul(elements, itemSize(buffers[buffer]?.dtype ?? "float32"));

/** Counts accesses; the result is the number of operations. */
function visit(body: readonly Statement[], at: Visit): Dim {
  const { loops, counts, program } = at;
  let operations: Dim = 0;
  for (const s of body) {
    switch (s.kind) {
      case "loop":
        operations = add(operations, visit(s.body, { ...at, loops: [...loops, s] }));
        break;
      case "masked":
        operations = add(operations, visit(s.body, at));
        break;
      case "load":
      case "store": {
        counts[s.kind === "store" ? "stores" : "loads"]++;
        const touched = s.kind === "store" ? at.written : at.read, decl = program.buffers[s.buffer];
        const symbols = freeSymbols(s.index);
        const indirect = [...symbols].some((x) => x.node.kind === "symbol" && x.node.role.kind === "value");
        const distinct = loops.reduce<Dim>(
          (n, l) => symbols.has(l.axis.symbol) || indirect ? mul(n, sizeOf(l)) : n,
          1,
        );
        const bytes = bytesOf(decl ? min(distinct, decl.length) : distinct, s.buffer, program);
        touched.set(s.buffer, max(touched.get(s.buffer) ?? 0, bytes));
        break;
      }
      case "scalar":
      case "select":
      case "cast":
        operations = add(operations, loops.reduce<Dim>((n, l) => mul(n, sizeOf(l)), 1));
        break;
      case "constant":
      case "index":
        break;
      default:
        s satisfies never;
    }
  }
  return operations;
}

/** The trip count of a loop; one that depends on an outer loop counts with its bound. */
function sizeOf({ axis: { size } }: Loop): Dim {
  if (typeof size === "number") return size;
  const depends = [...freeSymbols(size)].some((s) => s.node.kind === "symbol" && s.node.role.kind === "axis");
  return depends ? Math.max(0, size.upper) : size;
}

function externOperations({ call, inputs, outputs }: ExternKernel): Dim {
  const [a, b] = inputs, shape = outputs[0]?.shape ?? [], output = product(shape);
  const weight = product(b?.shape.slice(1) ?? []);
  switch (call.op) {
    case "matmul":
      return mul(2, mul(output, a?.shape.at(-1) ?? 1));
    case "convForward":
      return mul(2, mul(output, weight));
    case "convBackwardInput":
      return mul(2, mul(product(a?.shape ?? []), weight));
    case "convBackwardWeight":
      return mul(2, mul(product(a?.shape ?? []), product(shape.slice(1))));
    case "sort":
      return mul(output, Math.max(1, Math.ceil(Math.log2(Math.max(2, hintOf(shape.at(-1) ?? 1))))));
    case "region":
      throw new InternalError("Expected regions to be counted by their kernels");
    default:
      return call satisfies never;
  }
}
