/**
 * Preloaded (`deno run -A --preload=jsr:@x/dyn/preload model.ts`), it prepares the program's modules for `compile`.
 *
 * A program that is started so, or by dyn itself, lets compiled functions reach variables that are assigned after
 * functions have captured them. Without it, modules that are loaded before dyn are as they are, and such a function
 * gives its variables with its first call, which runs uncompiled.
 *
 * @module
 */
import { rewriteLoadedModules } from "./lib/dynamo/frame/load_hook.ts";

rewriteLoadedModules();
