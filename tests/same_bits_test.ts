/**
 * Eager calls, WebAssembly and C++ give the same bits: elementwise ops and reductions of every type on special values,
 * with various strides, at lengths with every tail. The seed of a run selects ops, types, steps and lengths.
 * math_test.ts tests the accuracy of these bits, by tables computed without dyn.
 */
import { assert, assertEquals } from "@std/assert";
import { DynError } from "../lib/base/errors.ts";
import { isFloat, REAL_DTYPES, type RealType } from "../lib/base/dtype.ts";
import { Graph } from "../lib/graph/node.ts";
import { compileGraph } from "../lib/inductor/compile_graph.ts";
import type { CompiledGraph } from "../lib/inductor/compiled_graph.ts";
import type { CompiledProgram } from "../lib/loops/device.ts";
import type { Program } from "../lib/loops/ir.ts";
import { parseCall } from "../lib/ops/call.ts";
import type { OpDefinition } from "../lib/ops/definition.ts";
import { GraphBuilder, type GraphValue, isGraphValue, listOf } from "../lib/ops/graph_builder.ts";
import { ALL_OPS, findTarget } from "../lib/ops/table.ts";
import { callOp } from "../lib/tensor/eager.ts";
import { byteOffsetOf } from "../lib/tensor/plan.ts";
import { compileNative } from "../backends/cpu/native_program.ts";
import { compileToWasm } from "../backends/wasm/program.ts";
import { wasmPool } from "../backends/wasm/threads.ts";
import { empty, noGrad, Tensor, tensor } from "../mod.ts";
import { SKIP_NATIVE } from "./support/native.ts";
import { mergePrograms } from "./support/merge.ts";
import { makeSample } from "./support/samples.ts";
import { randomNumbers, sampleBySeed, TAKES_ALL, testSeed } from "./support/sampling.ts";
import { orderedNumber, SPECIAL } from "./support/special_numbers.ts";

/** The layout of operands. */
interface Form {
  readonly length: number;
  readonly step: number;
}

/**
 * Every value beside every other one, and numbers whose sums depend on their order; between the elements lies the value
 * before.
 */
function operandsOf(dtype: RealType, { length, step }: Form): Tensor[] {
  const values = SPECIAL[dtype], n = values.length;
  const apart = (valueAt: (k: number) => number | bigint) => {
    const items = Array.from({ length: length * step }, (_, k) => valueAt(Math.floor(k / step)));
    return tensor(items, { dtype }).slice(0, 0, length * step, step);
  };
  const special = [0, 1, 2].map((p) =>
    apart((k) => values[(p === 0 ? k : p === 1 ? Math.floor(k / n) + k : 7 * k + 3) % n] ?? 0)
  );
  const noise = apart((k) => isFloat(dtype) ? orderedNumber(k) : values[k * k % n] ?? 0);
  return [...special, noise];
}

/** An op and a sample of it, whose tensors operands stand for, from one of them on. */
interface Call {
  readonly definition: OpDefinition;
  readonly given: readonly unknown[];
  readonly from: number;
}

const ELEMENTWISE: readonly Call[] = ALL_OPS
  .filter(({ elementwise, implementation }) => elementwise && implementation.kind === "lower")
  .flatMap((definition) =>
    definition.samples.slice(0, 1).map((sample) => ({ definition, given: makeSample(sample).given, from: 0 }))
  );

const REDUCTIONS: readonly Call[] = ALL_OPS
  .filter(({ name }) => ["sum", "prod", "amax", "amin", "any", "all", "argmax", "argmin"].includes(name))
  .flatMap((definition) => [0, 3].map((from) => ({ definition, given: [tensor([0])], from })));

/** The arguments with operands in place of the tensors. */
function argumentsOf<T>({ given, from }: Call, operands: readonly T[]): readonly unknown[] {
  let next = from;
  return given.map((each) => each instanceof Tensor ? operands[next++ % operands.length] : each);
}

function eagerly(call: Call, operands: readonly Tensor[]): Tensor {
  const made = callOp(call.definition, argumentsOf(call, operands));
  assert(made instanceof Tensor);
  return made;
}

/** Returns whether an op accepts operands of a type. */
function takes(call: Call, operands: readonly Tensor[]): boolean {
  try {
    eagerly(call, operands);
    return true;
  } catch (thrown) {
    if (thrown instanceof DynError) return false;
    throw thrown;
  }
}

/** A call over operands. */
interface Case {
  readonly label: string;
  readonly operands: readonly Tensor[];
  readonly call: Call;
}

function casesOf(dtype: RealType, form: Form): Case[] {
  const operands = operandsOf(dtype, form), fits = (call: Call) => takes(call, operands);
  const calls = [...sampleBySeed(ELEMENTWISE, 14, form.length), ...REDUCTIONS].filter(fits);
  return calls.map((call) => ({
    label: `${call.definition.name} of ${form.length} ${dtype}, step ${form.step}`,
    operands,
    call,
  }));
}

/** Types, steps and tails of this run. */
function drawn(): Case[] {
  const random = randomNumbers(testSeed());
  return sampleBySeed(REAL_DTYPES, 4).flatMap((dtype) => {
    const steps = TAKES_ALL ? [1, 2, 3, 5] : [[1, 2, 3, 5][Math.floor(random() * 4)] ?? 1];
    return steps.flatMap((step) => casesOf(dtype, { step, length: 17 + Math.floor(random() * 90) }));
  });
}

const lookup = (target: string) => findTarget(target)?.definition;

/** A call as the graph compiler has it. */
function graphOf({ operands, call }: Case): CompiledGraph {
  const builder = new GraphBuilder(new Graph()), { definition } = call;
  const inputs = operands.map(({ layout }, k) => builder.tensor(`x${k}`, layout.meta));
  const args = parseCall<GraphValue>(definition, argumentsOf(call, inputs), isGraphValue);
  builder.output(listOf(builder.call({ definition, args })).map(({ node }) => node));
  return compileGraph(builder.graph, lookup, { silent: true, signature: { ownResults: 1 } });
}

/** Returns the results of one program for all calls. */
function compiled(cases: readonly Case[], compile: (program: Program) => CompiledProgram): Tensor[] {
  const graphs = cases.map(graphOf);
  const read = graphs.flatMap(({ inputs }, c) => inputs.flatMap((k) => cases[c]?.operands[k] ?? []));
  const made = graphs.flatMap(({ outputBuffers }) =>
    outputBuffers.map(({ length, dtype }) => empty([Number(length)], { dtype }))
  );
  compile(mergePrograms(graphs.map(({ program }) => program))).run({
    inputs: read.map(({ storage }) => storage.memory),
    outputs: made.map(({ storage }) => storage.memory),
    byteOffsets: [...read, ...made].map(byteOffsetOf),
    sizes: [],
  });
  assertEquals(made.length, cases.length);
  return made;
}

const elementsOf = (found: Tensor): readonly unknown[] => [...found.toTypedArray()];

/** Elements that differ; NaN is NaN, and −0 is not 0. */
function differences(cases: readonly Case[], compile: (program: Program) => CompiledProgram): string[] {
  const found = compiled(cases, compile);
  return cases.flatMap(({ label, call, operands }, k) => {
    const want = elementsOf(eagerly(call, operands)), got = found[k] ? elementsOf(found[k]) : [];
    const at = want.findIndex((item, i) => !Object.is(item, got[i]));
    return at < 0 ? [] : [`${label}: element ${at} is ${got[at]}, eagerly ${want[at]}`];
  });
}

const CASES = noGrad(drawn);

Deno.test("WebAssembly gives the bits of eager calls, for every type, stride and tail", () => {
  assertEquals(noGrad(() => differences(CASES, (program) => compileToWasm(program, wasmPool()))), []);
});

Deno.test({
  name: "C++ gives the bits of eager calls, of every type, at every step and tail",
  ignore: SKIP_NATIVE,
  fn() {
    // A compiler takes some tenths of a second for a long function
    const cases = sampleBySeed(CASES, 12);
    assertEquals(noGrad(() => differences(cases, compileNative)), []);
  },
});
