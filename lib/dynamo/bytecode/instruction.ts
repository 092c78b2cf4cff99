/**
 * The instruction set of code objects: register instructions and their operands.
 *
 * Invariants: frame inputs (this, arguments, new.target, …) are read only by `load…` instructions of the prologue.
 * Instruction offsets are indexes into `instructions` of a code object. An instruction writes its destination only
 * after everything that can throw has happened, unless it says otherwise.
 */
import type { RowOf } from "../../base/tagged.ts";

export type Register = number;

/** Index of an instruction in a code object. */
export type Offset = number;

/** A primitive that an instruction loads. */
export type ConstantValue = undefined | null | boolean | number | string | bigint;

/** Key of a property: a known string (array indexes are strings too), or the value of a register. */
export type KeyOperand =
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "register"; readonly register: Register };

/** One argument of a call; a spread argument is iterated at the call. */
export interface Argument {
  readonly register: Register;
  readonly spread: boolean;
  /** The engine's name for a spread argument in its messages. */
  readonly words?: string;
}

/** One element of an array literal. */
export type ArrayElement =
  | { readonly kind: "value"; readonly register: Register }
  /** `words`: the engine's name for it in messages; "" to name it by its type. */
  | { readonly kind: "spread"; readonly register: Register; readonly words: string }
  | { readonly kind: "hole" };

/** One member of an object literal. Register keys have been converted to property keys (by `toPropertyKey`). */
export type ObjectMember =
  | { readonly kind: "value"; readonly key: KeyOperand; readonly register: Register }
  | { readonly kind: "get"; readonly key: KeyOperand; readonly register: Register }
  | { readonly kind: "set"; readonly key: KeyOperand; readonly register: Register }
  | { readonly kind: "proto"; readonly register: Register }
  | { readonly kind: "spread"; readonly register: Register };

/** The source of one free variable of a child, when its closure is created. */
export type Capture =
  /** The register holds a cell (see `newCell`), which the closure shares. */
  | { readonly kind: "cell"; readonly register: Register }
  /** The register holds the value, which never changes again. */
  | { readonly kind: "value"; readonly register: Register }
  /** The parent's own free variable with that index, shared. */
  | { readonly kind: "free"; readonly index: number };

export type BinaryOperator =
  | "+"
  | "-"
  | "*"
  | "/"
  | "%"
  | "**"
  | "&"
  | "|"
  | "^"
  | "<<"
  | ">>"
  | ">>>"
  | "=="
  | "!="
  | "==="
  | "!=="
  | "<"
  | "<="
  | ">"
  | ">="
  | "in"
  | "instanceof";

export type UnaryOperator = "-" | "+" | "!" | "~" | "typeof" | "void";

export type JumpCondition = "truthy" | "falsy" | "nullish" | "notNullish" | "undefined" | "notUndefined";

/** Values and registers. */
export interface Values {
  /** dst = value. */
  const: { dst: Register; value: ConstantValue };
  /** dst = a new RegExp object at every evaluation. */
  regexp: { dst: Register; pattern: string; flags: string };
  /** dst = src. */
  move: { dst: Register; src: Register };
  /** dst = the "not yet initialised" marker, which only `checkTdz`, `move`, and cells may meet. */
  uninitialized: { dst: Register };
  /** Throws ReferenceError `Cannot access '<name>' before initialization` if src holds the marker. For `this` the
   * message is V8's for a derived constructor that has not called super. */
  checkTdz: { src: Register; name: string };
  /** Throws a new error of that class with that message (assignment to a constant and the like). */
  throwError: { type: "TypeError" | "ReferenceError" | "SyntaxError"; message: string };
}

/** Frame inputs: the first instructions of a function, so that a function is entered at offset 0 or after them. */
export interface FrameInputs {
  /** dst = this (in sloppy functions: undefined and null become globalThis, primitives become objects). In a base
   * constructor it is the new object with its fields initialised. Not used in arrows, nor in derived constructors. */
  loadThis: { dst: Register };
  /** dst = the argument of that index, or undefined. */
  loadArgument: { dst: Register; index: number };
  /** dst = a new array of the arguments from that index on. */
  loadRest: { dst: Register; from: number };
  /**
   * dst = a new arguments object; unmapped (writes to it and to parameters do not affect each other). `mapped`:
   * parameters are its elements, as in sloppy functions with simple ones; nothing here writes to either.
   */
  loadArguments: { dst: Register; mapped: boolean };
  /** dst = new.target. */
  loadNewTarget: { dst: Register };
  /** dst = the running function itself. */
  loadCallee: { dst: Register };
  /** dst = the home object of the running method, whose prototype `super` refers to. */
  loadHome: { dst: Register };
  /** The initial suspension of generators: code before it runs at the call, code after it at the first next(). */
  generatorStart: object;
}

/** Variables. */
export interface Variables {
  /** dst = the free variable; throws ReferenceError if it is not initialised yet. */
  loadFree: { dst: Register; index: number };
  /** Free variable = src; throws ReferenceError if it is not initialised yet. Never used on constants. */
  storeFree: { index: number; src: Register };
  /** dst = the global variable of that name; if there is none, undefined for `forTypeof`, else ReferenceError. */
  loadGlobal: { dst: Register; name: string; forTypeof: boolean };
  /** Global variable = src; if there is none, ReferenceError for `strict`, else it is created. */
  storeGlobal: { name: string; src: Register; strict: boolean };
  /** dst = a new cell holding src, or uninitialised if src is null. */
  newCell: { dst: Register; src: Register | null; name: string };
  /** dst = content of the cell; may be the "not yet initialised" marker (then a `checkTdz` follows). */
  loadCell: { dst: Register; cell: Register };
  /** Content of the cell = src. */
  storeCell: { cell: Register; src: Register };
}

/** Operators. */
export interface Operators {
  unary: { dst: Register; operator: UnaryOperator; src: Register };
  binary: { dst: Register; operator: BinaryOperator; left: Register; right: Register };
  /** dst = ToNumeric(src): a number or a bigint. */
  toNumeric: { dst: Register; src: Register };
  /** dst = src + by, src being numeric already; a bigint stays one. */
  increment: { dst: Register; src: Register; by: 1 | -1 };
  /** dst = ToPropertyKey(src): a string or a symbol. */
  toPropertyKey: { dst: Register; src: Register };
  /** dst = ToString(src); throws on symbols. */
  toString: { dst: Register; src: Register };
  /** dst = quasis[0] + ToString(values[0]) + quasis[1] + …; the ToStrings happen in order. */
  template: { dst: Register; quasis: readonly string[]; values: readonly Register[] };
  /** dst = the frozen strings array of a tagged template: `$rt.templateObject(index)`. */
  templateObject: { dst: Register; index: number; raw: readonly string[] };
}

/** Properties. */
export interface Properties {
  /** dst = object[key]; TypeError on null and undefined. */
  getProp: {
    dst: Register;
    object: Register;
    key: KeyOperand;
    /**
     * Of the first property that a pattern reads: the engine's name for the object in its messages; "" to name it by
     * its type.
     */
    takenApart?: string;
  };
  /** object[key] = value; a refused write throws TypeError if `strict`. */
  setProp: { object: Register; key: KeyOperand; value: Register; strict: boolean };
  /** dst = delete object[key]; a refusal throws TypeError if `strict`. */
  deleteProp: { dst: Register; object: Register; key: KeyOperand; strict: boolean };
  /** dst = super[key]: looked up on the prototype of `home`, getters run with `receiver` as this. */
  getSuper: { dst: Register; home: Register; receiver: Register; key: KeyOperand };
  /** super[key] = value: setter looked up on the prototype of `home`, otherwise `receiver` is written; a refused write
   * throws TypeError if `strict`. */
  setSuper: { home: Register; receiver: Register; key: KeyOperand; value: Register; strict: boolean };
  /** dst = object.#name; `name` indexes `free` (kind "private"). TypeError if the object has none. */
  getPrivate: { dst: Register; object: Register; name: number };
  /** object.#name = value. */
  setPrivate: { object: Register; name: number; value: Register };
  /** dst = #name in object; TypeError if it is not an object. */
  hasPrivate: { dst: Register; object: Register; name: number };
  /** Adds the private field to the object (field initialisers only); TypeError if it exists already. */
  definePrivate: { object: Register; name: number; value: Register };
}

/** Literals and patterns of objects. */
export interface Literals {
  /** dst = array literal; elements are evaluated in order. */
  array: { dst: Register; elements: readonly ArrayElement[] };
  /** Adds to an array made by `array` in the same expression (no user code has seen it yet). */
  arrayAppend: { array: Register; element: ArrayElement };
  /** dst = object literal; members are evaluated in order. */
  object: { dst: Register; members: readonly ObjectMember[] };
  /** Adds to an object made by `object` in the same expression; also defines public fields on `this` in field
   * initialisers (CreateDataPropertyOrThrow). */
  define: { object: Register; member: ObjectMember };
  /** dst = a new object with the own enumerable properties of source except the excluded keys. */
  objectRest: { dst: Register; source: Register; excluded: readonly KeyOperand[] };
  /** Throws TypeError if src is null or undefined (object patterns). */
  checkObjectCoercible: {
    src: Register;
    /** The engine's name for it in messages; "" to name it by its type. */
    words: string;
  };
  /** Throws TypeError `<what> is not an object` if src is not an object (results of iterators, …). */
  checkObject: { src: Register; what: string };
}

/** Functions and classes. */
export interface Functions {
  /** dst = a new function of children[child]; captures[i] gives its free[i]. `home` is the home object of a method
   * that uses super. `name` is its name property; a register name is a property key (computed method names). */
  closure: {
    dst: Register;
    child: number;
    captures: readonly Capture[];
    home: Register | null;
    name: KeyOperand;
    namePrefix: "" | "get" | "set";
  };
  /**
   * dst = a new class of classes[index], evaluated whole (static fields and static blocks run here); captures[i] gives
   * its free[i]. `heritage` is the value after `extends`, null without `extends`; keys[i] is the property key at the
   * template's keys[i], null if the class's text evaluates the keys.
   */
  class: {
    dst: Register;
    index: number;
    heritage: Register | null;
    keys: readonly Register[] | null;
    captures: readonly Capture[];
    name: string;
  };
  /**
   * dst = callee.apply(this, arguments); this = undefined where `self` is null. Method calls are `getProp` + `call`
   * with `self`. TypeError if it is not callable; `text` is the callee as written, for messages.
   */
  call: { dst: Register; callee: Register; self: Register | null; args: readonly Argument[]; text: string };
  /** dst = new callee(…args). */
  new: { dst: Register; callee: Register; args: readonly Argument[]; text: string };
  /** dst = Reflect.construct(prototype of `callee`, args, newTarget), `callee` being the running constructor. Neither
   * binds `this` (a check and a move follow) nor initialises fields (`initFields` follows). */
  superCall: { dst: Register; callee: Register; newTarget: Register; args: readonly Argument[] };
  /** Throws ReferenceError `Super constructor may only be called once` unless src holds the marker. */
  checkSuperOnce: { src: Register };
  /** Runs the field initialisers of the class whose constructor `callee` is, on `object`. */
  initFields: { object: Register; callee: Register };
  /** dst = import(specifier, options), resolved against the module's URL. */
  import: { dst: Register; specifier: Register; options: Register | null };
}

/** Control flow. */
export interface Control {
  jump: { target: Offset };
  /** Jumps if the value of `test` meets the condition. */
  jumpIf: { condition: JumpCondition; test: Register; target: Offset };
  /**
   * Leaves the function. In constructors the caller (`new`) replaces a non-object by the new object; a derived
   * constructor always returns an object.
   */
  return: { src: Register };
  throw: { src: Register };
  debugger: object;
}

/** Iteration. */
export interface Iteration {
  /**
   * iterator = source[Symbol.iterator](), next = iterator.next. TypeError if it is not iterable or does not return an
   * object. Async: source[Symbol.asyncIterator], or a sync iterator wrapped as the language does.
   */
  getIterator: {
    iterator: Register;
    next: Register;
    source: Register;
    async: boolean;
    /** The iterable as written, for messages. */
    text: string;
  };
  /**
   * One step of a sync iterator. If `done` holds true already: value = undefined, nothing is called. Otherwise: done =
   * true; result = next.call(iterator) (TypeError if no object); if result.done is truthy value = undefined, else value
   * = result.value and then done = false. So an exception leaves done = true. `elided`: the item is skipped, as by a
   * hole in a pattern: result.value is not read, and value = undefined.
   */
  iteratorNext: { done: Register; value: Register; iterator: Register; next: Register; elided?: true };
  /** Unpacks an (awaited) iterator result as `iteratorNext` does: TypeError if it is not an object, done, value. */
  iteratorResult: { done: Register; value: Register; result: Register };
  /** dst = a new array of the rest of the iterator ([…, ...rest] patterns), stepping as `iteratorNext` does. */
  iteratorRest: { done: Register; dst: Register; iterator: Register; next: Register };
  /** Calls iterator.return() if there is one. `quiet` (an exception is under way): every error is swallowed;
   * otherwise a result that is not an object is a TypeError. Sync iterators only: async ones are closed by plain
   * instructions around an `await`. */
  iteratorClose: { iterator: Register; quiet: boolean };
  /** dst = an enumerator of the keys that `for (k in object)` visits; null and undefined have none. */
  forIn: { dst: Register; object: Register };
  /** done = whether the enumerator is finished; key = next key that still exists, or undefined. */
  forInNext: { done: Register; key: Register; enumerator: Register };
}

/** Generators and async functions. */
export interface Suspensions {
  /**
   * Suspends a generator. Resumed by next(v): dst = v. By throw(e): throws e here. By return(v): dst = v and control
   * goes to `onReturn`, or, if that is null (no enclosing finally), the function returns v. In async generators the
   * operand is awaited first.
   */
  yield: { dst: Register; src: Register; onReturn: Offset | null };
  /** yield*: delegates to source's iterator; dst = its return value. Return as in `yield`. */
  yieldDelegate: { dst: Register; source: Register; onReturn: Offset | null };
  /**
   * Suspends an async function until src settles; dst = its value, or throws its reason. `returns`: for the value that
   * an async generator returns, which the language awaits by itself.
   */
  await: { dst: Register; src: Register; returns?: true };
}

/** Using declarations. */
export interface Disposals {
  /**
   * dst = the dispose method of src (Symbol.dispose; async: Symbol.asyncDispose, then Symbol.dispose), undefined for
   * null and undefined; TypeError if there is none.
   */
  getDisposer: { dst: Register; src: Register; async: boolean };
  /** dst = new SuppressedError(error, suppressed). */
  suppressedError: { dst: Register; error: Register; suppressed: Register };
}

/** The operands of each instruction, by its name. `dst` is always the register that is written. */
interface Operands
  extends
    Values,
    FrameInputs,
    Variables,
    Operators,
    Properties,
    Literals,
    Functions,
    Control,
    Iteration,
    Suspensions,
    Disposals {}

/** Name of an instruction. */
export type Opcode = keyof Operands;

/** Instruction of one name. */
export type InstructionOf<O extends Opcode> = RowOf<Operands, O, "op">;

/** The instruction set. */
export type Instruction = InstructionOf<Opcode>;
