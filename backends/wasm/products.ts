/**
 * The job of the library of products as a WebAssembly function: a list of products. It has the parameters of a job: the
 * address of a description, the range of units (`from` to `to`) and the thread's scratch memory. Invariant: units write
 * disjoint memory, and no result depends on how they are divided.
 */
import { type MemoryKind, ModuleWriter } from "./binary.ts";
import type { FunctionBody } from "./function_body.ts";
import { addGemm, GEMM_PARAMS } from "./gemm.ts";
import { add, call, each, int, keep, mul, ref, type Term, withParams, word } from "./terms.ts";
import { JOB_PARAMS } from "./pool.ts";

/** The words of a list of products that apply to all of them, in order; each product's own words follow. */
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

/** The name of the exported function. */
export const PRODUCTS_JOB = "products";

/** The module of products, which exports functions for single matrices, too. */
export function productModule(memory: MemoryKind): Uint8Array<ArrayBuffer> {
  const module = new ModuleWriter(memory), { gemm, packAll } = addGemm(module);
  module.export(module.add(productsFunction(gemm)), PRODUCTS_JOB);
  module.export(gemm, "gemm");
  module.export(packAll, "packAll");
  return module.finish();
}

function productsFunction(gemm: number): FunctionBody {
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
