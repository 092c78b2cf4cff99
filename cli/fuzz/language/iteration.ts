/**
 * Random statements about iteration: generators that are driven from outside, collections that change while they are
 * iterated, iterator helpers, loops that are left through `finally`. Invariant: every loop consumes fuel.
 */
import type { StatementParts } from "./members.ts";
import { choose, closed, code, JUMP, labelled, type Text, word } from "./text.ts";

/** Statements about iteration. */
export function statementsOfIteration(parts: StatementParts): readonly (readonly [number, Text])[] {
  const { number, tensor, truth, list, block, fuel } = parts;
  const inner = closed(block), constant = closed(number), spent = closed(fuel);
  const ends = ["next(9)", "return(3)", "throw(new RangeError('out'))", "return()", "next()"];
  return [
    [
      2,
      code`try { const g = (function* (a) { try { while (true) { ${spent} const e = yield t0.add(a).clamp(-9, 9); if (e > 2) return e; a += e ?? 1; } } catch (e) { log.push('in', e.message); yield ${constant}; } finally { log.push('fin'); ${inner} } })(${number}); log.push(g.next().value, g.next(${number})); ${block} log.push(g.${
        word(...ends)
      }); log.push(g.${word(...ends)}, g.next()); } catch (e) { log.push(e.message); }`,
    ],
    [
      1,
      code`try { const outer = (function* () { try { const r = yield* gen(${constant}); log.push('r', r); yield* it(${
        closed(list)
      }); } finally { log.push('outer'); } })(); log.push(outer.next()); ${block} log.push(outer.${
        word(...ends)
      }, outer.next()); } catch (e) { log.push(e.message); }`,
    ],
    [
      1,
      code`{ const each = ${
        word("m.entries()", "m.keys()", "st.values()", "list.entries()", "mine.values()")
      }; log.push(each.next()); m.set(${number}, ${tensor}); m.delete(1); st.add(n).delete(k); list.push(1); ${block} log.push([...each], each.next()); }`,
    ],
    [1, code`st.forEach((e) => { ${spent} st.delete(e); if (e < 3) st.add(e + 1); ${inner} log.push(e); });`],
    [
      1,
      code`m.forEach((e, key) => { ${spent} m.delete(key); if (m.size < 3 && key < 3) m.set(key + 1, ${constant}); log.push(key); });`,
    ],
    [
      1,
      code`log.push(${list}.values().${
        word("map((e, at) => e + at)", "filter((e) => e > 0)", "flatMap((e) => [e, e])", "drop(1)")
      }.${
        choose(
          [1, word("take(2).toArray()", "toArray()", "next()", "some((e) => e > 1)", "find((e) => e < 2)")],
          [1, code`reduce((a, e) => a + e + ${constant}, 0)`],
          [1, code`every((e) => { log.push(e); return e > ${constant}; })`],
        )
      });`,
    ],
    [
      1,
      code`log.push(Iterator.from(it(${list})).${word("drop(1)", "take(1)", "map((e) => t0)")}.toArray());`,
    ],
    [
      1,
      code`{ const lazy = ${list}.values().map((e) => { log.push('map', e); return t0.add(e).clamp(-9, 9); }); log.push(lazy.next().done); ${block} for (const e of lazy) { ${fuel} t1 = e; if (${truth}) break; } log.push(lazy.next().done); }`,
    ],
    [
      2,
      labelled(
        "loop",
        code`for (let turn = 0; turn < 3; turn++)`,
        code`${fuel} for (const v of ${
          choose([1, list], [1, code`it(${list})`], [1, code`gen(${number})`])
        }) { ${fuel} try { if (${truth}) { ${JUMP} } ${block} } finally { log.push('f', v, turn); if (${truth}) { ${JUMP} } held.push(() => v + turn); } }`,
      ),
    ],
    [
      1,
      code`log.push((() => { for (const v of it(${
        closed(list)
      })) { try { return v; } finally { ${inner} log.push('left'); if (${
        closed(truth)
      }) break; } } return 'none'; })());`,
    ],
    [
      1,
      code`{ using first = { [Symbol.dispose]() { log.push('first'); if (${
        closed(truth)
      }) throw new Error('one'); } }, none = null, second = { [Symbol.dispose]() { log.push('second'); throw new RangeError('two'); } }; ${block} }`,
    ],
    [
      1,
      code`try { using stack = new DisposableStack(); stack.defer(() => log.push('deferred', p)); log.push(stack.adopt(${number}, (e) => log.push('adopted', e)), stack.use({ [Symbol.dispose]() { ${inner} log.push('used'); } }) === null); ${block} if (${truth}) throw new Error(s); log.push(stack.disposed); } catch (e) { log.push(e.name, e.error?.message); }`,
    ],
  ];
}

/** Statements about iteration in asynchronous functions. */
export function statementsOfAsyncIteration(parts: StatementParts): readonly (readonly [number, Text])[] {
  const { number, tensor, truth, block, fuel } = parts;
  const constant = closed(number), inner = closed(block);
  return [
    [
      2,
      code`try { const each = (async function* (a) { try { yield later(a); const e = yield ${
        closed(tensor)
      }; log.push('sent', e); yield* [later(1), 2]; } catch (e) { log.push('in', e.message); } finally { await null; ${inner} log.push('ag'); } })(${number}); log.push(await each.next()); ${block} log.push(await each.${
        word("next(1)", "return(later(2))", "throw(new RangeError('out'))")
      }, await each.next()); } catch (e) { log.push(e.message); }`,
    ],
    [
      1,
      code`log.push(await Array.fromAsync(${
        word("[later(1), 2]", "agen(n)", "it(list)", "{ length: 2, 0: later(k) }", "[later(x), t0]", "list")
      }${word("", ", (e) => e", ", async (e) => [e, p]", ", async function (e, at) { return at; }")}));`,
    ],
    [
      1,
      code`{ await using first = { async [Symbol.asyncDispose]() { log.push('async'); await null; log.push('async done'); } }, second = { [Symbol.dispose]() { log.push('sync'); } }; ${block} if (${truth}) { ${JUMP} } }`,
    ],
    [
      1,
      code`for await (const v of agen(${number})) { ${fuel} t0 = t0.add(v).clamp(-9, 9); if (${truth}) { break; } log.push(v, ${number}); }`,
    ],
    [
      1,
      code`log.push(await Promise.all([x, later(t0), (async () => ${constant})()]), (await later(t1)).sum().item());`,
    ],
    [
      1,
      code`try { log.push(await Promise.any([fails(n), later(${number})])); } catch (e) { log.push(e.name, e.errors?.length); }`,
    ],
  ];
}
