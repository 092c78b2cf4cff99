/**
 * Names in one printed function: registers, free variables, parameters.
 *
 * Invariant: no generated name shadows a global that the printed code looks up: all contain a `$`.
 */
import { RESERVED_WORDS } from "../../base/names.ts";
import type { CodeObject, FreeVariable } from "./code.ts";
import type { Register } from "./instruction.ts";
import type { ExpressionText, Names } from "./print_instruction.ts";
import type { FreeForm, PrintOptions } from "./print_types.ts";
import type { Statement } from "./statement_tree.ts";

export class FunctionNames implements Names {
  readonly functionName: string;
  readonly freeUsed = new Map<number, FreeForm>();
  /** Marks are only set where instructions are printed one by one. */
  readonly mark = "";
  private readonly used = new Set<string>();
  private readonly extra = new Set<string>();
  private argumentCount = 0;
  private restFrom: number | null = null;
  private readonly plain: PlainNames;

  constructor(
    private readonly code: CodeObject,
    private readonly options: PrintOptions,
    private readonly parameters: readonly Register[],
  ) {
    this.functionName =
      (options.name ?? code.name).replace(/[^\p{ID_Continue}$]/gu, "_").replace(/^(?=\d)/, "_") + "$";
    this.argumentCount = code.parameters.length;
    this.plain = plainNames(code);
  }

  /** A name for values used within one statement. */
  get scratch(): string {
    this.extra.add("$s");
    return "$s";
  }

  name(register: Register): string {
    const user = this.code.registers[register]?.name;
    if (user && this.plain.registers.has(register)) return user;
    return user ? `${user.replace(/[^\p{ID_Continue}$]/gu, "_")}$${register}` : `$${register}`;
  }

  /** A statement of that text. */
  text(text: string, abrupt = false): Statement {
    return { kind: "text", text, abrupt };
  }

  declare(name: string): void {
    this.extra.add(name);
  }

  operand(register: Register): ExpressionText {
    const text = this.name(register);
    this.used.add(text);
    return { text, bare: true, words: text };
  }

  target(register: Register): string {
    const text = this.name(register);
    this.used.add(text);
    return text;
  }

  free(index: number): { readonly text: string; readonly form: FreeForm } {
    const variable = this.code.free[index];
    // A private name is access to it, also where its class is made in the same trace, which passes it on as a value
    const form = variable?.kind === "private"
      ? "private"
      : this.options.freeForm?.(index) ?? defaultForm(variable);
    this.freeUsed.set(index, form);
    return { text: freeName(this.code, index), form };
  }

  argument(index: number): string {
    this.argumentCount = Math.max(this.argumentCount, index + 1);
    return `$a${index}`;
  }

  rest(from: number): string {
    this.restFrom = from;
    return "$rest";
  }

  callee(): string {
    return "$callee";
  }

  home(): string {
    return "$home";
  }

  /** Text between the parentheses of the function's head. */
  parameterList(): string {
    if ((this.options.entry ?? 0) > 0 || this.options.suspended) {
      return this.parameters.map((r) => this.name(r)).join(", ");
    }
    const count = this.restFrom ?? this.argumentCount;
    const list = Array.from({ length: count }, (_, n) => `$a${n}`);
    if (this.restFrom !== null) list.push("...$rest");
    return list.join(", ");
  }

  /** Names to declare at the top. */
  declarations(parameters: readonly Register[]): string {
    const given = new Set(parameters.map((r) => this.name(r)));
    return [...[...this.used].filter((n) => !given.has(n)), ...this.extra].join(", ");
  }
}

/**
 * Names that identifiers must not have, in strict or any code, and names that printed code itself uses, such as those
 * of errors.
 */
const RESERVED: ReadonlySet<string> = new Set([
  ...RESERVED_WORDS,
  ..."async get of set using Error RangeError ReferenceError SyntaxError TypeError".split(" "),
]);
const PLAIN = /^[\p{ID_Start}_][\p{ID_Continue}]*$/u;

/** Registers and variables that keep their names in printed code. */
interface PlainNames {
  readonly registers: ReadonlySet<Register>;
  /** Indexes of free variables. */
  readonly free: ReadonlySet<number>;
}

const known = new WeakMap<CodeObject, PlainNames>();

/**
 * Registers and free variables that keep the names of their variables, which the engine's errors mention: only one
 * variable has that name, and nothing else in the text looks it up. Nested functions are texts of the program, with
 * globals of their own.
 */
function plainNames(code: CodeObject): PlainNames {
  const found = known.get(code);
  if (found) return found;
  const owners = new Map<string, { readonly register?: Register; readonly free?: number }[]>();
  const add = (name: string, owner: { readonly register?: Register; readonly free?: number }) =>
    owners.set(name, [...owners.get(name) ?? [], owner]);
  if (code.children.length === 0 && code.classes.length === 0) {
    code.registers.forEach(({ name, cell }, register) => {
      if (name !== null && !cell) add(name, { register });
    });
    code.free.forEach(({ name, kind }, free) => {
      if (kind !== "private") add(name, { free });
    });
  }
  for (const i of code.instructions) {
    if (i.op === "loadGlobal" || i.op === "storeGlobal") owners.delete(i.name);
  }
  const registers = new Set<Register>(), free = new Set<number>();
  for (const [name, [owner, other]] of owners) {
    if (owner === undefined || other !== undefined || RESERVED.has(name) || !PLAIN.test(name)) continue;
    if (owner.register !== undefined) registers.add(owner.register);
    if (owner.free !== undefined) free.add(owner.free);
  }
  const plain = { registers, free };
  known.set(code, plain);
  return plain;
}

/** The name that holds a free variable in printed code. */
export function freeName(code: CodeObject, index: number): string {
  const user = code.free[index]?.name ?? "";
  if (plainNames(code).free.has(index)) return user;
  return `${user.replace(/[^\p{ID_Continue}$]/gu, "_").replace(/^(?=\d)/, "_")}$f${index}`;
}

/** The form of a free variable if the caller specifies none. */
function defaultForm(variable: FreeVariable | undefined): FreeForm {
  return variable?.reassigned ? "live" : "value";
}
