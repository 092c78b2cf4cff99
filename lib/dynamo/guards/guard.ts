/**
 * Guards: the conditions under which an entry serves a later call, as data. They print like PyTorch's guards
 * (text.ts) and compile to one check function (check.ts). Invariant: a guard only reads plain data: testing it runs
 * no user code.
 */
import type { DType } from "../../base/dtype.ts";
import type { SourcePosition } from "../../graph/node.ts";
import type { ShapeEnv } from "../../sym/shape_env.ts";
import type { RowOf } from "../../base/tagged.ts";
import type { SizeGuard } from "../../sym/size_guards.ts";
import type { AmbientState } from "./ambient_state.ts";
import type { EngineState } from "./engine_state.ts";
import type { LeafHooks } from "./leaf_hooks.ts";
import type { CodeObject } from "../bytecode/code.ts";
import type { CellPlace, Source } from "../source.ts";
import type { PropertyFlags } from "./flags.ts";
import type { BytesClass } from "./bytes.ts";
import type { HostExpression } from "../variables/host_number.ts";
import type { Primitive } from "../variables/primitive.ts";

/** The expected metadata of a tensor, with null for sizes that may differ. */
export interface TensorExpectation {
  /** Null for objects that never change. */
  readonly prototype: object | null;
  /** The tensor's layout, if all sizes are constants. */
  readonly layout: object | null;
  readonly className: string;
  readonly dtype: DType;
  readonly device: string;
  readonly requiresGrad: boolean;
  readonly shape: readonly (number | null)[];
  readonly strides: readonly (number | null)[];
  /** Dimensions that are symbols, or that the user had marked as such. */
  readonly marked: readonly number[];
  /** Methods that the program has found on it, by key. */
  readonly methods: ReadonlyMap<string | symbol, object>;
}

/** Types of values that may differ between calls. */
export const PRIMITIVE_TYPES = ["number", "string", "symbol", "boolean", "bigint"] as const;
type PrimitiveType = typeof PRIMITIVE_TYPES[number];

/** Facts about the value of a source. */
interface ValueFacts {
  constant: { value: Primitive };
  identity: { object: object; label: string };
  /** An object that inherits from another; `isArray`: arrays stay arrays under any prototype. */
  prototype: { prototype: object | null; isArray: boolean; label: string };
  /** An object of any class: each read of it has its own guard. */
  object: object;
  function: object;
  array: { length: number };
  /** An array of any length. */
  list: object;
  /** An array whose elements can be replaced and deleted. */
  elements: object;
  same: { other: Source };
  /** A tensor whose memory none of the others shares. */
  apart: { others: readonly Source[] };
  /** A tensor that shares no memory with the others, whether it is a view or not. */
  elsewhere: { others: readonly Source[] };
  tensor: { expected: TensorExpectation };
  /** A tensor without history, with these gradient hooks, in order. */
  leaf: { hooks: LeafHooks };
  /** A tensor computed by an operation, and not a view of a leaf that requires grad. */
  made: object;
  integer: object;
  type: { type: PrimitiveType };
}

/** Facts about the members and the state of the object that a source has. */
interface ObjectFacts {
  /** Own string keys, in order: enumerable ones, or all of them; `symbols` are all own symbol keys. */
  keys: { which: "enumerable" | "all"; keys: readonly string[]; symbols: readonly symbol[] };
  ownKey: { key: string | symbol; present: boolean };
  /** An own data property that is writable. */
  writable: { key: string | symbol };
  /** The same for an element at an index that each call computes. */
  writableAt: { at: HostExpression };
  /** The flags of an own property; accessors have no writable flag. */
  flags: { key: string | symbol; flags: PropertyFlags };
  accessor: { key: string | symbol; get: unknown; set: unknown };
  /** Size and primitive keys of a Map or Set. */
  entries: { what: "Map" | "Set"; keys: readonly (Primitive | typeof ANY_KEY)[] };
  code: { code: CodeObject };
  proxy: { present: boolean };
  /** A prototype whose own constructor, if any, has this text. */
  madeBy: { constructorText: string | null };
  /** A generator, whatever it inherits from: a function created anew has a new prototype for its generators. */
  generator: object;
  /** An object with this state of the engine's own, whatever it inherits from; null: an object of the program. */
  engineState: { state: EngineState | null };
  /** An object that structuredClone copies, with all that it refers to. */
  cloneable: object;
  /** An object that is no boxed primitive, whatever it inherits from. */
  unboxed: object;
  /** A proxy that is not revoked. */
  unrevoked: object;
  extensible: { present: boolean };
  /** An object that is frozen or sealed. */
  integrity: { level: "frozen" | "sealed" };
  /** An object of this class that accesses memory of a fixed size, which no other thread writes. */
  bytes: { type: BytesClass };
  /** Two objects that access different bytes (`apart`: null), or bytes of one buffer at this distance. */
  memory: { other: Source; apart: number | null };
}

interface OtherFacts {
  /** Objects that are distinct from each other, and from others, which may be one object. */
  distinct: { members: readonly Source[]; others: readonly Source[] };
  expression: { expression: HostExpression; expected: boolean | number };
  size: { guard: SizeGuard; env: ShapeEnv };
  /** Two ways to one captured variable. */
  sameCell: { place: CellPlace; other: CellPlace };
  /** Captured variables that are distinct from each other. */
  distinctCells: { members: readonly CellPlace[] };
  argumentCount: { count: number };
  /** The time zone of local times. */
  timeZone: { setting: string };
  /** Ambient state, and the methods of tensors that the program uses, which must be unchanged. */
  globalState: { state: AmbientState; methods: readonly MethodExpectation[]; later: LaterReads };
}

type SourceFacts = ValueFacts & ObjectFacts;
type Facts = OtherFacts & { [K in keyof SourceFacts]: { source: Source } & SourceFacts[K] };

/** The fact of one kind. */
export type FactOf<K extends keyof Facts> = RowOf<Facts, K>;

/** One fact. */
export type Fact = FactOf<keyof Facts>;

/** A fact about the members or the state of an object. */
export type ObjectFact = FactOf<keyof ObjectFacts>;

export type DistinctFact = FactOf<"distinct">;
export type DistinctCellsFact = FactOf<"distinctCells">;

/** A method or getter of a class of dyn, which programs may replace; undefined: the class has no such getter. */
export interface MethodExpectation {
  readonly kind: "method" | "getter";
  readonly prototype: object;
  readonly key: string | symbol;
  readonly method: object | undefined;
}

/**
 * Reads of gradients that were traced with a call, which must find the same when these are computed: members found on
 * objects or what they inherit from, and whether default types and devices matter.
 */
export interface LaterReads {
  readonly members: readonly MethodExpectation[];
  readonly defaults: boolean;
}

/** Represents a key of a Map that is guarded by its own source. */
export const ANY_KEY: unique symbol = Symbol("any key");

/** A fact, and the user's line that needed it. */
export interface Guard {
  readonly fact: Fact;
  readonly user: SourcePosition | null;
}
