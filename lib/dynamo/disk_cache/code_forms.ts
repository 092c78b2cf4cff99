/**
 * Serialises code objects, by the functions that contain them, resume plans, and the functions that generated code
 * calls. Invariant: code is located by its text, which the journal compares.
 */
import type { Plain } from "../../base/recording.ts";
import { portableAddress } from "../../base/portable_addresses.ts";
import { flag, list, number as count, oneOf, text } from "../../sym/stored/codec.ts";
import { DamagedForm, listIn, NotStorable, numberIn, textIn } from "../../sym/stored/forms.ts";
import type { CodeObject } from "../bytecode/code.ts";
import { type FrameRules, NO_RULES } from "../functions/frame_rules.ts";
import { codesOf, type FunctionInfo } from "../functions/functions.ts";
import { knowledge } from "../functions/knowledge.ts";
import type { ClosureShape, OwnRecipe, Running } from "../resume/made_functions.ts";
import {
  type Parameter,
  type PlannedCompletion,
  type PlannedFrame,
  type PlannedRegion,
  planOf,
  type ResumePlan,
} from "../resume/resume_plan.ts";
import type { RegionModes } from "../../tensor/modes.ts";
import type { FrameBindings } from "../trace/interpreter.ts";
import { functionLabel } from "../variables/labels.ts";
import {
  type CodeFinder,
  type CodePath,
  fields,
  flagOrNull,
  type Form,
  key,
  object,
  variants,
} from "./place_forms.ts";

/** Finds code in these functions. */
export function codeFinder(functions: Iterable<object>): CodeFinder {
  const found = new Map<CodeObject, CodePath>();
  return {
    pathOf(code) {
      let path = found.get(code);
      if (!path) found.set(code, path = findCode(functions, code));
      return path;
    },
  };
}

function findCode(functions: Iterable<object>, code: CodeObject): CodePath {
  for (const fn of functions) {
    if (knowledge.modelOf(fn)) continue;
    for (const [part, info] of codesOf(fn)) {
      const children = info.code.module === code.module ? childPath(info.code, code) : null;
      if (children) return [fn, part, ...children];
    }
  }
  throw new NotStorable(`${code.name || "a function"}, whose code cannot be located`);
}

/** The path from code to the code of a function inside it; null if the function is not inside. */
function childPath(from: CodeObject, to: CodeObject): readonly number[] | null {
  if (from === to) return [];
  if (from.span.start > to.span.start || from.span.end < to.span.end) return null;
  for (const [i, child] of from.children.entries()) {
    const rest = childPath(child, to);
    if (rest) return [i, ...rest];
  }
  return null;
}

function infoAt(fn: object, part: string): FunctionInfo {
  const [, info] = codesOf(fn).find(([name]) => name === part) ?? [];
  if (info) return info;
  throw new DamagedForm(`Expected a function with ${part}`);
}

/** Serialises code. */
export const codeAt: Form<CodeObject> = {
  write(value, by) {
    const [fn, part, ...children] = by.codes.pathOf(value);
    return [by.numberOf(fn), part, ...children];
  },
  read(form, by) {
    const [fn, part, ...children] = listIn(form);
    let code = infoAt(by.at(numberIn(fn)), textIn(part)).code;
    for (const child of children) {
      const next = code.children[numberIn(child)];
      if (!next) throw new DamagedForm(`Expected one of ${code.children.length} functions in ${code.name}`);
      code = next;
    }
    return code;
  },
};

const frameRules = fields<FrameRules>({ errorOnBreak: flagOrNull, runsOutside: flag, breaksOutside: flag });

/** Serialises rules; empty ones are one object. */
const rules: Form<FrameRules> = {
  write: (value, by) => value === NO_RULES ? null : frameRules.write(value, by),
  read: (form, by) => form === null ? NO_RULES : frameRules.read(form, by),
};

const modes = fields<RegionModes>({
  gradEnabled: flag,
  inference: flag,
  autocast: oneOf("", "bfloat16", "float16"),
});

const completion = variants<PlannedCompletion>({
  ambientMode: fields<Omit<PlannedRegion, "kind">>({
    former: modes,
    outer: variants<PlannedRegion["outer"]>({ discard: fields({}), register: fields({ register: count }) }),
  }),
  discard: fields({}),
  close: fields({}),
  register: fields({ register: count }),
  promise: fields({ register: count }),
  construct: fields({ register: count }),
  step: fields({ done: count, value: count, elided: flag }),
  root: fields({ fixed: flag }),
});

const parameter = variants<Parameter>({
  register: fields({ frame: count, register: count, name: text }),
  callee: fields({ frame: count, name: text }),
  captured: fields({ frame: count, index: count, form: oneOf("value", "cell"), name: text }),
  construction: fields({ frame: count, name: text }),
});

/** A function that is the same in all calls, and which part of it runs; null: it differs between calls. */
interface FixedFunction {
  readonly callee: object;
  readonly part: string;
}

const fixedFunction = fields<FixedFunction>({ callee: object, part: text });

/** The function to which these variables belong. Throws NotStorable if it is unknown. */
function fixedOf(callee: object | null, info: FrameBindings): FixedFunction {
  const [part] = info.kind === "real" && callee
    ? codesOf(callee).find(([, { binding }]) => binding === info.binding) ?? []
    : [];
  if (callee && part !== undefined) return { callee, part };
  throw new NotStorable(`${callee ? functionLabel(callee) : "a function"}, whose variables are another's`);
}

const infoOfFixed = ({ callee, part }: FixedFunction) =>
  ({ kind: "real", binding: infoAt(callee, part).binding }) as const;

const frameParts = fields<Pick<PlannedFrame, "code" | "pc" | "completion" | "bindings" | "rules">>({
  code: codeAt,
  pc: count,
  completion,
  bindings: oneOf("real", "made"),
  rules,
});

const frame: Form<PlannedFrame> = {
  write(value, by) {
    const { callee, real } = value;
    return [frameParts.write(value, by), real && fixedFunction.write(fixedOf(callee, real), by)];
  },
  read(form, by) {
    const [parts = null, given = null] = listIn(form);
    const fixed = given === null ? null : fixedFunction.read(given, by);
    return {
      ...frameParts.read(parts, by),
      callee: fixed?.callee ?? null,
      real: fixed && infoOfFixed(fixed),
    };
  },
};

const planParts = fields<Pick<ResumePlan, "frames" | "parameters" | "scalars">>({
  frames: list(frame),
  parameters: list(parameter),
  scalars: list(count),
});

/** Serialises resume plans. */
export const planForm: Form<ResumePlan> = {
  write: (value, by) => planParts.write(value, by),
  read: (form, by) => planOf(planParts.read(form, by)),
};

const completionText = (completion: PlannedCompletion): Plain =>
  completion.kind === "ambientMode"
    ? { ...completion, former: { ...completion.former }, outer: { ...completion.outer } }
    : { ...completion };

/** Identifies a plan in every process, with its functions by source position. */
export function planText({ frames, parameters, scalars }: ResumePlan): Plain {
  return [
    frames.map(({ code, pc, completion, callee, bindings, rules }) => [
      [portableAddress(code.module.url), code.span.start, code.span.end, code.kind, code.name],
      [pc, completionText(completion), callee !== null, bindings, { ...rules }],
    ]),
    parameters.map((each) => ({ ...each })),
    [...scalars],
  ];
}

const running = variants<Running>({
  fixed: {
    write: ({ callee, info }, by) => fixedFunction.write(fixedOf(callee, info), by),
    read(form, by) {
      const fixed = fixedFunction.read(form, by);
      return { callee: fixed.callee, info: infoOfFixed(fixed) };
    },
  },
  each: fields({}),
  made: fields({ forms: list(oneOf("value", "cell", "live", "private")) }),
});

const shape = fields<ClosureShape>({
  name: key,
  namePrefix: oneOf("", "get", "set"),
  hasHome: flag,
  cells: list(count),
});

/** Serialises recipes of functions that generated code calls. */
export const recipeForm = variants<OwnRecipe>({
  step: fields({ code: codeAt, pc: count, running }),
  generator: fields({ code: codeAt, pc: count, running }),
  closure: fields({ code: codeAt, shape }),
});
