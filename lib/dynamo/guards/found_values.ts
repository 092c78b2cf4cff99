/**
 * Describes briefly the value for which a guard failed; null if the guard's text suffices. Invariant: no user code
 * runs: no getter, no trap of a proxy.
 */
import { types } from "node:util";
import { keysOf, membersOf } from "../../base/collections.ts";
import { metaText } from "../../graph/print.ts";
import { ambientState } from "../ambient.ts";
import { timeZoneSetting } from "../../base/locale.ts";
import { engineState } from "./engine_state.ts";
import { flagsText } from "./flags.ts";
import type { Fact } from "./guard.ts";
import { functionName, hostLeafText } from "./text.ts";
import { type GuardReader, type RefusedCall, sizesIn, tensorAt } from "./guard_reader.ts";
import { dimensionsMarked } from "../cache/dimension_marks.ts";
import { type HostExpression, type HostLeaf, operandsOf } from "../variables/host_number.ts";
import { bytesClass } from "./bytes.ts";
import { sourceText } from "../source.ts";

/** Facts about one place, and facts about several or none. */
type PlaceFact = Extract<Fact, { readonly source: unknown }>;
type OtherFact = Exclude<Fact, PlaceFact>;

/** Describes a call's value at the place of a guard. */
export function foundText(fact: PlaceFact, value: unknown): string | null {
  switch (fact.kind) {
    case "tensor": {
      const tensor = tensorAt(value);
      if (!tensor) return valueText(value);
      const { device, requiresGrad, meta } = tensor;
      const { dtype } = meta;
      const unknown = dimensionsMarked(tensor).filter((dim) => !fact.expected.marked.includes(dim));
      const sizes = metaText(meta).replace(/^[^[]*/, "");
      const marked = unknown.length > 0 ? ` of which dimension ${unknown.join(", ")} is marked` : "";
      const frozen = fact.expected.requiresGrad && !requiresGrad ? " that does not require grad" : "";
      return tensorText({ dtype, device, requiresGrad, sizes }) + frozen + marked;
    }
    case "engineState":
      return (isLooked(value) && engineState(value)) || valueText(value);
    case "array":
      return isLooked(value) && Array.isArray(value) ? `${value.length} elements` : valueText(value);
    case "keys":
      return keysText(value, fact.which);
    case "entries":
      return entriesText(value);
    case "ownKey":
      return fact.present ? `no ${String(fact.key)}` : `a property ${String(fact.key)}`;
    case "writable":
    case "flags":
    case "accessor":
      return propertyText(value, fact.key);
    case "writableAt":
      return "an element that cannot be replaced";
    case "proxy":
      return types.isProxy(value) ? "a proxy" : valueText(value);
    case "cloneable":
      return "an object that structuredClone refuses, or calls functions of";
    case "unboxed":
      return "a boxed primitive";
    case "unrevoked":
      return "a revoked proxy";
    case "extensible":
    case "integrity":
      return integrityText(value);
    case "leaf":
      return tensorAt(value)?.gradFn === null ? "a tensor with hooks" : "a tensor with a history";
    case "made":
      return "a leaf, or a view of one";
    case "apart":
    case "elsewhere":
      return "shared memory";
    case "memory":
      return "memory that lies otherwise";
    case "bytes":
      return bytesClass(value) ?? valueText(value);
    case "same":
      return "two objects";
    case "constant":
    case "integer":
    case "type":
    case "object":
    case "generator":
    case "madeBy":
    case "function":
    case "list":
    case "elements":
    case "prototype":
      return valueText(value);
    case "code": {
      const found = valueText(value);
      return found === `function ${fact.code.name || "<anonymous>"}` ? `another ${found}` : found;
    }
    case "identity": {
      const found = valueText(value), tensor = tensorAt(value);
      if (tensor) return `another tensor ${metaText(tensor.meta)}`;
      return found === fact.label || found === `function ${fact.label}` ? `another ${found}` : found;
    }
    default:
      return fact satisfies never;
  }
}

/** Describes a call for guards about several places, or none. */
export function elsewhereText(fact: OtherFact, call: RefusedCall, reader: GuardReader): string | null {
  switch (fact.kind) {
    case "timeZone":
      return timeZoneSetting();
    case "argumentCount":
      return `${call.args.length}`;
    case "size":
      return sizesIn(fact).map((size) => {
        const { place, value } = reader.size(size, call);
        return `${place} = ${valueText(value)}`;
      }).join(", ");
    case "expression":
      return leavesOf(fact.expression).map((leaf) => {
        const value = reader.read(leaf.source, call), tensor = tensorAt(value);
        if (leaf.kind === "element") return `${hostLeafText(leaf)} = another number`;
        const size = leaf.kind === "source" || !tensor
          ? value
          : (leaf.part === "shape" ? tensor.shape : tensor.stride())[leaf.dim];
        return `${hostLeafText(leaf)} = ${valueText(size)}`;
      }).join(", ");
    case "sameCell":
      return "two variables";
    case "distinctCells":
      return "one variable";
    case "distinct":
      return "one object";
    case "globalState": {
      const now = ambientState(), texts: string[] = [];
      for (const [name, value] of Object.entries(now)) {
        const expected: unknown = Reflect.get(fact.state, name);
        if (value !== expected) texts.push(`${name} ${valueText(value)} instead of ${valueText(expected)}`);
      }
      for (const { prototype, key, method } of fact.methods) {
        const found = Reflect.getOwnPropertyDescriptor(prototype, key);
        if (found?.value !== method) texts.push(`another method ${String(key)}`);
      }
      return texts.join(", ") || null;
    }
    default:
      return fact satisfies never;
  }
}

type Leaf = Extract<HostLeaf, { source: unknown }>;

/** Returns the places that an expression reads, without duplicates. */
function leavesOf(expression: HostExpression): Leaf[] {
  const found = new Map<string, Leaf>(), seen = new Set<HostExpression>();
  const visit = (each: HostExpression): void => {
    if (each.kind === "shared") {
      if (seen.has(each)) return;
      seen.add(each);
      return visit(each.of);
    }
    if (each.kind === "ranked") {
      if (seen.has(each.ranking.order)) return;
      seen.add(each.ranking.order);
      return [...each.ranking.columns.flat(), each.ranking.order].forEach(visit);
    }
    operandsOf(each).forEach(visit);
    if (each.kind === "element") found.set(hostLeafText(each), each);
    if (each.kind === "source" || each.kind === "tensorSize") {
      found.set(`${sourceText(each.source)} ${hostLeafText(each)}`, each);
    }
  };
  visit(expression);
  return [...found.values()];
}

function isLooked(value: unknown): value is object {
  return ((typeof value === "object" && value !== null) || typeof value === "function") &&
    !types.isProxy(value);
}

function keysText(value: unknown, which: "enumerable" | "all"): string {
  if (!isLooked(value)) return valueText(value);
  const keys = which === "all" ? Reflect.ownKeys(value) : Object.keys(value);
  return `[${keys.map(String).join(", ")}]`;
}

function entriesText(value: unknown): string {
  const isMap = types.isMap(value);
  if (!isMap && !types.isSet(value)) return valueText(value);
  return `[${(isMap ? keysOf(value) : membersOf(value)).map(valueText).join(", ")}]`;
}

function propertyText(value: unknown, key: string | symbol): string {
  if (!isLooked(value)) return valueText(value);
  const found = Reflect.getOwnPropertyDescriptor(value, key);
  if (!found) return `no ${String(key)}`;
  const { writable = null, enumerable = false, configurable = false } = found;
  return flagsText({ writable, enumerable, configurable });
}

function integrityText(value: unknown): string {
  if (!isLooked(value)) return valueText(value);
  if (Object.isFrozen(value)) return "a frozen object";
  if (Object.isSealed(value)) return "a sealed object";
  return Object.isExtensible(value) ? "an extensible object" : "an object that is not extensible";
}

/** A tensor's metadata in a few words. */
export function tensorText(
  { dtype, device, requiresGrad, sizes }: {
    readonly dtype: string;
    readonly device: string;
    readonly requiresGrad: boolean;
    readonly sizes: string;
  },
): string {
  return `${dtype}${sizes}${device === "cpu" ? "" : ` on ${device}`}${
    requiresGrad ? " that requires grad" : ""
  }`;
}

/** A value in a few words. */
export function valueText(value: unknown): string {
  if (typeof value === "string") {
    return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  }
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "function") return `function ${functionName(value)}`;
  if (typeof value === "object" && value !== null) {
    if (types.isProxy(value)) return "a proxy";
    const tensor = tensorAt(value);
    if (tensor) return `a tensor ${metaText(tensor.meta)}`;
    const prototype: unknown = Object.getPrototypeOf(value);
    const maker: unknown = isLooked(prototype)
      ? Object.getOwnPropertyDescriptor(prototype, "constructor")?.value
      : null;
    return (typeof maker === "function" && functionName(maker, "")) || "an object";
  }
  return Object.is(value, -0) ? "-0" : String(value);
}
