/**
 * Bisection: the search over stages and parts, the switches that it turns, and one program from the command line.
 */
import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { compile, compiler, DynError, fx, InternalError, type Tensor, tensor } from "../mod.ts";
import { bisect, type RunPlan } from "../cli/bisect_search.ts";
import { Bisection, type BisectPart, LOOP_PARTS } from "../lib/base/bisect.ts";
import { lookupBackend } from "../lib/graph/backends.ts";
import { testInTurn } from "./support/costly_tests.ts";
import { runProgram, withFolder } from "./support/process.ts";
import { sampleBySeed } from "./support/sampling.ts";

const CLI = fileURLToPath(new URL("../cli.ts", import.meta.url));

/** A program that fails as a function of what it is compiled with. */
interface Program {
  /** Number of applications of each part. */
  readonly counts: Partial<Record<BisectPart, number>>;
  /** Returns whether it fails, from the first stage on, given the allowed number of applications of each part. */
  readonly fails: (stage: string, allowed: (part: BisectPart) => number) => boolean;
  /** The way to run it that shows that; by default its exit code does. */
  readonly shows?: "isCompared" | "isNative" | "isStrict";
}

/** Returns the verdict of a search on a program. */
async function verdict(
  { counts, fails, shows }: Program,
): Promise<{ lines: string[]; runs: number; found: boolean }> {
  const lines: string[] = [];
  let runs = 0;
  const run = (plan: RunPlan) => {
    runs++;
    const stage = plan.isDisabled ? "disabled" : plan.backend ?? "own";
    const allowed = (part: BisectPart): number =>
      plan.off?.includes(part) ? 0 : plan.part === part ? plan.max ?? Infinity : Infinity;
    const isWrong = fails(stage, allowed);
    return Promise.resolve({
      failure: isWrong && (!shows || plan[shows]) ? `error: Off by 0.${runs}` : "",
      report: {
        count: plan.part ? counts[plan.part] ?? 0 : 0,
        last: plan.part && plan.max ? `${plan.part} ${plan.max}` : "",
        differences: [],
      },
    });
  };
  const found = await bisect({ run, say: (line) => lines.push(line) });
  return { lines, runs, found };
}

const compiledStages = (stage: string): boolean => stage === "own";

Deno.test("a rewrite rule is found by its number, and its graph", async () => {
  const { lines, runs, found } = await verdict({
    counts: { graph_rules: 100, graphs: 5 },
    fails: (stage, allowed) =>
      compiledStages(stage) && allowed("graph_rules") >= 37 && allowed("graphs") >= 4,
  });
  assert(found && runs < 30);
  assertEquals(lines.slice(1, 5), [
    "uncompiled: passes",
    "captured, then run op by op (eager): passes",
    "differentiated ahead of time, then run op by op (aot_eager): passes",
    "compiled by the program's own backend: fails",
  ]);
  assertEquals(lines.filter((line) => line.startsWith("→")).map((line) => line.replace(/ \(.*\)/, "")), [
    "→ graph_rules, number 37 of 100: graph_rules 37",
    "→ graphs, number 4 of 5: graphs 4",
  ]);
});

Deno.test("if no pass is to blame, the op is found", async () => {
  const { lines } = await verdict({
    counts: { ops: 51, graphs: 1, fusion: 3 },
    fails: (stage, allowed) => compiledStages(stage) && allowed("ops") >= 17 && allowed("graphs") >= 1,
    shows: "isCompared",
  });
  assertEquals(lines[0], "The program succeeds; comparing every compiled graph with its ops one by one");
  assertMatch(lines.at(-2) ?? "", /^→ ops .*, number 17 of 51: ops 17$/);
  // Of native code alone, which the first calls do not run, and of compilations that fail and are reported only
  for (const shows of ["isNative", "isStrict"] as const) {
    const late = await verdict({
      counts: { ops: 5, graphs: 2 },
      fails: (stage, allowed) => compiledStages(stage) && allowed("ops") >= 3 && allowed("graphs") >= 2,
      shows,
    });
    assertMatch(late.lines[shows === "isNative" ? 1 : 2] ?? "", /^No difference; /);
    assertMatch(late.lines.at(-2) ?? "", /^→ ops .*, number 3 of 5: ops 3$/);
  }
});

Deno.test("a pass over loops is found by its name, and the op whose kernel it spoils", async () => {
  const { lines } = await verdict({
    counts: { ops: 9, graphs: 2 },
    fails: (stage, allowed) =>
      compiledStages(stage) && allowed("unroll") > 0 && allowed("ops") >= 4 && allowed("graphs") >= 2,
    shows: "isCompared",
  });
  assertEquals(lines.filter((line) => line.startsWith("→")), [
    "→ unroll (a pass over loops)",
    "→ graphs (compiling a captured graph with the backend), number 2 of 2: graphs 2",
    "→ ops (compiling an op rather than running it by itself), number 4 of 9: ops 4",
  ]);
});

Deno.test("capture is separated from later phases, and the program from dyn", async () => {
  const capture = await verdict({
    counts: { frames: 8 },
    fails: (stage, allowed) => stage !== "disabled" && allowed("frames") >= 6,
  });
  assertMatch(capture.lines.at(-2) ?? "", /^→ frames .*, number 6 of 8: frames 6$/);
  const ahead = await verdict({
    counts: { joint_rules: 4, graphs: 1 },
    fails: (stage, allowed) =>
      ["aot_eager", "own"].includes(stage) && allowed("joint_rules") >= 2 && allowed("graphs") >= 1,
  });
  assertMatch(ahead.lines.at(-3) ?? "", /^→ joint_rules .*, number 2 of 4: joint_rules 2$/);
  const own = await verdict({ counts: {}, fails: () => true });
  assertEquals([own.found, own.lines.at(-1)], [
    false,
    "The program fails uncompiled, too: compilation is not the cause",
  ]);
  const none = await verdict({ counts: {}, fails: () => false });
  assertEquals([none.found, none.runs], [false, 4]);
});

Deno.test("switches count, stop at their limit, and report where they stopped", async () => {
  await withFolder((folder) => {
    const report = join(folder, "report.json");
    const read = (): unknown => JSON.parse(Deno.readTextFileSync(report));
    const switches = new Bisection(JSON.stringify({ part: "fusion", max: 2, off: ["graph_rules"], report }));
    const allowed = ["a", "b", "c"].map((name) => switches.allows("fusion", () => name));
    assertEquals(allowed, [true, true, false]);
    assertEquals([switches.allows("graph_rules", () => "r"), switches.allows("ops", () => "o")], [
      false,
      true,
    ]);
    assertEquals(read(), { count: 3, last: "b", differences: [] });
    switches.noteDifference("d");
    assertEquals(read(), { count: 3, last: "b", differences: ["d"] });
    return Promise.resolve();
  });
  const idle = new Bisection(undefined);
  assert(idle.allows("ops", () => assertNever()) && !idle.active && idle.backend === undefined);
  assertThrows(() => new Bisection("{"), DynError, "Expected DYN_BISECT as dyn bisect sets it");
});

function assertNever(): never {
  throw new Error("Built");
}

/** A rewrite rule is broken in the process itself; the second function meets it. */
const PROGRAM = `import { compile, randn, type Tensor } from "jsr:@x/dyn";
import { INDUCTOR_RULES } from ${
  JSON.stringify(new URL("../lib/ops/rewrite/rules.ts", import.meta.url).href)
};
const rule = INDUCTOR_RULES.find(({ name }) => name === "neg_of_neg")!;
const { apply } = rule;
Object.assign(rule, {
  apply: (...args: Parameters<typeof apply>) => apply(...args) && { target: "abs", args: [apply(...args)] },
});
const f = compile(function f(x: Tensor) {
  return x.abs().abs().add(1);
});
const g = compile(function g(x: Tensor) {
  const y = x.neg();
  return y.neg().mul(2);
});
const x = randn([4]).sub(3);
f(x);
if (g(x).sub(x.mul(2)).abs().max().item() > 0) throw new Error("Wrong");
`;

testInTurn("bisection of a program", {
  name: "dyn bisect names the rule and the line",
  fn: async () => {
    await withFolder(async (folder) => {
      const script = join(folder, "model.ts");
      await Deno.writeTextFile(script, PROGRAM);
      const { code, stdout, stderr } = await runProgram(
        Deno.execPath(),
        ["run", "-A", "--no-check", CLI, "bisect", script],
        { env: { DYN_TIER: "wasm" } },
      );
      assertEquals([code, stderr], [1, ""], stdout);
      assertMatch(stdout, /^Fails: error: Uncaught Error: Wrong\nuncompiled: passes\n/);
      assertMatch(stdout, /\n {2}without graph_rules: passes\n/);
      assertMatch(
        stdout,
        /\n→ graph_rules \(.*\), number 2 of 2: neg_of_neg on neg, at g \(.*model\.ts:13\)\n/,
      );
      assertMatch(stdout, /\n→ graphs \(.*\), number 2 of 2: a graph of g, from g \(.*model\.ts:12\)\n/);
    });
  },
});

/** Kernels that the passes over loops change: conditions, rows, sums in lanes and in chunks, several loops. */
const KERNELS = `import { cat, compile, manualSeed, nn, randn, type Tensor, allclose } from "jsr:@x/dyn";
manualSeed(1);
const norm = new nn.LayerNorm(33), lin = new nn.Linear(20, 33);
const programs: [(...given: Tensor[]) => Tensor, Tensor[]][] = [
  [(x) => norm.call(lin.call(x)).tanh(), [randn(13, 20)]],
  [(x) => x.mul(3).sum(), [randn(70_000)]],
  [(x) => x.mul(2).sum(0).add(x.amax(0)), [randn(300, 65)]],
  [(x, y) => cat([x.mul(2), y, x.neg()], 0).cumsum(0), [randn(300, 5), randn(400, 5)]],
  [(x) => nn.functional.pad(x.mul(2), [1, 2, 3, 1]).add(1), [randn(2, 3, 67, 59)]],
  [(q, k) => q.matmul(k.transpose(-1, -2)).softmax(-1).matmul(k), [randn(4, 70, 16), randn(4, 70, 16)]],
];
for (const [f, given] of programs) {
  const [plain, compiled] = [f, compile(f, { fullgraph: true })].map((each) => {
    const leaves = given.map((x) => x.clone().requiresGrad_()), result = each(...leaves);
    result.sum().backward();
    return [result, ...leaves.map((x) => x.grad as Tensor)];
  }) as [Tensor[], Tensor[]];
  plain.forEach((x, k) => {
    if (!allclose(x, compiled[k]!, { rtol: 1e-3, atol: 1e-3 })) throw new Error(String(f));
  });
}
`;

testInTurn("bisection of a program", {
  name: "kernels compute the same without any one pass over loops",
  fn: async () => {
    await withFolder(async (folder) => {
      const script = join(folder, "kernels.ts"), report = join(folder, "report.json");
      await Deno.writeTextFile(script, KERNELS);
      for (const pass of sampleBySeed(LOOP_PARTS, 1)) {
        for (const tier of ["wasm", "wait"]) {
          const env = { DYN_TIER: tier, DYN_BISECT: JSON.stringify({ off: [pass], report }) };
          const ended = await runProgram(Deno.execPath(), ["run", "-A", "--no-check", CLI, script], { env });
          assertEquals(ended, { code: 0, stdout: "", stderr: "" }, `${pass}, ${tier}`);
        }
      }
    });
  },
});

Deno.test("the backend crossref rejects graphs whose metadata are wrong", () => {
  const f = compile((x: Tensor) => x.t().mul(2).sum(0), { backend: "crossref" });
  assertEquals(f(tensor([[1, 2], [3, 4]])).tolist(), [6, 14]);
  compiler.registerBackend("wrong_metadata", (gm, inputs) => {
    const node = gm.graph.nodes.find(({ target }) => target === "mul");
    const { value } = node?.meta ?? {};
    if (node && value?.kind === "tensor") {
      node.meta.value = { ...value, tensor: { ...value.tensor, strides: [1, 2] } };
    }
    return crossref(gm, inputs);
  }, { debug: true });
  const g = compile((x: Tensor) => x.t().mul(2), { backend: "wrong_metadata" });
  const error = assertThrows(() => g(tensor([[1.5, 2], [3, 4]])), InternalError);
  assertMatch(
    error.message,
    /Expected f32\[2, 2\]\[1, 2\] from mul, at <anonymous> \(.*bisect_test\.ts:\d+\) but found f32\[2, 2\]\[2, 1\]/,
  );
});

const crossref: fx.GraphBackend = (gm, inputs) => lookupBackend("crossref")(gm, inputs);
