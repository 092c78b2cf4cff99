/**
 * Messages between threads: trees of tensors, arrays, plain objects and values that `structuredClone` keeps intact.
 * Invariant: the receiver does not copy elements of tensors; a value that would not arrive unchanged is an error that
 * names its place.
 */
import { DynError } from "../base/errors.ts";
import { isPlainObject } from "../base/tree.ts";
import { elementsOf, type SharedElements, tensorOver } from "../tensor/sharing.ts";
import { isTensor } from "../tensor/tensor.ts";

/** A value in a message. */
export type SentValue =
  | { readonly kind: "tensor"; readonly elements: SharedElements }
  | { readonly kind: "array"; readonly items: readonly SentValue[] }
  | { readonly kind: "object"; readonly entries: readonly (readonly [key: string, value: SentValue])[] }
  | { readonly kind: "plain"; readonly value: unknown };

/** A value, and the buffers that are transferred to the other thread with it. */
interface SentMessage {
  readonly value: SentValue;
  readonly transferred: readonly ArrayBuffer[];
}

/** Prepares a value for one other thread. Throws DynError for values that cannot be sent; `place` names the value. */
export function sendOver(value: unknown, place: string): SentMessage {
  const transferred: ArrayBuffer[] = [];
  const make = (bytes: number) => {
    const buffer = new ArrayBuffer(bytes);
    transferred.push(buffer);
    return buffer;
  };
  return { value: sent(value, place, make), transferred };
}

/** Prepares a value that any number of threads share. Throws DynError for values that cannot be sent. */
export function sendToAll(value: unknown, place: string): SentValue {
  return sent(value, place, (bytes) => new SharedArrayBuffer(bytes));
}

/** The value of a message. */
export function received(value: SentValue): unknown {
  switch (value.kind) {
    case "tensor":
      return tensorOver(value.elements);
    case "array":
      return value.items.map(received);
    case "object":
      return Object.fromEntries(value.entries.map(([key, each]) => [key, received(each)]));
    case "plain":
      return value.value;
    default:
      return value satisfies never;
  }
}

function sent(
  value: unknown,
  place: string,
  make: (bytes: number) => ArrayBuffer | SharedArrayBuffer,
): SentValue {
  if (isTensor(value)) return { kind: "tensor", elements: elementsOf(value, make) };
  if (Array.isArray(value)) {
    return { kind: "array", items: value.map((each, k) => sent(each, `${place}[${k}]`, make)) };
  }
  if (isPlainObject(value)) {
    const entries = Object.entries(value).map(([key, each]) =>
      [key, sent(each, `${place}.${key}`, make)] as const
    );
    return { kind: "object", entries };
  }
  if (isKeptWhole(value)) return { kind: "plain", value };
  const found = typeof value === "function"
    ? `the function ${value.name || "(unnamed)"}`
    : typeof value === "object"
    ? `a ${value?.constructor.name}`
    : `a ${typeof value}`;
  throw new DynError(`Expected a value that can be sent to another thread at ${place} but found ${found}`);
}

/**
 * Returns whether `structuredClone` returns an equal value for an object that is neither an array nor a plain object.
 */
function isKeptWhole(value: unknown): boolean {
  if (typeof value === "function" || typeof value === "symbol") return false;
  if (typeof value !== "object" || value === null) return true;
  return ArrayBuffer.isView(value) || value instanceof ArrayBuffer || value instanceof SharedArrayBuffer ||
    value instanceof Date || value instanceof RegExp;
}
