/**
 * Places from which calls read values, and numbers that calls compute from them. Invariant: two sources are the same
 * place exactly when their names are equal.
 */
import type { Tagged } from "../base/tagged.ts";
import type { BinaryOperator } from "./bytecode/instruction.ts";
import type { LiveCell } from "./frame/info.ts";
import type { BytesPart, NumberForm } from "./guards/bytes.ts";
import type { Primitive } from "./variables/primitive.ts";

/** The kinds of places in the state that a call sees. */
interface Places {
  /** An argument of the function, or a live register of a resumed one. */
  argument: { label: string; index: number };
  /** The receiver of the call. */
  this: object;
  /** A variable of the global object. */
  global: { variable: string };
  /** An object that never changes: an import, a constant of a module, a builtin. */
  known: { object: object };
  /** The contents of a cell. */
  cell: { cell: LiveCell };
  /** A captured variable of a function that is itself found at `base`. */
  captured: { base: Source; index: number };
  property: { base: Source; key: string | symbol };
  /** The getter or setter of an own property. */
  accessor: { base: Source; key: string | symbol; part: "get" | "set" };
  /** The prototype of an object, if it differs in each call. */
  prototype: { base: Source };
  /** A private member, read from inside its class. */
  private: { base: Source; access: PrivateReader };
  /** The answer of a list, a collection or an object to a question about an index, a key or an element. */
  element: { base: Source; question: Question; at: HostExpression };
  /**
   * The key or value of the entry at a position of a Map, or the member of a Set; for a loop's iterator over a list,
   * the item some steps ahead, the element there, or its index; for one over a Map, a Set or a string, the remaining
   * items, their keys, members or characters, and their values; for a list, an element counted from its end.
   */
  entry: { base: Source; part: EntryPart; index: number };
  /** A lookup in a Map or Set; for its size the key does not matter. */
  lookup: { base: Source; part: LookupPart; key: Primitive };
  /** A part of an object that accesses memory. */
  bytes: { base: Source; part: BytesPart };
  /** A number that each call computes from others. */
  computed: { expression: HostExpression; of: readonly Source[] };
}

/** A place. */
export type Source = Tagged<{ [K in keyof Places]: { name: string } & Places[K] }>;

/** A question about a value that each call computes; "element": for the own property of that name. */
export type Question = "element" | "get" | "has" | "indexOf" | "includes";

/** The part of a collection, or of an iterator's item, that an entry source refers to. */
export type EntryPart =
  | "key"
  | "value"
  | "member"
  | "kind"
  | "item"
  | "place"
  | "kindLeft"
  | "keyLeft"
  | "valueLeft"
  | "last";

/** The result of a lookup in a Map or Set. */
export type LookupPart = "get" | "has" | "size";

/** Reads a private member. */
export interface PrivateReader {
  readonly get: (object: object) => unknown;
}

/** A call of a builtin that returns another number each time: generated code makes it once, in order. */
export interface HostCall {
  /** The builtin as written in the program. */
  readonly text: string;
  readonly run: () => number;
  /** Whether it runs after the graph. */
  readonly afterGraph: boolean;
}

/** A place that an expression reads. */
export type HostLeaf = Extract<
  HostExpression,
  { readonly kind: "source" | "tensorSize" | "called" | "element" | "shared" | "ranked" | "compared" }
>;

/** A large expression that generated code evaluates once, before anything is written. */
export interface SharedExpression {
  readonly kind: "shared";
  readonly of: HostExpression;
  readonly number: number;
  readonly readsElements: boolean;
  /** The large expressions in it, all of which have smaller numbers. */
  readonly parts: readonly SharedExpression[];
}

/**
 * A number in memory at the beginning of the call: the element of a typed array at an index, or a number in another
 * form at a byte offset of an object.
 */
export interface HostElement {
  readonly kind: "element";
  readonly source: Source;
  readonly at: HostExpression;
  readonly form: NumberForm | null;
  /** Whether it is an integer in all calls. */
  readonly isWhole: boolean;
}

/** A list of rows of numbers that each call sorts once, before anything is written. */
export interface Ranking {
  readonly number: number;
  /** The numbers of all rows, column by column. */
  readonly columns: readonly (readonly HostExpression[])[];
  /** The result of the comparator for two rows. */
  readonly order: HostExpression;
  readonly readsElements: boolean;
}

/** The first number of the row at a place of a sorted list, or where that row was before. */
export interface RankedNumber {
  readonly kind: "ranked";
  readonly ranking: Ranking;
  readonly at: number;
  readonly part: "number" | "place";
  /** Whether it is an integer in all calls. */
  readonly isWhole: boolean;
}

/** A pure expression over primitive values. */
export type HostExpression =
  | { readonly kind: "called"; readonly call: HostCall; readonly index: number }
  | { readonly kind: "source"; readonly source: Source }
  | HostElement
  | SharedExpression
  | RankedNumber
  /** A number of one of the two rows that a comparator compares. */
  | { readonly kind: "compared"; readonly side: 0 | 1; readonly column: number }
  | { readonly kind: "literal"; readonly value: number | string | boolean }
  /** A size or stride of a tensor at a source. */
  | {
    readonly kind: "tensorSize";
    readonly source: Source;
    readonly part: "shape" | "stride";
    readonly dim: number;
  }
  | {
    readonly kind: "binary";
    readonly operator: HostBinary;
    readonly left: HostExpression;
    readonly right: HostExpression;
  }
  | { readonly kind: "unary"; readonly operator: "-" | "+" | "~" | "!"; readonly operand: HostExpression }
  /** One of two primitives, by a condition. */
  | {
    readonly kind: "choice";
    readonly test: HostExpression;
    readonly whenTrue: HostExpression;
    readonly whenFalse: HostExpression;
    /** Whether both are integers in all calls. */
    readonly isWhole: boolean;
  }
  /** A function of Math. */
  | { readonly kind: "math"; readonly name: HostMath; readonly args: readonly HostExpression[] };

/** Operators on numbers that generated code may use. */
export type HostBinary = Exclude<BinaryOperator, "==" | "!=" | "in" | "instanceof">;

/** Deterministic functions of Math. */
export const MATH = [
  "abs",
  "ceil",
  "floor",
  "round",
  "trunc",
  "sign",
  "sqrt",
  "cbrt",
  "exp",
  "expm1",
  "log",
  "log1p",
  "log2",
  "log10",
  "sin",
  "cos",
  "tan",
  "asin",
  "acos",
  "atan",
  "sinh",
  "cosh",
  "tanh",
  "asinh",
  "acosh",
  "atanh",
  "atan2",
  "pow",
  "min",
  "max",
  "hypot",
  "f16round",
  "fround",
  "imul",
  "clz32",
] as const;

/** One of these. */
export type HostMath = (typeof MATH)[number];
