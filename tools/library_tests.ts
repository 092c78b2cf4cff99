/**
 * Runs the tests of published libraries, plain and compiled, and compares: `deno run -A --import-map=<map>
 * tools/library_tests.ts --mode=plain --report=plain.json <test files>`, the same with `--mode=compiled
 * --report=compiled.json`, then `--compare plain.json compiled.json`.
 *
 * The libraries are not part of this repository; the map has their imports beside dyn's own, and `globals.ts` for
 * `vitest`. Their assertions define what is right: a test differs if it passes only one way, or prints something else.
 * Invariant: graphs are interpreted, so that all differences come from the capture.
 */
import "../backends/cpu/device.ts";
import "../lib/autograd/install.ts";
import "../lib/tensor/install.ts";
import { parseArgs } from "@std/cli";
import { resolve } from "node:path";
import { format, inspect } from "node:util";
import { pathToFileURL } from "node:url";
import { config } from "../lib/base/config.ts";
import { breakText } from "../lib/base/errors.ts";
import { optimize } from "../lib/dynamo/mod.ts";
import { Collection, CONTEXT, type LibraryTest } from "./library_tests/collected.ts";
import { expect, mocks } from "./library_tests/expectations.ts";

/** A test that ran. */
interface Outcome {
  readonly file: string;
  readonly test: string;
  /** How it failed; null: it passed. */
  readonly failure: string | null;
  readonly printed: string;
  readonly breaks: readonly string[];
  readonly uncompiled: readonly string[];
}

/** Maximum number of tests of a file: tables declare thousands of similar ones. */
const MOST_TESTS = 120;

const { _: given, ...options } = parseArgs(Deno.args, { string: ["mode", "report"], boolean: ["compare"] });
const files = given.map(String);
if (options.compare) compare(files[0] ?? "", files[1] ?? "");
else await runFiles(files, options.mode === "compiled", options.report ?? "report.json");

async function runFiles(files: readonly string[], isCompiled: boolean, report: string): Promise<void> {
  // Tests of what capture does with plain JavaScript
  config.tensorlessTraceLimit = 10_000_000;
  const collection = new Collection();
  Object.assign(globalThis, collection.globals(), { expect, vi: mocks, jest: mocks });
  using out = Deno.openSync(report, { write: true, create: true, append: true });
  for (const path of files) {
    const file = resolve(path);
    await import(pathToFileURL(file).href);
    const tests = collection.take(), step = Math.ceil(tests.length / MOST_TESTS);
    for (const test of tests.filter((_, i) => i % step === 0)) {
      const outcome = { file, test: test.name, ...await outcomeOf(test, isCompiled) } satisfies Outcome;
      out.writeSync(new TextEncoder().encode(`${JSON.stringify(outcome)}\n`));
    }
  }
}

async function outcomeOf(test: LibraryTest, isCompiled: boolean): Promise<Omit<Outcome, "file" | "test">> {
  const breaks = new Set<string>(), uncompiled = new Set<string>(), { log } = console;
  let printed = "", failure: string | null = null;
  console.log = (...args: unknown[]) => printed += `${format(...args)}\n`;
  try {
    for (const action of test.before) await Reflect.apply(action, CONTEXT, []);
    const body = isCompiled
      ? optimize(test.body, {
        backend: (gm) => (...inputs) => gm.forward(...inputs),
        hooks: {
          onBreak: (reason) => breaks.add(breakText(reason)),
          onUncompiled: (reason) => uncompiled.add(breakText(reason)),
        },
      })
      : test.body;
    await Reflect.apply(body, CONTEXT, []);
    for (const action of test.after) await Reflect.apply(action, CONTEXT, []);
  } catch (error) {
    failure = error instanceof Error ? `${error.name}: ${error.message}` : inspect(error);
  } finally {
    console.log = log;
  }
  return { failure, printed, breaks: [...breaks], uncompiled: [...uncompiled] };
}

/** The outcomes of a report, by test and occurrence. */
function outcomesOf(report: string): Map<string, Outcome> {
  const outcomes = new Map<string, Outcome>(), times = new Map<string, number>();
  for (const line of Deno.readTextFileSync(report).trim().split("\n")) {
    const outcome: Outcome = JSON.parse(line), name = `${outcome.file} ${outcome.test}`;
    const time = (times.get(name) ?? 0) + 1;
    times.set(name, time);
    outcomes.set(`${name} #${time}`, outcome);
  }
  return outcomes;
}

/** Prints the tests that differ, and the causes of graph breaks and uncompiled calls. */
function compare(plainReport: string, compiledReport: string): void {
  const plain = outcomesOf(plainReport), causes = new Map<string, number>();
  let compared = 0, passed = 0, different = 0;
  for (const [name, outcome] of outcomesOf(compiledReport)) {
    for (const text of [...outcome.breaks, ...outcome.uncompiled]) {
      const [cause = ""] = text.split("\n", 1);
      causes.set(cause, (causes.get(cause) ?? 0) + 1);
    }
    const expected = plain.get(name);
    if (!expected) continue;
    compared++;
    if (expected.failure === null) passed++;
    if ((expected.failure === null) === (outcome.failure === null) && expected.printed === outcome.printed) {
      continue;
    }
    different++;
    console.log(`${name}\n  plain:    ${told(expected)}\n  compiled: ${told(outcome)}`);
  }
  for (const [cause, count] of [...causes].sort(([, a], [, b]) => b - a)) console.log(`${count} ${cause}`);
  console.log(`${compared} tests, of which ${passed} pass plain; ${different} differ`);
}

const told = ({ failure, printed }: Outcome) =>
  `${failure ?? "passes"} ${JSON.stringify(printed.slice(0, 200))}`;
