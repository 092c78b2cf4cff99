/**
 * Prints single instructions as JavaScript: an expression (if the instruction only computes its destination) or
 * statements.
 *
 * Invariant: operands appear in the text in the order in which the instruction reads them, each once.
 */
import { type CodeObject, type FreeVariable, UnsupportedSyntax } from "./code.ts";
import type {
  Argument,
  Instruction,
  InstructionOf,
  KeyOperand,
  ObjectMember,
  Register,
} from "./instruction.ts";
import { codeUnit } from "./compile.ts";
import { constantText } from "./disassemble.ts";
import type { FreeForm } from "./print_types.ts";
import { type CapturedText, closureText } from "./rewrite.ts";
import { startSafe } from "./statement_tree.ts";

/** An expression's text; `bare` ones need no parentheses as an operand. `member`: a property read, `this` for calls. */
export interface ExpressionText {
  readonly text: string;
  readonly bare: boolean;
  /** Of `o.p`: the texts of a call that passes o as this. */
  readonly receiver?: Register;
  /** The engine's name for it in messages, if known. */
  readonly words?: string;
}

/** Texts of registers and free variables in one printed function. */
export interface Names {
  /** The value of a register, as an operand. */
  operand(register: Register): ExpressionText;
  /** The register as a target of assignments. */
  target(register: Register): string;
  /** The name that holds a free variable, and its form. */
  free(index: number): { readonly text: string; readonly form: FreeForm };
  argument(index: number): string;
  rest(from: number): string;
  callee(): string;
  home(): string;
  /** A variable for values used within one statement. */
  readonly scratch: string;
  /** The mark of the instruction being printed: its source position. */
  readonly mark: string;
}

const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;

function bare(text: string): ExpressionText {
  return { text, bare: true };
}

/** Returns an expression that the engine names by its text. */
function named(text: string, words = text): ExpressionText {
  return { text, bare: true, words };
}

function loose(text: string): ExpressionText {
  return { text, bare: false };
}

/** The text in parentheses unless it needs none. */
export function wrap(e: ExpressionText): string {
  return e.bare ? e.text : `(${e.text})`;
}

/** An expression for an instruction that only computes its destination; null for other instructions. */
export function instructionExpression(code: CodeObject, i: Instruction, names: Names): ExpressionText | null {
  const r = (register: Register): string => wrap(names.operand(register));
  const item = (register: Register): string => names.operand(register).text;
  switch (i.op) {
    case "closure":
    case "class":
      return bare(functionText(code, i, names));
    case "call":
      return callText(i, names);
    case "new": {
      const callee = names.operand(i.callee);
      if (callee.words !== i.text) {
        const list = argumentTexts(i.args, names, { inArray: true });
        return bare(`${names.mark}$rt.construct(${callee.text}, [${list}], ${constantText(i.text)})`);
      }
      const target = IDENTIFIER.test(callee.text) ? callee.text : `(${callee.text})`;
      return named(`${names.mark}new ${target}(${argumentTexts(i.args, names)})`, "(intermediate value)");
    }
    case "superCall":
      return bare(
        `$rt.superConstruct(${item(i.callee)}, [${argumentTexts(i.args, names)}], ${item(i.newTarget)})`,
      );
    case "import":
      return bare(
        `$rt.importer(${constantText(code.module.url)})(${item(i.specifier)}${
          i.options === null ? "" : `, ${item(i.options)}`
        })`,
      );
    case "forIn":
      return bare(`$rt.keys(${item(i.object)})`);
    case "await":
      return loose(`await ${r(i.src)}`);
    case "yield":
      return i.onReturn === null ? loose(`yield ${r(i.src)}`) : null;
    case "yieldDelegate":
      return i.onReturn === null ? loose(`yield* ${r(i.source)}`) : null;
    case "getDisposer":
      return bare(`$rt.disposer(${item(i.src)}, ${i.async})`);
    case "suppressedError":
      return bare(`$rt.suppressed(${item(i.error)}, ${item(i.suppressed)})`);
    default:
      return memberExpression(code, i, names);
  }
}

/** An expression that reads members, or makes an object or an array of values; of others, those that compute values. */
function memberExpression(code: CodeObject, i: Instruction, names: Names): ExpressionText | null {
  const item = (register: Register): string => names.operand(register).text;
  const keyValue = (key: KeyOperand): string => keyValueText(key, names);
  switch (i.op) {
    case "getProp": {
      const object = names.operand(i.object);
      const base = i.takenApart === undefined
        ? wrapObject(object)
        : `$rt.matched(${object.text}, ${constantText(i.takenApart)}, ${keyText(i.key)})`;
      const text = memberText(base + names.mark, i.key, keyValue);
      const words = i.takenApart === undefined ? memberWords(object, i.key, names) : null;
      return { text, bare: true, receiver: i.object, ...words !== null && { words } };
    }
    case "deleteProp":
      if (i.strict && !code.strict) {
        return bare(`$rt.deleteStrictly(${item(i.object)}, ${keyValue(i.key)})`);
      }
      return loose(`delete ${memberText(wrapObject(names.operand(i.object)), i.key, keyValue)}`);
    case "getSuper":
      return bare(`$rt.getSuper(${item(i.home)}, ${item(i.receiver)}, ${keyValue(i.key)})`);
    case "getPrivate":
      return bare(`${names.free(i.name).text}.get(${item(i.object)})`);
    case "hasPrivate":
      return bare(`${names.free(i.name).text}.has(${item(i.object)})`);
    case "array": {
      const last = i.elements[i.elements.length - 1];
      const elements = i.elements.map((e) => {
        if (e.kind === "hole") return "";
        if (e.kind === "value") return item(e.register);
        const text = wrap(names.operand(e.register));
        return names.operand(e.register).words === e.words
          ? `...${text}`
          : `...$rt.items(${text}, ${constantText(e.words)})`;
      });
      return bare(`[${elements.join(", ")}${last?.kind === "hole" ? "," : ""}]`);
    }
    case "object":
      return objectText(i.members, names, keyValue);
    case "objectRest":
      return bare(`$rt.rest(${item(i.source)}, [${i.excluded.map(keyValue).join(", ")}])`);
    default:
      return operatorExpression(code, i, names);
  }
}

/** An expression of operators; of others, those that only load a value. */
function operatorExpression(code: CodeObject, i: Instruction, names: Names): ExpressionText | null {
  const r = (register: Register): string => wrap(names.operand(register));
  const item = (register: Register): string => names.operand(register).text;
  switch (i.op) {
    case "unary": {
      const text = r(i.src);
      return loose(
        /^[a-z]/.test(i.operator) || text.startsWith(i.operator)
          ? `${i.operator} ${text}`
          : i.operator + text,
      );
    }
    case "binary": {
      const left = names.operand(i.left);
      // A unary operand may not precede **, and an object literal would begin a block.
      return loose(`${wrap(left)} ${i.operator} ${r(i.right)}`);
    }
    case "toNumeric":
      return bare(`$rt.toNumeric(${item(i.src)})`);
    case "increment":
      return bare(`$rt.increment(${item(i.src)}, ${i.by})`);
    case "toPropertyKey":
      return bare(`$rt.toPropertyKey(${item(i.src)})`);
    case "toString":
      return bare(`\`\${${item(i.src)}}\``);
    case "template":
      return bare(
        `\`${
          i.quasis.map((q, n) =>
            templateText(q) + (n < i.values.length ? `\${${item(i.values[n] ?? 0)}}` : "")
          ).join("")
        }\``,
      );
    case "templateObject":
      return bare(`$rt.templateObject(${i.index})`);
    default:
      return loadExpression(code, i, names);
  }
}

/** A constant, a variable, or what a call gives to its function. */
function loadExpression(code: CodeObject, i: Instruction, names: Names): ExpressionText | null {
  switch (i.op) {
    case "const": {
      const text = constantText(i.value);
      return text.startsWith("-") || typeof i.value === "number"
        ? { text, bare: !text.startsWith("-"), words: text }
        : named(text, typeof i.value === "string" ? `"${i.value}"` : text);
    }
    case "regexp":
      return bare(`/${i.pattern}/${i.flags}`);
    case "move":
      return names.operand(i.src);
    case "uninitialized":
      return bare("$rt.tdz");
    case "loadThis":
      return named("this");
    case "loadArgument":
      return bare(names.argument(i.index));
    case "loadRest":
      return bare(names.rest(i.from));
    case "loadArguments":
      return bare("arguments");
    case "loadNewTarget":
      return bare("new.target");
    case "loadCallee":
      return bare(names.callee());
    case "loadHome":
      return bare(names.home());
    case "loadFree": {
      const { text, form } = names.free(i.index);
      const variable = code.free[i.index];
      if (form === "value") return named(text);
      if (form === "private") return bare(text);
      if (form === "live") return bare(`${text}.get()`);
      return bare(`${ready(text, variable)}.v`);
    }
    case "loadGlobal":
      // A property of the global object may have a getter, which must run once.
      if (i.forTypeof) {
        const absent = `typeof ${i.name} === "undefined" ? undefined : ${i.name}`;
        return loose(`$rt.hasGlobal(${JSON.stringify(i.name)}) ? ${i.name} : ${absent}`);
      }
      return named(i.name);
    case "newCell":
      return bare(
        `$rt.box(${i.src === null ? "$rt.tdz" : names.operand(i.src).text}, ${JSON.stringify(i.name)})`,
      );
    case "loadCell":
      return bare(`${wrap(names.operand(i.cell))}.v`);
    default:
      return null;
  }
}

/** The arguments of a call; in the array of a call by the runtime, their spreading names them anyhow. */
function argumentTexts(
  list: readonly Argument[],
  names: Names,
  { inArray } = { inArray: false },
): string {
  return list.map(({ register, spread, words }) => {
    const operand = names.operand(register), text = wrap(operand);
    if (!spread) return operand.text;
    if (words === undefined || (!inArray && operand.words === words)) return `...${text}`;
    return `...$rt.spread(${text}, ${constantText(words)})`;
  }).join(", ");
}

/** An instruction that is not an expression, as statements; jumps are printed with the control flow. */
export function instructionStatements(code: CodeObject, i: Instruction, names: Names): readonly string[] {
  const item = (register: Register): string => names.operand(register).text;
  const keyValue = (key: KeyOperand): string => keyValueText(key, names);
  switch (i.op) {
    case "checkTdz":
      return [`if (${wrap(names.operand(i.src))} === $rt.tdz) $rt.uninitialized(${constantText(i.name)});`];
    case "throwError":
      return [`throw new ${i.type}(${constantText(i.message)});`];
    case "generatorStart":
      return [];
    case "debugger":
      return ["debugger;"];
    case "storeFree": {
      const { text, form } = names.free(i.index);
      if (form === "live") return [`${text}.set(${item(i.src)});`];
      if (form !== "cell") return refuse(code, i, "assignment to a variable given as a value");
      return [`${ready(text, code.free[i.index])}.v = ${item(i.src)};`];
    }
    case "storeGlobal":
      if (i.strict && !code.strict) {
        return [`(function () { "use strict"; ${i.name} = arguments[0]; })(${item(i.src)});`];
      }
      return [`${i.name} = ${item(i.src)};`];
    case "storeCell":
      return [`${wrap(names.operand(i.cell))}.v = ${item(i.src)};`];
    case "setProp":
      if (i.strict && !code.strict) {
        return [`$rt.setStrictly(${item(i.object)}, ${keyValue(i.key)}, ${item(i.value)});`];
      }
      return [
        `${startSafe(memberText(wrapObject(names.operand(i.object)), i.key, keyValue))} = ${item(i.value)};`,
      ];
    case "setSuper":
      return [
        `$rt.setSuper(${
          [item(i.home), item(i.receiver), keyValue(i.key), item(i.value), i.strict].join(", ")
        });`,
      ];
    case "setPrivate":
      return [`${names.free(i.name).text}.set(${item(i.object)}, ${item(i.value)});`];
    case "arrayAppend": {
      const e = i.element;
      if (e.kind === "hole") return [`${item(i.array)}.length++;`];
      const value = item(e.register);
      if (e.kind === "value") return [`$rt.append(${item(i.array)}, ${value});`];
      return [`$rt.appendAll(${item(i.array)}, ${value}, ${constantText(e.words)});`];
    }
    case "define": {
      return [`${definedText(item(i.object), i.member, names)};`];
    }
    case "checkObjectCoercible":
      return [`$rt.checkCoercible(${item(i.src)}, ${constantText(i.words)});`];
    case "checkObject":
      return [`$rt.checkObject(${item(i.src)}, ${constantText(i.what)});`];
    case "checkSuperOnce":
      return [`$rt.superOnce(${item(i.src)});`];
    case "initFields":
      return refuse(code, i, "field initialisers outside of their class");
    case "definePrivate":
      return refuse(code, i, "a private field outside of its class");
    default:
      return iterationStatements(i, names) ?? refuse(code, i, `${i.op} as a statement`);
  }
}

/** A step of an iteration; null for other instructions. */
function iterationStatements(i: Instruction, names: Names): readonly string[] | null {
  const item = (register: Register): string => names.operand(register).text;
  const t = (register: Register): string => names.target(register);
  switch (i.op) {
    case "getIterator": {
      const source = item(i.source);
      return [
        `${t(i.iterator)} = $rt.${i.async ? "asyncIterator" : "iterator"}(${source}, ${
          constantText(i.text)
        });`,
        `${t(i.next)} = ${t(i.iterator)}.next;`,
      ];
    }
    case "iteratorNext": {
      const [done, value, s] = [t(i.done), t(i.value), names.scratch];
      return [
        `if (${done}) ${value} = undefined;`,
        `else {`,
        `  ${done} = true;`,
        `  ${s} = $rt.next(${item(i.iterator)}, ${item(i.next)});`,
        `  if (${s}.done) ${value} = undefined;`,
        `  else {`,
        `    ${value} = ${i.elided ? "undefined" : `${s}.value`};`,
        `    ${done} = false;`,
        `  }`,
        `}`,
      ];
    }
    case "iteratorResult": {
      const [done, value, s] = [t(i.done), t(i.value), names.scratch];
      return [
        `${s} = $rt.step(${item(i.result)});`,
        `${done} = !!${s}.done;`,
        `${value} = ${done} ? undefined : ${s}.value;`,
      ];
    }
    case "iteratorRest": {
      const [done, dst] = [t(i.done), t(i.dst)];
      return [
        `if (${done}) ${dst} = [];`,
        `else {`,
        `  ${done} = true;`,
        `  ${dst} = $rt.collect(${item(i.iterator)}, ${item(i.next)});`,
        `}`,
      ];
    }
    case "iteratorClose":
      return [`$rt.${i.quiet ? "closeQuietly" : "close"}(${item(i.iterator)});`];
    case "forInNext": {
      const s = names.scratch;
      return [
        `${s} = ${item(i.enumerator)}.next();`,
        `${t(i.done)} = ${s}.done;`,
        `${t(i.key)} = ${s}.value;`,
      ];
    }
    default:
      return null;
  }
}

function refuse(code: CodeObject, i: Instruction, construct: string): never {
  const offset = code.instructions.indexOf(i);
  const span = code.spans[offset] ?? code.span;
  throw new UnsupportedSyntax(construct, code.module.position(span.start));
}

function ready(cell: string, variable: FreeVariable | undefined): string {
  return variable?.mayBeUninitialized ? `$rt.ready(${cell}, ${constantText(variable.name)})` : cell;
}

function wrapObject(e: ExpressionText): string {
  // `1.x` would be a number; object and function literals need parentheses only at the start.
  return /^[\d.]/.test(e.text) || !e.bare || e.text.startsWith("{") ? `(${e.text})` : e.text;
}

function keyValueText(key: KeyOperand, names: Names): string {
  return key.kind === "name" ? constantText(key.name) : names.operand(key.register).text;
}

/** The name of a property that a pattern reads, for messages: the first one has no computed key. */
function keyText(key: KeyOperand): string {
  return constantText(key.kind === "name" ? key.name : "");
}

/** Returns the engine's name for a property of an object; null if it has none. */
function memberWords({ words }: ExpressionText, key: KeyOperand, names: Names): string | null {
  if (words === undefined) return null;
  if (key.kind === "name") return /^\d+$/.test(key.name) ? `${words}[${key.name}]` : `${words}.${key.name}`;
  const inner = names.operand(key.register).words;
  return inner === undefined ? null : `${words}[${inner}]`;
}

function memberText(object: string, key: KeyOperand, value: (key: KeyOperand) => string): string {
  return key.kind === "name" && IDENTIFIER.test(key.name)
    ? `${object}.${key.name}`
    : `${object}[${value(key)}]`;
}

function templateText(text: string): string {
  return text.replace(/[\\`]|\$\{/g, (c) => `\\${c}`).replace(/\r/g, "\\r").replace(/\n/g, "\\n");
}

function objectText(
  members: readonly ObjectMember[],
  names: Names,
  keyValue: (key: KeyOperand) => string,
): ExpressionText {
  const accessor = members.findIndex((m) => m.kind === "get" || m.kind === "set");
  const plain = accessor < 0 ? members : members.slice(0, accessor);
  let text = `{ ${plain.map((m) => memberEntry(m, names, keyValue)).join(", ")} }`;
  if (plain.length === 0) text = "{}";
  for (const m of accessor < 0 ? [] : members.slice(accessor)) {
    text = definedText(text, m, names);
  }
  return bare(text);
}

/** An object with a further member. */
function definedText(object: string, m: ObjectMember, names: Names): string {
  const value = names.operand(m.register).text;
  if (m.kind === "spread") return `$rt.copy(${object}, ${value})`;
  if (m.kind === "proto") return `$rt.proto(${object}, ${value})`;
  const key = keyValueText(m.key, names);
  return m.kind === "value"
    ? `$rt.define(${object}, ${key}, ${value})`
    : `$rt.accessor(${object}, "${m.kind}", ${key}, ${value})`;
}

/** Expressions that look like variable names. */
const KEYWORDS: ReadonlySet<string> = new Set(["this", "null", "true", "false"]);

function memberEntry(m: ObjectMember, names: Names, keyValue: (key: KeyOperand) => string): string {
  const value = names.operand(m.register).text;
  if (m.kind === "spread") return `...${wrap(names.operand(m.register))}`;
  if (m.kind === "proto") return `__proto__: ${value}`;
  if (m.key.kind === "register" || m.key.name === "__proto__") return `[${keyValue(m.key)}]: ${value}`;
  if (m.key.name === value && IDENTIFIER.test(value) && !KEYWORDS.has(value)) return value;
  return `${IDENTIFIER.test(m.key.name) ? m.key.name : constantText(m.key.name)}: ${value}`;
}

function callText(
  i: InstructionOf<"call">,
  names: Names,
): ExpressionText {
  const callee = names.operand(i.callee), isNamed = callee.words === i.text;
  const called = (text: string) => named(`${text}(${argumentTexts(i.args, names)})`, `${i.text}(...)`);
  // `o.p` with receiver o calls with this = o, if o's text is a plain name.
  if (i.self !== null && callee.receiver === i.self && isNamed) return called(callee.text);
  const isPlain = IDENTIFIER.test(callee.text) && callee.text !== "eval" && callee.text !== "this";
  if (i.self === null && isPlain && isNamed) return called(names.mark + callee.text);
  const self = i.self === null ? "undefined" : names.operand(i.self).text;
  const list = argumentTexts(i.args, names, { inArray: true });
  return bare(`${names.mark}$rt.apply(${callee.text}, ${self}, [${list}], ${constantText(i.text)})`);
}

function functionText(
  code: CodeObject,
  i: InstructionOf<"closure" | "class">,
  names: Names,
): string {
  const free = i.op === "closure" ? code.children[i.child]?.free : code.classes[i.index]?.free;
  const captured = i.captures.map((c, n): CapturedText => {
    const mayBeUninitialized = free?.[n]?.mayBeUninitialized ?? true;
    if (c.kind !== "free") {
      return { text: names.operand(c.register).text, form: c.kind, mayBeUninitialized };
    }
    const { text, form } = names.free(c.index);
    if (form === "live") return { text: `$rt.live(${text})`, form: "cell", mayBeUninitialized: false };
    return { text, form, mayBeUninitialized: mayBeUninitialized && form === "cell" };
  });
  if (i.op === "class") {
    const template = code.classes[i.index];
    if (!template) return refuse(code, i, "unknown class");
    const { unit, module } = codeUnit(code, template.span);
    return closureText(unit, module, {
      captured,
      strict: code.strict,
      name: ownName(unit.node) ? null : constantText(i.name),
      namePrefix: "",
      home: null,
      heritage: i.heritage === null ? null : names.operand(i.heritage).text,
      keys: template.keys.map((span, n) => ({ ...span, text: names.operand(i.keys?.[n] ?? 0).text })),
    });
  }
  const child = code.children[i.child];
  if (!child) return refuse(code, i, "unknown function");
  const { unit, module } = codeUnit(child, child.span);
  const name = i.name.kind === "register" ? names.operand(i.name.register).text : constantText(i.name.name);
  return closureText(unit, module, {
    captured,
    strict: code.strict,
    name: i.name.kind === "name" && ownName(unit.node) ? null : name,
    namePrefix: i.namePrefix,
    home: i.home === null ? null : names.operand(i.home).text,
    heritage: null,
    keys: [],
  });
}

function ownName(node: { readonly type: string; readonly id?: unknown }): boolean {
  return Boolean(node.id);
}
