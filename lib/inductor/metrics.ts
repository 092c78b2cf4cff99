/**
 * What a program does, counted: kernels, accesses, bytes and operations, for `explain`, logs and tests. Input: a
 * program; output: counts. Invariant: counts follow from the program alone; sizes that are symbols count with
 * their values in the call that was traced.
 */
import { itemSize } from "../base/dtype.ts";
import type { ExternKernel, Loop, Program, Statement } from "../loops/ir.ts";
import { hintOf } from "../sym/decide.ts";
import { type Dim, freeSymbols, product } from "../sym/expr.ts";

/** Counts of one program. */
export interface ProgramMetrics {
  /** Kernels and library calls. */
  readonly kernels: number;
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

/** Counts a program. */
export function measure(program: Program): ProgramMetrics {
  const counts = { loads: 0, stores: 0, bytesRead: 0, bytesWritten: 0, operations: 0, externCalls: 0 };
  for (const kernel of program.kernels) {
    const touched = new Map<string, { bytes: number; written: boolean }>();
    if (kernel.kind === "extern") {
      counts.externCalls++;
      counts.operations += externOperations(kernel);
      for (const [views, written] of [[kernel.inputs, false], [kernel.outputs, true]] as const) {
        for (const view of views) {
          const dtype = program.buffers[view.buffer]?.dtype ?? "float32";
          touched.set(`${view.buffer} ${written}`, {
            bytes: countOf(product(view.shape)) * itemSize(dtype),
            written,
          });
        }
      }
    }
    const body = kernel.kind === "loops" ? kernel.body : kernel.epilogue?.body ?? [];
    visit(body, { loops: [], touched, counts, program });
    for (const { bytes, written } of touched.values()) {
      if (written) counts.bytesWritten += bytes;
      else counts.bytesRead += bytes;
    }
  }
  return { kernels: program.kernels.length, ...counts, arenaBytes: countOf(program.arenaBytes) };
}

interface Visit {
  readonly loops: readonly Loop[];
  readonly touched: Map<string, { bytes: number; written: boolean }>;
  readonly counts: { loads: number; stores: number; operations: number };
  readonly program: Program;
}

const countOf = (d: Dim) => hintOf(d);

function visit(body: readonly Statement[], at: Visit): void {
  const { loops, touched, counts, program } = at;
  for (const s of body) {
    switch (s.kind) {
      case "loop":
        visit(s.body, { ...at, loops: [...loops, s] });
        break;
      case "masked":
        visit(s.body, at);
        break;
      case "load":
      case "store": {
        const written = s.kind === "store";
        if (written) counts.stores++;
        else counts.loads++;
        const decl = program.buffers[s.buffer];
        const symbols = freeSymbols(s.index);
        const indirect = [...symbols].some((x) => x.node.kind === "symbol" && x.node.role.kind === "value");
        const distinct = loops.reduce(
          (n, l) => symbols.has(l.axis.symbol) || indirect ? n * sizeOf(l) : n,
          1,
        );
        const bytes = Math.min(distinct, decl ? countOf(decl.length) : distinct) *
          itemSize(decl?.dtype ?? "float32");
        const key = `${s.buffer} ${written}`;
        const known = touched.get(key);
        if (!known || known.bytes < bytes) touched.set(key, { bytes, written });
        break;
      }
      case "scalar":
      case "select":
      case "cast":
        counts.operations += loops.reduce((n, l) => n * sizeOf(l), 1);
        break;
      case "constant":
      case "index":
        break;
      default:
        s satisfies never;
    }
  }
}

/** The trip count of a loop; one that depends on an outer loop counts with its bound. */
function sizeOf({ axis: { size } }: Loop): number {
  if (typeof size === "number") return size;
  const depends = [...freeSymbols(size)].some((s) => s.node.kind === "symbol" && s.node.role.kind === "axis");
  return depends ? Math.max(0, size.upper) : hintOf(size);
}

function externOperations({ call, inputs, outputs }: ExternKernel): number {
  const output = countOf(product(outputs[0]?.shape ?? []));
  const [a, b] = inputs;
  switch (call.op) {
    case "matmul":
      return 2 * output * countOf(a?.shape.at(-1) ?? 1);
    case "convForward":
      return 2 * output * countOf(product(b?.shape.slice(1) ?? []));
    case "convBackwardInput":
      return 2 * countOf(product(a?.shape ?? [])) * countOf(product(b?.shape.slice(1) ?? []));
    case "convBackwardWeight":
      return 2 * countOf(product(a?.shape ?? [])) * countOf(product(outputs[0]?.shape.slice(1) ?? []));
    case "sort": {
      const length = countOf(outputs[0]?.shape.at(-1) ?? 1);
      return output * Math.max(1, Math.ceil(Math.log2(Math.max(2, length))));
    }
    default:
      return call satisfies never;
  }
}
