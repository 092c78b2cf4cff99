/**
 * A program for tests of graphs that are compiled in the background: `background.ts <folder> <mode> <seconds>`
 * compiles one graph with a compiler of that mode and calls it in a loop that never awaits, until it is native or the
 * seconds are over. It prints a JSON line with its kernels' results, the first and the last, and the tiers' counts.
 */
import { counters } from "../../lib/base/logs.ts";
import { compile, config, noGrad, type Tensor, tensor } from "../../mod.ts";

const [folder = "", mode = "", seconds = "1"] = Deno.args;
Deno.writeTextFileSync(`${folder}/mode`, mode);
config.inductor.tier = "background";
config.inductor.cppTimeout = Number(seconds) || 60;
const f = compile((x: Tensor) => x.tanh().add(x.exp()).sum(1));
const x = tensor([[0.1, -2, 3.5, 0.75, 11], [1, 2, 3, 4, 5]]);
const call = () => noGrad(() => Array.from(f(x).toTypedArray(), Number));
const first = call(), until = performance.now() + 1000 * Number(seconds) + 500;
Deno.writeTextFileSync(`${folder}/open`, "");
let last = first;
while (performance.now() < until && counters.total("tiers") < 2) last = call();
const [tiers, fallback] = ["tiers", "fallback"].map((group) => Object.fromEntries(counters.entries(group)));
console.log(JSON.stringify({ first, last, tiers, fallback }));
