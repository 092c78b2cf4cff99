/**
 * Wraps real values, read at a source, as traced values, with the guards that ensure the same value in later calls.
 * Invariant: there is one value per real object and trace; contents of objects are read only when the program reads
 * them.
 */
import { types } from "node:util";
import { type ChangeSettings, ChangingValues } from "./changing_values.ts";
import { breakGraph } from "../break_reasons.ts";
import { Tensor } from "../../tensor/tensor.ts";
import type { CodeObject } from "../bytecode/code.ts";
import type { Instruction } from "../bytecode/instruction.ts";
import type { TensorMeta } from "../../graph/meta.ts";
import type { Dim } from "../../sym/expr.ts";
import { type DimensionMark, dimensionsMarked, markOf } from "../cache/dimension_marks.ts";
import type { ShapeMarks } from "../cache/shapes_spec.ts";
import { isSaidUnbacked, saidOf } from "../cache/dynamic_sources.ts";
import { constructorText } from "../guards/runtime.ts";
import { BUILTIN_OBJECTS } from "../functions/builtin_objects.ts";
import { settledBy } from "../functions/promise_polyfills.ts";
import { isModule, ownsParameter } from "../functions/modules.ts";
import {
  isKnown,
  isPassedIn,
  knownSource,
  type LiveCell,
  parameterSource,
  privateSource,
  prototypeSource,
  type Source,
  sourceText,
  stepsTo,
} from "../source.ts";
import type { OutputGraph } from "../trace/output_graph.ts";
import { classLabel, functionLabel, isClass } from "./labels.ts";
import { loadedText } from "../frame/source_text.ts";
import { boundFunction, type BoundParts } from "./bound_function.ts";
import { bytesOf, exoticOf } from "./native_state.ts";
import { constant, ObjectValue, TensorValue, UNDEFINED, type Value } from "./value.ts";
import { refuseToCache } from "../disk_cache/noted_reads.ts";

/** Steps to an object from where a call finds it. The guards of a chain take time and text in proportion to its square. */
const MOST_STEPS = 500;

const SETTLES = { get: settledBy };

/** The services that wrapping needs of functions and of the trace. */
interface WrapSettings extends ChangeSettings {
  /** The user's specification of parameter sizes. */
  readonly shapes: ShapeMarks;
  /** The jumps at which loops of changing counts end the graph, with their places. */
  readonly endedLoops: Map<Instruction, string>;
  /** Number of versions before this one. */
  readonly version: number;
  /** The function's code, or null for functions without accessible source. */
  codeOf(fn: object): CodeObject | null;
  /** The parts of a bound function; null for other functions. */
  boundParts(fn: object): BoundParts | null;
  /** The variable that an object of generated code represents, or null. */
  variableOf(real: object): { readonly name: string; readonly cell: LiveCell } | null;
  /** Target and handler of a proxy; null if they are unknown or the proxy has been revoked. */
  proxyParts(proxy: object): { readonly target: object; readonly handler: object } | null;
  /** Returns whether an object is state that operations depend on: modes, generators of random numbers. */
  isAmbient(real: object): boolean;
  /** Returns whether a tensor is not of a subclass with its own methods. */
  isPlainTensor(tensor: Tensor): boolean;
  /** Returns whether tensors of this class are guarded by identity (parameters of modules). */
  isParameter(tensor: Tensor): boolean;
}

/** Creates and caches values of real objects. */
export class Wrapper {
  readonly #values = new Map<object, TensorValue | ObjectValue>();
  /** Every tensor that came from outside. */
  readonly tensors: TensorValue[] = [];
  /** Every object that came from outside. */
  readonly objects: ObjectValue[] = [];

  /** Primitives, and lengths of lists. */
  readonly changes: ChangingValues;

  constructor(readonly output: OutputGraph, readonly settings: WrapSettings) {
    this.changes = new ChangingValues(output, settings);
  }

  /** The value of a real object or primitive at a source. */
  wrap(real: unknown, source: Source): Value {
    switch (typeof real) {
      case "number":
        return this.changes.number(real, source);
      case "object":
        if (real === null) return this.changes.constant(null, source);
        if (stepsTo(source) > MOST_STEPS) {
          breakGraph("depth", `an object that more than ${MOST_STEPS} steps lead to`);
        }
        return this.object(real, source);
      case "function":
        return this.object(real, source);
      case "undefined":
        return this.changes.constant(real, source);
      case "bigint":
      case "boolean":
      case "string":
      case "symbol":
        return this.changes.passed(real, source) ?? this.changes.constant(real, source);
      default:
        throw new TypeError(`Expected a JavaScript value but found ${typeof real}`);
    }
  }

  /** Every object that the trace has encountered. */
  get met(): Iterable<object> {
    return this.#values.keys();
  }

  /** An object that never changes. */
  known(real: object, label: string): Value {
    return this.object(real, knownSource(label, real));
  }

  /** A function that is the same at its place in all calls. */
  fixed(real: object, source: Source): Value {
    const label = functionLabel(real);
    this.output.guard({ kind: "identity", source, object: real, label });
    return this.known(real, label);
  }

  /** The value of a real object, if the trace has encountered it. */
  find(real: object): TensorValue | ObjectValue | undefined {
    return this.#values.get(real);
  }

  object(real: object, source: Source): TensorValue | ObjectValue {
    const found = this.#values.get(real);
    if (found) {
      if (found.source && found.source.name !== source.name) {
        if (source.kind !== "known" || found.source.kind !== "known") {
          this.output.guard({ kind: "same", source, other: found.source });
        }
      }
      return found;
    }
    const made = this.#make(real, source);
    this.#values.set(real, made);
    if (made.kind === "tensor") this.tensors.push(made);
    else this.objects.push(made);
    return made;
  }

  #make(real: object, source: Source): TensorValue | ObjectValue {
    if (types.isProxy(real)) return this.#proxy(real, source);
    if (this.settings.isAmbient(real)) {
      const what = "ambient state of the library",
        value = new ObjectValue({ kind: "opaque", what }, null, real, source);
      if (source.kind !== "known") this.relyOnPrototype(value);
      return value;
    }
    // In this order: testing an object's class runs the traps of a proxy from which it inherits.
    if (Object.hasOwn(real, "layout") && real instanceof Tensor) {
      if (this.settings.isPlainTensor(real)) return this.#tensor(real, source);
      this.#guardPrototype(real, source, "Tensor");
      return new ObjectValue({ kind: "opaque", what: "a subclass of Tensor" }, null, real, source);
    }
    if (typeof real === "function") return this.#function(real, source);
    const prototype: object | null = Object.getPrototypeOf(real);
    if (inheritsFromTensor(prototype)) {
      this.#guardPrototype(real, source);
      const what = "an object that inherits from a tensor";
      return new ObjectValue({ kind: "opaque", what }, null, real, source);
    }
    const bytes = bytesOf(real, prototype, this.output);
    const exotic = bytes ?? exoticOf(real), value = new ObjectValue(exotic, null, real, source);
    value.variable = this.settings.variableOf(real);
    const made = exotic.kind === "opaque" || exotic.kind === "bytes"
      ? null
      : this.#madeAnew(prototype, source);
    if (exotic.kind === "bytes") {
      this.relyOnPrototype(value);
      this.output.guard({ kind: "bytes", source, type: exotic.type });
    } else if (types.isGeneratorObject(real)) {
      if (source.kind !== "known") this.output.guard({ kind: "generator", source });
    } else if (source.kind === "prototype") {
      this.output.guard({ kind: "madeBy", source, constructorText: constructorText(real) });
    } else if (made && !staysItself(real, source)) {
      this.output.guard({ kind: "object", source });
    } else if (source.kind === "argument" || source.kind === "this" || exotic.kind === "opaque") {
      this.relyOnPrototype(value);
    } else if (staysItself(real, source) && !this.isExchanged(real, source)) {
      this.output.guard({ kind: "identity", source, object: real, label: classLabel(prototype) });
    } else if (source.kind !== "known") this.output.guard({ kind: "object", source });
    if (exotic.kind === "opaque" && !exotic.isOrdinary) return value;
    // Set before the prototype is wrapped: a prototype chain may lead back here.
    this.#values.set(real, value);
    value.prototype = prototype && made ? this.#atPlace(prototype, made) : this.prototypeValue(prototype);
    return value;
  }

  #atPlace(prototype: object, place: Source): ObjectValue | null {
    const value = this.object(prototype, place);
    if (value.kind !== "object") return null;
    // Down to the first class that is the same in all calls
    this.relyOnPrototype(value);
    return value;
  }

  /**
   * The place of a prototype that functions of the program create anew, as those of classes and literals in them, once
   * objects with another prototype of the same text have been seen. Null: it is guarded by identity, as when a class
   * may have private members, which differ in each evaluation of it.
   */
  #madeAnew(prototype: object | null, source: Source): Source | null {
    if (isKnown(source)) return null;
    let isAnew: boolean | null = null, hasPrivates = false, place = source;
    for (let at = prototype; at && !types.isProxy(at) && !BUILTIN_OBJECTS.has(at);) {
      place = prototypeSource(place);
      // Caching the answer requires looking for the place
      this.output.rememberSource(place);
      const changes = this.settings.history.prototypeChanges(place.name, at);
      isAnew ??= changes;
      hasPrivates ||= constructorText(at)?.includes("#") ?? false;
      at = Object.getPrototypeOf(at);
    }
    return isAnew && !hasPrivates ? prototypeSource(source) : null;
  }

  /**
   * Relies on the prototype chain of an object. Properties that are found are guarded by their values, wherever they
   * are; this is for properties that are not found, for accessors and for `instanceof`.
   */
  relyOnPrototype(object: ObjectValue): void {
    const { real, source } = object;
    if (real === null || source === null || object.prototypeChanged) return;
    if ((source.kind === "known" && isSettled(real)) || inheritsAnew(object)) return;
    // Asking it runs the program's trap
    if (types.isProxy(real)) breakGraph("opaqueObject", "a proxy");
    this.#guardPrototype(real, source);
  }

  #guardPrototype(real: object, source: Source, called?: string): void {
    const prototype: object | null = Object.getPrototypeOf(real), label = called ?? classLabel(prototype);
    this.output.guard({ kind: "prototype", source, prototype, isArray: Array.isArray(real), label });
  }

  /** A prototype as a value. */
  prototypeValue(prototype: object | null): ObjectValue | null {
    if (prototype === null) return null;
    const value = this.known(prototype, `${classLabel(prototype)}.prototype`);
    return value.kind === "object" ? value : null;
  }

  /** A proxy that is the same in all calls is inspected; of others only the fact that they are proxies is known. */
  #proxy(real: object, source: Source): ObjectValue {
    const parts = this.isExchanged(real, source) ? null : this.settings.proxyParts(real);
    if (!parts) {
      this.output.guard({ kind: "proxy", source, present: true });
      return new ObjectValue({ kind: "opaque", what: "a proxy" }, null, real, source);
    }
    if (source.kind !== "known") {
      this.output.guard({ kind: "identity", source, object: real, label: "Proxy" });
    }
    const place = knownSource("proxy", real);
    this.output.guard({ kind: "unrevoked", source: place });
    const target = this.known(parts.target, "a proxy's target");
    const handler = this.known(parts.handler, "a proxy's handler");
    const proxy = target.kind === "object" && handler.kind === "object" ? { target, handler } : null;
    const exotic = { kind: "opaque", what: "a proxy", ...proxy && { proxy } } as const;
    return new ObjectValue(exotic, null, real, place);
  }

  /** A function that settles a promise: which promise does not matter. */
  #settler(real: object, source: Source, settles: string): ObjectValue {
    refuseToCache("a function that settles a promise");
    this.output.guard({
      kind: "constant",
      source: privateSource(source, "<settles>", SETTLES),
      value: settles,
    });
    const args = [UNDEFINED, constant(settles)];
    const exotic = { kind: "called", gives: "function", callee: UNDEFINED, self: UNDEFINED, args } as const;
    return this.#callable(exotic, real, source);
  }

  #function(real: object, source: Source): ObjectValue {
    const settles = settledBy(real);
    if (settles !== undefined && source.kind !== "known") return this.#settler(real, source, settles);
    const passed = isPassedIn(source), code = passed ? this.settings.codeOf(real) : null;
    const label = functionLabel(real), hasCode = code !== null && !isClass(real);
    const bound = hasCode || !passed ? null : this.settings.boundParts(real);
    if (bound) {
      const exotic = boundFunction(source, bound, {
        guard: (fact) => this.output.guard(fact),
        wrap: (part, place) => this.wrap(part, place),
      });
      return this.#callable(exotic, real, source);
    }
    const isAnew = !hasCode && passed && this.#isAnew(real, source, label);
    if (isAnew || (passed && this.changes.hasKinds("functions", source, hasCode ? code : real))) {
      this.output.guard({ kind: "function", source });
      return new ObjectValue(
        { kind: "opaque", what: `${label}, a function that changes between calls` },
        null,
        real,
        source,
      );
    }
    let at = source;
    if (hasCode) this.output.guard({ kind: "code", source, code });
    else if (source.kind !== "known") {
      this.output.guard({ kind: "identity", source, object: real, label });
      at = knownSource(label, real);
    }
    return this.#callable({ kind: "function", closure: null, definition: null }, real, at);
  }

  /** Returns whether there has been another one of its name and text: a class that is created in each call. */
  #isAnew(real: object, source: Source, label: string): boolean {
    const kind = `${label}, ${loadedText(real).length} characters`;
    return this.settings.history.functionChanges(source.name, real, kind);
  }

  #callable(exotic: ObjectValue["exotic"], real: object, source: Source): ObjectValue {
    const value = new ObjectValue(exotic, null, real, source);
    this.#values.set(real, value);
    value.prototype = this.prototypeValue(Object.getPrototypeOf(real));
    return value;
  }

  /** Returns the user's mark on a dimension: of this tensor, or of the parameter. */
  markAt(real: Tensor, { name }: Source, dim: number): DimensionMark | undefined {
    return markOf(real, dim) ?? this.settings.shapes.get(name)?.[dim];
  }

  /**
   * Returns whether a place that is passed in has held another object in another call: it is then not guarded by
   * identity, so that one version serves all modules of a class, once two have been seen.
   */
  isExchanged(real: object, source: Source): boolean {
    return isPassedIn(source) && this.settings.history.objectChanges(source.name, real);
  }

  #tensor(real: Tensor, source: Source): TensorValue | ObjectValue {
    const { output, settings } = this;
    const shape = [...real.shape], strides = [...real.stride()];
    const offset = real.storageOffset();
    const isParameter = settings.isParameter(real) && source.kind !== "argument";
    // Programs replace parameters of a module that they capture, too
    const fixed = isParameter && !settings.history.objectChanges(source.name, real);
    const place = fixed ? parameterSource(source, real) : source;
    if (fixed && source.kind !== "known") {
      output.guard({ kind: "identity", source, object: real, label: "Parameter" });
    }
    const changed = settings.history.shapeChanges(place.name, shape);
    const moved = settings.history.strideChanges(place.name, strides);
    output.rememberSource(place);
    const layout = output.sizes.createLayout(place.name, { shape, strides, offset }, {
      dynamic: (dim) => {
        if (settings.history.isFixed(place.name, dim)) return undefined;
        const mark = this.markAt(real, place, dim), said = saidOf(sourceText(place), dim, shape[dim] ?? 0);
        const isAny = mark === undefined && isSaidUnbacked(sourceText(place), dim);
        if (mark?.kind === "unbacked" || isAny) return "unbacked";
        if (mark?.kind === "dynamic") return { range: [Math.max(2, mark.min), mark.max], duck: false };
        if (mark?.kind === "static" || said === "static") return undefined;
        if (said === "dynamic") return {};
        if (isParameter || settings.dynamic === "never") return undefined;
        return settings.dynamic === "always" || changed[dim] || said === "value" ? {} : undefined;
      },
      dynamicStride: (dim) =>
        moved[dim] === true && !isParameter && settings.dynamic !== "never" &&
        !settings.history.isFixed(place.name),
    });
    const known = (d: Dim) => typeof d === "number" ? d : null;
    const prototype: object = Object.getPrototypeOf(real);
    const meta: TensorMeta = { ...layout, offset: 0, dtype: real.dtype, device: real.device };
    const value = new TensorValue(meta, real.requiresGrad, null, real, place);
    output.guard({
      kind: "tensor",
      source: place,
      expected: {
        prototype: place.kind === "known" ? null : prototype,
        layout: [...layout.shape, ...layout.strides].every((d) => typeof d === "number") ? real.layout : null,
        className: classLabel(prototype),
        dtype: real.dtype,
        device: real.device,
        requiresGrad: real.requiresGrad,
        shape: layout.shape.map(known),
        strides: layout.strides.map(known),
        marked: [
          ...layout.shape.flatMap((size, dim) => typeof size === "number" ? [] : [dim]),
          ...dimensionsMarked(real),
        ],
        methods: value.methods,
      },
    });
    return value;
  }
}

/**
 * Returns whether an object is guarded by identity, so that checks need not inspect it: modules are. A replaced module
 * has other parameters, unless it has none; programs may pass various modules without parameters.
 */
function staysItself(real: object, source: Source): boolean {
  return source.kind === "property" && isModule(real) && (!isPassedIn(source) || ownsParameter(real));
}

/** Returns whether an object inherits from one that differs in each call: a guard checks how that was created. */
export function inheritsAnew({ prototype }: ObjectValue): boolean {
  return prototype?.source?.kind === "prototype";
}

/** Returns whether a prototype is a tensor or inherits from one, which is not a value of the trace. */
function inheritsFromTensor(prototype: object | null): boolean {
  for (let at = prototype; at && !types.isProxy(at); at = Object.getPrototypeOf(at)) {
    if (Object.hasOwn(at, "layout") && at instanceof Tensor) return true;
  }
  return false;
}

/** Builtin objects whose prototypes never change. */
function isSettled(real: object): boolean {
  return types.isModuleNamespaceObject(real) || BUILTIN_OBJECTS.has(real);
}
