/**
 * The last match of a regular expression, which programs read as RegExp.$1, RegExp.lastMatch and so on: compiled
 * functions leave it as plain ones do, and dyn's own work leaves none.
 */
import { assertEquals } from "@std/assert";
import { compile, compiler, type Tensor, tensor } from "../mod.ts";
import { keepingLastMatch, withProgramsMatch } from "../lib/base/last_match.ts";

const NAMES = ["$1", "$2", "$9", "lastMatch", "lastParen", "leftContext", "rightContext", "input"] as const;
const state = () => NAMES.map((name): unknown => Reflect.get(RegExp, name));
const first = (): unknown => Reflect.get(RegExp, "$1");

const sticky = /[cd](\w)/g;

const PROGRAMS: Readonly<Record<string, (x: Tensor, call: number) => unknown>> = {
  exec: (x) => [x.add(1), /b(c)d/.exec("abcde")?.[1]],
  test: (x) => [x.add(1), /zz(z)?/.test("zz top")],
  "nothing matches": (x) => [x.add(1), /zz/.test("top"), "a.b".split("."), "ab".replace("a", "c")],
  replace: (x) => [x.add(1), "hello world".replace(/o (w)/g, "_$1")],
  "a callback of replace": (x) => {
    const seen: string[] = [];
    const text = "a1b2c3".replace(/(\d)/g, (found) => {
      seen.push(found);
      /(q)./.exec("qr");
      return "";
    });
    return [x.add(1), text, seen];
  },
  split: (x) => [x.add(1), "a1b2c3".split(/(\d)/)],
  search: (x) => [x.add(1), "a1b2c3".search(/[bc](\d)/)],
  "match of a text": (x) => [x.add(1), "a1b2".match("b(.)")?.[0]],
  matchAll: (x) => [x.add(1), Array.from("a1b2c3".matchAll(/(\d)/g), ([found]) => found)],
  "some of matchAll": (x) => {
    for (const [found] of "a1b2c3".matchAll(/(\d)/g)) if (found === "2") return x.add(1);
    return x;
  },
  "an expression of the program": (x) => [x.add(1), sticky.exec("a ce dx")?.[1]],
  "groups before the match, without text and beyond nine": (x) => {
    /(?<=(a)(b)?)(c)(d)(e)(f)(g)(h)(i)(j)(k)/.exec("aacdefghijkl");
    return x.add(1);
  },
  "a read after a match": (x) => {
    /q(r)/.test("pqrs");
    return [x.add(1), first()];
  },
  "reads before and after the end of a graph": (x) => {
    const before = first();
    /q(r)/.test("pqrs");
    const isLarge = x.sum().item() > 100;
    return [before, isLarge, first(), x.add(1)];
  },
  "an assigned input": (x, call) => {
    Reflect.set(RegExp, "input", `input ${call}`);
    return [x.add(1), Reflect.get(RegExp, "$_")];
  },
  "a match in a loop": (x) => {
    let y = x;
    for (const word of ["a1", "b2", "c"]) if (/(\w)\d/.test(word)) y = y.add(word.length);
    return y;
  },
};

for (const [name, program] of Object.entries(PROGRAMS)) {
  Deno.test(`the last match after a compiled call: ${name}`, () => {
    const compiled = compile(program, { backend: "eager" }), x = tensor([1, 2]);
    x.add(1).sum().item();
    const run = (fn: typeof program, call: number): unknown => {
      sticky.lastIndex = 0;
      /x(y)z/.exec(`__xyz${call}`);
      const result = fn(x, call), left = state();
      return [JSON.stringify(result, (_key, each) => each?.layout ? each.tolist() : each), left];
    };
    for (let call = 0; call < 3; call++) assertEquals(run(compiled, call), run(program, call));
  });
}

Deno.test("matches of known texts stay in one graph", () => {
  const { graphBreakCount } = compiler.explain((x: Tensor) => {
    const [, size = ""] = /(\d+)px/.exec("12px") ?? [];
    return x.add(Number(size)).add("a-b".split(/-/).length);
  })(tensor([1]));
  assertEquals(graphBreakCount, 0);
});

Deno.test("work keeps any last match, and programs in the middle of it find and leave theirs", () => {
  const long = "ab".repeat(20_000);
  const cases: readonly (readonly [RegExp, string])[] = [
    [/(?:)/, ""],
    [/b(c)?(d)/, "abd"],
    [/b(c)?(d)(e)?/, "abd"],
    [/(?<=(a)(b))(c)/, "xabcab"],
    [/(a)(?=(bc))/, "xabcab"],
    [/\uDC00(.)/, "\uD83D\uDC00x"],
    [/(a)(b)(a)(b)(a)(b)(a)(b)(a)(b)(a)/, long],
    [/(a)(b)(a)(b)(a)(b)(a)(b)(a)(b)(z)?/, long],
    [/(ab){1000}$/, long],
    [/^[^]*(b)/, long],
  ];
  for (const [regexp, text] of cases) {
    regexp.exec(text);
    const left = state();
    keepingLastMatch(() => {
      /(w)(o)/.exec("work");
      withProgramsMatch(() => assertEquals(state(), left));
      /(r)/.exec("work");
    });
    assertEquals(state(), left);
    keepingLastMatch(() => {
      withProgramsMatch(() => /p(r)o/.exec("program"));
      /(w)(o)/.exec("work");
    });
    assertEquals(first(), "r");
  }
});
