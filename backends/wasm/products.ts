/**
 * Jobs of the matrix library as WebAssembly functions: lists of products, convolutions and their gradients. All
 * have the parameters of a job: the address of a description, the units to do (`from` to `to`) and scratch memory
 * of the thread's own. Invariant: units write disjoint memory, and no result depends on how they are divided.
 */
import { type MemoryKind, ModuleWriter } from "./binary.ts";
import type { FunctionBody } from "./function_body.ts";
import { copyFunction } from "./dense.ts";
import { addGemm, GEMM_PARAMS, type GemmFunctions } from "./gemm.ts";
import {
  add,
  assign,
  both,
  call,
  each,
  int,
  keep,
  mul,
  ref,
  rem,
  shl,
  shr,
  sub,
  type Term,
  when,
  withParams,
  word,
} from "./terms.ts";
import { JOB_PARAMS } from "./pool.ts";
import { fields, foldFunction, unfoldFunction } from "./unfold.ts";

/** The words of a list of products that hold for all of them, in order; the products' own words follow. */
export const PRODUCT_FIELDS = [
  "aRow",
  "aColumn",
  "bRow",
  "bColumn",
  "outRow",
  "outColumn",
  "k",
  "accumulate",
] as const;
/** The words of one product. */
export const UNIT_FIELDS = ["a", "b", "out", "m", "n"] as const;

/** Names of the exported functions. */
export type LibraryJob = "products" | "convForward" | "convBackwardInput" | "convBackwardWeight";

/** The module of products. */
export function productModule(memory: MemoryKind): Uint8Array<ArrayBuffer> {
  const module = new ModuleWriter(memory);
  module.export(module.add(productsFunction(addGemm(module))), "products" satisfies LibraryJob);
  return module.finish();
}

/** The module of convolutions. Beside the jobs it exports `packAll` (gemm.ts) and `copy` (dense.ts). */
export function convolutionModule(memory: MemoryKind): Uint8Array<ArrayBuffer> {
  const module = new ModuleWriter(memory);
  const gemm = addGemm(module);
  const parts: Parts = {
    ...gemm,
    unfold: module.add(unfoldFunction()),
    fold: module.add(foldFunction()),
  };
  module.export(gemm.packAll, "packAll");
  module.export(module.add(copyFunction()), "copy");
  const jobs: Record<Exclude<LibraryJob, "products">, FunctionBody> = {
    convForward: forwardFunction(parts),
    convBackwardInput: inputGradientFunction(parts),
    convBackwardWeight: weightGradientFunction(parts),
  };
  for (const [name, body] of Object.entries(jobs)) module.export(module.add(body), name);
  return module.finish();
}

interface Parts extends GemmFunctions {
  readonly unfold: number;
  readonly fold: number;
}

function productsFunction({ gemm }: GemmFunctions): FunctionBody {
  const { body, at } = withParams(JOB_PARAMS);
  const shared = new Map<string, Term>(
    PRODUCT_FIELDS.map((name, i) => [name, ref(keep(body, word(at("description"), 4 * i)))]),
  );
  each(body, { from: at("from"), to: at("to") }, (unit) => {
    const row = add(
      at("description"),
      int(4 * PRODUCT_FIELDS.length),
      mul(unit, int(4 * UNIT_FIELDS.length)),
    );
    const own = keep(body, row);
    const values = new Map<string, Term>([
      ...shared,
      ...UNIT_FIELDS.map((name, i) => [name, word(ref(own), 4 * i)] as const),
      ["scratch", at("scratch")],
      ["packed", int(0)],
    ]);
    call(body, gemm, GEMM_PARAMS.map((name) => values.get(name) ?? int(0)));
  });
  return body;
}

/** Arguments of a product whose a was packed, with dense b and out. */
function packedProduct(
  { a, b, out, m, n, k, scratch, accumulate }: Readonly<
    Record<"a" | "b" | "out" | "m" | "n" | "k" | "scratch" | "accumulate", Term>
  >,
): Term[] {
  const row = shl(n, 2), zero = int(0), four = int(4);
  return [a, b, out, m, n, k, zero, zero, row, four, row, four, scratch, accumulate, int(1)];
}

/** Writes a value, four times in a vector, to so many words and to none beyond. */
function fill(body: FunctionBody, value: number, { to, count }: { readonly to: Term; readonly count: Term }) {
  const address = keep(body, to), left = keep(body, shr(count, 2));
  body.times(left, () => {
    body.get(address).get(value).simdMemory("store");
    assign(body, address, add(ref(address), int(16)));
  });
  assign(body, left, both(count, int(3)));
  body.times(left, () => {
    body.get(address).get(value).laneMemory("store32Lane", 0, 0);
    assign(body, address, add(ref(address), int(4)));
  });
}

/** Units are pairs of image and group. The weight is packed [outChannels, depth]. */
function forwardFunction({ gemm, unfold }: Parts): FunctionBody {
  const { body, at } = withParams(JOB_PARAMS);
  const of = fields(body, at("description"));
  const imageBytes = keep(body, shl(mul(of("inChannels"), of("height"), of("width")), 2));
  const outputBytes = keep(body, shl(mul(of("outChannels"), of("pixels")), 2));
  each(body, { from: at("from"), to: at("to") }, (unit) => {
    const image = keep(body, add(of("input"), mul(unit, ref(imageBytes))));
    const output = keep(body, add(of("output"), mul(unit, ref(outputBytes))));
    const group = keep(body, rem(unit, of("groups")));
    const columns = keep(body, ref(image));
    when(body, of("plain"), () => {}, () => {
      assign(body, columns, at("scratch"));
      call(body, unfold, [at("description"), ref(image), ref(columns), int(0), of("inChannels")]);
    });
    when(body, of("bias"), () =>
      each(body, { to: of("outChannels") }, (c) => {
        const value = body.local("v128");
        add(of("bias"), shl(add(mul(ref(group), of("outChannels")), c), 2))(body);
        body.simdMemory("load32Splat").set(value);
        fill(body, value, { to: add(ref(output), shl(mul(c, of("pixels")), 2)), count: of("pixels") });
      }));
    call(
      body,
      gemm,
      packedProduct({
        a: add(of("weight"), shl(mul(ref(group), of("outChannels"), of("depth")), 2)),
        b: ref(columns),
        out: ref(output),
        m: of("outChannels"),
        n: of("pixels"),
        k: of("depth"),
        scratch: add(at("scratch"), of("columnBytes")),
        accumulate: of("bias"),
      }),
    );
  });
  return body;
}

/** Units are pairs of image and group. The weight is packed [depth, outChannels]; `input` is written. */
function inputGradientFunction({ gemm, fold }: Parts): FunctionBody {
  const { body, at } = withParams(JOB_PARAMS);
  const of = fields(body, at("description"));
  const imageWords = keep(body, mul(of("inChannels"), of("height"), of("width")));
  const zero = body.local("v128");
  const outputBytes = keep(body, shl(mul(of("outChannels"), of("pixels")), 2));
  each(body, { from: at("from"), to: at("to") }, (unit) => {
    const image = keep(body, add(of("input"), shl(mul(unit, ref(imageWords)), 2)));
    const group = keep(body, rem(unit, of("groups")));
    const columns = keep(body, ref(image));
    when(body, of("plain"), () => {}, () => {
      assign(body, columns, at("scratch"));
      fill(body, zero, { to: ref(image), count: ref(imageWords) });
    });
    call(
      body,
      gemm,
      packedProduct({
        a: add(of("weight"), shl(mul(ref(group), of("outChannels"), of("depth")), 2)),
        b: add(of("output"), mul(unit, ref(outputBytes))),
        out: ref(columns),
        m: of("depth"),
        n: of("pixels"),
        k: of("outChannels"),
        scratch: add(at("scratch"), of("columnBytes")),
        accumulate: int(0),
      }),
    );
    const args = [at("description"), ref(columns), ref(image)];
    when(body, of("plain"), () => {}, () => call(body, fold, args));
  });
  return body;
}

/**
 * Units are channels of a group, input or output ones; all images are added up in order, from the old value of the
 * gradient in `weight`.
 */
function weightGradientFunction({ gemm, unfold }: Parts): FunctionBody {
  const { body, at } = withParams(JOB_PARAMS);
  const of = fields(body, at("description"));
  const channelWords = keep(body, mul(of("height"), of("width")));
  const kernel = keep(body, mul(of("kernelHeight"), of("kernelWidth")));
  const part = (inside: Term, whole: Term): number => {
    const local = keep(body, whole);
    when(body, of("byOutput"), () => {}, () => assign(body, local, inside));
    return local;
  };
  const fromIn = part(at("from"), int(0)), toIn = part(at("to"), of("inChannels"));
  const fromOut = part(int(0), at("from")), toOut = part(of("outChannels"), at("to"));
  each(body, { to: of("batch") }, (n) => {
    each(body, { to: of("groups") }, (g) => {
      const unit = keep(body, add(mul(n, of("groups")), g));
      const image = keep(body, add(of("input"), shl(mul(ref(unit), of("inChannels"), ref(channelWords)), 2)));
      const columns = keep(body, add(ref(image), shl(mul(ref(fromIn), ref(channelWords)), 2)));
      when(body, of("plain"), () => {}, () => {
        assign(body, columns, at("scratch"));
        call(body, unfold, [at("description"), ref(image), ref(columns), ref(fromIn), ref(toIn)]);
      });
      const outChannel = keep(body, add(mul(ref(unit), of("outChannels")), ref(fromOut)));
      const row = keep(body, add(mul(g, of("outChannels")), ref(fromOut)));
      const width = shl(of("pixels"), 2);
      call(body, gemm, [
        add(of("output"), mul(ref(outChannel), width)),
        ref(columns),
        add(of("weight"), shl(add(mul(ref(row), of("depth")), mul(ref(fromIn), ref(kernel))), 2)),
        sub(ref(toOut), ref(fromOut)),
        mul(sub(ref(toIn), ref(fromIn)), ref(kernel)),
        of("pixels"),
        width,
        int(4),
        int(4),
        width,
        shl(of("depth"), 2),
        int(4),
        add(at("scratch"), of("columnBytes")),
        int(1),
        int(0),
      ]);
    });
  });
  return body;
}
