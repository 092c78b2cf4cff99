/** Programs that train models and programs whose sizes change, compiled and uncompiled. */
import { dynamic } from "./programs/dynamic.ts";
import { training } from "./programs/training.ts";
import "./support/turns/programs.ts";
import { type Corpus, register } from "./support/programs.ts";
import { sampleBySeed } from "./support/sampling.ts";

// C++ takes most of their time: a run takes some
const some = (corpus: Corpus, count: number): Corpus =>
  Object.fromEntries(sampleBySeed(Object.entries(corpus), count));

register(some(training, 6), ["inductor"]);
register(some(dynamic, 6), ["inductor"]);
