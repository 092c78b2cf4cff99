/**
 * The workload of a training step: its layers in order, and their division into stages. Invariant: sizes are bytes
 * and times seconds, for one batch of the recorded step on one rank.
 */

/** An amount of which tensor parallel divides a part over its ranks. */
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
  /** Bytes that later layers read of this one and those before. */
  readonly output: number;
  /** Bytes of what tensor parallel adds up over its ranks, in both passes. */
  readonly sums: readonly number[];
}

/** A recorded training step. */
export interface Workload {
  readonly layers: readonly Layer[];
  /** Seconds of the backward pass for each second of the forward pass. */
  readonly backwardRatio: number;
  /** Seconds that the optimizer takes for all parameters. */
  readonly update: number;
  /** Bytes that the optimizer keeps for each byte of parameters. */
  readonly stateRatio: number;
  /** Bytes that every rank holds besides: buffers, and parameters that are not trained. */
  readonly constants: number;
}

/** One rank's share of an amount, on so many ranks of tensor parallel. */
export function share({ whole, divided }: Amount, tensor: number): number {
  return whole + divided / tensor;
}

/** The sum over layers of a rank's share of something. */
export function total(layers: readonly Layer[], of: (layer: Layer) => Amount, tensor: number): number {
  return layers.reduce((sum, layer) => sum + share(of(layer), tensor), 0);
}

const secondsOf = ({ seconds }: Layer): Amount => seconds;

/**
 * Layers in so many stages one behind the other, of which the slowest is as fast as can be; null where there are fewer layers
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
