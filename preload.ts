/**
 * Preloaded (`deno run -A --preload=jsr:@x/dyn/preload model.ts`), it prepares the program's modules for `compile`.
 *
 * In a program that is started this way, or by dyn itself, compiled functions can access variables that are reassigned
 * after functions have captured them. Without it, modules that are loaded before dyn are unprepared, and such a
 * function exposes its variables in its first call, which runs uncompiled.
 *
 * @module
 */
import { rewriteLoadedModules } from "./lib/dynamo/frame/load_hook.ts";

rewriteLoadedModules();
