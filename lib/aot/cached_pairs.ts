/**
 * Compiled graphs on disk, like PyTorch's AOTAutogradCache and FxGraphCache: the differentiated, partitioned and
 * compiled halves of captured graphs. Invariant: the key is the complete text of everything that compilation depends
 * on, including the captured graph with all metadata, and is compared as a whole; a graph that cannot be serialised is
 * not cached, and the log says why (`DYN_LOGS=cache`).
 */
import { getDefaultDtype } from "../base/dtype.ts";
import { bisection } from "../base/bisect.ts";
import { config } from "../base/config.ts";
import { DynError, messageOf } from "../base/errors.ts";
import { nearestDifference } from "../base/cache_miss.ts";
import { cachedEntry, cacheEntry, cachesEntries, dropEntry } from "../base/cached_entries.ts";
import { type Artifact, counters, logs } from "../base/logs.ts";
import { type Plain, recording } from "../base/recording.ts";
import type { CompiledFunction } from "../graph/backend.ts";
import { GraphModule } from "../graph/graph_module.ts";
import type { GraphCompiler } from "../graph/interpose.ts";
import { type GraphSignature, roleOf } from "../graph/signature.ts";
import {
  readGraph,
  readStacks,
  type Stacks,
  stacksOf,
  writeCaptured,
  writeGraph,
  writeStacks,
} from "../graph/stored/graph.ts";
import { tensorMeta } from "../graph/stored/values.ts";
import { storableOf, type StorableRun } from "../graph/stored/storable_runs.ts";
import { ask, type Question } from "../sym/decide.ts";
import { type Codec, list, oneOf, record } from "../sym/stored/codec.ts";
import { DamagedForm, listIn, NotStorable, recordIn } from "../sym/stored/forms.ts";
import { dim } from "../sym/stored/dims.ts";
import { Symbols } from "../sym/stored/symbols.ts";
import { defaultDevice } from "../tensor/default_device.ts";
import { graphRunner } from "../tensor/graph_runner.ts";
import { ambient } from "../tensor/modes.ts";
import { isTensor, type Tensor } from "../tensor/tensor.ts";
import type { CompiledPair } from "./compiled_pair.ts";
import { tableOf, tableTensor } from "./late_numbers.ts";
import { backwardFacts, graphSignature, numberTable, runtimePlan } from "./stored_pair.ts";

/** The functions of a compiler that caching needs. */
export interface CachedCompilations {
  /**
   * Returns everything that compiling a graph depends on besides the graph and ambient state; null: it is not cached.
   */
  readonly identityOf: (captured: GraphModule) => string | null;
  /** A functional graph with its cached compilation; null if it must be compiled again. Throws DamagedForm. */
  readonly restore: (gm: GraphModule, form: Plain, symbols: Symbols) => CompiledFunction | null;
}

/** Texts of stages that a cached graph skips: if they are recorded, the graph is compiled. */
const STAGE_TEXTS: readonly Artifact[] = [
  "aot_joint_graph",
  "aot_graphs",
  "schedule",
  "fusion",
  "output_code",
  "kernel_code",
  "perf_hints",
];

/** The same stages, as recorders name them. */
const STAGE_ARTIFACTS = [...STAGE_TEXTS, "fx_graph_transformed", "ir_post_fusion"];

/** A functional graph passed to a compiler, and the result. */
interface Compilation {
  readonly gm: GraphModule;
  readonly how: StorableRun | undefined;
}

/** The cache entry of one captured graph's compiled halves. */
export class CachedPair {
  readonly #compilations = new Map<GraphSignature["role"], Compilation>();

  private constructor(
    readonly key: string,
    readonly symbols: Symbols,
    readonly stacks: Stacks,
    readonly captured: GraphModule,
  ) {}

  /** The cache entry of a graph; null if it is not cached. */
  static of(captured: GraphModule, kept: CachedCompilations): CachedPair | null {
    if (!cachesEntries() || bisection.active || config.reproAfter !== "") return null;
    const identity = kept.identityOf(captured);
    if (identity === null) return null;
    const symbols = new Symbols();
    try {
      const held = heldTensors(captured);
      const { gradEnabled, inference, autocast, autocastCaches } = ambient;
      const graph = writeCaptured(captured, symbols);
      const state = {
        gradEnabled,
        inference,
        autocast,
        autocastCaches,
        dtype: getDefaultDtype(),
        device: defaultDevice(),
        activationMemoryBudget: config.activationMemoryBudget,
      };
      const tensors = describe(held, symbols);
      const key = JSON.stringify({ identity, state, sizes: symbols.describe(), tensors, graph });
      symbols.isOpen = false;
      // By node: which nodes share a list may differ between processes
      const stacks = stacksOf(captured.calling);
      return new CachedPair(key, symbols, stacks, captured);
    } catch (error) {
      if (!(error instanceof NotStorable)) throw error;
      refused(error);
      return null;
    }
  }

  /** The cached halves, rebuilt by `restored`; null if there are none. */
  find(restored: (gm: GraphModule, form: Plain) => CompiledFunction | null): CompiledPair | null {
    if (STAGE_TEXTS.some((name) => logs.enabled(name)) || recording.wants(STAGE_ARTIFACTS)) return null;
    const text = cachedEntry("graphs", this.key);
    if (text === undefined) {
      counters.add("cached_graphs", "misses");
      logs.emit("cache", () => {
        const nearest = nearestDifference("graphs", this.key);
        return nearest === null
          ? "graphs: compiled, since none like it is kept"
          : `graphs: compiled; ${nearest}`;
      });
      return null;
    }
    try {
      const pair = this.#read(recordIn(JSON.parse(text)), restored);
      if (pair) this.#keepsMore(pair);
      counters.add("cached_graphs", pair ? "hits" : "misses");
      logs.emit("cache", () => `graphs: ${pair ? "taken" : "its code is gone"}`);
      return pair;
    } catch (error) {
      if (!(error instanceof DamagedForm || error instanceof DynError || error instanceof SyntaxError)) {
        throw error;
      }
      dropEntry("graphs", this.key, messageOf(error));
      return null;
    }
  }

  /** Also caches code that is generated only after the first calls. */
  #keepsMore({ forward, backward }: CompiledPair): void {
    const half = (given: Plain | undefined, run: CompiledFunction): Plain => {
      const fields = recordIn(given), { code } = recordIn(storableOf(run)?.write(this.symbols) ?? {});
      return code === undefined ? fields : { ...fields, run: { ...recordIn(fields.run ?? null), code } };
    };
    const keepMore = (): void => {
      const text = cachedEntry("graphs", this.key);
      if (text === undefined) return;
      try {
        const form = recordIn(JSON.parse(text));
        const more = {
          ...form,
          forward: half(form.forward, forward),
          ...backward ? { backward: half(form.backward, backward.run) } : {},
        };
        cacheEntry("graphs", this.key, JSON.stringify(more));
      } catch (error) {
        if (error instanceof NotStorable) refused(error);
        else if (error instanceof DamagedForm || error instanceof SyntaxError) {
          dropEntry("graphs", this.key, messageOf(error));
        } else throw error;
      }
    };
    for (const run of [forward, backward?.run]) if (run) storableOf(run)?.whenMore?.(keepMore);
  }

  #read(
    fields: { readonly [key: string]: Plain },
    restored: (gm: GraphModule, form: Plain) => CompiledFunction | null,
  ): CompiledPair | null {
    const { symbols, captured } = this;
    const lifted = listIn(fields.lifted).map((form) =>
      typeof form === "string" ? captured.attributes[form] : tableTensor(numberTable.read(form, symbols))
    );
    if (!lifted.every(isTensor)) throw new DamagedForm("Expected names of tensors that the graph holds");
    const plan = { ...runtimePlan.read(fields.plan ?? null, symbols), lifted };
    const half = (given: Plain | undefined) => {
      const { graph = null, stacks, signature = null, run = null } = recordIn(given);
      const gm = new GraphModule(
        () => readGraph(graph, symbols, readStacks(stacks, this.stacks)),
        {},
        graphRunner,
        graphSignature.read(signature, symbols),
      );
      return { gm, run: restored(gm, run) };
    };
    const forward = half(fields.forward);
    const backward = fields.backward === undefined ? null : half(fields.backward);
    if (!forward.run || (backward && !backward.run)) return null;
    for (const question of questions.read(fields.questions ?? null, symbols)) ask(question);
    return {
      plan,
      forward: forward.run,
      captured,
      functional: forward.gm,
      ...backward?.run
        ? {
          backward: {
            run: backward.run,
            functional: backward.gm,
            ...backwardFacts.read(fields.facts ?? null, symbols),
          },
        }
        : {},
    };
  }

  /** A compiler whose results are recorded for caching. */
  noting(compiler: GraphCompiler): GraphCompiler {
    return (gm, examples) => {
      const run = compiler(gm, examples), role = gm.signature?.role;
      if (role) this.#compilations.set(role, { gm, how: storableOf(run) });
      return run;
    };
  }

  /** The name of a tensor that the captured graph holds. */
  #nameOf(tensor: unknown): string {
    const [found] = Object.entries(this.captured.attributes).find(([, value]) => value === tensor) ?? [];
    if (found === undefined) throw new NotStorable("a tensor that the compiled graph holds");
    return found;
  }

  /** Caches a compiled pair; `asked`: the guards on sizes that compilation added. */
  keep(pair: CompiledPair, asked: readonly Question[]): void {
    const { symbols, stacks } = this, { plan, functional, backward } = pair;
    const half = (role: GraphSignature["role"]): Plain => {
      const found = this.#compilations.get(role);
      if (!found?.how || !found.gm.signature) {
        throw new NotStorable(`the ${role} graph, whose code is not kept`);
      }
      return {
        graph: writeGraph(found.gm.graph, symbols),
        stacks: writeStacks(found.gm.graph, stacks),
        signature: graphSignature.write(found.gm.signature, symbols),
        run: found.how.write(symbols),
      };
    };
    try {
      const { run: _, functional: _functional, ...facts } = backward ?? { run: null, functional: null };
      const form: Plain = {
        // Tensors are either the captured graph's own, by name, or built from its numbers
        plan: runtimePlan.write({ ...plan, lifted: [] }, symbols),
        lifted: plan.lifted.map((tensor) => {
          const table = tableOf(tensor);
          return table ? numberTable.write(table, symbols) : this.#nameOf(tensor);
        }),
        forward: half(roleOf(functional)),
        ..."saved" in facts ? { backward: half("backward"), facts: backwardFacts.write(facts, symbols) } : {},
        questions: questions.write(asked, symbols),
      };
      cacheEntry("graphs", this.key, JSON.stringify(form));
      this.#keepsMore(pair);
    } catch (error) {
      if (!(error instanceof NotStorable)) throw error;
      refused(error);
    }
  }
}

/** The tensors that a graph holds, by name. Throws NotStorable if it holds anything else. */
function heldTensors({ attributes }: GraphModule): ReadonlyMap<string, Tensor> {
  return new Map(
    Object.entries(attributes).map(([name, value]) => {
      if (!isTensor(value)) throw new NotStorable(`${name}, which the graph calls or holds`);
      return [name, value];
    }),
  );
}

/**
 * Describes held tensors as compilation sees them: their metadata, and which of them are the same tensor. Their
 * elements are inputs.
 */
function describe(held: ReadonlyMap<string, Tensor>, symbols: Symbols): Plain {
  const tensors = [...new Set(held.values())];
  return [...held].map(([name, tensor]) => [
    name,
    tensors.indexOf(tensor),
    tensorMeta.write(tensor.meta, symbols),
    tensor.requiresGrad,
  ]);
}

const questions: Codec<readonly Question[]> = list(
  record<Question>({ relation: oneOf("eq", "lt", "le"), left: dim, right: dim }),
);

function refused(error: NotStorable): void {
  counters.add("cached_graphs", "refused");
  logs.emit("cache", `graphs: not kept: ${error.message}`);
}
