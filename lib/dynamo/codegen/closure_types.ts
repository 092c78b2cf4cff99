/** The interface of generated code to the printer of code objects. Invariant: expressions are texts. */
import type { CodeObject } from "../bytecode/code.ts";
import type { LiveCell } from "../frame/info.ts";
import type { Constants } from "../guards/reader.ts";
import type { ObjectValue, Value } from "../variables/value.ts";

/**
 * Prints the creation of functions, cells and generators of the trace; implemented by the printer of code objects.
 */
export interface ClosurePrinter {
  /** An expression for a new function of `code`; `free` are expressions for its captures. */
  closure(code: CodeObject, made: ClosureParts, constants: Constants): string;
  /** An expression for a new cell of a variable with this content. */
  cell(name: string, content: string | null, constants: Constants): string;
  /** A user's variable in the form that closures created here take. */
  liveCell(cell: LiveCell): object;
  readonly boxOfCaptured: (fn: unknown, index: number) => object;
  /** Sets the content of a cell. */
  setCell(cell: string, content: string): string;
  /** A generator that continues at an offset, from its live registers. */
  generator(generator: ObjectValue, rebuild: (value: Value) => string, constants: Constants): string;
  /** The remaining keys of a for-in loop. */
  enumerator(object: string, keys: readonly string[], index: number, constants: Constants): string;
  /** The marker of uninitialised variables. */
  uninitialized(constants: Constants): string;
}

/** A function of the trace, by the texts of its parts. */
export interface ClosureParts {
  readonly name: string | symbol;
  /** An expression for a name that is a symbol. */
  readonly nameText: string | null;
  readonly namePrefix: "" | "get" | "set";
  readonly home: string | null;
  readonly free: readonly string[];
  /** Indices of the captures that are cells. */
  readonly cells: ReadonlySet<number>;
}
