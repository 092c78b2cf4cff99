/**
 * Random statements about members: private ones, static blocks, accessors, symbols, proxies, optional calls, closures
 * whose variables change. Invariant: what an initialiser or a method contains does not leave it.
 */
import type { Expressions } from "./expressions.ts";
import { choose, closed, code, type Text, word } from "./text.ts";

/** The texts that statements are made of. */
export type StatementParts = Expressions & Readonly<Record<"block" | "fuel", Text>>;

/** Statements about members of classes and objects. */
export function statementsOfMembers(parts: StatementParts): readonly (readonly [number, Text])[] {
  return [...classes(parts), ...proxies(parts), ...keys(parts), ...captured(parts)];
}

function classes({ number, tensor, block }: StatementParts): readonly (readonly [number, Text])[] {
  const inner = closed(block), constant = closed(number);
  return [
    [
      1,
      code`{ class Own { #v = ${constant}; static #made = 0; static { Own.#made = ${constant}; } get v() { log.push('get v'); return this.#v; } set v(e) { this.#v = e; } #twice(e) { return this.#v * 2 + e; } static made() { return Own.#made++; } has(e) { return #v in e; } m(e = ${constant}) { ${inner} return this.#twice(e); } } const own = new Own(); ${block} own.v ${
        word("=", "+=", "??=", "||=")
      } ${number}; log.push(own.v, own.m(), own.m(${number}), Own.made(), own.has(o), own.has(own)); held.push(() => own.m(1), () => Own.made()); }`,
    ],
    [
      1,
      code`{ class Cell { #t = x; #n = ${constant}; static { log.push('cell'); } step(e) { this.#n++; this.#t = this.#t.add(e).clamp(-9, 9); return this.#t; } get last() { return this.#t; } get n() { return this.#n; } } const cell = new Cell(); cell.step(${tensor}); ${block} t0 = cell.step(${number}); log.push(cell.last === t0, cell.last, cell.n); held.push(() => cell.step(1)); }`,
    ],
    [
      1,
      code`{ const key = Symbol('k'); class Keyed extends P { static [key] = ${constant}; static { this.more = this[key] + 1; } get [key]() { return super.d + ${constant}; } set [key](e) { super.d = e; } [s + 'm'](e) { return e; } static [s]() { return this === Keyed; } } const keyed = new Keyed(${number}); ${block} keyed[key] = ${number}; log.push(keyed[key], Keyed.more, keyed.sm?.(1), Keyed[s]?.(), Object.getOwnPropertySymbols(Keyed.prototype).length); }`,
    ],
    [
      1,
      code`try { class Same { constructor(e) { if (e > 1) return o; this.e = e; } } class Marked extends Same { #p = ${constant}; f = this.e; static read(e) { return #p in e ? e.#p : 'none'; } } ${block} log.push(new Same(${number}) === o, Marked.read(new Marked(${number})), Marked.read(w)); } catch (e) { log.push(e.name); }`,
    ],
    [
      1,
      code`{ class Count extends ${
        word("Array", "Map", "Set")
      } { total = ${constant}; get twice() { return this.total * 2 + (this.size ?? this.length); } } const count = new Count(); count.total += ${number}; ${block} log.push(count.twice, count); }`,
    ],
    [
      1,
      code`{ const Mixed = ((Base) => class extends Base { #e = ${constant}; inc(e) { return super.inc(e) + this.#e++; } })(${
        word("P", "Q")
      }); const mixed = new Mixed(${number}); log.push(mixed.inc(1)); ${block} log.push(mixed.inc(k), Mixed.name, mixed instanceof P); }`,
    ],
    [1, code`log.push(o.p?.d, o.p.inc(${number})); o.p.d ${word("=", "+=")} ${number}; t0 = o.p.apply(t0);`],
  ];
}

function proxies(
  { number, tensor, truth, list, block }: StatementParts,
): readonly (readonly [number, Text])[] {
  const constant = closed(number), inner = closed(block);
  return [
    [
      1,
      code`try { const { proxy, revoke } = Proxy.revocable({ a: ${number}, t: ${tensor} }, { get(target, key, receiver) { log.push('get ' + String(key)); return Reflect.get(target, key, receiver); }, set(target, key, e) { log.push('set ' + String(key)); target[key] = e; return ${
        closed(truth)
      }; }, ownKeys(target) { log.push('keys'); return Reflect.ownKeys(target); }, deleteProperty(target, key) { log.push('delete'); return delete target[key]; } }); proxy.a ${
        word("=", "+=")
      } ${number}; t0 = proxy.t.add(1).clamp(-9, 9); ${block} log.push(Object.keys(proxy), { ...proxy }); delete proxy.a; revoke(); log.push(proxy.a); } catch (e) { log.push(e.name); }`,
    ],
    [
      1,
      code`{ const call = new Proxy(h0, { apply(target, self, args) { ${inner} log.push(args.length); return Reflect.apply(target, self, args) + ${constant}; } }); log.push(call(${number}), call.call(null, 1), [1, 2].map(call)); }`,
    ],
    [
      1,
      code`{ const view = new Proxy(${list}, { get(target, key) { log.push(String(key)); return target[key]; } }); log.push(view.length, view.map((e) => e + ${constant}), [...view]); ${block} }`,
    ],
  ];
}

function keys({ number, value, truth, list, block }: StatementParts): readonly (readonly [number, Text])[] {
  const constant = closed(number);
  return [
    [
      1,
      code`{ const kind = { [Symbol.hasInstance](e) { log.push('kind'); return ${
        closed(truth)
      }; } }; log.push(o instanceof kind, ${value} instanceof kind); }`,
    ],
    [
      1,
      code`{ const part = { length: 2, 0: n, 1: k, [Symbol.isConcatSpreadable]: ${truth} }; log.push(${list}.concat(part, [[n]])); }`,
    ],
    [1, code`log.push(String({ get [Symbol.toStringTag]() { log.push('tag'); return s + ${constant}; } }));`],
    [
      1,
      code`{ const seen = (strings, ...more) => [strings, more.length]; const each = (e) => seen\`a\${e}\\n\${${constant}}\`; const [first] = each(1), [second] = each(${number}); log.push(first === second, Object.isFrozen(first), first.raw); ${block} }`,
    ],
    [
      1,
      code`log.push(o.fn?.(p++), o?.[s]?.(p++).z, o.deep?.get?.(), delete o?.deep?.z, (o.none)?.[p++], o.a?.toString?.(2), w?.inc?.(${number}));`,
    ],
    [
      1,
      code`log.push([...[1, , ${number}], ...${list}], { ...[n, , k] }, h0(...[, ${number}]), [, ...${list}]);`,
    ],
    [
      1,
      code`{ const each = { [n]: 1, b: ${number}, [k]: 2, '-1': 3, [${
        word("'b'", "s", "`${n}`", "-0", "1.5")
      }]: 4, __proto__: ${
        word("o", "null", "{ q: n }")
      } }; ${block} log.push(Object.keys(each), each.q, each[k]); }`,
    ],
    [
      1,
      code`Object.defineProperties(${
        word("o", "{}", "w")
      }, { half: { get() { log.push('half'); return this.a + ${constant}; }, configurable: true, enumerable: ${truth} }, [s]: { value: ${number}, configurable: true } }); log.push(o.half, Object.keys(o));`,
    ],
  ];
}

function captured({ number, tensor, list, block }: StatementParts): readonly (readonly [number, Text])[] {
  const constant = closed(number);
  return [
    [
      1,
      code`{ let go = (e) => e + 1; const call = (e) => go(e); log.push(call(${number})); ${block} go = (e) => e * 2 + p; log.push(call(${number})); held.push(() => call(1)); }`,
    ],
    [
      1,
      code`{ let last = ${tensor}; const read = () => last, write = (e) => { last = e; }; ${block} write(last.add(${number}).clamp(-9, 9)); log.push(read()); held.push(read, () => write(x)); t0 = read(); }`,
    ],
    [
      1,
      code`{ const { a = (log.push('a'), ${number}), b: { z = p++ } = (log.push('b'), {}), [s + 'x']: y1 = ${number}, ...more } = ${
        word("o", "{ a: undefined }", "w")
      }; ${block} log.push(a, z, y1, Object.keys(more)); }`,
    ],
    [
      1,
      code`[p = (log.push('p'), c0++), o[(log.push('key'), 'b')] = p + 1] = ${
        choose([1, list], [1, code`it(${list})`])
      };`,
    ],
    [
      1,
      code`log.push(((a = p++, { z = a } = { z: undefined }, [e = z] = []) => [a, z, e])(${
        word("", "undefined", "1, {}", "1, undefined, [2]")
      }));`,
    ],
    [
      1,
      code`weak.set(${
        word("x", "y", "o", "list", "t0")
      }, (weak.get(x) ?? 0) + ${number}); log.push(weak.has(y), weak.get(x), weak.get(list));`,
    ],
    [1, code`ring[c1++ % 3] = ${number}; log.push(ring, ring[c1 % 3]); ring[n & 1] += 1;`],
    [
      1,
      code`tape[c0 & 3] = ${number}; p += tape[n & 3]; log.push(tape); tape.set(${list}.slice(0, 2), k & 1);`,
    ],
    [
      1,
      code`{ const found = new WeakRef(${
        word("x", "o", "t0")
      }).deref(); ${block} log.push(found === x, found === o); held.push(() => ${constant}); }`,
    ],
  ];
}
