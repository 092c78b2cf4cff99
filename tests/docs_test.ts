/**
 * Runs the programs of the documentation and compares what they print. The `ts` blocks of a page are one program, in
 * order; so is each example in the comments of a source file.
 *
 * Invariant: a `console.log` on one line followed by a comment prints that comment; every link between pages leads to
 * a page.
 */
import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { compiler } from "../mod.ts";
import { filesBelow } from "./support/files.ts";
import { withFolder } from "./support/process.ts";

const ROOT = new URL("../", import.meta.url);
const read = (path: string) => Deno.readTextFileSync(new URL(path, ROOT));

function exists(path: string): boolean {
  try {
    return Deno.statSync(new URL(path, ROOT)).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

const PAGES = ["README.md", ...filesBelow(new URL("docs/", ROOT), ".md").map((path) => `docs/${path}`)];

/** A program and what it must print. */
interface Program {
  readonly name: string;
  readonly text: string;
}

function blocks(text: string): readonly string[] {
  return [...text.matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, code = ""]) => code);
}

/** The pages with programs. Those of ops have single calls, which another test makes. */
function pagePrograms(): readonly Program[] {
  const pages = PAGES.filter((name) => !name.startsWith("docs/ops/"));
  return pages.map((name) => ({ name, text: blocks(read(name)).join("\n") })).filter(({ text }) =>
    text !== ""
  );
}

/** Examples in comments, each by itself. */
function commentPrograms(): readonly Program[] {
  const files = ["mod.ts", ...filesBelow(new URL("lib/", ROOT)).map((path) => `lib/${path}`)];
  return files.flatMap((file) => {
    const text = read(file);
    if (!text.includes("```ts")) return [];
    const comments = [...text.matchAll(/^ *\/\*\*\n([^]*?)\*\//gm)].map(([, comment = ""]) =>
      comment.replaceAll(/^ *\* ?/gm, "")
    );
    return comments.flatMap(blocks).map((code, n) => ({ name: `${file}, example ${n + 1}`, text: code }));
  });
}

/** The program with dyn's own module, and with prints that are compared. */
function prepared({ text }: Program): string {
  return text
    .replaceAll(
      /from "(?:jsr:)?@x\/dyn(\/runtime)?"/g,
      (_, part = "") => `from ${JSON.stringify(new URL(`.${part}/mod.ts`, ROOT).href)}`,
    )
    .replaceAll(
      /console\.log\((.*)\);[ ]+\/\/ (.*)$/gm,
      (_, shown: string, expected: string) => `globalThis.documented(${JSON.stringify(expected)}, ${shown});`,
    );
}

Deno.test("the programs of the documentation run and print what they say", async () => {
  const programs = [...pagePrograms(), ...commentPrograms()];
  assert(programs.length >= 10, "Expected the pages to have programs");
  const wrong: string[] = [];
  let prints = 0;
  const documented = (expected: string, ...shown: unknown[]) => {
    prints++;
    const found = shown.map((value) => typeof value === "string" ? value : Deno.inspect(value)).join(" ");
    if (found !== expected) wrong.push(`Expected ${expected} but found ${found}`);
  };
  const { log } = console, folderBefore = Deno.cwd();
  // Kernels are what other tests are about.
  const backend = compiler.getDefaultBackend();
  Object.assign(globalThis, { documented });
  console.log = () => {};
  compiler.setDefaultBackend("aot_eager");
  try {
    await withFolder(async (folder) => {
      // Programs write files
      Deno.chdir(folder);
      for (const [n, program] of programs.entries()) {
        const file = join(folder, `program${n}.ts`), before = wrong.length;
        await Deno.writeTextFile(file, prepared(program));
        await import(pathToFileURL(file).href).catch((error) => wrong.push(String(error?.stack ?? error)));
        for (let k = before; k < wrong.length; k++) wrong[k] = `${program.name}: ${wrong[k]}`;
      }
    });
  } finally {
    Deno.chdir(folderBefore);
    compiler.setDefaultBackend(backend);
    console.log = log;
    Reflect.deleteProperty(globalThis, "documented");
  }
  assertEquals(wrong, []);
  assert(prints > 30, `Expected the programs to print but found ${prints} lines`);
});

Deno.test("links between pages lead to what there is", () => {
  const headings = (path: string) =>
    [...read(path).matchAll(/^#+ (.*)$/gm)].map(([, title = ""]) =>
      title.toLowerCase().replaceAll(/[^\p{L}\p{N} _-]/gu, "").replaceAll(" ", "-")
    );
  const broken = PAGES.flatMap((page) =>
    [...read(page).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)/g)].flatMap(
      ([link, path = "", anchor]) => {
        const target = path === "" ? page : new URL(path, new URL(page, ROOT)).href.slice(ROOT.href.length);
        try {
          const text = Deno.statSync(new URL(target, ROOT)).isFile && target.endsWith(".md") ? target : null;
          return anchor === undefined || (text !== null && headings(text).includes(anchor))
            ? []
            : [`${page}: ${link}`];
        } catch {
          return [`${page}: ${link}`];
        }
      },
    )
  );
  assertEquals(broken, []);
});

Deno.test("every kind of graph break has its place in the troubleshooting page", () => {
  const catalogue = read("lib/dynamo/break_reasons.ts");
  const kinds = [...catalogue.matchAll(/id: "(GB\d+)",\s+category: "(.*)",/g)].map(([, id, what]) =>
    `${id}: ${what}`
  );
  assert(kinds.length > 30);
  const page = read("docs/troubleshooting.md");
  assertEquals(kinds.filter((kind) => !page.includes(`### ${kind}\n`)), []);
});

Deno.test("every row of the table of features names its evidence, or a reason", () => {
  const rows = [...read("docs/features.md").matchAll(/^\| ([CMS]\d+) +\|[^|]*\|(.*)\|$/gm)];
  assertEquals(rows.length, 57 + 107 + 15);
  const wrong = rows.flatMap(([, number = "", shown = ""]) => {
    const named = [...shown.matchAll(/`((?:tests|examples|bench|docs|tools|cli)\/[\w/.]+)`(?: “([^”]*)”)?/g)];
    if (named.length === 0) return shown.includes("Not there: ") ? [] : [`${number}: ${shown}`];
    return named.flatMap(([, path = "", test = `${number}: `]) => {
      const text = exists(path) ? read(path) : "";
      // The beginning of a test's name, as the file writes it
      const isShown = !path.startsWith("tests/") || text.includes(`"${test}`) || text.includes(`\`${test}`);
      return text !== "" && isShown ? [] : [`${number}: ${path} ${test}`];
    });
  });
  assertEquals(wrong, []);
});
