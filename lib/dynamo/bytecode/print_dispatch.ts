/**
 * Prints control flow as a loop around a switch, for code whose loops have several entries.
 *
 * Invariant: `$pc` is the number of the running piece of code, so that a handler knows where an exception was thrown.
 */
import type { CodeObject } from "./code.ts";
import type { Offset } from "./instruction.ts";
import { handlersAt, successors } from "./effects.ts";
import { blockStarts } from "./flow.ts";
import { Folder } from "./fold.ts";
import type { FunctionNames } from "./print_names.ts";
import { suspension } from "./print_suspend.ts";
import { render, type Statement } from "./statement_tree.ts";
import type { PrintOptions } from "./print_types.ts";

/** Statements that run the code from `entry`. */
export function dispatchStatements(
  code: CodeObject,
  entry: Offset,
  context: { readonly names: FunctionNames; readonly options: PrintOptions },
): readonly Statement[] {
  const { names } = context;
  const starts = [...blockStarts(code, entry)].sort((a, b) => a - b);
  const lines: string[] = [];
  const catches = new Map<Offset, { readonly blocks: Offset[]; readonly register: string }>();
  const seen = new Set<Offset>();
  const work = [entry];
  for (let at = work.pop(); at !== undefined; at = work.pop()) {
    if (seen.has(at) || at >= code.instructions.length) continue;
    seen.add(at);
    const start = at;
    const end = starts.find((s) => s > start) ?? code.instructions.length;
    const handler = handlersAt(code, start)[0];
    if (handler) {
      const list = catches.get(handler.target) ?? { blocks: [], register: names.target(handler.register) };
      list.blocks.push(start);
      catches.set(handler.target, list);
      work.push(handler.target);
    }
    work.push(...successors(code, end - 1));
    lines.push(`case ${start}: {`, ...render(piece(code, { start, end }, context), "  "), "}");
  }
  const handlers: string[] = [];
  for (const [target, { blocks, register }] of catches) {
    handlers.push(
      ...blocks.map((b) => `case ${b}:`),
      `  ${register} = $e;`,
      `  $pc = ${target};`,
      "  break;",
    );
  }
  names.declare("$pc");
  const whole = ["switch ($pc) {", ...lines, "}"];
  const body = handlers.length === 0 ? whole : [
    "try {",
    ...whole.map((l) => `  ${l}`),
    "} catch ($e) {",
    "  switch ($pc) {",
    ...handlers.map((l) => `    ${l}`),
    "    default: throw $e;",
    "  }",
    "}",
  ];
  return [
    names.text(`$pc = ${entry};`),
    names.text(["$pieces: for (;;) {", ...body.map((l) => `  ${l}`), "}"].join("\n"), true),
  ];
}

function piece(
  code: CodeObject,
  range: { readonly start: Offset; readonly end: Offset },
  context: { readonly names: FunctionNames; readonly options: PrintOptions },
): readonly Statement[] {
  const { names, options } = context;
  const folder = new Folder(code, names, range.end);
  const go = (
    to: Offset,
  ): readonly Statement[] => [names.text(`$pc = ${to};`), { kind: "continue", label: "$pieces" }];
  for (let at = range.start; at < range.end; at++) {
    const i = code.instructions[at];
    if (!i) break;
    switch (i.op) {
      case "jump":
        return [...folder.finish(), ...go(i.target)];
      case "jumpIf": {
        const { yes, no } = folder.condition(i.condition, i.test);
        return [
          ...folder.finish(),
          { kind: "if", condition: yes, negated: no, then: go(i.target), otherwise: [] },
          ...go(at + 1),
        ];
      }
      case "return":
      case "throw": {
        const { text } = folder.operand(i.src);
        return [...folder.finish(), names.text(`${i.op} ${text};`, true)];
      }
      case "yield":
      case "yieldDelegate": {
        const printed = suspension(code, i, { at, folder, names, options, go });
        if (printed) return printed;
        folder.add(i, at);
        break;
      }
      default:
        folder.add(i, at);
        if (i.op === "throwError") return folder.finish();
    }
  }
  return [...folder.finish(), ...go(range.end)];
}
