/**
 * The language fuzzer: random JavaScript around tensors, run plainly and compiled. Input: backends and seeds; output:
 * the first difference of a program, and its text. Invariant: everything that a program shows is compared: results,
 * errors, the order of effects, what it leaves in objects and variables.
 */
import fc from "fast-check";
import { compile, config, manualSeed } from "../../../mod.ts";
import { difference, faults, observe } from "../../support/programs.ts";
import { functionBody } from "./statements.ts";
import { type Call, type LanguageProgram, scenarioOf, textOf } from "./world.ts";

export type { LanguageProgram } from "./world.ts";

const call: fc.Arbitrary<Call> = fc.record({
  size: fc.constantFrom(2, 3, 4),
  seed: fc.integer({ min: 0, max: 5 }),
  n: fc.constantFrom(1, 2, 3, 0, -1, 5),
  k: fc.constantFrom(1, 2, 3, 0, 4),
  list: fc.array(fc.integer({ min: -2, max: 4 }), { maxLength: 3 }),
  same: fc.boolean(),
});

/** Random programs. */
export function programs({ inplace }: { readonly inplace: boolean }): fc.Arbitrary<LanguageProgram> {
  const ordinary = { suspends: "never", inplace } as const;
  const common = {
    helper: functionBody(ordinary, { least: 0, most: 1 }),
    generator: functionBody({ suspends: "generator", inplace }, { least: 0, most: 2 }),
    calls: fc.array(call, { minLength: 2, maxLength: 4 }),
    dynamic: fc.constantFrom(undefined, undefined, undefined, true, false),
    forceBreak: fc.oneof({ weight: 5, arbitrary: fc.constant(-1) }, {
      weight: 1,
      arbitrary: fc.integer({ min: 8, max: 60 }),
    }),
  };
  const size = { least: 1, most: 6 } as const;
  return fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({ ...common, body: functionBody(ordinary, size), async: fc.constant(false) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        ...common,
        body: functionBody({ suspends: "async", inplace }, size),
        async: fc.constant(true),
      }),
    },
  );
}

/** Whether a text is a program at all: jumps need their loops. */
export function isProgram(program: LanguageProgram): boolean {
  try {
    new Function("env", `"use strict";${textOf(program)}`);
    return true;
  } catch {
    return false;
  }
}

/** Messages of V8 that name its own internal variables, or depend on how the program is written. */
const WORDED = /is not iterable|Cannot destructure|Cannot read properties/;

/** Of what V8 says in words of its own only that it says something counts. */
function normalized(tokens: Awaited<ReturnType<typeof observe>>): typeof tokens {
  return tokens.map((token) => {
    if (typeof token !== "string") return token;
    // Printed code has names of its own for variables.
    return WORDED.test(token) ? "(V8)" : token.replaceAll(/(?<=\w)\$f?\d+\b/g, "");
  });
}

/** Runs a program plainly and compiled; the first difference, or null. */
export async function check(program: LanguageProgram, backend: string): Promise<string | null> {
  const scenario = scenarioOf(program);
  const { dynamic, forceBreak } = program;
  manualSeed(7);
  const plain = await observe(scenario, (fn) => fn);
  manualSeed(7);
  const before = faults();
  const compiled = await config.patch(
    { forceBreak },
    () => observe(scenario, (fn) => compile(fn, { backend, dynamic })),
  );
  const found = difference(normalized(plain), normalized(compiled));
  if (found !== null) return found;
  return faults() === before ? null : "something ran uncompiled through a fault of the compiler";
}

/** A program as somebody would paste it. */
export function print(program: LanguageProgram, backend = "eager"): string {
  const { calls, dynamic, forceBreak } = program;
  return `${textOf(program)}
// backend ${backend}, dynamic ${dynamic}, forceBreak ${forceBreak}
${calls.map((each) => `// ${JSON.stringify(each)}`).join("\n")}
// ${JSON.stringify(program)}`;
}

/** A program that shows a difference. */
export interface Finding {
  readonly program: LanguageProgram;
  readonly difference: string;
}

/** How differences are told apart, so that a program doesn't turn into another one's while it shrinks. */
const KINDS = [/ran uncompiled through a fault/, /UnsupportedSyntax/, /InternalError/, /SyntaxError/];

/** Runs random programs until one shows a difference, and makes it small. */
export async function search(
  options: {
    readonly seed: number;
    readonly programs: number;
    readonly backend: string;
    /** How long programs may be made smaller. */
    readonly shrinkSeconds?: number;
  },
): Promise<Finding | null> {
  const { seed, backend, shrinkSeconds = 60 } = options;
  const kindOf = (text: string) => KINDS.findIndex((kind) => kind.test(text));
  const state: { found: Finding | null; until: number } = { found: null, until: Infinity };
  await fc.check(
    fc.asyncProperty(language.generate(), async (program) => {
      if (performance.now() > state.until) return true;
      const difference = await check(program, backend);
      if (difference === null) return true;
      if (state.found && kindOf(state.found.difference) !== kindOf(difference)) return true;
      if (!state.found) state.until = performance.now() + shrinkSeconds * 1000;
      state.found = { program, difference };
      return false;
    }),
    { seed, numRuns: options.programs },
  );
  return state.found;
}

/** What drives the fuzzer from outside: one name, programs, one run, one text. */
export const language = {
  name: "language",
  backends: ["eager", "aot_eager", "inductor"],
  generate: (): fc.Arbitrary<LanguageProgram> => programs({ inplace: true }).filter(isProgram),
  check,
  print,
} as const;
