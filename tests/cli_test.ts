/**
 * The command line as users meet it: scripts, flags, failures, the REPL. Each test runs `cli.ts` as a process.
 */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import settings from "../deno.json" with { type: "json" };
import { limitsOf, prune } from "../cli/cache_prune.ts";
import { completions } from "../cli/repl_completions.ts";
import { prepare, typedColumn } from "../cli/repl_input.ts";
import { testInTurn } from "./support/costly_tests.ts";
import { type Outcome, runProgram, type Surroundings, withFolder } from "./support/process.ts";
import { sampleBySeed, TAKES_ALL, testSeed } from "./support/sampling.ts";

const CLI = fileURLToPath(new URL("../cli.ts", import.meta.url));
const MODULE = new URL("../mod.ts", import.meta.url).href;

/**
 * Without a lock file, in which Deno would note the server that a test starts; quietly, since a newer library may be found
 * without one, whose download Deno would tell of.
 */
const dyn = (args: readonly string[], around?: Surroundings): Promise<Outcome> =>
  runProgram(Deno.execPath(), ["run", "-A", "--no-lock", "--quiet", CLI, ...args], {
    ...around,
    env: { ...TIER, ...around?.env },
  });

/** Scripts of one run in four, by the seed, start the C++ compiler, which hardly any of them runs long enough for. */
const TIER: Readonly<Record<string, string>> = TAKES_ALL || testSeed() % 4 === 3 ? {} : { DYN_TIER: "wasm" };

/** Writes files into a temporary folder and runs the command line there. */
function inFolder(
  files: Readonly<Record<string, string>>,
  args: readonly string[],
  around?: Surroundings,
): Promise<Outcome> {
  return withFolder(async (folder) => {
    for (const [name, text] of Object.entries(files)) await Deno.writeTextFile(join(folder, name), text);
    return await dyn(args, { cwd: folder, ...around });
  });
}

const MODEL = `import { compile, tensor, type Tensor } from "jsr:@x/dyn";
import * as own from ${JSON.stringify(MODULE)};
const f: (x: Tensor) => Tensor = compile((x: Tensor) => x.mul(2).add(1));
console.log(f(tensor([1, 2, 3])).tolist(), own.compile === compile, Deno.args, import.meta.main);
if (Deno.mainModule !== import.meta.url) throw new Error(Deno.mainModule);
`;

Deno.test("a script runs on the toolchain's own copy, with its own arguments", async () => {
  const expected = { code: 0, stdout: '[ 3, 5, 7 ] true [ "--backend", "x" ] true\n', stderr: "" };
  assertEquals(await inFolder({ "model.ts": MODEL }, ["model.ts", "--backend", "x"]), expected);
  assertEquals(
    await inFolder({ "model.ts": MODEL }, ["run", "--backend=eager", "model.ts", "--backend", "x"]),
    expected,
  );
});

Deno.test("another checkout's mod.ts is this toolchain's", async () => {
  const files = {
    "deno.json": JSON.stringify({ name: "@x/dyn", version: "0.0.1", exports: "./mod.ts" }),
    "mod.ts": "export const compile = 1;",
    "model.ts": 'import { compile } from "./mod.ts";\nconsole.log(typeof compile);\n',
  };
  assertEquals((await inFolder(files, ["model.ts"])).stdout, "function\n");
});

Deno.test("a script's CommonJS modules and its folder's own settings do not interfere", async () => {
  const files = {
    "deno.json": JSON.stringify({ imports: { "@x/dyn": "./nothing.ts" } }),
    "data.json": '{ "a": 7 }',
    "old.cjs": 'module.exports = require("./data.json").a;',
    "model.ts": `import a from "./old.cjs";\n${MODEL}console.log(a);\n`,
  };
  const { stdout, stderr } = await inFolder(files, ["model.ts"]);
  assertEquals([stdout, stderr], ["[ 3, 5, 7 ] true [] true\n7\n", ""]);
});

Deno.test("flags become settings", async () => {
  const names = ["DYN_BACKEND", "DYN_DEVICE", "DYN_LOGS", "DYN_TRACE", "DYN_DEBUG_FUNCTION"];
  const files = {
    "show.ts": `console.log(${JSON.stringify(names)}.map((name) => Deno.env.get(name)).join(" "));`,
  };
  const flags = [
    "--backend",
    "eager",
    "--device=cpu",
    "--logs=+guards",
    "--trace",
    "t",
    "--debug-function=f",
  ];
  const { stdout, code } = await inFolder(files, [...flags, "show.ts"]);
  assertEquals([stdout, code], ["eager cpu +guards t f\n", 0]);
});

Deno.test("the debug function of the command line is the only one compiled", async () => {
  const script = `import { compile, ones, type Tensor } from "jsr:@x/dyn";
const f = compile(function f(x: Tensor): Tensor { return x.add(1); });
const g = compile(function g(x: Tensor): Tensor { return x.add(2); });
f(ones([1])), g(ones([1]));
`;
  const { stderr } = await inFolder({ "model.ts": script }, [
    "--debug-function=g",
    "--logs=graph",
    "model.ts",
  ]);
  assertMatch(stderr, /add\(2\)/);
  assert(!stderr.includes("add(1)"));
});

Deno.test("a wrong command line is explained, with exit code 2", async () => {
  const wrong: [args: string[], message: RegExp][] = [
    [["replay", "x"], /^error: Expected an execution record but found x, and there is no such file\n/],
    [
      ["compile", "a.ts", "-o", "x"],
      /^error: Expected -o before a\.ts, whose own arguments follow it, but found it behind: dyn compile -o … a\.ts\n/,
    ],
    [
      ["missing.ts"],
      /^error: Expected a command or a script but found missing\.ts, and there is no such file\n/,
    ],
    [["verfy"], /^error: Expected a command or a script but found verfy; a command is called verify\n/],
    [
      ["cache", "prune"],
      /^error: Expected --unused <time>, such as 30d, or --to <size>, .* but found neither\n/,
    ],
    [["cache", "prune", "--to", "3"], /^error: Expected a size such as 500MB or 2GB but found 3\n/],
    [
      ["--fast", "a.ts"],
      /^error: Expected a flag to be one of --help, .*--debug-function but found --fast\n/,
    ],
    [
      ["--backend", "nonsense", "a.ts"],
      /^error: Expected the backend to be one of .*inductor.* but found nonsense\n/,
    ],
    [["--device", "gpu", "a.ts"], /^error: Expected the device to be one of cpu, webgpu but found gpu\n/],
    [["--backend"], /^error: Expected --backend <name> but found no value\n/],
    [["backends", "x"], /^error: Expected nothing after backends but found x\n/],
    [
      ["cache", "burn"],
      /^error: Expected the action to be one of path, clear, prune, save, load, explain but found burn\n/,
    ],
    [["cache", "load", "none"], /^error: Expected a saved cache but found none, and there is no such file\n/],
    [["run"], /^error: Expected a script but found nothing\n/],
    [["watch", "none"], /^error: Expected a script or a folder but found none, and there is no such file\n/],
    [["new", ""], /^error: Expected a folder for the project but found nothing\n/],
    [["fuzz", "--for", "soon"], /^error: Expected a time such as 90s, 10m or 1h but found soon\n/],
    [["fuzz", "--tier", "gpu"], /^error: Expected --tier to be one of eager, .*webgpu but found gpu\n/],
    [
      ["fuzz", "--fuzzer", "language", "--tier", "webgpu"],
      /^error: Expected --tier to be one of .* but found webgpu/,
    ],
    [["fuzz", "--path", "1"], /^error: Expected --seed and one --tier with --path\n/],
    [
      ["a.pt"],
      /^error: Expected a script but found a\.pt, which is a file of weights: a script reads them by load/,
    ],
    [["explain", "a.py"], /^error: Expected a script but found a\.py, which is a program in Python\n/],
    [["run", "bytes"], /^error: Expected a script but found bytes, which is no text\n/],
  ];
  for (const [args, message] of sampleBySeed(wrong, 3)) {
    const { code, stderr } = await inFolder({ "a.ts": "", "a.pt": "", "a.py": "", bytes: "\0" }, args);
    assertMatch(stderr, message);
    assertEquals(code, 2, args.join(" "));
  }
  const { code, stderr } = await inFolder({ "a.ts": "" }, ["--logs", "grph", "a.ts"]);
  assertMatch(stderr, /^error: Expected a log artifact to be one of all, dynamo, .* but found "grph"\nSee/);
  assertEquals(code, 2);
});

testInTurn("scripts that fail", {
  name: "a script that throws shows the user's frames, and the line",
  fn: async () => {
    const files = {
      "throws.ts":
        "interface A {\n  x: number;\n}\nfunction deep(a: A): void {\n  throw new TypeError(`Bad ${a.x}`);\n}\ndeep({ x: 4 });\n",
      "rejects.ts":
        "async function main(): Promise<void> {\n  await 1;\n  throw new Error('Late');\n}\nmain();\n",
      "syntax.ts": "const x = ;\n",
      "imports.ts": 'import "./nowhere.ts";\n',
      "names.ts": 'import { tensr } from "jsr:@x/dyn";\ntensr();\n',
      "handles.ts":
        "addEventListener('unhandledrejection', (e) => e.preventDefault());\nPromise.reject(1);\nsetTimeout(() => console.log('Fine'), 10);\n",
    };
    const thrown = await inFolder(files, ["throws.ts"]);
    assertMatch(
      thrown.stderr,
      /^error: Uncaught TypeError: Bad 4\n {2}throw new TypeError.*\n {8}\^\n {4}at deep \(file:.*throws\.ts:5:9\)\n {4}at file:.*throws\.ts:7:1\n$/,
    );
    const rejected = await inFolder(files, ["rejects.ts"]);
    assertMatch(
      rejected.stderr,
      /^error: Uncaught Error: Late\n.*\n.*\n {4}at main \(file:.*rejects\.ts:3:9\)\n$/,
    );
    const syntax = await inFolder(files, ["syntax.ts"]);
    assertMatch(syntax.stderr, /Expression expected[^]*syntax\.ts:1:11\n$/);
    const imports = await inFolder(files, ["imports.ts"]);
    assertMatch(imports.stderr, /Module not found "file:.*nowhere\.ts"[^]*imports\.ts:1:8\n$/);
    const names = await inFolder(files, ["names.ts"]);
    assertMatch(
      names.stderr,
      /^error: Uncaught SyntaxError: The requested module 'jsr:@x\/dyn' does not provide an export named 'tensr'\n.*\n {9}\^\n {4}at file:.*names\.ts:1:10\n$/,
    );
    assertEquals([thrown, rejected, syntax, imports, names].map(({ code }) => code), [1, 1, 1, 1, 1]);
    assertEquals(await inFolder(files, ["handles.ts"]), { code: 0, stdout: "Fine\n", stderr: "" });
  },
});

Deno.test("help and version", async () => {
  const help = await dyn(["--help"]);
  for (
    const name of [
      "run <script>",
      "repl",
      "explain <script>",
      "report <trace folder>",
      "doctor",
      "backends",
      "bench",
      "cache",
      "--logs",
    ]
  ) {
    assertStringIncludes(help.stdout, name);
  }
  assertEquals(help.code, 0);
  assertStringIncludes(
    (await dyn(["--version"])).stdout,
    `dyn ${settings.version} (deno ${Deno.version.deno},`,
  );
  assertMatch((await dyn(["explain", "--help"])).stdout, /^Usage: dyn explain <script>/);
  assertMatch((await dyn(["cache", "prune", "--help"])).stdout, /^Usage: dyn cache .*\n[^]*--unused 30d/);
  assertEquals((await dyn([])).code, 2);
});

testInTurn("reports of the command line", {
  name: "backends, verify, doctor and cache report what is available",
  fn: async () => {
    const listed = (await dyn(["backends"])).stdout,
      names = listed.trim().split("\n").map((line) => line.split(" ")[0]);
    assert(names.includes("eager") && names.includes("inductor"), names.join());
    assertMatch(listed, /^onednn +needs a C\+\+ compiler and oneDNN /m);
    const verified = await dyn(["verify", "eager", "wasm"]);
    const works = verified.stdout.match(/^ok .* ms a step$/gm)?.length;
    assertEquals([verified.code, works], [0, 3], verified.stdout);
    const doctor = await dyn(["doctor"]);
    assertEquals(doctor.code, 0, doctor.stdout);
    for (const subject of ["Runtime", "Permissions", "Compiler", "WebGPU", "Compiling", "Cache"]) {
      assertMatch(doctor.stdout, new RegExp(`^(ok|warning) +${subject} +\\S`, "m"));
    }
    await withFolder(async (folder) => {
      const env = { DYN_CACHE_DIR: folder };
      assertEquals((await dyn(["cache", "path"], { env })).stdout, `${folder}\n`);
      const file = join(folder, "mine.txt"), unusable = { DYN_CACHE_DIR: file, TMPDIR: folder };
      await Deno.writeTextFile(file, "keep");
      if (Deno.build.os !== "windows") {
        const { stdout, stderr } = await dyn(["cache", "path"], { env: unusable }), other = stdout.trim();
        assertMatch(
          stderr,
          /^dyn: compiled code is cached in .*, since DYN_CACHE_DIR cannot be used: .*mine/,
        );
        assert(other !== file && stderr.includes(`in ${other},`), stderr);
        await Deno.remove(other, { recursive: true });
      }
      await Deno.mkdir(join(folder, "graphs"));
      await Deno.writeTextFile(join(folder, "graphs", "a"), "12345");
      assertMatch((await dyn(["cache"], { env })).stdout, /graphs +1 file /);
      const saved = join(folder, "saved");
      assertMatch((await dyn(["cache", "save", saved], { env })).stdout, /^Saved \d+ files? in /);
      await Deno.remove(join(folder, "graphs", "a"));
      assertMatch((await dyn(["cache", "load", saved], { env })).stdout, /^Loaded \d+ files? from /);
      assertEquals(await Deno.readTextFile(join(folder, "graphs", "a")), "12345");
      const bytes = await Deno.readFile(saved), last = bytes.length - 1;
      bytes[last] = (bytes[last] ?? 0) ^ 1;
      await Deno.writeFile(saved, bytes);
      assertMatch(
        (await dyn(["cache", "load", saved], { env })).stderr,
        /^error: Expected \w+\/\S+ with the SHA-256 \w+ but found \w+\n/,
      );
      await Deno.remove(saved);
      assertMatch((await dyn(["cache", "clear"], { env })).stdout, /Removed .*graphs \(1 file,/);
      assertEquals([...Deno.readDirSync(folder)].map(({ name }) => name).filter((name) => name !== "cpu"), [
        "mine.txt",
      ]);
    });
  },
});

Deno.test("the cache is pruned by the time since the last use, and by size", () =>
  withFolder((root) => {
    const now = Date.UTC(2026, 0, 31), day = 24 * 3600 * 1000;
    const write = (path: string, bytes: number, age: number) => {
      Deno.writeTextFileSync(join(root, path), "x".repeat(bytes));
      Deno.utimeSync(join(root, path), (now - age * day) / 1000, (now - (age + 3) * day) / 1000);
    };
    for (const folder of ["cpu", "graphs", "other", "cpu/left.tmp", "cpu/busy.tmp"]) {
      Deno.mkdirSync(join(root, folder));
    }
    write("cpu/old.so", 400, 40), write("cpu/new.so", 300, 1);
    write("graphs/a.json", 200, 5), write("graphs/b.json", 100, 20);
    write("other/old", 100, 90), write("cpu/left.tmp/0.cpp", 50, 2);
    for (const [name, age] of [["left", 2], ["busy", 0.5]] as const) {
      Deno.utimeSync(join(root, `cpu/${name}.tmp`), (now - age * day) / 1000, (now - age * day) / 1000);
    }
    const names = () =>
      ["cpu", "graphs", "other"].map((folder) =>
        [...Deno.readDirSync(join(root, folder))].map(({ name }) => name).sort()
      );
    const pruned = (args: string[]) =>
      Object.fromEntries(prune(root, limitsOf(args), now).map((each) => [each.store, each]));
    const first = pruned(["--unused", "30d"]);
    assertEquals(first["cpu"], {
      store: "cpu",
      removed: { files: 2, bytes: 450 },
      kept: { files: 2, bytes: 300 },
    });
    assertEquals(names(), [["busy.tmp", "new.so"], ["a.json", "b.json"], ["old"]]);
    const second = pruned(["--to", "0.0005MB"]);
    assertEquals(second["graphs"]?.removed, { files: 1, bytes: 100 });
    assertEquals(names(), [["busy.tmp", "new.so"], ["a.json"], ["old"]]);
    pruned(["--to=0MB", "--unused=1w"]);
    assertEquals(names(), [["busy.tmp"], [], ["old"]]);
    return Promise.resolve();
  }));

testInTurn("new projects", {
  name: "a new project trains, and nothing that exists is overwritten",
  fn: async () => {
    await withFolder(async (folder) => {
      assertEquals((await dyn(["new", "spiral"], { cwd: folder })).code, 0);
      const trained = await runProgram(Deno.execPath(), ["task", "train", "3"], {
        cwd: join(folder, "spiral"),
        env: { DYN_BACKEND: "aot_eager" },
      });
      assertMatch(trained.stdout, /^epoch 3: loss 0\.\d+, accuracy \d+\.\d %\n$/, trained.stderr);
      // Types are left out: those of all of dyn take half a minute
      for (const words of ["fmt --check", "lint", "task test --no-check"]) {
        const { code, stderr } = await runProgram(Deno.execPath(), words.split(" "), {
          cwd: join(folder, "spiral"),
          env: { DYN_BACKEND: "aot_eager" },
        });
        assertEquals([words, code], [words, 0], stderr);
      }
      const again = await dyn(["new", "spiral"], { cwd: folder });
      assertEquals([again.code, /Expected an empty folder but found \S+ in spiral/.test(again.stderr)], [
        2,
        true,
      ]);
    });
  },
});

Deno.test("explain counts graphs and breaks and gives reasons", async () => {
  const script = `import { compile, tensor, type Tensor } from "jsr:@x/dyn";
const f = compile((x: Tensor): Tensor => {
  const y = x.add(1);
  console.log("break");
  return y.mul(2);
});
console.log(f(tensor([1])).tolist());
`;
  const { stdout, code } = await inFolder({ "model.ts": script }, ["explain", "model.ts"]);
  assertMatch(stdout, /^break\n\[ 4 \]\nDynamo produced 2 graphs, with 1 graph break and 0 recompilations\n/);
  assertMatch(stdout, /Break reason 1:\n(.*\n)*.*model\.ts:4/);
  assertEquals(code, 0);
});

testInTurn("reports at the end", {
  name: "explain reports when the program ends, however it ends",
  fn: async () => {
    const script = `import { compile, tensor, type Tensor } from "jsr:@x/dyn";
const f = compile((x: Tensor) => x.add(1));
const [way] = Deno.args;
if (way === "fail") {
  f(tensor([1]));
  throw new Error("Early");
}
setTimeout(() => {
  f(tensor([1]));
  if (way === "exit") Deno.exit(3);
  if (way === "throw") throw new Error("Late");
  if (way === "signal") Deno.kill(Deno.pid, "SIGINT"), setInterval(() => {}, 1000);
});
`;
    for (const [way, expected] of Object.entries({ done: 0, exit: 3, fail: 1, throw: 1, signal: 130 })) {
      const { code, stdout, stderr } = await inFolder({ "a.ts": script }, ["explain", "a.ts", way]);
      const isError = way === "fail" || way === "throw";
      assertStringIncludes(isError ? stderr : stdout, "Dynamo produced 1 graph, with 0 graph breaks");
      assertEquals([code, /error: Uncaught.* Error: (Late|Early)\n/.test(stripVTControlCharacters(stderr))], [
        expected,
        isError,
      ], way);
    }
    const { code, stdout } = await inFolder({ "a.ts": script }, ["cache", "explain", "a.ts", "exit"], {
      env: { DYN_GRAPH_CACHE: "1" },
    });
    assertMatch(stdout, /^Taken from the cache: 0 captures, \d graphs?\n {2}captures: a\.ts:2 traced/);
    assertEquals(code, 3);
  },
}, {
  name: "numerics reports the graphs whose numbers are not the plain ones",
  fn: async () => {
    const script = `import { compile, randn, type Tensor } from "jsr:@x/dyn";
const f = compile((x: Tensor) => x.mul(2)), rounding = (x: Tensor) => x.add(1).exp().sub(1);
f(randn(4));
compile(rounding)(randn(8, 16).to("bfloat16"));
Deno.exit(0);
`;
    const { code, stdout } = await inFolder({ "a.ts": script }, ["numerics", "a.ts"]);
    assertMatch(
      stdout,
      /^2 graphs, 1 of them with the plain bits; ulps are units in the last place\nGraph 2 of rounding\n/,
    );
    assertStringIncludes(stdout, "with options { emulatePrecisionCasts: true }: the plain bits");
    assertMatch(stdout, /by exp, at rounding \(.*a\.ts:2\)/);
    assertEquals(code, 0);
  },
});

/** Runs these lines in the REPL. */
const session = (lines: readonly string[]): Promise<Outcome> =>
  dyn(["repl"], { stdin: lines.map((line) => `${line}\n`).join("") });

Deno.test("the REPL loads files, takes the commands of other prompts, and names packages that it cannot find", async () => {
  await withFolder(async (folder) => {
    await Deno.writeTextFile(join(folder, "part.ts"), "export const two: number = 2;\n");
    await Deno.writeTextFile(join(folder, "deno.json"), '{ "imports": { "parts/": "./" } }');
    await Deno.writeTextFile(join(folder, "more.ts"), 'export { two } from "parts/part.ts";\n');
    await Deno.writeTextFile(
      join(folder, "all.ts"),
      'import { two } from "./part.ts";\nconst four = two * 2;\n',
    );
    const lines = [
      ":load all.ts",
      "four + 1",
      'import { two } from "parts/more.ts"; two + 4',
      ".load none.ts",
      ".help",
      'import x from "no-such"',
      "let help = 7; help",
      "quit()",
      "8",
    ];
    const { stdout, stderr } = await dyn(["repl"], {
      cwd: folder,
      stdin: lines.map((line) => `${line}\n`).join(""),
    });
    assertMatch(stdout, /^5\n6\n[^]*:load <file>[^]*\n7\n$/);
    assertMatch(
      stderr,
      /^Expected a file but found none\.ts, and there is none\nDynError: Expected no-such among the imports[^\n]*\n$/,
    );
  });
});

Deno.test("the REPL keeps variables across inputs", async () => {
  const { stdout, stderr, code } = await session([
    "interface Typed { a: number }",
    "type Alias = Typed[]",
    "let n: number = 1",
    "function add(x: number): number {",
    "  return x + n;",
    "}",
    "add(1)",
    "n = 5; add(1)",
    "n++",
    "const { a, ...rest } = { a: 1, b: 2 }; rest",
    "{ x: a }",
    "await Promise.resolve(a + 1)",
    "_ * 10",
    "enum Color { Red, Green }",
    "Color.Green",
    "class P { constructor(public z: number) {} }",
    "new P(3).z",
    "const late = (x: number) => helper(x)",
    "function helper(x: number) { return x * 2 }; late(4)",
    "function helper(x: number) { return x * 3 }; late(4)",
    "helper = (x: number) => x * 4; late(4)",
    "let p, { q, r: [s] } = { q: 1, r: [2] }, named = () => p",
    "p = 3; [named(), q, s, named.name]",
    "let p = p + 1; p",
    "const broken = missing",
    "typeof broken",
    'import { sep } from "node:path"; const usesSep = () => sep',
    "usesSep() === sep",
    "(1 + 2) // a comment",
    "`a",
    "b`",
    "/* a comment",
    "*/ 7",
    ":quit",
    "never",
  ]);
  assertEquals(stdout.trimEnd().split("\n"), [
    "2",
    "6",
    "5",
    "{ b: 2 }",
    "{ x: 1 }",
    "2",
    "20",
    "1",
    "3",
    "8",
    "12",
    "16",
    '[ 3, 1, 2, "named" ]',
    "4",
    '"undefined"',
    "true",
    "3",
    '"a\\nb"',
    "7",
  ]);
  assertEquals([stderr, code], ["ReferenceError: missing is not defined\n    at input-23:1:16\n", 1]);
});

Deno.test("the REPL shows errors at the typed text and continues", async () => {
  const { stdout, stderr, code } = await session([
    "const c = 3",
    "c = 4",
    "function bad() {",
    '  throw new TypeError("Here")',
    "}",
    "bad()",
    "const const",
    "x y",
    ":what",
    "c",
    "f(",
  ]);
  assertEquals(stdout, "3\n");
  assertEquals(
    stderr.split("\n").filter((line) => !/^\s*\d* \|/.test(line)),
    [
      "TypeError: Cannot assign to read only property 'c' of object '#<Window>'",
      "    at input-2:1:3",
      "TypeError: Here",
      "    at bad (input-3:2:9)",
      "    at input-4:1:1",
      "SyntaxError: Expected ident",
      "  |",
      "SyntaxError: Expected ';', '}' or <eof>",
      "  |",
      "Expected :help, :load, :logs or :quit but found :what",
      "SyntaxError: Unexpected end of input",
      "",
    ].filter((line) => !/^\s*\d* \|/.test(line)),
  );
  assertEquals(code, 1);
});

Deno.test("functions typed into the REPL are captured and compiled", async () => {
  const { stdout, stderr } = await session([
    'import { compile, compiler, tensor, type Tensor } from "jsr:@x/dyn"',
    "let k = 2",
    "function helper(x: Tensor): Tensor { return x.mul(k) }",
    "const f = (x: Tensor): Tensor => {",
    "  return helper(x).add(1);",
    "}",
    "const counter = new compiler.CompileCounter()",
    "const g = compile(f, { backend: counter, fullgraph: true })",
    "g(tensor([1, 2])).tolist()",
    "g(tensor([3, 4])).tolist()",
    "[counter.frameCount, counter.opCount]",
    "k = 3; g(tensor([1, 2])).tolist()",
    "counter.frameCount",
  ]);
  assertEquals(stderr, "");
  assertEquals(stdout.trimEnd().split("\n"), ["[ 3, 5 ]", "[ 7, 9 ]", "[ 1, 2 ]", "[ 4, 7 ]", "2"]);
});

Deno.test("a REPL input keeps its lines and maps its columns", () => {
  const code = (source: string): string => {
    const prepared = prepare(source, "/folder");
    return prepared.kind === "module" ? prepared.code : prepared.kind;
  };
  const hand = (what: string) => `;globalThis[Symbol.for("dyn.repl.declare")]({${what}});`;
  assertEquals(
    code("let a: number = 1, b;\n  a + 1"),
    ";(  a         = 1, b = void 0);\n  export default (a + 1);",
  );
  assertEquals(code("const f = () => 1"), `const f = () => 1\n${hand("constants:{f}")}`);
  assertEquals(code("class C {}; C"), `class C {}${hand("definitions:{C}")}; export default (C);`);
  assertEquals(
    code('import { k } from "./k.ts"; k'),
    `import { k } from "file:///folder/k.ts";${hand("imports:{k:()=>k}")} export default (k);`,
  );
  assertEquals(["f(", "const s: Array<", "let s = 'abc", "`a", "/* a"].map(code), [
    "incomplete",
    "incomplete",
    "error",
    "incomplete",
    "incomplete",
  ]);
  const prepared = prepare("const a = 1; const b = 2; a + b", "/");
  assert(prepared.kind === "module");
  for (const part of ["const a", "const b", "a + b"]) {
    const column = prepared.code.indexOf(part) + 1;
    assertEquals(
      typedColumn(prepared.insertions, 1, column),
      "const a = 1; const b = 2; a + b".indexOf(part) + 1,
    );
  }
});

testInTurn("programs of the fuzzers", {
  name: "fuzz compares the requested number of programs, from the given seed",
  fn: async () => {
    const args = [
      "fuzz",
      "--tier",
      "eager",
      "--programs",
      "4",
      "--seed",
      "3",
      "--without",
      "failure,backward",
    ];
    const { code, stdout } = await dyn(args);
    assertMatch(stdout, /^Seed 3\n[^]*tensors on eager: programs 4,/);
    assertEquals(code, 0, stdout);
    const language = await dyn([...args.slice(0, 7), "--fuzzer", "language"]);
    assertMatch(language.stdout, /^Seed 3\n[^]*language on eager: programs 4,/);
    assertEquals(language.code, 0, language.stdout);
  },
});

Deno.test("a script comes from standard input or a URL, and imports according to its own settings", async () => {
  const script = `import { tensor } from "jsr:@x/dyn";
import { two } from "./two.ts";
import { three } from "lib/three.ts";
console.log(tensor([1, two, three]).sum().item(), import.meta.main, Deno.args.join());`;
  const served = 'import { ones } from "jsr:@x/dyn"; console.log(ones(3).sum().item());';
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    ({ url }) =>
      new Response(url.endsWith("/model.ts") ? served : "export const far: number = 7;", {
        headers: { "content-type": "application/typescript" },
      }),
  );
  const site = `http://127.0.0.1:${server.addr.port}/`;
  const files = {
    "two.ts": "export const two: number = 2;",
    "deno.jsonc":
      `{ /* mapped */ "imports": { "@x/dyn": "jsr:@x/dyn", "lib/": "./parts/", "far/": "${site}", }, }`,
    "parts/three.ts": "export let three: number = 3; export const become = (n: number) => three = n;",
    "mapped.ts": `import { compile, ones, type Tensor } from "@x/dyn";
import { become, three } from "lib/three.ts";
import * as all from "lib/three.ts";
import { far } from "far/away.ts";
console.log(far);
const f = compile((x: Tensor) => x.mul(three)), g = compile((x: Tensor) => x.mul(all.three));
for (const n of [3, 4, 5]) { become(n); console.log(f(ones([1])).item(), g(ones([1])).item()); }`,
  };
  await withFolder(async (folder) => {
    await Deno.mkdir(join(folder, "parts"));
    for (const [name, text] of Object.entries(files)) await Deno.writeTextFile(join(folder, name), text);
    const piped = await dyn(["-", "a", "b"], { cwd: folder, stdin: script });
    assertEquals([piped.stdout, piped.code], ["6 true a,b\n", 0], piped.stderr);
    const mapped = await dyn(["mapped.ts"], { cwd: folder });
    // Of a name that only the project's settings explain, it is known which exports are assigned
    assertEquals([mapped.stdout, mapped.code], ["7\n3 3\n4 4\n5 5\n", 0], mapped.stderr);
    const ran = await dyn([`${site}model.ts`], { cwd: folder });
    assertEquals([ran.stdout, ran.code], ["3\n", 0], ran.stderr);
  });
  await server.shutdown();
});

Deno.test("--watch runs a script again after a change of a module that it imports, and ends it with itself", async () => {
  await withFolder(async (folder) => {
    const module = join(folder, "value.ts");
    const script = 'import { value } from "./value.ts"; console.log(value); setInterval(() => {}, 1000);';
    await Deno.writeTextFile(join(folder, "a.ts"), script);
    await Deno.writeTextFile(module, 'export const value = "before";');
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-check", CLI, "--watch", "a.ts"],
      cwd: folder,
      stdout: "piped",
      stderr: "null",
    }).spawn();
    const output = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
    assertEquals((await output.read()).value, "before\n");
    await Deno.writeTextFile(module, 'export const value = "afterwards";');
    assertEquals((await output.read()).value, "afterwards\n");
    child.kill();
    assertEquals((await child.status).code, 143);
    // The script has the same output
    assertEquals((await output.read()).done, true);
  });
});

Deno.test("names and members are completed, and no getter runs", () => {
  const host = {
    tensors: [1],
    get dangerous(): never {
      throw new Error("Expected nobody to look");
    },
  };
  Reflect.set(globalThis, "completed$", host);
  try {
    assertEquals(completions("1 + completed$.te"), [["completed$.tensors"], "completed$.te"]);
    assertEquals(completions("completed$.dangerous.x"), [[], "completed$.dangerous.x"]);
    assertEquals(completions("completed$.tensors.toS")[0].includes("completed$.tensors.toSorted"), true);
    assertEquals(completions("struct")[0], ["structuredClone"]);
  } finally {
    Reflect.deleteProperty(globalThis, "completed$");
  }
});

Deno.test("shell completions include all commands and flags", async () => {
  const { stdout, code } = await dyn(["completions", "zsh"]);
  const words = ["verify", "--logs", "--watch", "--help", "--version"];
  assertEquals([code, words.filter((word) => !stdout.includes(word))], [0, []]);
});

Deno.test("bash completes commands, flags, and files whose names hold spaces", {
  ignore: Deno.build.os === "windows",
}, () =>
  withFolder(async (folder) => {
    await Deno.writeTextFile(join(folder, "my model.ts"), "");
    const { stdout } = await dyn(["completions", "bash"]);
    const completed = (...words: readonly string[]) =>
      `COMP_WORDS=(dyn ${
        words.join(" ")
      }); COMP_CWORD=${words.length}; _dyn; printf '%s,' "\${COMPREPLY[@]}"`;
    const script = [
      stdout,
      completed("m"),
      completed("run", "my"),
      completed("--l"),
      completed("cache", "pr"),
      completed("run", "pr"),
    ]
      .join("\n");
    const { stdout: found } = await runProgram("bash", ["-c", script], { cwd: folder });
    assertEquals(found, "minify,my model.ts,my model.ts,--logs,prune,,");
  }));
