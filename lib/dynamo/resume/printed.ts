/**
 * Compiles code objects to functions: the rest of a function from an offset, and single instructions. Factories take
 * the captures of the code. Invariant: one factory per place and list of parameters.
 */
import { preferringOwnBuiltins, withRuntimeBuiltins } from "../../base/own_builtins.ts";
import type { CodeObject } from "../bytecode/code.ts";
import type { Instruction, Register } from "../bytecode/instruction.ts";
import { reads, writes } from "../bytecode/effects.ts";
import { printFunction } from "../bytecode/print.ts";
import { freeName } from "../bytecode/print_names.ts";
import type { FreeForm, PrintedFunction } from "../bytecode/print_types.ts";
import { runtime } from "../bytecode/runtime.ts";
import { evaluatePlaced } from "../bytecode/placed_code.ts";
import { derivedCode } from "./steps.ts";

/** Creates the function; `free` by index of the free variable. */
type Factory = (
  free: readonly unknown[],
  callee: unknown,
) => (...args: unknown[]) => unknown;

/** A printed function and its text. */
export interface Printed {
  readonly source: string;
  readonly make: Factory;
}

const known = new WeakMap<CodeObject, Map<string, Printed>>();

/** The request for a printed function: its entry, parameters and the forms of its free variables. */
interface PrintRequest {
  readonly entry: number;
  readonly parameters: readonly Register[];
  readonly name: string;
  readonly forms: (index: number) => FreeForm;
}

/** The rest of a function. May be called in the middle of a program that has replaced builtins. */
export function printRest(code: CodeObject, request: PrintRequest): Printed {
  return withRuntimeBuiltins(() => print(code, request));
}

function print(code: CodeObject, request: PrintRequest): Printed {
  const { entry, parameters, name, forms } = request;
  const formKey = code.free.map((_, i) => forms(i)).join();
  const key = `${entry}(${parameters.join()})${formKey}${name}`;
  let table = known.get(code);
  if (!table) known.set(code, table = new Map());
  let printed = table.get(key);
  if (!printed) {
    // Printing uses more builtins than running printed code
    printed = preferringOwnBuiltins(() => {
      const text = printFunction(code, { entry, parameters, name, freeForm: forms });
      return { source: text.source, make: evaluate(code, text) };
    });
    table.set(key, printed);
  }
  return printed;
}

function evaluate(code: CodeObject, { marked, strict, free }: PrintedFunction): Factory {
  const used = [...free.keys()];
  const parameters = ["$rt", "$callee", ...used.map((index) => freeName(code, index))];
  const make = evaluatePlaced(code, { marked, strict, parameters });
  return (free, callee) => {
    const made: unknown = withRuntimeBuiltins(() =>
      make(runtime, callee, ...used.map((index) => free[index]))
    );
    if (!isRest(made)) throw new TypeError("Expected a function");
    return made;
  };
}

function isRest(value: unknown): value is ReturnType<Factory> {
  return typeof value === "function";
}

const steps = new WeakMap<Instruction, CodeObject>();

/** One instruction as a function of what it reads; returns what it writes, as a list unless that is a single value. */
export function stepCode(code: CodeObject, pc: number): {
  readonly code: CodeObject;
  readonly reads: readonly Register[];
  readonly writes: readonly Register[];
} | null {
  const instruction = code.instructions[pc];
  if (!instruction) return null;
  const written = [...new Set(writes(instruction))], read = [...new Set(reads(instruction))];
  let made = steps.get(instruction);
  if (!made) {
    const [only] = written;
    const list = code.registers.length;
    made = written.length === 1 && only !== undefined
      ? oneStep(code, {
        instructions: [instruction],
        result: only,
        registers: list,
        children: code.children,
        pc,
      })
      : oneStep(code, {
        instructions: [
          instruction,
          { op: "array", dst: list, elements: written.map((register) => ({ kind: "value", register })) },
        ],
        result: list,
        registers: list + 1,
        children: code.children,
        pc,
      });
    steps.set(instruction, made);
  }
  return { code: made, reads: read, writes: written };
}

/** The code of a function that creates a closure of `child`. */
export function stepOf(
  child: CodeObject,
  closure: Instruction,
  { registers, result }: { readonly registers: number; readonly result: Register },
): CodeObject {
  return oneStep(child, { instructions: [closure], result, registers, children: [child], pc: 0 });
}

interface StepParts {
  readonly instructions: readonly Instruction[];
  readonly result: Register;
  readonly registers: number;
  readonly children: readonly CodeObject[];
  readonly pc: number;
}

/** A code object that is entered at 1, runs some instructions and returns a register. */
function oneStep(code: CodeObject, parts: StepParts): CodeObject {
  const span = code.spans[parts.pc] ?? code.span;
  const instructions: readonly Instruction[] = [
    { op: "jump", target: 1 },
    ...parts.instructions,
    { op: "return", src: parts.result },
  ];
  return derivedCode(code, {
    kind: "function",
    generator: false,
    async: false,
    length: 0,
    parameters: [],
    hasRest: false,
    usesThis: false,
    usesArguments: false,
    registers: Array.from(
      { length: parts.registers },
      (_, i) => code.registers[i] ?? { name: null, cell: false },
    ),
    instructions,
    spans: instructions.map(() => span),
    handlers: [],
    children: parts.children,
  });
}
