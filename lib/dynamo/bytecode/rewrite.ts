/**
 * Rewrites nested functions and classes as self-contained source text: their own text, with each captured variable
 * accessed through a parameter of a wrapper.
 *
 * Invariant: nothing but references to captured variables changes in the text.
 */
import type * as ast from "acorn";
import { UnsupportedSyntax } from "./code.ts";
import { freeVariables } from "./free.ts";
import type { ParsedModule } from "./parse.ts";
import { markedClosure, takesMarks } from "./print_marks.ts";
import { hasUseStrict, type Unit, type Variable } from "./scope.ts";
import { templateIndex } from "./runtime.ts";
import { type AstNode, childrenOf, isAnonymous, isClassNode, isFunctionNode, isNaming } from "./syntax.ts";

/** Source text of one captured variable, as seen where the closure is created. */
export interface CapturedText {
  readonly text: string;
  /** Whether it is the value, an object whose `v` is the value, or access to a private name. */
  readonly form: "value" | "cell" | "private";
  readonly mayBeUninitialized: boolean;
}

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** How a captured variable appears in the text. */
interface Binding extends CapturedText {
  readonly parameter: string;
  /** The replacement of a reference; null: unchanged. */
  readonly reference: string | null;
  /** The replacement in strict code, if it differs. */
  readonly strictReference?: string;
}

/** A closure or class as an expression. */
export function closureText(
  unit: Unit,
  module: ParsedModule,
  options: {
    readonly captured: readonly CapturedText[];
    /** Whether the surrounding code is strict; the heritage of a class is strict even in sloppy code. */
    readonly strict: boolean;
    /** Text of the `name` property, as an expression; null if the text itself determines the name. */
    readonly name: string | null;
    readonly namePrefix: "" | "get" | "set";
    /** Text of the home object of a method with super. */
    readonly home: string | null;
    /** Text of the heritage value of a class. */
    readonly heritage: string | null;
    /** Texts of the values of computed keys. */
    readonly keys: readonly Edit[];
  },
): string {
  const variables = freeVariables(unit, module);
  const bindings = new Map<Variable, Binding>();
  variables.forEach((variable, i) => {
    const text = options.captured[i];
    if (text) bindings.set(variable, bind(variable, text));
  });
  const node = unit.node;
  const edits: Edit[] = [];
  new Rewriter(module, bindings, edits, unit.strict).visit(node);
  const parameters = [...bindings.values()].map((b) => b.parameter);
  const args = [...bindings.values()].map((b) => b.text);
  const given = ({ start, end, text }: Edit, parameter: string): void => {
    for (let i = edits.length - 1; i >= 0; i--) {
      const e = edits[i];
      if (e && e.start >= start && e.end <= end) edits.splice(i, 1);
    }
    edits.push({ start, end, text: parameter });
    parameters.push(parameter);
    args.push(text);
  };
  if (isClassNode(node) && node.superClass && options.heritage !== null) {
    const { start, end } = node.superClass;
    given({ start, end, text: options.heritage }, "heritage$");
  }
  options.keys.forEach((key, i) => given(key, `key${i}$`));
  if (options.home !== null) {
    parameters.push("home$");
    args.push(options.home);
  }
  const isStaticName = options.name === null || options.name.startsWith('"');
  if (!isStaticName && options.name !== null) {
    parameters.push("name$");
    args.push(options.name);
  }
  const name = isStaticName ? options.name : "name$",
    member = name === null ? null : writtenMember(unit, module, name);
  const start = member?.start ?? node.start;
  const own = applyEdits(module.text, { start, end: node.end }, edits);
  const text = takesMarks(module) ? markedClosure(own, start) : own;
  const whole = named(unit, text, { ...options, name, isWhole: member !== null });
  const madeStrict = unit.strict && !options.strict && !isClassNode(node);
  if (parameters.length === 0 && !madeStrict) return whole;
  const body = madeStrict ? `{ "use strict"; return ${whole}; }` : whole;
  return `((${parameters.join(", ")}) => ${body})(${args.join(", ")})`;
}

/**
 * The method or accessor of an object literal whose key is written there and is the name, an expression: its text,
 * which the program can ask for, begins before its function's. Null for all others.
 */
function writtenMember(
  { functionKind, node }: Unit,
  module: ParsedModule,
  name: string,
): Pick<AstNode, "start"> | null {
  if (functionKind !== "method" && functionKind !== "getter" && functionKind !== "setter") return null;
  const member = module.parentOf(node);
  if (member?.type !== "Property" || member.computed) return null;
  const { key } = member;
  const written = key.type === "Identifier" ? key.name : key.type === "Literal" ? String(key.value) : null;
  return written !== null && JSON.stringify(written) === name ? member : null;
}

/** The key of a member. V8 names a class with a static `name` by a computed key nevertheless. */
function memberKey(key: string): string {
  return key.startsWith('"') && key !== '"__proto__"' ? key : `[${key}]`;
}

/**
 * The text as an expression that gives the right name: methods in an object literal, anonymous functions as a property.
 */
function named(
  unit: Unit,
  text: string,
  options: {
    readonly name: string | null;
    readonly namePrefix: "" | "get" | "set";
    readonly home: string | null;
    /** Whether the text begins with the member's key and what stands before it. */
    readonly isWhole: boolean;
  },
): string {
  const key = options.name ?? '""';
  const member = memberKey(key);
  switch (unit.functionKind) {
    case "method":
    case "getter":
    case "setter": {
      const node = unit.node;
      const fn = node.type === "FunctionExpression" ? node : null;
      const proto = options.home === null ? "" : "__proto__: $rt.superOf(home$), ";
      const kind = options.namePrefix
        ? `${options.namePrefix} `
        : `${fn?.async ? "async " : ""}${fn?.generator ? "*" : ""}`;
      const holder = `{ ${proto}${options.isWhole ? "" : kind + member}${text} }`;
      return options.namePrefix ? `$rt.${options.namePrefix}ter(${holder}, ${key})` : `(${holder})[${key}]`;
    }
    default:
      if (options.name === null) return `(${text})`;
      // Not the text alone, which would be named after the variable or property that it is assigned to
      if (options.name === '""') return `(0, ${text})`;
      return `({ ${member}: ${text} })[${key}]`;
  }
}

function bind(variable: Variable, text: CapturedText): Binding {
  const base = variable.name.replace(/[^\p{ID_Continue}$]/gu, "_");
  if (variable.reassigned && variable.assignment !== "plain") {
    // The assignment must fail, so it goes to an object that refuses it
    const held = text.form === "cell" ? text.text : `{ v: ${text.text} }`;
    const refusing = `$rt.constant(${held}, ${JSON.stringify(variable.name)}, ${
      variable.assignment === "throws"
    })`;
    const parameter = `${base}$c`, reference = `${parameter}.v`;
    const strictReference = variable.assignment === "ignored" ? `${parameter}.strict.v` : reference;
    return { ...text, text: refusing, parameter, reference, strictReference };
  }
  if (text.form === "private") return { ...text, parameter: `${base}$p`, reference: null };
  if (text.form === "cell") {
    const held = text.mayBeUninitialized
      ? `$rt.ready(${base}$c, ${JSON.stringify(variable.name)}).v`
      : `${base}$c.v`;
    return { ...text, parameter: `${base}$c`, reference: held };
  }
  const plain = variable.declaredAt >= 0;
  return { ...text, parameter: plain ? variable.name : `${base}$`, reference: plain ? null : `${base}$` };
}

/** Extracts the text of a node or member from the module and applies the edits, which do not overlap. */
function applyEdits(text: string, node: Pick<AstNode, "start" | "end">, edits: readonly Edit[]): string {
  const sorted = [...edits].sort((a, b) => a.start - b.start || a.end - b.end);
  let out = "";
  let at = node.start;
  for (const e of sorted) {
    out += text.slice(at, e.start) + e.text;
    at = e.end;
  }
  return out + text.slice(at, node.end);
}

class Rewriter {
  /** Start of the last statement that is an expression. */
  private statement = -1;

  constructor(
    private readonly module: ParsedModule,
    private readonly bindings: ReadonlyMap<Variable, Binding>,
    private readonly edits: Edit[],
    /** Whether the text at hand is strict. */
    private strict: boolean,
  ) {}

  private refuse(construct: string, node: ast.Node): never {
    throw new UnsupportedSyntax(construct, this.module.position(node.start));
  }

  private bindingOf(node: AstNode): Binding | null {
    const variable = this.module.analysis.references.get(node);
    return variable ? this.bindings.get(variable) ?? null : null;
  }

  private referenceTo(node: AstNode): string | null {
    const binding = this.bindingOf(node);
    return (this.strict ? binding?.strictReference : undefined) ?? binding?.reference ?? null;
  }

  private replace(node: ast.Node, text: string): void {
    this.edits.push({ start: node.start, end: node.end, text });
  }

  visit(node: AstNode): void {
    const { strict } = this;
    this.strict ||= isClassNode(node) ||
      isFunctionNode(node) && node.body.type === "BlockStatement" && hasUseStrict(node.body.body);
    this.rewrite(node);
    this.strict = strict;
  }

  private rewrite(node: AstNode): void {
    switch (node.type) {
      case "Identifier":
      case "ThisExpression":
      case "MetaProperty": {
        const reference = this.referenceTo(node);
        if (reference) this.replace(node, reference);
        return;
      }
      case "FunctionDeclaration":
      case "FunctionExpression":
      case "ClassDeclaration":
      case "ClassExpression":
        // Its own name is not a reference, even if the variable of that name is captured.
        return childrenOf(node, (child) => {
          if (child !== node.id) this.visit(child);
        });
      case "ExpressionStatement":
        this.statement = node.start;
        break;
      case "AssignmentExpression":
      case "AssignmentPattern":
        this.visit(node.left);
        return this.visitValue(node);
      case "Property":
        if (node.shorthand) return this.shorthand(node.value);
        break;
      case "CallExpression":
      case "TaggedTemplateExpression": {
        if (node.type === "TaggedTemplateExpression") this.template(node.quasi);
        const callee = node.type === "CallExpression" ? node.callee : node.tag;
        if (
          callee.type === "MemberExpression" && callee.property.type === "PrivateIdentifier" &&
          this.bindingOf(callee.property)
        ) {
          return this.refuse("call of a private method in a nested function", node);
        }
        const reference = callee.type === "Identifier" ? this.referenceTo(callee) : null;
        if (reference) {
          // A parenthesis at the start of a line would continue the line above if that has no semicolon
          const begins = callee.start === this.statement ? "0, " : "";
          this.replace(callee, `${begins}(0, ${reference})`);
          childrenOf(node, (child) => {
            if (child !== callee) this.visit(child);
          });
          return;
        }
        break;
      }
      case "NewExpression": {
        const { callee } = node, before = this.edits.length;
        this.visit(callee);
        // `new f(x).v` would construct f
        if (this.edits.length > before) {
          this.edits.splice(before, 0, { start: callee.start, end: callee.start, text: "(" });
          this.insert(callee.end, ")");
        }
        return childrenOf(node, (child) => {
          if (child !== callee) this.visit(child);
        });
      }
      case "MemberExpression":
        if (node.property.type === "PrivateIdentifier") {
          const found = this.bindingOf(node.property);
          if (found) {
            this.insert(node.start, `$rt.private(${found.parameter}, `);
            this.visit(node.object);
            this.edits.push({ start: node.object.end, end: node.end, text: ").v" });
            return;
          }
        }
        this.visit(node.object);
        if (node.computed) this.visit(node.property);
        return;
      case "BinaryExpression":
        if (node.left.type === "PrivateIdentifier") {
          const found = this.bindingOf(node.left);
          if (found) {
            this.edits.push({ start: node.start, end: node.right.start, text: `${found.parameter}.has(` });
            this.visit(node.right);
            this.insert(node.end, ")");
            return;
          }
        }
        break;
      case "Super": {
        for (const [variable] of this.bindings) {
          if (variable.kind === "home" || variable.kind === "callee") {
            this.refuse("super in a nested arrow function", node);
          }
        }
        return;
      }
      case "ImportExpression":
        if (!URL.canParse(this.module.url)) this.refuse("import in evaluated code", node);
        this.edits.push({
          start: node.start,
          end: node.start + "import".length,
          text: `$rt.importer(${JSON.stringify(this.module.url)})`,
        });
        break;
      default:
    }
    childrenOf(node, (child) => this.visit(child));
  }

  private insert(at: number, text: string): void {
    this.edits.push({ start: at, end: at, text });
  }

  /** The strings of a tagged template are one object for all copies of its text. */
  private template(node: ast.TemplateLiteral): void {
    let at = node.start, text = `($rt.templateObject(${templateIndex(node)})`;
    const goTo = (end: number): void => {
      // Later lines keep their numbers
      text += "\n".repeat(this.module.text.slice(at, end).split("\n").length - 1);
      this.edits.push({ start: at, end, text });
    };
    for (const { start, end } of node.expressions) {
      text += ", (";
      goTo(start);
      [at, text] = [end, ")"];
    }
    text += ")";
    goTo(node.end);
  }

  /** `{ x }` and `{ x = 1 }` keep their key when the variable is renamed. */
  private shorthand(value: AstNode): void {
    const name = value.type === "AssignmentPattern" ? value.left : value;
    const reference = this.referenceTo(name);
    if (reference && name.type === "Identifier") this.replace(name, `${name.name}: ${reference}`);
    if (value.type === "AssignmentPattern") this.visitValue(value);
  }

  /** The value of an assignment: an anonymous function keeps the name of the variable, which is renamed here. */
  private visitValue(node: ast.AssignmentExpression | ast.AssignmentPattern): void {
    const { left, right } = node;
    const name = isNaming(node) && isAnonymous(right) && this.referenceTo(left) ? node.left.name : null;
    if (name !== null) this.insert(right.start, `({ ${memberKey(`"${name}"`)}: `);
    this.visit(right);
    if (name !== null) this.insert(right.end, ` })["${name}"]`);
  }
}
