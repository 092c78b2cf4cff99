/**
 * Random statements about the language's library: numbers at the edges of their range, integers without limit, dates,
 * regular expressions, texts, JSON, sorting, clones. Invariant: only records of their values leave them, since numbers
 * of programs stay small.
 */
import type { StatementParts } from "./members.ts";
import { closed, code, type Text, word } from "./text.ts";

const EDGES = word(
  ...["-0", "NaN", "2 ** 31", "2 ** 53", "-(2 ** 31) - 1", "1e21", "0.1", "5e-324", "Infinity", "n", "n / k"],
  ...["n * -0", "2 ** 53 + n", "(n - 0.5)", "2 ** 32 - k", "x.sum().item()", "x.sum().item() * -0"],
);

/** Statements about the library. */
export function statementsOfLibrary(parts: StatementParts): readonly (readonly [number, Text])[] {
  return [...numbers(), ...texts(parts), ...structures(parts), ...sorts(parts), ...readFromTensors(parts)];
}

function numbers(): readonly (readonly [number, Text])[] {
  const functions = [
    "round",
    "fround",
    "sign",
    "trunc",
    "cbrt",
    "abs",
    "floor",
    "ceil",
    "sqrt",
    "clz32",
    "log1p",
  ];
  return [
    [
      2,
      code`log.push((${EDGES}) ${
        word("+", "-", "*", "/", "%", "**", "|", "&", "<<", ">>>", "<", "===")
      } (${EDGES}));`,
    ],
    [1, code`log.push(Math.${word(...functions)}(${EDGES}), Object.is(${EDGES}, ${EDGES}));`],
    [1, code`log.push(Math.${word("max", "min", "hypot", "imul", "atan2", "pow")}(${EDGES}, ${EDGES}));`],
    [
      1,
      code`log.push((${EDGES}).${
        word("toFixed(2)", "toString()", "toString(2).length", "toPrecision(3)", "toExponential(1)")
      }, \`\${${EDGES}}\`);`,
    ],
    [
      1,
      code`log.push(Number.${
        word("isSafeInteger", "isInteger", "isNaN", "parseFloat")
      }(${EDGES}), [NaN, -0, n].${
        word("includes", "indexOf", "lastIndexOf")
      }(${EDGES}), new Set([${EDGES}, -0, NaN]));`,
    ],
    [
      1,
      code`try { log.push(${
        word(
          "BigInt.asUintN(8, BigInt(n) - 3n)",
          "2n ** 64n + BigInt(k)",
          "BigInt(n) / 2n",
          "BigInt(n) % BigInt(k)",
          "BigInt(n) << BigInt(k)",
          "-BigInt(n) >> 1n",
          "BigInt(2 ** 53) + BigInt(n)",
          "BigInt(n) + k",
          "BigInt(n / k)",
          "BigInt(n) == n",
          "[3n, 1n, BigInt(n)].sort()",
          "Number(BigInt(n) * 3n)",
          "BigInt(`${k}`).toString(2)",
          "new Map([[BigInt(n), 1]]).get(1n)",
        )
      }); } catch (e) { log.push(e.name, e.message); }`,
    ],
    [
      1,
      code`{ let wide = BigInt(n); wide ${word("+=", "*=", "-=", "|=")} ${word("2n", "BigInt(k)")}; wide${
        word("++", "--")
      }; log.push(wide, typeof wide, wide > n); held.push(() => wide++); }`,
    ],
  ];
}

function texts({ number, block }: StatementParts): readonly (readonly [number, Text])[] {
  const constant = closed(number);
  const odd = word(
    "'a😀b'",
    "(s + '😀')",
    "o.word",
    "'\\ud83d' + s",
    "'e\\u0301' + o.word",
    "'ab,c,' + n",
    "''",
  );
  return [
    [
      2,
      code`log.push(${odd}.${
        word(
          ...["at(k)", "charCodeAt(k)", "codePointAt(k)", "isWellFormed()", "toWellFormed()", "normalize()"],
          ...[
            "slice(k)",
            "slice(-k, n)",
            "substring(n, k)",
            "lastIndexOf('b')",
            "padEnd(n + 3, 'xy')",
            "length",
          ],
          ...["split('', k)", "split(',')", "toUpperCase()", "trimEnd()", "indexOf('b', k)", "repeat(k)"],
          ...[
            "localeCompare(s)",
            "concat(n, null)",
            "charAt(n)",
            "replace('b', '$&$`')",
            "startsWith('b', k)",
          ],
        )
      });`,
    ],
    [
      1,
      code`log.push([...${odd}].length, Array.from(${odd}, (e) => e.length), String.fromCodePoint(128512 + k), String.raw\`\\u{\${${number}}}\`);`,
    ],
    [1, code`for (const e of ${odd}) { log.push(e); ${block} break; }`],
    [
      1,
      code`{ const sticky = ${
        word("/[a-f]/y", "/[a-f]/gy", "/(?<c>.)\\1*/g", "/b|/g", "new RegExp(o.word + '|' + n, 'g')", "/./du")
      }; sticky.lastIndex = ${number}; const found = sticky.exec(${odd}); log.push(found?.index, found?.groups?.c, sticky.lastIndex); ${block} log.push(sticky.test(o.word + s), sticky.lastIndex, sticky.flags); }`,
    ],
    [
      1,
      code`log.push(${odd}.${
        word(
          ...["replace(/(?<c>[a-f])/g, (...all) => all.length + all.at(-1).c)", "replaceAll(/b/g, '[$&]')"],
          ...["match(/./g)", "match(/(.)(x)?/)", "search(/[b-e]/)", "split(/(,)/)", "split(/(?=b)/, 2)"],
        )
      }, [...${odd}.matchAll(/[a-e]/g)].map((e) => e.index + ${constant}));`,
    ],
    [
      1,
      code`{ const when = new Date(${
        word("Date.UTC(2020, k, n)", "NaN", "n * 1e9", "2024, n, k, 12", "'2021-02-03T04:05:06Z'")
      }); try { when.set${
        word("UTCMonth(k)", "FullYear(2000 + n)", "UTCHours(k, n)", "Milliseconds(n)", "Time(n)")
      }; ${block} log.push(when.toISOString(), when.getDay(), when - new Date(0), JSON.stringify(when), when < Date.UTC(2022)); } catch (e) { log.push(e.name, Number(when)); } }`,
    ],
  ];
}

function structures(
  { number, value, truth, list, block }: StatementParts,
): readonly (readonly [number, Text])[] {
  const constant = closed(number), inner = closed(block);
  return [
    [
      1,
      code`log.push(JSON.parse('{"a":[1,${
        word("2", "null", "true")
      },{"b":' + k + '}],"c":' + n + '}', function (key, e) { log.push(key, Array.isArray(this)); ${inner} return typeof e === 'number' ? ${
        word("e + 1", "undefined", "[e]")
      } : e; }));`,
    ],
    [
      1,
      code`log.push(JSON.stringify({ a: n, u: undefined, d: -0, f: () => 1, list, e: { toJSON(key) { log.push(key); return ${constant}; } }, w: [undefined, NaN, s] }, ${
        word(
          "null",
          "['a', 'w', 'e']",
          "(key, e) => typeof e === 'number' ? e + 1 : e",
          "function (key, e) { log.push(key); return e; }",
        )
      }, ${word("k", "'-'", "undefined", "n")}));`,
    ],
    [
      1,
      code`try { log.push(JSON.parse(${
        word("o.word", "'[1,' + n + ']'", "'{'", '`"${s}"`', "'1e' + k")
      })); } catch (e) { log.push(e.name); }`,
    ],
    [
      1,
      code`{ const made = structuredClone({ a: [${number}, , 1], m: new Map([[n, { k }]]), when: new Date(n), e: new RangeError(s), f: by.f, ...${
        word("{}", "null", "[k]")
      } }); ${block} log.push(made, made.a === list); }`,
    ],
    [
      1,
      code`try { throw new ${
        word(
          "AggregateError([n, s], 'many', { cause: o })",
          "Error(s, { cause: new TypeError('c', { cause: n }) })",
          "SuppressedError(1, 2)",
        )
      }; } catch (e) { ${block} log.push(e, e.cause?.cause, 'cause' in e, e.errors, e.toString(), Object.keys(e)); }`,
    ],
    [
      1,
      code`log.push(Object.groupBy(${list}, (e, at) => ${
        word("e", "at % 2", "s + e")
      }), Map.groupBy(${list}, (e) => e > ${constant}), Object.entries({ b: 1, [k]: 2, a: ${value} }).length);`,
    ],
    [
      1,
      code`{ const made = new Array(${word("k", "3", "n, k")}); made[${
        word("k", "1", "5")
      }] = ${number}; ${block} log.push(made, made.length, made.findLastIndex((e) => e === undefined), ${truth} in made, made.flat()); }`,
    ],
    [
      1,
      code`{ const found = { [o.word]: ${number}, [s + k]: n }; found[o.word] += 1; delete found[s + n]; log.push(found, found[o.word], o.word in found); }`,
    ],
  ];
}

function sorts({ number, list, truth, tensor }: StatementParts): readonly (readonly [number, Text])[] {
  const constant = closed(number);
  return [
    [
      1,
      code`log.push([10, n, 9, k, ${number}].${
        word("sort()", "toSorted()")
      }, [s, o.word, undefined, n].sort());`,
    ],
    [
      1,
      code`log.push([...${list}, n, k].toSorted((a, b) => { log.push(a, b); return ${
        word("a - b", "b - a", "0", "a < b", "a % 2 - b % 2")
      }; }));`,
    ],
    [
      1,
      code`try { ${list}.sort((a, b) => { if (a > b + ${constant}) throw new RangeError('sort'); return a - b; }); } catch (e) { log.push(e.message); } log.push(list);`,
    ],
    [
      1,
      code`{ const sorted = [x, ${tensor}, y].sort((a, b) => a.sum().item() - b.sum().item()); t0 = sorted[0]; log.push(sorted.indexOf(x)); }`,
    ],
    [
      1,
      code`log.push([{ e: n, at: 0 }, { e: k, at: 1 }, { e: n, at: 2 }].sort((a, b) => a.e - b.e).map(({ at }) => at), ${list}.find((e) => ${
        closed(truth)
      }));`,
    ],
  ];
}

/** Numbers that only the tensors' elements decide, as positions, keys and names. */
function readFromTensors({ number, list, block }: StatementParts): readonly (readonly [number, Text])[] {
  const read = word("x.argmax().item()", "x.argmin().item()", "(x.sum().item() & 3)", "x.gt(0).sum().item()");
  return [
    [1, code`log.push(['zero', 'one', 'two', 'three'][${read}]); ${block}`],
    [
      1,
      code`{ const at = ${read}; log.push(${list}[at], s.repeat(at), by.f.subarray(at).length, x.shape[at], \`\${at}\`); ring[at] = ${number}; }`,
    ],
    [
      1,
      code`{ const at = ${read}; m.set(at, (m.get(at) ?? 0) + 1); o['k' + at] = at; log.push(m.get(at), ring.at(-at)); ${block} }`,
    ],
    [1, code`for (let at = 0; at < ${read} && at < 3; at++) { t0 = t0.add(at).clamp(-9, 9); log.push(at); }`],
    [1, code`switch (${read}) { case 0: t0 = t0.neg(); break; case 1: ${block} default: p++; }`],
  ];
}
