/**
 * Describes the value that a failed guard found, for reports of recompilations. Invariant: reading runs no user code,
 * because all earlier guards hold.
 */
import type { SourcePosition } from "../../graph/node.ts";
import { sourceText } from "../source.ts";
import { elsewhereText, foundText, tensorText, valueText } from "./found_values.ts";
import { hostText } from "../variables/host_number.ts";
import type { Fact, Guard, TensorExpectation } from "./guard.ts";
import { factText, hostLeafText } from "./text.ts";
import { type GuardReader, type RefusedCall, sizePlace, sizesIn, tensorAt } from "./guard_reader.ts";

/** The reason why one entry did not serve a call. */
export interface Mismatch {
  /** The place that differs, as guards print it; the guard itself if it concerns several. */
  readonly subject: string;
  /** The value that the entry was compiled for. */
  readonly expected: string;
  /** The value in the call; null if it has no short description. */
  readonly found: string | null;
  /**
   * The kind of change: a number, or sizes of an otherwise equal tensor, which could have been a symbol; "needed": it
   * was one, but the program needs a concrete value.
   */
  readonly change: "number" | "sizes" | "needed" | "other";
  /** The line of the program that needs it. */
  readonly user: Pick<SourcePosition, "code" | "file" | "line"> | null;
  /** The guard as text. */
  readonly guard: string;
}

/** Describes a failed guard. */
export function mismatchOf({ fact, user }: Guard, call: RefusedCall, reader: GuardReader): Mismatch {
  const guard = factText(fact), value = "source" in fact ? reader.read(fact.source, call) : undefined;
  const needed = neededNumber(fact, call, reader);
  if (needed) return { ...needed, change: "needed", user, guard };
  return {
    subject: subjectOf(fact),
    expected: expectedText(fact) ?? guard,
    found: "source" in fact ? foundText(fact, value) : elsewhereText(fact, call, reader),
    change: changeOf(fact, value),
    user,
    guard,
  };
}

/** A mismatch in one line: the guard, the value found, and the user's line. */
export function mismatchText({ guard, found, user }: Mismatch): string {
  const place = user ? `  # ${user.code} (${user.file}:${user.line})` : "";
  return `${guard}${found === null ? "" : `, found ${found}`}${place}`;
}

/** A size or number that the program needs to have one value, as a call had it; null for other facts. */
function neededNumber(
  fact: Fact,
  call: RefusedCall,
  reader: GuardReader,
): Pick<Mismatch, "subject" | "expected" | "found"> | null {
  if (fact.kind === "expression" && typeof fact.expected === "number") {
    const subject = hostText(fact.expression, hostLeafText);
    return { subject, expected: `${fact.expected}`, found: elsewhereText(fact, call, reader) };
  }
  if (fact.kind !== "size" || fact.guard.kind !== "source") return null;
  const { source, equals } = fact.guard;
  if (typeof equals !== "number") return null;
  const { place, value } = reader.size(source, call);
  return { subject: place, expected: `${equals}`, found: valueText(value) };
}

/** The place that a fact concerns; the fact itself if there are several. */
function subjectOf(fact: Fact): string {
  if ("source" in fact) return sourceText(fact.source);
  const [size] = fact.kind === "size" && fact.guard.kind === "range" ? sizesIn(fact) : [];
  return size ? sizePlace(size) : factText(fact);
}

function changeOf(fact: Fact, value: unknown): Mismatch["change"] {
  switch (fact.kind) {
    case "constant":
      return isGeneral(fact.value) && isGeneral(value) ? "number" : "other";
    case "tensor": {
      const tensor = tensorAt(value);
      return tensor && differsInSizes(fact.expected, tensor.meta, tensor.requiresGrad) ? "sizes" : "other";
    }
    default:
      return "other";
  }
}

/** Returns whether a number may become a symbol: 0, 1 and NaN select other programs. */
function isGeneral(value: unknown): boolean {
  return typeof value === "number" && value !== 0 && value !== 1 && !Number.isNaN(value);
}

function differsInSizes(
  expected: TensorExpectation,
  found: Pick<TensorExpectation, "dtype" | "device"> & { readonly shape: readonly unknown[] },
  requiresGrad: boolean,
): boolean {
  return expected.dtype === found.dtype && expected.device === found.device &&
    expected.requiresGrad === requiresGrad && expected.shape.length === found.shape.length &&
    expected.shape.some((size, d) => size !== null && size !== found.shape[d]);
}

/** Returns the requirement of a guard without its place; null if only the whole guard expresses it. */
function expectedText(fact: Fact): string | null {
  switch (fact.kind) {
    case "constant":
      return valueText(fact.value);
    case "tensor": {
      const { dtype, device, shape, strides, requiresGrad } = fact.expected;
      const sizes = (list: readonly (number | null)[]) => `[${list.map((each) => each ?? "any").join(", ")}]`;
      return tensorText({ dtype, device, requiresGrad, sizes: `${sizes(shape)}${sizes(strides)}` });
    }
    case "array":
      return `${fact.length} elements`;
    case "timeZone":
      return fact.setting;
    case "argumentCount":
      return `${fact.count} arguments`;
    case "keys":
      return `[${[...fact.keys, ...fact.symbols.map(String)].join(", ")}]`;
    case "integer":
      return "an integer";
    case "type":
      return `a ${fact.type}`;
    case "madeBy":
      return fact.constructorText ?? "an object without a constructor";
    case "generator":
      return "a generator";
    case "engineState":
      return fact.state === null ? "an object of the program" : `an object of class ${fact.state}`;
    case "bytes":
      return fact.type;
    case "code":
      return `function ${fact.code.name || "<anonymous>"}`;
    case "identity":
    case "prototype":
      return fact.label;
    default:
      return null;
  }
}

/** Characters at the ends of a text that is too long to be read. */
const ENDS = 120;

/** Leaves out the middle of a long text, such as the place of an object that hundreds of steps lead to. */
function readable(text: string): string {
  return text.length > 3 * ENDS ? `${text.slice(0, ENDS)} … ${text.slice(-ENDS)}` : text;
}

/** Lists the changing values for the message about too many versions: by place, the most frequent first. */
export function changesText(mismatches: readonly Mismatch[]): string[] {
  const bySubject = Map.groupBy(mismatches, ({ subject }) => subject);
  return [...bySubject.values()].toSorted((a, b) => b.length - a.length).map((list) => {
    const [first] = list;
    if (!first) return "";
    const { subject, found, user, guard } = first;
    const expected = [...new Set(list.map((each) => readable(each.expected)))];
    const shown = expected.slice(0, 4).join(", ") + (expected.length > 4 ? ", …" : "");
    const now = found === null ? "" : `, now ${readable(found)}`;
    const place = user ? `\n    ${user.code} (${user.file}:${user.line})` : "";
    const named = readable(subject);
    const what = subject === guard ? `${named}${now}` : `${named}: ${shown}${now}`;
    return `${what}${list.length > 1 ? ` (differs from ${list.length} versions)` : ""}${place}`;
  });
}
