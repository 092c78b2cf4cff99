/**
 * Runs a package in a separate process, with only the runtime: a package, a file of calls, "native" or "wasm"; prints
 * the results as JSON.
 */
import { loadPackage, PackageTensor } from "../../runtime/mod.ts";

const [file = "", calls = "", tier] = Deno.args;
const loaded = await loadPackage(file, tier === "native" ? { native: true } : { webgpu: true });
if (loaded.engine !== tier) throw new Error(`Expected ${tier} but found ${loaded.engine}`);
const given: { readonly n: number; readonly x: readonly number[] }[] = JSON.parse(
  Deno.readTextFileSync(calls),
);
const results = given.map(({ n, x }) => {
  const words = BigInt64Array.from({ length: n }, (_, k) => BigInt(k));
  const x16 = new PackageTensor(Float32Array.from(x), [n, 16]);
  const result = Object.entries(
    loaded.call(new PackageTensor(words, [n]), x16) as Record<string, PackageTensor>,
  );
  // At once: state that a program holds continues with the next call
  return Object.fromEntries(result.map(([name, { data }]) => [name, Array.from(data, Number)]));
});
console.log(JSON.stringify(results));
