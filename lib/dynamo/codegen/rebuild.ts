/**
 * Generates JavaScript that rebuilds traced values: constants as text, real objects by their sources, results of the
 * graph by name, new objects by literals. Invariant: an object that occurs twice is created once; cycles are closed
 * after their members exist.
 */
import { invariant } from "../../base/errors.ts";
import type { PrivateAccess } from "../frame/info.ts";
import type { Constants, SourceReader } from "../guards/reader.ts";
import { generatorMethods, GENERATORS } from "../trace/contents.ts";
import { Restart } from "../trace/restart.ts";
import type { HostText, TextPart } from "../variables/constants.ts";
import { numberText } from "../variables/host_number.ts";
import {
  type CellValue,
  type ClosureState,
  type ConstantValue,
  type Element,
  type EnumeratorValue,
  HOLE,
  isPassed,
  LAZY,
  type ObjectValue,
  type Slot,
  type TensorValue,
  type Value,
} from "../variables/value.ts";
import type { ClosurePrinter } from "./closure_types.ts";
import { KeyTexts } from "./key_texts.ts";
import { LaterTexts } from "./later_texts.ts";
import { MakingOrder } from "./making_order.ts";
import { memoryText } from "./memory_texts.ts";
import type { Names } from "./names.ts";
import {
  argumentSlots,
  asValue,
  givenKeys,
  isChangedPrototype,
  isGivenByConstructor,
  isLiteral,
  mayRunCode,
  nameOf,
  privateValues,
} from "./object_shape.ts";
import { Occurrences } from "./occurrences.ts";
import { type InstanceParts, instanceParts } from "./quiet_classes.ts";
import { ResultNames } from "./result_names.ts";
import * as runtime from "./runtime.ts";

const COLLECTION_CALLS = {
  map: { put: "mapSet", delete: "mapDelete" },
  set: { put: "setAdd", delete: "setDelete" },
} as const;

/** Maximum number of arguments of one call in generated code. */
const MOST_ARGUMENTS = 1_000;

/** Generates code that creates values. */
export class Rebuilder {
  /** The results of the graph that the code needs. */
  readonly results: ResultNames;
  /** The statements that create objects, in their order. */
  readonly order: MakingOrder = new MakingOrder();
  /** Counts the uses of objects, so that those with a single use become plain literals. */
  readonly occurrences: Occurrences = new Occurrences();
  /** Parameters that are created before the graph runs. */
  readonly parameters: Map<TensorValue, string> = new Map();
  /** Keys of properties. */
  readonly keys: KeyTexts;
  /** Primitives that are known only after the graph has run. */
  readonly later: LaterTexts = new LaterTexts(this);
  readonly #filled = new Set<TensorValue>();
  readonly #objects = new Map<ObjectValue | CellValue, string>();
  readonly #enumerators = new Map<EnumeratorValue, string>();

  constructor(
    readonly reader: SourceReader,
    readonly constants: Constants,
    readonly names: Names,
    readonly printer: ClosurePrinter,
  ) {
    this.keys = new KeyTexts(constants, names, this.order);
    this.results = new ResultNames(names);
  }

  /** An expression for a value. */
  value(value: Value): string {
    switch (value.kind) {
      case "constant":
        return isPassed(value) ? this.#text(value.text) : this.#constant(value);
      case "number":
        return this.reader.host(value.expression);
      case "item":
        return this.later.item(value);
      case "tensor":
        return this.tensor(value);
      case "object":
        return this.#object(value);
      case "cell":
        return this.cell(value);
      case "enumerator":
        return this.#enumerator(value);
      case "uninitialized":
        return this.printer.uninitialized(this.constants);
      default:
        return value satisfies never;
    }
  }

  /** The remaining keys, created once: iteration advances for all holders. */
  #enumerator(value: EnumeratorValue): string {
    let name = this.#enumerators.get(value);
    if (name === undefined) {
      name = this.names.fresh("keys");
      this.#enumerators.set(value, name);
      const object = value.object ? this.#object(value.object) : "null";
      const keys = this.printer.enumerator(object, value.keys, value.index, this.constants);
      this.order.create(name, keys);
    }
    return name;
  }

  #text(text: HostText): string {
    if ("kind" in text) return this.reader.host(text);
    const parts = text.map((part) => `\${${this.#textPart(part)}}`);
    return `\`${parts.join("")}\``;
  }

  #textPart(part: TextPart): string {
    if (typeof part === "string") return JSON.stringify(part);
    if (part.kind !== "method") return this.reader.host(part);
    const args = part.args.map((arg) => this.#constant(arg)).join(", ");
    return `${this.helper("callFunction")}(${this.constants.name(part.method)}, ${
      this.#text(part.self)
    }, [${args}])`;
  }

  #constant({ value }: ConstantValue): string {
    switch (typeof value) {
      case "number":
        return numberText(value);
      case "bigint":
        return `${value}n`;
      case "string":
        return JSON.stringify(value);
      case "symbol":
        return this.keys.symbol(value);
      default:
        return value === undefined ? "undefined" : `${value}`;
    }
  }

  /** A tensor: the user's own if it came from outside, else a result of the graph. */
  tensor(value: TensorValue): string {
    if (value.real && value.source) return this.reader.read(value.source);
    if (value.made) return this.#filledTensor(value, this.parameter(value));
    invariant(value.node, "Expected a node for a tensor");
    return this.#filledTensor(value, this.results.use(value.node));
  }

  /** Gives a parameter the properties that the program has added, and a new tensor its entries in weak collections. */
  #filledTensor(value: TensorValue, name: string): string {
    if (this.#filled.has(value)) return name;
    this.#filled.add(value);
    for (const [key, assigned] of value.made ? value.assigned : []) {
      this.order.fill(() => `${name}${this.keys.access(key)} = ${this.value(assigned)};`);
    }
    this.#fillPrivates(value, name);
    return name;
  }

  #fillPrivates({ privates }: ObjectValue | TensorValue, name: string): void {
    for (const entry of privates) this.order.fill(() => this.setPrivate(name, entry));
  }

  /** The statement that sets a private member or an entry in a weak collection, or removes an entry. */
  setPrivate(name: string, [access, value]: readonly [PrivateAccess, Value | null]): string {
    const member = this.constants.name(access);
    return value ? `${member}.set(${name}, ${this.value(value)});` : `${member}.remove(${name});`;
  }

  /** The name of a parameter that is created before the graph runs. */
  parameter(value: TensorValue): string {
    let name = this.parameters.get(value);
    if (name === undefined) {
      name = this.names.fresh("parameter");
      this.parameters.set(value, name);
    }
    return name;
  }

  /** A cell: a real one, or one created here. */
  cell(value: CellValue): string {
    const { place } = value;
    switch (place?.kind) {
      case "box":
        return this.reader.read(place.source);
      case "live":
        return this.constants.name(this.printer.liveCell(place.cell));
      case "captured":
        return `${this.constants.name(this.printer.boxOfCaptured, "$cell")}(${
          this.reader.read(place.base)
        }, ${place.index})`;
      default:
    }
    let name = this.#objects.get(value);
    if (name === undefined) {
      name = this.names.fresh(`cell_${value.name}`);
      this.#objects.set(value, name);
      const { content } = value;
      const empty = content?.kind === "uninitialized" ? this.printer.uninitialized(this.constants) : null;
      this.order.create(name, this.printer.cell(value.name, empty, this.constants));
      if (content && empty === null) {
        this.order.fill(() => this.printer.setCell(this.cell(value), this.value(content)));
      }
    }
    return name;
  }

  /** Creates objects before all others, in this order, unless they depend on others themselves. */
  makeFirst(values: readonly Value[]): void {
    this.order.together(() => {
      for (const value of values) this.value(value);
    });
  }

  #object(object: ObjectValue): string {
    if (object.onlyTraced && !instanceParts(object)) {
      const { step, cause } = object.onlyTraced;
      throw new Restart(step, { kind: "break", cause });
    }
    if (object.real) {
      invariant(object.source, "Expected a source for a real object");
      return this.reader.read(object.source);
    }
    const known = this.#objects.get(object);
    if (known !== undefined) {
      invariant(!this.order.isUnderway(object), "Expected objects that can be made one after the other");
      return known;
    }
    if (!this.occurrences.isShared(object) && isLiteral(object)) return this.#literal(object);
    const name = this.names.fresh(nameOf(object));
    this.#objects.set(object, name);
    // Reserved before its parts are created, so that parts created meanwhile precede it but never refer to it too
    // early.
    this.order.make(object, name, {
      shell: () => this.#shell(object),
      fillIn: () => this.#fillIn(object, name),
    });
    return name;
  }

  /** An object that is written as a literal where it is used. */
  #literal(object: ObjectValue): string {
    const { exotic } = object;
    if (exotic.kind === "array") return this.#arrayLiteral(exotic.elements);
    const members = [...object.slots].map(([key, slot]) => {
      invariant(slot.kind === "data", "Expected plain properties");
      return `${this.keys.member(key)}: ${this.value(slot.value)}`;
    });
    const literal = members.length > 0 ? `{ ${members.join(", ")} }` : "{}";
    return this.#inheriting(literal, object.prototype, Object.prototype);
  }

  /** The object with which a function was created as its `prototype`. */
  #ownPrototype(object: ObjectValue, fn: ObjectValue): string {
    const code = fn.exotic.kind === "function" ? fn.exotic.closure?.code : undefined;
    return this.#inheriting(
      `${this.#object(fn)}.prototype`,
      object.prototype,
      code?.generator ? generatorMethods(code) : Object.prototype,
    );
  }

  #arrayLiteral(elements: readonly Element[]): string {
    const parts = elements.map((e) => {
      if (e === HOLE) return "";
      invariant(e !== LAZY, "Expected the elements of a new array");
      return this.value(e);
    });
    return `[${parts.join(", ")}${elements.at(-1) === HOLE ? "," : ""}]`;
  }

  /** The object without its references to others. */
  #shell(object: ObjectValue): string {
    const { exotic, prototype } = object;
    switch (exotic.kind) {
      case "plain":
        return this.#plain(object);
      case "array":
        return object.tensorProperty
          ? this.#ofTensor(object.tensorProperty)
          : this.#inheriting("[]", prototype, Array.prototype);
      case "map":
        return this.#inheriting("new Map()", prototype, Map.prototype);
      case "set":
        return this.#inheriting("new Set()", prototype, Set.prototype);
      case "weak":
        return exotic.isMap
          ? this.#inheriting("new WeakMap()", prototype, WeakMap.prototype)
          : this.#inheriting("new WeakSet()", prototype, WeakSet.prototype);
      case "weakRef":
        return this.#inheriting(`new WeakRef(${this.value(exotic.target)})`, prototype, WeakRef.prototype);
      case "constructed":
      case "native": {
        if (exotic.kind === "native" && exotic.from) {
          return this.call(exotic.from.getter, exotic.from.self, []);
        }
        const constructor = exotic.constructor.real;
        invariant(typeof constructor === "function", "Expected a constructor");
        const text = exotic.kind === "native" ? exotic.text : null;
        const args = text ? JSON.stringify(text()) : exotic.args.map((a) => this.value(a)).join(", ");
        const made = `new ${this.constants.name(constructor)}(${args})`;
        return this.#inheriting(made, prototype, Reflect.get(constructor, "prototype"));
      }
      case "function":
        invariant(exotic.closure, "Expected a function made in the trace");
        return this.#closure(exotic.closure);
      case "bound":
        return `${this.helper("bindFunction")}(${
          [exotic.target, exotic.self, ...exotic.args].map((v) => this.value(v)).join(", ")
        })`;
      case "called": {
        const { gives, callee, self, args } = exotic, made = this.call(callee, self, args);
        if (gives === "object") return made;
        return this.#inheriting(made, prototype, (gives === "promise" ? Promise : Function).prototype);
      }
      case "elements":
        return `${this.tensor(exotic.tensor)}.${exotic.method}()`;
      case "generator":
        return this.#inheriting(
          this.printer.generator(object, (v) => this.value(v), this.constants),
          prototype,
          GENERATORS,
        );
      case "date":
        return this.#inheriting(
          `new ${this.constants.name(Date)}(${this.value(exotic.time)})`,
          prototype,
          Date.prototype,
        );
      case "listIterator":
        return `${this.helper("listIterator")}(${this.value(exotic.over)}, ${JSON.stringify(exotic.what)})`;
      case "thrown":
        throw new Restart(exotic.step, { kind: "break", cause: exotic.cause });
      case "bytes":
        return memoryText(exotic, {
          value: (value) => this.value(value),
          form: (form) => this.constants.name(form),
          helper: (name) => this.helper(name),
        });
      case "opaque":
        invariant(exotic.proxy, "Expected an object that can be made");
        return `new ${this.constants.name(Proxy)}(${this.value(exotic.proxy.target)}, ${
          this.value(exotic.proxy.handler)
        })`;
      case "privateName":
        invariant(false, "Expected an object that can be made");
        break;
      default:
        return exotic satisfies never;
    }
  }

  /** An object without a state of the engine's own. */
  #plain(object: ObjectValue): string {
    const { prototype } = object;
    if (object.tensorProperty) return this.#ofTensor(object.tensorProperty);
    if (object.prototypeOf) return this.#ownPrototype(object, object.prototypeOf);
    if (object.privateFields.size > 0) {
      const { constructor } = this.#instance(object);
      return this.#inheriting(`new ${this.constants.name(constructor)}()`, prototype, constructor.prototype);
    }
    if (object.arguments) {
      const values = argumentSlots(object).map((slot) =>
        slot.kind === "data" ? this.value(slot.value) : "undefined"
      );
      const make = object.arguments === "mapped" ? "makeMappedArguments" : "makeArguments";
      return `${this.helper(make)}(${values.join(", ")})`;
    }
    return this.#inheriting("{}", prototype, Object.prototype);
  }

  #ofTensor({ tensor, name }: NonNullable<ObjectValue["tensorProperty"]>): string {
    return `${this.tensor(tensor)}.${name}`;
  }

  #closure({ code, functionName, namePrefix, home, free }: ClosureState): string {
    return this.printer.closure(code, {
      name: functionName,
      nameText: typeof functionName === "symbol" ? this.keys.symbol(functionName) : null,
      namePrefix,
      home: home ? this.value(home) : null,
      free: free.map((bound) => this.value(bound)),
      cells: new Set(free.flatMap((bound, i) => bound.kind === "cell" ? [i] : [])),
    }, this.constants);
  }

  #instance(object: ObjectValue): InstanceParts {
    const parts = instanceParts(object);
    invariant(parts, "Expected an instance that can be made");
    return parts;
  }

  /** An object that inherits from `standard` as it is made, and is given another prototype if it has one. */
  #inheriting(expression: string, prototype: ObjectValue | null, standard: unknown): string {
    if (prototype?.real === standard) return expression;
    return `${this.helper("withPrototype")}(${expression}, ${prototype ? this.#object(prototype) : "null"})`;
  }

  /** Statements that fill a new object. */
  #fillIn(object: ObjectValue, name: string): void {
    const { exotic } = object;
    if (object.tensorProperty) return;
    if (exotic.kind === "listIterator" && (exotic.index > 0 || exotic.done)) {
      this.order.finals.push(`${this.helper("advance")}(${name}, ${exotic.index}, ${exotic.done});`);
    }
    if (exotic.kind === "listIterator" && exotic.isOfLoop && !exotic.done) {
      const { what, index } = exotic, at = `{ what: ${JSON.stringify(what)}, index: ${index} }`;
      this.order.finals.push(`${this.helper("noteBegun")}(${name}, ${this.value(exotic.over)}, ${at});`);
    }
    if (exotic.kind === "array") {
      const elements = exotic.elements;
      const simple = elements.every((e) => e !== HOLE) && object.prototype?.real === Array.prototype;
      if (simple) {
        if (elements.length > 0) this.order.fill(() => this.append(name, elements));
      } else {
        elements.forEach((e, i) => {
          if (e !== HOLE) this.order.fill(() => `${name}[${i}] = ${this.value(asValue(e))};`);
        });
        this.order.fills.push(`${name}.length = ${elements.length};`);
      }
    }
    if (exotic.kind === "map") {
      for (const { key, value } of exotic.entries.values()) {
        this.order.fill(() => this.collectionCall(object, name, "put", [key, value]));
      }
    }
    if (exotic.kind === "set") {
      for (const { key } of exotic.entries.values()) {
        this.order.fill(() => this.collectionCall(object, name, "put", [key]));
      }
    }
    for (const entry of exotic.kind === "weak" ? exotic.entries : []) {
      this.order.fill(() =>
        `${this.helper("enter")}(${[name, ...entry.map((e) => this.value(e))].join(", ")});`
      );
    }
    if (object.privateFields.size > 0) {
      const { accesses } = this.#instance(object);
      for (const [declaration, value] of privateValues(object)) {
        const access = accesses.get(declaration);
        invariant(access, "Expected access to a private field");
        this.order.fill(() => `${this.constants.name(access)}.set(${name}, ${this.value(value)});`);
      }
    }
    this.#fillPrivates(object, name);
    for (const key of givenKeys(object)) {
      if (!object.slots.has(key)) this.order.fills.push(`delete ${name}${this.keys.access(key)};`);
    }
    for (const [key, slot] of object.slots) {
      if (isGivenByConstructor(object, key, slot)) {
        const given = slot.kind === "data" && slot.value.kind === "object" ? slot.value : null;
        if (given && isChangedPrototype(given) && !this.order.isUnderway(given)) this.#object(given);
        continue;
      }
      this.order.fill(() => this.setSlot(name, key, slot, mayRunCode(object, key)));
    }
    if (object.frozen !== "no") {
      this.order.fills.push(this.integrity(name, object.frozen));
    }
  }

  /**
   * The statements that append elements to a list, in several calls: the arguments of one are on the stack, which
   * thousands would overflow.
   */
  append(name: string, elements: readonly Element[]): string {
    const append = this.helper("append"), statements: string[] = [];
    for (let i = 0; i < elements.length; i += MOST_ARGUMENTS) {
      const some = elements.slice(i, i + MOST_ARGUMENTS).map((each) => this.value(asValue(each)));
      statements.push(`${append}(${[name, ...some].join(", ")});`);
    }
    return statements.join("\n");
  }

  /** The statement that freezes an object, or applies another integrity level. */
  integrity(name: string, level: Exclude<ObjectValue["frozen"], "no">): string {
    const how = { frozen: "freeze", sealed: "seal", inextensible: "preventExtensions" } as const;
    return `${this.helper(how[level])}(${name});`;
  }

  /** The statement that adds this property to an object; `define` if an assignment would run a setter. */
  setSlot(name: string, key: string | symbol, slot: Slot, define: boolean): string {
    switch (slot.kind) {
      case "data":
        if (slot.writable && slot.enumerable && slot.configurable && key !== "__proto__" && !define) {
          return `${name}${this.keys.access(key)} = ${this.value(slot.value)};`;
        }
        return `${this.helper("defineProperty")}(${name}, ${this.keys.expression(key)}, { value: ${
          this.value(slot.value)
        }, ` +
          `writable: ${slot.writable}, enumerable: ${slot.enumerable}, configurable: ${slot.configurable} });`;
      case "accessor":
        return `${this.helper("defineProperty")}(${name}, ${this.keys.expression(key)}, { get: ${
          this.value(slot.get)
        }, ` +
          `set: ${
            this.value(slot.set)
          }, enumerable: ${slot.enumerable}, configurable: ${slot.configurable} });`;
      case "deleted":
        return `delete ${name}${this.keys.access(key)};`;
      default:
        return slot satisfies never;
    }
  }

  /** The statement that changes a Map or Set as its builtin method does, even if a subclass overrides that. */
  collectionCall(
    { exotic }: ObjectValue,
    name: string,
    method: "put" | "delete",
    args: readonly Value[],
  ): string {
    const texts = [name, ...args.map((arg) => this.value(arg))].join(", ");
    const kind = exotic.kind === "map" ? "map" : "set";
    return `${this.helper(COLLECTION_CALLS[kind][method])}(${texts});`;
  }

  /** A call of a function. */
  call(callee: Value, self: Value, args: readonly Value[]): string {
    const [fn, receiver, ...list] = [callee, self, ...args].map((value) => this.value(value));
    return `${this.helper("callFunction")}(${fn}, ${receiver}, [${list.join(", ")}])`;
  }

  /** The name of a helper. */
  helper(name: keyof typeof runtime): string {
    this.constants.add(`$${name}`, runtime[name]);
    return this.constants.name(runtime[name]);
  }
}
