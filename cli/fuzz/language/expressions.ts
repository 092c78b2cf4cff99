/**
 * Random expressions over the variables of a function, as text: numbers, booleans, tensors, lists and other values.
 * Invariant: numbers stay small integers, so that every backend computes them exactly.
 */
import { numbersInMemory, tensorsInMemory, valuesInMemory } from "./memory.ts";
import { choose, closed, code, several, type Text, word } from "./text.ts";

/** Kinds of expressions. */
export type Part = "number" | "truth" | "tensor" | "value" | "list" | "statement";
export type Grammar = Record<Part, string>;
export type Tie = (part: Part) => Text;
export type Expressions = Omit<Record<Part, Text>, "statement">;

export const small = word("0", "1", "2", "3", "-1");
const name = word("n", "k", "p", "q", "i", "c0", "c1");
/** Targets of assignments of numbers. */
export const place = word(
  ...["p", "q", "c0", "o.a", "o.b", "list[0]", "list[1]", "w.w", "w.d", "o['k' + p]", "i"],
);
const local = word("p", "q", "i", "c1");

/** The kinds by name, for expressions that contain others. */
export function partsOf(tie: Tie): Expressions {
  return {
    number: tie("number"),
    truth: tie("truth"),
    tensor: tie("tensor"),
    value: tie("value"),
    list: tie("list"),
  };
}

/** The expressions. */
export function expressions(tie: Tie): Expressions {
  return {
    number: numbers(tie),
    truth: truths(tie),
    tensor: tensors(tie),
    list: lists(tie),
    value: values(tie),
  };
}

function numbers(tie: Tie): Text {
  const { number, truth, tensor, value, list } = partsOf(tie);
  const argument = choose([2, number], [1, word("undefined")]);
  const properties = ["list.length", "x.shape[0]", "o.a", "w.w", "w.d", "list[0]", "m.size", "st.size"];
  const chains = ["z", "none?.z", "get?.()", "list?.[1]"];
  return choose(
    [6, name],
    [3, small],
    [2, word(...properties, "s.length", "arguments.length")],
    [2, code`(${number} ${word("+", "-", "*", "%", "&", "|", "^", "<<")} ${number})`],
    [1, code`Math.${word("max", "min")}(${number}, ${number})`],
    [1, code`Math.max(...${list}, ${number})`],
    [1, code`(${truth} ? ${number} : ${number})`],
    [1, code`h0(${number})`],
    [1, code`h0(${number}, ${argument}, ...${list})`],
    [1, code`(${place} ${word("=", "+=", "-=", "??=", "||=", "&&=")} ${number})`],
    [1, code`${word("++", "--")}${place}`],
    [1, code`${local}${word("++", "--")}`],
    [1, code`(o.${word("b", "c", "none")} ?? ${number})`],
    [1, code`(o.deep?.${word(...chains)} ?? ${number})`],
    [1, code`w.${word("inc", "twice", "none?.")}(${number})`],
    [1, code`r0.${word("up", "read", "own")}(${number})`],
    [1, code`${list}.${word("length", "indexOf(2)", "at(-1)")}`],
    [1, code`${list}.findIndex((e) => e > ${closed(number)})`],
    [1, code`${list}.reduce((a, b) => a + ${choose([2, word("b")], [1, closed(number)])}, 0)`],
    [1, code`${tensor}.sum().item()`],
    // Whether 0 or −0 counts as greater is unspecified: it depends on the order of the elements
    [1, code`(${tensor}.${word("max", "min")}().item() + 0)`],
    [1, code`(() => { ${closed(tie("statement"))} return ${closed(number)}; })()`],
    [1, code`((a = ${closed(number)}, b = a + 1) => a * b)(${choose([1, word("")], [1, number])})`],
    [1, code`(${value}, ${number})`],
    [1, code`${word("+", "-", "~")}${number}`],
    [1, code`Math.${word("sign", "abs", "trunc", "clz32")}(${number})`],
    [1, code`(${number} ${word(">>", ">>>", "**")} ${word("0", "1", "2")})`],
    [1, code`(Number(${value}) || ${number})`],
    [1, code`parseInt(${word("'12px'", "s + n", "'0x' + k")}, ${word("10", "16")})`],
    [1, code`${list}.${word("findLast", "findLastIndex")}((e) => e < ${closed(number)})`],
    [1, code`${list}.reduceRight((a, b) => a * 2 + b, ${number})`],
    [1, code`(o.${word("inherited", "own")} ?? ${number})`],
    [1, code`Reflect.${word("get(o, 'a')", "apply(h0, o, list)", "ownKeys(o).length")}`],
    [3, numbersInMemory(number)],
    [1, code`${tensor}.${word("numel()", "shape.length", "shape.reduce((a, b) => a * b, 1)")}`],
  );
}

function truths(tie: Tie): Text {
  const { number, truth, tensor, value, list } = partsOf(tie);
  return choose(
    [5, code`${number} ${word("<", ">", "===", "!==", "<=", "==")} ${number}`],
    [2, code`${number} % 2 === 0`],
    [1, word("true", "false", "n > 1", "k in list", "'b' in o", "m.has(1)", "st.has(k)")],
    [1, code`(${truth} ${word("&&", "||")} ${truth})`],
    [1, code`!(${truth})`],
    [2, code`${tensor}.sum().item() ${word(">", "<=", "===")} ${small}`],
    [1, code`${tensor}.gt(${number}).${word("any", "all")}().item()`],
    [1, code`typeof ${value} === '${word("number", "object", "undefined", "string")}'`],
    [1, code`${value} instanceof ${word("P", "Q", "Array", "Error")}`],
    [1, code`${list}.${word("some", "every")}((e) => e > ${closed(number)})`],
    [1, code`${list}.includes(${number})`],
    [1, code`delete o.${word("b", "c")}`],
    [1, code`Object.is(${value}, ${value})`],
    [1, code`Array.isArray(${value})`],
    [1, code`Reflect.${word("has", "deleteProperty")}(o, ${word("'b'", "s", "'inherited'")})`],
    [1, code`Reflect.set(o, ${word("'b'", "'own'", "s")}, ${number})`],
    [1, code`s.${word("startsWith('s')", "includes('x')", "endsWith(s)")}`],
    [1, code`${value} == ${word("null", "undefined", "1", "'1'")}`],
  );
}

function tensors(tie: Tie): Text {
  const { number, truth, tensor } = partsOf(tie);
  const picks = ["at(-1)", "reduce((a, b) => a.sub(b))", "map((e) => e.neg())[0]"];
  const shapes = ["slice(0, 1)", "reshape([-1])", "reshape([2, -1])", "sum()", "at(k)"];
  return choose(
    [6, word("x", "y", "t0", "t1", "o.t")],
    [5, code`${tensor}.${word("add", "sub")}(${choose([2, number], [1, tensor])}).clamp(-9, 9)`],
    [2, code`${tensor}.mul(${choose([2, small], [1, tensor])}).clamp(-9, 9)`],
    [2, code`${tensor}.${word("neg", "abs", "relu", "clone", "contiguous", "float")}()`],
    [1, code`${tensor}.maximum(${tensor})`],
    [1, code`${tensor}.add(${tensor}.sum()).clamp(-9, 9)`],
    [1, code`where(${tensor}.gt(${number}), ${tensor}, ${tensor})`],
    [1, code`(${truth} ? ${tensor} : ${tensor})`],
    [1, code`h1(${tensor}, ${number})`],
    [1, code`opaque(${tensor})`],
    [1, code`[${tensor}, ${tensor}].${word(...picks)}`],
    [1, code`noGrad(() => ${closed(tensor)})`],
    [1, code`${tensor}.${word(...shapes)}`],
    [1, code`(t0 = ${tensor})`],
    [1, code`w.apply(${tensor})`],
    [2, tensorsInMemory],
  );
}

function lists(tie: Tie): Text {
  const { number, truth, list } = partsOf(tie);
  return choose(
    [4, word("list", "[n, k]", "[1, 2, 3]", "mine")],
    [1, code`[${number}, ${number}]`],
    [1, code`[...${list}, ${number}]`],
    [1, code`${list}.map((e, at) => e + ${choose([2, word("at", "k")], [1, closed(number)])})`],
    [1, code`${list}.filter((e) => ${closed(truth)})`],
    [1, code`[...gen(${number})]`],
    [1, code`Object.values({ a: ${number}, ...o.deep?.flat })`],
    [1, code`${list}.slice(${word("0", "1", "-1")})`],
    [1, code`Array.from(it(${list}), (e) => e * 2)`],
    [1, code`[...it(${list})]`],
    [
      1,
      code`${list}.${word("with(0, n)", "toSpliced(0, 1, k)", "concat(mine, n)", "flat()", "toReversed()")}`,
    ],
    [1, code`[...${list}.${word("keys()", "values()")}]`],
    [1, code`[...new Set(${list})]`],
    [1, code`Array.of(...${list}, ${number})`],
    [
      1,
      code`gen(${number}).${
        word("map((e) => e + 1)", "take(2)", "drop(1)", "filter((e) => e > 0)")
      }.toArray()`,
    ],
    [1, code`${list}.toSorted((a, b) => ${word("a - b", "b - a")})`],
    [1, code`Array.from({ length: ${word("2", "k")} }, (_, at) => at + ${closed(number)})`],
  );
}

function values(tie: Tie): Text {
  const { number, truth, tensor, list, value } = partsOf(tie);
  const known = ["o", "w", "m", "st", "s", "undefined", "null", "o.none", "list[9]", "`${s}${n}`", "[...s]"];
  const texts = ["toUpperCase()", "at(0)", "padStart(3)", "repeat(2)", "split('')"];
  const more = word("...o", "...null", "...{ z: 1 }", "...w", "...list");
  return choose(
    [4, number],
    [2, tensor],
    [2, list],
    [2, word(...known)],
    [1, truth],
    [1, code`({ a: ${number}, [s]: ${value}, get g() { return ${closed(number)}; }, ${more} })`],
    [1, code`\`\${${number}}-${word("a", "b")}-\${typeof ${value}}\``],
    [1, code`s.${word(...texts)}`],
    [1, code`[${value}, , ${value}]`],
    [1, code`tag\`a\${${number}}b\``],
    [1, code`new ${word("P", "Q")}(${number})`],
    [1, code`o.fn?.(${value})`],
    [1, code`m.get(${number})`],
    [1, code`JSON.stringify(${word("o.deep", "list", "{ n, s }")})`],
    [1, code`Object.${word("keys", "entries")}(${word("o", "{ n, k }", "list")}).length`],
    [1, code`(${truth} && ${value})`],
    [1, code`Object.fromEntries(${word("m", "[['a', n]]", "Object.entries(o)", "list.map((e) => [e, k])")})`],
    [1, code`Object.groupBy(${list}, (e) => e > ${closed(number)} ? 'more' : 'less')`],
    [1, code`Object.assign(${word("{}", "o", "{ a: 0 }")}, ${word("o", "null", "list", "{ own: n }")})`],
    [1, code`Object.create(${word("o", "null", "w")}, ${word("{}", "undefined")})`],
    [1, code`new Map(${word("m", "[[n, k], [k, n]]")})`],
    [1, code`new Set(${list}).${word("union(st)", "intersection(st)", "difference(st)", "isSubsetOf(st)")}`],
    [1, code`Reflect.construct(P, [${number}], ${word("Q", "P")})`],
    [1, code`(${number}).toString(${word("2", "16", "")})`],
    [
      1,
      code`s.${
        word("slice(-1)", "replaceAll('s', '-')", "concat(n)", "codePointAt(0)", "localeCompare('t')")
      }`,
    ],
    [1, code`${list}.join(${word("'-'", "", "s")})`],
    [1, code`[...${list}.entries()].map(([at, e]) => at + e)`],
    [1, code`structuredClone({ a: ${number} })`],
    [1, code`(class { static v = ${closed(number)}; }).v`],
    [2, valuesInMemory],
    [1, code`void ${value}`],
    [
      1,
      code`{ ${several(number, { least: 0, most: 2, between: ", " })} }`.map((text) =>
        `[${text.slice(1, -1)}]`
      ),
    ],
  );
}
