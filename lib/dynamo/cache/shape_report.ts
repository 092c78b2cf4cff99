/** Reports which sizes and numbers of the inputs each compiled version takes, and at which lines it has relied on them. */
import { showAsText } from "../../base/console_text.ts";
import type { DType } from "../../base/dtype.ts";
import type { SizeSource } from "../../sym/size_guards.ts";
import type { Fact, Guard } from "../guards/guard.ts";
import { factText } from "../guards/text.ts";
import { sourceText } from "../source.ts";
import type { Entry } from "./unit.ts";

/** A condition on sizes or numbers, as guards print it, and the program's line that needs it. */
export interface ShapeCondition {
  readonly text: string;
  /** `model.ts:8`; null if no line of the program does. */
  readonly place: string | null;
  /** The text of that line. */
  readonly code: string;
}

/** An input: an argument, or a part of one. */
export interface InputShape {
  /** Its name in guards: `L["x"]`. */
  readonly name: string;
  /** The type of a tensor; null for a number. */
  readonly dtype: DType | null;
  /** The sizes of a tensor, or the number, also where the program needs that one; null where calls may differ. */
  readonly sizes: readonly (number | null)[];
  /** The conditions that mention it. */
  readonly conditions: readonly ShapeCondition[];
}

/** The inputs of one compiled version. */
export interface ShapeReport {
  readonly inputs: readonly InputShape[];
  toString(): string;
}

/** The report of one version. */
export function shapeReport({ guards }: Pick<Entry, "guards">): ShapeReport {
  const needed = guards.flatMap(({ fact }) => neededBy(fact) ?? []);
  // Strides that are numbers follow from sizes that are
  const conditions = guards.filter(({ fact }) =>
    fact.kind === "expression" || fact.kind === "size" && neededBy(fact)?.part.kind !== "stride"
  ).map(conditionOf);
  const inputs = guards.flatMap(({ fact }) => {
    const input = inputOf(fact);
    if (!input?.name.startsWith("L[")) return [];
    const sizes = input.sizes.map((size, d) =>
      size ?? needed.find(({ base, part }) =>
        sourceText({ name: base }) === input.name &&
        (part.kind === "value" || part.kind === "shape" && part.dim === d)
      )?.value ?? null
    );
    return [{ ...input, sizes, conditions: conditions.filter(({ text }) => mentions(text, input.name)) }];
  });
  const report: ShapeReport = { inputs, toString: () => inputs.map(inputText).join("\n") };
  showAsText(report);
  return report;
}

/** A size or number that could change, and that the program needs to have one value; null for other facts. */
function neededBy(fact: Fact): (SizeSource & { readonly value: number }) | null {
  if (fact.kind !== "size" || fact.guard.kind !== "source") return null;
  const { source, equals } = fact.guard;
  return typeof equals === "number" ? { ...source, value: equals } : null;
}

/** `L["o"].m` is not part of `L["o"].mask`. */
function mentions(text: string, name: string): boolean {
  const at = text.indexOf(name);
  return at >= 0 && (!/[\w$]/.test(text[at + name.length] ?? "") || mentions(text.slice(at + 1), name));
}

function inputOf(fact: Fact): Omit<InputShape, "conditions"> | null {
  switch (fact.kind) {
    case "tensor":
      return { name: sourceText(fact.source), dtype: fact.expected.dtype, sizes: fact.expected.shape };
    case "constant":
      return typeof fact.value === "number"
        ? { name: sourceText(fact.source), dtype: null, sizes: [fact.value] }
        : null;
    case "integer":
      return { name: sourceText(fact.source), dtype: null, sizes: [null] };
    case "type":
      return fact.type === "number" ? { name: sourceText(fact.source), dtype: null, sizes: [null] } : null;
    default:
      return null;
  }
}

function conditionOf({ fact, user }: Guard): ShapeCondition {
  return { text: factText(fact), place: user && `${user.file}:${user.line}`, code: user?.code ?? "" };
}

function inputText({ name, dtype, sizes, conditions }: InputShape): string {
  const values = sizes.map((size) => size ?? "?").join(", ");
  const lines = conditions.map(({ text, place, code }) =>
    `  ${text}${place === null ? "" : `  # ${code} (${place})`}`
  );
  return [dtype === null ? `${name}: ${values}` : `${name}: ${dtype}[${values}]`, ...lines].join("\n");
}
