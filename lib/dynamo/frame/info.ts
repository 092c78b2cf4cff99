/**
 * The types of frame access: a union over the kinds of callable values.
 *
 * Invariant: reading any field never runs user code.
 */
import type { ClassField, PrivateMethodCode } from "../bytecode/compile.ts";
import type { CodeObject, UserPosition } from "../bytecode/code.ts";
import type { ParsedModule } from "../bytecode/parse.ts";
import type { ClassNode } from "../bytecode/syntax.ts";

/** A variable that can be read and written from outside its scope. Reads throw while it is not initialised. */
export interface LiveCell {
  readonly get: () => unknown;
  readonly set: (value: unknown) => void;
}

/** Reads and writes one private member of objects. */
export interface PrivateAccess {
  readonly has: (object: object) => boolean;
  readonly get: (object: object) => unknown;
  readonly set: (object: object, value: unknown) => void;
  /** Removes the entry of an object in a weak collection; private members stay. */
  readonly remove?: (object: object) => void;
  readonly member: "field" | "method" | "accessor";
}

/** The contents of a variable at one moment. */
export type Held =
  | { readonly kind: "value"; readonly value: unknown }
  | { readonly kind: "uninitialized" }
  | { readonly kind: "unknown" };

/** A free variable of a captured function. */
export type FreeBinding =
  /** Never changes again. */
  | { readonly kind: "value"; readonly value: unknown }
  | { readonly kind: "cell"; readonly cell: LiveCell }
  | { readonly kind: "private"; readonly access: PrivateAccess }
  /** Not available while the function runs; `watchNextRun` takes it from the function's next call. */
  | {
    readonly kind: "pending";
    readonly because: string;
    /** Returns its current contents. */
    readonly held: () => Held;
    /** For a private name: reads what objects have now, and writes nothing; null for variables. */
    readonly access: PrivateAccess | null;
    /** For a private method: what is known of it before it can be accessed. */
    readonly method: UnreachedMethod | null;
    /** Identifies the variable's declaration. */
    readonly declaration: object;
  }
  /** Not available, for the reason in `because`. */
  | { readonly kind: "unreachable"; readonly because: string };

/** A private method to which no access has been obtained yet. */
export interface UnreachedMethod {
  readonly code: CodeObject;
  readonly binding: (index: number) => FreeBinding;
}

/** A function written in JavaScript. */
export interface CapturedFunction {
  readonly kind: "function";
  readonly fn: object;
  readonly module: ParsedModule;
  /** Compiled on first read; throws `UnsupportedSyntax` if it cannot be compiled. */
  readonly code: CodeObject;
  /** Source position of the function. */
  readonly position: UserPosition;
  /** The class of which it is a method, getter or setter; null: none. */
  readonly member: { readonly owner: ClassNode; readonly isStatic: boolean } | null;
  /** The free variable with that index in `code.free`; computed once, then cached. */
  readonly binding: (index: number) => FreeBinding;
}

/** A class. */
export interface CapturedClass {
  readonly kind: "class";
  readonly fn: object;
  readonly module: ParsedModule;
  readonly node: ClassNode;
  readonly position: UserPosition;
  readonly derived: boolean;
  /** The constructor as written; null if there is none. */
  readonly constructorCode: CodeObject | null;
  /** Instance fields in order. */
  readonly fields: readonly ClassField[];
  /** Private methods and accessors of instances. */
  readonly privateMethods: readonly PrivateMethodCode[];
  /** The free variable with that index of the constructor's code. */
  readonly binding: (index: number) => FreeBinding;
  /** The free variable with that index of a field's code. */
  readonly fieldBinding: (field: ClassField, index: number) => FreeBinding;
  /** The name of a private field. */
  readonly nameBinding: (field: ClassField) => FreeBinding;
  /** The free variable with that index of a private method's code. */
  readonly methodBinding: (method: PrivateMethodCode, index: number) => FreeBinding;
}

/** The capture of any callable value. */
export type Captured =
  | CapturedFunction
  | CapturedClass
  | {
    readonly kind: "bound";
    readonly target: object;
    readonly self: unknown;
    readonly args: readonly unknown[];
  }
  | { readonly kind: "proxy"; readonly target: object; readonly handler: object | null }
  /** A function of the runtime, without JavaScript text. */
  | { readonly kind: "native"; readonly name: string }
  /** `retry`: the same request may succeed later, from a timer. */
  | { readonly kind: "unavailable"; readonly because: string; readonly retry: boolean };
