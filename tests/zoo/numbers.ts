/**
 * PyTorch's numbers for the models of the zoo, written by reference/generate.py.
 */
import { assert } from "@std/assert";
import { safetensors, type Tensor } from "../../mod.ts";

/** The contents of one file. */
export interface Numbers {
  readonly state: Readonly<Record<string, Tensor>>;
  readonly batch: readonly Tensor[];
  /** By name: logits, loss, grad.<parameter>, losses, final.<key>. */
  readonly results: ReadonlyMap<string, Result>;
  /** Tokens that a model which decodes generates. */
  readonly decoded: readonly number[] | null;
}

/** A tensor of results. */
export interface Result {
  readonly elements: Float64Array;
  /** Root mean square distance of PyTorch's float32 run; 0 where elements are integers. */
  readonly error: number;
}

/** Elements of a tensor as numbers. */
export function elementsOf(tensor: Tensor): Float64Array {
  return Float64Array.from(tensor.detach().toTypedArray(), Number);
}

/** Reads the file of a model. */
export async function readNumbers(name: string): Promise<Numbers> {
  const packed = await Deno.readFile(new URL(`data/${name}.safetensors.gz`, import.meta.url));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const saved = safetensors.load(new Uint8Array(await new Response(stream).arrayBuffer()));
  const state: Record<string, Tensor> = {}, batch: Tensor[] = [], results = new Map<string, Result>();
  for (const [name, tensor] of Object.entries(saved)) {
    const [kind = "", rest = ""] = name.split(/\.(.*)/s);
    if (kind === "state") state[rest] = tensor;
    else if (kind === "batch") batch[Number(rest)] = tensor;
    else if (kind !== "error" && kind !== "decoded") {
      const error = saved[`error.${name}`];
      results.set(name, { elements: elementsOf(tensor), error: error ? Number(error.item()) : 0 });
    }
  }
  assert(results.has("logits") && results.has("losses"), `Expected results in the file of ${name}`);
  const { decoded } = saved;
  return { state, batch, results, decoded: decoded ? Array.from(elementsOf(decoded)) : null };
}
