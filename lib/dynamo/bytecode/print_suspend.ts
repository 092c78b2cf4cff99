/**
 * Prints yields of generators that must detect return(): the value passes through `yield*` over a helper that records
 * it.
 *
 * Invariant: in generated code only `yield*` shows what return() was called with.
 */
import type { CodeObject } from "./code.ts";
import type { InstructionOf } from "./instruction.ts";
import type { Folder } from "./fold.ts";
import type { FunctionNames } from "./print_names.ts";
import type { Statement } from "./statement_tree.ts";

export interface SuspensionParts {
  /** The whole statement, if return() need not be detected. */
  readonly plain: string;
  readonly before: readonly Statement[];
  readonly body: readonly Statement[];
  /** Whether return() ended the wait. */
  readonly condition: string;
  readonly onReturn: readonly Statement[];
}

/** Prints a suspension. `suspended`: the yield has already happened, so nothing is yielded. */
export function suspension(
  code: CodeObject,
  i: InstructionOf<"yield"> | InstructionOf<"yieldDelegate">,
  at: { readonly folder: Folder; readonly names: FunctionNames; readonly suspended: boolean },
): SuspensionParts {
  const { folder, names, suspended } = at;
  const dst = names.target(i.dst);
  const keeper = names.target(i.dst) + "$wait";
  names.declare(keeper);
  let source: string;
  if (suspended) source = i.op === "yield" ? "$rt.suspension(undefined)" : "$rt.suspension(undefined)";
  else if (i.op === "yield") {
    const { text } = folder.operand(i.src);
    source = `$rt.suspension(${code.async ? `await (${text})` : text})`;
  } else source = `$rt.delegation(${folder.operand(i.source).text}, ${code.async})`;
  return {
    plain: `${dst} = yield;`,
    before: [names.text(`${keeper} = ${source};`)],
    body: [names.text(`${dst} = yield* ${keeper};`)],
    condition: `${keeper}.returned`,
    onReturn: [names.text(`${dst} = ${keeper}.value;`)],
  };
}
