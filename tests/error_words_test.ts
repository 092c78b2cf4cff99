/** The engine's error messages after graph breaks use the program's own words, however its expressions are split. */
import { assert, assertEquals } from "@std/assert";
import { compile, compiler, config, tensor } from "../mod.ts";
import { sampleBySeed } from "./support/sampling.ts";

/** Expressions, or bodies with a `return`, of which the engine has something to say. */
const FAILING: readonly string[] = [
  "o.g().clamp(1)",
  "o.f()(1)",
  "o.list[0](1)",
  'o["n"](1)',
  "o.o.p(1)",
  "(x.add(1)).nothing(2)",
  "(x.add(1).mul(2)).nothing(o.n)",
  "[1, 2].nothing(3)",
  "({ a: 1 }).nothing(3)",
  '("abc").nothing(3)',
  "(1)(3)",
  "(look(o)).n(x.add(1))",
  "(o.n ?? o.f)(3)",
  "(o.n ? o.t : o.f).foo(3)",
  "o?.t?.foo(3)",
  "o.t.foo?.bar(3) ?? o.n?.(4)",
  "new o.n(1)",
  "new (o.g())(1)",
  "Math.max(...o.n)",
  "[...o.n]",
  "[...o.g()]",
  "Math.max(...o.f())",
  "const [a] = o.g(); return a;",
  "const [a] = o.n; return a;",
  "const { a } = o.f(); return a;",
  "const { a: { b } } = o.g(); return b;",
  "for (const a of o.n) look(a); return 1;",
  "for (const a of o.g()) look(a); return 1;",
  "const { ...a } = o.f(); return a;",
  "o.n`a`",
  "o.g().h`a`",
  '"a" in o.n',
  "o instanceof o.n",
  "x.add(1).foo.bar",
  "o.f().z = 3; return 1;",
  "new Map(o.n)",
  "(() => 1)().foo()",
  "(async () => 1)().foo()",
  "const a = o.list.map((v) => v.foo()); return a;",
  "(x.sum() > 0 ? o.t : o.n).foo(look(1))",
  "return new (class { m() { return (this).zz(1); } })().m();",
  "o.list.at(look(0))(2)",
  '(o)[`t${"x"}`](2)',
  "(o.n + 1)(2)",
  "(-o.n)(2)",
  "(o.t = 5)(2)",
  "(x, o.n)(2)",
  "(typeof o)(2)",
  "(`a${o.n}`)(2)",
  "return (function () { return 1; })()(2);",
  "(o.g()).a.b.c",
  "o.list.foo.call(2)",
  "new o.o.p.q(2)",
  "new (o.list[0])(2)",
  "(x.relu())(2)",
  "(x.clone()).detach().foo(look(2))",
  "o.t.at(0).foo.bar(x)",
  "[3, 2].map(o.n)",
  "const [[a]] = o.list; return a;",
  "const f = ([a]) => a; return f(o.n);",
  "const f = ({ a }) => a; return f(o.f());",
  "const f = ({ a: { b } }) => b; return f({});",
  "let a; [a] = o.g(); return a;",
  "let a; ({ a } = o.f()); return a;",
  "const q = null; return q.a.b;",
  "(o.g())[Symbol.iterator]().x",
  "(x.mul).foo(x)",
  "o.g()?.foo.bar",
  "o.f?.().foo()",
  "o.missing?.foo.bar() ?? o.missing()",
  "Promise.resolve.call(1)",
  "(o.list.length).foo(x.add(2))",
  "const t = o.g(); return t.a.b(x.add(2));",
  "const t = o.g(); return t.a(x.add(2));",
  "return [...(function* () { yield* o.n; })()];",
  "return [...(function* () { yield* o.f(); })()];",
];

const look = compiler.disable((value?: unknown) => value);

/** The functions of the list, all in one text. */
function failing(): readonly ((x: unknown, o: unknown) => unknown)[] {
  const functions = FAILING.map((text) =>
    `(x, o) => { look(); ${/\breturn\b/.test(text) ? text : `return ${text};`} }`
  );
  return new Function("look", `"use strict";\nreturn [\n${functions.join(",\n")}\n];`)(look);
}

function said(fn: (x: unknown, o: unknown) => unknown): string {
  const o = { n: 1, o: { p: 2 }, list: [1], f: () => undefined, g: () => ({}), t: "s" };
  try {
    return `no error: ${fn(tensor([1.5]), o)}`;
  } catch (error) {
    return `${error}`;
  }
}

Deno.test("errors after breaks have the engine's words for the program's own text", () => {
  const functions = failing(), places = Array.from({ length: 12 }, (_, i) => i + 4);
  for (const forceBreak of [-1, ...sampleBySeed(places, 1)]) {
    config.patch({ forceBreak }, () =>
      functions.forEach((fn, i) => {
        const plain = said(fn);
        assert(!plain.startsWith("no error"), FAILING[i]);
        assertEquals(
          said(compile(fn, { backend: "eager" })),
          plain,
          `${FAILING[i]} with a break at ${forceBreak}`,
        );
      }));
  }
});
