/** Programs as C++: the translation units of their native code, and the options for compiling them. */
import { generate } from "../../lib/codegen/generate.ts";
import type { Program } from "../../lib/loops/ir.ts";
import { kernelCount } from "../../lib/loops/regions.ts";
import { flagOf } from "./host_memory.ts";
import type { NativeForm } from "./native_form.ts";
import { nativeTarget } from "./native_target.ts";
import type { Source } from "./object_cache.ts";
import { TEAM_WORK } from "./print/prelude.ts";
import { type PrintedProgram, printProgram } from "./print/program.ts";
import { toolchainStatus } from "./toolchain.ts";

/** Options of generated code: the widest vectors where they pay. */
function programOptions(): string[] {
  const options = ["-Wno-unused"];
  const status = toolchainStatus();
  if (status.kind !== "ready") return options;
  const { instructionSet, gcc } = status.toolchain.target;
  if (instructionSet === "avx512" && gcc) options.push("-mprefer-vector-width=512");
  return options;
}

/** The translation units of a printed program. */
function unitsOf({ text, parts }: PrintedProgram): Source[] {
  const options = programOptions();
  return [text, ...parts].map((unit, i) => ({ name: i === 0 ? "graph" : `part${i}`, text: unit, options }));
}

/** A printed program. */
interface PrintedForm {
  readonly form: NativeForm;
  /** The text with the user's lines as comments. */
  readonly annotated: string;
}

/** Prints a program. */
export function printForm(given: Program): PrintedForm {
  const program = generate(given, nativeTarget), printed = printProgram(program);
  const { inputs, outputs, sizes, arenaBytes } = program;
  const form: NativeForm = {
    kernelCount: kernelCount(given),
    inputs: inputs.length,
    outputs: outputs.length,
    sizes,
    arenaBytes,
    flag: flagOf(program),
    keeps: printed.keeps,
    routines: printed.routines,
    calls: printed.calls,
    units: unitsOf(printed),
  };
  return { form, annotated: printed.annotated };
}

/** Returns whether some loops of a program run on all threads by default. */
export function runsOnTeam(program: Program): boolean {
  return generate(program, nativeTarget).kernels.some((kernel) =>
    kernel.kind === "loops" && kernel.work !== undefined &&
    (typeof kernel.work !== "number" || kernel.work > TEAM_WORK)
  );
}
