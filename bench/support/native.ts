/** A setting that makes graphs of a benchmark wait for the C++ compiler, so that native code is timed. */
import { config } from "../../mod.ts";

if (!Deno.env.get("DYN_TIER")) config.inductor.tier = "wait";
