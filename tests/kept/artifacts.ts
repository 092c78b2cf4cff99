/** Loads artifacts from the file that it is given, or saves them there; prints what two calls took from the cache. */
import { counters } from "../../lib/base/logs.ts";
import { shipEntries } from "../../lib/base/shipped_entries.ts";
import { compile, compiler, noGrad, ones, type Tensor, tensor } from "../../mod.ts";

// Only entries that the processes made themselves
shipEntries(null);
const [action, path = ""] = Deno.args;
if (action === "load") await compiler.loadCacheArtifacts(await Deno.readFile(path));
const f = compile((x: Tensor) => x.add(1).sin());
const result = f(tensor([1, 2], { dtype: "float32" })).tolist();
const large = noGrad(() => ones([200, 300]).cos()).at(-1, -1).item();
if (action === "save") {
  const { bytes, files } = await compiler.saveCacheArtifacts();
  await Deno.writeFile(path, bytes);
  if (files === 0) throw new Error("Expected files to save but found none");
}
const hits = (kind: string): boolean => counters.get(`cached_${kind}`, "hits") > 0;
console.log(JSON.stringify({ results: [result, large], hits: ["captures", "classes"].map(hits) }));
