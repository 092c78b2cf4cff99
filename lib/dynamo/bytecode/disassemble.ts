/**
 * Prints code objects as text, one line per instruction, stable between runs.
 *
 * Invariant: the text shows all operands of the instructions, and nothing of the environment.
 */
import type { CodeObject } from "./code.ts";
import type {
  Argument,
  ArrayElement,
  Capture,
  Instruction,
  InstructionOf,
  KeyOperand,
  ObjectMember,
  Register,
} from "./instruction.ts";
import { INSTRUCTIONS } from "./instructions.ts";

/** The code object, its tables, and (unless `nested` is false) the functions inside it, as text. */
export function disassemble(code: CodeObject, options: { readonly nested?: boolean } = {}): string {
  const lines = [header(code)];
  if (code.free.length > 0) {
    lines.push(
      `  free ${
        code.free.map((f, i) => `${i}:${f.name}(${f.kind}${f.reassigned ? ", reassigned" : ""})`).join(" ")
      }`,
    );
  }
  const targets = jumpTargets(code);
  code.instructions.forEach((instruction, offset) => {
    const mark = targets.has(offset) ? ">" : " ";
    lines.push(`${mark}${String(offset).padStart(4)}  ${instructionText(code, instruction)}`);
  });
  for (const h of code.handlers) {
    lines.push(
      `  in ${h.start}..${h.end - 1} exceptions go to ${h.target} with ${registerName(code, h.register)}`,
    );
  }
  if (options.nested !== false) {
    for (const child of code.children) {
      lines.push("", ...disassemble(child).split("\n").map((line) => (line ? `  ${line}` : line)));
    }
  }
  return lines.join("\n");
}

function header(code: CodeObject): string {
  const words: string[] = [];
  if (code.async) words.push("async");
  if (code.generator) words.push("generator");
  words.push(code.kind);
  const params = code.parameters.map((p) => p ?? "_");
  if (code.hasRest) params.push("...");
  return `${words.join(" ")} ${code.name || "<anonymous>"}(${params.join(", ")})${
    code.strict ? "" : " sloppy"
  }`;
}

function jumpTargets(code: CodeObject): ReadonlySet<number> {
  const targets = new Set<number>();
  for (const i of code.instructions) {
    if (i.op === "jump" || i.op === "jumpIf") targets.add(i.target);
    if ((i.op === "yield" || i.op === "yieldDelegate") && i.onReturn !== null) targets.add(i.onReturn);
  }
  for (const h of code.handlers) targets.add(h.target);
  return targets;
}

/** A register as the listing names it: `r3`, with the variable's name where it has one. */
function registerName(code: CodeObject, register: Register): string {
  const info = code.registers[register];
  return info?.name ? `r${register}:${info.name}${info.cell ? "*" : ""}` : `r${register}`;
}

/** One instruction as the listing shows it. */
export function instructionText(code: CodeObject, i: Instruction): string {
  const { text, reads, writes }: ListingRule = INSTRUCTIONS[i.op];
  const isGiven = (field: string) => !NOTHING.has(Reflect.get(i, field));
  const shown = (field: string, how: string): string => {
    const value: unknown = Reflect.get(i, field);
    if (how === "!") return isConstant(value) ? constantText(value) : JSON.stringify(value);
    if (how === "~") return freeText(code, Number(value));
    if (i.op === "increment" && field === "by") return i.by > 0 ? "+ 1" : "- 1";
    if (i.op === "template" && field === "quasis") return templateText(code, i);
    if (i.op === "arrayAppend" && i.element.kind === "hole" && field === "element") return "hole";
    const isRegister = field === "dst" || reads.includes(field) || writes?.includes(field);
    return isRegister ? operandText(code, value, field) : String(value);
  };
  return text
    .replace(
      /<(!?)(\w+):([^<>]*)>/g,
      (_, not: string, field: string, clause: string) => isGiven(field) === (not === "") ? clause : "",
    )
    .replace(/\{(\w+)([!~]?)\}/g, (_, field: string, how: string) => shown(field, how));
}

interface ListingRule {
  readonly text: string;
  readonly reads: readonly string[];
  readonly writes?: readonly string[];
}

/** Values that are not shown. */
const NOTHING: ReadonlySet<unknown> = new Set([null, false, "", undefined]);

const freeText = (code: CodeObject, index: number): string =>
  `free ${index}:${code.free[index]?.name ?? "?"}`;

type Operand = KeyOperand | ObjectMember | ArrayElement | Argument | Capture;

const isOperand = (value: unknown): value is Operand => typeof value === "object" && value !== null;

/** An operand: a register, a list, a key, a member of an object, an element, an argument, what a closure captures. */
function operandText(code: CodeObject, value: unknown, field: string): string {
  if (typeof value === "number") return registerName(code, value);
  if (Array.isArray(value)) return value.map((each) => operandText(code, each, field)).join(", ");
  if (!isOperand(value)) return String(value);
  if ("spread" in value) return (value.spread ? "..." : "") + registerName(code, value.register);
  if (value.kind === "hole") return "";
  if (value.kind === "name") return JSON.stringify(value.name);
  if (value.kind === "free") return freeText(code, value.index);
  const register = registerName(code, value.register);
  if ("key" in value) {
    return `${value.kind === "value" ? "" : `${value.kind} `}${
      operandText(code, value.key, field)
    }: ${register}`;
  }
  if (value.kind === "spread") return `...${register}`;
  if (value.kind === "proto") return `__proto__ ${register}`;
  return field === "captures" ? `${value.kind} ${register}` : register;
}

function templateText(code: CodeObject, { quasis, values }: InstructionOf<"template">): string {
  const hole = (n: number) => n < values.length ? ` ${registerName(code, values[n] ?? 0)} ` : "";
  return quasis.map((text, n) => JSON.stringify(text) + hole(n)).join("");
}

type Constant = undefined | null | boolean | number | string | bigint;

const isConstant = (value: unknown): value is Constant =>
  value === null || !["object", "function", "symbol"].includes(typeof value);

/** A constant as source text. */
export function constantText(value: Constant): string {
  if (typeof value === "string") {
    return JSON.stringify(value).replace(/[\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16)}`);
  }
  if (typeof value === "bigint") return `${value}n`;
  if (Object.is(value, -0)) return "-0";
  return value === undefined ? "undefined" : String(value);
}
