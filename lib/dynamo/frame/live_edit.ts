/**
 * Code of ours run once inside the scope of a user's function.
 *
 * Input: a function and the text of an expression. Output: the expression's value, evaluated in that scope.
 * Invariant: none of the user's code runs, and the script's text is afterwards what it was.
 *
 * V8's LiveEdit (`Debugger.setScriptSource`) replaces the script by one in which the function begins with a guarded
 * call that hands the value out and throws; the function is called once; the text is put back.
 */
import type { ParsedModule } from "../bytecode/parse.ts";
import type { AstNode, FunctionNode } from "../bytecode/syntax.ts";
import { invariant } from "../../base/errors.ts";
import { clearStash, type Inspector, setStash, STASH_EXPRESSION, textField } from "./inspector.ts";
import type { Script } from "./scripts.ts";

/** A function value with the node of its text. */
export interface Located {
  readonly fn: object;
  readonly script: Script;
  readonly module: ParsedModule;
  readonly node: FunctionNode;
  /** Offset V8 reports for the function. */
  readonly offset: number;
}

export type EditResult =
  | { readonly kind: "value"; readonly value: unknown }
  | { readonly kind: "failed"; readonly because: string };

/** Evaluates `expression` in the scope of the function, by a call that does nothing else. */
export function evaluateInside(inspector: Inspector, at: Located, expression: string): EditResult {
  const place = insertion(at, expression);
  if (typeof place === "string") return { kind: "failed", because: place };
  const { text } = at.script;
  const [before, after] = [text.slice(0, place.at), text.slice(place.at)];
  const whole: Edit = { code: place.code, steps: [before + place.code + after] };
  const line: Edit = {
    code: `\n${place.code}\n`,
    steps: [`${before}\n${after}`, `${before}\n${place.code}\n${after}`],
  };
  return inspector.withDebugger(() => {
    const lineEnd = text.indexOf("\n", place.at);
    const lineStart = text.lastIndexOf("\n", place.at - 1);
    const lineLength = (lineEnd < 0 ? text.length : lineEnd) - lineStart + place.code.length;
    if (at.node.body.type !== "BlockStatement" || lineLength > COMPARED_LENGTH) {
      return attempt(inspector, at, line);
    }
    const result = attempt(inspector, at, whole);
    return result.kind === "failed" && result.because === RUNNING ? attempt(inspector, at, line) : result;
  });
}

/** Where a line of code goes. */
interface Insertion {
  readonly at: number;
  readonly code: string;
}

/**
 * The texts a script goes through, the last of which has `code` in the function.
 *
 * V8 tells which functions an edit touches by a difference of lines, then of characters; in a function whose body is
 * one small expression, a difference of characters can put our code outside of it. So there a line break is added
 * first, and then our code as a line of its own. (Code and a line break in one edit of a block body crashed V8 15 when
 * it later compiled another function of the script.)
 */
interface Edit {
  readonly code: string;
  readonly steps: readonly string[];
}

/** V8 compares lines up to 800 characters by character, longer ones as a whole. */
const COMPARED_LENGTH = 700;

const RUNNING = "the function is running";

function attempt(inspector: Inspector, at: Located, edit: Edit): EditResult {
  const whole = sourceOf(at.fn);
  const texts = [at.script.text];
  let result: EditResult | null = null;
  for (const next of edit.steps) {
    const status = replace(inspector, at.script, next);
    if (status !== "Ok") {
      result = { kind: "failed", because: blocked(status) };
      break;
    }
    texts.push(next);
  }
  const shown = sourceOf(at.fn);
  const matched = shown !== whole && shown.replace(edit.code, "") === whole;
  result ??= matched
    ? callOnce(at)
    : { kind: "failed", because: "V8 did not match the edited function with the running one" };
  for (const back of texts.slice(0, -1).reverse()) {
    const status = replace(inspector, at.script, back);
    invariant(status === "Ok", `V8 refused to restore the text of ${at.script.url}: ${status}`);
  }
  return result;
}

function sourceOf(fn: object): string {
  return Function.prototype.toString.call(fn);
}

function replace(inspector: Inspector, script: Script, text: string): string {
  const reply = inspector.post("Debugger.setScriptSource", { scriptId: script.id, scriptSource: text });
  return textField(reply, "status");
}

function blocked(status: string): string {
  switch (status) {
    case "BlockedByActiveFunction":
      return RUNNING;
    case "BlockedByActiveGenerator":
      return "a generator of the function is suspended";
    default:
      return `V8 refused the edit (${status})`;
  }
}

/** Calls the edited function so that it hands the value out; everything it would do itself is cut off by the throw. */
function callOnce(at: Located): EditResult {
  const stop = {};
  let found: EditResult = { kind: "failed", because: "the edited function did not hand out its variables" };
  setStash((value: unknown) => {
    found = { kind: "value", value };
    clearStash();
    throw stop;
  });
  try {
    const { fn } = at;
    if (typeof fn !== "function") return found;
    const result: unknown = isConstructor(at) ? Reflect.construct(fn, []) : Reflect.apply(fn, undefined, []);
    settle(result, stop);
  } catch (error) {
    if (error !== stop) {
      return { kind: "failed", because: "the edited function threw before it handed out its variables" };
    }
  } finally {
    clearStash();
  }
  return found;
}

function isConstructor(at: Located): boolean {
  const parent = at.module.parentOf(at.node);
  return parent?.type === "MethodDefinition" && parent.kind === "constructor";
}

/** Starts a generator, and takes the rejection of an async function. */
function settle(result: unknown, stop: object): void {
  if (typeof result !== "object" || result === null) return;
  if (result instanceof Promise) {
    result.catch(() => {});
    return;
  }
  if ("next" in result && typeof result.next === "function") {
    try {
      const step: unknown = result.next();
      if (step instanceof Promise) step.catch(() => {});
    } catch (error) {
      if (error !== stop) throw error;
    }
  }
}

/** Where the guarded call goes and its text; a string says why there is no such place. */
function insertion(at: Located, expression: string): Insertion | string {
  const { node, module } = at;
  const hand = `${STASH_EXPRESSION}(${expression})`;
  const parent: AstNode | null = module.parentOf(node);
  const simple = node.params.every((p) =>
    p.type === "Identifier" || (p.type === "RestElement" && p.argument.type === "Identifier")
  );
  if (!simple) {
    // Patterns and defaults run before the body: a parameter of our own goes in front of them.
    if (parent?.type === "Property" || parent?.type === "MethodDefinition") {
      if (parent.kind === "set") return "it is a setter with a pattern";
    }
    const from = node.type === "ArrowFunctionExpression" ? node.start : at.offset;
    return { at: module.text.indexOf("(", from) + 1, code: `$dyn_p=${STASH_EXPRESSION}&&${hand},` };
  }
  if (node.body.type !== "BlockStatement") {
    return { at: node.body.start, code: `${STASH_EXPRESSION}?${hand}:` };
  }
  let start = node.body.start + 1;
  for (const statement of node.body.body) {
    if (statement.type !== "ExpressionStatement" || statement.directive === undefined) break;
    start = statement.end;
  }
  return { at: start, code: `;if(${STASH_EXPRESSION})${hand};` };
}
