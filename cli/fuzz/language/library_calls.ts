/**
 * Random calls of everything that the language's library has: every method and accessor of its classes and namespaces,
 * on receivers and with arguments of many kinds. Invariant: the names are the runtime's own, so that none is forgotten.
 */
import fc from "fast-check";
import type { StatementParts } from "./members.ts";
import { choose, closed, code, several, type Text, word } from "./text.ts";

/** Classes and namespaces, with expressions for objects that have their members. */
const RECEIVERS: readonly (readonly [holder: object, receivers: readonly string[]])[] = [
  [Array.prototype, [
    "list",
    "[n, , k]",
    "[3, n, 'b', undefined, 2]",
    "[[n, [k]], [1], x]",
    "new Array(3)",
    "mine",
  ]],
  [String.prototype, ["s", "o.word", "'aXbX'", "''", "'😀b'", "' a1 '", "`${n},${k}`"]],
  [Map.prototype, ["m", "new Map([[n, k], ['b', 1], [NaN, x]])"]],
  [Set.prototype, ["st", "new Set([n, -0, NaN, 'b'])", "new Set(list)"]],
  [WeakMap.prototype, ["weak", "new WeakMap([[o, n], [x, k]])"]],
  [WeakSet.prototype, ["new WeakSet([o, x])"]],
  [Number.prototype, ["n", "(k / 3)", "1e21", "-0", "NaN", "255"]],
  [Boolean.prototype, ["true", "(n > 1)"]],
  [BigInt.prototype, ["255n", "(BigInt(n) * -7n)"]],
  [Symbol.prototype, ["Symbol('q')", "Symbol.for('r')", "Symbol.iterator"]],
  [Object.prototype, ["o", "({ a: n, b: [k] })", "w", "list", "Object.create(null)"]],
  [Function.prototype, ["h1", "w.inc", "((a, b = 1) => a)", "P", "Q", "Math.max"]],
  [RegExp.prototype, ["/b(c)?/g", "/[a-f]/y", "/(?<at>a)|b/", "new RegExp(o.word)"]],
  [Date.prototype, ["new Date(n * 1e10)", "new Date(2020, k, 3, 4, 5, 6, 7)", "new Date(NaN)"]],
  [Error.prototype, ["new RangeError(s)", "new Error('e', { cause: n })"]],
  [Promise.prototype, ["o.later", "Promise.resolve(k)"]],
  [Iterator.prototype, [
    "list.values()",
    "gen(n)",
    "m.entries()",
    "Iterator.from(it(list))",
    "s[Symbol.iterator]()",
  ]],
  [Object.getPrototypeOf(Int8Array.prototype), [
    "new Float32Array([n, k / 3, 1])",
    "Int8Array.from(list)",
    "new Uint8ClampedArray([n * 90, 2.5])",
    "BigInt64Array.of(3n, BigInt(n))",
    "by.f",
    "new Uint16Array(3).subarray(1)",
    "tape",
  ]],
  [Uint8Array.prototype, ["Uint8Array.of(1, 250, k)", "new Uint8Array(4)"]],
  [DataView.prototype, ["new DataView(new ArrayBuffer(8))", "new DataView(Float32Array.of(n, 1.5).buffer)"]],
  [ArrayBuffer.prototype, ["new ArrayBuffer(6)", "new ArrayBuffer(2, { maxByteLength: 8 })"]],
  [DisposableStack.prototype, ["new DisposableStack()"]],
  [Object, ["Object"]],
  [Reflect, ["Reflect"]],
  [Math, ["Math"]],
  [Number, ["Number"]],
  [String, ["String"]],
  [Array, ["Array"]],
  [Symbol, ["Symbol"]],
  [JSON, ["JSON"]],
  [Promise, ["Promise"]],
  [BigInt, ["BigInt"]],
  [Map, ["Map"]],
  [Iterator, ["Iterator"]],
  [RegExp, ["RegExp"]],
  [Error, ["Error"]],
  [Uint8Array, ["Uint8Array"]],
  [Object.getPrototypeOf(Int8Array), ["Float32Array", "Int16Array", "BigInt64Array"]],
  [ArrayBuffer, ["ArrayBuffer"]],
];

/** Members that depend on the time or on chance, are texts of code, or cannot be used without ending the program. */
const EXCLUDED: ReadonlySet<PropertyKey> = new Set([
  "constructor",
  "random",
  "now",
  "captureStackTrace",
  "stack",
  "stackTraceLimit",
  "prepareStackTrace",
  "caller",
  "arguments",
  "callee",
  "prototype",
  // The program's promises would stay without handlers
  "reject",
  // The engine chooses the bits of NaN
  "setFloat16",
  "setFloat32",
  "setFloat64",
]);

/** The members of an object as they are written behind an expression, methods and others. */
function membersOf(holder: object): { readonly methods: string[]; readonly others: string[] } {
  const methods: string[] = [], others: string[] = [];
  for (const key of Reflect.ownKeys(holder)) {
    if (EXCLUDED.has(key)) continue;
    const text = typeof key === "string" ? `.${key}` : `[${key.description}]`;
    const { value } = Reflect.getOwnPropertyDescriptor(holder, key) ?? {};
    (typeof value === "function" ? methods : others).push(text);
  }
  return { methods, others };
}

function uses(argument: Text): readonly Text[] {
  return RECEIVERS.flatMap(([holder, receivers]) => {
    const { methods, others } = membersOf(holder), of = word(...receivers);
    const given = several(argument, { least: 0, most: 3, between: ", " });
    const called = methods.length === 0 ? [] : [code`${of}; const got = on${word(...methods)}(${given});`];
    const read = others.length === 0 ? [] : [code`${of}; const got = on${word(...others)};`];
    return [...called, ...called, ...called, ...read];
  });
}

/** Statements that call or read one member each. */
export function statementsOfLibraryCalls(
  { number, list, block }: StatementParts,
): readonly (readonly [number, Text])[] {
  const constant = closed(number), inner = closed(block);
  const callbacks = choose(
    [2, word("(e) => e", "(a, b) => a - b", "(e, at) => at", "(a, e) => [a, e]", "(e) => e > 1", "String")],
    [1, code`function (e, at, all) { log.push(this?.a, at, all === list); return ${constant}; }`],
    [1, code`(e) => { if (--fuel < 0) throw new RangeError('fuel'); list.push(n); st.delete(k); return e; }`],
    [1, code`(e) => { if (e === ${constant}) throw new TypeError('callback'); ${inner} return e; }`],
  );
  const argument = choose(
    [4, number],
    [3, callbacks],
    [1, list],
    [
      4,
      word(
        ...[
          "undefined",
          "null",
          "NaN",
          "-1",
          "-0",
          "'b'",
          "''",
          "'a'",
          "s",
          "o.word",
          "true",
          "1n",
          "BigInt(n)",
        ],
        ...[
          "{ a: n }",
          "o",
          "w",
          "list",
          "[n, [k]]",
          "['a', n]",
          "new Set([n])",
          "m",
          "st",
          "/b(.)?/g",
          "/[a-e]/",
        ],
        ...[
          "it(list)",
          "gen(n)",
          "Symbol.iterator",
          "Symbol('u')",
          "P",
          "x.shape",
          "[[n, k], ['b', x]]",
          "'a,b'",
        ],
        ...[
          "{ valueOf() { log.push('value'); return 1; } }",
          "{ length: 2, 0: n }",
          "'[1,{\"a\":2}]'",
          "1.5",
        ],
        ...[
          "Object",
          "{ get a() { log.push('a'); return n; } }",
          "{ value: n, configurable: true }",
          "new Float32Array(2)",
        ],
      ),
    ],
  );
  const use = fc.oneof(...uses(argument));
  return [
    [
      8,
      code`try { const on = ${use} ${block} log.push(typeof got?.next === 'function' ? [...got].slice(0, 9) : got, on === list ? 0 : on); } catch (e) { log.push(e?.name, e?.message); }`,
    ],
  ];
}
