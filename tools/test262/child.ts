/**
 * A process in which tests of the conformance suite run, plain or compiled. Input: the folder of the suite's harness
 * and `plain` or `compiled`, then runs on standard input, a line of JSON each; output: what came of each, a line of
 * JSON each. Invariant: it ends after a test that leaves builtins changed, so that no other test sees them.
 *
 * Every assertion works on a tensor, so that tests have graphs all over, and so that it is known how many assertions
 * a test has made.
 */
import { join } from "node:path";
import { createInterface } from "node:readline";
import { builtinsNow } from "./builtins.ts";
import { type Capture, type Engine, plainEngine, type Report, type State } from "./engine.ts";
import type { Run } from "./suite.ts";

/** How long a test may take to call `$DONE`, in milliseconds. */
const PATIENCE = 2000;

// Taken before any test runs, since tests replace them.
const { parse, stringify } = JSON, { now } = Date, later = setTimeout, text = String, evaluate = eval;

const [harness = "", mode] = Deno.args;
const COUNT = "$state.count = $state.count.add(1);";
const ASSERTIONS = /^(assert\.[a-z]\w* = function \([^)]*\) \{|function assert\([^)]*\) \{)/gm;

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
    return thrown instanceof Error ? `${text(thrown.name)}: ${text(thrown.message)}` : text(thrown);
  } catch {
    return typeof thrown;
  }
}

async function waitUntilDone(): Promise<string> {
  for (const began = now(); state.done.length === 0 && now() - began < PATIENCE;) {
    await new Promise((resolve) => later(resolve, 0));
  }
  if (state.done.length === 0) return "is never done";
  return `is done: ${state.done.map((error) => error === undefined ? "well" : described(error)).join()}`;
}

/** Runs one test to its end. */
async function reportOf(engine: Engine, { text: source, isAsync }: Run): Promise<Omit<Report, "changed">> {
  const capture: Capture = { breaks: [], uncompiled: [], graphs: 0 };
  let test: unknown;
  try {
    test = evaluate(source);
  } catch (error) {
    return { outcome: `is no function: ${described(error)}`, ...capture };
  }
  state.count = engine.zero();
  state.printed.length = state.done.length = 0;
  let ended = "returns";
  try {
    engine.run(test as () => void, state, capture);
    if (isAsync) ended = await waitUntilDone();
    // What nobody handles shows after the job.
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
  state.printed.push(event.reason);
});
evaluate(SHARED);
let builtins: ReturnType<typeof builtinsNow> | null = null;
for await (const line of createInterface({ input: (await import("node:process")).stdin })) {
  const run: Run = parse(line);
  load(run.harness);
  builtins = builtinsNow();
  const report = await reportOf(engine, run);
  const full: Report = { ...report, changed: builtins.changed() };
  Deno.stdout.writeSync(new TextEncoder().encode(`${stringify(full)}\n`));
  if (full.changed !== null) Deno.exit();
}
