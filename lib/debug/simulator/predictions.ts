/**
 * Predicts the time of a training step on many ranks, and the peak memory over ranks, from a workload, a cluster and a
 * layout. Invariants: on one rank the prediction is the recorded step; micro-batches are the recorded batch, so that no
 * time is extrapolated to other shapes.
 */
import { gpipe, maxSavedBatches, oneForwardOneBackward } from "../../distributed/pipelining/orders.ts";
import { allGatherSeconds, allReduceSeconds, type Cluster, sendSeconds, type Span } from "./links.ts";
import { type Layer, share, stagesOf, total, type Workload } from "./workload.ts";

/**
 * Division of a step over ranks: `data` copies of the model, layers divided over `tensor` ranks, and a number of
 * stages.
 */
export interface Layout {
  readonly data: number;
  readonly tensor: number;
  readonly stages: number;
  /** Whether parameters, gradients and optimizer state are sharded over the copies (ZeRO-3). */
  readonly sharded: boolean;
}

/** The assumptions of a prediction. */
export interface Terms {
  readonly cluster: Cluster;
  /** Number of micro-batches of a pipeline step. */
  readonly microbatches: number;
  /** Whether communication of gradients, and of parameters of layers, overlaps with computation. */
  readonly overlaps: boolean;
  readonly schedule: "gpipe" | "1f1b";
  /** Speed of a rank relative to the machine that recorded the step. */
  readonly speed: number;
}

/** The predicted step. */
export interface Prediction {
  readonly layout: Layout;
  readonly seconds: number;
  /** Recorded batches per step, on all ranks together. */
  readonly batches: number;
  /** Peak memory of the ranks, in bytes. */
  readonly bytes: number;
  /** Seconds in which ranks wait for communication. */
  readonly communication: number;
}

/** Bytes of a gradient bucket: the communication of the last one overlaps with nothing. */
const BUCKET = 25 * 2 ** 20;

/** The bytes of a stage. */
function stageBytes(
  { stateRatio, constants }: Workload,
  layers: readonly Layer[],
  { layout: { data, tensor, sharded }, kept }: { readonly layout: Layout; readonly kept: number },
): number {
  const parameters = total(layers, (layer) => layer.parameters, tensor);
  const held = parameters * (2 + stateRatio) / (sharded ? data : 1);
  const largest = Math.max(...layers.map((layer) => share(layer.parameters, tensor)));
  // A layer's gathered parameters, and its gradients before they are scattered
  const gathered = sharded && data > 1 ? 2 * largest : 0;
  return held + constants + gathered + kept * total(layers, (layer) => layer.saved, tensor);
}

/** Seconds of one stage. */
interface StageTimes {
  /** The passes of one micro-batch, including the sums of tensor parallelism. */
  readonly pass: number;
  /** The part of `pass` that is communication. */
  readonly sums: number;
  /** Communication after the passes of all micro-batches. */
  readonly gradients: number;
  readonly update: number;
}

function stageTimes(
  { layers: all, backwardRatio, update }: Workload,
  layers: readonly Layer[],
  { layout, terms }: { readonly layout: Layout; readonly terms: Terms },
): StageTimes {
  const { data, tensor, stages, sharded } = layout, { cluster, overlaps, speed } = terms;
  const among: Span = { ranks: tensor, stride: 1 }, copies: Span = { ranks: data, stride: tensor };
  const forward = total(layers, (layer) => layer.seconds, tensor) / speed, backward = forward * backwardRatio;
  const sums = layers.flatMap((layer) => layer.sums)
    .reduce((sum, bytes) => sum + allReduceSeconds(cluster, among, bytes), 0);
  const sizes = layers.map((layer) => share(layer.parameters, tensor));
  const bytes = sizes.reduce((a, b) => a + b, 0), ofAll = total(all, (layer) => layer.parameters, 1);
  const own = ofAll > 0 ? bytes / ofAll / (sharded ? data : 1) : 0;
  const times = { update: own * update / speed };
  if (!sharded) {
    const whole = allReduceSeconds(cluster, copies, bytes);
    const last = allReduceSeconds(cluster, copies, Math.min(bytes, BUCKET));
    const gradients = overlaps ? Math.max(last, whole - backward) : whole;
    return { ...times, sums, pass: forward + backward + sums, gradients };
  }
  // Parameters are gathered for both passes; gradients are scattered in between
  const each = sizes.map((size) => allGatherSeconds(cluster, copies, size));
  const moved = 3 * each.reduce((a, b) => a + b, 0), first = each[0] ?? 0;
  const exposed = overlaps ? Math.max(0, moved - forward - backward) + (stages === 1 ? first : 0) : moved;
  return {
    sums: sums + exposed,
    update: times.update,
    pass: forward + backward + sums + exposed,
    gradients: 0,
  };
}

/** Predicts a layout; null if the model has fewer layers than stages. */
export function predict(workload: Workload, layout: Layout, terms: Terms): Prediction | null {
  const { data, tensor, stages } = layout, parts = stagesOf(workload.layers, stages, tensor);
  if (!parts) return null;
  const microbatches = stages === 1 ? 1 : terms.microbatches;
  const order = terms.schedule === "gpipe" ? gpipe : oneForwardOneBackward;
  const neighbours: Span = { ranks: stages, stride: tensor * data };
  const times = parts.map((layers) => stageTimes(workload, layers, { layout, terms }));
  const most = (of: (time: StageTimes) => number) => Math.max(...times.map(of));
  const message = Math.max(
    0,
    ...parts.slice(0, -1).map((layers) => sendSeconds(terms.cluster, neighbours, layers.at(-1)?.output ?? 0)),
  );
  const turns = microbatches + stages - 1, turn = most(({ pass }) => pass) + 2 * message;
  const kept = parts.map((_, stageIndex) =>
    maxSavedBatches(order({ stageIndex, numStages: stages }, microbatches))
  );
  const gradients = most((time) => time.gradients);
  return {
    layout,
    seconds: turns * turn + gradients + most(({ update }) => update),
    batches: data * microbatches,
    bytes: Math.max(
      ...parts.map((layers, k) => stageBytes(workload, layers, { layout, kept: kept[k] ?? 1 })),
    ),
    communication: turns * (2 * message + most(({ sums }) => sums)) + gradients,
  };
}
