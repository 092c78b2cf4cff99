/**
 * Tests of programs by name: the output of each must be the same compiled as plainly. Invariant: calls that ran
 * uncompiled because of a fault of the compiler fail the test too.
 */
import { assert, assertEquals } from "@std/assert";
import { difference, faults, observe, type Program } from "../../cli/fuzz/language/observation.ts";
import { codeOf } from "../../lib/dynamo/functions/functions.ts";
import { compile, compiler, config, manualSeed } from "../../mod.ts";
import { sampleBySeed } from "./sampling.ts";

/** Programs by name. */
export type Corpus = Readonly<Record<string, Program>>;

/** Offsets at one of which, by the seed, the graph of every compiled function is broken on request. */
export const FORCED: readonly number[] = [11];

const NOWHERE = -1;

/** Whether it is broken at every instruction instead, as by the task `test:breaks`. */
export const BREAKS_EVERYWHERE: boolean = Deno.env.get("DYN_TEST_BREAKS") === "1";

/** Reasons of calls that must run uncompiled: they throw, or the next one is compiled. */
const BY_NATURE: readonly string[] = ["GB0029", "GB0032"];

function assertUnbroken(compiled: object): void {
  const { graphBreaks, uncompiled } = compiler.status(compiled);
  const reasons = uncompiled.map(({ reason }) => reason).filter(({ id }) => !BY_NATURE.includes(id));
  assertEquals({ graphBreaks, reasons }, { graphBreaks: 0, reasons: [] });
}

/** How a program is compiled. */
interface Ways {
  readonly backends: readonly string[];
  /** Offsets at which graphs are broken on request. */
  readonly forced: readonly number[];
  /** Whether nothing of the program may break its graph or run uncompiled otherwise. */
  readonly isUnbroken: boolean;
}

async function agree(program: Program, { backends, forced, isUnbroken }: Ways): Promise<void> {
  const seeded = async (run: () => ReturnType<typeof observe>) => {
    manualSeed(7);
    return await run();
  };
  let length = 0;
  const plain = await seeded(() =>
    observe(program, (fn) => {
      // Reading the source of an evaluated function takes as long as running it
      if (BREAKS_EVERYWHERE) length = Math.max(length, codeOf(fn)?.instructions.length ?? 0);
      return fn;
    })
  );
  assert(plain.length > 3, `Expected a program that shows values, but found ${plain.join(" ") || "nothing"}`);
  const check = async (label: string, run: () => ReturnType<typeof observe>) => {
    const before = faults();
    const found = difference(plain, await seeded(run));
    assert(found === null, `${label}: ${found}`);
    assert(faults() === before, `${label}: something ran uncompiled through a fault of the compiler`);
  };
  for (const backend of sampleBySeed(backends, 2, plain.length)) {
    const made: object[] = [];
    const compiled = <F extends (...args: never[]) => unknown>(fn: F): F => {
      const run = compile(fn, { backend });
      made.push(run);
      return run;
    };
    await check(backend, () => observe(program, compiled));
    if (isUnbroken) made.forEach(assertUnbroken);
  }
  // A run breaks graphs of half of the programs at least
  const drawn = sampleBySeed([NOWHERE, ...forced], 1, plain.length).filter((offset) => offset !== NOWHERE);
  for (const forceBreak of BREAKS_EVERYWHERE ? Array(length).keys() : drawn) {
    const run = () => observe(program, (fn) => compile(fn, { backend: "eager" }));
    await check(`a break at ${forceBreak}`, () => config.patch({ forceBreak }, run));
  }
}

/** The programs of a corpus that a run takes: two of three. */
function taken(corpus: Corpus): readonly (readonly [string, Program])[] {
  const programs = Object.entries(corpus);
  return BREAKS_EVERYWHERE ? programs : sampleBySeed(programs, Math.ceil(programs.length * 2 / 3));
}

/**
 * Makes a test of each program: it shows compiled what it shows uncompiled, with breaks on request too. A run takes two
 * of three programs, two of the backends, and none or one of the breaks.
 */
export function register(corpus: Corpus, backends: readonly string[], forced: readonly number[] = []): void {
  for (const [name, program] of taken(corpus)) {
    Deno.test(`compiled as uncompiled: ${name}`, () =>
      agree(program, { backends, forced, isUnbroken: false }));
  }
}

/**
 * Like `register`, for programs that run in whole graphs: nothing of them that is compiled breaks its graph or runs
 * uncompiled.
 */
export function registerUnbroken(
  corpus: Corpus,
  backends: readonly string[],
  forced: readonly number[] = [],
): void {
  for (const [name, program] of taken(corpus)) {
    Deno.test(
      `compiled as uncompiled, without breaks: ${name}`,
      () => agree(program, { backends, forced, isUnbroken: true }),
    );
  }
}
