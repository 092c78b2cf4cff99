/** Graphs of a benchmark wait for the C++ compiler, so that what is timed is native code. Input: nothing; output: a setting. */
import { config } from "../../mod.ts";

if (!Deno.env.get("DYN_TIER")) config.inductor.tier = "wait";
