/**
 * The fuzzer of tensor programs: one function over tensors, called a few times, plainly and compiled. Invariant:
 * programs run from their text, like those of users.
 */
import type fc from "fast-check";
import type { Backend } from "../../../mod.ts";
import type { Fuzzer } from "../fuzzer.ts";
import { backendOf, type Failure, type Tier } from "../protocol.ts";
import { compare } from "./comparison.ts";
import type { Aspect } from "./facts.ts";
import { type Feature, FEATURES } from "./features.ts";
import { programs } from "./generate.ts";
import { instances } from "./instance.ts";
import { enterLaboratory } from "./laboratory.ts";
import type { Runnable } from "./observe.ts";
import { fileText } from "./print.ts";
import { calledNames, passesOf, type Program } from "./program.ts";
import { widened } from "./rounding.ts";
import { addsZeros } from "./added_zeros.ts";

/** Kinds of observations or statements to exclude. */
export interface TensorFuzzerOptions {
  readonly without?: readonly (Aspect | Feature)[];
  /** Replaces the tier's own backend. */
  readonly backend?: Backend;
  /** Whether data may be subnormal, which some devices and engines round more coarsely; default: true. */
  readonly subnormals?: boolean;
}

const DYN = new URL("../../../mod.ts", import.meta.url).href;

/** Compares plain and compiled runs of tensor programs. */
export class TensorFuzzer implements Fuzzer<Program> {
  readonly name = "tensors";
  readonly #without: ReadonlySet<Aspect | Feature>;
  readonly #backend: Backend | undefined;
  readonly #subnormals: boolean;
  readonly #counts: Record<string, number> = {};

  constructor(options: TensorFuzzerOptions = {}) {
    this.#without = new Set(options.without);
    this.#backend = options.backend;
    this.#subnormals = options.subnormals ?? true;
  }

  generate(tier: Tier): fc.Arbitrary<Program> {
    // Each graph costs the C++ compiler a third of a second
    const statements = tier === "native" ? 6 : 8;
    const features = FEATURES.filter((feature) => !this.#without.has(feature));
    return tier === "webgpu"
      ? programs({
        features,
        statements: 5,
        subnormals: false,
        dtypes: ["float32", "int64", "int32", "int16", "int8", "uint8", "bool"],
      })
      : programs({ features, statements, subnormals: this.#subnormals });
  }

  async *run(
    list: readonly Program[],
    tier: Tier,
    begins: (index: number) => void,
  ): AsyncIterable<Failure | null> {
    enterLaboratory();
    const runnables = await runnablesOf(list);
    for (const [k, program] of list.entries()) {
      const runnable = runnables[k];
      if (!runnable) throw new Error(`Expected program ${k} to run`);
      begins(k);
      const { difference, counts } = await compare(runnable, {
        backend: this.#backend ?? backendOf(tier),
        dynamic: program.dynamic,
        without: this.#without,
        inFloat64: async () => (await runnablesOf([widened(program)]))[0] ?? runnable,
        device: tier === "webgpu" ? "webgpu" : "cpu",
        readsNumbers: calledNames(program).includes("number"),
        passes: passesOf(program),
        addsZeros: addsZeros(program),
      });
      for (const [name, count] of Object.entries({ runs: 1, ...counts })) {
        this.#counts[name] = (this.#counts[name] ?? 0) + count;
      }
      yield difference && { tier, ...difference };
    }
  }

  describe(program: Program, failure: Failure): string {
    const chosen = this.#backend ?? backendOf(failure.tier);
    return fileText(program, { dyn: DYN, backend: typeof chosen === "string" ? chosen : chosen.name });
  }

  signature(program: Program, failure: Failure): string {
    return `${failure.kind}: ${calledNames(program).join(" ")}`;
  }

  counts(): Readonly<Record<string, number>> {
    return { ...this.#counts };
  }
}

/** Programs evaluated from the text of one module. */
async function runnablesOf(list: readonly Program[]): Promise<readonly Runnable[]> {
  const makers = await instances(list);
  return makers.map((make, k) => ({ make, modes: list[k]?.calls.map(({ mode }) => mode) ?? [] }));
}
