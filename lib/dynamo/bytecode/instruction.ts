/**
 * The instruction set of code objects: register instructions and their operands.
 *
 * Invariants: frame inputs (this, arguments, new.target, …) are read only by `load…` instructions of the prologue.
 * Instruction offsets are indexes into `instructions` of a code object. An instruction writes its destination only
 * after everything that can throw has happened, unless it says otherwise.
 */

export type Register = number;

/** Index of an instruction in a code object. */

export type Offset = number;

/** Half-open range of character offsets in the text of the module. */

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

/** The instruction set. `dst` is always the register that is written. */

export type Instruction =
  // ---- values and registers
  /** dst = value. */
  | { readonly op: "const"; readonly dst: Register; readonly value: ConstantValue }
  /** dst = a new RegExp object at every evaluation. */
  | { readonly op: "regexp"; readonly dst: Register; readonly pattern: string; readonly flags: string }
  /** dst = src. */
  | { readonly op: "move"; readonly dst: Register; readonly src: Register }
  /** dst = the "not yet initialised" marker, which only `checkTdz`, `move`, and cells may meet. */
  | { readonly op: "uninitialized"; readonly dst: Register }
  /** Throws ReferenceError `Cannot access '<name>' before initialization` if src holds the marker. For `this` the
   * message is V8's for a derived constructor that has not called super. */
  | { readonly op: "checkTdz"; readonly src: Register; readonly name: string }
  /** Throws a new error of that class with that message (assignment to a constant and the like). */
  | {
    readonly op: "throwError";
    readonly type: "TypeError" | "ReferenceError" | "SyntaxError";
    readonly message: string;
  }
  // ---- frame inputs: the first instructions of a function, so that a function is entered at offset 0 or after them
  /** dst = this (in sloppy functions: undefined and null become globalThis, primitives become objects). In a base
   * constructor it is the new object with its fields initialised. Not used in arrows, nor in derived constructors. */
  | { readonly op: "loadThis"; readonly dst: Register }
  /** dst = the argument of that index, or undefined. */
  | { readonly op: "loadArgument"; readonly dst: Register; readonly index: number }
  /** dst = a new array of the arguments from that index on. */
  | { readonly op: "loadRest"; readonly dst: Register; readonly from: number }
  /** dst = a new arguments object; unmapped (writes to it and to parameters do not affect each other). */
  /** `mapped`: parameters are its elements, as in sloppy functions with simple ones; nothing here writes to either. */
  | { readonly op: "loadArguments"; readonly dst: Register; readonly mapped: boolean }
  /** dst = new.target. */
  | { readonly op: "loadNewTarget"; readonly dst: Register }
  /** dst = the running function itself. */
  | { readonly op: "loadCallee"; readonly dst: Register }
  /** dst = the home object of the running method, whose prototype `super` refers to. */
  | { readonly op: "loadHome"; readonly dst: Register }
  /** The initial suspension of generators: code before it runs at the call, code after it at the first next(). */
  | { readonly op: "generatorStart" }
  // ---- variables
  /** dst = the free variable; throws ReferenceError if it is not initialised yet. */
  | { readonly op: "loadFree"; readonly dst: Register; readonly index: number }
  /** Free variable = src; throws ReferenceError if it is not initialised yet. Never used on constants. */
  | { readonly op: "storeFree"; readonly index: number; readonly src: Register }
  /** dst = the global variable of that name; if there is none, undefined for `forTypeof`, else ReferenceError. */
  | { readonly op: "loadGlobal"; readonly dst: Register; readonly name: string; readonly forTypeof: boolean }
  /** Global variable = src; if there is none, ReferenceError for `strict`, else it is created. */
  | { readonly op: "storeGlobal"; readonly name: string; readonly src: Register; readonly strict: boolean }
  /** dst = a new cell holding src, or uninitialised if src is null. */
  | { readonly op: "newCell"; readonly dst: Register; readonly src: Register | null; readonly name: string }
  /** dst = content of the cell; may be the "not yet initialised" marker (then a `checkTdz` follows). */
  | { readonly op: "loadCell"; readonly dst: Register; readonly cell: Register }
  /** Content of the cell = src. */
  | { readonly op: "storeCell"; readonly cell: Register; readonly src: Register }
  // ---- operators
  | { readonly op: "unary"; readonly dst: Register; readonly operator: UnaryOperator; readonly src: Register }
  | {
    readonly op: "binary";
    readonly dst: Register;
    readonly operator: BinaryOperator;
    readonly left: Register;
    readonly right: Register;
  }
  /** dst = ToNumeric(src): a number or a bigint. */
  | { readonly op: "toNumeric"; readonly dst: Register; readonly src: Register }
  /** dst = src + by, src being numeric already; a bigint stays one. */
  | { readonly op: "increment"; readonly dst: Register; readonly src: Register; readonly by: 1 | -1 }
  /** dst = ToPropertyKey(src): a string or a symbol. */
  | { readonly op: "toPropertyKey"; readonly dst: Register; readonly src: Register }
  /** dst = ToString(src); throws on symbols. */
  | { readonly op: "toString"; readonly dst: Register; readonly src: Register }
  /** dst = quasis[0] + ToString(values[0]) + quasis[1] + …; the ToStrings happen in order. */
  | {
    readonly op: "template";
    readonly dst: Register;
    readonly quasis: readonly string[];
    readonly values: readonly Register[];
  }
  /** dst = the frozen strings array of a tagged template: `$rt.templateObject(index)`. */
  | {
    readonly op: "templateObject";
    readonly dst: Register;
    readonly index: number;
    readonly raw: readonly string[];
  }
  // ---- properties
  /** dst = object[key]; TypeError on null and undefined. */
  | {
    readonly op: "getProp";
    readonly dst: Register;
    readonly object: Register;
    readonly key: KeyOperand;
    /**
     * Of the first property that a pattern reads: the engine's name for the object in its messages; "" to name it by
     * its type.
     */
    readonly takenApart?: string;
  }
  /** object[key] = value; a refused write throws TypeError if `strict`. */
  | {
    readonly op: "setProp";
    readonly object: Register;
    readonly key: KeyOperand;
    readonly value: Register;
    readonly strict: boolean;
  }
  /** dst = delete object[key]; a refusal throws TypeError if `strict`. */
  | {
    readonly op: "deleteProp";
    readonly dst: Register;
    readonly object: Register;
    readonly key: KeyOperand;
    readonly strict: boolean;
  }
  /** dst = super[key]: looked up on the prototype of `home`, getters run with `receiver` as this. */
  | {
    readonly op: "getSuper";
    readonly dst: Register;
    readonly home: Register;
    readonly receiver: Register;
    readonly key: KeyOperand;
  }
  /** super[key] = value: setter looked up on the prototype of `home`, otherwise `receiver` is written; a refused write
   * throws TypeError if `strict`. */
  | {
    readonly op: "setSuper";
    readonly home: Register;
    readonly receiver: Register;
    readonly key: KeyOperand;
    readonly value: Register;
    readonly strict: boolean;
  }
  /** dst = object.#name; `name` indexes `free` (kind "private"). TypeError if the object has none. */
  | { readonly op: "getPrivate"; readonly dst: Register; readonly object: Register; readonly name: number }
  /** object.#name = value. */
  | { readonly op: "setPrivate"; readonly object: Register; readonly name: number; readonly value: Register }
  /** dst = #name in object; TypeError if it is not an object. */
  | { readonly op: "hasPrivate"; readonly dst: Register; readonly object: Register; readonly name: number }
  /** Adds the private field to the object (field initialisers only); TypeError if it exists already. */
  | {
    readonly op: "definePrivate";
    readonly object: Register;
    readonly name: number;
    readonly value: Register;
  }
  // ---- literals
  /** dst = array literal; elements are evaluated in order. */
  | { readonly op: "array"; readonly dst: Register; readonly elements: readonly ArrayElement[] }
  /** Adds to an array made by `array` in the same expression (no user code has seen it yet). */
  | { readonly op: "arrayAppend"; readonly array: Register; readonly element: ArrayElement }
  /** dst = object literal; members are evaluated in order. */
  | { readonly op: "object"; readonly dst: Register; readonly members: readonly ObjectMember[] }
  /** Adds to an object made by `object` in the same expression; also defines public fields on `this` in field
   * initialisers (CreateDataPropertyOrThrow). */
  | { readonly op: "define"; readonly object: Register; readonly member: ObjectMember }
  /** dst = a new object with the own enumerable properties of source except the excluded keys. */
  | {
    readonly op: "objectRest";
    readonly dst: Register;
    readonly source: Register;
    readonly excluded: readonly KeyOperand[];
  }
  /** Throws TypeError if src is null or undefined (object patterns). */
  | {
    readonly op: "checkObjectCoercible";
    readonly src: Register;
    /** The engine's name for it in messages; "" to name it by its type. */
    readonly words: string;
  }
  /** Throws TypeError `<what> is not an object` if src is not an object (results of iterators, …). */
  | { readonly op: "checkObject"; readonly src: Register; readonly what: string }
  // ---- functions and classes
  /** dst = a new function of children[child]; captures[i] gives its free[i]. `home` is the home object of a method
   * that uses super. `name` is its name property; a register name is a property key (computed method names). */
  | {
    readonly op: "closure";
    readonly dst: Register;
    readonly child: number;
    readonly captures: readonly Capture[];
    readonly home: Register | null;
    readonly name: KeyOperand;
    readonly namePrefix: "" | "get" | "set";
  }
  /**
   * dst = a new class of classes[index], evaluated whole (static fields and static blocks run here); captures[i] gives
   * its free[i]. `heritage` is the value after `extends`, null without `extends`; keys[i] is the property key at the
   * template's keys[i], null if the class's text evaluates the keys.
   */
  | {
    readonly op: "class";
    readonly dst: Register;
    readonly index: number;
    readonly heritage: Register | null;
    readonly keys: readonly Register[] | null;
    readonly captures: readonly Capture[];
    readonly name: string;
  }
  /**
   * dst = callee.apply(this, arguments); this = undefined where `self` is null. Method calls are `getProp` + `call`
   * with `self`. TypeError if it is not callable; `text` is the callee as written, for messages.
   */
  | {
    readonly op: "call";
    readonly dst: Register;
    readonly callee: Register;
    readonly self: Register | null;
    readonly args: readonly Argument[];
    readonly text: string;
  }
  /** dst = new callee(…args). */
  | {
    readonly op: "new";
    readonly dst: Register;
    readonly callee: Register;
    readonly args: readonly Argument[];
    readonly text: string;
  }
  /** dst = Reflect.construct(prototype of `callee`, args, newTarget), `callee` being the running constructor. Neither
   * binds `this` (a check and a move follow) nor initialises fields (`initFields` follows). */
  | {
    readonly op: "superCall";
    readonly dst: Register;
    readonly callee: Register;
    readonly newTarget: Register;
    readonly args: readonly Argument[];
  }
  /** Throws ReferenceError `Super constructor may only be called once` unless src holds the marker. */
  | { readonly op: "checkSuperOnce"; readonly src: Register }
  /** Runs the field initialisers of the class whose constructor `callee` is, on `object`. */
  | { readonly op: "initFields"; readonly object: Register; readonly callee: Register }
  /** dst = import(specifier, options), resolved against the module's URL. */
  | {
    readonly op: "import";
    readonly dst: Register;
    readonly specifier: Register;
    readonly options: Register | null;
  }
  // ---- control
  | { readonly op: "jump"; readonly target: Offset }
  /** Jumps if the value of `test` meets the condition. */
  | {
    readonly op: "jumpIf";
    readonly condition: JumpCondition;
    readonly test: Register;
    readonly target: Offset;
  }
  /**
   * Leaves the function. In constructors the caller (`new`) replaces a non-object by the new object; a derived
   * constructor always returns an object.
   */
  | { readonly op: "return"; readonly src: Register }
  | { readonly op: "throw"; readonly src: Register }
  | { readonly op: "debugger" }
  // ---- iteration
  /**
   * iterator = source[Symbol.iterator](), next = iterator.next. TypeError if it is not iterable or does not return an
   * object. Async: source[Symbol.asyncIterator], or a sync iterator wrapped as the language does.
   */
  | {
    readonly op: "getIterator";
    readonly iterator: Register;
    readonly next: Register;
    readonly source: Register;
    readonly async: boolean;
    /** The iterable as written, for messages. */
    readonly text: string;
  }
  /**
   * One step of a sync iterator. If `done` holds true already: value = undefined, nothing is called. Otherwise: done =
   * true; result = next.call(iterator) (TypeError if no object); if result.done is truthy value = undefined, else value
   * = result.value and then done = false. So an exception leaves done = true.
   */
  | {
    readonly op: "iteratorNext";
    readonly done: Register;
    readonly value: Register;
    readonly iterator: Register;
    readonly next: Register;
  }
  /** Unpacks an (awaited) iterator result as `iteratorNext` does: TypeError if it is not an object, done, value. */
  | {
    readonly op: "iteratorResult";
    readonly done: Register;
    readonly value: Register;
    readonly result: Register;
  }
  /** dst = a new array of the rest of the iterator ([…, ...rest] patterns), stepping as `iteratorNext` does. */
  | {
    readonly op: "iteratorRest";
    readonly done: Register;
    readonly dst: Register;
    readonly iterator: Register;
    readonly next: Register;
  }
  /** Calls iterator.return() if there is one. `quiet` (an exception is under way): every error is swallowed;
   * otherwise a result that is not an object is a TypeError. Sync iterators only: async ones are closed by plain
   * instructions around an `await`. */
  | { readonly op: "iteratorClose"; readonly iterator: Register; readonly quiet: boolean }
  /** dst = an enumerator of the keys that `for (k in object)` visits; null and undefined have none. */
  | { readonly op: "forIn"; readonly dst: Register; readonly object: Register }
  /** done = whether the enumerator is finished; key = next key that still exists, or undefined. */
  | {
    readonly op: "forInNext";
    readonly done: Register;
    readonly key: Register;
    readonly enumerator: Register;
  }
  // ---- generators and async functions
  /**
   * Suspends a generator. Resumed by next(v): dst = v. By throw(e): throws e here. By return(v): dst = v and control
   * goes to `onReturn`, or, if that is null (no enclosing finally), the function returns v. In async generators the
   * operand is awaited first.
   */
  | { readonly op: "yield"; readonly dst: Register; readonly src: Register; readonly onReturn: Offset | null }
  /** yield*: delegates to source's iterator; dst = its return value. Return as in `yield`. */
  | {
    readonly op: "yieldDelegate";
    readonly dst: Register;
    readonly source: Register;
    readonly onReturn: Offset | null;
  }
  /** Suspends an async function until src settles; dst = its value, or throws its reason. */
  /** `returns`: for the value that an async generator returns, which the language awaits by itself. */
  | { readonly op: "await"; readonly dst: Register; readonly src: Register; readonly returns?: true }
  // ---- using declarations
  /**
   * dst = the dispose method of src (Symbol.dispose; async: Symbol.asyncDispose, then Symbol.dispose), undefined for
   * null and undefined; TypeError if there is none.
   */
  | { readonly op: "getDisposer"; readonly dst: Register; readonly src: Register; readonly async: boolean }
  /** dst = new SuppressedError(error, suppressed). */
  | {
    readonly op: "suppressedError";
    readonly dst: Register;
    readonly error: Register;
    readonly suppressed: Register;
  };

/** Name of an instruction. */

export type Opcode = Instruction["op"];

/** Instruction of one name. */

export type InstructionOf<O extends Opcode> = Extract<Instruction, { readonly op: O }>;

/**
 * An exception raised at an offset in [start, end) goes to `target` with the exception in `register`. If several
 * entries cover an offset, the first one applies (innermost first).
 */
