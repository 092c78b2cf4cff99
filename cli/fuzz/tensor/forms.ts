/**
 * The forms in which a program may call the ops: one entry for each method, in-place method and function of the public
 * module. Invariant: only public forms are called, so that a user could write every program; a new op is included
 * automatically.
 */
import * as dyn from "../../../mod.ts";
import { isMethod } from "../../../lib/ops/api.ts";
import { COMPLEX_FUNCTION_NAMES } from "../../../lib/ops/complex/functions.ts";
import type { OpDefinition } from "../../../lib/ops/definition.ts";
import { ALL_OPS } from "../../../lib/ops/table.ts";
import { ops } from "../../../lib/tensor/eager.ts";

/** One way to call an op. */
export interface Form {
  readonly definition: OpDefinition;
  readonly style: "method" | "function";
  /** "add", "add_", "cat", "nn.functional.relu". */
  readonly name: string;
  /** Whether it writes into its first argument and returns it. */
  readonly inplace: boolean;
}

/** Ops that random calls exclude, and why. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  empty: "its elements are what memory held",
  emptyLike: "its elements are what memory held",
  newEmpty: "its elements are what memory held",
  toDevice: "moves between devices, which the tiers choose",
  asStrided: "may leave the memory; made by view_calls.ts, which knows the bounds",
  asStridedCopy: "may leave the memory",
  asStridedScatter: "may leave the memory",
  pcaLowrank: "what it centres has a singular value of 0 where there are few rows, and no gradient there",
};

const NAMESPACES: readonly (readonly [prefix: string, members: object])[] = [
  ["", dyn],
  ["nn.functional.", dyn.nn.functional],
  ["linalg.", dyn.linalg],
  ["special.", dyn.special],
];

/** Public names of each function over tensors. */
function publicNames(): ReadonlyMap<unknown, readonly string[]> {
  const names = new Map<unknown, string[]>();
  for (const [prefix, members] of NAMESPACES) {
    for (const [name, value] of Object.entries(members)) {
      if (typeof value !== "function") continue;
      const known = names.get(value);
      if (known) known.push(prefix + name);
      else names.set(value, [prefix + name]);
    }
  }
  return names;
}

function formsOf(definition: OpDefinition, functions: ReadonlyMap<unknown, readonly string[]>): Form[] {
  const { name } = definition;
  if (name in LEFT_OUT) return [];
  const forms: Form[] = [];
  const has = (method: string) => typeof Reflect.get(dyn.Tensor.prototype, method) === "function";
  const isOnTensors = isMethod(definition);
  for (const each of [name, ...(definition.exposure?.aliases ?? [])]) {
    if (isOnTensors && has(each)) forms.push({ definition, style: "method", name: each, inplace: false });
    if (definition.inplace && has(`${each}_`)) {
      forms.push({ definition, style: "method", name: `${each}_`, inplace: true });
    }
  }
  for (const each of functions.get(Reflect.get(ops, name)) ?? []) {
    forms.push({ definition, style: "function", name: each, inplace: false });
  }
  return forms;
}

function allForms(): readonly Form[] {
  const functions = publicNames();
  return ALL_OPS.flatMap((definition) => formsOf(definition, functions));
}

/** Every form of every op. */
export const FORMS: readonly Form[] = allForms();

/** The forms that write into their first argument. */
export const INPLACE_FORMS: readonly Form[] = FORMS.filter(({ inplace }) => inplace);

/** Ops of complex tensors besides elementwise functions. */
const OF_COMPLEX: ReadonlySet<string> = new Set([
  ...COMPLEX_FUNCTION_NAMES,
  ..."abs angle real imag conj conjPhysical viewAsReal sgn add sub mul div pow reciprocal square neg".split(
    " ",
  ),
  ..."sum mean prod cumsum matmul where maskedFill lerp addcmul copy_ norm isfinite eq".split(" "),
]);

/** Forms whose calls usually take complex tensors. */
export const COMPLEX_FORMS: readonly Form[] = FORMS.filter(({ definition }) =>
  OF_COMPLEX.has(definition.name)
);

/** Forms by op, those with kernels of their own three times as often as compositions. */
export function weightedOps(forms: readonly Form[]): readonly (readonly [number, readonly Form[]])[] {
  return [...Map.groupBy(forms, ({ definition }) => definition)].map(([{ implementation }, own]) =>
    [implementation.kind === "lower" ? 3 : 1, own] as const
  );
}
