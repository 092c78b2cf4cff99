/** Programs about tensors, compiled and uncompiled. */
import { elementErrors, tensors } from "./programs/tensors.ts";
import "./support/turns/programs.ts";
import { FORCED, register } from "./support/programs.ts";
import { sampleBySeed } from "./support/sampling.ts";

// C++ takes most of their time: a run takes some
register(Object.fromEntries(sampleBySeed(Object.entries(tensors), 12)), ["aot_eager", "inductor"], FORCED);
register(elementErrors, ["eager", "aot_eager"]);
