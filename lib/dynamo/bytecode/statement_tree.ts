/**
 * A small tree of statements, simplified to what a person would write, and printed.
 *
 * Invariant: tidying never reorders or repeats code.
 */
import type { Tagged } from "../../base/tagged.ts";

/** A list of statements. */
type Body = readonly Statement[];

interface Statements {
  text: { text: string; abrupt: boolean };
  break: { label: string };
  continue: { label: string };
  if: { condition: string; negated: string; then: Body; otherwise: Body };
  block: { label: string; body: Body };
  /** `exit`: label of the block that consists of just this loop; `condition`: tested before each iteration. */
  loop: { label: string; exit: string | null; condition: string | null; body: Body };
  try: { body: Body; parameter: string; handler: Body };
  /** A suspension: `body` waits; `returned` runs if return() ended the wait and `condition` holds. */
  suspend: { body: Body; condition: string; returned: Body };
}

/** A statement of printed code. */
export type Statement = Tagged<Statements>;

/** An expression's text as the beginning of a statement. */
export function startSafe(text: string): string {
  return /^(\{|function\b|class\b|async\b|let\b)/.test(text) ? `(${text})` : text;
}

/** The statement that evaluates a condition whose value does not matter. */
export function evaluation(condition: string): readonly Statement[] {
  if (/^!?[\w$]+$/.test(condition)) return [];
  return [{ kind: "text", text: `${startSafe(condition)};`, abrupt: false }];
}

/** Returns whether control cannot pass the end of the list. */
export function isAbrupt(list: readonly Statement[]): boolean {
  const last = list[list.length - 1];
  if (!last) return false;
  switch (last.kind) {
    case "text":
      return last.abrupt;
    case "break":
    case "continue":
      return true;
    case "if":
      return isAbrupt(last.then) && isAbrupt(last.otherwise);
    case "block":
      return isAbrupt(last.body) && !mentions(last.body, "break", last.label);
    case "loop":
      return last.condition === null && last.exit === null && !mentions(last.body, "break", last.label);
    case "try":
      return isAbrupt(last.body) && isAbrupt(last.handler);
    case "suspend":
      return isAbrupt(last.body);
  }
}

function mentions(list: readonly Statement[], kind: "break" | "continue", label: string): boolean {
  return list.some((s): boolean => {
    switch (s.kind) {
      case "text":
        return false;
      case "break":
      case "continue":
        return s.kind === kind && s.label === label;
      case "if":
        return mentions(s.then, kind, label) || mentions(s.otherwise, kind, label);
      case "block":
      case "loop":
        return mentions(s.body, kind, label);
      case "try":
        return mentions(s.body, kind, label) || mentions(s.handler, kind, label);
      case "suspend":
        return mentions(s.body, kind, label) || mentions(s.returned, kind, label);
    }
  });
}

/** Tidies a statement list. `after`: jumps that are equivalent to falling off its end. */
export function tidy(
  list: readonly Statement[],
  after: ReadonlySet<string> = new Set(),
): readonly Statement[] {
  const out: Statement[] = [];
  for (let n = 0; n < list.length; n++) {
    const s = list[n];
    if (!s) continue;
    const last = n === list.length - 1;
    const next = last ? after : new Set<string>();
    // `if (c) { …; jump } rest` becomes `if (c) { …; jump } else { rest }`, so that the jump may become redundant.
    if (s.kind === "if" && !last && s.otherwise.length === 0 && endsInOneOf(s.then, after)) {
      out.push(...tidy([{ ...s, otherwise: list.slice(n + 1) }], after));
      return out;
    }
    if (s.kind === "if" && !last && isAbrupt(s.otherwise) && !isAbrupt(s.then) && s.then.length === 0) {
      out.push(
        ...tidy(
          [{ ...s, condition: s.negated, negated: s.condition, then: s.otherwise, otherwise: [] }],
          next,
        ),
      );
      continue;
    }
    out.push(...tidyOne(s, next));
    if (isAbrupt(out)) break;
  }
  return out;
}

function endsInOneOf(list: readonly Statement[], jumps: ReadonlySet<string>): boolean {
  const s = list[list.length - 1];
  return s !== undefined && (s.kind === "break" || s.kind === "continue") &&
    jumps.has(`${s.kind} ${s.label}`);
}

function tidyOne(s: Statement, after: ReadonlySet<string>): readonly Statement[] {
  switch (s.kind) {
    case "text":
      return [s];
    case "break":
    case "continue":
      return after.has(`${s.kind} ${s.label}`) ? [] : [s];
    case "if": {
      const then = tidy(s.then, after);
      const otherwise = tidy(s.otherwise, after);
      if (then.length === 0 && otherwise.length === 0) {
        return evaluation(s.condition);
      }
      if (then.length === 0) {
        return [{ ...s, condition: s.negated, negated: s.condition, then: otherwise, otherwise: [] }];
      }
      if (isAbrupt(then)) return [{ ...s, then, otherwise: [] }, ...otherwise];
      if (isAbrupt(otherwise)) {
        return [
          { ...s, condition: s.negated, negated: s.condition, then: otherwise, otherwise: [] },
          ...then,
        ];
      }
      return [{ ...s, then, otherwise }];
    }
    case "block": {
      const body = tidy(s.body, new Set([...after, `break ${s.label}`]));
      if (!mentions(body, "break", s.label)) return body;
      const [only, more] = body;
      return only?.kind === "loop" && more === undefined && only.exit === null
        ? [conditional({ ...only, exit: s.label })]
        : [{ ...s, body }];
    }
    case "loop":
      return [{ ...s, body: tidy(s.body, new Set([`continue ${s.label}`])) }];
    case "try":
      return [{ ...s, body: tidy(s.body, after), handler: tidy(s.handler, after) }];
    case "suspend":
      return [{ ...s, returned: tidy(s.returned) }];
  }
}

/** A loop that starts by leaving on a condition tests it in its head. */
function conditional(loop: Extract<Statement, { readonly kind: "loop" }>): Statement {
  const [first, ...rest] = loop.body;
  if (first?.kind !== "if" || first.otherwise.length > 0) return loop;
  const [leave, more] = first.then;
  if (leave?.kind !== "break" || leave.label !== loop.exit || more) return loop;
  const exit = mentions(rest, "break", leave.label) ? leave.label : null;
  return { ...loop, exit, condition: first.negated, body: rest };
}

/** The statements as lines. */
export function render(list: readonly Statement[], indent: string = ""): string[] {
  const lines: string[] = [];
  const inner = `${indent}  `;
  for (const s of list) {
    switch (s.kind) {
      case "text":
        // The user's line breaks stay as they are: in literals they are part of a value, in functions of their text
        lines.push(indent + s.text);
        break;
      case "break":
      case "continue":
        lines.push(`${indent}${s.kind} ${s.label};`);
        break;
      case "if":
        lines.push(`${indent}if (${s.condition}) {`, ...render(s.then, inner));
        if (s.otherwise.length > 0) lines.push(`${indent}} else {`, ...render(s.otherwise, inner));
        lines.push(`${indent}}`);
        break;
      case "block":
        lines.push(`${indent}${s.label}: {`, ...render(s.body, inner), `${indent}}`);
        break;
      case "loop": {
        const own = mentions(s.body, "continue", s.label) ? `${s.label}: ` : "";
        const exit = s.exit === null ? "" : `${s.exit}: `;
        const head = s.condition === null ? "for (;;)" : `while (${s.condition})`;
        lines.push(`${indent}${exit}${own}${head} {`, ...render(s.body, inner), `${indent}}`);
        break;
      }
      case "try":
        lines.push(`${indent}try {`, ...render(s.body, inner));
        lines.push(`${indent}} catch (${s.parameter}) {`, ...render(s.handler, inner), `${indent}}`);
        break;
      case "suspend":
        lines.push(`${indent}try {`, ...render(s.body, inner));
        lines.push(`${indent}} finally {`);
        lines.push(
          ...render(
            [{ kind: "if", condition: s.condition, negated: "", then: s.returned, otherwise: [] }],
            inner,
          ),
        );
        lines.push(`${indent}}`);
        break;
    }
  }
  return lines;
}
