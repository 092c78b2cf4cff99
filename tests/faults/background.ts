/**
 * A program for tests of graphs that are compiled in the background: `background.ts <folder> <mode> <limit> <end>`
 * compiles one graph with a compiler of that mode, which has `limit` seconds, and calls it in a loop that never awaits:
 * until its code is native or given up if `end` is `settled`, for half a second if it is `soon`. It prints a JSON line
 * with its kernels' results, the first and the last, the counts of tiers and fallbacks, whether the first call has
 * tried the compiler, and the modules that it has loaded on demand.
 */
import { counters } from "../../lib/base/logs.ts";
import { modulesOnDemand } from "../../lib/base/on_demand.ts";
import { compile, config, noGrad, type Tensor, tensor } from "../../mod.ts";
import { pauses } from "../support/pauses.ts";

const [folder = "", mode = "", limit = "60", end = "settled"] = Deno.args;
Deno.writeTextFileSync(`${folder}/mode`, mode);
config.inductor.tier = "background";
config.inductor.cppTimeout = Number(limit);
const f = compile((x: Tensor) => x.tanh().add(x.exp()).sum(1));
const x = tensor([[0.1, -2, 3.5, 0.75, 11], [1, 2, 3, 4, 5]]);
const call = () => noGrad(() => Array.from(f(x).toTypedArray(), Number));
// Only a process that hangs meets the limit of one that waits
const first = call(), until = performance.now() + (end === "soon" ? 500 : 300_000);
const tried = [...Deno.readDirSync(`${folder}/cache/cpu`)].some(({ name }) => name.startsWith("trial"));
const demanded = modulesOnDemand.filter(({ exports }) => exports !== undefined).map(({ url }) => url);
Deno.writeTextFileSync(`${folder}/open`, "");
const isSettled = () => counters.total("tiers") > 1 || counters.total("fallback") > 0;
for (const pause = pauses(); performance.now() < until && !isSettled(); pause()) call();
const last = call();
const [tiers, fallback] = ["tiers", "fallback"].map((group) => Object.fromEntries(counters.entries(group)));
console.log(JSON.stringify({ first, last, tiers, fallback, tried, demanded }));
