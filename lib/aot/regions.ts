/**
 * Regions of captured graphs, differentiated and cut once for all their calls. A call that cannot become a region call
 * is replayed inline. Invariant: a region becomes a call only if it does nothing but compute new tensors from its
 * arguments, or new values of arguments as optimizers do.
 */
import { orNull } from "../base/errors.ts";
import { bisection } from "../base/bisect.ts";
import { config } from "../base/config.ts";
import { counters } from "../base/logs.ts";
import { recording } from "../base/recording.ts";
import { copyGraph } from "../graph/copy.ts";
import { gradientCallOf, takesGradients } from "../graph/gradient_call.ts";
import { GraphModule } from "../graph/graph_module.ts";
import {
  type Argument,
  type Graph,
  hasEffect,
  type Node,
  type NodeMeta,
  type Region,
} from "../graph/node.ts";
import { type GraphValue, isGraphValue, tensorArguments } from "../ops/graph_builder.ts";
import { GraphContract, laidOut, outputsOf } from "../ops/rewrite/contract.ts";
import { memoryRoot } from "../ops/rewrite/memory_root.ts";
import { sameMeta } from "../ops/rewrite/metadata.ts";
import { followsInputs } from "../ops/index_checks.ts";
import { findTarget } from "../ops/table.ts";
import { type FunctionalTensor, isFunctional, NotFunctional } from "../autograd/functional.ts";
import { graphRunner } from "../tensor/graph_runner.ts";
import { ambient } from "../tensor/modes.ts";
import { Sym } from "../sym/expr.ts";
import { buildJoint, type JointGraph } from "./joint.ts";
import { outlined } from "./outline.ts";
import type { Partitioner } from "./partition.ts";
import { callVariant, type RegionBackward, type RegionVariant } from "./region_call.ts";
import { simplify } from "./simplify.ts";
import { type CallRegion, traceForward } from "./trace.ts";

const definitionOf = (target: string) => findTarget(target)?.definition;

/** The regions of one captured graph. */
class Regions {
  readonly #variants = new Map<Region, Map<string, RegionVariant | null>>();
  /** Whether a call saves values for its gradient, whether one was differentiated, and whether updates run last. */
  readonly seen = { keeps: false, differentiated: false, updates: false };
  /** The calls that run last, by region. */
  readonly #updates = new Map<Region, { readonly stack: NodeMeta["stack"]; readonly rows: Node[][] }>();

  /** `keeps`: whether calls save what their gradients need; `updatesLast`: whether updates run after all other calls. */
  constructor(readonly partition: Partitioner, readonly keeps: boolean, readonly updatesLast: boolean) {}

  /** Appends a call of the captured graph if possible; an update by `appendUpdates`. */
  readonly call: CallRegion = (...call) => this.#append(call, this.updatesLast);

  #append(
    [replay, { node, region, args }, keys]: Parameters<CallRegion>,
    updatesLast: boolean,
  ): ReturnType<CallRegion> {
    const { recorder } = replay;
    const given = region.graph.placeholders.map((placeholder, at) => {
      const argument = args[at], { value } = placeholder.meta;
      if (value.kind !== "tensor") {
        return argument instanceof Sym || typeof argument === "number" ? argument : null;
      }
      if (!isFunctional(argument) || !sameMeta(argument.meta, value.tensor)) return null;
      return laidOut(recorder.api, argument.value(), value.tensor);
    });
    const whole = given.flatMap((each) => each === null ? [] : [each]);
    if (whole.length < given.length) return null;
    const requires = whole.flatMap((each) =>
      isGraphValue(each) ? [this.keeps && recorder.requiring.has(each)] : []
    );
    const variant = this.#variantFor(node.target, region, requires);
    if (!variant) return null;
    const written = variant.writes.flatMap(({ input }) => {
      const argument = args[input];
      return isFunctional(argument) ? [argument] : [];
    });
    // A written tensor must be visible through one argument only
    const isSeen = ({ storage }: FunctionalTensor) =>
      args.filter((each) => isFunctional(each) && each.storage === storage).length > 1;
    if (written.some(isSeen)) return null;
    if (updatesLast && this.#updateLast(node, variant, { whole, written })) return [];
    if (variant.backward) this.seen.keeps = true;
    const differentiated = () => void (this.seen.differentiated = true);
    return callVariant(replay, variant, { args: whole, written, keys, differentiated });
  }

  /** Adds a call to those that run last, if it does nothing but write to whole inputs for the first time. */
  #updateLast(
    { meta: { stack } }: Node,
    { forward, results, writes, randomOps }: RegionVariant,
    { whole, written }: {
      readonly whole: readonly (GraphValue | Argument)[];
      readonly written: readonly FunctionalTensor[];
    },
  ): boolean {
    const row = whole.flatMap((each) => isGraphValue(each) ? [each.node] : []);
    if (results.length > 0 || randomOps > 0 || writes.length === 0 || row.length < whole.length) return false;
    const areInputs = written.every(({ steps, storage: { input, version } }) =>
      input !== undefined && version === 0 && steps.length === 0
    );
    // An input in another layout was copied
    if (!areInputs || writes.some(({ input }) => row[input]?.op !== "placeholder")) return false;
    const known = this.#updates.get(forward);
    if (known) known.rows.push(row);
    else this.#updates.set(forward, { stack, rows: [row] });
    for (const each of written) each.updateLast();
    this.seen.updates = true;
    return true;
  }

  /** Appends the updates. Throws NotFunctional if one reads what another one writes. */
  appendUpdates(graph: Graph): void {
    const { output: before } = graph;
    const meta = {
      value: { kind: "tensors", tensors: [], requiresGrad: false },
      partition: "forward",
    } as const;
    const read = new Set<Node>(), written = new Set<Node>();
    for (const [k, [region, { stack, rows }]] of [...this.#updates].entries()) {
      for (const row of rows) {
        for (const [at, node] of row.entries()) {
          if (region.mutatedInputs.includes(at)) written.add(node);
          else read.add(memoryRoot(node));
        }
      }
      graph.create("call_function", `update_${k}_`, { args: rows, meta: { ...meta, stack, region }, before });
    }
    if (!read.isDisjointFrom(written)) {
      throw new NotFunctional("Expected updates that read nothing which others write");
    }
  }

  /**
   * A variant for the arguments that require gradients; a variant for more arguments is reused if its result agrees.
   */
  #variantFor(name: string, region: Region, requires: readonly boolean[]): RegionVariant | null {
    if (!this.keeps) return this.#variant(name, region, requires);
    const most = region.graph.placeholders.flatMap(({ meta: { value } }) =>
      value.kind === "tensor" ? [value.requiresGrad] : []
    );
    if (requires.every((each, at) => !each || most[at])) {
      const widest = this.#variant(name, region, most);
      const leads = widest?.backward?.gradients.some((at, k) => at !== null && requires[k]);
      if (!widest || leads) return widest;
    }
    return this.#variant(name, region, requires);
  }

  #variant(name: string, region: Region, requires: readonly boolean[]): RegionVariant | null {
    const known = this.#variants.get(region) ?? new Map<string, RegionVariant | null>();
    this.#variants.set(region, known);
    const key = requires.map(Number).join("");
    const found = known.get(key);
    if (found !== undefined) return found;
    const made = recording.phase(
      "region",
      () => this.#differentiated(`${name}_${known.size}`, region, requires),
    );
    known.set(key, made);
    return made;
  }

  #differentiated(name: string, region: Region, requires: readonly boolean[]): RegionVariant | null {
    const joint = orNull(NotFunctional, () => {
      const captured = new GraphModule(requiring(region.graph, requires), {}, graphRunner);
      return buildJoint(traceForward(captured, (...call) => this.#append(call, false)), {
        gradEnabled: ambient.gradEnabled,
      });
    });
    if (!joint) return null;
    const results = resultsOf(joint);
    if (!results) return null;
    const { mutations: writes } = joint.plan;
    if (writes.length > 0 && !writesUnrecorded(region.graph)) return null;
    simplify(joint);
    const { plan: { randomOps } } = joint;
    const [device = "cpu"] = joint.graph.nodes.flatMap(({ meta: { value } }) =>
      value.kind === "tensor" ? [value.tensor.device] : []
    );
    const common = { name, results, writes, randomOps, device };
    if (joint.tangents.length === 0) {
      if (!followsInputs(joint.graph, definitionOf)) return null;
      counters.add("aot", "regions");
      return {
        ...common,
        forward: {
          graph: joint.graph,
          ownResults: joint.results.length,
          mutatedInputs: writes.map(({ input }) => input),
        },
      };
    }
    const parts = this.partition(joint);
    // The caller of a region checks the indices
    if (![parts.forward, parts.backward].every((graph) => followsInputs(graph, definitionOf))) return null;
    counters.add("aot", "regions");
    const [differentiable] = joint.plan.differentiable;
    const places: (number | null)[] = [];
    let count = 0;
    for (const [at, gradient] of joint.gradients.entries()) {
      const { value } = region.graph.placeholders[at]?.meta ?? {};
      if (value?.kind === "tensor") places.push(gradient === null ? null : count++);
    }
    const { backward: graph } = parts;
    graph.output.args = [outputsOf(graph).filter((each) => each !== null)];
    const contract = new GraphContract(graph, { ownResults: count });
    contract.separateResults();
    contract.verify("the backward of a region");
    const forward = { graph: parts.forward, ownResults: parts.savedFrom, mutatedInputs: [] };
    if (count === 0 || differentiable?.kind !== "output") return { ...common, forward };
    const backward: RegionBackward = {
      region: { graph, ownResults: count, mutatedInputs: [] },
      saved: parts.saved,
      sizes: parts.sizes,
      result: differentiable.output,
      gradients: places,
    };
    return { ...common, forward, backward };
  }
}

/**
 * The joint graph of a captured graph with repeated stretches as calls of one region; null if nothing repeats, or if
 * histories of individual calls matter because something that a region has read or returned is overwritten.
 */
export function jointOfRegions(captured: GraphModule, partition: Partitioner): JointGraph | null {
  // Repro scripts name ops alone
  if (
    config.reproAfter !== "" || !bisection.allows("joint_passes", () => "making equal stretches one region")
  ) {
    return null;
  }
  // The gradient of a region is a call without a gradient of its own
  const isTwice = (node: Node) => takesGradients(node) && gradientCallOf(node).createGraph;
  const { calling, attributes, runner } = captured;
  if (calling.nodes.some(isTwice)) return null;
  const whole = new GraphModule(calling, attributes, runner);
  const found = recording.phase("outline", () => outlined(whole));
  if (!found && !calling.nodes.some(({ meta }) => meta.region)) return null;
  const module = found ?? whole;
  const through = (updatesLast: boolean): JointGraph | null => {
    const regions = new Regions(partition, true, updatesLast), joint = jointThrough(module, regions);
    const { keeps, differentiated, updates } = regions.seen;
    // Without a gradient nothing has to be saved
    const found = joint && keeps && !differentiated
      ? jointThrough(module, new Regions(partition, false, updatesLast))
      : joint;
    // Something may be read after its last update
    return found ?? (updates ? through(false) : null);
  };
  return through(true);
}

function jointThrough(module: GraphModule, regions: Regions): JointGraph | null {
  return orNull(NotFunctional, () => {
    const trace = traceForward(module, regions.call);
    const joint = buildJoint(trace, { gradEnabled: ambient.gradEnabled });
    regions.appendUpdates(joint.graph);
    const { functional, recorder: { tape } } = trace.replay, { differentiable, lost } = joint.plan;
    const isOverwritten = tape.some((entry) =>
      entry.kind === "call" && entry.own !== undefined &&
      [...tensorArguments(entry.args).map(({ value }) => value), ...entry.outs].some((value) =>
        functional.overwritten(entry, value) !== null
      )
    );
    // Lost history is reported for individual calls; a history that has been released stays released
    const isLost = lost.some(({ isUsedUp }) => !isUsedUp);
    return isLost || (differentiable.length > 0 && isOverwritten) ? null : joint;
  });
}

/** Returns whether a graph writes in place only where no gradient is recorded. */
function writesUnrecorded({ nodes }: Graph): boolean {
  return nodes.every((node) => !hasEffect(node) || node.meta.noGrad === true);
}

/** A copy of a graph whose inputs require gradients as specified. */
function requiring(graph: Graph, requires: readonly boolean[]): Graph {
  const copy = copyGraph(graph);
  let next = 0;
  for (const { meta } of copy.placeholders) {
    if (meta.value.kind === "tensor") meta.value = { ...meta.value, requiresGrad: requires[next++] ?? false };
  }
  return copy;
}

/**
 * Returns the positions of a region's results among those of its forward graph; null if it does more than compute new
 * tensors and new values of arguments that no gradient flows into, or if passes could reach one result without another,
 * and so release only some of its saved values.
 */
function resultsOf({ plan }: JointGraph): number[] | null {
  const { outputs, mutations, lifted, lost, overwritten, addressed, differentiable } = plan;
  const others = [lifted, lost, overwritten, addressed];
  if (others.some((each) => each.length > 0) || differentiable.length > 1) return null;
  if (mutations.length > 0 && (differentiable.length > 0 || mutations.some((each) => each.differentiable))) {
    return null;
  }
  const places = outputs.map((output) => output.kind === "result" ? output.output : null);
  const found = places.filter((place) => place !== null);
  return found.length === places.length && differentiable.every(({ kind }) => kind === "output")
    ? found
    : null;
}
