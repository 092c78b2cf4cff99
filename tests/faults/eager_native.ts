/**
 * One large eager call in a process of its own, run by tiers_test.ts: shows how many programs were native when it
 * returned. With "wait" it continues until the compiler has finished.
 */
import { counters } from "../../lib/base/logs.ts";
import { noGrad, ones } from "../../mod.ts";
import { pauses } from "../support/pauses.ts";

const x = ones([512, 512]), native = () => counters.get("tiers", "eager_native");
const before = native();
noGrad(() => x.atan());
console.log(native() - before);
for (const pause = pauses(); Deno.args[0] === "wait" && native() === before; pause()) noGrad(() => x.atan());
