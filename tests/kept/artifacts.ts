/** Loads artifacts from the file that it is given, or saves them there; prints what a call took from the cache. */
import { counters } from "../../lib/base/logs.ts";
import { compile, compiler, type Tensor, tensor } from "../../mod.ts";

const [action, path = ""] = Deno.args;
if (action === "load") await compiler.loadCacheArtifacts(await Deno.readFile(path));
const f = compile((x: Tensor) => x.add(1).sin());
const result = f(tensor([1, 2], { dtype: "float32" })).tolist();
if (action === "save") {
  // Entries are written when the program has nothing else to do
  await new Promise((resolve) => setTimeout(resolve, 200));
  const { bytes, files } = await compiler.saveCacheArtifacts();
  await Deno.writeFile(path, bytes);
  if (files === 0) throw new Error("Expected files to save but found none");
}
console.log(JSON.stringify({ result, captures: counters.get("cached_captures", "hits") }));
