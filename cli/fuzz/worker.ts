/**
 * A fuzzing process: `deno run -A worker.ts <JSON of WorkerTask>`. Events are lines of JSON on stdout. Invariant:
 * whatever dyn does to this process, the supervisor learns which program ran last.
 */
import { init } from "../../mod.ts";
import { campaignsOf } from "./fuzzers.ts";
import type { CampaignEvent, WorkerTask } from "./protocol.ts";

/** Number of bytes at which a process makes way for a new one. */
const MOST_BYTES = 1.5 * 2 ** 30;

const encoder = new TextEncoder();

/** Written synchronously: a process that dies must not lose events. */
function report(event: CampaignEvent): void {
  const bytes = encoder.encode(`${JSON.stringify(event)}\n`);
  for (let written = 0; written < bytes.length;) written += Deno.stdout.writeSync(bytes.subarray(written));
}

if (import.meta.main) {
  const task: WorkerTask = JSON.parse(Deno.args[0] ?? "{}");
  const run = campaignsOf(task.fuzzer, task.without);
  if (task.tier === "webgpu") await init({ device: "webgpu" });
  await run({ ...task, report, mostBytes: MOST_BYTES });
  Deno.exit(0);
}
