/**
 * The names that V8 gives expressions in its messages: `o.g(...).p is not a function`. Printed code splits expressions,
 * but its errors must name them as the program's own text would. Invariant: these names affect messages only.
 */
import type * as ast from "acorn";
import type { AstNode } from "./syntax.ts";

const UNKNOWN = "(intermediate value)";

/** The words for a callee, for the class of a `new`, or for a destructured value. */
export function wordsFor(node: AstNode): string {
  return new Words(false).of(node);
}

/** The words for an iterated value: for a call, the function is named. */
export function iterableWords(node: AstNode): string {
  const inner = unwrapped(node), words = new Words(true).of(inner);
  const isCall = inner.type === "CallExpression" || inner.type === "NewExpression";
  return isCall ? `${words} is not a function or its return value` : words;
}

/** Returns whether a declaration that destructures a list names it: the engine names others by their type. */
export function isNamedList(node: AstNode): boolean {
  return node.type === "Identifier" || node.type === "Literal" || node.type === "ObjectExpression";
}

/** Removes parentheses and the surrounding chain. */
function unwrapped(node: AstNode): AstNode {
  return node.type === "ParenthesizedExpression" || node.type === "ChainExpression"
    ? unwrapped(node.expression)
    : node;
}

/** Walks an expression as V8's printer of call sites does. */
class Words {
  constructor(
    /** Whether the message is about iteration, where calls have no parentheses. */
    readonly ofIterable: boolean,
  ) {}

  of(node: AstNode): string {
    switch (node.type) {
      case "ParenthesizedExpression":
      case "ChainExpression":
        return this.of(node.expression);
      case "Identifier":
        return node.name;
      case "PrivateIdentifier":
        return `#${node.name}`;
      case "ThisExpression":
        return "this";
      case "Literal":
        return this.#literal(node);
      case "TemplateLiteral":
        if (node.expressions.length === 0) return JSON.stringify(node.quasis[0]?.value.cooked ?? "");
        return node.expressions.map((each) => this.of(each)).join("");
      case "MemberExpression":
        return this.#member(node);
      case "CallExpression":
        return node.callee.type === "Super"
          ? UNKNOWN
          : this.of(node.callee) + (this.ofIterable ? "" : "(...)");
      case "NewExpression":
        return this.ofIterable ? this.of(node.callee) : UNKNOWN;
      case "ArrayExpression":
        return `[${node.elements.map((each) => each ? this.of(each) : "").join(",")}]`;
      case "SpreadElement":
        return `(...${this.of(node.argument)})`;
      case "ObjectExpression":
        return `{${UNKNOWN.repeat(node.properties.length)}}`;
      case "BinaryExpression":
      case "LogicalExpression":
        return `(${this.#operands(node).join(` ${node.operator} `)})`;
      case "SequenceExpression":
        return `(${node.expressions.map((each) => this.of(each)).join(" , ")})`;
      case "UnaryExpression":
        return this.#unary(node);
      case "UpdateExpression": {
        const text = this.of(node.argument);
        return node.prefix ? `(${node.operator}${text})` : `(${text}${node.operator})`;
      }
      case "AssignmentExpression":
        return this.of(node.left);
      case "ConditionalExpression":
        return UNKNOWN.repeat(3);
      default:
        return UNKNOWN;
    }
  }

  #literal(node: ast.Literal): string {
    if ("regex" in node && node.regex) return `/${node.regex.pattern}/${node.regex.flags}`;
    if ("bigint" in node && node.bigint) return UNKNOWN;
    return typeof node.value === "string" ? `"${node.value}"` : `${node.value}`;
  }

  #member({ object, property, computed, optional }: ast.MemberExpression): string {
    const base = object.type === "Super" ? UNKNOWN : this.of(object), link = optional ? "?." : "";
    if (property.type === "PrivateIdentifier") return `${base}${link}[#${property.name}]`;
    if (!computed) return `${base}${link || "."}${property.type === "Identifier" ? property.name : ""}`;
    const text = property.type === "Literal" && typeof property.value === "string"
      ? property.value
      : property.type === "TemplateLiteral" && property.expressions.length === 0
      ? property.quasis[0]?.value.cooked
      : undefined;
    return typeof text === "string" ? `${base}${link || "."}${text}` : `${base}${link}[${this.of(property)}]`;
  }

  /** Consecutive operands of the same operator are printed as one list. */
  #operands({ left, operator, right }: ast.BinaryExpression | ast.LogicalExpression): string[] {
    const isRow = (left.type === "BinaryExpression" || left.type === "LogicalExpression") &&
      left.operator === operator && NARY.has(operator);
    return [...isRow ? this.#operands(left) : [this.of(left)], this.of(right)];
  }

  #unary({ operator, argument }: ast.UnaryExpression): string {
    const isNumber = argument.type === "Literal" && typeof argument.value === "number";
    if (operator === "-" && isNumber) return `-${argument.value}`;
    return `(${operator}${/^[a-z]/.test(operator) ? " " : ""}${this.of(argument)})`;
  }
}

/** Operators whose operands V8 collects into one list. */
const NARY: ReadonlySet<string> = new Set([
  "+",
  "-",
  "*",
  "/",
  "%",
  "&",
  "|",
  "^",
  "<<",
  ">>",
  ">>>",
  "&&",
  "||",
  "??",
]);
