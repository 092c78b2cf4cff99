/**
 * Code objects: listings, liveness, and that code printed from any offset behaves as the original.
 */
import { assert, assertEquals, assertThrows } from "@std/assert";
import type { CodeObject } from "../lib/dynamo/bytecode/code.ts";
import { UnsupportedSyntax } from "../lib/dynamo/bytecode/code.ts";
import { compileFunction } from "../lib/dynamo/bytecode/compile.ts";
import { disassemble } from "../lib/dynamo/bytecode/disassemble.ts";
import { instantiate } from "../lib/dynamo/bytecode/instantiate.ts";
import { liveRegisters } from "../lib/dynamo/bytecode/liveness.ts";
import { parseModule } from "../lib/dynamo/bytecode/parse.ts";
import { printFunction } from "../lib/dynamo/bytecode/print.ts";
import { isFunctionNode } from "../lib/dynamo/bytecode/syntax.ts";
import { type Case, CORPUS } from "./bytecode/corpus.ts";
import { type FreeGiven, interpreted } from "./bytecode/interpreter.ts";
import { randomProgram } from "./bytecode/random_programs.ts";
import { sampleBySeed } from "./support/sampling.ts";

/** The function named f of a text. */
function compiled(text: string, sourceType: "module" | "script" = "module"): CodeObject {
  const module = parseModule({ url: "test:", text, sourceType });
  for (const statement of module.program.body) {
    if (statement.type === "FunctionDeclaration" && statement.id?.name === "f") {
      return compileFunction(statement, module);
    }
    if (statement.type !== "VariableDeclaration") continue;
    for (const { id, init } of statement.declarations) {
      if (init && isFunctionNode(init) && id.type === "Identifier" && id.name === "f") {
        return compileFunction(init, module);
      }
    }
  }
  throw new Error("Expected a function f");
}

const SETUP = `
const log = [];
let counter = 100;
const base = 10;
const t = (v) => { log.push(v); return v; };
const it = (xs) => ({ [Symbol.iterator]() { let i = 0; return {
  next() { log.push("next"); return i < xs.length ? { value: xs[i++], done: false } : { value: undefined, done: true }; },
  return(v) { log.push("return"); return { value: v, done: true }; } }; } });
const ait = (xs) => ({ [Symbol.asyncIterator]() { let i = 0; return {
  async next() { log.push("next"); return i < xs.length ? { value: xs[i++], done: false } : { value: undefined, done: true }; },
  async return(v) { log.push("return"); return { value: await v, done: true }; } }; } });
const later = (v) => Promise.resolve(v);
const await1 = (v) => later(v);
const fails = (m) => Promise.reject(new Error(m));
const res = (name, bad) => ({ name, [Symbol.dispose]() { log.push("dispose " + name); if (bad) throw new Error("user " + name); } });
const ares = (name) => ({ name, async [Symbol.asyncDispose]() { log.push("dispose " + name); } });
const drive = (g, ...steps) => steps.map(([m, v]) => { try { return g[m](v); } catch (e) { return "threw " + e.message; } });
const adrive = async (g, ...steps) => { const out = []; for (const [m, v] of steps) { try { out.push(await g[m](v)); } catch (e) { out.push("threw " + e.message); } } return out; };
const collect = async (g) => { const out = []; for await (const x of g) out.push(x); return out; };
`;

interface World {
  readonly f: (...args: readonly unknown[]) => unknown;
  readonly log: unknown[];
  readonly counter: () => unknown;
  readonly call: (f: unknown, text: string) => unknown;
  readonly variables: Readonly<Record<string, { get: () => unknown; set: (v: unknown) => void }>>;
}

/** A fresh run of the case's module. */
function world(c: Case, code: CodeObject): World {
  const variables = code.free.filter((v) => v.declaredAt >= 0).map((v) =>
    `${JSON.stringify(v.name)}: { get: () => ${v.name}, set: ($v) => { ${
      v.reassigned ? `${v.name} = $v` : ""
    } } }`
  );
  const strict = c.sloppy ? "" : '"use strict";';
  const body = `${strict}${SETUP}${c.source}
return { f, log, counter: () => counter, call: (f, $text) => eval($text), variables: {${
    variables.join(",")
  }} };`;
  return new Function(body)();
}

function freeOf(code: CodeObject, w: World): readonly FreeGiven[] {
  return code.free.map((v): FreeGiven => {
    const variable = w.variables[v.name];
    if (!variable) throw new Error(`Expected a variable ${v.name}`);
    return v.reassigned ? { form: "live", value: variable } : { form: "value", value: variable.get() };
  });
}

/** Everything a run shows. */
async function outcome(w: World, f: unknown, call: string): Promise<string> {
  let result: string;
  try {
    result = show(await w.call(f, call));
  } catch (error) {
    result = `threw ${describeError(error)}`;
  }
  return `${result}\nlog ${show(w.log)}\ncounter ${show(w.counter())}`;
}

function show(value: unknown): string {
  return Deno.inspect(value, { depth: 8, strAbbreviateSize: 500 });
}

/** Errors of the language are compared by class: V8 words messages after the text. */
function describeError(error: unknown): string {
  if (!(error instanceof Error)) return show(error);
  if (error instanceof SuppressedError) {
    return `SuppressedError ${describeError(error.error)} ${describeError(error.suppressed)}`;
  }
  return error.message.includes("user") ? `${error.name}: ${error.message}` : error.name;
}

/** Instructions that read what the call gives; nothing enters a function between them. */
const INPUTS: ReadonlySet<string> = new Set([
  "loadThis",
  "loadArgument",
  "loadRest",
  "loadArguments",
  "loadNewTarget",
  "loadCallee",
  "loadHome",
]);

/** Compares the original with the interpreter, and with the printed rest from every offset that a run reaches. */
async function compare(
  c: Case,
  every: number,
  controlFlow: "structured" | "dispatch" = "structured",
): Promise<void> {
  const code = compiled(SETUP + c.source, c.sloppy ? "script" : "module");
  for (const call of c.calls) {
    const original = world(c, code);
    const expected = await outcome(original, original.f, call);
    const visits = new Map<number, number>();
    const plain = world(c, code);
    const reached = (at: number): void => void visits.set(at, (visits.get(at) ?? 0) + 1);
    const run = { code, free: freeOf(code, plain), stop: -1, reached, callee: plain.f };
    const context = (): string => `${call}\n${c.source}\n${disassemble(code)}`;
    expectSame(await outcome(plain, interpreted(run), call), expected, () => `interpreted: ${context()}`);
    const inputs = code.instructions.findIndex((i) => !INPUTS.has(i.op));
    for (const [stop, count] of visits) {
      if ((stop > 0 && stop < inputs) || stop % every !== 0) continue;
      for (const visit of count > 1 ? [1, 2] : [1]) {
        const w = world(c, code);
        const rest = interpreted({ code, free: freeOf(code, w), stop, visit, callee: w.f, controlFlow });
        expectSame(
          await outcome(w, rest, call),
          expected,
          () => `from ${stop}: ${context()}\n${printFunction(code, { entry: stop, controlFlow }).source}`,
        );
      }
    }
  }
}

function expectSame(actual: string, expected: string, context: () => string): void {
  if (actual !== expected) assertEquals(actual, expected, context());
}

for (const c of CORPUS) Deno.test(`printed from every offset: ${c.name}`, () => compare(c, 1));

Deno.test("printed as a switch in a loop", async () => {
  for (const c of CORPUS) await compare(c, 4, "dispatch");
});

/** Seeds of random programs, of which a run takes four of each kind. */
const SEEDS = Array.from({ length: 12 }, (_, k) => k + 1);

for (const [salt, kind] of (["function", "generator", "async"] as const).entries()) {
  Deno.test(`printed from offsets: random ${kind}s`, async () => {
    for (const seed of sampleBySeed(SEEDS, 4, salt)) {
      const source = randomProgram(seed, kind);
      const calls = kind === "generator"
        ? [
          "[...f(1)]",
          "drive(f(2), ['next'], ['next', 3], ['return', 'r'], ['next'])",
          "drive(f(4), ['next'], ['throw', new Error('user t')], ['next'])",
        ]
        : ["f(1)", "f(2)"];
      await compare({ name: String(seed), source, calls }, 3);
    }
  });
}

/** Compiles the only function of a text. */
function only(text: string): CodeObject {
  return compiled(text);
}

Deno.test("listing", () => {
  const code = only(
    "let k = 1; function f(x, { y = 2 }, ...r) { for (const v of r) { if (v > k) k += v; else return () => v; } return x.m(y); }",
  );
  assertEquals(
    disassemble(code),
    `function f(x, _, ...)
  free 0:k(let, reassigned)
    0  r0:x = loadArgument 0
    1  r1 = loadArgument 1
    2  r2:r = loadRest 2
    3  r4 = r1["y"]
    4  jump 6 if notUndefined r4
    5  r4 = 2
>   6  r3:y = r4
    7  r5, r6 = iterator of r2:r
    8  r8 = false
>   9  r8, r9 = next of r5 by r6
   10  jump 25 if truthy r8
   11  r7:v = r9
   12  r11 = free 0:k
   13  r12 = r7:v > r11
   14  jump 19 if falsy r12
   15  r13 = free 0:k
   16  r14 = r13 + r7:v
   17  free 0:k = r14
   18  jump 22
>  19  r15 = closure 0 "" (value r7:v)
   20  close r5
   21  return r15
>  22  jump 9
>  23  close r5 quietly
   24  throw r10
>  25  r16 = r0:x["m"]
   26  r17 = call r16 this r0:x (r3:y)
   27  return r17
  in 11..19 exceptions go to 23 with r10

  arrow <anonymous>()
    free 0:v(const)
      0  r0 = free 0:v
      1  return r0`,
  );
});

Deno.test("printed text", () => {
  const code = only(
    "const g = (x) => x; function f(a, n) { let s = 0; for (let i = 0; i < n; i++) { if (a[i] < 0) continue; s += g(a[i]).v.w(i, s); } return { s, n }; }",
  );
  assertEquals(
    printFunction(code).source,
    `function f$($a0, $a1) {
  let a, n, s, i;
  a = $a0;
  n = $a1;
  s = 0;
  i = 0;
  while (i < n) {
    if (!(a[i] < 0)) {
      s = s + g(a[i]).v.w(i, s);
    }
    i++;
  }
  return { s, n };
}`,
  );
  const call = code.instructions.findIndex((i) => i.op === "call");
  const printed = printFunction(code, { entry: call + 1, name: "resume" });
  assertEquals(
    printed.source.split("\n").slice(0, 6).join("\n"),
    // Errors of the engine quote the program's own text
    `function resume$(a, n, s, i, $8, $11) {
  let $12, $13;
  for (;;) {
    $12 = $11.v;
    $13 = $12.w;
    s = $8 + $rt.apply($13, $12, [i, s], "g(...).v.w");`,
  );
});

Deno.test("live registers", () => {
  const code = only(
    "function f(a, b, c) { const d = a + b; try { g(d); } catch { return c; } return d; } function g() {}",
  );
  const names = (at: number): unknown[] => [...liveRegisters(code, at)].map((r) => code.registers[r]?.name);
  const at = code.instructions.findIndex((i) => i.op === "call");
  // c is read by the handler only, and is live wherever the handler may be reached from.
  assertEquals(names(at).filter((n) => n !== null), ["c", "d"]);
  assertEquals(names(0), []);
  const last = code.instructions.findLastIndex((i) => i.op === "return");
  assertEquals(names(last), ["d"]);
});

Deno.test("a generator continues after a yield that has happened", () => {
  const code = only(
    "function* f(a) { try { const x = yield a; log.push(x); yield x + a; } finally { log.push('fin'); } } const log = [];",
  );
  const at = code.instructions.findIndex((i) => i.op === "yield");
  const printed = printFunction(code, { entry: at, suspended: true });
  const resume = (log: unknown[]): Iterator<unknown> => {
    const made = instantiate(code, printed, { free: [log] });
    const values = printed.parameters.map((r) => (code.registers[r]?.name === "a" ? 10 : undefined));
    const generator = made(...values);
    assert(typeof generator === "object" && generator !== null && "next" in generator);
    const iterator = Iterator.from(generator as Iterator<unknown>);
    iterator.next();
    return iterator;
  };
  const log: unknown[] = [];
  const one = resume(log);
  assertEquals(one.next(5), { value: 15, done: false });
  assertEquals(one.next(), { value: undefined, done: true });
  assertEquals(log, [5, "fin"]);
  const two = resume(log);
  assertEquals(two.return?.(7), { value: 7, done: true });
  assertEquals(log, [5, "fin", "fin"]);
});

Deno.test("free variables as cells", () => {
  const code = only("let n = 1; function f(d) { n += d; return () => n++; }");
  const cell = { v: 10 };
  const made = instantiate(code, printFunction(code, { freeForm: () => "cell" }), { free: [cell] });
  const inner = made(5);
  assert(typeof inner === "function");
  assertEquals([inner(), cell.v], [15, 16]);
});

Deno.test("code without instructions is rejected with its place", () => {
  const refused = (text: string, construct: string, line: number, column: number): void => {
    const error = assertThrows(() => compiled(text, "script"), UnsupportedSyntax);
    assert(error instanceof UnsupportedSyntax);
    assertEquals([error.construct, error.position.line, error.position.column], [construct, line, column]);
  };
  refused("function f(a) {\n  with (a) return b;\n}", "direct eval or with", 1, 0);
  refused("function f(a) {\n  return eval(a);\n}", "direct eval or with", 1, 0);
  refused(
    "function f(a) { a = 1;\n  return arguments[0]; }",
    "assigned parameter beside sloppy arguments",
    1,
    11,
  );
  refused("function f(a) {\n  var x; return delete x;\n}", "delete of a variable", 2, 16);
});

/** The code objects of a function and of all in it. */
const withChildren = (code: CodeObject): CodeObject[] => [code, ...code.children.flatMap(withChildren)];

Deno.test("no register is live before it is set", () => {
  const sources = [
    ...CORPUS.map(({ source, sloppy }) => compiled(source, sloppy ? "script" : "module")),
    ...Array.from(
      { length: 200 },
      (_, seed) => compiled(randomProgram(seed, seed % 2 ? "generator" : "function")),
    ),
    // Ways out through finally of all kinds, none of them taken before
    compiled(
      `function f(n) { for (;;) { n++; L: try { if (n > 1) break; if (n > 2) continue; if (n > 3) break L; if (n > 4) return n; } finally { n--; } } }`,
    ),
    compiled(
      `function f(xs, n) { for (const x of xs) { try { if (x > n) break; } finally { using y = x; } } }`,
    ),
  ];
  const early = sources.flatMap(withChildren).filter((code) => liveRegisters(code, 0).size > 0);
  assertEquals(early.map((code) => `${[...liveRegisters(code, 0)]} in\n${disassemble(code)}`), []);
});
