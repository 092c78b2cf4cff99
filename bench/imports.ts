/**
 * The cost of importing dyn, compared with a process that imports nothing and one that imports only tensors: the
 * minimum wall time and the median CPU time (user and system, of all threads) over many processes.
 *
 *   deno run -A cli.ts bench imports
 */
import process from "node:process";
import { describeMachine, medianOf } from "./support/measure.ts";

const RUNS = 20;

/** Modules that a process imports, by label. */
const IMPORTED: Readonly<Record<string, string | null>> = {
  "nothing": null,
  "tensors and the tape": new URL("../lib/autograd/autograd.ts", import.meta.url).href,
  "dyn": new URL("../mod.ts", import.meta.url).href,
};

/** Wall and CPU milliseconds of a process after its imports. */
interface Told {
  readonly wall: number;
  readonly cpu: number;
}

const [module] = Deno.args;
if (module !== undefined) {
  if (module !== "") await import(module);
  const { user, system } = process.cpuUsage();
  console.log(JSON.stringify({ wall: performance.now(), cpu: (user + system) / 1000 } satisfies Told));
  Deno.exit(0);
}

console.log(describeMachine());
for (const [name, url] of Object.entries(IMPORTED)) {
  const told = Array.from({ length: RUNS }, (): Told => {
    const { success, stdout, stderr } = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-check", import.meta.filename ?? "", url ?? ""],
    }).outputSync();
    if (!success) throw new Error(new TextDecoder().decode(stderr));
    return JSON.parse(new TextDecoder().decode(stdout));
  });
  const wall = Math.min(...told.map((each) => each.wall)), cpu = medianOf(told.map((each) => each.cpu));
  console.log(`${name.padEnd(40)} ${wall.toFixed(0).padStart(5)} ms   CPU ${cpu.toFixed(0).padStart(5)} ms`);
}
