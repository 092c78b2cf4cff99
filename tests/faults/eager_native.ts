/**
 * One large eager call in a process of its own, run by tiers_test.ts: shows how many programs were native when it
 * returned. With "wait" it continues until the compiler has finished.
 */
import { counters } from "../../lib/base/logs.ts";
import { noGrad, ones } from "../../mod.ts";

const x = ones([512, 512]), native = () => counters.get("tiers", "eager_native");
const before = native();
noGrad(() => x.atan());
console.log(native() - before);
while (Deno.args[0] === "wait" && native() === before) noGrad(() => x.atan());
