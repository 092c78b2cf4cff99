/**
 * Random statements over the variables of a function, as text. Invariant: programs terminate, because every loop
 * consumes `fuel`.
 */
import fc from "fast-check";
import { expressions, type Grammar, partsOf, place, small, type Tie } from "./expressions.ts";
import { statementsOfAsyncForms, statementsOfForms } from "./forms.ts";
import { statementsOfAsyncIteration, statementsOfIteration } from "./iteration.ts";
import { statementsOfLibrary } from "./library.ts";
import { statementsOfLibraryCalls } from "./library_calls.ts";
import { type StatementParts, statementsOfMembers } from "./members.ts";
import { statementsInMemory } from "./memory.ts";
import { choose, closed, code, JUMP, labelled, several, type Text, withoutJumps, word } from "./text.ts";

/** The optional constructs of a function. */
export interface FunctionKind {
  readonly suspends: "never" | "generator" | "async";
  /** Whether tensors are written in place. */
  readonly inplace: boolean;
}

type Weighted = readonly [number, Text];

/** Every loop consumes some, so that all of them end. */
const FUEL = word("if (--fuel < 0) return 'no fuel';");

/** Statements of a function. */
export function functionBody(
  kind: FunctionKind,
  { least, most }: { readonly least: number; readonly most: number },
): Text {
  const { statement } = fc.letrec<Grammar>((tie) => ({
    ...expressions(tie),
    statement: statements(tie, kind),
  }));
  return several(statement, { least, most, between: "\n  " }).map(withoutJumps);
}

function statements(tie: Tie, kind: FunctionKind): Text {
  return choose(
    ...plain(tie),
    ...control(tie),
    ...loops(tie),
    ...destructuring(tie),
    ...objects(tie),
    ...functions(tie),
    ...corners(tie),
    ...handedIn(tie),
    ...statementsInMemory({ ...partsOf(tie), block: tie("statement"), fuel: FUEL }),
    ...statementsOfMembers(partsIn(tie)),
    ...statementsOfIteration(partsIn(tie)),
    ...statementsOfLibrary(partsIn(tie)),
    ...statementsOfLibraryCalls(partsIn(tie)),
    ...statementsOfForms(partsIn(tie)),
    ...(kind.inplace ? inplace(tie) : []),
    ...(kind.suspends === "generator" ? yields(tie) : []),
    ...(kind.suspends === "async" ? suspending(tie) : []),
  );
}

function suspending(tie: Tie): Weighted[] {
  const parts = partsIn(tie);
  return [...awaits(tie), ...statementsOfAsyncIteration(parts), ...statementsOfAsyncForms(parts)];
}

function blockOf(tie: Tie): Text {
  return several(tie("statement"), { least: 0, most: 2 });
}

/** The parts of statements that other files make. */
function partsIn(tie: Tie): StatementParts {
  return { ...partsOf(tie), block: blockOf(tie), fuel: FUEL };
}

function plain(tie: Tie): Weighted[] {
  const { number, tensor, value } = partsOf(tie);
  return [
    [5, code`log.push(${value});`],
    [4, code`${word("t0", "t1")} = ${tensor};`],
    [3, code`${place} = ${number};`],
    [1, code`console.log(${value});`],
    [1, code`opaque(${value});`],
    [1, code`o.t = ${tensor};`],
  ];
}

function control(tie: Tie): Weighted[] {
  const { number, truth, value } = partsOf(tie);
  const block = blockOf(tie), statement = tie("statement");
  const errors = [
    "new Error(s)",
    "new RangeError('r' + n)",
    "'text'",
    "o",
    "new TypeError('t', { cause: n })",
  ];
  return [
    [2, code`if (${truth}) { ${block} }`],
    [2, code`if (${truth}) { ${block} } else { ${block} }`],
    [2, code`try { ${block} ${statement} } catch { ${block} log.push('caught'); }`],
    [2, code`try { ${block} ${statement} } catch (e) { ${block} log.push(e?.name, e?.message); }`],
    [2, code`try { ${block} ${statement} } finally { log.push('finally'); ${block} }`],
    [1, code`try { ${block} } catch (e) { ${block} throw e; } finally { ${block} }`],
    [1, code`if (${truth}) throw ${word(...errors)};`],
    [1, code`if (${truth}) return ${value};`],
    [2, code`if (${truth}) { ${JUMP} }`],
    [1, JUMP],
    [
      1,
      code`switch (${number}) { case ${small}: ${block} case ${number}: ${block} break; default: ${block} case 7: ${block} }`,
    ],
    [1, labelled("block", word(""), code`${block} ${block}`)],
  ];
}

function loops(tie: Tie): Weighted[] {
  const { number, truth, list } = partsOf(tie);
  const block = blockOf(tie);
  const body = code`${FUEL} ${block}`;
  const iterables = choose(
    [2, list],
    [1, code`it(${list})`],
    [1, code`gen(${number})`],
    [1, word("o.items", "o.values")],
    [1, word("s", "m", "st", "t0", "[s, s]", "[list, [1]]")],
  );
  const head = word("v", "p", "i", "[v]", "{ length: v }");
  return [
    [
      2,
      labelled(
        "loop",
        code`for (let i = 0; i < ${word("2", "3", "k")}; i++)`,
        code`${body} held.push(() => i); ${block}`,
      ),
    ],
    [3, labelled("loop", code`for (const ${head} of ${iterables})`, code`${body} log.push(p, i);`)],
    [
      1,
      labelled(
        "loop",
        code`for (const key in ${word("o", "list", "{ a: 1, b: 2 }", "w")})`,
        code`${body} log.push(key);`,
      ),
    ],
    [1, labelled("loop", code`while (${truth})`, code`${body} ${place} += 1;`)],
    [1, code`${labelled("loop", word("do"), body)} while (${truth});`],
  ];
}

function destructuring(tie: Tie): Weighted[] {
  const { number, list } = partsOf(tie);
  const block = blockOf(tie);
  const target = choose(
    [3, word("p", "q", "c0", "o.a", "list[1]", "w.w")],
    [1, code`${word("p", "q", "o.b")} = ${number}`],
  );
  const source = choose([1, list], [1, code`it(${list})`], [1, code`gen(${number})`]);
  const pattern = word(
    "p",
    "v",
    "v = 5",
    "p, q",
    ", v",
    "...v",
    "p, ...q",
    "{ length: v }",
    "p = q, v = p",
    "",
  );
  return [
    [2, code`{ const [${pattern}] = ${source}; ${block} log.push(p, v); }`],
    [
      1,
      code`{ const { a: p${choose([1, word("")], [1, code` = ${number}`])}, ...v } = ${
        word("o", "{ a: n, z: 1 }", "w")
      }; ${block} log.push(p, Object.keys(v)); }`,
    ],
    [1, code`[${several(target, { least: 0, most: 3, between: ", " })}] = ${source};`],
    [1, code`({ a: ${target}, length: ${target} } = ${word("o", "list", "{ a: 1 }")});`],
  ];
}

function objects(tie: Tie): Weighted[] {
  const { number } = partsOf(tie);
  const changes = [
    "pop()",
    "shift()",
    "reverse()",
    "splice(0, 1, 7, 8)",
    "sort((a, b) => a - b)",
    "length = 1",
  ];
  return [
    [1, code`list.${word("push", "unshift")}(${number});`],
    [1, code`${word("list", "mine")}.${word(...changes, "fill(2)")};`],
    [1, code`mine.push(${number}); o.list = mine;`],
    [1, code`m.${word("set(n, k)", "set(s, p)", "delete(1)", "clear()", "set(1, t0)")};`],
    [1, code`st.${word("add(n)", "delete(k)", "add(o)")};`],
    [
      1,
      code`o.deep = { z: ${number}, get() { return this.z + 1; }, list: [${number}], flat: { q: ${number} } };`,
    ],
    [1, code`w.${word("d", "w")} ${word("=", "+=")} ${number};`],
    [1, code`Object.setPrototypeOf(o, ${word("{ inherited: n }", "null", "w", "Object.prototype")});`],
    [
      1,
      code`Object.defineProperty(o, 'own', { get() { log.push('get'); return ${
        closed(number)
      }; }, set(e) { log.push('set', e); }, configurable: ${word("true", "false")} });`,
    ],
    [
      1,
      code`${word("list", "mine")}.${word("copyWithin(0, 1)", "splice(1)", "fill(k, 1)", "unshift(n, k)")};`,
    ],
    [1, code`m.set(${number}, m.get(1) ?? ${number}).delete(${number});`],
  ];
}

function functions(tie: Tie): Weighted[] {
  const { number, list } = partsOf(tie);
  const block = blockOf(tie), inner = closed(block), constant = closed(number);
  const effects = ["c0++", "p++", "t0 = t0.add(1).clamp(-9, 9)", "o.a = 1", "q += c0", "n"];
  const late = [
    "log.push(typeof late); let late = 1;",
    "const late = () => p; log.push(late());",
    "var later1 = p; log.push(later1);",
  ];
  return [
    [1, code`${word("list", "m", "st")}.forEach((a, b) => { ${closed(FUEL)} ${inner} log.push(a, b); });`],
    [1, code`held.push(() => { ${word(...effects)}; return ${word("p", "q", "c0", "i", "n")}; });`],
    [1, code`{ let v = ${number}; const up = () => ++v; ${block} held.push(up); log.push(up(), v); }`],
    [
      1,
      code`{ const g = gen(${number}); log.push(g.next(), ${
        word("g.next(5)", "g.return(7)", "[...g]", "1")
      }); ${block} log.push(g.${word("next()", "return(2)", "next(1)")}); }`,
    ],
    [
      1,
      code`{ const inner = function (a, b = ${constant}, ...rest) { ${inner} return a + b + rest.length + arguments.length; }; log.push(inner(${number}), inner(...${list})); }`,
    ],
    [
      1,
      code`{ const z = { m() { return super.toString === undefined ? 1 : this.v; }, v: ${number}, set u(e) { log.push(e); this.v = e; }, get u() { return this.v; } }; z.u ${
        word("=", "+=")
      } ${number}; log.push(z.m(), z.u); ${block} }`,
    ],
    [1, code`{ using d = { v: ${number}, [Symbol.dispose]() { log.push('disposed', this.v); } }; ${block} }`],
    [
      1,
      code`{ class Local { a = ${small}; static s = n; m(e = ${constant}) { return this.a + e; } } ${block} log.push(new Local().m(), Local.s); }`,
    ],
    [1, code`{ ${word(...late)} ${block} }`],
  ];
}

/** Rare corners of the language. */
function corners(tie: Tie): Weighted[] {
  const { number, tensor, value, list, truth } = partsOf(tie);
  const block = blockOf(tie), inner = closed(block), constant = closed(number);
  const flags = [
    "enumerable: true",
    "enumerable: false",
    "writable: false",
    "writable: true, configurable: true",
    "configurable: true",
    "",
  ];
  return [
    [
      1,
      code`{ function rec(d) { ${inner} return d <= 0 ? ${constant} : rec(d - 1) + 1; } log.push(rec(${
        word("2", "k", "0")
      })); held.push(() => rec(1)); }`,
    ],
    [
      1,
      code`{ log.push(early(${number})); ${block} function early(a = ${constant}) { ${inner} return a + p; } }`,
    ],
    [
      1,
      code`{ const each = { valueOf() { log.push('valueOf'); return ${constant}; }, toString() { log.push('toString'); return 's'; } }; log.push(each + ${number}, \`\${each}\`, each > 1, { [each]: 1 }); ${block} }`,
    ],
    [
      1,
      code`{ const each = { [Symbol.toPrimitive](hint) { log.push(hint); return ${constant}; } }; p = each * 2; log.push(list[each], each == ${number}); }`,
    ],
    [
      1,
      code`Object.defineProperty(${word("o", "{ a: 1 }", "list")}, ${
        word("'b'", "'a'", "s", "'0'", "'length'")
      }, { value: ${number}, ${word(...flags)} });`,
    ],
    [
      1,
      code`log.push(Object.${word("getOwnPropertyDescriptor", "hasOwn")}(${word("o", "list", "mine", "w")}, ${
        word("'a'", "'0'", "'length'", "'w'", "s")
      }), Object.${word("isFrozen", "isSealed", "isExtensible", "getOwnPropertyNames")}(${
        word("o", "list", "mine")
      }));`,
    ],
    [1, code`Object.${word("freeze", "seal", "preventExtensions")}(${word("o", "{ n }", "mine", "list")});`],
    [1, code`delete ${word("list[0]", "o.deep", "mine[0]", "w.w", "o.t")};`],
    [
      1,
      code`{ let a = ${number}, b = ${number}; [a, b] = [b, a]; ({ a, b = ${constant} } = { a: b }); ${block} log.push(a, b); }`,
    ],
    [
      1,
      labelled(
        "loop",
        code`for (let i = 0, j = ${number}; i < 3; i++, j--)`,
        code`${FUEL} held.push(() => i * 10 + j); ${block}`,
      ),
    ],
    [
      1,
      code`switch (${number}) { case 1: let v = ${number}; case 2: log.push(typeof v); v = 3; default: const late = () => v; ${block} log.push(late()); }`,
    ],
    [1, code`for (const v of list) { ${FUEL} if (${truth}) list.push(v + 1); ${block} }`],
    [1, code`for (const [v, e] of m) { ${FUEL} m.delete(v); if (${truth}) m.set(v + 1, e); ${block} }`],
    [1, code`log.push(list.map((e) => opaque(e + ${constant})), list.flatMap((e) => [e, ${constant}]));`],
    [1, code`list.sort((a, b) => { ${closed(FUEL)} ${inner} return a - b; });`],
    [
      1,
      code`mine.push(...${list}); mine.length = ${
        word("0", "2", "5")
      }; log.push(0 in mine, mine.indexOf(undefined));`,
    ],
    [
      1,
      code`{ const view = new Proxy(o, { get(target, key) { log.push(String(key)); return target[key]; }, has() { return ${
        closed(truth)
      }; } }); log.push(view.a, 'b' in view, view.none?.z); ${block} }`,
    ],
    [
      1,
      code`{ const key = Symbol('k'); o[key] = ${number}; log.push(o[key], Object.getOwnPropertySymbols(o).length); delete o[key]; }`,
    ],
    [1, code`log.push(${word("10n ** 2n", "BigInt(n) + 1n", "typeof 5n", "-(3n) % 2n", "1n == 1")});`],
    [1, code`log.push(s.replace(/s/, () => ${constant}), /(?<x>s+)/.exec(s)?.groups?.x, 'a-b'.split('-'));`],
    [
      1,
      code`t0 = [${tensor}, ${tensor}].reduce((a, b) => { ${
        closed(FUEL)
      } ${inner} return a.add(b).clamp(-9, 9); });`,
    ],
    [
      1,
      code`{ const bound = w.inc.bind(w, ${number}); log.push(bound(), h0.call(null, ${number}), h0.apply(o, ${list})); }`,
    ],
    [
      1,
      code`{ const counter = { n: ${number}, get next() { c0 += this.n; return this.n++; } }; log.push(counter.next + counter.next); ${block} log.push(counter?.next, counter.none?.next); }`,
    ],
    [
      1,
      code`{ class Base { static made = 0; constructor() { Base.made++; log.push(new.target.name); } get kind() { return 'base'; } } class Derived extends Base { get kind() { return super.kind + ${constant}; } } ${block} log.push(new Derived().kind, Base.made); }`,
    ],
    [1, code`log.push(((...rest) => { ${inner} return rest.length; })(...${list}, ${value}));`],
    [1, code`log.push((function () { arguments[0] = 5; return [...arguments]; })(${number}, ${number}));`],
    [
      1,
      code`{ const chain = { f: (e) => ({ g: e }), none: null }; log.push(chain.f?.(${number})?.g, chain.none?.g.h.i, chain?.['f']?.(1).g); }`,
    ],
    [
      1,
      code`try { null.a; ${block} } catch ({ name, ...rest }) { log.push(name, Object.keys(rest)); ${block} }`,
    ],
    [
      1,
      code`{ const g = gen(${number}); try { log.push(g.next().value, g.throw(new RangeError('in'))); } catch (e) { log.push(e.message, e instanceof RangeError); } ${block} log.push(g.next().done); }`,
    ],
    [
      1,
      code`{ class Own { v = ${small}; static count = 0; static { Own.count = ${constant}; } up() { return ++this.v; } get w() { return this.up(); } } ${block} log.push(new Own().w, Own.count); }`,
    ],
    [
      1,
      code`{ class Failed extends Error { constructor(m, more) { super(m); this.more = more; } get name() { return 'Failed'; } } try { ${block} throw new Failed(s, ${number}); } catch (e) { log.push(e.name, e.more, e instanceof Failed, String(e)); } }`,
    ],
    [
      1,
      code`{ const pattern = /[st]/g; log.push(pattern.test(s), pattern.lastIndex); ${block} log.push(pattern.exec(s)?.index); }`,
    ],
    [
      1,
      code`{ const known = new WeakMap([[o, ${number}]]); ${block} log.push(known.get(o), known.has(w)); }`,
    ],
    [
      1,
      code`{ const make = (base) => { let sum = base; return { add(e) { sum += e; return this; }, get sum() { return sum; } }; }; const one = make(${number}), other = make(1); log.push(one.add(${number}).add(k).sum, other.sum); ${block} held.push(() => one.add(1).sum); }`,
    ],
    [
      1,
      code`outer: for (const e of ${list}) { switch (e) { case 1: continue outer; case 2: break; default: ${FUEL} ${block} } log.push(e); }`
        .map(withoutJumps),
    ],
    [
      1,
      code`try { try { ${block} throw new Error(s); } finally { ${block} if (${truth}) throw new TypeError('t'); } } catch (e) { log.push(e.name); }`,
    ],
    [1, code`try { return ${value}; } finally { ${block} if (${truth}) { ${JUMP} } log.push(p); }`],
  ];
}

/** Uses of strings, promises and iterators that are passed in. */
function handedIn(tie: Tie): Weighted[] {
  const { number } = partsOf(tie);
  const block = blockOf(tie), constant = closed(number);
  const combined = [
    "all([o.later, n])",
    "race([n, o.later])",
    "any(new Set([o.later]))",
    "allSettled([o.later, s])",
  ];
  return [
    [2, code`o.later?.then((e) => { log.push('then', e, p, ${constant}); }); ${block}`],
    [
      1,
      code`{ const made = Promise.${
        word(...combined)
      }; ${block} made.then((e) => log.push(e)); log.push(typeof made, made === o.later); }`,
    ],
    [
      1,
      code`Promise.${word("reject", "resolve")}(${number}).${
        word("catch((e) => log.push('caught', e))", "finally(() => log.push('done', p))")
      }.then(() => p++, (e) => log.push(e));`,
    ],
    [
      1,
      code`switch (o.word) { case 'a': ${block} case s: ${block} break; case 'bb': p++; default: ${block} }`,
    ],
    [
      1,
      code`log.push(o.word === ${
        word("'a'", "s", "list[0]", "'ccc'")
      }, o.word !== 'b', ['a', 'b'].indexOf(o.word));`,
    ],
    [1, code`p += o.word.length; log.push(o.word < 'c', o.word + s, { [o.word]: 1 });`],
    [
      1,
      code`log.push(o.${word("items", "values")}.next(), ${
        word("[...o.values]", "o.items.return(k)", "o.items.next(2)")
      });`,
    ],
    [1, code`log.push(o.items.map((e) => e).take(2).toArray());`],
    [
      1,
      code`list.constructor = ${
        word("undefined", "class extends Array {}", "Array")
      }; ${block} log.push(list.map((e) => e), list.slice(1));`,
    ],
  ];
}

function inplace(tie: Tie): Weighted[] {
  const { tensor } = partsOf(tie);
  return [
    [1, code`${word("t0", "t1", "o.t", "x", "y")}.${word("add_", "sub_", "mul_", "fill_")}(${small});`],
    [
      1,
      code`t0 = ${tensor}.clone(); t0.${word("neg_()", "relu_()", "zero_()", "clamp_(-1, 1)", "copy_(t1)")};`,
    ],
  ];
}

function yields(tie: Tie): Weighted[] {
  const { value, list } = partsOf(tie);
  return [
    [3, code`p = (yield ${value}) ?? p;`],
    [1, code`yield* ${choose([1, list], [1, code`it(${list})`])};`],
  ];
}

function awaits(tie: Tie): Weighted[] {
  const { number } = partsOf(tie);
  const block = blockOf(tie);
  return [
    [3, code`p = await ${choose([1, number], [1, word("later(k)", "null", "later(p)")])};`],
    [1, code`await ${word("fails(n)", "later(o)", "opaque(later(1))")};`],
    [
      1,
      labelled(
        "loop",
        code`for await (const v of ${word("list", "[later(1), 2]", "agen(2)", "it(list)")})`,
        code`${FUEL} ${block} log.push(v);`,
      ),
    ],
    [1, code`log.push(await (async () => { ${block.map(withoutJumps)} await null; return ${number}; })());`],
    [1, word("log.push(await Promise.race([later(k), n]), await Promise.allSettled([o.later, fails(n)]));")],
    [1, word("log.push(await Promise.all(list.map(async (e) => e + (await later(1)))));")],
  ];
}
