/**
 * Packages: created by one process, run by others that have the runtime alone, by a C program and by a page in a
 * browser. Results are the model's own, within rounding; those of both kinds of code are bitwise the same.
 */
import { assert, assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import { fileURLToPath } from "node:url";
import { ConvNet } from "../examples/mnist/model.ts";
import { Classifier } from "../examples/web/classifier.ts";
import { serveClassifier } from "../examples/web/server.ts";
import { readArchive, writeArchive } from "../lib/base/archive.ts";
import {
  cat,
  compiler,
  DynError,
  loadPackage,
  type LoadPackageOptions,
  manualSeed,
  nn,
  noGrad,
  ones,
  PackageTensor,
  randn,
  savePackage,
  type Tensor,
  tensor,
  zeros,
} from "../mod.ts";
import { packageBytes } from "../packaging/package_bytes.ts";
import { SKIP_BROWSER, withPage } from "./support/browser.ts";
import { testInTurn } from "./support/costly_tests.ts";
import { SKIP_NATIVE } from "./support/native.ts";
import { runProgram, withFolder } from "./support/process.ts";
import { SKIP_WEBGPU } from "./support/webgpu.ts";
import { serving } from "./packages/served.ts";

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

type Results = readonly Readonly<Record<string, readonly number[]>>[];

interface Call {
  readonly n: number;
  readonly x: readonly number[];
  readonly wanted: Results[number];
}

/** Runs a script of this repository. */
async function run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
  const { code, stdout, stderr } = await runProgram(Deno.execPath(), ["run", "--no-check", ...args], { env });
  assertEquals(code, 0, stderr);
  return stdout;
}

/** An environment in which there is no adapter. */
const NO_ADAPTER = { DENO_WEBGPU_BACKEND: "vulkan", VK_DRIVER_FILES: "none", VK_ICD_FILENAMES: "none" };

/** The results of a page. */
interface Found {
  readonly engine: string;
  readonly results: Results;
}

function assertClose(found: readonly number[] | undefined, wanted: readonly number[] | undefined): void {
  assertEquals(found?.length, wanted?.length);
  const most = Math.max(...(found ?? []).map((each, k) => Math.abs(each - (wanted?.[k] ?? NaN))));
  assert(most < 1e-6, `${most}`);
}

function assertResults(found: Results, calls: readonly Call[]): void {
  assertEquals(found.length, calls.length);
  found.forEach((result, at) => {
    const wanted = calls[at]?.wanted ?? {};
    assertEquals(Object.keys(result), Object.keys(wanted));
    for (const [name, values] of Object.entries(result)) assertClose(values, wanted[name]);
    assertEquals(result["best"], wanted["best"]);
  });
}

testInTurn("packages in processes", {
  ignore: SKIP_NATIVE,
  name: "a package runs in other processes, from C and in a page",
  fn: async () => {
    await withFolder(async (folder) => {
      const file = `${folder}/reader.dyn`, wanted = `${folder}/wanted.json`;
      const told = await run(["-A", path("../cli.ts"), "package", path("packages/model.ts"), "-o", file], {
        DYN_WANTED: wanted,
      });
      assertMatch(told, /^Wrote .*reader\.dyn: Reader, \d+ bytes, SHA-256 [0-9a-f]{64}\n$/);
      const calls: readonly Call[] = JSON.parse(await Deno.readTextFile(wanted));
      const script = path("packages/run.ts");
      const [wasm, native] = await Promise.all([
        // WebAssembly stands in for WebGPU where there is no adapter
        run(["--allow-read", script, file, wanted, "wasm"], NO_ADAPTER),
        run(["-A", script, file, wanted, "native"]),
      ]);
      assertEquals(native, wasm);
      assertResults(JSON.parse(wasm), calls);

      const files = readArchive(await Deno.readFile(file));
      for (const name of ["weights.safetensors", "library.so", "dyn_reader.h"]) {
        await Deno.writeFile(`${folder}/${name}`, files.get(name) ?? new Uint8Array(0));
      }
      await Deno.writeTextFile(`${folder}/numbers`, calls.map(({ n, x }) => [n, ...x].join(" ")).join("\n"));
      const program = [
        path("packages/run.c"),
        "-I",
        folder,
        `${folder}/library.so`,
        `-Wl,-rpath,${folder}`,
        "-lm",
      ];
      const built = await runProgram("cc", ["-Wall", "-Werror", ...program, "-o", `${folder}/run`]);
      assertEquals(built, { code: 0, stdout: "", stderr: "" });
      const { code, stdout } = await runProgram(`${folder}/run`, [
        `${folder}/weights.safetensors`,
        `${folder}/numbers`,
      ]);
      assertEquals(code, 0);
      const results: Results = JSON.parse(native);
      assertEquals(
        stdout.trim().split("\n").map((line) =>
          line.trim().split(" ").map((each) => Math.fround(Number(each)))
        ),
        results.map(({ scores = [], best = [] }) => [...scores, ...best]),
      );
      if (SKIP_BROWSER) return;
      const page = `<script type="module">
import { loadPackage, PackageTensor } from "/dyn/runtime/mod.ts";
globalThis.runCalls = async (calls, options) => {
  const model = await loadPackage("/reader.dyn", options), results = [];
  for (const { n, x } of calls) {
    const words = BigInt64Array.from({ length: n }, (_, k) => BigInt(k));
    const result = await model.run(new PackageTensor(words, [n]), new PackageTensor(Float32Array.from(x), [n, 16]));
    results.push(Object.fromEntries(Object.entries(result).map(([name, { data }]) => [name, Array.from(data, Number)])));
  }
  return { engine: model.engine, results };
};
</script>`;
      await serving(
        { "/": page, "/page.html": page, "/reader.dyn": await Deno.readFile(file) },
        async (address) => {
          await withPage(`${address}/page.html`, async (page) => {
            await page.until("globalThis.runCalls !== undefined");
            const found = async (options: LoadPackageOptions): Promise<Found> =>
              await page.evaluate(`runCalls(${JSON.stringify(calls)}, ${JSON.stringify(options)})`) as Found;
            assertEquals(await found({}), { engine: "wasm", results: JSON.parse(wasm) });
            const { engine, results } = await found({ webgpu: true });
            assertEquals(engine, "webgpu");
            assertResults(results, calls);
            assertEquals(page.errors, []);
          });
        },
      );
    });
  },
});

Deno.test("views and inputs that are written to are separate results", async () => {
  manualSeed(2);
  const f = (x: Tensor, y: Tensor) => {
    y.mul_(2);
    const turned = x.matmul(y).t();
    return [turned, turned.select(0, 1), y, y.t(), x, x.sort(1)] as unknown[];
  };
  const x = randn([3, 4]), y = randn([4, 5]), numbers = (each: Tensor) => each.flatten().tolist() as number[];
  const before = numbers(y);
  await withFolder(async (folder) => {
    const sha256 = await savePackage(compiler.export(f, [x, y]), `${folder}/f.dyn`, { native: false });
    const wanted = f(x, y).flat(2) as Tensor[];
    // WebGPU has no sort
    const program = await loadPackage(`${folder}/f.dyn`, { sha256, webgpu: true });
    assertEquals(program.engine, "wasm");
    assertEquals(Deno.inspect(program), "Package(f, engine=wasm)");
    const misspelt = { nativ: true } as object;
    await assertRejects(() => loadPackage(`${folder}/f.dyn`, misspelt), DynError, "but found nativ");
    const a = new PackageTensor(Float32Array.from(numbers(x)), [3, 4]);
    const b = new PackageTensor(Float32Array.from(before), [4, 5]);
    const found = (program.call(a, b) as unknown[]).flat(2) as PackageTensor[];
    assertEquals([found[2], found[4]], [b, a]);
    for (const [at, each] of wanted.entries()) {
      assertEquals(found[at]?.shape, each.shape);
      assertClose(Array.from(found[at]?.data ?? [], Number), numbers(each));
    }
  });
});

testInTurn("a page of digits", {
  name: "a page recognises drawn digits by an exported classifier",
  ignore: SKIP_BROWSER,
  fn: async () => {
    manualSeed(4);
    const model = new Classifier(new ConvNet()).eval();
    const bytes = await packageBytes(compiler.export(model, [zeros([1, 1, 28, 28])]), { native: false });
    const server = serveClassifier(bytes, 0);
    try {
      await withPage(`http://127.0.0.1:${server.addr.port}/index.html`, async (page) => {
        await page.until("globalThis.shares !== undefined");
        await page.draw([[60, 150], [90, 180], [120, 160]]);
        await page.until("document.querySelector('#answer').textContent !== ''");
        const pixels = await page.evaluate("pixels()") as number[];
        const wanted = noGrad(() => model.call(tensor(pixels).view([1, 1, 28, 28]))).flatten()
          .tolist() as number[];
        const found = await page.evaluate("shares()") as number[], best = wanted.indexOf(Math.max(...wanted));
        assertClose(found, wanted);
        assert(Math.max(...pixels) > 0.9 && Math.min(...pixels) === 0);
        assertEquals(
          await page.evaluate(
            "['#answer', '#engine'].map((each) => document.querySelector(each).textContent)",
          ),
          [`${best}, ${(100 * (wanted[best] ?? 0)).toFixed(0)} %`, "by webgpu"],
        );
        assertEquals(page.errors, []);
      });
    } finally {
      await server.shutdown();
    }
  },
});

Deno.test({
  name: "packages on WebGPU take what shaders can bind, sizes that change and calls at once",
  ignore: SKIP_WEBGPU,
  fn: async () => {
    manualSeed(3);
    // One kernel writes them side by side: more than an adapter has to bind
    const f = (at: Tensor, seen: Tensor, ...parts: Tensor[]): Record<string, Tensor> => {
      const x = cat(parts, 1);
      seen.add_(1);
      const mask = x.gt(0), half = x.to("bfloat16"), picked = x.indexSelect(0, at);
      return { x, sums: x.sum(0), picked, mask, half, best: x.argmax(1), soft: x.softmax(1), seen };
    };
    const numbers = (each: Tensor) => each.to("float32").flatten().tolist() as number[];
    const given = (each: Tensor) => new PackageTensor(Float32Array.from(numbers(each)), [...each.shape]);
    const at = tensor([2, 0, 1]),
      seen = randn([3]),
      parts = (n: number) => Array.from({ length: 9 }, () => randn([n, 3]));
    await withFolder(async (folder) => {
      const file = `${folder}/f.dyn`;
      await savePackage(compiler.export(f, [at, seen, ...parts(4)], { dynamic: true }), file, {
        native: false,
      });
      const program = await loadPackage(file, { webgpu: true });
      assertEquals(program.engine, "webgpu");
      assertThrows(() => program.call(), Error, "Expected await run(…) of f on WebGPU but found call(…)");
      const places = (values: readonly number[]) =>
        new PackageTensor(BigInt64Array.from(values, BigInt), [3]);
      const count = given(seen), calls = [4, 6, 4].map(parts);
      const found = await Promise.all(
        calls.map((each) => program.run(places([2, 0, 1]), count, ...each.map(given))),
      ) as Record<string, PackageTensor>[];
      for (const [k, each] of calls.entries()) {
        const wanted = f(at, seen, ...each);
        for (const [name, { data, dtype }] of Object.entries(found[k] ?? {})) {
          const values = dtype === "bfloat16"
            ? new Float32Array(Uint32Array.from(Array.from(data, Number), (bits) => bits << 16).buffer)
            : Array.from(data, Number);
          if (name !== "seen") assertClose([...values], numbers(wanted[name] ?? at));
        }
      }
      assertClose([...count.data].map(Number), numbers(seen));
      const outside = program.run(places([2, 0, 9]), count, ...parts(4).map(given));
      await assertRejects(() => outside, Error, "Expected every index to lie in its dimension");
    });
  },
});

Deno.test("invalid calls are rejected before they run", async () => {
  const layer = new nn.Linear(2, 2).eval();
  await withFolder(async (folder) => {
    const file = `${folder}/a.dyn`;
    await savePackage(compiler.export(layer, [ones([1, 2])]), file, { native: false });
    const bytes = await Deno.readFile(file), files = new Map(readArchive(bytes));
    const model = await loadPackage(bytes);
    const wanted = noGrad(() => layer.call(ones([1, 2]))).flatten().tolist() as number[];
    const result = model.call(new PackageTensor(Float32Array.of(1, 1), [1, 2])) as PackageTensor;
    assertClose(Array.from(result.data, Number), wanted);
    // Code keeps its weights where it runs; the state dict holds copies
    model.stateDict["weight"]?.data.fill(0 as never);
    const again = model.call(new PackageTensor(Float32Array.of(1, 1), [1, 2])) as PackageTensor;
    assertEquals(again.data, result.data);
    await assertRejects(
      () => loadPackage(bytes, { native: true }),
      Error,
      "Expected native code in the package",
    );
    await assertRejects(
      () => loadPackage(bytes, { sha256: "00" }),
      Error,
      "Expected the package with the hash 00",
    );
    const manifest = JSON.parse(new TextDecoder().decode(files.get("manifest.json")));
    const other = (change: (given: Record<string, unknown>) => void) => {
      const copy = structuredClone(manifest);
      change(copy);
      const text = new TextEncoder().encode(JSON.stringify(copy));
      return writeArchive(new Map([...files, ["manifest.json", text], ["library.so", new Uint8Array(1)]]));
    };
    const hash = "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d";
    const native = {
      file: "library.so",
      header: "a.h",
      os: "other",
      arch: "x86_64",
      features: [],
      prefix: "dyn_a",
    };
    const foreign = other((each) => {
      each["native"] = native;
      each["files"] = [...manifest.files, { name: "library.so", sha256: hash }];
    });
    await assertRejects(
      () => loadPackage(foreign, { native: true }),
      Error,
      "load the package without native: true",
    );
    await assertRejects(() => loadPackage(other(() => {})), Error, "Expected library.so with the hash none");
    await assertRejects(
      () => loadPackage(other((each) => each["version"] = 1)),
      Error,
      "Expected dyn.package 2",
    );
    await assertRejects(() => loadPackage(new Uint8Array(3)), Error, "Expected an archive");
    const dropping = compiler.export(new nn.Dropout(0.5), [ones([3])]);
    await assertRejects(
      () => savePackage(dropping, file),
      Error,
      "Expected a program without random numbers",
    );
  });
});
