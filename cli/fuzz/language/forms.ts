/**
 * Random statements in forms that are rarely written: patterns in the heads of loops, defaults that refer to others,
 * assignments through super, getters and proxies, names that functions get from their places, generators that are
 * closed inside finally. Invariant: what a function contains does not leave it.
 */
import type { StatementParts } from "./members.ts";
import { choose, closed, code, type Text, word } from "./text.ts";

const COMPOUND = word("=", "+=", "-=", "*=", "**=", "%=", "|=", "<<=", ">>>=", "??=", "||=", "&&=");

/** Statements in rare forms. */
export function statementsOfForms(parts: StatementParts): readonly (readonly [number, Text])[] {
  return [...heads(parts), ...parameters(parts), ...places(parts), ...classForms(parts), ...closings(parts)];
}

function heads({ number, list, truth, block, fuel }: StatementParts): readonly (readonly [number, Text])[] {
  const constant = closed(number);
  const items = choose(
    [
      1,
      word(
        "[{ a: 1 }, {}, w, { a: undefined, z: n }]",
        "[[n], [k, 2], s]",
        "m",
        "Object.entries(o)",
        "[o, list]",
      ),
    ],
    [1, code`[[${number}, { a: ${number} }], ${list}]`],
  );
  const pattern = choose(
    [
      1,
      word(
        "{ a = p++, ...rest }",
        "[a, { length: z } = s]",
        "{ length: a, [0]: z = a }",
        "[a = n, , ...rest]",
      ),
    ],
    [1, code`{ a = ${constant}, [s]: z = (log.push('z'), ${constant}) }`],
  );
  const target = word(
    "p",
    "o.a",
    "list[0]",
    "[p, o.b = n]",
    "{ a: q, ...o.rest }",
    "[, w.d = k]",
    "o[s + p]",
    "[...mine]",
  );
  return [
    [
      1,
      code`try { for (const ${pattern} of ${items}) { ${fuel} held.push(() => a); log.push(a, typeof z, typeof rest); ${block} if (${truth}) break; } } catch (e) { log.push(e.name); }`,
    ],
    [
      1,
      code`try { for (${target} of ${items}) { ${fuel} log.push(p, q); ${block} } } catch (e) { log.push(e.name); }`,
    ],
    [
      1,
      code`for (${word("p", "o.b", "list[1]", "[p, q]", "{ length: q }")} in ${
        word("o", "list", "s", "{ b: 1, ab: 2 }")
      }) { ${fuel} log.push(p, q); ${block} }`,
    ],
    [
      1,
      code`for (let at = 0, read = () => at, other = ${number}; at < 3; ${
        word("at++", "log.push(read()), at += 2", "at++, other--")
      }) { ${fuel} held.push(read, () => at + other); ${block} if (${truth}) { at++; continue; } log.push(read(), at); }`,
    ],
    [
      1,
      code`one: for (const a of ${list}) { two: for (let z = 0; ; z++) { ${fuel} try { if (z > 2) continue one; if (${truth}) break two; log.push(a, z); ${block} } finally { log.push('two'); if (${truth}) continue one; } } }`,
    ],
    [1, code`do { ${fuel} if (${truth}) continue; ${block} log.push(p); } while (p++ < 2, ${truth});`],
    [
      1,
      code`switch (${number}) { default: log.push('d'); case ${number}: { let a = p; held.push(() => a++); ${block} } case (log.push('case'), ${number}): const a = 1; held.push(() => a); break; case n: ${block} }`,
    ],
    [
      1,
      code`{ out: { if (${truth}) break out; ${block} log.push('in'); } in1: for (;;) { ${fuel} ${block} break in1; } }`,
    ],
  ];
}

function parameters({ number, list, block, value }: StatementParts): readonly (readonly [number, Text])[] {
  const constant = closed(number), inner = closed(block);
  const given = choose([1, word("", "undefined", "n", "n, undefined, k", "...list", "s, s, s")], [
    1,
    code`${number}, ${value}`,
  ]);
  return [
    [
      1,
      code`log.push((function (a, b = () => a, z = b(), { length: l = z } = list) { ${inner} var a = 5; return [a, b(), z, l, arguments.length, arguments[0]]; })(${given}));`,
    ],
    [1, code`try { log.push(((a = z, z = 1) => [a, z])(${given})); } catch (e) { log.push(e.name); }`],
    [1, code`try { log.push(early, ${number}); let early = 1; } catch (e) { log.push(e.name); }`],
    [
      1,
      code`log.push(((a, b = (log.push('b'), a), ...{ length, 0: first = b }) => [b, length, first])(${given}));`,
    ],
    [
      1,
      code`{ const { f1 = () => {}, f2 = function () {}, f3 = class {} } = {}, o1 = { a: () => ${constant}, ['b' + n]: function () {}, get g() { return 1; }, *h() {}, async i() {} }; let f4; f4 ??= () => {}; log.push(f1.name, f2.name, f3.name, f4.name, o1.a.name, Object.keys(o1).map((e) => o1[e].name), Object.getOwnPropertyDescriptor(o1, 'g').get.name); }`,
    ],
    [
      1,
      code`{ const fact = function self(a) { ${inner} try { self = 1; } catch (e) { log.push(e.name); } return a < 1 ? 1 : self(a - 1) + 1; }; log.push(fact(${
        word("2", "k", "0")
      }), fact.length, fact.name); }`,
    ],
    [
      1,
      code`log.push(h0(...m.keys(), ...st), [...m].length, [...${list}, ...s, ...new Map([[n, k]])], Math.max(...st.values(), ...list));`,
    ],
    [
      1,
      code`try { null.x = (log.push('never'), 1); } catch (e) { log.push(e.name); } try { (void 0)[(log.push('key'), s)]; } catch (e) { log.push(e.name); }`,
    ],
    [
      1,
      code`try { undeclared; } catch (e) { log.push(e.name); } log.push(typeof undeclared, (1, o.p?.inc)?.name, (o?.p).d, (o.p?.inc)(1));`,
    ],
  ];
}

function places({ number, value, truth, list, block }: StatementParts): readonly (readonly [number, Text])[] {
  const constant = closed(number);
  return [
    [
      2,
      code`try { const at = { _a: ${
        choose([2, number], [1, word("null", "undefined", "0", "s")])
      }, get a() { log.push('get a'); return this._a; }, set a(e) { log.push('set a', e); this._a = e; } }; at.a ${COMPOUND} (log.push('right'), ${number}); ${block} at[(log.push('key'), 'a')] ${COMPOUND} ${number}; log.push(at.a++, --at.a, at._a); } catch (e) { log.push(e.name, e.message); }`,
    ],
    [
      1,
      code`try { const base = { get v() { return this.own * 2; }, set v(e) { log.push('set v'); this.own = e; }, m(...e) { return [this === child, e.length]; } }; const child = { __proto__: base, own: ${number}, go(e) { super.v ${COMPOUND} e; super.fresh = e; super['v']; return [super.v, super.m(...${
        closed(list)
      }), Object.hasOwn(child, 'fresh'), (() => super.m(1))()]; } }; log.push(child.go(${number})); ${block} Object.setPrototypeOf(child, { m: () => 'other', v: ${constant} }); log.push(child.go(1), child); } catch (e) { log.push(e.name, e.message); }`,
    ],
    [
      1,
      code`try { ${
        word(
          "list[p]",
          "o[s]",
          "o['k' + n]",
          "ring[n & 1]",
          "tape[1]",
          "w.d",
          "o.none",
          "mine[k]",
          "by.f[0]",
          "o.deep.z",
          "x.own",
          "t0.own",
          "o.p.w",
          "h1.own",
          "P.own",
        )
      } ${COMPOUND} ${number}; log.push(p, list, mine, x.own, t0.own, h1.own, P.own); } catch (e) { log.push(e.name); } delete h1.own; delete P.own;`,
    ],
    [
      1,
      code`try { const traps = []; const view = new Proxy({ a: ${number}, b: null }, new Proxy({}, { get(_, trap) { return (...e) => { traps.push(trap); return Reflect[trap](...e); }; } })); view.a ${COMPOUND} ${number}; view.b ??= ${number}; 'a' in view; delete view.b; ({ ...view }); Object.isFrozen(view); for (const e in view) traps.push(e); ${block} log.push(traps, view.a); } catch (e) { log.push(e.name, e.message); }`,
    ],
    [
      1,
      code`{ const each = { [Symbol.toPrimitive](hint) { log.push(hint); return hint === 'string' ? 's' : ${constant}; } }; let a = ${number}; a += each; a **= each; log.push(a, \`\${each}\`, each < 2, [each] + '', { [each]: 1 }, each == ${number}, +each, s + each, Math.max(each, 1)); }`,
    ],
    [
      1,
      code`log.push(delete o?.a, delete o.none?.z, delete list?.[0], 'a' in o, o?.a?.toFixed?.(1), o.p?.['inc']?.(${number}), (o.none?.x).y === undefined);`
        .map((text) => `try { ${text} } catch (e) { log.push(e.name); }`),
    ],
    [
      1,
      code`log.push((p = 1, q = ${number}, p + q), void p++, typeof p++, -p ** 0 === undefined, (-p) ** 2, p > 1 > 0, !p, ~p, p ^ q, p ?? q);`
        .map((text) => text.replace("-p ** 0 === undefined, ", "")),
    ],
    [
      1,
      code`[o.a, o['b'], ...list.rest] = ${list}; ({ a: o.a = ${number}, [s + 'x']: p = q, ...o.more } = ${
        word("o", "{ a: n }", "s")
      }); log.push(o.a, list.rest, Object.keys(o.more ?? {})); delete list.rest;`.map((text) =>
        `try { ${text} } catch (e) { log.push(e.name); }`
      ),
    ],
    [
      1,
      code`{ const hidden = Symbol('h'), from = Object.defineProperty({ [hidden]: ${number}, a: ${value}, get g() { log.push('g'); return n; } }, 'no', { value: 1 }); const { a, ...rest } = from; ${block} log.push(rest, rest[hidden], { ...from, __proto__: w }.d, Object.assign([], from)); if (${truth}) from.a = 2; }`,
    ],
    [
      1,
      code`{ const tags = []; const t = { tag(strings, ...e) { tags.push(strings); return [this === t, strings.raw, e]; } }; for (let turn = 0; turn < 2; turn++) { log.push(t.tag\`a\${turn}\\u{41}\${${number}}\`, t?.tag); } log.push(tags[0] === tags[1], tags.length); ${block} }`,
    ],
  ];
}

function classForms({ number, tensor, truth, block }: StatementParts): readonly (readonly [number, Text])[] {
  const constant = closed(number), inner = closed(block);
  return [
    [
      1,
      code`{ const order = []; class Ordered { [(order.push('a'), 'a')] = (order.push('va'), ${constant}); static [(order.push('b'), 'b')] = order.push('vb'); static { order.push('block', this.b); } [(order.push('m'), 'm')]() { return this.a; } static #p = order.push('p'); static get p() { return Ordered.#p; } } ${block} log.push(order, new Ordered().m(), Ordered.p, order.length); }`,
    ],
    [
      1,
      code`try { class Hidden { #v = ${constant}; #n = null; static #count = 0; get #w() { log.push('get #w'); return this.#v; } set #w(e) { log.push('set #w'); this.#v = e; } static #up() { return ++Hidden.#count; } run(e) { this.#w ${COMPOUND} e; this.#v ${COMPOUND} 2; this.#n ??= e; ({ a: this.#v, b: this.#n = 3 } = { a: this.#v + 1 }); [this.#v] = [this.#v]; return [this.#v, this.#n, Hidden.#up(), e?.#v, #w in this]; } t(e) { this.#n = e; return this.#n; } } const hidden = new Hidden(); log.push(hidden.run(${number})); ${block} log.push(hidden.run(${number}), hidden.t(${tensor}) === x); Hidden.prototype.run.call({}, 1); } catch (e) { log.push(e.name); }`,
    ],
    [
      1,
      code`try { function Old(e) { if (!new.target) return new Old(e); this.e = e; this.t = (() => new.target === Old)(); ${inner} } Old.prototype.m = function () { return this.e; }; class New extends Old { m = () => [super.m(), this.e]; constructor() { const late = () => super(${constant}); ${
        closed(truth)
      } ? late() : super(2); log.push(this.t, new.target.name); } } ${block} log.push(Old(${number}).m(), new New().m(), Reflect.construct(Old, [1], New).m === New.prototype.m, Old.prototype.isPrototypeOf(new New())); } catch (e) { log.push(e.name); }`,
    ],
    [
      1,
      code`try { class Base { constructor() { this.init(); } init() { log.push('base', this.f); } static make() { return new this(); } get [Symbol.toStringTag]() { return 'Tag'; } } class Sub extends Base { f = ${constant}; init() { super.init(); log.push('sub', this.f); this.f = 9; } static make() { return [super.make(), super.make === Base.make]; } toString() { return super.toString() + this.f; } } ${block} log.push(Sub.make(), \`\${new Sub()}\`, Sub.make.call(Base)); } catch (e) { log.push(e.name); }`,
    ],
    [
      1,
      code`try { class Early extends P { constructor(e) { if (e > 1) { this.v; } const read = () => this; try { read(); } catch (err) { log.push(err.name); } super(e); log.push(read() === this); if (e < 0) return 1; } } ${block} log.push(new Early(${number}).d); } catch (e) { log.push(e.name); }`,
    ],
    [
      1,
      code`{ const Made = ${
        word(
          "class { static name = 'own'; }",
          "class Inner { static self = Inner; m() { return Inner; } }",
          "class extends null { static m() { return 1; } }",
          "(() => class {})()",
        )
      }; log.push(Made.name, typeof Made.self, Object.getOwnPropertyNames(Made).sort()); try { Made(); } catch (e) { log.push(e.name); } try { log.push(new Made().m?.() === Made); } catch (e) { log.push(e.name); } }`,
    ],
    [
      1,
      code`{ const each = { async *ag() { yield 1; }, *g() { yield* this.list; }, list: [${number}, ${constant}], get [s]() { return 2; }, set [s](e) { log.push(e); }, 'quoted key': 1, 5: 2, async am() { return 1; } }; each[s] = 1; log.push([...each.g()], Object.keys(each), each[5]); ${block} }`,
    ],
  ];
}

function closings(
  { number, truth, block, list, fuel }: StatementParts,
): readonly (readonly [number, Text])[] {
  const inner = closed(block), spent = closed(fuel), constant = closed(number);
  const ends = ["next(2)", "return(3)", "throw(new RangeError('out'))", "return()", "next()"];
  return [
    [
      2,
      code`try { const g = (function* () { outer: for (let a = 0; a < 3; a++) { ${spent} try { for (const e of it(${
        closed(list)
      })) { ${spent} try { const got = yield [a, e]; if (got > 1) continue outer; if (got === 1) break outer; } finally { log.push('in', a); ${inner} if (${
        closed(truth)
      }) yield 'held'; } } } finally { log.push('out', a); if (${
        closed(truth)
      }) continue; } } return ${constant}; })(); log.push(g.next(), g.${
        word(...ends)
      }); ${block} log.push(g.${word(...ends)}, g.${
        word(...ends)
      }, g.next()); } catch (e) { log.push(e.name, e.message); }`,
    ],
    [
      1,
      code`log.push((() => { try { try { ${inner} if (${
        closed(truth)
      }) return 1; throw new Error('one'); } finally { if (${
        closed(truth)
      }) return 2; log.push('f1'); } } catch (e) { return e.message; } finally { log.push('f2'); } })());`,
    ],
    [
      1,
      code`try { const source = { [Symbol.iterator]() { let at = 0; return { get next() { log.push('get next'); return () => ({ get done() { log.push('done'); return at > 2; }, get value() { log.push('value'); return at++; } }); }, get return() { log.push('get return'); return ${
        word("undefined", "null", "() => ({})", "() => 1", "() => { throw new RangeError('return'); }")
      }; } }; } }; ${
        word(
          "const [a, b] = source; log.push(a, b);",
          "for (const e of source) { log.push(e); if (e > 0) break; }",
          "log.push([...source], Math.max(...source));",
          "log.push(new Map([source]), new Set(source));",
          "for (const e of source) { throw new TypeError('body'); }",
          "const [a, ...b] = source; log.push(b);",
          "const [] = source;",
          "log.push(Array.from(source, (e) => { if (e > 0) throw new TypeError('map'); return e; }));",
          "log.push(Iterator.from(source).take(2).toArray());",
          "log.push(Object.fromEntries([source, [s, n]]));",
          "[o.a = n, o[s]] = source;",
          "log.push(...(function* () { yield* source; })());",
        )
      } ${block} } catch (e) { log.push(e.name, e.message); }`,
    ],
    [
      1,
      code`try { const g = gen(${number}); const [a, ...b] = g; ${block} log.push(a, b.length, g.next(), [...g]); const self = (function* () { try { log.push(self.next()); } catch (e) { log.push(e.name); } yield 1; })(); log.push([...self]); } catch (e) { log.push(e.name); }`,
    ],
    [
      1,
      code`try { class Tree { constructor(v, ...kids) { this.v = v; this.kids = kids; } *[Symbol.iterator]() { yield this.v; for (const e of this.kids) yield* e; } } const tree = new Tree(${number}, new Tree(n), new Tree(k, new Tree(1))); for (const e of tree) { ${fuel} if (e === ${number}) continue; log.push(e); ${block} } log.push(Math.max(...tree), [...tree].length); } catch (e) { log.push(e.name); }`,
    ],
  ];
}

/** Statements in rare forms of asynchronous functions. */
export function statementsOfAsyncForms(
  { number, tensor, truth, block, fuel, list }: StatementParts,
): readonly (readonly [number, Text])[] {
  const constant = closed(number), inner = closed(block), spent = closed(fuel);
  const ends = [
    "next(1)",
    "return(later(3))",
    "throw(new RangeError('out'))",
    "return(fails(n))",
    "next(later(1))",
  ];
  return [
    [
      2,
      code`try { const all = (async function* () { try { const r = yield* (async function* () { try { yield later(1); yield ${
        closed(tensor)
      }; return 'r'; } finally { log.push('inner'); await null; } })(); log.push(r); yield* it(${
        closed(list)
      }); } finally { ${inner} log.push('all'); if (${
        closed(truth)
      }) yield 'held'; } })(); log.push(await all.next()); ${block} log.push(await all.${
        word(...ends)
      }, await all.${word(...ends)}, await all.next()); } catch (e) { log.push(e.name); }`,
    ],
    [
      1,
      code`log.push(await (async () => { try { return await fails(${
        word("n", "3", "k")
      }); } catch (e) { ${inner} return e.message; } finally { await null; log.push('f', p); } })());`,
    ],
    [
      1,
      code`for (let turn = 0; turn < 2; turn++) { ${fuel} try { if (${truth}) continue; log.push(await later(turn)); ${block} } finally { await null; log.push('turn', turn); held.push(() => turn); } }`,
    ],
    [
      1,
      code`try { const queue = { async *[Symbol.asyncIterator]() { for (let a = 0; a < 3; a++) { ${spent} yield a; } } }; for await (const ${
        word("e", "{ length: e = 1 }", "e")
      } of queue) { ${fuel} log.push(e); ${block} if (${truth}) break; } } catch (e) { log.push(e.name); }`,
    ],
    [
      1,
      code`{ const jobs = []; later(1).then(() => jobs.push('then')); queueMicrotask(() => jobs.push('micro')); (async () => { jobs.push('sync'); await null; jobs.push('async'); })(); ${block} await ${
        word("null", "later(2)", "0", "Promise.resolve().then(() => {})")
      }; log.push([...jobs]); await null; log.push(jobs); }`,
    ],
    [
      1,
      code`try { log.push(await Promise.all([...${list}].map(async (e, at) => { await null; if (e === ${constant}) throw new RangeError('job' + at); return t0.add(e).clamp(-9, 9); }))); } catch (e) { log.push(e.message); }`,
    ],
    [
      1,
      code`{ const { promise, resolve } = Promise.withResolvers(); const got = promise.then((e) => { log.push('got', e); return ${constant}; }); resolve(${
        word("n", "later(k)", "o", "t0")
      }); ${block} log.push(await got, await promise === t0); }`,
    ],
    [
      1,
      code`{ const fold = async (e) => e < 1 ? ${constant} : (await fold(e - 1)) + (await later(1)); log.push(await fold(${
        word("2", "k", "1")
      })); t0 = t0.add(await fold(1)).clamp(-9, 9); ${block} }`,
    ],
  ];
}
