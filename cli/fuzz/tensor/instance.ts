/**
 * Programs as runnable functions: for each program a function that creates an instance with captured tensors, the
 * function and its calls. Invariant: the functions come from the text that print.ts writes, by an import, so that they
 * have source text like a user's functions; many share one module, because reading a module's source is most of the
 * cost of capturing the first function in it.
 */
import type { Optimizer } from "../../../lib/optim/optimizer.ts";
import type { Tensor } from "../../../lib/tensor/tensor.ts";
import { moduleText } from "./print.ts";
import type { Program } from "./program.ts";

/** One instance of a program. */
export interface Instance {
  readonly f: (...args: never[]) => unknown;
  /** Creates the arguments of a call, and names the tensors to inspect afterwards. */
  readonly calls: readonly (() => {
    readonly args: readonly unknown[];
    readonly seen: Readonly<Record<string, Tensor>>;
  })[];
  /** Side effects that the program recorded. */
  readonly effects: readonly unknown[];
  readonly state: Readonly<Record<string, Tensor>>;
  readonly optimizer: Optimizer<object> | null;
}

const DYN = new URL("../../../mod.ts", import.meta.url).href;

/** Functions that create the programs, from one new module. */
export async function instances(programs: readonly Program[]): Promise<readonly (() => Instance)[]> {
  const bytes = new TextEncoder().encode(moduleText(programs, DYN));
  const module: { readonly programs: readonly (() => Instance)[] } = await import(
    `data:text/javascript;base64,${bytes.toBase64()}`
  );
  return module.programs;
}
