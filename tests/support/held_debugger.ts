/**
 * Leaves V8's debugger enabled, once it is, in a list whose programs evaluate texts: enabling it anew for each text
 * reports all of dyn's scripts, which takes a third of the list's time. One run in four, by the seed, goes without.
 */
import { keepDebugger } from "../../lib/dynamo/frame/inspector.ts";
import { TAKES_ALL, testSeed } from "./sampling.ts";

if (!TAKES_ALL && (testSeed() >> 4) % 4 !== 0) keepDebugger();
