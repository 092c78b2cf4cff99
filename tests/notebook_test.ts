/** Notebooks: what is compiled there, display of tensors, modules, images, curves and profiles, progress bars. */
import { assert, assertEquals, assertMatch, assertStringIncludes, assertThrows } from "@std/assert";
import { join } from "node:path";
import { inflateSync } from "node:zlib";
import { data, nn, notebook, ones, profile, progress, type ProgressOutput, tensor, zeros } from "../mod.ts";
import { pathToFileURL } from "node:url";
import { progressText } from "../lib/data/progress.ts";
import { testInTurn } from "./support/costly_tests.ts";
import { SKIP_BROWSER, withPage } from "./support/browser.ts";
import { runCells } from "./support/notebook.ts";
import { withFolder } from "./support/process.ts";

/** Returns what a notebook receives for a value. */
function displayed(value: object): Record<string, string> {
  const display: unknown = Reflect.get(value, Symbol.for("Jupyter.display"));
  assert(typeof display === "function");
  return display.call(value);
}

Deno.test("notebooks show tensors as tables, modules as trees, all as the console's text too", {
  ignore: SKIP_BROWSER,
}, async () => {
  const small = tensor([[1, -2.5], [0.123456, 4]], { requiresGrad: true });
  const shown = [
    small,
    zeros([3, 100, 40]),
    tensor(true),
    tensor([2n ** 53n + 1n]),
    new nn.Sequential(new nn.Linear(2, 3), new nn.ReLU()),
  ];
  await withFolder(async (folder) => {
    await Deno.writeTextFile(
      join(folder, "a.html"),
      shown.map((each) => `<section>${displayed(each)["text/html"]}</section>`).join("\n"),
    );
    await withPage(pathToFileURL(join(folder, "a.html")).href, async (page) => {
      const cells = (at: number) =>
        page.evaluate(
          `[...document.querySelectorAll("section")[${at}].querySelectorAll("tr")].map((row) => [...row.cells].map((cell) => cell.innerText).join(" "))`,
        );
      const caption = (at: number) =>
        page.evaluate(`document.querySelectorAll("section")[${at}].querySelector("caption").innerText`);
      assertEquals([await caption(0), await cells(0)], ["float32 [2, 2], cpu, requires grad", [
        "1 -2.5",
        "0.1235 4",
      ]]);
      assertEquals(await caption(1), "float32 [3, 100, 40], cpu, at [0]");
      assertEquals((await cells(1) as string[]).map((row) => row.split(" ").length), Array(17).fill(17));
      assertEquals([await cells(2), await cells(3)], [["true"], ["9007199254740993"]]);
      assertMatch(
        String(
          await page.evaluate("document.querySelectorAll('section')[4].querySelector('summary').innerText"),
        ),
        /^Sequential\(\) 9 parameters$/,
      );
      assertEquals(
        await page.evaluate("document.querySelectorAll('section')[4].querySelectorAll('details').length"),
        3,
      );
    });
  });
  assertEquals(displayed(small)["text/plain"], Deno.inspect(small));
});

Deno.test("objects without displayable elements are text only", () => {
  for (const each of [zeros([0]), tensor([1]).to("complex64")]) {
    assertEquals(Object.keys(displayed(each)), ["text/plain"], Deno.inspect(each));
  }
});

Deno.test("images are PNG files of the pixels", () => {
  const png = Uint8Array.fromBase64(displayed(notebook.image(tensor([[0, 0.5], [1, 2]])))["image/png"] ?? "");
  const view = new DataView(png.buffer), at = png.toHex().indexOf("49444154") / 2;
  assertEquals([view.getUint32(16), view.getUint32(20), png[24], png[25]], [2, 2, 8, 0]);
  assertEquals([...inflateSync(png.subarray(at + 4))], [0, 0, 127, 0, 255, 255]);
  const rgb = displayed(notebook.image(ones([3, 2, 4], { dtype: "uint8" })))["text/plain"];
  assertEquals(rgb, "image(4 × 2)");
  assertThrows(() => notebook.image(ones([2, 2, 2])), Error, "Expected an image CHW of 1, 3 or 4 channels");
});

Deno.test("curves are pictures with gaps for missing numbers", () => {
  const svg = displayed(notebook.curves({ "<a>": [1, NaN, 3, 2], b: tensor([1, 2]) }))["image/svg+xml"] ?? "";
  assertEquals(
    [...svg.matchAll(/<path d="(M[^"]*)" fill="none"/g)].map(([, path]) =>
      path?.replace(/(?<=[ML])[\d. ]+/g, "")
    ),
    ["MML", "ML"],
  );
  // A number between gaps is a dot
  assertEquals([...svg.matchAll(/<circle/g)].length, 1);
  assert(svg.includes("● &lt;a&gt;") && !svg.includes("<a>"));
  const many = Object.fromEntries(Array.from({ length: 8 }, (_, k) => [`accuracy on part ${k}`, [k]]));
  const names = [...(displayed(notebook.curves(many))["image/svg+xml"] ?? "").matchAll(
    /<text x="(\d+)" y="(\d+)"[^>]* fill="(#\w+)">([●◍]) accuracy/g,
  )];
  assertEquals(names.length, 8);
  assert(names.every(([, x]) => Number(x) < 500));
  // Neither the places of two names nor their marks are the same
  assertEquals(new Set(names.map(([, x, y]) => `${x} ${y}`)).size, 8);
  assertEquals(new Set(names.map(([, , , colour, mark]) => `${colour} ${mark}`)).size, 8);
  assertThrows(() => notebook.curves({ a: [NaN] }), Error, "Expected numbers for curves but found none");
});

Deno.test("profiles are tables", () => {
  const prof = profile(() => ones([2]).add(1));
  assertMatch(displayed(prof)["text/html"] ?? "", /^<pre>-+ [^]*add +op/);
});

/** A terminal that keeps what is written. */
function terminal(isTerminal: boolean): ProgressOutput & { readonly written: string[] } {
  const written: string[] = [];
  return { written, isTerminal: () => isTerminal, write: (text) => void written.push(text), columns: 60 };
}

Deno.test("progress bars show items done, rate and remaining time", () => {
  const text = (done: number, seconds: number, options = {}, postfix = "") =>
    progressText({ done, seconds, postfix, columns: 60 }, { total: 8, ...options });
  assertEquals(text(0, 0), `  0%|${" ".repeat(32)}| 0/8 [00:00<?, ?it/s]`);
  assertEquals(
    text(2, 1, { desc: "train" }),
    `train:  25%|${"█".repeat(4)}▌${" ".repeat(13)}| 2/8 [00:01<00:03, 2.00it/s]`,
  );
  assertMatch(text(2, 8, { unit: "batch" }), /\| 2\/8 \[00:08<00:24, 4\.00s\/batch\]$/);
  assertMatch(
    text(8, 7300, {}, "loss=0.25"),
    /^100%\|█+ ?\| 8\/8 \[2:01:40<00:00, 912\.50s\/it, loss=0\.25\]$/,
  );
  assertEquals(progressText({ done: 3, seconds: 2, postfix: "", columns: 60 }, {}), "3it [00:02, 1.50it/s]");
});

Deno.test("loops yield the same items, with a bar only on terminals", async () => {
  const loader = new data.DataLoader([1, 2, 3, 4, 5], { batchSize: 2 });
  for (const isTerminal of [true, false]) {
    const output = terminal(isTerminal), bar = progress(loader, { desc: "train", output });
    const seen: number[] = [];
    for (const batch of bar) {
      seen.push(batch.sum().item());
      bar.setPostfix({ sum: seen.at(-1) ?? 0 });
    }
    assertEquals(seen, [3, 7, 5]);
    assertEquals(output.written.length > 0, isTerminal);
    if (!isTerminal) continue;
    const last = output.written.at(-2) ?? "";
    assert(last.startsWith("\r") && last.endsWith("\x1b[K"));
    assertMatch(last.slice(1, -3), /^train: 100%\|.*\| 3\/3 \[.*, sum=5\]$/);
    assertEquals(output.written.at(-1), "\n");
  }
  const output = terminal(true);
  async function* later() {
    yield await Promise.resolve(1);
    yield 2;
  }
  const seen: number[] = [];
  for await (const each of progress(later(), { output, leave: false })) seen.push(each);
  assertEquals([seen, output.written.at(-1)], [[1, 2], "\r\x1b[K"]);
  assertThrows(() => [...progress(later(), { output })], TypeError, "use for await");
  const early = terminal(true);
  for (const _ of progress([1, 2, 3], { output: early })) break;
  assertEquals(early.written.at(-1), "\n");
  assertThrows(() => progress([1], { size: 3 } as object), Error, "found size");
});

testInTurn("a kernel of a notebook", {
  name:
    "a notebook's kernel compiles models from the cell after their first call on, and reports what it does not compile",
  fn: async () => {
    const cells = [
      `const { compile, compiler, nn, ones } = await import(${
        JSON.stringify(new URL("../mod.ts", import.meta.url).href)
      }); const counts = (f) => { const { graphs, graphBreaks } = compiler.status(f); return [graphs, graphBreaks]; };`,
      `const model = new nn.Sequential(new nn.Linear(2, 3), new nn.ReLU()), f = compile(model);
    for (let i = 0; i < 3; i++) f(ones([1, 2]));
    console.log(counts(f));`,
      // As a person pauses: what waits for the end of a cell runs in a task, which a cell sent at once may precede
      "await new Promise((done) => setTimeout(done, 10));",
      "const same = f(ones([1, 2])).equal(model.call(ones([1, 2]))); console.log(same, counts(f));",
      "const g = compile(new nn.Linear(2, 3), { fullgraph: true }); console.log(g(ones([1, 2])).shape, counts(g));",
      "let by = 2; const typed = compile((x) => x.mul(by)); console.log(typed(ones([1])).tolist());",
      "by = 3; console.log(typed(ones([1])).tolist(), counts(typed));",
    ];
    await withFolder(async (folder) => {
      const [, first, pause, later, known, plain, still] = await runCells(folder, cells);
      assert(first && pause && later && known && plain && still);
      assertEquals(first.stdout, "[ 0, 0 ]\n");
      assertMatch(
        first.stderr,
        /^\[graph_breaks\] call .*runs uncompiled\. .*: No code can be read while a cell .*\n$/,
      );
      assertEquals(pause, { stdout: "", stderr: "", error: "" });
      assertEquals([later.stdout, later.stderr], ["true [ 1, 0 ]\n", ""]);
      assertEquals([known.stdout, known.error], ["[ 1, 3 ] [ 1, 0 ]\n", ""]);
      assertEquals(plain.stdout, "[ 2 ]\n");
      assertEquals(still.stdout, "[ 3 ] [ 0, 0 ]\n");
      assertStringIncludes(
        plain.stderr + still.stderr,
        "Functions that are typed into a notebook or deno repl are not",
      );
    });
  },
});
