/**
 * Code objects: listing, liveness, and that code printed from any offset does what the original does.
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

/** The function named f of a text. */
function compiled(text: string, sourceType: "module" | "script" = "module"): CodeObject {
  const module = parseModule({ url: "test:", text, sourceType });
  for (const statement of module.program.body) {
    if (statement.type === "FunctionDeclaration" && statement.id?.name === "f") return compileFunction(statement, module);
    if (statement.type !== "VariableDeclaration") continue;
    for (const { id, init } of statement.declarations) {
      if (init && isFunctionNode(init) && id.type === "Identifier" && id.name === "f") return compileFunction(init, module);
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
    `${JSON.stringify(v.name)}: { get: () => ${v.name}, set: ($v) => { ${v.reassigned ? `${v.name} = $v` : ""} } }`
  );
  const strict = c.sloppy ? "" : '"use strict";';
  const body = `${strict}${SETUP}${c.source}
return { f, log, counter: () => counter, call: (f, $text) => eval($text), variables: {${variables.join(",")}} };`;
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

for (const c of CORPUS) {
  Deno.test(`printed from every offset: ${c.name}`, async () => {
    const code = compiled(SETUP + c.source, c.sloppy ? "script" : "module");
    for (const call of c.calls) {
      const original = world(c, code);
      const expected = await outcome(original, original.f, call);
      const visits = new Map<number, number>();
      const plain = world(c, code);
      const reached = (at: number): void => void visits.set(at, (visits.get(at) ?? 0) + 1);
      const run = { code, free: freeOf(code, plain), stop: -1, reached, callee: plain.f };
      assertEquals(await outcome(plain, interpreted(run), call), expected, `interpreted: ${call}\n${disassemble(code)}`);
      const inputs = code.instructions.findIndex((i) => !INPUTS.has(i.op));
      for (const [stop, count] of visits) {
        if (stop > 0 && stop < inputs) continue;
        for (const visit of count > 1 ? [1, 2] : [1]) {
          const w = world(c, code);
          const rest = interpreted({ code, free: freeOf(code, w), stop, visit, callee: w.f });
          assertEquals(
            await outcome(w, rest, call),
            expected,
            `from ${stop}: ${call}\n${disassemble(code)}\n${printFunction(code, { entry: stop }).source}`,
          );
        }
      }
    }
  });
}
