/**
 * A hundred and twenty functions as people write them: compiled they behave as plainly, with exact numbers of graphs and breaks,
 * also if the graph is broken on request, at some instructions selected by a seed (DYN_TEST_SEED), or at all of them
 * (DYN_TEST_ALL=1).
 */
import { assertEquals } from "@std/assert";
import { difference, faults, observe, type Program } from "../cli/fuzz/language/observation.ts";
import { compile, compiler, config, manualSeed } from "../mod.ts";
import "./support/turns/programs.ts";
import { BREAKS_EVERYWHERE } from "./support/programs.ts";
import { sampleBySeed } from "./support/sampling.ts";

type Counts = readonly [graphs: number, breaks: number];

/**
 * Graphs and breaks by program. Those that are left wait, read elements to decide, print, make as many elements as
 * elements say, or end where a loop decides on another pass and the number of passes keeps changing: none could be
 * avoided.
 */
const COUNTS: Readonly<Record<string, Counts>> = {
  "a batch is fetched, normalised and returned": [3, 1],
  "two sources are awaited together": [1, 1],
  "a stream is reduced as it comes": [4, 1],
  "a stream is transformed item by item": [2, 3],
  "items are collated into batches": [1, 0],
  "failures are tried again": [2, 2],
  "a cache keeps what was preprocessed": [5, 1],
  "windows over a series are stacked": [1, 0],
  "columns are chosen by a description": [2, 0],
  "work is done while the next item is awaited": [4, 1],
  "the likeliest token, a fixed number of times": [1, 0],
  "until the end is seen": [3, 1],
  "one step with a cache of keys and values": [3, 0],
  "a cache of fixed size is written in place": [3, 0],
  "beams are kept by their scores": [1, 0],
  "sampling with a temperature and the likeliest few": [2, 0],
  "repetition is punished": [2, 0],
  "positions are rotated into queries": [2, 0],
  "a draft is checked by the model": [1, 0],
  "characters become tokens, and tokens text": [2, 0],
  "a tree is summed": [2, 0],
  "a tree is encoded by a layer at each node": [1, 0],
  "an expression is evaluated": [1, 0],
  "blocks nest by depth": [1, 0],
  "a matrix is raised to a power by squaring": [1, 0],
  "a list is sorted by merging, by known keys": [1, 0],
  "nested lists of any depth are mapped": [2, 0],
  "a recurrent cell runs over lists of different lengths": [2, 0],
  "ways through a graph are added up": [1, 0],
  "a polynomial by Horner's rule, and its derivative": [1, 0],
  "layers are composed": [1, 0],
  "an activation is an argument": [2, 0],
  "a fresh closure at each call": [2, 0],
  "observers are told of each layer": [2, 0],
  "a method is handed on, bound": [2, 0],
  "lists are mapped, filtered and folded": [2, 0],
  "a loss is chosen by name": [2, 0],
  "a step is decorated": [2, 0],
  "a gradient is clipped by a hook": [1, 0],
  "a generator hands out what is computed": [1, 0],
  "a running mean": [2, 0],
  "a counter that is private": [2, 0],
  "an exponential average in place": [1, 0],
  "a module with a mode": [2, 0],
  "accessors compute what is asked": [1, 0],
  "a subclass changes a step": [2, 0],
  "a registry of objects": [2, 0],
  "a ring buffer": [5, 0],
  "lazy weights": [2, 0],
  "objects of a call are its own": [1, 0],
  "a request is scored": [1, 0],
  "a handler parses, computes and answers": [2, 1],
  "routes choose the model": [2, 0],
  "bad input is refused inside": [2, 0],
  "requests are batched": [1, 0],
  "a session remembers": [3, 0],
  "a limit is kept between requests": [2, 0],
  "features come from optional fields": [3, 0],
  "the answer is made of parts": [3, 0],
  "answers come with a deadline": [3, 1],
  "a step with stochastic gradient descent": [1, 0],
  "gradients are accumulated over parts": [1, 0],
  "gradients are clipped by their norm": [1, 0],
  "the rate follows a schedule": [2, 0],
  "two networks against each other": [1, 0],
  "weights are averaged after the step": [1, 0],
  "only some layers learn": [1, 0],
  "an epoch with a mean and the best so far": [1, 0],
  "a policy from returns": [1, 0],
  "contrasts within a batch": [2, 0],
  "Newton's method, a fixed number of steps": [1, 0],
  "steps until nothing changes": [3, 1],
  "Runge and Kutta": [1, 0],
  "the power method": [1, 0],
  "conjugate gradients": [1, 0],
  "Sinkhorn's balance": [1, 0],
  "heat on a rod": [1, 0],
  "a filter by recursion": [1, 0],
  "a gradient inside of a step": [1, 0],
  "Gram and Schmidt": [1, 0],
  "attention of several heads": [2, 0],
  "a residual block with a shortcut": [1, 0],
  "experts by the best scores": [1, 0],
  "a mean over what is not padded": [1, 0],
  "a linear layer of low rank beside a frozen one": [1, 0],
  "a unit with a gate": [1, 0],
  "messages between nodes": [1, 0],
  "a stack whose depth is dropped": [2, 0],
  "a capsule of einsum": [1, 0],
  "features at several scales": [1, 0],
  "a confusion matrix": [2, 1],
  "metrics by name": [1, 0],
  "defaults and what was configured are merged": [3, 0],
  "progress is printed": [2, 1],
  "values that are not finite are found": [3, 1],
  "dimensions are checked with a message": [1, 0],
  "a table of statistics": [1, 0],
  "parameters are counted and grouped": [2, 0],
  "early stopping": [2, 0],
  "labels are smoothed and drawn as text": [1, 0],
  "pairs of bytes are merged and embedded": [3, 0],
  "words are cut into the longest known pieces": [3, 0],
  "lines of a log are parsed into features": [2, 0],
  "lines of a log carry their fields": [6, 0],
  "labels of a sequence are decoded by Viterbi": [2, 0],
  "probabilities of alignments are summed by CTC": [3, 0],
  "logits pass a chain of warpers": [4, 0],
  "hypotheses wait in a heap": [8, 7],
  "boxes are suppressed one by one": [4, 1],
  "layers run in topological order": [3, 0],
  "steps adapt to the error": [7, 1],
  "listeners come and go": [4, 0],
  "mixins wrap a layer": [3, 0],
  "a buffer of transitions is replayed": [3, 0],
  "a cache forgets what is oldest": [6, 1],
  "a tree is read by a recursive cell": [3, 0],
  "a proxy names parameters by their path": [2, 0],
  "a history grows from nothing": [6, 1],
  "requests are gathered into batches by microtasks": [3, 0],
  "work is limited by a semaphore": [6, 8],
};

/** Loaded behind mod.ts, which sees their variables then, as where `dyn` starts a program. */
const PROGRAMS: Readonly<Record<string, Program>> = Object.assign(
  {},
  ...(await Promise.all([
    import("./realistic/pipelines.ts"),
    import("./realistic/decoding.ts"),
    import("./realistic/recursion.ts"),
    import("./realistic/callbacks.ts"),
    import("./realistic/stateful.ts"),
    import("./realistic/servers.ts"),
    import("./realistic/training.ts"),
    import("./realistic/numerics.ts"),
    import("./realistic/layers.ts"),
    import("./realistic/bookkeeping.ts"),
    import("./realistic/texts.ts"),
    import("./realistic/searches.ts"),
    import("./realistic/classes.ts"),
    import("./realistic/services.ts"),
  ])).map(({ programs }) => programs),
);

/** Runs a program; compiled functions have so many graphs and breaks. */
async function run(program: Program, compiled: boolean) {
  manualSeed(7);
  compiler.reset();
  const made: object[] = [];
  const tokens = await observe(program, (fn) => {
    if (!compiled) return fn;
    const result = compile(fn, { backend: "eager" });
    made.push(result);
    return result;
  });
  const statuses = made.map((each) => compiler.status(each));
  const sum = (of: (status: (typeof statuses)[number]) => number) =>
    statuses.reduce((n, each) => n + of(each), 0);
  const counts: Counts = [sum(({ graphs }) => graphs), sum(({ graphBreaks }) => graphBreaks)];
  return { tokens, counts };
}

for (const [name, program] of Object.entries(PROGRAMS)) {
  Deno.test(`as people write them: ${name}`, async () => {
    const before = faults(), plain = await run(program, false), found = await run(program, true);
    assertEquals(difference(plain.tokens, found.tokens), null);
    assertEquals(found.counts, COUNTS[name]);
    assertEquals(faults(), before);
  });
}

Deno.test("as people write them: a hundred and twenty of them", () => {
  assertEquals(Object.keys(PROGRAMS).length, 120);
  assertEquals(Object.keys(COUNTS), Object.keys(PROGRAMS));
});

/** Instructions at which breaks are forced. */
const OFFSETS: readonly number[] = Array.from({ length: 160 }, (_, k) => k);

const ENTRIES: readonly (readonly [string, Program])[] = Object.entries(PROGRAMS);

for (const [name, program] of BREAKS_EVERYWHERE ? ENTRIES : sampleBySeed(ENTRIES, 60, 0)) {
  Deno.test(`as people write them, with a break on request: ${name}`, async () => {
    const before = faults(), plain = await run(program, false);
    for (const forceBreak of BREAKS_EVERYWHERE ? OFFSETS : sampleBySeed(OFFSETS, 1, name.length)) {
      const found = await config.patch({ forceBreak }, () => run(program, true));
      assertEquals(difference(plain.tokens, found.tokens), null, `a break at ${forceBreak}`);
    }
    assertEquals(faults(), before);
  });
}
