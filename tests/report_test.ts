/**
 * The report of a trace, in a browser: it shows what was compiled and what ran, its panels are highlighted together,
 * its search works, no text of a program is executed, and it stays small.
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { benchPage } from "../cli/bench_page.ts";
import { changeOf, renderReport } from "../lib/debug/report.ts";
import { readTrace } from "../lib/debug/trace_format.ts";
import { SKIP_BROWSER, withPage } from "./support/browser.ts";
import { runProgram, withFolder } from "./support/process.ts";
import { pageData } from "./support/page_data.ts";

const CLI = fileURLToPath(new URL("../cli.ts", import.meta.url));

const PROGRAM = `
import { compile, randn } from ${JSON.stringify(new URL("../mod.ts", import.meta.url).href)};
const step = compile(function step(x) {
  const y = x.sin().mul(2);
  return y.sub(y.mean());
});
const noisy = compile(function noisy(x) {
  const y = x.cos();
  console.log("between");
  return y.add(1);
});
for (const n of [4, 4, 6]) step(randn([n, 8]));
noisy(randn([4]));
`;

Deno.test(
  "a report shows lines, graphs and kernels that light up together",
  { ignore: SKIP_BROWSER },
  async () => {
    await withFolder(async (folder) => {
      await Deno.writeTextFile(join(folder, "model.ts"), PROGRAM);
      const env = { DYN_TIER: "wasm", DYN_GRAPH_CACHE: "0" };
      const dyn = (...args: string[]) =>
        runProgram(Deno.execPath(), ["run", "-A", "--no-check", CLI, ...args], { cwd: folder, env });
      assertEquals((await dyn("--trace", "t", "model.ts")).stdout, "between\n");
      assertMatch(
        (await dyn("report", "t")).stdout,
        /^1 process, 4 compilations, 4 graphs, 1 graph break, 1 recompilation\nWrote .*report\.html\n$/,
      );
      await withPage(pathToFileURL(join(folder, "t", "report.html")).href, async (page) => {
        const text = async (selector: string) =>
          String(
            await page.evaluate(`document.querySelector(${JSON.stringify(selector)})?.innerText ?? "none"`),
          );
        await page.until("document.querySelector('header') !== null");
        assertMatch(await text("header"), /4 compilations/);
        assertMatch(await text("main"), /\/model\.ts \(dyn-/);
        assertMatch(await text("nav"), /model\.ts\n▸?\s*3: \[0\/0\] step/);
        assertMatch(await text("#breaks"), /call of console \(GB\d+\)[^]*console\.log\("between"\)/);
        assertMatch(await text("#recompiles"), /size=\[4, 8\][^]*float32\[6, 8\][^]*model\.ts:3/);
        assertMatch(await text("#kernels"), /fused_\S*sin\S*\s+\[0\/0\] step\s+2\s+[\d.]+ (µs|ms)\s+[^]*%/);
        assertMatch(await text("#memory"), /cpu/);
        await page.evaluate("location.hash = 'p0/0/0'");
        await page.until("document.querySelectorAll('.panels .code').length === 3");
        const lit = await page.evaluate(`(() => {
        const [lines, graph, kernels] = document.querySelectorAll(".panels .code");
        const row = [...lines.children].find((each) => each.innerText.includes("x.sin()"));
        row.dispatchEvent(new MouseEvent("mouseenter"));
        return [lines, graph, kernels].map((panel) => [...panel.querySelectorAll(".on")].map((each) => each.innerText).join("\\\n"));
      })()`) as string[];
        assertMatch(lit[0] ?? "", /^ +4 +const y = x\.sin\(\)\.mul\(2\);$/);
        assert(lit[1]?.includes("l_x_.sin()") && lit[1].includes(".mul(2)") && !lit[1].includes("mean()"));
        assert(lit[2]?.includes("sin v"), lit[2]);
        await page.evaluate(`(() => {
        const search = document.querySelector("input");
        search.value = "BETWEEN";
        search.dispatchEvent(new Event("input"));
      })()`);
        assertMatch(await text("main"), /^\d+ texts with BETWEEN\n[^]*\[1\/0\] noisy graph_breaks/);
        assertEquals(page.errors, []);
      });
    });
  },
);

const artifact = (name: string, text: string) => ({
  kind: "artifact",
  compile: "0/0",
  name,
  part: null,
  text,
  meta: {},
});
const begin = { kind: "begin", time: 1, compile: "0/0", name: "f", file: "/a/m.ts", line: 1, reasons: [] };
const readLines = (lines: readonly object[]) =>
  readTrace("l", lines.map((line) => JSON.stringify(line)).join("\n"));

Deno.test("nothing that a program wrote runs in the page", { ignore: SKIP_BROWSER }, async () => {
  const evil = "</script><script>globalThis.ran = true</script><img src=x onerror='ran = true'>";
  const process = readLines([
    { ...begin, name: evil, file: evil },
    artifact("graph_code", evil),
    artifact(evil, evil),
  ]);
  await withFolder(async (folder) => {
    await Deno.writeTextFile(join(folder, "r.html"), renderReport(evil, [process]));
    await withPage(pathToFileURL(join(folder, "r.html")).href, async (page) => {
      await page.evaluate("location.hash = 'p0/0/0'");
      await page.until("document.querySelectorAll('details').length > 2");
      await page.evaluate("document.querySelectorAll('main details').forEach((each) => each.open = true)");
      await page.until("document.querySelectorAll('main details pre').length === 2");
      assertEquals(await page.evaluate("[typeof ran, document.images.length, document.title]"), [
        "undefined",
        0,
        evil,
      ]);
      assertEquals(page.errors, []);
    });
  });
});

Deno.test("reports stay small, whatever was traced, and hold whole graphs and all of their lines", () => {
  const texts = Array.from({ length: 500 }, (_, k) => artifact(`text${k}`, `${k} `.repeat(50_000)));
  const graph = `${"let y = x.sin();\n".repeat(20_000)}// File: /a/m.ts:7 in f, code: last`;
  const html = renderReport("large", [readLines([begin, artifact("graph_code", graph), ...texts])]);
  assert(html.length < 1_000_000, `${html.length}`);
  const { compiles: [{ lines, texts: [first, second] }] } = JSON.parse(pageData(html)).processes[0];
  assertEquals([lines, first.text === graph], [[{ file: "/a/m.ts", line: 7, code: "last" }], true]);
  assertMatch(second.text, /… \d+ more characters$/);
});

Deno.test("failed guards are split into the expected value, the found value and the line", () => {
  assertEquals(changeOf('L["n"] === 3, found 4  # f(n) (/a/m.ts:2)'), {
    old: 'L["n"] === 3',
    found: "4",
    needs: "f(n) (/a/m.ts:2)",
  });
  assertEquals(changeOf("a is new"), { old: "a is new", found: "", needs: "" });
});

Deno.test(
  "the page of benchmarks shows the last run, and how ratios went",
  { ignore: SKIP_BROWSER },
  async () => {
    const run = (time: number, ours: number) => ({
      time,
      machine: "a machine",
      title: "<b>sums",
      base: "other",
      timings: [{ name: "other", median: 2 }, { name: "dyn", median: ours }],
    });
    const lines = [run(1000, 4), run(2000, 3)].map((each) => JSON.stringify(each));
    await withFolder(async (folder) => {
      await Deno.writeTextFile(
        join(folder, "bench.html"),
        benchPage([...lines, "{", '{"time":1}'].join("\n")),
      );
      await withPage(pathToFileURL(join(folder, "bench.html")).href, async (page) => {
        await page.until("document.querySelector('svg path') !== null");
        assertEquals(
          await page.evaluate("document.querySelector('header').innerText"),
          "dyn bench\n2 results, 2 lines could not be read",
        );
        assertEquals(await page.evaluate("document.querySelector('h2').innerText"), "<b>sums");
        assertEquals(
          await page.evaluate(
            "[...document.querySelectorAll('tbody tr')].map((row) => [...row.cells].map((cell) => cell.innerText))",
          ),
          [["other", "2.00 ms", "1", ""], ["dyn", "3.00 ms", "1.5", "−25.0 %"]],
        );
        assertEquals(await page.evaluate("document.querySelectorAll('svg path').length"), 1);
        assertEquals(page.errors, []);
      });
    });
  },
);

Deno.test("dyn bench --html writes the page of the history", async () => {
  await withFolder(async (folder) => {
    const env = { DYN_CACHE_DIR: join(folder, "cache") };
    const { code, stdout } = await runProgram(
      Deno.execPath(),
      ["run", "-A", "--no-check", CLI, "bench", "--html"],
      { cwd: folder, env },
    );
    assertEquals([code, stdout], [0, `Wrote ${join(await Deno.realPath(folder), "bench.html")}\n`]);
    assertEquals(JSON.parse(pageData(await Deno.readTextFile(join(folder, "bench.html")))), {
      runs: [],
      skipped: 0,
    });
  });
});
