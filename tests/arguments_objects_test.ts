/**
 * Arguments objects in traced functions: however a function uses its own, before and after the graph ends, results,
 * errors and identities are those of plain JavaScript.
 */
import { assert, assertEquals } from "@std/assert";
import { compile, compiler, type Tensor, tensor } from "../mod.ts";
import { ObjectValue } from "../lib/dynamo/variables/value.ts";
import { capture, list, vector } from "./support/dynamo.ts";
import { sampleBySeed } from "./support/sampling.ts";

type Call = (...all: unknown[]) => unknown;

/** Ends the graph. */
const pause: (value: unknown) => unknown = compiler.disable((value: unknown) => value);

/** Uses of `arguments` whose results are primitive, or lists of what else is seen. */
const USES: Readonly<Record<string, string>> = {
  "their number": "arguments.length",
  "the number twice": "arguments.length + arguments.length",
  "the number by a text": `arguments["len" + "gth"]`,
  "one of them": "arguments[1]",
  "one of them by a variable": "[1, 2].map((at) => arguments[at])",
  "one that is missing": "arguments[7]",
  "one before the first": "arguments[-1]",
  "a key between": "arguments[0.5]",
  "an inherited method": "arguments.hasOwnProperty('length') && arguments.toString()",
  "all as a list": "[...arguments].slice(1)",
  "the others": "Array.prototype.slice.call(arguments, 1)",
  "keys": "Object.keys(arguments)",
  "names": "Object.getOwnPropertyNames(arguments)",
  "its identity": "arguments === arguments && same(arguments) === arguments",
  "its type": "typeof arguments + Array.isArray(arguments) + (arguments instanceof Object)",
  "a length that is written": "(arguments.length = 1, arguments.length) + [...arguments].length",
  "an element that is written": "(arguments[1] = 'new', arguments[1] + arguments.length)",
  "an element that is deleted": "(delete arguments[1], [1 in arguments, arguments[1], arguments.length])",
  "a length that another function writes": "(shorten(arguments), arguments.length)",
  "an added property": "(arguments.more = 3, arguments.more + Object.keys(arguments).join())",
  "a private member": "Marked.has(arguments)",
  "its getter": "(() => { try { return arguments.callee === undefined; } catch (e) { return e.name; } })()",
  "an iterator": "Array.from(arguments[Symbol.iterator]()).slice(1)",
  "as arguments": "count.apply(null, arguments)",
  "in a closure": "(() => arguments.length + arguments[1])()",
  "in a loop":
    "(() => { let n = 0; for (const each of arguments) n += typeof each === 'string' ? 1 : 0; return n; })()",
};

/** Places of a use: `USE` stands for it. */
const PLACES: Readonly<Record<string, string>> = {
  "at the start": "const used = USE; return [x.mul(2), used];",
  "after a break": "const y = x.mul(2); pause(1); const used = USE; return [y.add(1), used];",
  "before a break": "const used = USE; pause(1); return [x.mul(2), used];",
  "after the number was asked for":
    "if (arguments.length > 9) pause(arguments); const used = USE; return [x.mul(2), used];",
  "after a break behind the number":
    "const n = arguments.length; pause(n); const used = USE; return [x.mul(n), used, arguments.length];",
  "on both sides of a break":
    "const used = USE; pause(1); const again = USE; return [x.mul(2), used, again];",
  "in a branch of the graph's": "let used = 0; if (x.sum().item() > 0) used = USE; return [x.mul(2), used];",
  "where it throws":
    "try { const used = USE; if (used !== 77) throw new Error('no'); } catch { return [x.mul(2), USE]; }",
  "in an argument's default": "return ((y, used = USE) => [y.mul(2), used])(x);",
};

/** Kinds of functions around a place. */
const KINDS: Readonly<Record<string, (body: string) => string>> = {
  function: (body) => `return function f(x) { "use strict"; ${body} }`,
  "a method called by another": (body) =>
    `const o = { f(x) { "use strict"; ${body} } }; return function (...all) { return o.f(...all); }`,
  "a sloppy function": (body) => `return function f() { const x = arguments[0]; ${body} }`,
  "a generator": (body) =>
    `function* f(x) { "use strict"; ${body} } return function (...all) { return f(...all).next().value; }`,
};

const HELPERS = `
  const same = (value) => value, count = (...all) => all.length, shorten = (list) => { list.length = 0; };
  class Marked { #mark = 1; static has(value) { return #mark in value; } }
`;

/** The result of a call as a text. */
function shown(call: () => unknown): string {
  const text = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(text);
    if (typeof value === "object" && value !== null && "shape" in value) return list(value as Tensor);
    return value === undefined ? "undefined" : value;
  };
  try {
    return JSON.stringify(text(call()));
  } catch (error) {
    return `${error instanceof Error ? error.name : error}`;
  }
}

Deno.test("arguments objects are those of plain JavaScript however they are used", () => {
  const cases = Object.keys(KINDS).flatMap((kind) =>
    Object.keys(PLACES).flatMap((place) => Object.keys(USES).map((use) => ({ kind, place, use })))
  );
  for (const { kind, place, use } of sampleBySeed(cases, 6)) {
    const body = PLACES[place]?.replaceAll("USE", `(${USES[use]})`) ?? "";
    const make = new Function("pause", `${HELPERS}; ${KINDS[kind]?.(body)};`);
    const plain: Call = make(pause), compiled = compile<Call>(make(pause), { backend: "eager" });
    for (const others of [["a", "b"], [], ["a"]]) {
      const x = tensor([1, 2]), expected = shown(() => plain(x, ...others));
      assertEquals(shown(() => compiled(x, ...others)), expected, `${use} ${place} of ${kind}: ${others}`);
    }
  }
});

/** The number of objects that a trace of a function of twenty layers makes. */
function objectsMade(layer: (x: Tensor) => Tensor): number {
  const next = () => new ObjectValue({ kind: "plain" }, null, null, null).id, before = next();
  capture((x: Tensor) => {
    for (let i = 0; i < 20; i++) x = layer(x);
    return x;
  }).run(vector(1, 2));
  return next() - before;
}

Deno.test("a function that asks for the number of its arguments makes no object of them", () => {
  const plain = objectsMade(function (x) {
    return x.sin();
  });
  const counting = objectsMade(function (x) {
    if (arguments.length > 1) pause(arguments);
    return x.sin();
  });
  const reading = objectsMade(function () {
    return (arguments[0] as Tensor).sin();
  });
  // Those that the function names besides
  assert(counting - plain < 9, `${counting - plain}`);
  assert(reading - plain < 9, `${reading - plain}`);
});
