/**
 * Code objects: a JavaScript function as a flat list of register instructions.
 *
 * Invariant: all state of a running function lives in its registers (captured variables in cells that registers
 * hold), so a function can be left and re-entered at any offset with the live registers alone.
 */
import type { Instruction, Offset, Register } from "./instruction.ts";

/** Index of a register in a code object. */
export interface SourceSpan {
  readonly start: number;
  readonly end: number;
}

/** A position as the user wrote it: 1-based line, 0-based column, in the original (TypeScript) file if known. */
export interface UserPosition {
  /** Path for file: modules, otherwise the script's URL. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** The text of that line in the original file, null if the file cannot be read. */
  readonly text: string | null;
}

/** The text a code object was compiled from. One object per script. */
export interface SourceModule {
  readonly url: string;
  readonly text: string;
  /** Returns the user's position of the character at `offset` of `text`. */
  position(offset: number): UserPosition;
}

/** A value that is the same for every evaluation. */
export interface ExceptionEntry {
  readonly start: Offset;
  readonly end: Offset;
  readonly target: Offset;
  readonly register: Register;
}

/**
 * The declaration of a free variable. `this`, `newTarget`, `arguments`, `home` are those of the function around an
 * arrow; `callee` is the running constructor an arrow calls super in; `private` is a #name; `importMeta` is
 * import.meta.
 */
export type FreeKind =
  | "const"
  | "let"
  | "var"
  | "function"
  | "class"
  | "parameter"
  | "import"
  | "this"
  | "newTarget"
  | "arguments"
  | "home"
  | "callee"
  | "private"
  | "importMeta";

/** A variable of an enclosing scope that the function, or a function inside it, uses. */
export interface FreeVariable {
  /**
   * The source text; pseudo variables are "this", "new.target", "arguments", "super", "callee", "#x", "import.meta".
   */
  readonly name: string;
  readonly kind: FreeKind;
  /** Whether anything in the module assigns it after its initialisation; otherwise a value once seen is final. */
  readonly reassigned: boolean;
  /** Whether a read by this function can come before the initialisation. */
  readonly mayBeUninitialized: boolean;
  /** Character offset of the declaration in the module, -1 for pseudo variables. */
  readonly declaredAt: number;
}

/** A register; `name` is the user's variable it holds, null for temporaries. */
export interface RegisterInfo {
  readonly name: string | null;
  /** Whether it holds a cell that contains the variable, rather than the variable itself. */
  readonly cell: boolean;
}

export type FunctionKind =
  | "function"
  | "arrow"
  | "method"
  | "getter"
  | "setter"
  | "constructor"
  | "derivedConstructor"
  | "fieldInitializer"
  | "staticBlock";

/** A class inside a function. Its text is evaluated as written, with captured variables accessed through `free`. */
export interface ClassTemplate {
  readonly name: string;
  readonly span: SourceSpan;
  /** Span of the heritage expression; null without `extends`. */
  readonly heritage: SourceSpan | null;
  /** Spans of the computed keys that are evaluated before the class; empty if its text evaluates them. */
  readonly keys: readonly SourceSpan[];
  readonly free: readonly FreeVariable[];
}

/** The properties of a function that its head shows; its instructions are not needed for them. */
export interface CodeHeader {
  /** Name, as in the function's `name` property; "" if anonymous. */
  readonly name: string;
  readonly kind: FunctionKind;
  readonly generator: boolean;
  readonly async: boolean;
  readonly strict: boolean;
  /** Value of the `length` property. */
  readonly length: number;
  /** Names of the simple parameters in order, null in place of a pattern; the rest parameter is not included. */
  readonly parameters: readonly (string | null)[];
  readonly hasRest: boolean;
  /** Frame inputs the prologue reads. */
  readonly usesThis: boolean;
  readonly usesArguments: boolean;
  readonly usesSuper: boolean;
  readonly free: readonly FreeVariable[];
  /** Span of the whole function in the module's text. */
  readonly span: SourceSpan;
}

/** A compiled function. */
export interface CodeObject extends CodeHeader {
  readonly registers: readonly RegisterInfo[];
  readonly instructions: readonly Instruction[];
  /** Source span of each instruction. */
  readonly spans: readonly SourceSpan[];
  readonly handlers: readonly ExceptionEntry[];
  readonly children: readonly CodeObject[];
  readonly classes: readonly ClassTemplate[];
  readonly module: SourceModule;
}

/** A construct that has no instructions; the caller runs the original function instead. */
export class UnsupportedSyntax extends Error {
  override readonly name = "UnsupportedSyntax";
  /** The unsupported construct, in a few words: `with statement`. */
  readonly construct: string;
  readonly position: UserPosition;

  constructor(construct: string, position: UserPosition) {
    super(`Unsupported syntax: ${construct} at ${position.file}:${position.line}:${position.column + 1}`);
    this.construct = construct;
    this.position = position;
  }
}
