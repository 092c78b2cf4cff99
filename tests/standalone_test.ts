/**
 * The standalone executable, away from the repository and from any Deno: it runs a script and a REPL session.
 */
import { assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { filesBelow } from "../cli/standalone/files.ts";
import { copyProgram } from "../cli/standalone/program.ts";
import { testInTurn } from "./support/costly_tests.ts";
import { runProgram, type Surroundings, withFolder } from "./support/process.ts";
import { sampleBySeed } from "./support/sampling.ts";

const BUILDER = fileURLToPath(new URL("../tools/standalone.ts", import.meta.url));

/** Returns a PATH for the launcher, and a C++ compiler if there is one: everything but Deno and npm. */
async function pathWithoutDeno(folder: string): Promise<string> {
  await Deno.mkdir(folder);
  for (const place of ["/bin", "/usr/bin"]) {
    for await (const entry of Deno.readDir(place)) {
      if (/^(deno|node|nodejs|npm|npx|dyn)$/.test(entry.name)) continue;
      await Deno.symlink(join(place, entry.name), join(folder, entry.name)).catch((thrown) => {
        if (!(thrown instanceof Deno.errors.AlreadyExists)) throw thrown;
      });
    }
  }
  return folder;
}

const MODEL = `import { compile, tensor, type Tensor } from "jsr:@x/dyn";
const f = compile((x: Tensor): Tensor => x.mul(2).add(1));
console.log(f(tensor([1, 2, 3])).tolist(), Deno.args, Deno.env.get("DENO_DIR"));
`;

/** A dataset of a module, which workers load. */
const SAMPLES = `import { data, type Tensor, tensor } from "jsr:@x/dyn";
export class Samples implements data.Dataset<Tensor> {
  constructor(readonly length: number) {}
  get(index: number): Tensor {
    return tensor([index, 10]);
  }
}
`;

const LOADER = `import { data } from "jsr:@x/dyn";
import type { Samples } from "./samples.ts";
const samples = await data.fromModule<typeof Samples>(import.meta.resolve("./samples.ts"), "Samples", [3]);
for (const batch of new data.DataLoader(samples, { batchSize: 2, numWorkers: 1 })) console.log(batch.tolist());
`;

/** Makes the executable, runs it on a copy elsewhere, and returns what the builder said. */
async function check(options: readonly string[]): Promise<string> {
  return await withFolder(async (folder) => {
    const built = join(folder, "built", "dyn");
    const made = await runProgram(Deno.execPath(), ["run", "-A", BUILDER, ...options, built]);
    assertEquals(made.code, 0, made.stderr);
    const home = join(folder, "home");
    const executable = join(home, "my dyn");
    await Deno.mkdir(home);
    await Deno.rename(built, executable);
    await Deno.writeTextFile(join(home, "model.ts"), MODEL);
    const around: Surroundings = {
      clean: true,
      cwd: home,
      env: { HOME: home, PATH: await pathWithoutDeno(join(folder, "bin")), DENO_DIR: "theirs" },
    };
    const script = await runProgram(executable, ["model.ts", "--x"], around);
    assertEquals(script, { code: 0, stdout: '[ 3, 5, 7 ] [ "--x" ] theirs\n', stderr: "" });
    await Deno.writeTextFile(join(home, "samples.ts"), SAMPLES);
    await Deno.writeTextFile(join(home, "loader.ts"), LOADER);
    const loading = await runProgram(executable, ["loader.ts"], around);
    assertEquals(loading, { code: 0, stdout: "[ [ 0, 10 ], [ 1, 10 ] ]\n[ [ 2, 10 ] ]\n", stderr: "" });
    const lines = [
      'import { compile, tensor, type Tensor } from "jsr:@x/dyn"',
      "const f = compile((x: Tensor): Tensor => x.add(1))",
      "f(tensor([1])).tolist()",
    ];
    const session = await runProgram(executable, ["repl"], {
      ...around,
      stdin: lines.map((line) => `${line}\n`).join(""),
    });
    assertEquals(session, { code: 0, stdout: "[ 2 ]\n", stderr: "" });
    const failing = await runProgram(executable, ["nothing.ts"], around);
    assertEquals(failing.code, 2);
    if (options.includes("--pack")) {
      for (const checkPacked of sampleBySeed([checkDamaged, checkUnpacking, checkCompiling], 1)) {
        await checkPacked(executable, around);
      }
    }
    return made.stdout;
  });
}

/** A file that lost or changed bytes says so instead of running. */
async function checkDamaged(executable: string, around: Surroundings): Promise<void> {
  const damaged = `${executable}-damaged`;
  const bytes = await Deno.readFile(executable);
  await Deno.writeFile(damaged, bytes.subarray(0, bytes.length - 1), { mode: 0o755 });
  const env = { ...around.env, HOME: `${around.cwd}/other` };
  const { code, stderr } = await runProgram(damaged, ["--version"], { ...around, env });
  assertMatch(
    stderr,
    /^dyn: Expected this file to hold [0-9a-f]{64} but found [0-9a-f]{64}; fetch it again\n$/,
  );
  assertEquals(code, 1);
}

/** A folder that cannot be written is said; what was unpacked and lost or changed files is unpacked again. */
async function checkUnpacking(executable: string, around: Surroundings): Promise<void> {
  const temporary = join(around.cwd ?? "", "tmp"), base = `${temporary}/dyn-${Deno.uid()}`;
  await Deno.mkdir(temporary);
  const version = () =>
    runProgram(executable, ["--version"], {
      ...around,
      env: { ...around.env, DYN_CACHE_DIR: "/dev/null/dyn", TMPDIR: temporary },
    });
  const first = await version(),
    told = `dyn: Unpacked into ${base}, since /dev/null/dyn cannot be used`;
  assertEquals([first.code, first.stderr], [0, `${told}; set DYN_CACHE_DIR to choose a folder\n`]);
  assertEquals(await version(), { ...first, stderr: "" });
  const [unpacked] = [...Deno.readDirSync(`${base}/standalone`)].map(({ name }) =>
    `${base}/standalone/${name}`
  );
  await Deno.truncate(`${unpacked}/bin/deno`, 1000);
  await Deno.remove(`${unpacked}/dyn/mod.ts`);
  await Deno.chmod(`${unpacked}/dyn/cli.ts`, 0o666);
  assertEquals(await version(), first);
}

/** A program's own executable brings its captures and compiled graphs to where it is called. */
async function checkCompiling(executable: string, around: Surroundings): Promise<void> {
  const { cwd = "" } = around, program = join(cwd, "programs"), made = join(cwd, "model-alone");
  await Deno.mkdir(join(program, "parts"), { recursive: true });
  // Its own name for dyn is that of a checkout that other machines lack
  await Deno.mkdir(join(program, "checkout"));
  await Deno.writeTextFile(join(program, "checkout", "deno.json"), '{ "name": "@x/dyn" }');
  await Deno.writeTextFile(join(program, "checkout", "mod.ts"), 'import "npm:none";');
  await Deno.writeTextFile(
    join(program, "deno.json"),
    '{ "imports": { "$parts/": "./parts/", "dyn": "./checkout/mod.ts" } }',
  );
  await Deno.writeTextFile(
    join(program, "parts", "net.ts"),
    MODEL.replace("const f", "export const f").replace(/console.*/, ""),
  );
  await Deno.writeTextFile(
    join(program, "model.ts"),
    'import { tensor } from "dyn";\nimport { f } from "$parts/net.ts";\n' +
      "console.log(f(tensor([3])).tolist(), Deno.args, import.meta.main);\n",
  );
  const built = await runProgram(
    executable,
    ["compile", "-o", made, join(program, "model.ts"), "first"],
    { ...around, env: { ...around.env, DYN_ERROR_ON_FALLBACK: "0" } },
  );
  assertEquals(built.code, 0, built.stderr);
  assertMatch(built.stdout, /^\[ 7 \] \[ "first" \] true\nWrote .*model-alone \(\d+ MB\)\n$/);
  await Deno.remove(program, { recursive: true });
  const home = join(cwd, "theirs");
  await Deno.mkdir(home);
  const env = { ...around.env, HOME: home, DYN_LOGS: "cache,tiers", DYN_ERROR_ON_FALLBACK: "0" };
  const { code, stdout, stderr } = await runProgram(made, ["--y"], { ...around, env });
  assertEquals([code, stdout], [0, '[ 7 ] [ "--y" ] true\n'], stderr);
  assertStringIncludes(stderr, "graphs: taken");
  assertMatch(stderr, /captures: net\.ts:\d+ taken/);
  assertEquals(/traced|kept|WebAssembly/.exec(stderr), null, stderr);
}

Deno.test("programs are copied with what they import and name, or rejected", async () => {
  await withFolder(async (folder) => {
    const write = async (path: string, text: string) => {
      await Deno.mkdir(dirname(join(folder, path)), { recursive: true });
      await Deno.writeTextFile(join(folder, path), text);
    };
    await write("app/main.ts", 'import "shared/part.ts";\nimport "jsr:@x/dyn";\nimport "@x/dyn";\n');
    await write("shared/part.ts", 'export { default } from "./words.json" with { type: "json" };\n');
    await write("shared/words.json", "[]");
    await write("app/data/numbers.txt", "1");
    await write("checkout/deno.json", '{ "name": "@x/dyn" }');
    await write("checkout/mod.ts", 'import "npm:none";\n');
    await write("app/deno.jsonc", '{ "importMap": "maps/map.json" }');
    await write(
      "app/maps/map.json",
      '{ "imports": { "@x/dyn": "../../checkout/mod.ts", "shared/": "../../shared/", "std": "npm:std" }, "scopes": { "../": { "std": "../own.ts" } } }',
    );
    const made = await copyProgram(
      join(folder, "app/main.ts"),
      [join(folder, "app/data")],
      join(folder, "made"),
    );
    assertEquals(made, { part: "program", script: "program/app/main.ts" });
    assertEquals(filesBelow(join(folder, "made")).map((path) => path.slice(folder.length)).sort(), [
      "/made/program/app/data/numbers.txt",
      "/made/program/app/deno.json",
      "/made/program/app/main.ts",
      "/made/program/shared/part.ts",
      "/made/program/shared/words.json",
    ]);
    const settings: unknown = JSON.parse(Deno.readTextFileSync(join(folder, "made/program/app/deno.json")));
    assertEquals(settings, {
      imports: { "@x/dyn": "jsr:@x/dyn", "shared/": "./../shared/", "std": "npm:std" },
      scopes: { "./": { "std": "./own.ts" } },
    });
    const refused = async (text: string, message: string) => {
      await write("app/main.ts", text);
      const copied = () => copyProgram(join(folder, "app/main.ts"), [], join(folder, "other"));
      await assertRejects(copied, Error, message);
    };
    await refused(
      'import "npm:acorn@8.15.0";\n',
      "Expected modules that are files but found npm:acorn@8.15.0",
    );
    await refused('import "./none.ts";\n', "none.ts");
  });
});

const POSIX = Deno.build.os !== "windows";

testInTurn("a packed executable", {
  name: "the packed executable runs scripts and the REPL without Deno or the repository",
  ignore: !POSIX,
  fn: async () => {
    assertMatch(await check(["--pack"]), /packed behind a launcher/);
  },
});

Deno.test({
  name: "deno compile makes the same, where its base binary can be had",
  ignore: !Deno.env.has("DENORT_BIN"),
  fn: async () => {
    assertMatch(await check([]), /by deno compile/);
  },
});
