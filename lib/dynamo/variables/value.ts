/**
 * The tracer's values: what is known of every JavaScript value of the traced program. Invariants: a real object has one
 * value per trace; mutable state of values is what the program would see at this point, while real objects stay
 * unchanged until generated code replays the changes.
 */
import type { DType } from "../../base/dtype.ts";
import type { Match } from "../../base/last_match.ts";
import type { TensorMeta } from "../../graph/meta.ts";
import type { Node } from "../../graph/node.ts";
import type { DeviceName } from "../../loops/device.ts";
import type { TensorLike } from "../../ops/tensor_like.ts";
import type { Dim } from "../../sym/expr.ts";
import type { Tensor } from "../../tensor/tensor.ts";
import type { CodeObject } from "../bytecode/code.ts";
import type { BreakCause } from "../break_reasons.ts";
import type { BytesClass, NumberForm } from "../guards/bytes.ts";
import type { PrivateAccess } from "../frame/info.ts";
import type { CellPlace, LiveCell, Source } from "../source.ts";
import type { ConstantValue, PassedValue, Primitive, UninitializedValue } from "./constants.ts";
import type { GraphNumber, NumberValue } from "./number_value.ts";

export {
  constant,
  ConstantValue,
  type Decision,
  FALSE,
  isDecision,
  isPassed,
  isPrimitive,
  isUndefined,
  NULL,
  type Passed,
  PassedValue,
  type Primitive,
  primitive,
  TRUE,
  UNDEFINED,
  UNINITIALIZED,
  UninitializedValue,
} from "./constants.ts";

/** Any value that a register can hold. */
export type Value =
  | ConstantValue
  | UninitializedValue
  | NumberValue
  | ItemValue
  | TensorValue
  | ObjectValue
  | CellValue
  | EnumeratorValue;

/**
 * A primitive that is known only after the graph has run: the result of a tensor's `item()`, and values derived from
 * it.
 */
export class ItemValue {
  readonly kind = "item";
  /** Whether an int64 element is a number in all calls. */
  isSmall = false;
  /** At least one of them is present. */
  constructor(
    /** The tensor of the graph whose element it is; a copy once something has been written there. */
    public tensor: TensorValue | null,
    /** The graph's own representation of the number, if the graph computes with it. */
    public number: GraphNumber | null,
    /** Its computation after the graph. */
    readonly later: LaterValue | null = null,
  ) {}

  /** "integer": a number, or a bigint if it is too large for one. */
  get type(): LaterValue["type"] {
    const { later, number, tensor } = this;
    const type = later?.type ?? number?.type ?? (tensor ? elementType(tensor) : "number");
    return type === "integer" && this.isSmall ? "number" : type;
  }
}

/** The type of a tensor's elements in JavaScript. */
export function elementType({ meta: { dtype } }: TensorValue): "boolean" | "integer" | "number" {
  return dtype === "bool" ? "boolean" : dtype === "int64" ? "integer" : "number";
}

/** A computation on primitives, some of which are known only after the graph has run. */
export interface LaterValue {
  readonly type: "number" | "integer" | "boolean" | "string";
  /**
   * An operator, "text" for texts put together, "element" for one of a list at these indices, or a builtin; the receiver
   * of a method is its first operand.
   */
  readonly apply: string | { readonly fn: object; readonly isMethod: boolean };
  readonly operands: readonly (ConstantValue | NumberValue | ItemValue | ObjectValue)[];
  /** The number of computations one after the other, this one included, and the instruction of the first. */
  readonly depth: number;
  readonly firstStep: number;
}

/** A tensor: an input of the program or the result of a node. */
export class TensorValue implements TensorLike {
  readonly kind = "tensor";
  /** Properties assigned in the trace: `grad`, and any others that users add to tensors. */
  readonly assigned: Map<string | symbol, Value> = new Map();
  /** Entries in weak collections written in the trace, by their access; null: removed. */
  readonly privates: Map<PrivateAccess, Value | null> = new Map();
  /** The accesses to entries that the trace has used, by name. */
  readonly privateAccess: Map<string, PrivateAccess[]> = new Map();
  /** Lists of sizes that the program has seen, by property. */
  readonly lists: Map<string, ObjectValue> = new Map();
  /** Methods that the program has found on a real one, by key. */
  readonly methods: Map<string | symbol, object> = new Map();
  /** Whether an in-place operation of the trace has written to it. */
  written = false;
  /** Changes of its layout in place, to be applied to the real one after the graph has run. */
  readonly layoutChanges: LayoutChange[] = [];
  /** Number of the instruction at which the program began a history with it, as `requiresGrad_()` does. */
  begunAt: number | null = null;
  constructor(
    public meta: TensorMeta,
    public requiresGrad: boolean,
    /** The node that computes it; null for inputs until something uses them. */
    public node: Node | null,
    readonly real: Tensor | null,
    readonly source: Source | null,
    /** For a parameter that the program creates: it is allocated before the graph runs. */
    readonly made: MadeParameter | null = null,
  ) {}

  get shape(): readonly Dim[] {
    return this.meta.shape;
  }

  get dtype(): DType {
    return this.meta.dtype;
  }

  get device(): DeviceName {
    return this.meta.device;
  }

  /** Whether the program has created it as a leaf of the tape. */
  get isBegun(): boolean {
    return this.begunAt !== null || this.made !== null;
  }
}

/** A call that changes the layout of a tensor in place. */
export interface LayoutChange {
  /** The op, whose result has the layout. */
  readonly op: string;
  /** Its arguments without the tensor. */
  readonly args: readonly (number | readonly number[] | null)[];
  /** Number of the instruction. */
  readonly step: number;
}

/** A parameter that each call creates. */
interface MadeParameter {
  /** A similar parameter. */
  readonly example: Tensor;
}

/** A property of an object that the trace has changed or created. */
export type Slot =
  | {
    readonly kind: "data";
    readonly value: Value;
    readonly writable: boolean;
    readonly enumerable: boolean;
    readonly configurable: boolean;
  }
  | {
    readonly kind: "accessor";
    readonly get: Value;
    readonly set: Value;
    readonly enumerable: boolean;
    readonly configurable: boolean;
  }
  | { readonly kind: "deleted" };

/** An ordinary writable property. */
export function dataSlot(value: Value): Slot {
  return { kind: "data", value, writable: true, enumerable: true, configurable: true };
}

/** An element of an array: a value, or none. */
export type Element = Value | typeof HOLE | typeof LAZY;
/** Marks a missing element. */
export const HOLE: unique symbol = Symbol("hole");
/** An unchanged element of a real array that has not been read. */
export const LAZY: unique symbol = Symbol("lazy");

/**
 * The identity of a Map key or Set member: primitives by value, everything else by its value object; likewise
 * primitives that differ between calls, until one is looked up.
 */
export type KeyIdentity = Primitive | PassedValue | TensorValue | ObjectValue;

/** An entry of a Map or (with value = key) of a Set. */
export interface Entry {
  readonly key: Value;
  value: Value;
}

/** Captured variable of a function: its final value, or a cell. */
export type FreeBinding = Value | CellValue;

/** A number that the trace has written to memory. */
export interface WrittenNumber {
  readonly form: NumberForm;
  /** The value that was assigned. */
  readonly given: Value;
  /** The value that is then read there; null if only real memory determines it. */
  readonly value: Value | null;
  /** The object of the program through which it is written; null for memory of the trace. */
  readonly root: BytesObject | null;
}

/** Bytes of a buffer of the program, or of one created in the trace. */
export interface Memory {
  /** Numbers that the trace has written, by their first byte. */
  readonly cells: Map<number, WrittenNumber>;
  /**
   * For a copy: the object of the program whose bytes it has, and the offset in the copy at which that object would
   * begin.
   */
  readonly from: { readonly root: BytesObject; readonly first: number } | null;
}

/** A typed array, DataView or buffer. */
export interface BytesExotic {
  readonly kind: "bytes";
  readonly type: BytesClass;
  readonly memory: Memory;
  /** Offset of its first byte there. */
  readonly start: number;
  /** Number of its elements, or bytes; null: not read yet. */
  size: Value | null;
  /**
   * The object from which a view was created: one of the program, or a buffer of the trace; null for those objects
   * themselves, and for arrays of the trace whose memory nothing else shows.
   */
  root: BytesObject | null;
  /** For an object of the program: whether the trace has accessed its memory. */
  touched: boolean;
}

/** An object that accesses memory. */
export interface BytesObject extends ObjectValue {
  readonly exotic: BytesExotic;
}

/** The state of an object beyond its properties. */
export type Exotic =
  | { readonly kind: "plain" }
  /** `loaded` once the elements represent the real ones; `growing` as long as only its ends have been accessed. */
  | {
    readonly kind: "array";
    elements: Element[];
    originals: Element[];
    loaded: boolean;
    growing: GrowingList | null;
  }
  | {
    readonly kind: "map" | "set";
    readonly entries: Map<KeyIdentity, Entry>;
    /** Values of the real entries, by key. */
    readonly originals: Map<KeyIdentity, Value>;
    /** Keys of real entries that were deleted, perhaps to be added again. */
    readonly deleted: Map<KeyIdentity, Value>;
    loaded: boolean;
    /** Whether other calls may have other keys, which does not matter until a key is looked up. */
    passes: boolean;
    changed: boolean;
  }
  | BytesExotic
  /** A date created in the trace: the number of its time. */
  | { readonly kind: "date"; time: Value }
  /** A WeakMap, or a WeakSet, whose keys have `true`. */
  | { readonly kind: "weak"; readonly isMap: boolean; readonly entries: Map<Value, Value> }
  /** A WeakRef: its target stays alive as long as the job that created it. */
  | { readonly kind: "weakRef"; readonly target: Value }
  /** State of a builtin constructor that cannot be set afterwards (errors): created again by the same call. */
  | { readonly kind: "constructed"; readonly constructor: ObjectValue; readonly args: readonly Value[] }
  | NativeExotic
  /**
   * The result of a call that generated code makes after the graph, in order: a promise, a function that settles one,
   * or an opaque object.
   */
  | LaterCall
  | ElementsExotic
  | FunctionExotic
  | { readonly kind: "bound"; readonly target: Value; readonly self: Value; readonly args: readonly Value[] }
  | GeneratorExotic
  | ListIteratorExotic
  /** A private name as captured by code that can see it. */
  | { readonly kind: "privateName"; readonly name: PrivateName }
  /** The error of an instruction that throws, which only plain JavaScript can create: it is opaque. */
  | { readonly kind: "thrown"; readonly step: number; readonly cause: BreakCause }
  /**
   * A boxed or native object that is passed around and compared, but is opaque otherwise; `isOrdinary`: its properties
   * are read as those of any object.
   */
  | {
    readonly kind: "opaque";
    readonly what: string;
    readonly isOrdinary?: boolean;
    /** For a loop's iterator over an array that an earlier graph has started: its progress in the trace. */
    readonly begun?: { taken: number; isOver: boolean };
    /** For a proxy whose traps can be run. */
    readonly proxy?: ProxyParts;
  };

/** All elements of a tensor, which are read after the graph has run: opaque. */
export interface ElementsExotic {
  readonly kind: "elements";
  readonly method: "tolist" | "toTypedArray";
  /** A copy once something has been written there. */
  tensor: TensorValue;
}

/** A list of elements, or a typed array. */
export interface ElementsObject extends ObjectValue {
  readonly exotic: ElementsExotic;
}

export interface LaterCall {
  readonly kind: "called";
  readonly gives: "promise" | "function" | "object";
  readonly callee: Value;
  readonly self: Value;
  readonly args: readonly Value[];
}

/** A list from outside of which only the ends have been accessed, and what the trace has done there. */
export interface GrowingList {
  /** Its length at the beginning of the call; a number if it differs between calls. */
  readonly length: NumberValue | ConstantValue;
  /** Numbers of its elements that were removed from the start and from the end. */
  dropped: number;
  popped: number;
  /** The elements that were appended. */
  readonly added: Value[];
  /** Elements that were replaced at indices that differ between calls, in order; with these, nothing else is done. */
  readonly replaced: Replacement[];
}

/** An element of a list that the trace has replaced. */
export interface Replacement {
  readonly index: NumberValue;
  readonly value: Value;
}

/** The parts of a proxy, which never change. */
export interface ProxyParts {
  readonly target: ObjectValue;
  readonly handler: ObjectValue;
}

interface FunctionExotic {
  readonly kind: "function";
  /** A function created in the trace; null for real ones. */
  readonly closure: ClosureState | null;
  /** A class created in the trace; null for other functions. */
  readonly definition: ClassDefinition | null;
}

/** A private name as held by some code. */
export interface PrivateName {
  /** The name as written, with its #. */
  readonly text: string;
  /** Position of its declaration. */
  readonly declaration: string;
  /** Accesses members of objects that exist outside of the trace; null for names of classes created in it. */
  readonly access: PrivateAccess | null;
  /** The owner of the name: the class created in the trace, or the function that has it from outside. */
  readonly holder: ObjectValue | null;
}

/** Code of a class created in the trace. */
export interface MadeCode {
  readonly code: CodeObject;
  readonly free: readonly FreeBinding[];
}

/** A private method or accessor. */
export interface PrivateMethod {
  readonly call: ObjectValue | null;
  readonly get: ObjectValue | null;
  readonly set: ObjectValue | null;
}

/** A class created in the trace. */
export interface ClassDefinition {
  readonly derived: boolean;
  readonly constructorCode: MadeCode | null;
  readonly fields: readonly {
    readonly key: string | symbol;
    readonly declaration: string | null;
    readonly value: MadeCode | null;
  }[];
  /** Private methods and accessors of its instances, by the declaration of their names. */
  readonly privateMethods: ReadonlyMap<string, PrivateMethod>;
}

/** A function created by a `closure` instruction. */
export interface ClosureState {
  readonly code: CodeObject;
  readonly free: readonly FreeBinding[];
  readonly home: Value | null;
  readonly functionName: string | symbol;
  readonly namePrefix: "" | "get" | "set";
}

interface GeneratorExotic {
  readonly kind: "generator";
  state: "suspendedStart" | "suspendedYield" | "running" | "completed";
  /** The suspended frame; its type belongs to the interpreter. */
  frame: SuspendedFrame | null;
}

/** The interpreter's state of a generator between two `next` calls. */
interface SuspendedFrame {
  readonly code: CodeObject;
  /** The generator function. */
  readonly callee: ObjectValue | null;
  readonly registers: readonly (Value | undefined)[];
  readonly pc: number;
  readonly delegates: { readonly iterator: ObjectValue } | null;
}

export interface ListIteratorExotic {
  readonly kind: "listIterator";
  /** The iterated array, Map, Set, string or URLSearchParams. */
  readonly over: Value;
  readonly what: "keys" | "values" | "entries";
  /** The method `next` of its class, which refuses iterators of other classes. */
  readonly advance: unknown;
  index: number;
  /** The entries of a Map or Set from `index` on; null if not yet asked for, or if the entries have been replaced. */
  rest: Iterator<Entry, undefined> | null;
  done: boolean;
  /** For an iterator over matches: each becomes the last match when it is taken. */
  matches: readonly Match[] | null;
  /** Whether only a loop holds it, and no variable or property of the program. */
  isOfLoop: boolean;
  /** The number of instructions up to the one that has it as its result: a builtin, or a call that returns it. */
  madeAt: number;
}

/** An object of the runtime created in the trace, which inspects it: recreated by the same call. */
export interface NativeExotic {
  readonly kind: "native";
  readonly made: object;
  readonly constructor: ObjectValue;
  readonly args: readonly Value[];
  /** For one that changes: the text from which it is created, instead of `args`. */
  readonly text: (() => string) | null;
  /** For a part of another object: the getter that returns it. */
  readonly from: { readonly getter: ObjectValue; readonly self: ObjectValue } | null;
}

let nextObject = 0;

/** An object: a real one with the changes of the trace on top, or one created in the trace. */
export class ObjectValue {
  readonly kind = "object";
  readonly id: number = nextObject++;
  /** Changed or added own properties; all own properties of objects created in the trace. In key order. */
  readonly slots: Map<string | symbol, Slot> = new Map();
  /** Values read from the real object so far. */
  readonly reads: Map<string | symbol, Value> = new Map();
  /** Real own properties that were deleted and then added again: they have moved to the end. */
  readonly readded: Set<string | symbol> = new Set();
  constructor(
    readonly exotic: Exotic,
    /** The prototype, as a value; null for none. */
    public prototype: ObjectValue | null,
    readonly real: object | null,
    readonly source: Source | null,
  ) {}

  /** The variable that this object of generated code holds as its property `v`. */
  variable: { readonly name: string; readonly cell: LiveCell } | null = null;
  /** Whether the trace has written to it, even if nothing of that is left. */
  written = false;
  /** Integrity set in the trace. */
  frozen: "no" | "sealed" | "frozen" | "inextensible" = "no";
  /** For an arguments object, which prints as one: whether its function's parameters alias its elements. */
  arguments: "mapped" | "unmapped" | null = null;
  /** The property of a tensor that this object is: shape, strides. */
  tensorProperty: { readonly tensor: TensorValue; readonly name: string } | null = null;
  /** The function of the trace that was created with this object as its prototype. */
  prototypeOf: ObjectValue | null = null;
  /** Private members and entries in weak collections written in the trace, by their access; null: removed. */
  readonly privates: Map<PrivateAccess, Value | null> = new Map();
  /** The accesses to private members that the trace has used, by name. */
  readonly privateAccess: Map<string, PrivateAccess[]> = new Map();
  /** Private members of an object created in the trace: for each class that has initialised it, by declaration. */
  readonly privateFields: Map<ObjectValue, Map<string, Value | PrivateMethod>> = new Map();
  /** The class that it was created as an instance of in the trace. */
  madeAs: ObjectValue | null = null;
  /**
   * The reason why generated code cannot create it, and the instruction at which the graph ends if it is needed there.
   */
  onlyTraced: { readonly step: number; readonly cause: BreakCause } | null = null;
  /** Whether the prototype was replaced in the trace. */
  prototypeChanged = false;
}

/** A variable that closures share. */
export class CellValue {
  readonly kind = "cell";
  changed = false;
  constructor(
    readonly name: string,
    /** Null for cells created in the trace. */
    readonly place: CellPlace | null,
    /** Null until an outside cell has been read. */
    public content: Value | null,
  ) {}
}

/** The keys that a for-in loop has yet to visit. */
export class EnumeratorValue {
  readonly kind = "enumerator";
  constructor(readonly object: ObjectValue | null, readonly keys: readonly string[], public index: number) {}
}

/** Returns whether an object is a function. */
export function isCallable(value: Value): value is ObjectValue {
  if (value.kind !== "object") return false;
  const { exotic, real } = value;
  if (exotic.kind === "opaque" && exotic.proxy) return isCallable(exotic.proxy.target);
  if (exotic.kind === "called") return exotic.gives === "function";
  return exotic.kind === "function" || exotic.kind === "bound" || typeof real === "function";
}
