/**
 * Prints facts as conditions of generated code. Invariant: earlier facts have checked that the values that a condition
 * reads exist.
 */
import type { CodeObject } from "../bytecode/code.ts";
import { invariant } from "../../base/errors.ts";
import { sameList } from "../../base/lists.ts";
import { type Dim, type Sym } from "../../sym/expr.ts";
import { type SizeGuard, type SizeSource, sourceText as sizeSourceText } from "../../sym/size_guards.ts";
import { marked } from "../cache/dimension_marks.ts";
import type { Box } from "../resume/cells.ts";
import type { CellPlace, Source } from "../source.ts";
import { type Primitive, primitiveText } from "../variables/primitive.ts";
import type { Fact, MethodExpectation, ObjectFact, TensorExpectation } from "./guard.ts";
import type { Constants, SourceReader } from "./reader.ts";
import * as runtime from "./runtime.ts";

/** The part of the frame layer that guards need. */
export interface CheckContext {
  /** The source with this name, to which size guards refer. */
  sourceNamed(name: string): Source;
  /** Returns whether a value is a function of that code object. */
  hasCode(fn: unknown, code: CodeObject): boolean;
  readCaptured(fn: unknown, index: number): unknown;
  /** Identifies the variable of a box, or of a captured variable. */
  cellOfBox(box: Box): object;
  cellOf(fn: unknown, index: number): object;
}

/** State shared by all conditions of a check. */
export interface ConditionContext extends CheckContext {
  /** Names of functions that test a tensor, by the expression in `value` that they return. */
  readonly tests: Map<string, string>;
  /** Expectations with such a function, by layout. */
  readonly tested: Map<object, readonly TestedTensor[]>;
}

/** An expectation, and the name of its function. */
interface TestedTensor {
  readonly expected: TensorExpectation;
  readonly name: string;
}

/** Returns whether tensors of one layout have the same test. */
function areAlike(one: TensorExpectation, other: TensorExpectation): boolean {
  return one.prototype === other.prototype && one.requiresGrad === other.requiresGrad &&
    sameList(one.marked, other.marked) && one.methods.size === other.methods.size &&
    (one.methods.size === 0 ||
      one.methods.entries().every(([key, method]) => other.methods.get(key) === method));
}

/** Writes conditions; values are read by the reader, which may emit statements before the condition. */
export class ConditionWriter {
  constructor(
    private readonly reader: SourceReader,
    private readonly constants: Constants,
    private readonly context: ConditionContext,
  ) {}

  condition(fact: Fact): string {
    const { reader, constants } = this;
    switch (fact.kind) {
      case "constant":
        return this.sameAs(reader.read(fact.source), fact.value);
      case "identity":
        return `${reader.read(fact.source)} === ${constants.name(fact.object)}`;
      case "prototype": {
        const prototype = fact.prototype === null ? "null" : constants.name(fact.prototype);
        return this.test("inheritsFrom", reader.inside(fact.source), prototype, fact.isArray);
      }
      case "object": {
        const value = reader.inside(fact.source);
        return `typeof ${value} === "object" && ${value} !== null`;
      }
      case "function":
        return `typeof ${reader.read(fact.source)} === "function"`;
      case "array": {
        const value = reader.inside(fact.source);
        return `${this.test("isArray", value)} && ${value}.length === ${fact.length}`;
      }
      case "list":
        return this.test("isArray", reader.inside(fact.source));
      case "elements":
        return this.test("hasPlainElements", reader.inside(fact.source));
      case "same":
        return `${reader.read(fact.source)} === ${reader.read(fact.other)}`;
      case "distinct": {
        const [members, others] = [fact.members, fact.others].map((each) =>
          each.map((one) => reader.read(one))
        );
        return this.distinct(members, others);
      }
      case "apart":
        return this.test("liesApart", reader.read(fact.source), this.list(fact.others));
      case "elsewhere":
        return this.test("liesElsewhere", reader.read(fact.source), this.list(fact.others));
      case "tensor":
        return this.tensor(reader.insideTensor(fact.source), fact.expected);
      case "leaf":
        return this.test("isLeaf", reader.read(fact.source), constants.name(fact.hooks));
      case "made":
        return this.test("isMade", reader.read(fact.source));
      case "integer":
        return this.test("isInteger", reader.read(fact.source));
      case "type":
        return `typeof ${reader.read(fact.source)} === "${fact.type}"`;
      case "expression": {
        const text = reader.host(fact.expression);
        return typeof fact.expected === "boolean"
          ? `${text} === ${fact.expected}`
          : this.sameAs(text, fact.expected);
      }
      case "size":
        return this.size(fact.guard, fact.env);
      case "sameCell":
        return `${this.cell(fact.place)} === ${this.cell(fact.other)}`;
      case "distinctCells":
        return this.distinct(fact.members.map((each) => this.cell(each)));
      case "timeZone":
        return `${this.test("timeZoneSetting")} === ${JSON.stringify(fact.setting)}`;
      case "argumentCount":
        return `args.length === ${fact.count}`;
      case "globalState":
        return [
          this.test("ambientIs", constants.name(fact.state)),
          ...fact.methods.map((method) => this.method(method)),
        ].join(" && ");
      default:
        return this.ofObject(fact);
    }
  }

  /** Conditions about the members and the state of objects. */
  private ofObject(fact: ObjectFact): string {
    const { reader, constants } = this;
    switch (fact.kind) {
      case "keys":
        return this.test(
          fact.which === "all" ? "hasOwnKeys" : "hasKeys",
          reader.inside(fact.source),
          constants.name(fact.keys),
          constants.name(fact.symbols),
        );
      case "ownKey":
        return `${this.test("hasOwn", ...this.member(fact))} === ${fact.present}`;
      case "writable":
        return this.test("hasWritable", ...this.member(fact));
      case "writableAt":
        return this.test("hasWritable", reader.inside(fact.source), reader.host(fact.at));
      case "flags":
        return this.test("hasFlags", ...this.member(fact), constants.name(fact.flags));
      case "accessor":
        return this.test(
          "hasAccessor",
          ...this.member(fact),
          constants.name({ get: fact.get, set: fact.set }),
        );
      case "entries":
        return this.test(
          fact.what === "Map" ? "mapHasKeys" : "setHasMembers",
          reader.inside(fact.source),
          constants.name(fact.keys),
        );
      case "code":
        return `${constants.name(this.context.hasCode)}(${reader.inside(fact.source)}, ${
          constants.name(fact.code)
        })`;
      case "proxy":
        return `${this.test("isProxy", reader.read(fact.source))} === ${fact.present}`;
      case "madeBy":
        return this.test("isMadeBy", reader.read(fact.source), constants.name(fact.constructorText));
      case "generator":
        return this.test("isGenerator", reader.read(fact.source));
      case "engineState":
        return `${this.test("engineState", reader.read(fact.source))} === ${JSON.stringify(fact.state)}`;
      case "cloneable":
        return this.test("isCloneable", reader.read(fact.source));
      case "unboxed":
        return `!${this.test("isBoxed", reader.read(fact.source))}`;
      case "unrevoked":
        return this.test("isUnrevoked", reader.read(fact.source));
      case "extensible":
        return `${this.test("isExtensible", reader.inside(fact.source))} === ${fact.present}`;
      case "integrity":
        return this.test(fact.level === "frozen" ? "isFrozen" : "isSealed", reader.inside(fact.source));
      case "bytes":
        return `${this.test("bytesClass", reader.inside(fact.source))} === ${JSON.stringify(fact.type)}`;
      case "memory":
        return this.test("showsApart", reader.read(fact.source), reader.read(fact.other), `${fact.apart}`);
      default:
        return fact satisfies never;
    }
  }

  /** A call of a function of runtime.ts. */
  private test(name: keyof typeof runtime, ...args: readonly (string | boolean)[]): string {
    return `${this.helper(name)}(${args.join(", ")})`;
  }

  /** An object, and the key of a member of it. */
  private member(
    fact: { readonly source: Source; readonly key: string | symbol },
  ): readonly [string, string] {
    return [this.reader.inside(fact.source), this.key(fact.key)];
  }

  private list(sources: readonly Source[]): string {
    return `[${sources.map((each) => this.reader.read(each)).join(", ")}]`;
  }

  private method({ kind, prototype, key, method }: MethodExpectation): string {
    const { constants } = this;
    return kind === "method"
      ? `${constants.name(prototype)}[${this.key(key)}] === ${constants.name(method)}`
      : this.test(
        "hasGetter",
        constants.name(prototype),
        this.key(key),
        method ? constants.name(method) : "undefined",
      );
  }

  private helper(name: keyof typeof runtime): string {
    const value = runtime[name];
    this.constants.add(`$${name}`, value);
    return this.constants.name(value);
  }

  /** Compares members with each other and with the others. */
  private distinct(members: readonly string[] = [], others: readonly string[] = []): string {
    if (members.length + others.length > 5) {
      return `${this.helper("areDistinct")}([${members.join(", ")}], [${others.join(", ")}])`;
    }
    return members.flatMap((member, at) =>
      [...members.slice(at + 1), ...others].map((other) => `${member} !== ${other}`)
    ).join(" && ");
  }

  private cell(place: CellPlace): string {
    switch (place.kind) {
      case "live":
        return this.constants.name(place.cell);
      case "box":
        return `${this.constants.name(this.context.cellOfBox)}(${this.reader.read(place.source)})`;
      case "captured":
        return `${this.constants.name(this.context.cellOf)}(${this.reader.read(place.base)}, ${place.index})`;
      default:
        return place satisfies never;
    }
  }

  private key(key: string | symbol): string {
    return typeof key === "string" ? JSON.stringify(key) : this.constants.name(key);
  }

  /** Similar tensors share one test function. */
  private tensor(tensor: string, expected: TensorExpectation): string {
    const { tests, tested } = this.context, { layout } = expected;
    const known = layout ? tested.get(layout) ?? [] : [];
    const former = known.find((each) => areAlike(each.expected, expected));
    if (former) return `${former.name}(${tensor})`;
    const text = this.tensorTest("value", expected), name = tests.get(text) ?? `is${tests.size}`;
    tests.set(text, name);
    if (layout) tested.set(layout, [...known, { expected, name }]);
    return `${name}(${tensor})`;
  }

  private tensorTest(value: string, expected: TensorExpectation): string {
    const parts: string[] = [];
    if (expected.layout) {
      // Layouts are shared: one comparison covers type, device, sizes and strides.
      parts.push(`${value}.layout === ${this.constants.name(expected.layout)}`);
    } else {
      parts.push(
        `${this.helper("layoutIs")}(${value}, ${this.constants.name(expected.shape)}, ${
          this.constants.name(expected.strides)
        })`,
        `${value}.dtype === ${JSON.stringify(expected.dtype)}`,
        `${value}.device === ${JSON.stringify(expected.device)}`,
      );
    }
    if (expected.prototype) {
      parts.push(`${this.helper("getPrototypeOf")}(${value}) === ${this.constants.name(expected.prototype)}`);
    }
    parts.push(
      expected.requiresGrad
        ? `${value}.requiresGrad`
        : `(${value}.state === null && ${value}.viewState === null || !${value}.requiresGrad)`,
    );
    parts.push(
      `(!${this.constants.name(marked)}.any || ${this.helper("knowsMarks")}(${value}, [${expected.marked}]))`,
    );
    for (const [key, method] of expected.methods) {
      parts.push(`${value}[${this.key(key)}] === ${this.constants.name(method)}`);
    }
    return parts.join(" && ");
  }

  private size(guard: SizeGuard, env: { sourceOf(s: Sym): SizeSource }): string {
    const dim = (d: Dim) => this.dim(d, env);
    switch (guard.kind) {
      case "range": {
        const value = dim(guard.symbol);
        const parts: string[] = [];
        if (guard.lower !== -Infinity) parts.push(`${value} >= ${guard.lower}`);
        if (guard.upper !== Infinity) parts.push(`${value} <= ${guard.upper}`);
        return parts.join(" && ") || "true";
      }
      case "source":
        return `${this.sizeSource(guard.source)} === ${dim(guard.equals)}`;
      case "relation": {
        const operator = { eq: "===", ne: "!==", le: "<=" }[guard.relation];
        return `${dim(guard.left)} ${operator} ${dim(guard.right)}`;
      }
      default:
        return guard satisfies never;
    }
  }

  private sizeSource({ base, part }: SizeSource): string {
    return sizeSourceText({ base: this.reader.read(this.context.sourceNamed(base)), part });
  }

  private dim(d: Dim, env: { sourceOf(s: Sym): SizeSource }): string {
    return dimText(d, (s) => this.sizeSource(env.sourceOf(s)));
  }

  private sameAs(text: string, value: Primitive): string {
    if (typeof value === "symbol") return `${text} === ${this.constants.name(value)}`;
    const wanted = primitiveText(value);
    // `===` finds no NaN, and takes the zeros of both signs for one
    return value === 0 || Number.isNaN(value)
      ? `${this.helper("isSame")}(${text}, ${wanted})`
      : `${text} === ${wanted}`;
  }
}

/** A size expression as JavaScript, without functions, which the program may have replaced. */
export function dimText(d: Dim, symbolText: (s: Sym) => string): string {
  if (typeof d === "number") return d < 0 ? `(${d})` : `${d}`;
  const again = (x: Dim) => dimText(x, symbolText);
  const { node } = d;
  switch (node.kind) {
    case "symbol":
      return symbolText(d);
    case "sum": {
      const parts = node.terms.map(({ term, coefficient }) =>
        coefficient === 1 ? again(term) : `${again(coefficient)} * ${again(term)}`
      );
      if (node.constant !== 0) parts.push(again(node.constant));
      return `(${parts.join(" + ")})`;
    }
    case "product":
      invariant(node.factors.length > 0, "Expected factors but found none");
      return `(${node.factors.map(again).join(" * ")})`;
    case "floorDiv":
    case "mod": {
      const a = again(node.left), b = again(node.right), rest = `(${a} % ${b} + ${b}) % ${b}`;
      return node.kind === "mod" ? `(${rest})` : `((${a} - ${rest}) / ${b})`;
    }
    case "min":
    case "max": {
      const a = again(node.left), b = again(node.right);
      return `(${a} ${node.kind === "min" ? "<" : ">"} ${b} ? ${a} : ${b})`;
    }
    default:
      return node satisfies never;
  }
}
