/**
 * The language fuzzer: random JavaScript around tensors, run plainly and compiled. Invariant: everything observable is
 * compared: results, errors, the order of effects, changes of objects and variables; and no call falls back to
 * uncompiled execution because of a fault.
 */
import fc from "fast-check";
import { breakText } from "../../../lib/base/errors.ts";
import { compile, compiler, config, counters, manualSeed, ones, type Tensor } from "../../../mod.ts";
import type { Fuzzer } from "../fuzzer.ts";
import { backendOf, type Failure, type Tier } from "../protocol.ts";
import { difference, FAULTS, faults, observe, type Token } from "./observation.ts";
import { REPLACEABLE } from "./replaced.ts";
import { functionBody } from "./statements.ts";
import { type Call, type LanguageProgram, scenarioOf, textOf } from "./world.ts";

/** Features that can be excluded from programs. */
export const LANGUAGE_FEATURES = ["inplace"] as const;
export type LanguageFeature = typeof LANGUAGE_FEATURES[number];

const call: fc.Arbitrary<Call> = fc.record({
  size: fc.constantFrom(2, 3, 4),
  seed: fc.integer({ min: 0, max: 5 }),
  n: fc.constantFrom(1, 2, 3, 0, -1, 5),
  k: fc.constantFrom(1, 2, 3, 0, 4),
  list: fc.array(fc.integer({ min: -2, max: 4 }), { maxLength: 3 }),
  same: fc.boolean(),
});

/** Random programs. */
function programs({ inplace }: { readonly inplace: boolean }): fc.Arbitrary<LanguageProgram> {
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
    replaced: fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, {
      weight: 1,
      arbitrary: fc.constantFrom(...REPLACEABLE),
    }),
    semicolons: fc.oneof({ weight: 3, arbitrary: fc.constant(true) }, {
      weight: 1,
      arbitrary: fc.constant(false),
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

/** Returns whether a text parses: jumps need their loops. */
function isProgram(program: LanguageProgram): boolean {
  try {
    new Function("env", `"use strict";${textOf({ ...program, semicolons: true })}`);
    return true;
  } catch {
    return false;
  }
}

/** Messages of V8 that contain its own internal variables or texts of functions, or depend on how those are written. */
const WORDED = /is not iterable|Cannot destructure|Cannot read properties|=>/;

/** Removes V8's own wording from messages: only their presence counts. */
function normalized(tokens: readonly Token[]): readonly Token[] {
  return tokens.map((token) => {
    if (typeof token !== "string") return token;
    // Printed code has its own names for variables.
    return WORDED.test(token) ? "(V8)" : token.replaceAll(/(?<=\w)\$(?:f?\d+\b|c\.v\b)/g, "");
  });
}

/** Only programs that recurse until the stack is full show more. */
const MOST_OBSERVATIONS = 5000;

/** Runs a program plainly and compiled; the first difference, or null. */
export async function check(program: LanguageProgram, backend: string): Promise<string | null> {
  const scenario = scenarioOf(program);
  const { dynamic, forceBreak } = program;
  manualSeed(7);
  const plain = await observe(scenario, (fn) => fn);
  // The maximum depth of recursion depends on the engine
  if (plain.length > MOST_OBSERVATIONS) return null;
  manualSeed(7);
  const before = faults();
  const made: object[] = [];
  const compiled = await config.patch(
    { forceBreak },
    () =>
      observe(scenario, (fn) => {
        const run = compile(fn, { backend, dynamic });
        made.push(run);
        return run;
      }),
  );
  const found = difference(normalized(plain), normalized(compiled));
  if (found !== null) return found;
  if (faults() === before) return null;
  const reasons = made.flatMap((fn) => compiler.status(fn).uncompiled.map(({ reason }) => reason));
  const texts = reasons.filter(({ category }) => FAULTS.includes(category)).map(breakText);
  return [FAULT, ...texts].join("\n  ");
}

const FAULT = "Something ran uncompiled through a fault of the compiler";

/** Patterns that classify differences, so that a program keeps its failure while it shrinks. */
const KINDS: Readonly<Record<string, RegExp>> = {
  fault: new RegExp(FAULT),
  syntax: /UnsupportedSyntax|SyntaxError/,
  internal: /InternalError/,
};

function kindOf(text: string): string {
  return Object.entries(KINDS).find(([, pattern]) => pattern.test(text))?.[0] ?? "difference";
}

/** Compares plain and compiled runs of programs of the language. */
export class LanguageFuzzer implements Fuzzer<LanguageProgram> {
  readonly name = "language";
  readonly #inplace: boolean;
  #graphs = 0;
  /**
   * Whether a graph has been compiled: once in a process dyn prints a message about that, which belongs to no program.
   */
  #hasBegun = false;

  constructor({ without = [] }: { readonly without?: readonly LanguageFeature[] } = {}) {
    this.#inplace = !without.includes("inplace");
  }

  generate(): fc.Arbitrary<LanguageProgram> {
    return programs({ inplace: this.#inplace }).filter(isProgram);
  }

  async *run(
    list: readonly LanguageProgram[],
    tier: Tier,
    begins: (index: number) => void,
  ): AsyncIterable<Failure | null> {
    if (!this.#hasBegun) compile((x: Tensor) => x.add(1), { backend: backendOf(tier) })(ones([2]));
    this.#hasBegun = true;
    for (const [k, program] of list.entries()) {
      begins(k);
      const before = counters.total("graphs");
      const text = await check(program, backendOf(tier));
      this.#graphs += counters.total("graphs") - before;
      yield text === null ? null : { tier, kind: kindOf(text), text };
    }
  }

  describe(program: LanguageProgram, { tier }: Failure): string {
    return fileText(program, backendOf(tier));
  }

  signature({ body, helper, generator }: LanguageProgram, { kind, text }: Failure): string {
    if (kind === "fault") return text.split("\n").filter((line) => line.includes("Explanation")).join("\n");
    const words = `${body} ${helper} ${generator}`.match(/[A-Za-z]{2,}/g) ?? [];
    return `${kind}: ${[...new Set(words)].toSorted().join(" ")}`;
  }

  counts(): Readonly<Record<string, number>> {
    return { graphs: this.#graphs };
  }
}

/** A file that runs a program again and reports the differences, with the program in readable form. */
function fileText(program: LanguageProgram, backend: string): string {
  const text = textOf(program).trimEnd().split("\n").map((line) => `// ${line}`).join("\n");
  return `import { check } from ${JSON.stringify(import.meta.url)};

${text}
console.log(
  await check(
    ${JSON.stringify(program)},
    ${JSON.stringify(backend)},
  ),
);
`;
}
