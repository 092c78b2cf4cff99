/**
 * Errors, settings, logs, text, trees and the two adapters for `@std`.
 */
import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertFalse,
  AssertionError,
  assertMatch,
  assertObjectMatch,
  assertRejects,
  assertStrictEquals,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { parseArgs } from "@std/cli";
import { type Config, config, inductorPatch } from "../lib/base/config.ts";
import {
  BackendCompilerFailed,
  type BreakReason,
  DynError,
  errorText,
  InternalError,
  invariant,
  isOwnFrame,
  Unsupported,
} from "../lib/base/errors.ts";
import { type Artifact, ARTIFACTS, Counters, logs, parseLogs } from "../lib/base/logs.ts";
import { TextWriter } from "../lib/base/text_writer.ts";
import { flatten, leafCount, mapTree, specText, unflatten } from "../lib/base/tree.ts";

const REASON: BreakReason = {
  id: "GB0007",
  category: "Call of an unknown builtin",
  explanation: "fetch cannot be traced",
  hint: "Move the call out of the function",
  stack: [{ functionName: "f", file: "model.ts", line: 3, column: 5, code: "fetch(url)" }],
};

Deno.test("the four error classes are disjoint and keep their arguments", () => {
  const errors = [
    new DynError("Expected 2 but found 3"),
    new Unsupported(REASON),
    new BackendCompilerFailed("mine", new Error("Boom")),
    new InternalError("Lost a node"),
  ];
  assertEquals(errors.map((e) => e.name), [
    "DynError",
    "Unsupported",
    "BackendCompilerFailed",
    "InternalError",
  ]);
  const classes = [DynError, Unsupported, BackendCompilerFailed, InternalError];
  assertEquals(errors.map((e) => classes.filter((c) => e instanceof c).length), [1, 1, 1, 1]);
  assertEquals(errors[2]?.message, 'Backend "mine" failed: Boom');
  assertEquals(
    errors[1]?.message,
    [
      "Call of an unknown builtin (GB0007)",
      "  at f (model.ts:3:5)",
      "      fetch(url)",
      "  Explanation: fetch cannot be traced",
      "  Hint: Move the call out of the function",
    ].join("\n"),
  );
  invariant(true, "Never seen");
  assertThrows(() => invariant(false, "Lost a node"), InternalError, "Lost a node (this is a bug in dyn)");
});

Deno.test("an error's text shows the user's frames and hides dyn's own", () => {
  const own = new URL("../lib/tensor/tensor.ts", import.meta.url).href;
  assert(isOwnFrame(`    at add (${own}:3:4)`));
  assert(isOwnFrame("    at node:internal/x:1:2"));
  assertFalse(isOwnFrame(`    at user (${import.meta.url}:3:4)`));
  assertFalse(isOwnFrame("    at user (file:///home/somebody/model.ts:3:4)"));
  const error = new DynError("Bad", { cause: new Error("Deeper") });
  error.stack = `DynError: Bad\n    at add (${own}:3:4)\n    at user (file:///m.ts:9:1)`;
  const text = errorText(error);
  assertMatch(text, /^DynError: Bad\n {4}at user \(file:\/\/\/m\.ts:9:1\)\nCaused by Error: Deeper\n/);
  assertMatch(errorText(error, { verbose: true }), /at user .*\n {4}at add /);
});

Deno.test("config.patch is scoped, also through promises and throws", async () => {
  assertEquals(config.cacheSizeLimit, 8);
  const seen = config.patch(
    { cacheSizeLimit: 2, inductor: { fusion: false, trace: { enabled: true } } },
    () => [
      config.cacheSizeLimit,
      config.inductor.fusion,
      config.inductor.trace.enabled,
      config.inductor.epilogueFusion,
    ],
  );
  assertEquals(seen, [2, false, true, true]);
  assertEquals([config.cacheSizeLimit, config.inductor.fusion, config.inductor.trace.enabled], [
    8,
    true,
    false,
  ]);
  assertThrows(() =>
    config.patch({ verbose: true }, () => {
      throw new RangeError("Inside");
    }), RangeError);
  assertFalse(config.verbose);
  const promise = config.patch({ verbose: true }, async () => {
    await Promise.resolve();
    return config.verbose;
  });
  assert(config.verbose);
  assert(await promise);
  assertFalse(config.verbose);
  await assertRejects(
    () => config.patch({ verbose: true }, () => Promise.reject(new RangeError("Late"))),
    RangeError,
  );
  assertFalse(config.verbose);
});

Deno.test("unknown settings and wrong types are errors and change nothing", () => {
  const untyped = (values: Record<string, unknown>) => () =>
    config.patch({ verbose: true, ...values }, () => 0);
  assertThrows(untyped({ cacheSizeLimits: 1 }), DynError, 'but found "cacheSizeLimits"');
  assertThrows(untyped({ patch: () => 1 }), DynError, 'but found "patch"');
  assertThrows(
    untyped({ cacheSizeLimit: "8" }),
    DynError,
    'Expected cacheSizeLimit to be a number but found "8"',
  );
  assertThrows(untyped({ inductor: { fusions: true } }), DynError, 'but found "inductor.fusions"');
  assertThrows(
    untyped({ inductor: 3 }),
    DynError,
    "Expected inductor to be an object but found 3",
  );
  assertFalse(config.verbose);
  const record: Config & Record<string, unknown> = config as Config & Record<string, unknown>;
  assertThrows(() => record["cacheSize"] = 1, DynError, "Expected the name of a setting but found cacheSize");
});

Deno.test("assignments of wrong types to settings are errors and change nothing", () => {
  const before = { ...config }, tier = config.inductor.tier;
  const assign = (path: string, value: unknown) => () => {
    const keys = path.split("."), key = keys.pop() ?? "";
    const target = keys.reduce<object>((settings, name) => Reflect.get(settings, name), config);
    Reflect.set(target, key, value);
  };
  const wrong: readonly (readonly [path: string, value: unknown, text: string])[] = [
    ["cacheSizeLimit", "8", 'Expected cacheSizeLimit to be a number but found "8"'],
    ["cacheSizeLimit", NaN, "Expected cacheSizeLimit to be a number but found NaN"],
    ["verbose", 1, "Expected verbose to be a boolean but found 1"],
    ["verbose", undefined, "Expected verbose to be a boolean but found undefined"],
    ["reorderableLoggingFunctions", [], "Expected reorderableLoggingFunctions to be a Set"],
    ["inductor", {}, "Expected settings of inductor one by one but found {}"],
    ["inductor.fusion", "no", 'Expected inductor.fusion to be a boolean but found "no"'],
    ["inductor.tier", "fast", 'Expected inductor.tier to be one of wait, background, wasm but found "fast"'],
    ["inductor.trace.enabled", 0, "Expected inductor.trace.enabled to be a boolean but found 0"],
  ];
  for (const [path, value, text] of wrong) assertThrows(assign(path, value), DynError, text);
  assertThrows(() => inductorPatch({ tier: "fast" }), DynError, 'but found "fast"');
  assertEquals({ ...config }, before);
  assertEquals(config.inductor.tier, tier);
  config.patch({ cacheSizeLimit: 3 }, () => {
    config.cacheSizeLimit = 4;
    assertEquals(config.cacheSizeLimit, 4);
  });
  assertEquals(config.cacheSizeLimit, before.cacheSizeLimit);
});

Deno.test("untyped options of compile become a checked patch", () => {
  assertEquals(inductorPatch({ maxAutotune: true, "trace.enabled": true, "trace.fxGraph": false }), {
    maxAutotune: true,
    trace: { enabled: true, fxGraph: false },
  });
  assertThrows(() => inductorPatch({ "trace.enable": true }), DynError, 'but found "inductor.trace.enable"');
});

Deno.test("DYN_LOGS names artifacts with levels", () => {
  assertEquals([...parseLogs("+dynamo, guards,-fusion")], [
    ["dynamo", "debug"],
    ["guards", "info"],
    ["fusion", "error"],
  ]);
  assertEquals(parseLogs("all").size, ARTIFACTS.length);
  assertEquals(parseLogs("").size, 0);
  assertThrows(() => parseLogs("graph,grpah"), DynError, "recompiles");
  assertThrows(() => parseLogs("graph,grpah"), DynError, 'but found "grpah"');
});

Deno.test("a log text is built only when it is read", () => {
  const seen: [Artifact, string][] = [];
  let built = 0;
  const emitAll = () => {
    logs.emit("graph", () => `graph ${++built}`);
    logs.emit("dynamo", "detail", "debug");
    logs.emit("guards", () => `guards ${++built}`);
    return logs.enabled("graph") && !logs.enabled("graph", "debug");
  };
  assert(logs.capture("graph,dynamo", (artifact, text) => seen.push([artifact, text]), emitAll));
  assertEquals(seen, [["graph", "graph 1"]]);
  assertEquals(built, 1);
});

Deno.test("counters add up by group and name", () => {
  const counters = new Counters();
  counters.add("graph_break", "GB0001");
  counters.add("graph_break", "GB0002", 3);
  assertEquals(counters.get("graph_break", "GB0002"), 3);
  assertEquals(counters.get("recompiles", "f"), 0);
  assertEquals(counters.total("graph_break"), 4);
  assertEquals(counters.entries("graph_break"), [["GB0002", 3], ["GB0001", 1]]);
  assertEquals(counters.groups(), ["graph_break"]);
  counters.clear();
  assertEquals(counters.total("graph_break"), 0);
});

Deno.test("the text writer indents every line and keeps empty lines empty", () => {
  const text = new TextWriter()
    .line("void f() {")
    .indent(() => {})
    .block("for (;;) {", () => {})
    .gap()
    .gap();
  assertEquals(text.toString(), "void f() {\nfor (;;) {\n}\n\n");
  const nested = new TextWriter();
  nested.block("a {", () => nested.block("b {", () => nested.line("x\n\ny")));
  assertEquals(nested.toString(), "a {\n  b {\n    x\n\n    y\n  }\n}\n");
  assertEquals(new TextWriter().toString(), "");
});

Deno.test("trees are restored unchanged", () => {
  class Opaque {}
  const opaque = new Opaque();
  const value = { b: [1, { c: opaque }], a: new Map<unknown, unknown>([["k", [2]]]), e: [] };
  const { leaves, spec } = flatten(value);
  assertEquals(leaves, [1, opaque, 2]);
  assertEquals(leafCount(spec), 3);
  assertEquals(specText(spec), '{ "b": [*, { "c": * }], "a": Map("k" => [*]), "e": [] }');
  const back = unflatten(spec, leaves);
  assertEquals(back, value);
  assertEquals(mapTree([1, [2]], (leaf) => Number(leaf) * 10), [10, [20]]);
  assertEquals(flatten([1, [2]], (each) => Array.isArray(each) && each.length === 1).leaves, [1, [2]]);
  assertThrows(() => unflatten(spec, [1]), InternalError, "Expected 3 leaves but found 1");
  const evil: unknown = JSON.parse('{"__proto__": 1}');
  const copied = mapTree(evil, (leaf) => leaf);
  assertEquals(JSON.stringify(copied), '{"__proto__":1}');
});

Deno.test("parseArgs stops at the script and reports unknown flags", () => {
  const unknown: string[] = [];
  const options = {
    boolean: ["help"],
    string: ["backend", "_"],
    alias: { help: "h" },
    stopEarly: true,
    unknown: (arg: string) => unknown.push(arg) < 0,
  };
  const args = parseArgs(["-h", "--backend=eager", "--wat", "run", "--help", "x"], options);
  assertObjectMatch(args, { help: true, backend: "eager", _: ["run", "--help", "x"] });
  assertEquals(unknown, ["--wat"]);
  assertFalse("wat" in args);
  assertObjectMatch(parseArgs(["--backend", "a", "--", "-h"], options), {
    help: false,
    backend: "a",
    _: ["-h"],
  });
  assertObjectMatch(parseArgs(["--backend"], options), { backend: "" });
  const typed = parseArgs(["--epochs=3", "--fast", "--tag", "a", "--tag=b", "7", "x"], {
    boolean: ["fast", "slow"],
    string: ["epochs", "tag"],
    collect: ["tag"],
  });
  const values: [boolean, boolean, string | undefined, readonly string[], readonly (string | number)[]] = [
    typed.fast,
    typed.slow,
    typed.epochs,
    typed.tag,
    typed._,
  ];
  assertEquals(values, [true, false, "3", ["a", "b"], [7, "x"]]);
});

Deno.test("the assertions fail where they must", () => {
  assertThrows(() => assertEquals({ a: 1 }, { a: 2 }), AssertionError);
  assertThrows(() => assertAlmostEquals(1, 1.1, 0.01), AssertionError);
  assertAlmostEquals(0.1 + 0.2, 0.3);
  assertThrows(() => assertThrows(() => {}), AssertionError, "Expected function to throw");
  assertThrows(() => assertThrows(() => fail1(), TypeError), AssertionError, "instance of TypeError");
  assertThrows(() => assertStringIncludes("abc", "x"), AssertionError);
  const error = assertThrows(() => fail1(), RangeError, "one");
  assertStrictEquals(error.name, "RangeError");
});

function fail1(): never {
  throw new RangeError("Number one");
}
