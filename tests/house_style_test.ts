/**
 * The lint plugin for house style: what it reports and what it accepts.
 */
import { assertEquals } from "@std/assert";
import plugin from "../tools/house_style.ts";

/** The rules that report something about a file, in order. */
function reports(source: string, file = "lib/graph/graph.ts"): string[] {
  return Deno.lint.runPlugin(plugin, file, source).map(({ id }) => id.replace("house-style/", ""));
}

const OPENING = "/** A file. */\n";

Deno.test("a file opens with a comment", () => {
  assertEquals(reports("export const a = 1;\n"), ["opening-comment"]);
  assertEquals(reports("// What it is.\nexport const a = 1;\n"), []);
  assertEquals(reports("#!/usr/bin/env -S deno run\n/** A constant. */\nexport const a = 1;\n"), []);
});

Deno.test("error messages start with a capital and have no final period", () => {
  const message = (text: string) => reports(`${OPENING}throw new DynError(${text});\n`);
  assertEquals(message('"Expected 2 but found 3"'), []);
  assertEquals(message('"expected 2 but found 3"'), ["error-message"]);
  assertEquals(message('"Expected 2 but found 3."'), ["error-message"]);
  assertEquals(message("`expected ${a}`"), ["error-message"]);
  assertEquals(message("`Expected ${a}.`"), ["error-message"]);
  assertEquals(message("`${name} is unknown`"), []);
  assertEquals(message("`Expected one of a, b, …`"), []);
  assertEquals(message("text, { cause }"), []);
  assertEquals(reports(`${OPENING}throw new Error("boom");\n`, `${Deno.cwd()}/tests/a_test.ts`), []);
  assertEquals(reports(`${OPENING}export const m = new Map("x.");\n`), []);
});

Deno.test("exported functions take three positional parameters and options", () => {
  const parameters = (list: string, file?: string) =>
    reports(`${OPENING}export function f(${list}): void {}\n`, file);
  assertEquals(parameters("a: A, b: B, c: C"), []);
  assertEquals(parameters("a: A, b: B, c: C, options: O"), []);
  assertEquals(parameters("a: A, b: B, c: C, { d, e }: O = {}"), []);
  assertEquals(parameters("a: A, b: B, c: C, d: D"), ["few-parameters"]);
  assertEquals(parameters("context: PrintContext, b: B, c: C, d: D"), []);
  assertEquals(parameters("context: PrintContext, b: B, c: C, d: D, e: E"), ["few-parameters"]);
  assertEquals(parameters("a: A, b: B, c: C, d: D", `${Deno.cwd()}/lib/ops/conv.ts`), []);
  assertEquals(reports(`${OPENING}function f(a: A, b: B, c: C, d: D): void {}\nf(1, 2, 3, 4);\n`), []);
});

Deno.test("options of functions that programs call are checked", () => {
  const take = (parameter: string, file = `${Deno.cwd()}/lib/nn/a.ts`) =>
    reports(`${OPENING}export function f(${parameter}): void {}\n`, file);
  assertEquals(take("{ dim = 0 }: ScanOptions = {}"), ["checked-options"]);
  assertEquals(take("options: ScanOptions = {}"), []);
  assertEquals(take("{ dim = 0, ...more }: ScanOptions = {}"), []);
  assertEquals(take("{ dim = 0 }: { readonly dim?: number } = {}"), []);
  assertEquals(take("{ dim = 0 }: ScanOptions = {}", `${Deno.cwd()}/lib/sym/a.ts`), []);
});

Deno.test("file names say what a file holds", () => {
  assertEquals(reports(OPENING, "lib/base/utils.ts"), ["telling-file-name"]);
  assertEquals(reports(OPENING, "lib/base/helpers.ts"), ["telling-file-name"]);
  assertEquals(reports(OPENING, "lib/base/text_writer.ts"), []);
});

Deno.test("files that are written by hand are small", () => {
  const long = OPENING + "const a = 1;\n".repeat(600);
  assertEquals(reports(long, "lib/base/lists.ts"), ["small-file"]);
  assertEquals(reports(long, "lib/ops/generated_options.ts"), []);
  assertEquals(reports(OPENING + "const a = 1;\n".repeat(500), "lib/base/lists.ts"), []);
});

Deno.test("documentation begins with a noun or a verb", () => {
  const documented = (doc: string, code: string) => reports(`${OPENING}/** ${doc} */\n${code}\n`);
  const call = "export function f(): void {}", value = "export const a = 1;";
  for (const clause of ["What it is.", "Whatever is left.", "That which is left."]) {
    assertEquals(documented(clause, value), ["plain-documentation"]);
  }
  assertEquals(documented("Somewhat more than 1.", value), []);
  assertEquals(documented("Whether it is one.", value), []);
  assertEquals(documented("Whether it is one.", call), ["plain-documentation"]);
  assertEquals(documented("Returns whether it is one.", call), []);
  assertEquals(documented("How many there are.", `class A {\n  /** How many. */\n  f(): void {}\n}`), [
    "plain-documentation",
  ]);
  assertEquals(reports("/** A file. Input: a text; output: a number. */\n"), ["plain-documentation"]);
  assertEquals(reports(`${OPENING}// What follows is 1.\n${value}\n`), []);
});

Deno.test("the type checker and the linter are not silenced", () => {
  assertEquals(reports(`${OPENING}// ${"@ts"}-ignore: because\nexport const a = 1;\n`), ["no-silencing"]);
  assertEquals(reports(`${OPENING}// ${"deno-lint"}-ignore no-explicit-any\nexport const a = 1;\n`), [
    "no-silencing",
  ]);
  assertEquals(reports(`${OPENING}// Why deno-lint says nothing.\nexport const a = 1;\n`), []);
});

Deno.test("comments use the words that readers would", () => {
  assertEquals(reports(`${OPENING}// The value cannot be ${"had"} here.\nexport const a = 1;\n`), [
    "plain-words",
  ]);
  assertEquals(reports(`${OPENING}/** It hands\n * ${"on"} the value. */\nexport const a = 1;\n`), [
    "plain-words",
  ]);
  assertEquals(reports(`${OPENING}// It ${"goes"} on\nexport const a = 1;\n`), ["plain-words"]);
  assertEquals(reports(`${OPENING}// It goes on the line before\nexport const a = 1;\n`), []);
  assertEquals(reports(`${OPENING}// It is\n// taken; he had it.\nexport const a = 1;\n`), []);
});

Deno.test("comments do not put work off", () => {
  assertEquals(reports(`${OPENING}// ${"TO" + "DO"}: more\nexport const a = 1;\n`), ["no-unfinished-work"]);
  assertEquals(reports(`${OPENING}export const a = 1; /* ${"FIX" + "ME"} */\n`), ["no-unfinished-work"]);
  assertEquals(reports(`${OPENING}export const text = "${"TO" + "DO"}";\n`), []);
});
