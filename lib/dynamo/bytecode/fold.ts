/**
 * Folds the instructions of a basic block into statements, and conditions of its jumps: values that are used once
 * move into their use.
 *
 * Invariant: observable effects happen in the order of the instructions.
 */
import type { CodeObject } from "./code.ts";
import type { Instruction, JumpCondition, Offset, Register } from "./instruction.ts";
import { constantText } from "./disassemble.ts";
import { mayThrow, reads, writes } from "./effects.ts";
import {
  type ExpressionText,
  instructionExpression,
  instructionStatements,
  type Names,
  wrap,
} from "./print_instruction.ts";
import { markOf, takesMarks } from "./print_marks.ts";
import { startSafe, type Statement } from "./statement_tree.ts";

/** Number of occurrences of registers in the code. */
interface RegisterUse {
  /** Reads, each occurrence counted. */
  readonly reads: readonly number[];
  readonly writes: readonly number[];
  /** Temporaries read twice: by a property read, and as `this` of the call of that property. */
  readonly receivers: ReadonlySet<Register>;
  /** The constant that a register always holds, if a single `const` writes it. */
  readonly constant: readonly (ExpressionText | null)[];
}

const uses = new WeakMap<CodeObject, RegisterUse>();

/** Counts occurrences of registers. */
function registerUse(code: CodeObject): RegisterUse {
  const known = uses.get(code);
  if (known) return known;
  const read: number[] = new Array(code.registers.length).fill(0);
  const written: number[] = new Array(code.registers.length).fill(0);
  const constant: (ExpressionText | null)[] = new Array(code.registers.length).fill(null);
  for (const i of code.instructions) {
    for (const r of reads(i)) read[r] = (read[r] ?? 0) + 1;
    for (const r of writes(i)) written[r] = (written[r] ?? 0) + 1;
    if (i.op === "const" && code.registers[i.dst]?.name === null) {
      const text = constantText(i.value);
      constant[i.dst] = { text, bare: !text.startsWith("-") };
    }
  }
  for (const h of code.handlers) written[h.register] = (written[h.register] ?? 0) + 1;
  const receivers = new Set<Register>();
  const members = new Map<Register, Register>();
  for (const i of code.instructions) {
    if (i.op === "getProp" && written[i.dst] === 1) members.set(i.dst, i.object);
  }
  for (const i of code.instructions) {
    if (i.op !== "call" || i.self === null || members.get(i.callee) !== i.self) continue;
    const temporary = code.registers[i.self]?.name === null && written[i.self] === 1 && read[i.self] === 2;
    if (temporary && code.registers[i.callee]?.name === null && read[i.callee] === 1) receivers.add(i.self);
  }
  const found: RegisterUse = {
    receivers,
    reads: read,
    writes: written,
    constant: constant.map((c, r) => (written[r] === 1 ? c : null)),
  };
  uses.set(code, found);
  return found;
}

/** A value that waits to be inserted into the text of its only use. */
interface Pending {
  readonly register: Register;
  readonly expression: ExpressionText;
  /**
   * For `o.p` with o folded in: how to print the two separately, if the call that needs o as `this` does not take the
   * whole.
   */
  readonly apart:
    | { readonly register: Register; readonly text: string; readonly member: () => string }
    | null;
}

/** Instructions whose statements mention each operand once and in order. */
const ORDERED: ReadonlySet<Instruction["op"]> = new Set([
  "checkTdz",
  "storeFree",
  "storeGlobal",
  "storeCell",
  "setProp",
  "setSuper",
  "setPrivate",
  "define",
  "arrayAppend",
  "checkObjectCoercible",
  "checkObject",
  "checkSuperOnce",
  "getIterator",
  "iteratorResult",
  "forInNext",
]);

export class Folder {
  private pending: Pending[] = [];
  private out: Statement[] = [];
  private readonly inlined = new Map<Register, ExpressionText>();
  private readonly use: RegisterUse;
  private readonly names: Names;

  /** Mark of the source position of the instruction being printed. */
  #mark = "";
  readonly #takesMarks: boolean;

  /** Offset of a `toNumeric` that the following `increment` will print. */
  private incremented = -2;

  /** `end`: offset after the piece of code. */
  constructor(private readonly code: CodeObject, names: Names, private readonly end: Offset) {
    this.use = registerUse(code);
    this.#takesMarks = takesMarks(code.module);
    const currentMark = () => this.#mark;
    this.names = {
      operand: (r) => this.inlined.get(r) ?? this.use.constant[r] ?? names.operand(r),
      target: (r) => names.target(r),
      free: (index) => names.free(index),
      argument: (index) => names.argument(index),
      rest: (from) => names.rest(from),
      callee: () => names.callee(),
      home: () => names.home(),
      get scratch() {
        return names.scratch;
      },
      get mark() {
        return currentMark();
      },
    };
  }

  /** Statements so far, with nothing left waiting. */
  finish(): readonly Statement[] {
    this.flush(0);
    const out = this.out;
    this.out = [];
    return out;
  }

  private text(text: string, abrupt = false): void {
    this.out.push({ kind: "text", text, abrupt });
  }

  /** Turns waiting values, down to `keep` entries, into statements. The oldest go first. */
  private flush(keep: number): void {
    while (this.pending.length > keep) {
      const p = this.pending.shift();
      if (p) this.assign(p);
    }
  }

  private assign(p: Pending): void {
    if (p.apart) {
      this.text(`${this.names.target(p.apart.register)} = ${p.apart.text};`);
      this.text(`${this.names.target(p.register)} = ${p.apart.member()};`);
    } else this.text(`${this.names.target(p.register)} = ${p.expression.text};`);
  }

  /** Takes the waiting operands that can be inserted into the instruction's own text. */
  private take(operands: readonly Register[]): void {
    this.inlined.clear();
    const wanted = operands.filter((r) => this.pending.some((p) => p.register === r));
    let at = this.pending.length;
    for (let n = wanted.length - 1; n >= 0; n--) {
      const top = this.pending[at - 1];
      if (top && top.register === wanted[n]) at--;
      else {
        const index = this.pending.findIndex((p) => p.register === wanted[n]);
        // Everything up to this operand is evaluated before what follows it, so it becomes statements.
        const count = index + 1;
        for (let k = 0; k < count; k++) {
          const p = this.pending.shift();
          if (p) this.assign(p);
        }
        at -= count;
        if (at < 0) at = 0;
      }
    }
    for (const p of this.pending.splice(at)) this.inlined.set(p.register, p.expression);
  }

  /**
   * Returns whether a value may be folded: a temporary, written and read once (a receiver: by its property read and
   * its call).
   */
  private mayWait(register: Register): boolean {
    if (this.code.registers[register]?.name !== null || this.use.writes[register] !== 1) return false;
    return this.use.reads[register] === 1 || this.use.receivers.has(register);
  }

  /** Prints one instruction other than a jump. */
  add(i: Instruction, offset: Offset): void {
    if (i.op === "const" && this.use.constant[i.dst]) return;
    if (this.addIncrement(i, offset)) return;
    this.#mark = this.#takesMarks ? instructionMark(this.code, i, offset) : "";
    const operands = i.op === "call" ? this.callOperands(i) : reads(i);
    const dst = "dst" in i ? i.dst : null;
    const statementOnly = dst === null || i.op === "iteratorRest" || (hasReturn(i));
    if (statementOnly) {
      if (ORDERED.has(i.op)) this.take(operands);
      else this.inlined.clear();
      this.flush(0);
      joinLines(instructionStatements(this.code, i, this.names)).forEach((line, n) => {
        this.text(n === 0 ? this.#mark + line : line, i.op === "throwError");
      });
      this.inlined.clear();
      return;
    }
    this.take(operands);
    const expression = instructionExpression(this.code, i, this.names);
    const apart = i.op === "getProp" ? this.takeApart(i) : null;
    this.inlined.clear();
    if (!expression) throw new Error(`Expected ${i.op} to be an expression`);
    if (this.mayWait(dst)) {
      this.pending.push({ register: dst, expression, apart });
      return;
    }
    if ((this.use.reads[dst] ?? 0) === 0 && this.code.registers[dst]?.name === null) {
      if (!mayThrow(i)) return;
      this.flush(0);
      this.text(`${startSafe(expression.text)};`);
      return;
    }
    this.flush(0);
    const target = this.names.target(dst);
    if (target !== expression.text) this.text(`${target} = ${expression.text};`);
  }

  /** Operands of a call, without a receiver that is already part of the callee's text. */
  private callOperands(i: Extract<Instruction, { readonly op: "call" }>): readonly Register[] {
    const args = i.args.map((a) => a.register);
    const place = this.pending.findIndex((p) => p.register === i.callee && p.apart?.register === i.self);
    const whole = place >= 0 && this.pending[place]?.expression.words === i.text;
    if (!whole) {
      for (let count = place + 1; count > 0; count--) {
        const p = this.pending.shift();
        if (p) this.assign(p);
      }
    }
    return i.self === null || whole ? [i.callee, ...args] : [i.callee, i.self, ...args];
  }

  /** The two statements of a property read whose object was folded into it although a call needs it too. */
  private takeApart(i: Extract<Instruction, { readonly op: "getProp" }>): Pending["apart"] {
    const object = this.inlined.get(i.object);
    if (!object || !this.use.receivers.has(i.object)) return null;
    const key = i.key.kind === "register" ? this.names.operand(i.key.register) : null;
    const mark = this.#mark;
    const member = (): string => {
      const saved = [...this.inlined], current = this.#mark;
      this.#mark = mark;
      this.inlined.clear();
      if (key && i.key.kind === "register") this.inlined.set(i.key.register, key);
      const text = instructionExpression(this.code, i, this.names)?.text ?? "";
      this.inlined.clear();
      for (const [register, expression] of saved) this.inlined.set(register, expression);
      this.#mark = current;
      return text;
    };
    return { register: i.object, text: object.text, member };
  }

  /** `x++` of a plain variable, which compiles to two instructions. */
  private addIncrement(i: Instruction, offset: Offset): boolean {
    const before = this.code.instructions[offset - 1];
    const after = this.code.instructions[offset + 1];
    if (i.op === "toNumeric" && after?.op === "increment" && after.src === i.dst && after.dst === i.src) {
      if (this.use.reads[i.dst] !== 1 || offset + 1 >= this.end) return false;
      this.incremented = offset;
      return true;
    }
    if (this.incremented !== offset - 1) return false;
    if (i.op !== "increment" || before?.op !== "toNumeric" || before.dst !== i.src || before.src !== i.dst) {
      return false;
    }
    this.flush(0);
    this.text(`${this.names.target(i.dst)}${i.by > 0 ? "++" : "--"};`);
    return true;
  }

  /** The condition under which a conditional jump is taken, and its negation. */
  condition(condition: JumpCondition, test: Register): { readonly yes: string; readonly no: string } {
    this.take([test]);
    const e = this.names.operand(test);
    this.inlined.clear();
    this.flush(0);
    const value = wrap(e);
    switch (condition) {
      case "truthy":
        return { yes: e.text, no: negation(e) };
      case "falsy":
        return { yes: negation(e), no: e.text };
      case "nullish":
        return { yes: `${value} == null`, no: `${value} != null` };
      case "notNullish":
        return { yes: `${value} != null`, no: `${value} == null` };
      case "undefined":
        return { yes: `${value} === undefined`, no: `${value} !== undefined` };
      case "notUndefined":
        return { yes: `${value} !== undefined`, no: `${value} === undefined` };
    }
  }

  /** The operand of a return, throw or suspension, as text. */
  operand(register: Register): ExpressionText {
    this.take([register]);
    const e = this.names.operand(register);
    this.inlined.clear();
    this.flush(0);
    return e;
  }
}

/** The mark of an instruction: V8 places the failure of a call or read of a property at the property's name. */
function instructionMark(code: CodeObject, i: Instruction, offset: Offset): string {
  const { start, end } = code.spans[offset] ?? code.span;
  if (i.op !== "getProp" || i.key.kind !== "name") return markOf(start);
  const at = end - i.key.name.length - 1;
  return markOf(code.module.text.slice(at, end) === `.${i.key.name}` ? at : start);
}

function negation(e: ExpressionText): string {
  const plain = /^(.*) (===|!==|==|!=) (.*)$/.exec(e.text);
  if (!e.bare && plain && !/[?:&|,(]/.test(e.text)) {
    const [, left, operator, right] = plain;
    const opposite = operator?.startsWith("!") ? `=${operator.slice(1)}` : `!${(operator ?? "").slice(1)}`;
    return `${left} ${opposite} ${right}`;
  }
  return `!${wrap(e)}`;
}

function hasReturn(i: Instruction): boolean {
  return (i.op === "yield" || i.op === "yieldDelegate") && i.onReturn !== null;
}

/** Lines of one statement that spans several lines. */
function joinLines(lines: readonly string[]): readonly string[] {
  const out: string[] = [];
  for (const line of lines) {
    if (/^(\s|else\b|\})/.test(line) && out.length > 0) out[out.length - 1] += `\n${line}`;
    else out.push(line);
  }
  return out;
}
