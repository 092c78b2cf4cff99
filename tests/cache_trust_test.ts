/**
 * The folder of compiled code: only folders that nobody else can write are used, and files of others are not run.
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildLibraries } from "../backends/cpu/object_cache.ts";
import { counters } from "../lib/base/logs.ts";
import { folderFault, isOnlyWritableBy, parentFault } from "../backends/cpu/trust.ts";
import { SKIP_NATIVE } from "./support/native.ts";
import { runProgram, withFolder } from "./support/process.ts";

const POSIX = Deno.build.os !== "windows";
const owned = (uid: number, mode: number, gid = uid) => ({ uid, gid, mode: 0o40000 | mode });

Deno.test("folders that others can write are not trusted", () => {
  const own = (uid: number, mode: number) => isOnlyWritableBy(7, owned(uid, mode));
  assertEquals([own(7, 0o755), own(7, 0o700), own(7, 0o775), own(7, 0o757), own(0, 0o755)], [
    true,
    true,
    false,
    false,
    false,
  ]);
});

Deno.test("folders above a cache may be the system's, sticky, or of the user's own group", () => {
  const fault = (uid: number, mode: number, gid?: number) => parentFault(7, owned(uid, mode, gid));
  assertEquals(
    [fault(0, 0o755), fault(7, 0o755), fault(0, 0o1777), fault(7, 0o775)],
    Array(4).fill(undefined),
  );
  assertEquals(fault(8, 0o755), "belongs to another user (8)");
  assertEquals(fault(0, 0o777), "can be written by everybody");
  assertEquals(fault(7, 0o775, 100), "can be written by a group (100)");
  assertEquals(fault(0, 0o775, 100), "can be written by a group (100)");
});

Deno.test({
  name: "the folders of a cache and all above it are looked at, behind links too",
  ignore: !POSIX,
  fn: () =>
    withFolder(async (folder) => {
      const open = join(folder, "open"),
        cache = join(open, "dyn"),
        inner = join(cache, "cpu"),
        link = join(folder, "l");
      await Deno.mkdir(inner, { recursive: true });
      await Deno.symlink(inner, link);
      assertEquals([folderFault(inner, 2), folderFault(link, 2)], [undefined, undefined]);
      await Deno.chmod(open, 0o777);
      assertEquals(folderFault(link, 2), `${open} can be written by everybody`);
      await Deno.chmod(open, 0o1777);
      assertEquals(folderFault(inner, 2), undefined);
      for (const [each, mode] of [[inner, 0o1777], [cache, 0o770]] as const) {
        await Deno.chmod(each, mode);
        assertEquals(folderFault(inner, 2), `${each} can be written by others`);
        await Deno.chmod(each, 0o700);
      }
    }),
});

/** Runs a program that compiles; `private` is the folder that it kept its libraries in. */
async function compiling(folder: string, env: Readonly<Record<string, string>>) {
  const module = import.meta.resolve("../mod.ts"),
    cache = import.meta.resolve("../backends/cpu/cache_directory.ts");
  const script = `import { compile, ones } from ${JSON.stringify(module)};
import { cacheDirectory } from ${JSON.stringify(cache)};
const result = compile((x) => x.add(1))(ones([2])).tolist();
const kept = cacheDirectory();
const found = [...Deno.readDirSync(kept)].some(({ name }) => name.endsWith(".so"));
console.log(JSON.stringify([kept, [result, found, Deno.statSync(kept).mode & 0o777]]));
`;
  await Deno.writeTextFile(join(folder, "a.ts"), script);
  const config = fileURLToPath(new URL("../deno.json", import.meta.url));
  const args = ["run", "-A", "--no-check", "--config", config, join(folder, "a.ts")];
  const { code, stdout, stderr } = await runProgram(Deno.execPath(), args, {
    env: { DYN_TIER: "wait", ...env },
  });
  assertEquals(code, 0, stderr);
  const [directory, kept]: [string, unknown] = JSON.parse(stdout);
  assertEquals(kept, [[2, 2], true, 0o700]);
  return { directory, stderr };
}

Deno.test({
  name: "a cache that others can write is refused with advice, and the process keeps its code to itself",
  ignore: SKIP_NATIVE,
  fn: () =>
    withFolder(async (folder) => {
      const cache = join(folder, "cache"), temporary = join(folder, "tmp");
      await Deno.mkdir(cache);
      await Deno.mkdir(temporary);
      await Deno.chmod(cache, 0o777);
      const { directory, stderr } = await compiling(folder, { DYN_CACHE_DIR: cache, TMPDIR: temporary });
      assertEquals(
        stderr,
        `dyn: compiled code is not cached in ${cache}, since ${cache} can be written by others; make it writable ` +
          "only by yourself (chown, chmod go-w) or set DYN_CACHE_DIR to another folder. Until then every process " +
          "compiles anew\n",
      );
      assert(directory.startsWith(`${temporary}/dyn-process-`), directory);
      assertEquals([...Deno.readDirSync(temporary)], []);
    }),
});

Deno.test({
  name:
    "where the user's cache cannot be written, a folder of the user's among the temporary ones is the cache",
  ignore: SKIP_NATIVE || Deno.build.os !== "linux",
  fn: () =>
    withFolder(async (folder) => {
      const env = {
        HOME: "/proc",
        XDG_CACHE_HOME: "",
        DYN_CACHE_DIR: "",
        TMPDIR: folder,
        DENO_DIR: denoFolder(),
      };
      assertEquals(await compiling(folder, env), {
        directory: `${folder}/dyn-${Deno.uid()}/cpu`,
        stderr: "",
      });
    }),
});

/** Returns the module cache of the running Deno, so that a process with another home finds it. */
function denoFolder(): string {
  const { stdout } = new Deno.Command(Deno.execPath(), { args: ["info", "--json"] }).outputSync();
  const info: { readonly denoDir: string } = JSON.parse(new TextDecoder().decode(stdout));
  return info.denoDir;
}

Deno.test({
  name: "a library that others can write is made anew",
  ignore: SKIP_NATIVE || !POSIX,
  fn: async () => {
    const text = `extern "C" __attribute__((visibility("default"))) int f() { return ${Date.now()}; }`;
    const build = () => buildLibraries([{ name: "trusted", text }])[0] ?? "";
    const counts = () =>
      ["hits", "compiled", "damaged"].map((name) => counters.get("cached_libraries", name));
    const path = build(), before = counts();
    assertEquals(build(), path);
    await Deno.chmod(path, 0o722);
    assertEquals(build(), path);
    assertEquals((Deno.statSync(path).mode ?? 0) & 0o022, 0);
    assertEquals(counts(), before.map((count) => count + 1));
    await Deno.remove(path);
    assertMatch(path, /\.so$/);
  },
});
