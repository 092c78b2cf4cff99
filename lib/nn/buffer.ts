/**
 * Tensors that become buffers of the modules whose fields they are assigned to. Invariant: a buffer shares the storage
 * of the tensor it is made from, and is otherwise an ordinary tensor.
 */
import { optionsOf, refuseValue } from "../base/checked_input.ts";
import { isTensor, Tensor } from "../tensor/tensor.ts";

const PERSISTENCE: unique symbol = Symbol("whether a buffer is persistent");

/**
 * A tensor that belongs to a module's state but is not trained, as `torch.nn.Buffer`: assigning one to a field acts
 * like `registerBuffer`, until the field is assigned another value. Only `registerBuffer` keeps the name in the state
 * across such assignments.
 */
export class Buffer extends Tensor {
  /** Shares the storage of `data`. A buffer that is not persistent is left out of state dicts. */
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
