/**
 * What a failed guard found instead of what it expected, for reports of recompilations. Input: a guard that is the
 * first to fail for a call, and the call; output: texts. Invariant: reading runs no user code, because the guards
 * before the failed one hold.
 */
import { metaText } from "../../graph/print.ts";
import { isTensor } from "../../tensor/tensor.ts";
import { type Source, sourceText } from "../source.ts";
import { type Fact, factText, type Guard } from "./guard.ts";
import { type CapturedReader, Constants, SourceReader } from "./reader.ts";

/** A call that a check refused. */
export interface RefusedCall {
  readonly self: unknown;
  readonly args: readonly unknown[];
}

/** Reads a source in a call; undefined where that throws. */
export type Read = (source: Source, call: RefusedCall) => unknown;

/** Makes the reader of an entry. */
export function sourceReads(readCaptured: CapturedReader): Read {
  return (source, { self, args }) => {
    const constants = new Constants();
    const lines: string[] = [];
    let next = 0;
    const reader = new SourceReader(
      (line) => lines.push(line),
      constants,
      (index) => `args[${index}]`,
      "self",
      readCaptured,
      () => `v${next++}`,
    );
    const value = reader.read(source);
    const read = constants.evaluate(`function (self, args) {\n${lines.join("\n")}\nreturn ${value};\n}`);
    try {
      return typeof read === "function" ? read(self, args) : undefined;
    } catch {
      return undefined;
    }
  };
}

/** What kept one call from being served by one entry. */
export interface Mismatch {
  /** The place that differs, as guards print it; the guard itself where it is about several. */
  readonly subject: string;
  /** What the entry was compiled for. */
  readonly expected: string;
  /** What the call has there; null where that cannot be said in short. */
  readonly found: string | null;
  /** The line of the program that needs it. */
  readonly user: { readonly code: string; readonly file: string; readonly line: number } | null;
  /** The guard as text. */
  readonly guard: string;
}

/** Describes a failed guard. */
export function mismatchOf({ fact, user }: Guard, call: RefusedCall, read: Read): Mismatch {
  const guard = factText(fact);
  const found = "source" in fact ? foundText(fact, read(fact.source, call)) : null;
  return {
    subject: "source" in fact ? sourceText(fact.source) : guard,
    expected: expectedText(fact) ?? guard,
    found,
    user,
    guard,
  };
}

/** A mismatch in a line: the guard, what was found, and the user's line. */
export function mismatchText({ guard, found, user }: Mismatch): string {
  const place = user ? `  # ${user.code} (${user.file}:${user.line})` : "";
  return `${guard}${found === null ? "" : `, found ${found}`}${place}`;
}

/** What a guard demands, apart from where; null where only the whole guard says it. */
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
    case "identity":
    case "prototype":
      return fact.label;
    default:
      return null;
  }
}

/** What a call has at the place that a guard is about. */
function foundText(fact: Fact, value: unknown): string | null {
  switch (fact.kind) {
    case "constant":
    case "integer":
    case "number":
      return valueText(value);
    case "tensor": {
      if (!isTensor(value)) return valueText(value);
      const { device, requiresGrad, meta } = value;
      const { dtype } = meta;
      return tensorText({ dtype, device, requiresGrad, sizes: metaText(meta).replace(/^[^[]*/, "") });
    }
    case "array":
      return Array.isArray(value) ? `${value.length} elements` : valueText(value);
    case "identity":
    case "prototype":
      return valueText(value);
    default:
      return null;
  }
}

function tensorText(
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
function valueText(value: unknown): string {
  if (typeof value === "string") {
    return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  }
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "function") return `function ${value.name || "<anonymous>"}`;
  if (typeof value === "object" && value !== null) {
    if (isTensor(value)) return `a tensor ${metaText(value.meta)}`;
    const prototype: unknown = Object.getPrototypeOf(value);
    const maker: unknown = prototype === null
      ? null
      : Object.getOwnPropertyDescriptor(prototype, "constructor")?.value;
    return `${typeof maker === "function" && maker.name !== "" ? maker.name : "an object"}`;
  }
  return Object.is(value, -0) ? "-0" : String(value);
}

/** What kept changing, for the message that a function has too many versions: by place, the most frequent first. */
export function changesText(mismatches: readonly Mismatch[]): string[] {
  const bySubject = Map.groupBy(mismatches, ({ subject }) => subject);
  return [...bySubject.values()].toSorted((a, b) => b.length - a.length).map((list) => {
    const [first] = list;
    if (!first) return "";
    const { subject, found, user, guard } = first;
    const expected = [...new Set(list.map((each) => each.expected))];
    const shown = expected.slice(0, 4).join(", ") + (expected.length > 4 ? ", …" : "");
    const now = found === null ? "" : `, now ${found}`;
    const place = user ? `\n    ${user.code} (${user.file}:${user.line})` : "";
    const what = subject === guard ? subject : `${subject}: ${shown}${now}`;
    return `${what}${list.length > 1 ? ` (differs from ${list.length} versions)` : ""}${place}`;
  });
}
