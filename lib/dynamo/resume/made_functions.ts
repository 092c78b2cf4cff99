/**
 * Functions that generated code calls and that belong to one place of a program: single instructions, closures,
 * generators suspended at a yield, the rest of a function. Invariant: equal recipes create equivalent functions.
 */
import { withRuntimeBuiltins } from "../../base/own_builtins.ts";
import type { CodeObject } from "../bytecode/code.ts";
import type { Instruction, Offset } from "../bytecode/instruction.ts";
import { liveRegisters } from "../bytecode/liveness.ts";
import type { FreeForm } from "../bytecode/print_types.ts";
import { bindingsOf, capturedBy, isFixed } from "./captured.ts";
import { cellOfBox, isBox } from "./cells.ts";
import type { ClosureParts } from "../codegen/closure_types.ts";
import type { FreeBinding } from "../frame/info.ts";
import { registerMade } from "../functions/functions.ts";
import { type Printed, printRest, stepCode, stepOf } from "./printed.ts";
import type { ResumePlan } from "./resume_plan.ts";
import type { Frame, FrameBindings } from "../trace/interpreter.ts";

/** The function whose variables printed code uses. */
export type Running =
  /** One function, the same in all calls. */
  | { readonly kind: "fixed"; readonly callee: object | null; readonly info: FrameBindings }
  /** The function passed as an argument. */
  | { readonly kind: "each" }
  /** Variables passed as arguments, in these forms. */
  | { readonly kind: "made"; readonly forms: readonly FreeForm[] };

/** The properties of a new closure besides its captures. */
export interface ClosureShape extends Pick<ClosureParts, "name" | "namePrefix"> {
  readonly hasHome: boolean;
  readonly cells: readonly number[];
}

/** The recipe of a function. */
type Recipe =
  /** One instruction, given what it reads. */
  | { readonly kind: "step"; readonly code: CodeObject; readonly pc: Offset; readonly running: Running }
  /** A generator from an offset, given its live registers. */
  | { readonly kind: "generator"; readonly code: CodeObject; readonly pc: Offset; readonly running: Running }
  /** A closure, given its captures. */
  | { readonly kind: "closure"; readonly code: CodeObject; readonly shape: ClosureShape }
  /** The rest of a program, given the plan's parameters. */
  | { readonly kind: "resume"; readonly plan: ResumePlan };

/** A recipe that depends on nothing else. */
export type OwnRecipe = Exclude<Recipe, { kind: "resume" }>;

type Made = (...args: readonly never[]) => unknown;

const recipes = new WeakMap<object, Recipe>();

/** Returns the recipe of a function; undefined for others. */
export function recipeOf(fn: object): Recipe | undefined {
  return recipes.get(fn);
}

/** Records the recipe of a function. */
export function noteRecipe<F extends Made>(fn: F, recipe: Recipe): F {
  recipes.set(fn, recipe);
  return fn;
}

/** Creates a function. Throws UnsupportedSyntax. */
export function makeFunction(recipe: OwnRecipe): Made {
  return noteRecipe(make(recipe), recipe);
}

function make(recipe: OwnRecipe): Made {
  const { code } = recipe;
  switch (recipe.kind) {
    case "step": {
      const { pc, running } = recipe, step = stepCode(code, pc), instruction = code.instructions[pc];
      if (!step || !instruction) throw new TypeError("Expected an instruction");
      const name = `step_${instruction.op}`;
      return taking(
        running,
        code,
        (forms) => printRest(step.code, { entry: 1, parameters: step.reads, name, forms }),
      );
    }
    case "generator": {
      const { pc, running } = recipe, parameters = [...liveRegisters(code, pc)];
      const name = code.name || "generator";
      return taking(running, code, (forms) => printRest(code, { entry: pc, parameters, name, forms }));
    }
    case "closure":
      return closureMaker(code, recipe.shape);
    default:
      return recipe satisfies never;
  }
}

/** The function whose variables the code of a frame uses. */
export function runningOf(frame: Frame): Running {
  const { info, callee } = frame;
  if (info.kind === "made") {
    return { kind: "made", forms: info.free.map((bound) => bound.kind === "cell" ? "cell" : "value") };
  }
  // Another call may run another function with this code, which has other captures
  if (callee && !isFixed(frame)) return { kind: "each" };
  return { kind: "fixed", callee: callee?.real ?? null, info };
}

function taking(
  running: Running,
  code: CodeObject,
  print: (forms: (index: number) => FreeForm) => Printed,
): Made {
  const withVariables = (info: FrameBindings, callee: unknown) =>
    withRuntimeBuiltins(() => {
      const captured = capturedBy({ info, code });
      return print((i) => captured[i]?.form ?? "value").make(captured.map(({ value }) => value), callee);
    });
  switch (running.kind) {
    case "fixed":
      return withVariables(running.info, running.callee ?? undefined);
    case "each":
      // In the middle of a program that may have replaced builtins
      return (fn: object) => withRuntimeBuiltins(() => withVariables(bindingsOf(fn), fn));
    case "made": {
      const { make } = print((i) => running.forms[i] ?? "value");
      return (free: readonly unknown[]) => make(free, undefined);
    }
    default:
      return running satisfies never;
  }
}

/** Creates closures and registers their code, so that they can be traced. */
function closureMaker(code: CodeObject, shape: ClosureShape): Made {
  const maker = makerOf(code, shape), isCell = maker.parameters.map((_, i) => shape.cells.includes(i));
  const make = printRest(maker.code, {
    entry: 1,
    parameters: maker.parameters,
    name: `make_${code.name || "closure"}`,
    forms: () => "value",
  }).make([], undefined);
  return (...args: readonly unknown[]) => {
    const fn = make(...args);
    if (typeof fn === "function" && !code.usesSuper) {
      const binding = (index: number): FreeBinding => {
        const given = args[index];
        return isCell[index] && isBox(given)
          ? { kind: "cell", cell: cellOfBox(given) }
          : { kind: "value", value: given };
      };
      registerMade(fn, { kind: "function", code, binding });
    }
    return fn;
  };
}

/** The code of a function that only creates one closure, from its captures as arguments. */
function makerOf(
  code: CodeObject,
  { name, namePrefix, hasHome, cells }: ClosureShape,
): { readonly code: CodeObject; readonly parameters: readonly number[] } {
  const count = code.free.length;
  const homeRegister = hasHome ? count : null;
  const nameRegister = count + 1, result = count + 2;
  const closure: Instruction = {
    op: "closure",
    dst: result,
    child: 0,
    captures: code.free.map((_, i) => ({
      kind: cells.includes(i) ? "cell" as const : "value" as const,
      register: i,
    })),
    home: homeRegister,
    name: typeof name === "symbol" ? { kind: "register", register: nameRegister } : { kind: "name", name },
    namePrefix,
  };
  const parameters = [...code.free.keys()];
  if (homeRegister !== null) parameters.push(homeRegister);
  if (typeof name === "symbol") parameters.push(nameRegister);
  return { code: stepOf(code, closure, { registers: count + 3, result }), parameters };
}
