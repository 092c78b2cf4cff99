/** Guards as text, in the style of PyTorch's. Invariant: printing a guard runs no code of the program. */
import { types } from "node:util";
import { type CellPlace, type Source, sourceText } from "../source.ts";
import { type HostLeaf, hostText } from "../variables/host_number.ts";
import { primitiveText } from "../variables/primitive.ts";
import { flagsText } from "./flags.ts";
import { ANY_KEY, type Fact, type Guard, type ObjectFact, type TensorExpectation } from "./guard.ts";

/** A guard as text: its fact and the user's line that needs it. */
export function guardText({ fact, user }: Guard): string {
  return `${factText(fact)}${user ? `  # ${user.code} (${user.file}:${user.line})` : ""}`;
}

/** A fact as text. */
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
    case "same":
      return `${sourceText(fact.source)} === ${sourceText(fact.other)}`;
    case "apart":
      return `___own_memory(${sourceText(fact.source)}, [${textOf(fact.others)}])`;
    case "elsewhere":
      return `___other_memory(${sourceText(fact.source)}, [${textOf(fact.others)}])`;
    case "distinct": {
      const members = textOf(fact.members), others = textOf(fact.others);
      return `___check_no_aliasing(${others === "" ? members : `[${members}], [${others}]`})`;
    }
    case "tensor":
      return tensorText(fact.source, fact.expected);
    case "leaf": {
      const hooks = [...fact.hooks.before, ...fact.hooks.after].map((hook) => functionName(hook));
      return `___check_leaf(${[sourceText(fact.source), ...hooks].join(", ")})`;
    }
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
    case "globalState":
      return `___check_global_state(grad=${fact.state.gradEnabled}, dtype=${fact.state.defaultDtype}, ` +
        `device=${fact.state.defaultDevice}${fact.state.autocast && `, autocast=${fact.state.autocast}`}${
          fact.state.savedTensorsHooks ? ", saved_tensors_hooks" : ""
        })`;
    default:
      return objectText(fact, sourceText(fact.source));
  }
}

/** A fact about the members or the state of an object, which is called `object`. */
function objectText(fact: ObjectFact, object: string): string {
  switch (fact.kind) {
    case "keys": {
      const keys = [...fact.keys.map((k) => JSON.stringify(k)), ...fact.symbols.map(String)];
      return `${fact.which === "all" ? "Reflect.ownKeys" : "Object.keys"}(${object}) === [${
        keys.join(", ")
      }]`;
    }
    case "ownKey":
      return `${fact.present ? "" : "!"}Object.hasOwn(${object}, ${keyText(fact.key)})`;
    case "writable":
      return `___is_writable(${object}, ${keyText(fact.key)})`;
    case "writableAt":
      return `___is_writable(${object}, ${hostText(fact.at, hostLeafText)})`;
    case "flags":
      return `___check_flags(${object}, ${keyText(fact.key)}, ${flagsText(fact.flags)})`;
    case "accessor":
      return `___check_accessor(${object}, ${keyText(fact.key)})`;
    case "entries": {
      const keys = fact.keys.map((k) => k === ANY_KEY ? "…" : primitiveText(k));
      return `[...${object}.keys()] === [${keys.join(", ")}]`;
    }
    case "code":
      return `___check_code(${object}, ${fact.code.name || "<anonymous>"})`;
    case "proxy":
      return `${fact.present ? "" : "!"}___is_proxy(${object})`;
    case "madeBy": {
      const text = (fact.constructorText ?? "none").split("\n", 1).join();
      return `___check_constructor(${object}, ${JSON.stringify(text)})`;
    }
    case "generator":
      return `___is_generator(${object})`;
    case "engineState":
      return `___engine_state(${object}) === ${fact.state}`;
    case "cloneable":
      return `___is_cloneable(${object})`;
    case "unboxed":
      return `!___is_boxed(${object})`;
    case "unrevoked":
      return `!___is_revoked(${object})`;
    case "extensible":
      return `${fact.present ? "" : "!"}Object.isExtensible(${object})`;
    case "integrity":
      return `Object.${fact.level === "frozen" ? "isFrozen" : "isSealed"}(${object})`;
    case "bytes":
      return `___shows_bytes(${object}, ${fact.type})`;
    case "memory":
      return `___lies_apart(${object}, ${sourceText(fact.other)}, ${fact.apart ?? "any"})`;
    default:
      return fact satisfies never;
  }
}

const textOf = (sources: readonly Source[]): string => sources.map(sourceText).join(", ");

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
