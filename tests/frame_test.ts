/**
 * Frame access: code, positions and variables of every kind of function.
 */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import "../preload.ts";
import { counters } from "../lib/base/logs.ts";
import { watchNextRun } from "../lib/dynamo/frame/bindings.ts";
import { captureFunction } from "../lib/dynamo/frame/capture.ts";
import type { FreeBinding } from "../lib/dynamo/frame/info.ts";
import { Inspector } from "../lib/dynamo/frame/inspector.ts";
import { watchCalls } from "../lib/dynamo/frame/next_call.ts";
import { infoOf } from "../lib/dynamo/functions/functions.ts";
import { StandIns } from "../lib/dynamo/trace/stand_ins.ts";
import { messages } from "./support/inspector_messages.ts";
import { type Outcome, runProgram } from "./support/process.ts";

// Modules that are loaded from here on are rewritten; this one is not.
await import("./frame/cases.ts");

function binding(fn: object, name: string): FreeBinding {
  const info = captureFunction(fn);
  assert(info.kind === "function", info.kind);
  return info.binding(info.code.free.findIndex((free) => free.name === name));
}

Deno.test("functions made from text: assigned variables are exposed by their next call", () => {
  const factory = new Function("a", "b", "let n = a; return { read: () => n + b, add() { n++; } };");
  const made: { read: () => number; add: () => void } = factory(1, 10);
  const final = binding(made.read, "b");
  assert(final.kind === "value" && final.value === 10);
  assertEquals(binding(made.read, "n").kind, "pending");
  assertEquals(watchNextRun(null)(() => made.read()), 11);
  const found = binding(made.read, "n");
  assert(found.kind === "cell");
  made.add();
  assertEquals(found.cell.get(), 2);
  const info = captureFunction(factory);
  assert(info.kind === "function");
  assertEquals(info.code.parameters, ["a", "b"]);
});

Deno.test("functions that each call makes from text need no debugger, and those of one text share their code", () => {
  const outside = 5, before = counters.get("inspector", "debugger");
  const codes = [
    () => new Function("a", "b = 2", "return a * b; // that is all"),
    () =>
      Reflect.construct(Object.getPrototypeOf(async function () {}).constructor, [
        "a",
        "await a; return seen",
      ]),
    () => Reflect.construct(Object.getPrototypeOf(function* () {}).constructor, ["yield 1"]),
  ].map((make) =>
    [make(), make()].map((fn: unknown) => {
      assert(typeof fn === "function");
      const info = captureFunction(fn);
      assert(info.kind === "function", info.kind);
      return info.code;
    })
  );
  assert(codes.every(([one, other]) => one === other));
  assertEquals(codes.map(([code]) => code?.parameters.length), [2, 1, 0]);
  assertEquals(codes.map(([code]) => code?.free.map(({ name }) => name)), [[], [], []]);
  assertEquals(counters.get("inspector", "debugger") - before, 0);
  // One that is written where it sees more has its own
  const local: unknown = eval("(function anonymous(a) { return a + outside; })");
  assert(typeof local === "function");
  assertEquals([captureFunction(local).kind, local(1)], ["unavailable", 1 + outside]);
});

Deno.test("a further closure of known code takes three messages, four with variables", () => {
  const doubled = () => (x: number) => x * 2, scaled = (by: number) => (x: number) => x * by + total;
  const total = 4;
  const value = (fn: object, name: string) => {
    const info = infoOf(fn);
    assert(info.kind === "function");
    return info.binding(info.code.free.findIndex((free) => free.name === name));
  };
  const [first, other] = [infoOf(doubled()), infoOf((x: number) => x * 2)];
  assert(first.kind === "function" && other.kind === "function");
  assertEquals(value(scaled(1), "by"), { kind: "value", value: 1 });
  const further = doubled(), more = scaled(3);
  assertEquals(messages(() => void infoOf(further)), 3);
  assertEquals(messages(() => void value(more, "by")), 4);
  assertEquals([value(more, "by"), value(more, "total")].map((found) => "value" in found && found.value), [
    3,
    4,
  ]);
  const again = infoOf(further);
  // Equal texts at two places are two functions
  assert(again.kind === "function" && again.code === first.code && again.code !== other.code);
  assertEquals(messages(() => void infoOf(further)), 0);
});

Deno.test("a further closure is found where the program has changed all records and regular expressions", () => {
  const adding = (by: number) => (x: number) => x + by * 10;
  const value = (fn: object) => {
    const info = infoOf(fn);
    return info.kind === "function" ? info.binding(0) : info.kind;
  };
  const { exec } = RegExp.prototype, { prototype } = Object;
  let calls = 0;
  assertEquals(value(adding(1)), { kind: "value", value: 1 });
  RegExp.prototype.exec = function (text) {
    calls++;
    return Reflect.apply(exec, this, [text]);
  };
  try {
    assertEquals(value(adding(2)), { kind: "value", value: 2 });
    for (const key of ["toJSON", "error", "value", "script", "objectId"]) {
      Object.defineProperty(prototype, key, { get: () => void calls++, configurable: true });
      try {
        assertEquals(value(adding(3)), { kind: "value", value: 3 }, key);
      } finally {
        Reflect.deleteProperty(prototype, key);
      }
    }
  } finally {
    RegExp.prototype.exec = exec;
  }
  assertEquals(calls, 0);
});

Deno.test("only the first calls of a repeatedly called function are watched", () => {
  const factory = new Function(
    "let n = 0, seen = 0; return { next: () => ++n + 0 * seen, seen: () => seen };",
  );
  const made: { next: () => number; seen: () => number } = factory();
  const end = watchCalls(new Inspector(), { fn: made.next, expression: "[[seen++]]", values: [] });
  for (let i = 1; i <= 100; i++) assertEquals(made.next(), i);
  end();
  assertEquals(made.seen(), 64);
});

Deno.test("a trace queries only once the content of a variable that its next call exposes", () => {
  const standIns = new StandIns();
  let asked = 0;
  const held = () => ({ kind: "value", value: ++asked }) as const;
  const pending = {
    kind: "pending",
    because: "",
    held,
    access: null,
    method: null,
    declaration: {},
  } as const;
  const cell = standIns.cellFor(pending);
  assertEquals([standIns.cellFor(pending) === cell, cell.get(), asked], [true, 1, 1]);
});

/** Runs the probe in a process of its own and gives what it prints. */
async function probe(...args: readonly string[]): Promise<string> {
  const script = new URL("frame/probe.ts", import.meta.url).pathname;
  const command = new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-check", ...args, script],
    stderr: "inherit",
  });
  return new TextDecoder().decode((await command.output()).stdout).trim();
}

const PRELOAD = `--preload=${new URL("../preload.ts", import.meta.url).pathname}`;

Deno.test("modules that were loaded before the preload expose assigned variables later, in workers too", async () => {
  assertEquals(await probe("-A"), "main pending\nworker pending");
  assertEquals(await probe("-A", PRELOAD), "main cell\nworker pending");
});

Deno.test("ten thousand closures of two modules are captured, while the engine optimises and discards code", async () => {
  const args = [
    "run",
    "-A",
    "--no-check",
    PRELOAD,
    "--v8-flags=--jit-fuzzing,--stress-flush-code",
    new URL("../bench/captures/frames.ts", import.meta.url).pathname,
    "10000",
  ];
  const { code, stdout, stderr } = await runProgram(Deno.execPath(), args);
  assertEquals(code, 0, stderr);
  assertStringIncludes(stdout, "10000 closures captured");
});

Deno.test("without the permission there is a clear reason; rewritten modules need none", async () => {
  const why = "Expected permission to use the inspector (run with -A or --allow-sys)";
  assertEquals(await probe("--allow-read"), `main ${why}\nworker ${why}`);
  assertEquals(await probe("--allow-read", PRELOAD), `main cell\nworker ${why}`);
});

/** Types lines into Deno's own REPL. */
async function typed(lines: readonly string[]): Promise<Outcome> {
  const stdin = lines.map((line) => `${line}\n`).join("");
  return await runProgram(Deno.execPath(), ["repl", "-A", "--quiet"], { stdin });
}

Deno.test("deno repl compiles models from the next line on, and reports immediately what it does not compile", async () => {
  const at = (path: string): string => JSON.stringify(new URL(path, import.meta.url).href);
  const { stdout, stderr } = await typed([
    `const { compile, compiler, nn, ones } = await import(${at("../mod.ts")});`,
    `const { scaled } = await import(${at("./frame/scaled.ts")});`,
    "const layer = new nn.Linear(1, 1), graphs = () => console.log(all.map((f) => compiler.status(f).graphs));",
    "const all = [(x) => x.add(1), scaled, layer].map((each) => compile(each, { backend: 'eager' }));",
    "for (const f of all) { f(ones([1])); f(ones([1])); } graphs();",
    "await new Promise((done) => setTimeout(done, 1)); all[2](ones([1])); graphs();",
  ]);
  assertEquals(stdout.match(/^\[.*\]$/gm), ["[ 0, 2, 0 ]", "[ 0, 2, 1 ]"]);
  for (const name of ["<anonymous>", "call"]) {
    assertMatch(
      stderr,
      new RegExp(`${name} .*runs uncompiled.* while a cell of a notebook or a line of deno repl`),
    );
  }
  assertStringIncludes(stderr, "Functions that are typed into a notebook or deno repl are not compiled");
});
