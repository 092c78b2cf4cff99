/**
 * Tensors that become buffers of the modules whose fields they are assigned to. A buffer shares the elements of the
 * tensor it is made from. Invariant: in every other respect it is an ordinary tensor.
 */
import { optionsOf, refuseValue } from "../base/checked_input.ts";
import { isTensor, Tensor } from "../tensor/tensor.ts";

const PERSISTENCE: unique symbol = Symbol("whether a buffer is persistent");

/**
 * A tensor that is part of a module's state and not trained, as `torch.nn.Buffer`: assigning one to a field does what
 * `registerBuffer` does, as long as the field holds it. A field that is assigned again keeps its name in the state
 * only with `registerBuffer`.
 */
export class Buffer extends Tensor {
  /** Shares the storage of `data`. Where it is not persistent, it is not part of state dicts. */
  constructor(data: Tensor, persistent: boolean | { readonly persistent?: boolean } = true) {
    if (!isTensor(data)) refuseValue("a tensor for a buffer", data);
    super(data.storage, data.layout, data.offset);
    const plain = new Tensor(data.storage, data.layout, data.offset);
    Object.defineProperty(plain, PERSISTENCE, {
      value: typeof persistent === "boolean"
        ? persistent
        : optionsOf("Buffer", persistent, ["persistent"]).persistent ?? true,
      configurable: true,
      writable: true,
    });
    return plain;
  }

  /** Returns whether a value is a buffer. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return persistenceOf(value) !== null;
  }
}

/** Returns whether a buffer is part of state dicts; null for values that are not buffers. */
export function persistenceOf(value: unknown): boolean | null {
  if (!(value instanceof Tensor)) return null;
  const held: Tensor & { readonly [PERSISTENCE]?: unknown } = value, found = held[PERSISTENCE];
  return typeof found === "boolean" ? found : null;
}
