/**
 * Every setting has a reader: every field of `config`, every option of `compile`, every environment variable and every
 * log artifact is read, or written, somewhere in dyn; and every variable is documented.
 */
import { assert, assertEquals } from "@std/assert";
import { compiler, config } from "../mod.ts";
import { environmentSwitch } from "../lib/base/permissions.ts";
import { ARTIFACTS } from "../lib/base/logs.ts";
import { filesBelow } from "./support/files.ts";

const ROOT = new URL("../", import.meta.url);

/** Program text without comments. */
function codeOf(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|[\s;{}(,])\/\/.*$/gm, "$1");
}

/** The programs that may read settings, apart from those that hold them. */
const SOURCES: readonly string[] = filesBelow(ROOT)
  .filter((path) =>
    /^(lib|backends|cli)\/|^(mod|cli|preload)\.ts$/.test(path) && path !== "lib/base/config.ts"
  )
  .map((path) => codeOf(Deno.readTextFileSync(new URL(path, ROOT))));

const CONFIG = codeOf(Deno.readTextFileSync(new URL("lib/base/config.ts", ROOT)));

/**
 * Returns whether a program reads a field of an object with one of these names: directly, by destructuring, or by its
 * key.
 */
function isRead(holders: readonly string[], field: string): boolean {
  const holder = holders.map((each) => each.replaceAll(".", "\\.")).join("|");
  const reads = [
    new RegExp(`\\b(${holder})\\.${field}\\b(?!\\s*=[^=])`),
    new RegExp(`\\{[^{}]*\\b${field}\\b[^{}]*\\}\\s*=\\s*(\\w+\\.)*(${holder})\\b`),
    new RegExp(`setting: "${field}"`),
  ];
  return SOURCES.some((text) => reads.some((pattern) => pattern.test(text)));
}

const fields = (group: object): string[] =>
  Object.entries(group).filter(([, value]) => typeof value !== "object" || value instanceof Set).map((
    [name],
  ) => name);

Deno.test("every setting has a reader", () => {
  const unread = [
    ...fields(config).filter((name) => !isRead(["config"], name)),
    ...fields(config.inductor).filter((name) => !isRead(["config.inductor", "inductor"], name))
      .map((name) => `inductor.${name}`),
    ...fields(config.inductor.trace).filter((name) =>
      !isRead(["config.inductor.trace", "inductor.trace", "trace"], name)
    ).map((name) => `inductor.trace.${name}`),
  ];
  assertEquals(unread, []);
  assertEquals(isRead(["config"], "cacheSizeLimits"), false);
});

Deno.test("every option of compile has a reader", () => {
  const text = Deno.readTextFileSync(new URL("lib/compile.ts", ROOT));
  const [, body = ""] = /export interface CompileOptions \{([\s\S]*?)\n\}/.exec(text) ?? [];
  const names = [...codeOf(body).matchAll(/readonly (\w+)\?:/g)].flatMap(([, name]) => name ?? []);
  assert(names.includes("fullgraph") && names.length >= 7, names.join());
  assertEquals(names.filter((name) => !isRead(["options"], name)), []);
  const known = new Set([
    ...fields(config.inductor),
    ...fields(config.inductor.trace).map((name) => `trace.${name}`),
  ]);
  const own = compiler.listOptions().filter((name) => !known.has(name));
  assertEquals(own.filter((name) => !isRead(["options.options"], name)), []);
});

/** The environment variables that dyn reads. */
function variablesRead(): Set<string> {
  const found = new Set<string>();
  for (const text of [...SOURCES, CONFIG]) {
    for (
      const [, name] of text.matchAll(/(?:env(?:\.get)?|environment(?:Variable|Switch))\("(DYN_\w+)"\)/g)
    ) {
      if (name) found.add(name);
    }
  }
  return found;
}

Deno.test("every documented environment variable is read, and vice versa", () => {
  const told = new Set<string>();
  for (
    const path of [
      "README.md",
      "cli.ts",
      ...filesBelow(new URL("cli/", ROOT)).map((path) => `cli/${path}`),
      ...filesBelow(new URL("docs/", ROOT), ".md").map((path) => `docs/${path}`),
    ]
  ) {
    for (const [name] of Deno.readTextFileSync(new URL(path, ROOT)).matchAll(/\bDYN_[A-Z_]+\b/g)) {
      told.add(name);
    }
  }
  const read = variablesRead();
  // Variables of dyn's own tests and benchmarks are read there.
  const elsewhere = (name: string) => /^DYN_(TEST|FUZZ|BENCH)_/.test(name);
  assertEquals([...told].filter((name) => !read.has(name) && !elsewhere(name)), []);
  // dyn sets it for the programs that it starts.
  assertEquals([...read].filter((name) => !told.has(name)), []);
});

Deno.test("switches in the environment are on unless they say no", () => {
  const values = ["1", "yes", "TRUE", "on", "0", "no", "False", "off", ""];
  const found = values.map((value) => {
    Deno.env.set("DYN_TEST_SWITCH", value);
    return environmentSwitch("DYN_TEST_SWITCH");
  });
  Deno.env.delete("DYN_TEST_SWITCH");
  assertEquals([...found, environmentSwitch("DYN_TEST_SWITCH")], values.map((_, k) => k < 4).concat(false));
});

Deno.test("every log artifact is written somewhere", () => {
  const written = (name: string) => {
    const pattern = new RegExp(`(emit|announce|artifact)\\(\\s*"${name}"`);
    return SOURCES.some((text) => pattern.test(text));
  };
  assertEquals(ARTIFACTS.filter((name) => !written(name)), []);
  assertEquals(written("graph_codes"), false);
});
