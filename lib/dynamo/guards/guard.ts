/**
 * Guards: the conditions under which an entry serves a later call, as data. They print like PyTorch's guards
 * (text.ts) and compile to one check function (check.ts). Invariant: a guard only reads plain data: testing it runs
 * no user code.
 */
import { types } from "node:util";
import type { DType } from "../../base/dtype.ts";
import type { SourcePosition } from "../../graph/node.ts";
import type { ShapeEnv } from "../../sym/shape_env.ts";
import type { RowOf } from "../../base/tagged.ts";
import type { SizeGuard } from "../../sym/size_guards.ts";
import type { AmbientState } from "./ambient_state.ts";
import type { EngineState } from "./engine_state.ts";
import type { LeafHooks } from "./leaf_hooks.ts";
import type { CodeObject } from "../bytecode/code.ts";
import { type CellPlace, type Source, sourceText } from "../source.ts";
import { flagsText, type PropertyFlags } from "./flags.ts";
import type { BytesClass } from "./bytes.ts";
import { type HostExpression, type HostLeaf, hostText } from "../variables/host_number.ts";
import { type Primitive, primitiveText } from "../variables/primitive.ts";

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
interface SourceFacts {
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

type Facts = OtherFacts & { [K in keyof SourceFacts]: { source: Source } & SourceFacts[K] };

/** The fact of one kind. */
export type FactOf<K extends keyof Facts> = RowOf<Facts, K>;

/** One fact. */
export type Fact = FactOf<keyof Facts>;

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

/** A guard as text: its fact and the user's line that needs it. */
export function guardText({ fact, user }: Guard): string {
  return `${factText(fact)}${user ? `  # ${user.code} (${user.file}:${user.line})` : ""}`;
}

/** A fact as text, in the style of PyTorch's guards. */
export function factText(fact: Fact): string {
  switch (fact.kind) {
    case "constant":
      return `${sourceText(fact.source)} === ${primitiveText(fact.value)}`;
    case "identity":
      return `___check_obj_id(${sourceText(fact.source)}, ${fact.label})`;
    case "prototype":
      return `___check_type(${sourceText(fact.source)}, ${fact.label})`;
    case "object":
      return `___is_object(${sourceText(fact.source)})`;
    case "function":
      return `___is_function(${sourceText(fact.source)})`;
    case "array":
      return `${sourceText(fact.source)}.length === ${fact.length}`;
    case "list":
      return `Array.isArray(${sourceText(fact.source)})`;
    case "elements":
      return `___check_elements(${sourceText(fact.source)})`;
    case "keys": {
      const keys = [...fact.keys.map((k) => JSON.stringify(k)), ...fact.symbols.map(String)];
      return `${fact.which === "all" ? "Reflect.ownKeys" : "Object.keys"}(${sourceText(fact.source)}) === [${
        keys.join(", ")
      }]`;
    }
    case "ownKey":
      return `${fact.present ? "" : "!"}Object.hasOwn(${sourceText(fact.source)}, ${keyText(fact.key)})`;
    case "writable":
      return `___is_writable(${sourceText(fact.source)}, ${keyText(fact.key)})`;
    case "writableAt":
      return `___is_writable(${sourceText(fact.source)}, ${hostText(fact.at, hostLeafText)})`;
    case "flags":
      return `___check_flags(${sourceText(fact.source)}, ${keyText(fact.key)}, ${flagsText(fact.flags)})`;
    case "accessor":
      return `___check_accessor(${sourceText(fact.source)}, ${keyText(fact.key)})`;
    case "entries": {
      const keys = fact.keys.map((k) => k === ANY_KEY ? "…" : primitiveText(k));
      return `[...${sourceText(fact.source)}.keys()] === [${keys.join(", ")}]`;
    }
    case "code":
      return `___check_code(${sourceText(fact.source)}, ${fact.code.name || "<anonymous>"})`;
    case "same":
      return `${sourceText(fact.source)} === ${sourceText(fact.other)}`;
    case "apart":
      return `___own_memory(${sourceText(fact.source)}, [${fact.others.map(sourceText).join(", ")}])`;
    case "elsewhere":
      return `___other_memory(${sourceText(fact.source)}, [${fact.others.map(sourceText).join(", ")}])`;
    case "distinct": {
      const [members = "", others = ""] = [fact.members, fact.others].map((each) =>
        each.map(sourceText).join(", ")
      );
      return `___check_no_aliasing(${others === "" ? members : `[${members}], [${others}]`})`;
    }
    case "tensor":
      return tensorText(fact.source, fact.expected);
    case "leaf":
      return `___check_leaf(${
        [
          sourceText(fact.source),
          ...[...fact.hooks.before, ...fact.hooks.after].map((hook) => functionName(hook)),
        ].join(", ")
      })`;
    case "made":
      return `___check_made(${sourceText(fact.source)})`;
    case "integer":
      return `Number.isInteger(${sourceText(fact.source)})`;
    case "type":
      return `typeof ${sourceText(fact.source)} === "${fact.type}"`;
    case "expression":
      return `${hostText(fact.expression, hostLeafText)} === ${fact.expected}`;
    case "size":
      return fact.guard.text.replace(/(?<=["\])])#\d+/g, "");
    case "sameCell":
      return `${cellText(fact.place)} === ${cellText(fact.other)}`;
    case "distinctCells":
      return `___check_no_aliasing(${fact.members.map(cellText).join(", ")})`;
    case "argumentCount":
      return `arguments.length === ${fact.count}`;
    case "timeZone":
      return `___time_zone() === ${JSON.stringify(fact.setting)}`;
    case "proxy":
      return `${fact.present ? "" : "!"}___is_proxy(${sourceText(fact.source)})`;
    case "madeBy":
      return `___check_constructor(${sourceText(fact.source)}, ${
        JSON.stringify((fact.constructorText ?? "none").split("\n", 1).join())
      })`;
    case "generator":
      return `___is_generator(${sourceText(fact.source)})`;
    case "engineState":
      return `___engine_state(${sourceText(fact.source)}) === ${fact.state}`;
    case "cloneable":
      return `___is_cloneable(${sourceText(fact.source)})`;
    case "unboxed":
      return `!___is_boxed(${sourceText(fact.source)})`;
    case "unrevoked":
      return `!___is_revoked(${sourceText(fact.source)})`;
    case "extensible":
      return `${fact.present ? "" : "!"}Object.isExtensible(${sourceText(fact.source)})`;
    case "integrity":
      return `Object.${fact.level === "frozen" ? "isFrozen" : "isSealed"}(${sourceText(fact.source)})`;
    case "bytes":
      return `___shows_bytes(${sourceText(fact.source)}, ${fact.type})`;
    case "memory":
      return `___lies_apart(${sourceText(fact.source)}, ${sourceText(fact.other)}, ${fact.apart ?? "any"})`;
    case "globalState":
      return `___check_global_state(grad=${fact.state.gradEnabled}, dtype=${fact.state.defaultDtype}, ` +
        `device=${fact.state.defaultDevice}${fact.state.autocast && `, autocast=${fact.state.autocast}`}${
          fact.state.savedTensorsHooks ? ", saved_tensors_hooks" : ""
        })`;
    default:
      return fact satisfies never;
  }
}

function tensorText(source: Source, expected: TensorExpectation): string {
  const list = (values: readonly (number | null)[]) => `[${values.map((v) => v ?? "None").join(", ")}]`;
  return `check_tensor(${sourceText(source)}, ${expected.className}, ${expected.dtype}, ` +
    `device=${expected.device}, requires_grad=${expected.requiresGrad}, ` +
    `size=${list(expected.shape)}, stride=${list(expected.strides)})`;
}

/** Returns the place that a host expression reads, as guards print it. */
export function hostLeafText(leaf: HostLeaf): string {
  if (leaf.kind === "called") return `${leaf.call.text}#${leaf.index}`;
  if (leaf.kind === "shared") return `(…)#${leaf.number}`;
  if (leaf.kind === "ranked") return `${leaf.part === "number" ? "sorted" : "order"}(…)[${leaf.at}]`;
  if (leaf.kind === "compared") return `${leaf.side === 0 ? "a" : "b"}#${leaf.column}`;
  const base = sourceText(leaf.source);
  if (leaf.kind === "source") return base;
  if (leaf.kind === "element") {
    const at = hostText(leaf.at, hostLeafText);
    return leaf.form ? `${base}.${leaf.form.type}At(${at}, ${leaf.form.little})` : `${base}[${at}]`;
  }
  return leaf.part === "shape" ? `${base}.shape[${leaf.dim}]` : `${base}.stride()[${leaf.dim}]`;
}

/** The same, unique for each place, since labels may be equal. */
export function leafKey(leaf: HostLeaf): string {
  if (leaf.kind === "ranked") return `${hostLeafText(leaf)}#${leaf.ranking.number}`;
  if (!("source" in leaf)) return hostLeafText(leaf);
  const at = leaf.kind === "element" ? hostText(leaf.at, leafKey) : "";
  return `${leaf.source.name} ${hostLeafText(leaf)} ${at}`;
}

function cellText(place: CellPlace): string {
  return place.kind === "live" ? "C" : sourceText(place.source);
}

/** Returns the printed name of a function. Runs no code of the program. */
export function functionName(fn: object, unnamed = "<anonymous>"): string {
  const name: unknown = types.isProxy(fn) ? null : Reflect.getOwnPropertyDescriptor(fn, "name")?.value;
  return typeof name === "string" && name !== "" ? name : unnamed;
}

function keyText(key: string | symbol): string {
  return typeof key === "string" ? JSON.stringify(key) : String(key);
}
