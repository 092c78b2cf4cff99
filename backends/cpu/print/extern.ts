/**
 * Library calls of a program as C++: the argument structures, the calls, and epilogues. Invariant: the library has
 * the call and runs its epilogue (target.ts).
 */
import type { TextWriter } from "../../../lib/base/text_writer.ts";
import { InternalError } from "../../../lib/base/errors.ts";
import { type DType, type ValueType, valueType } from "../../../lib/base/dtype.ts";
import type { BufferId, BufferView, ConvGeometry, ExternKernel } from "../../../lib/loops/ir.ts";
import type { Dim } from "../../../lib/sym/expr.ts";
import type { Routine } from "../runtime_library.ts";
import { CONV_CALL } from "../runtime/conv.ts";
import { GEMM_CALL } from "../runtime/gemm.ts";
import { SORT_CALL } from "../runtime/sort.ts";
import { type KernelContext, type NestFunction, type Parts, printEpilogue, printPrologue } from "./kernel.ts";

/** The context of a printed call. */
interface ExternSite {
  readonly context: KernelContext;
  readonly calls: TextWriter;
  /** The name of a buffer. */
  buffer(id: BufferId): string;
  /** The record of the call's kept operand (kept_operands.ts), or 0. */
  readonly record: string;
  /** A size expression over the program's table of sizes. */
  size(d: Dim): string;
  /** The name of a function of a nest around a call, with these parameters after its context. */
  nest(parameters: string, body: string): string;
  /** The address of a routine. */
  routine(name: Routine): string;
  /** Adds a declaration at the top. */
  declare(text: string): void;
}

/** Prints one library call. */
export function printExtern(kernel: ExternKernel, site: ExternSite): void {
  const { call } = kernel;
  switch (call.op) {
    case "matmul":
      return matmul(kernel, site);
    case "convForward":
      return convolution(kernel, { geometry: call, kind: 0 }, site);
    case "convBackwardInput":
      return convolution(kernel, { geometry: call, kind: 1 }, site);
    case "convBackwardWeight":
      return convolution(kernel, { geometry: call, kind: 2 }, site);
    case "sort":
      return sort(kernel, call.descending, site);
    case "region":
      throw new InternalError("Expected regions to be expanded");
    default:
      call satisfies never;
  }
}

function dtypeOf(view: BufferView, site: ExternSite): DType {
  const declared = site.context.buffers[view.buffer];
  if (declared === undefined) throw new InternalError(`Expected a buffer but found b${view.buffer}`);
  return declared.dtype;
}

const pointer = (view: BufferView, site: ExternSite, extra = ""): string =>
  `${site.buffer(view.buffer)} + (${site.size(view.offset)})${extra}`;

/** The size of a dimension counted from the end: 1 is the last. */
const sizeAt = (view: BufferView, back: number): Dim => view.shape[view.shape.length - back] ?? 1;
const strideAt = (view: BufferView, back: number): Dim => view.strides[view.strides.length - back] ?? 0;

/** Prints the epilogue's function and the table passed to it; returns the two initialisers of a call structure. */
function epilogueOf(kernel: ExternKernel, parts: Parts, site: ExternSite): string {
  if (kernel.epilogue === undefined) return "0, 0";
  const nest = printEpilogue(kernel.epilogue, parts, site.context);
  return aroundCall("after", "long b, long m0, long m1, long c0, long c1", { nest, site });
}

/** The same for the prologue of an input. */
function prologueOf(kernel: ExternKernel, input: number, site: ExternSite): string {
  const prologue = kernel.prologues?.find((each) => each.input === input), view = kernel.inputs[input];
  if (!prologue || !view) return "0, 0";
  const nest = printPrologue(prologue, view.buffer, site.context);
  const parameters = "long b, long r0, long r1, long c0, long c1, void* to, long ld";
  return aroundCall(`before${input}`, parameters, { nest, site });
}

function aroundCall(
  name: string,
  parameters: string,
  { nest: { body, buffers }, site }: { readonly nest: NestFunction; readonly site: ExternSite },
): string {
  const open =
    "  void* const* const a = ((void* const* const*) context)[0];\n  const long* const s = ((const long* const*) context)[1];\n  (void) a, (void) s;\n";
  const called = site.nest(parameters, open + body);
  site.calls.line(`void* const a_${name}[] = {${buffers.map((id) => site.buffer(id)).join(", ") || "0"}};`);
  site.calls.line(`const void* const ${name}[] = {a_${name}, s};`);
  return `${called}, (void*) ${name}`;
}

const PARTS = {
  b: { from: "b", to: "b + 1" },
  m: { from: "m0", to: "m1" },
  c: { from: "c0", to: "c1" },
} as const;

/** The number of threads as passed to the call. */
const threadsOf = (kernel: ExternKernel): string => kernel.team === "one" ? "1" : "threads";

function matmul(kernel: ExternKernel, site: ExternSite): void {
  const [a, b] = kernel.inputs, [c] = kernel.outputs;
  if (!a || !b || !c || kernel.call.op !== "matmul") {
    throw new InternalError("Expected two operands and a result of matmul");
  }
  site.declare(GEMM_CALL);
  const { calls, size } = site, rank = c.shape.length, dtype = dtypeOf(c, site);
  calls.block("{", () => {
    const parts = rank === 2 ? [PARTS.m, PARTS.c] : [PARTS.b, PARTS.m, PARTS.c];
    const epilogue = epilogueOf(kernel, parts, site);
    const prologues = [0, 1].map((input) => prologueOf(kernel, input, site)).join(", ");
    // Leading dimensions beyond one batch dimension are loops around the call
    const outer = c.shape.slice(0, Math.max(0, rank - 3));
    outer.forEach((n, d) => calls.line(`for (long x${d} = 0; x${d} < ${size(n)}; x${d}++)`));
    const extra = (view: BufferView): string =>
      outer.map((_, d) => ` + x${d} * (${size(strideAt(view, rank - d))})`).join("");
    const three = (view: BufferView, input?: number): string => {
      const prologue = kernel.prologues?.find((each) => each.input === input);
      // A computed operand has the layout in which its prologue's loops walk it
      if (prologue) return prologue.transposed ? "1, 0, 0" : "0, 1, 0";
      return [2, 1, 3].map((back) => size(strideAt(view, back))).join(", ");
    };
    calls.block("{", () => {
      const dims = [sizeAt(c, 2), sizeAt(c, 1), sizeAt(a, 1), rank > 2 ? sizeAt(c, 3) : 1].map(size).join(
        ", ",
      );
      calls.line(
        `const GemmCall call = {${pointer(a, site, extra(a))}, ${pointer(b, site, extra(b))}, ${
          pointer(c, site, extra(c))
        },`,
      );
      calls.line(`  ${dims}, ${three(a, 0)}, ${three(b, 1)}, ${three(c)},`);
      calls.line(
        `  ${kernel.call.op === "matmul" && kernel.call.accumulate ? 1 : 0}, ${
          threadsOf(kernel)
        }, ${epilogue}, ${prologues}, ${site.record}};`,
      );
      calls.line(
        `((void (*)(const GemmCall*)) ${
          site.routine(dtype === "float32" ? "gemm_f32" : "gemm_f64")
        })(&call);`,
      );
    });
  });
}

/** A view of rank 3 is one of height 1. */
function image(view: BufferView): { shape: readonly Dim[]; strides: readonly Dim[] } {
  const { shape, strides } = view;
  if (shape.length !== 3) return { shape, strides };
  const [n = 1, c = 1, w = 1] = shape, [sn = 0, sc = 0, sw = 0] = strides;
  return { shape: [n, c, 1, w], strides: [sn, sc, 0, sw] };
}

interface Convolution {
  readonly geometry: ConvGeometry;
  /** As in ConvCall. */
  readonly kind: 0 | 1 | 2;
}

function convolution(kernel: ExternKernel, { geometry, kind }: Convolution, site: ExternSite): void {
  const [first, second, bias] = kernel.inputs, [out] = kernel.outputs;
  if (!first || !second || !out) throw new InternalError(`Expected operands of ${kernel.call.op}`);
  // kind 0: image, weight → result; 1: result, weight → image; 2: result, image → weight
  const [input, weight, result] = kind === 0
    ? [first, second, out]
    : kind === 1
    ? [out, second, first]
    : [second, out, first];
  site.declare(CONV_CALL);
  const { calls, size } = site, dtype = dtypeOf(out, site);
  calls.block("{", () => {
    const epilogue = epilogueOf(kernel, [PARTS.b, PARTS.m, PARTS.c, undefined], site);
    const x = image(input), w = image(weight), y = image(result);
    const at = (dims: readonly Dim[], i: number): string => size(dims[i] ?? 1);
    const kg = `(${at(y.shape, 1)}) / ${geometry.groups}`;
    const strides = (dims: readonly Dim[]): string =>
      `{${[0, 1, 2, 3].map((i) => size(dims[i] ?? 0)).join(", ")}}`;
    const of = (view: BufferView): string => `(void*) (${pointer(view, site)})`;
    calls.line(
      `const ConvCall call = {${of(input)}, ${of(weight)}, ${of(result)}, ${
        kind === 0 && bias ? of(bias) : 0
      },`,
    );
    calls.line(
      `  ${kind}, ${at(x.shape, 0)}, ${geometry.groups}, ${at(w.shape, 1)}, ${kg}, ${at(x.shape, 2)}, ${
        at(x.shape, 3)
      },`,
    );
    calls.line(`  ${at(y.shape, 2)}, ${at(y.shape, 3)}, ${at(w.shape, 2)}, ${at(w.shape, 3)},`);
    calls.line(
      `  ${strides(x.strides)}, ${strides(w.strides)}, ${strides(y.strides)}, ${
        kind === 0 && bias ? size(bias.strides[0] ?? 1) : 0
      },`,
    );
    const flat = [...geometry.stride, ...geometry.padding, ...geometry.dilation].join(", ");
    calls.line(`  ${flat}, ${threadsOf(kernel)}, ${epilogue}, ${geometry.fast ? 1 : 0}, ${site.record}};`);
    calls.line(
      `((void (*)(const ConvCall*)) ${site.routine(dtype === "float32" ? "conv_f32" : "conv_f64")})(&call);`,
    );
  });
}

const SORT_ROUTINE: Readonly<Record<ValueType, Routine>> = {
  float32: "sort_f32",
  float64: "sort_f64",
  int64: "sort_i64",
  int32: "sort_i32",
  bool: "sort_u8",
};

/** Elements from which on the rows are sorted by all threads. */
const SORT_TEAM = 16384;

function sort(kernel: ExternKernel, descending: boolean, site: ExternSite): void {
  const [input] = kernel.inputs, [values, indices] = kernel.outputs;
  if (!input || !values || !indices) throw new InternalError("Expected an input and two results of sort");
  site.declare(SORT_CALL);
  const { calls, size } = site, dtype = valueType(dtypeOf(input, site)), rank = input.shape.length;
  const outer = input.shape.slice(0, Math.max(0, rank - 1));
  calls.block("{", () => {
    if (outer.length > 0) {
      const all = input.shape.map((n) => `(double) (${size(n)})`).join(" * ");
      calls.line(
        "#ifdef _OPENMP",
        `#pragma omp parallel for collapse(${outer.length}) schedule(dynamic, 4) num_threads(threads) if (threads > 1 && ${all} > ${SORT_TEAM}.0)`,
        "#endif",
      );
    }
    outer.forEach((n, d) => calls.line(`for (long x${d} = 0; x${d} < ${size(n)}; x${d}++)`));
    const extra = (view: BufferView): string =>
      outer.map((_, d) => ` + x${d} * (${size(view.strides[d] ?? 0)})`).join("");
    calls.block("{", () => {
      const views = [input, values, indices];
      calls.line(`const SortCall call = {${views.map((v) => pointer(v, site, extra(v))).join(", ")},`);
      calls.line(
        `  ${size(input.shape[rank - 1] ?? 1)}, ${size(values.shape[rank - 1] ?? 1)}, ${
          views.map((v) => size(v.strides[rank - 1] ?? 0)).join(", ")
        }, ${descending ? 1 : 0}};`,
      );
      calls.line(`((void (*)(const SortCall*)) ${site.routine(SORT_ROUTINE[dtype])})(&call);`);
    });
  });
}
