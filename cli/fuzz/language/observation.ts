/**
 * Runs scenarios and compares the observations of two runs. Scenarios compile functions, call them and show values.
 * Invariant: everything that a program can observe counts: results, elements, identity, errors, console output,
 * gradients, random numbers.
 */
import { compiler, counters, noGrad, type Tensor } from "../../../mod.ts";
import { SELF_REFUSING } from "../../../lib/dynamo/cache/compile_entry.ts";
import { isTensor } from "../../../lib/tensor/tensor.ts";

type AnyFunction = (this: never, ...args: never[]) => unknown;

/** The environment of a program: a compiler and an observer. */
export interface World {
  /** Compiles, or returns the function unchanged. */
  readonly compile: <F extends AnyFunction>(fn: F) => F;
  /** Records values in their present state. */
  readonly see: (...values: readonly unknown[]) => void;
  /** Records a call's result or error. */
  readonly attempt: (run: () => unknown) => void;
}

/** A scenario: creates its own state, compiles, calls, shows. */
export type Program = (world: World) => void | Promise<void>;

/** One observation: a text, or a number that is compared with a tolerance. */
export type Token = string | { readonly number: number };

/** Runs a program and returns its observations. */
export async function observe(program: Program, compile: World["compile"]): Promise<readonly Token[]> {
  const watcher = new Watcher();
  const restore = watcher.watchConsole();
  try {
    await program({
      compile,
      see: (...values) => watcher.see(values),
      attempt: (run) => watcher.attempt(run),
    });
  } catch (error) {
    watcher.thrown(error);
  } finally {
    restore();
  }
  return watcher.tokens;
}

/** The first difference between two runs, or null. */
export function difference(want: readonly Token[], got: readonly Token[]): string | null {
  const length = Math.max(want.length, got.length);
  for (let i = 0; i < length; i++) {
    const a = want[i], b = got[i];
    if (a !== undefined && b !== undefined && same(a, b)) continue;
    const before = want.slice(Math.max(0, i - 12), i).map(show).join(" ");
    const after = (tokens: readonly Token[]) => tokens.slice(i, i + 8).map(show).join(" ");
    return `… ${before}\n  expected: ${after(want)}\n  found:    ${after(got)}`;
  }
  return null;
}

function show(token: Token): string {
  return typeof token === "string" ? token : `${token.number}`;
}

function same(a: Token, b: Token): boolean {
  if (typeof a === "string" || typeof b === "string") return a === b;
  const x = a.number, y = b.number;
  if (Object.is(x, y) || x === y) return true;
  return Math.abs(x - y) <= 1e-6 + 2e-5 * Math.max(Math.abs(x), Math.abs(y));
}

/** Turns values into tokens; objects keep one number each for the whole run. */
class Watcher {
  readonly tokens: Token[] = [];
  readonly #numbers = new Map<unknown, number>();

  see(values: readonly unknown[]): void {
    this.tokens.push("see");
    const open = new Set<unknown>();
    for (const value of values) this.#describe(value, open);
  }

  attempt(run: () => unknown): void {
    try {
      this.see([run()]);
    } catch (error) {
      this.thrown(error);
    }
  }

  thrown(error: unknown): void {
    this.tokens.push("thrown");
    if (error instanceof Error) {
      this.tokens.push(error.constructor.name, error.message);
      if (error.cause !== undefined) this.#describe(error.cause, new Set());
    } else this.#describe(error, new Set());
  }

  /** Records console output instead of writing it. */
  watchConsole(): () => void {
    const former = { log: console.log, warn: console.warn, error: console.error };
    // Like console output, observations break graphs.
    const note = (kind: string) =>
      compiler.disable((...values: readonly unknown[]) => {
        this.tokens.push(kind);
        this.see(values);
      });
    console.log = note("log");
    console.warn = note("warn");
    console.error = note("error");
    return () => void Object.assign(console, former);
  }

  #describe(value: unknown, open: Set<unknown>): void {
    const { tokens } = this;
    switch (typeof value) {
      case "number":
        tokens.push(Number.isInteger(value) ? (Object.is(value, -0) ? "-0" : `${value}`) : { number: value });
        return;
      case "string":
        tokens.push(JSON.stringify(value));
        return;
      case "bigint":
        tokens.push(`${value}n`);
        return;
      case "symbol":
      case "undefined":
      case "boolean":
        tokens.push(String(value));
        return;
      case "function":
        tokens.push(`function#${this.#numberOf(value)} ${value.name}`);
        return;
      case "object":
        if (value === null) tokens.push("null");
        else this.#describeObject(value, open);
        return;
    }
  }

  #numberOf(value: unknown): number {
    let number = this.#numbers.get(value);
    if (number === undefined) this.#numbers.set(value, number = this.#numbers.size);
    return number;
  }

  #describeObject(value: object, open: Set<unknown>): void {
    const { tokens } = this;
    const number = this.#numberOf(value);
    if (open.has(value)) {
      tokens.push(`#${number}`);
      return;
    }
    open.add(value);
    if (isTensor(value)) return this.#describeTensor(value, number, open);
    const prototype: unknown = Object.getPrototypeOf(value);
    const name = prototype === null
      ? "null"
      : typeof prototype === "object" && prototype !== null
      ? String(prototype.constructor?.name)
      : "?";
    tokens.push(`${name}#${number}${Object.isFrozen(value) ? "!" : Object.isExtensible(value) ? "" : "~"}{`);
    if (value instanceof Date) tokens.push(`${value.getTime()}`);
    else if (value instanceof RegExp) tokens.push(`${value} ${value.lastIndex}`);
    else if (value instanceof Map) {
      for (const [k, v] of value) {
        this.#describe(k, open);
        tokens.push("=>");
        this.#describe(v, open);
      }
    } else if (value instanceof Set) { for (const each of value) this.#describe(each, open); }
    else if (value instanceof Error) tokens.push(value.name, value.message);
    else if (value instanceof ArrayBuffer) this.#describe([...new Uint8Array(value)], open);
    else if (value instanceof DataView) tokens.push(`${value.byteOffset} ${value.byteLength}`);
    for (const key of Reflect.ownKeys(value)) {
      if (value instanceof Error && (key === "stack" || key === "message")) continue;
      const descriptor = Reflect.getOwnPropertyDescriptor(value, key);
      if (!descriptor) continue;
      const flags = `${descriptor.writable ? "" : "r"}${descriptor.enumerable ? "" : "h"}${
        descriptor.configurable ? "" : "f"
      }`;
      tokens.push(
        `${String(key)}${flags && !(Array.isArray(value) && key === "length") ? `(${flags})` : ""}:`,
      );
      if ("value" in descriptor) this.#describe(descriptor.value, open);
      else tokens.push(`accessor${descriptor.get ? " get" : ""}${descriptor.set ? " set" : ""}`);
    }
    tokens.push("}");
  }

  #describeTensor(value: Tensor, number: number, open: Set<unknown>): void {
    const { tokens } = this;
    tokens.push(
      `tensor#${number} ${value.dtype}[${value.shape}]${value.requiresGrad ? " grad" : ""}${
        value.isLeaf ? "" : " inner"
      } ${value.constructor.name}`,
    );
    for (const each of noGrad(() => value.detach().toTypedArray())) tokens.push({ number: Number(each) });
    if (value.isLeaf && value.grad) {
      tokens.push("grad:");
      this.#describe(value.grad, open);
    }
    for (const key of Reflect.ownKeys(value)) {
      if (
        typeof key === "string" && Object.getOwnPropertyDescriptor(value, key)?.enumerable &&
        key.startsWith("my")
      ) {
        tokens.push(`${key}:`);
        this.#describe(Reflect.get(value, key), open);
      }
    }
  }
}

/** Reasons for running uncompiled that are faults of the compiler; only counters show them. */
export const FAULTS: readonly string[] = [
  "internal error while a function was captured",
  "expected exception that was not thrown",
];

/**
 * Returns the number of calls that ran uncompiled because the compiler failed or was wrong about them, or were
 * compiled to code that serves no call; nothing else shows these.
 */
export function faults(): number {
  return FAULTS.reduce((sum, category) => sum + counters.get("uncompiled", category), 0) +
    counters.get("guards", SELF_REFUSING);
}
