/**
 * Serialises exported programs. Invariant: references to values of one process are rejected; malformed bytes throw
 * DynError.
 */
import { inferenceModule } from "../aot/functional_graph.ts";
import { graphSignature, runtimePlan } from "../aot/stored_pair.ts";
import { DynError, invariant, messageOf } from "../base/errors.ts";
import type { Plain } from "../base/recording.ts";
import { parse, serialize } from "../data/safetensors.ts";
import { readGraph, writeGraph } from "../graph/stored/graph.ts";
import type { RunWriter } from "../graph/stored/storable_runs.ts";
import { readArchive, writeArchive } from "../base/archive.ts";
import { inputSpec, readCall, resultSpec, writeCall } from "../packages/call_forms.ts";
import { ShapeEnv } from "../sym/shape_env.ts";
import { list, oneOf } from "../sym/stored/codec.ts";
import { DamagedForm, listIn, NotStorable, recordIn, textIn } from "../sym/stored/forms.ts";
import { Symbols } from "../sym/stored/symbols.ts";
import { tree } from "../sym/stored/tree.ts";
import type { HeldKind } from "../packages/call_spec.ts";
import type { ExportedParts, Held } from "./capture.ts";

const FORMAT = "dyn.exported_program", VERSION = 1;
const PROGRAM = "program.json", WEIGHTS = "weights.safetensors";

const heldKind = oneOf<HeldKind>("parameter", "buffer", "constant");

/** The code that a backend has generated for a program's graph. */
interface WrittenCode {
  readonly backend: string;
  /** The dependencies of the code besides the graph. */
  readonly identity: string;
  readonly write: RunWriter;
}

/** Serialises a program, with its code if there is any. Throws DynError for values that cannot leave the process. */
export function writeProgram(parts: ExportedParts, code: WrittenCode | null = null): Uint8Array<ArrayBuffer> {
  const symbols = new Symbols();
  try {
    const form = formOf(parts, symbols);
    symbols.isOpen = false;
    const program = JSON.stringify({
      ...form,
      ...code ? { code: { backend: code.backend, identity: code.identity, run: code.write(symbols) } } : {},
    });
    const tensors = Object.fromEntries([...parts.held].map(([name, { tensor }]) => [name, tensor]));
    return writeArchive(
      new Map([
        [PROGRAM, new TextEncoder().encode(program)],
        [WEIGHTS, new Uint8Array(serialize(tensors))],
      ]),
    );
  } catch (error) {
    if (!(error instanceof NotStorable)) throw error;
    throw new DynError(`Expected a program that files can hold but found ${error.message}`, { cause: error });
  }
}

function formOf(
  { functional, plan, inputs, held, resultTree, results, call }: ExportedParts,
  symbols: Symbols,
): Record<string, Plain> {
  const callForm = writeCall(call, symbols);
  const { signature } = functional;
  invariant(signature, "Expected a functional graph with a signature");
  return {
    format: FORMAT,
    version: VERSION,
    ...callForm,
    inputs: list(inputSpec).write(inputs, symbols),
    held: [...held].map(([name, { kind }]) => [name, kind]),
    resultTree: tree.write(resultTree, symbols),
    results: list(resultSpec).write(results, symbols),
    plan: runtimePlan.write(plan, symbols),
    signature: graphSignature.write(signature, symbols),
    graph: writeGraph(functional.graph, symbols),
  };
}

/** A program that was read, with the code of its file. */
interface ReadProgram {
  readonly parts: ExportedParts;
  readonly code: ReadCode | null;
}

/** Code of an earlier process, over the symbols of the program. */
export interface ReadCode {
  readonly backend: string;
  readonly identity: string;
  readonly run: Plain;
  readonly symbols: Symbols;
}

/** Reads a program's file. Throws DynError for other files. */
export function readProgram(bytes: Uint8Array<ArrayBuffer>): ReadProgram {
  const files = readArchive(bytes), program = files.get(PROGRAM), weights = files.get(WEIGHTS);
  if (!program || !weights) throw new DynError("Expected an exported program but found another archive");
  try {
    const form = recordIn(JSON.parse(new TextDecoder().decode(program)));
    if (form.format !== FORMAT || form.version !== VERSION) {
      throw new DamagedForm(`Expected ${FORMAT} ${VERSION} but found ${form.format} ${form.version}`);
    }
    const symbols = new Symbols(), parts = partsOf(form, parse(weights).tensors, symbols);
    if (form.code === undefined) return { parts, code: null };
    const { backend, identity, run = null } = recordIn(form.code);
    return { parts, code: { backend: textIn(backend), identity: textIn(identity), run, symbols } };
  } catch (error) {
    if (!(error instanceof DamagedForm || error instanceof SyntaxError)) throw error;
    throw new DynError(`Expected an exported program but found one that is damaged: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

function partsOf(
  form: { readonly [key: string]: Plain },
  tensors: Readonly<Record<string, Held["tensor"]>>,
  symbols: Symbols,
): ExportedParts {
  const env = new ShapeEnv(), get = (key: string): Plain => form[key] ?? null;
  const call = readCall(form, symbols, (name, hint, range) => {
    const made = env.createSize({ base: name, part: { kind: "value" } }, hint, { range, duck: false });
    if (typeof made !== "number") return made;
    throw new DamagedForm(`Expected a size in its range but found ${made}`);
  });
  const plan = { ...runtimePlan.read(get("plan"), symbols), lifted: [] };
  const signature = graphSignature.read(get("signature"), symbols);
  const held = new Map(
    listIn(form.held).map((each): [string, Held] => {
      const [name, kind = null] = listIn(each), tensor = tensors[textIn(name)];
      if (!tensor) throw new DamagedForm(`Expected the tensor ${name} but found none`);
      return [textIn(name), { kind: heldKind.read(kind, symbols), tensor }];
    }),
  );
  return {
    call,
    plan,
    functional: inferenceModule(readGraph(get("graph"), symbols), {
      plan,
      ownResults: signature.ownResults,
    }),
    inputs: list(inputSpec).read(get("inputs"), symbols),
    held,
    resultTree: tree.read(get("resultTree"), symbols),
    results: list(resultSpec).read(get("results"), symbols),
  };
}
