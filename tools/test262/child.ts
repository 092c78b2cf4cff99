/**
 * A process that runs tests of the conformance suite, plain or compiled. Its arguments are the folder of the suite's
 * harness and `plain` or `compiled`; it reads lists of runs from standard input and prints the outcome of each run,
 * one line of JSON each. Invariant: it ends after a test that leaves builtins changed, so that no other test sees
 * them.
 *
 * The tests of a list are one script, since reading a script through the inspector takes longest. Every assertion
 * works on a tensor, so that tests have graphs throughout, and so that the number of assertions is known.
 */
import { join } from "node:path";
import { builtinsNow } from "./builtins.ts";
import { type Capture, type Engine, NO_FUNCTION, plainEngine, type Report, type State } from "./engine.ts";
import { Lines } from "./lines.ts";
import type { Run } from "./suite.ts";

/** Timeout for a test to call `$DONE`, in milliseconds. */
const PATIENCE = 2000;

// Taken before any test runs, since tests replace them.
const { parse, stringify } = JSON, { now } = Date, later = setTimeout, text = String, evaluate = eval;

const [harness = "", mode] = Deno.args;
const COUNT = "$state.count = $state.count.add(1);";
const ASSERTIONS = /^(assert\.[a-z]\w* = function \([^)]*\) \{|function assert\([^)]*\) \{)/gm;

/** Beginnings of messages about missing modules, and the place where they name the importer. */
const NOT_LOADED = /^(Module not found|Import ")/, IMPORTER = / at ext:\S+$/;

const state: State = { count: null, printed: [], done: [] };
const SHARED = `
  function print(text) { $state.printed.push(text); }
  function $DONE(error) { $state.done.push(error); }
`;

const loaded = new Set<string>();

function load(names: readonly string[]): void {
  for (const name of names) {
    if (loaded.has(name)) continue;
    loaded.add(name);
    const source = Deno.readTextFileSync(join(harness, name));
    evaluate(name === "assert.js" ? source.replaceAll(ASSERTIONS, `$1 ${COUNT}`) : source);
  }
}

function described(thrown: unknown): string {
  try {
    return thrown instanceof Error
      ? `${text(thrown.name)}: ${text(thrown.message).replace(IMPORTER, "")}`
      : text(thrown);
  } catch {
    return typeof thrown;
  }
}

/** Waits by timers alone, since tests count what awaiting looks up. */
function untilDone(): Promise<void> {
  const began = now();
  return new Promise((resolve) => {
    const look = (): void => {
      if (state.done.length > 0 || now() - began >= PATIENCE) resolve();
      else later(look, 0);
    };
    later(look, 0);
  });
}

function howDone(): string {
  if (state.done.length === 0) return "is never done";
  return `is done: ${state.done.map((error) => error === undefined ? "well" : described(error)).join()}`;
}

/** The tests of a list as functions; a test that cannot be parsed is its error. */
function functionsOf(runs: readonly Run[]): readonly unknown[] {
  const texts = runs.map(({ text }) => text);
  try {
    return evaluate(`[${texts.join(",\n")}]`);
  } catch {
    return texts.map((each) => {
      try {
        return evaluate(each);
      } catch (error) {
        return described(error);
      }
    });
  }
}

/** The identifier of calls that only expose variables: the next call is compiled. */
const POSTPONED = "GB0032";
/** Maximum number of calls of a test until no variable is missing. */
const MOST_CALLS = 4;

/** Runs one test to its end, repeatedly until its variables are available. */
async function reportOf(engine: Engine, run: Run, test: unknown): Promise<Report> {
  let full: Report;
  let calls = 0;
  do {
    const builtins = builtinsNow();
    const report = await reportOnce(engine, run, test);
    full = { ...report, changed: builtins.changed() };
  } while (full.changed === null && ++calls < MOST_CALLS && full.uncompiled.some(isPostponed));
  return full;
}

function isPostponed(cause: string): boolean {
  return cause.includes(POSTPONED);
}

async function reportOnce(engine: Engine, run: Run, test: unknown): Promise<Omit<Report, "changed">> {
  const capture: Capture = { breaks: [], uncompiled: [], graphs: 0 };
  if (typeof test !== "function") return { outcome: `${NO_FUNCTION}: ${test}`, ...capture };
  state.count = engine.zero();
  state.printed.length = state.done.length = 0;
  let ended = "returns";
  try {
    engine.run(test as () => void, state, capture);
    if (run.isAsync) {
      await untilDone();
      ended = howDone();
    }
    // Unhandled rejections are reported after the job.
    await new Promise((resolve) => later(resolve, 0));
  } catch (error) {
    ended = `throws ${described(error)}`;
  }
  const outcome = `${ended}; assertions: ${engine.read(state.count)}; printed: ${
    state.printed.map(described).join()
  }`;
  return { outcome, ...capture };
}

const engine = mode === "compiled" ? (await import("./compiled_engine.ts")).compiledEngine : plainEngine;
Object.defineProperty(globalThis, "$state", { value: state });
globalThis.addEventListener("unhandledrejection", (event) => {
  event.preventDefault();
  // The loader determines when a missing module is detected.
  if (event.reason instanceof Error && NOT_LOADED.test(event.reason.message)) return;
  state.printed.push(event.reason);
});
evaluate(SHARED);
const lines = new Lines(Deno.stdin.readable);
for (let line = await lines.next(); line !== null; line = await lines.next()) {
  const runs: readonly Run[] = parse(line);
  const tests = functionsOf(runs);
  for (let i = 0; i < runs.length; i++) {
    const run = runs[i];
    if (!run) continue;
    load(run.harness);
    const full = await reportOf(engine, run, tests[i]);
    Deno.stdout.writeSync(new TextEncoder().encode(`${stringify(full)}\n`));
    if (full.changed !== null) Deno.exit();
  }
}
