/**
 * The one place where the command line imports dyn itself.
 *
 * Input: the environment that the flags have filled; output: the public module. Invariant: nothing in `cli/`
 * imports it statically, since its settings are read from the environment when it loads.
 */
import { UsageError } from "./command.ts";

/** The public module. */
export type Toolkit = typeof import("../mod.ts");

/** Loads the public module; later calls give the same one. */
export async function toolkit(): Promise<Toolkit> {
  return await import("../mod.ts");
}

/** Throws `UsageError` where `--backend` names a backend that does not exist. */
export async function checkChoices(): Promise<void> {
  const backend = Deno.env.get("DYN_BACKEND");
  if (!backend) return;
  const names = (await toolkit()).compiler.listBackends({ debug: true });
  if (!names.includes(backend)) {
    throw new UsageError(`Expected a backend out of ${names.join(", ")} but found ${backend}`);
  }
}
