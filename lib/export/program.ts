/**
 * Exported programs, like `torch.export.ExportedProgram`: they can be called, printed, compiled and saved. Invariant:
 * a call returns what the function would, or an error that names what was not exported.
 */
import { optionsOf, refuseSurplus } from "../base/checked_input.ts";
import { compileFunctional, runFunctional } from "../aot/functional_graph.ts";
import { DynError } from "../base/errors.ts";
import { showAsText } from "../base/console_text.ts";
import { unflatten } from "../base/tree.ts";
import { writeFile } from "../data/safetensors.ts";
import type { CompiledFunction } from "../graph/backend.ts";
import { lookupBackend } from "../graph/backends.ts";
import type { GraphModule } from "../graph/graph_module.ts";
import { print } from "../sym/expr.ts";
import { noGrad } from "../tensor/modes.ts";
import { isTensor, type Tensor } from "../tensor/tensor.ts";
import { constraintOfQuestion, type ExportedParts } from "./capture.ts";
import { readProgram, writeProgram } from "./stored.ts";
import { checkCall, type HeldKind, type Holding, leavesOf, type ValueSource } from "../packages/call_spec.ts";

/** An input of an exported graph. */
export interface ExportedInput {
  /** Its placeholder. */
  readonly name: string;
  /**
   * The kind of an input: an argument of the call, a tensor that the program holds, a size, or the keys of random
   * numbers.
   */
  readonly kind: "argument" | HeldKind | "size" | "randomKeys";
  /** The leaf number of an argument, the name of a held tensor; null for the others. */
  readonly target: number | string | null;
}

/** An output of an exported graph. */
export interface ExportedOutput {
  /** Its node; null for a constant. */
  readonly name: string | null;
  /** The kind of an output: a result of the call, or the new value of an input that the program writes to. */
  readonly kind: "result" | "mutation";
  /** The placeholder of a mutation's input; null for results. */
  readonly target: string | null;
}

/** The inputs and outputs of an exported graph. */
export interface ExportSignature {
  /** In the order of the placeholders. */
  readonly inputs: readonly ExportedInput[];
  /** In the order of the graph's output list. */
  readonly outputs: readonly ExportedOutput[];
}

/** A program as one graph with its tensors. */
export class ExportedProgram {
  readonly #parts: ExportedParts;
  #run: CompiledFunction | null = null;

  /** @internal */
  constructor(parts: ExportedParts) {
    this.#parts = parts;
  }

  /** @internal */
  get parts(): ExportedParts {
    return this.#parts;
  }

  /** The name of the function or of the module's class. */
  get name(): string {
    return this.#parts.call.name;
  }

  /** The functional graph: parameters are inputs, writes are outputs. */
  get graphModule(): GraphModule {
    return this.#parts.functional;
  }

  /** The tensors that the program holds, by name. Writing to them changes the results of calls. */
  get stateDict(): Readonly<Record<string, Tensor>> {
    return Object.fromEntries([...this.#parts.held].map(([name, { tensor }]) => [name, tensor]));
  }

  /** Constraints on the sizes of a call, as text. */
  get constraints(): readonly string[] {
    return [...new Set(this.#parts.call.constraints.map(({ text }) => text))];
  }

  /** The graph's inputs and outputs. */
  get signature(): ExportSignature {
    const { functional: { graph }, inputs, held, plan } = this.#parts, { placeholders } = graph;
    const names = inputs.map(({ name, value }): ExportedInput => {
      switch (value.kind) {
        case "argument":
          return { name, kind: "argument", target: value.leaf };
        case "held":
          return { name, kind: held.get(value.name)?.kind ?? "constant", target: value.name };
        case "size":
          return { name, kind: "size", target: null };
        default:
          return value satisfies never;
      }
    });
    const keys = placeholders.slice(inputs.length).map(({ name }): ExportedInput => ({
      name,
      kind: "randomKeys",
      target: null,
    }));
    const [listed = []] = graph.output.args;
    const outputs = (Array.isArray(listed) ? listed : []).map((node: unknown, at): ExportedOutput => {
      const mutation = plan.mutations.find(({ output }) => output === at);
      return {
        name: node === null ? null : String(node),
        kind: mutation ? "mutation" : "result",
        target: mutation ? placeholders[mutation.input]?.name ?? null : null,
      };
    });
    return { inputs: [...names, ...keys], outputs };
  }

  /**
   * Runs the graph op by op. Throws DynError for arguments whose structure, type or device differs from the exported
   * ones, and for sizes that violate a constraint. No gradients are recorded.
   */
  call(...args: unknown[]): unknown {
    return callParts(this.#parts, this.#run ??= runFunctional(this.#parts), args);
  }

  /**
   * Compiles the program now and returns a function. `backend`: the name of one that compiles functional graphs;
   * default "inductor".
   */
  compile(options: { readonly backend?: string } = {}): (...args: unknown[]) => unknown {
    if (arguments.length > 1) refuseSurplus("compile", 1, arguments);
    const { backend = "inductor" } = optionsOf("compile", options, ["backend"]);
    return compileParts(this.#parts, backend).run;
  }

  /** Writes the program and its tensors to a file. Throws DynError if a file cannot hold them. */
  save(path: string | URL): void {
    if (arguments.length > 1) refuseSurplus("save", 1, arguments);
    writeFile(path, writeProgram(this.#parts));
  }

  /** The graph, its signature and its constraints. */
  toString(): string {
    const { functional, call } = this.#parts, { inputs, outputs } = this.signature;
    const target = (each: { readonly target: unknown }) => each.target === null ? "" : ` ${each.target}`;
    return [
      functional.readable(call.name).trimEnd(),
      "",
      "Inputs:",
      ...inputs.map((each) => `  ${each.name}: ${each.kind}${target(each)}`),
      "Outputs:",
      ...outputs.map((each) => `  ${each.name}: ${each.kind}${target(each)}`),
      ...call.sizes.length > 0
        ? ["Sizes:", ...call.sizes.map(({ symbol, hint }) => `  ${print(symbol)}: ${hint} when exported`)]
        : [],
      ...this.constraints.length > 0 ? ["Constraints:", ...this.constraints.map((each) => `  ${each}`)] : [],
    ].join("\n");
  }
}

showAsText(ExportedProgram.prototype);

/** Reads a program that `save` wrote, from a file or its bytes. Throws DynError for other files. */
export function loadExportedProgram(source: string | URL | Uint8Array): ExportedProgram {
  if (arguments.length > 1) refuseSurplus("loadExportedProgram", 1, arguments);
  return new ExportedProgram(readProgram(bytesOf(source)).parts);
}

/** Returns the bytes of a file, or the given ones. */
export function bytesOf(source: string | URL | Uint8Array): Uint8Array<ArrayBuffer> {
  return source instanceof Uint8Array ? new Uint8Array(source) : Deno.readFileSync(source);
}

/** A program as a compiled function. */
export interface CompiledProgramParts {
  /** Includes the assumptions of the compilation about sizes. */
  readonly parts: ExportedParts;
  readonly backend: string;
  readonly forward: CompiledFunction;
  readonly run: (...args: unknown[]) => unknown;
}

/** Compiles a program by a named backend. */
export function compileParts(given: ExportedParts, backend: string): CompiledProgramParts {
  const { forward, questions } = compileFunctional(given.functional, lookupBackend(backend));
  const constraints = [...given.call.constraints, ...questions.map(constraintOfQuestion)];
  return runningParts({ ...given, call: { ...given.call, constraints } }, { backend, forward });
}

/** The same with the result of a backend for the functional graph. */
export function runningParts(
  parts: ExportedParts,
  { backend, forward }: Pick<CompiledProgramParts, "backend" | "forward">,
): CompiledProgramParts {
  const run = runFunctional(parts, forward);
  return { parts, backend, forward, run: (...args) => callParts(parts, run, args) };
}

const OWN_TENSORS: Omit<Holding<Tensor>, "held"> = {
  is: isTensor,
  metaOf: (tensor) => ({
    shape: tensor.shape,
    strides: tensor.stride(),
    offset: tensor.storageOffset(),
    dtype: tensor.dtype,
    device: tensor.device,
  }),
  contiguous: (tensor) => noGrad(() => tensor.contiguous()),
};

function callParts(parts: ExportedParts, run: CompiledFunction, args: readonly unknown[]): unknown {
  const tensors = new Map([...parts.held].map(([name, { tensor }]) => [name, tensor]));
  const call = checkCall(parts.call, args, { ...OWN_TENSORS, held: tensors });
  const valueOf = (value: ValueSource): unknown =>
    value.kind === "argument" ? call.leaves[value.leaf] : tensors.get(value.name);
  const inputs = parts.inputs.map(({ value }) =>
    value.kind === "size" ? call.read(value.origin) : valueOf(value)
  );
  refuseShared(parts, inputs);
  const outputs = run(...inputs);
  if (!Array.isArray(outputs)) throw new DynError(`Expected a list of results but found ${typeof outputs}`);
  return unflatten(parts.resultTree, leavesOf(parts.results, outputs, valueOf));
}

/** Rejects written inputs that share memory with another one: the graph assumes that they are separate. */
function refuseShared({ plan, call: { name } }: ExportedParts, inputs: readonly unknown[]): void {
  for (const { input } of plan.mutations) {
    const written = inputs[input];
    if (!isTensor(written)) continue;
    const other = inputs.findIndex((each, at) =>
      at !== input && isTensor(each) && each.storage === written.storage
    );
    if (other < 0) continue;
    throw new DynError(
      `Expected memory of its own for what ${name} writes to but found inputs ${input} and ${other} in one`,
    );
  }
}
