/**
 * Prints yields of generators that must detect return(): the value passes through `yield*` over a helper that records
 * it.
 *
 * Invariant: in generated code only `yield*` shows what return() was called with.
 */
import type { CodeObject } from "./code.ts";
import type { InstructionOf, Offset } from "./instruction.ts";
import type { Folder } from "./fold.ts";
import type { FunctionNames } from "./print_names.ts";
import type { PrintOptions } from "./print_types.ts";
import type { Statement } from "./statement_tree.ts";

/** The place of a suspension. */
interface Place {
  readonly at: Offset;
  readonly folder: Folder;
  readonly names: FunctionNames;
  readonly options: PrintOptions;
  /** Statements that continue at an offset. */
  readonly go: (to: Offset) => readonly Statement[];
}

/**
 * Prints a suspension and what follows it; null if it is an expression like any other. If the code starts at it, the
 * yield has already happened, so nothing is yielded.
 */
export function suspension(
  code: CodeObject,
  i: InstructionOf<"yield"> | InstructionOf<"yieldDelegate">,
  { at, folder, names, options, go }: Place,
): readonly Statement[] | null {
  const suspended = options.suspended === true && at === options.entry;
  if (i.onReturn === null && !suspended) return null;
  const dst = names.target(i.dst), keeper = `${dst}$wait`;
  names.declare(keeper);
  let source = "$rt.suspension(undefined)";
  if (!suspended && i.op === "yield") {
    const { text } = folder.operand(i.src);
    source = `$rt.suspension(${code.async ? `await (${text})` : text})`;
  } else if (!suspended && i.op === "yieldDelegate") {
    source = `$rt.delegation(${folder.operand(i.source).text}, ${code.async})`;
  }
  const returned = i.onReturn === null ? null : go(i.onReturn), rest = go(at + 1), before = folder.finish();
  // Nothing needs to know whether return() ended the wait
  if (returned === null) return [...before, names.text(`${dst} = yield;`), ...rest];
  return [
    ...before,
    names.text(`${keeper} = ${source};`),
    {
      kind: "suspend",
      body: [names.text(`${dst} = yield* ${keeper};`)],
      condition: `${keeper}.returned`,
      returned: [names.text(`${dst} = ${keeper}.value;`), ...returned],
    },
    ...rest,
  ];
}
