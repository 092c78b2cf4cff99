/**
 * The workload of a training step: its layers in order, and their division into stages. Invariant: sizes are bytes
 * and times seconds, for one batch of the recorded step on one rank.
 */

/** An amount, and the part of it that tensor parallelism divides over ranks. */
export interface Amount {
  readonly whole: number;
  readonly divided: number;
}

/** One matrix of parameters, and the operations that follow it up to the next. */
export interface Layer {
  /** Bytes of parameters. */
  readonly parameters: Amount;
  /** Seconds of the forward pass. */
  readonly seconds: Amount;
  /** Bytes that the backward pass reads. */
  readonly saved: Amount;
  /** Bytes that later layers read from this layer and earlier ones. */
  readonly output: number;
  /** Bytes that tensor parallelism sums over ranks, in both passes. */
  readonly sums: readonly number[];
}

/** A recorded training step. */
export interface Workload {
  readonly layers: readonly Layer[];
  /** Seconds of the backward pass per second of the forward pass. */
  readonly backwardRatio: number;
  /** Seconds of the optimizer's update of all parameters. */
  readonly update: number;
  /** Bytes of optimizer state per byte of parameters. */
  readonly stateRatio: number;
  /** Further bytes of every rank: buffers, and parameters that are not trained. */
  readonly constants: number;
}

/** One rank's share of an amount under tensor parallelism. */
export function share({ whole, divided }: Amount, tensor: number): number {
  return whole + divided / tensor;
}

/** Sums a rank's share of an amount over layers. */
export function total(layers: readonly Layer[], of: (layer: Layer) => Amount, tensor: number): number {
  return layers.reduce((sum, layer) => sum + share(of(layer), tensor), 0);
}

const secondsOf = ({ seconds }: Layer): Amount => seconds;

/**
 * Divides layers into consecutive stages so that the slowest is as fast as possible; null if there are fewer layers
 * than stages.
 */
export function stagesOf(layers: readonly Layer[], stages: number, tensor: number): Layer[][] | null {
  if (layers.length < stages) return null;
  const cut = (most: number): Layer[][] => {
    const found: Layer[][] = [[]];
    let time = 0;
    layers.forEach((layer, k) => {
      const own = share(layer.seconds, tensor), last = found.at(-1) ?? [];
      const mustCut = layers.length - k <= stages - found.length;
      if (last.length > 0 && found.length < stages && (time + own > most || mustCut)) {
        found.push([layer]);
        time = own;
      } else {
        last.push(layer);
        time += own;
      }
    });
    return found;
  };
  const slowest = (parts: Layer[][]) => Math.max(...parts.map((part) => total(part, secondsOf, tensor)));
  let low = 0, high = total(layers, secondsOf, tensor), best = cut(high);
  for (let round = 0; round < 40; round++) {
    const middle = (low + high) / 2, found = cut(middle);
    if (slowest(found) < slowest(best)) best = found;
    if (slowest(found) <= middle) high = middle;
    else low = middle;
  }
  return best;
}
