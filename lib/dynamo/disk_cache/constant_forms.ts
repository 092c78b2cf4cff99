/**
 * Serialises the constants of a modified function's text. Invariant: functions of dyn are found by name, functions that
 * belong to a place of the program are recreated, and everything else is an object of the journal.
 */
import type { Plain } from "../../base/recording.ts";
import { DamagedForm, listIn, textIn } from "../../sym/stored/forms.ts";
import { runtime as codeRuntime } from "../bytecode/runtime.ts";
import { boxOfCell, cellOfBox, isVariable } from "../resume/cells.ts";
import { closurePrinter, delegated, finished, restKeys, resumeGenerator } from "../resume/closure_printer.ts";
import * as runtime from "../codegen/runtime.ts";
import { readCaptured } from "../cache/entry_parts.ts";
import { LIST_READERS } from "../guards/reader.ts";
import { takeResult } from "../resume/iterator_results.ts";
import { makeFunction, recipeOf } from "../resume/made_functions.ts";
import type { ResumePlan } from "../resume/resume_plan.ts";
import { scalar } from "../scalars.ts";
import { asyncCall, asyncGeneratorOf, generatorOf, waiting } from "../resume/suspension.ts";
import { planForm, recipeForm } from "./code_forms.ts";
import { type ByNumber, cell, object } from "./place_forms.ts";
import { isPrimitive, readPrimitive, writePrimitive } from "./plain_values.ts";

type Functions = Readonly<Record<string, unknown>>;

const HELPERS: ReadonlyMap<string, Functions> = new Map<string, Functions>([
  ["runtime", runtime],
  ["scalars", { scalar }],
  ["list", LIST_READERS],
  ["waits", { asyncCall, asyncGeneratorOf, generatorOf, waiting }],
  ["iterators", { takeResult }],
  ["code", {
    delegated,
    finished,
    restKeys,
    resumeGenerator,
    box: codeRuntime.box,
    boxOfCaptured: closurePrinter.boxOfCaptured,
    readCaptured,
  }],
]);

const HELPER_NAMES: ReadonlyMap<unknown, Plain> = new Map(
  [...HELPERS].flatMap(([kind, helpers]) =>
    Object.entries(helpers).map(([name, helper]): [unknown, Plain] => [helper, [kind, name]])
  ),
);

/** The graph and the continuations in this process. */
export interface Ways {
  readonly graph: unknown;
  readonly resume: (plan: ResumePlan) => unknown;
}

/** Writes a constant; `graph` is the compiled one. Throws NotStorable. */
export function writeConstant(value: unknown, graph: unknown, by: ByNumber): Plain {
  if (isPrimitive(value)) return ["is", writePrimitive(value)];
  if (value === graph) return ["graph"];
  const helper = HELPER_NAMES.get(value);
  if (helper) return helper;
  if (isVariable(value)) return ["variable", cell.write(cellOfBox(value), by)];
  const recipe = recipeOf(value);
  if (recipe?.kind === "resume") return ["resume", planForm.write(recipe.plan, by)];
  if (recipe) return ["made", recipeForm.write(recipe, by)];
  return ["object", object.write(value, by)];
}

/** Reads a constant. Throws DamagedForm. */
export function readConstant(form: Plain, ways: Ways, by: ByNumber): unknown {
  const [kind, given = null] = listIn(form);
  switch (kind) {
    case "is":
      return readPrimitive(given);
    case "graph":
      return ways.graph;
    case "resume":
      return ways.resume(planForm.read(given, by));
    case "made":
      return makeFunction(recipeForm.read(given, by));
    case "variable":
      return boxOfCell(cell.read(given, by));
    case "object":
      return object.read(given, by);
    default: {
      const helpers = HELPERS.get(textIn(kind)), name = textIn(given);
      if (helpers && Object.hasOwn(helpers, name)) return helpers[name];
      throw new DamagedForm(`Expected a constant but found ${JSON.stringify(form)}`);
    }
  }
}
