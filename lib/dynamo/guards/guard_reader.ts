/**
 * Reads the places of guards, for reports and filters. Invariant: reading for a guard runs no user code as long as
 * all earlier guards hold.
 */
import { types } from "node:util";
import { type Dim, freeSymbols, type Sym } from "../../sym/expr.ts";
import { type SizeSource, sourceText as sizeText } from "../../sym/size_guards.ts";
import { isTensor, type Tensor } from "../../tensor/tensor.ts";
import { isUninitialized } from "../../tensor/uninitialized.ts";
import type { Source } from "../source.ts";
import type { FactOf, Guard } from "./guard.ts";
import { isSettledAt } from "./data_reads.ts";
import { callReader, type CapturedReader, type Care, Constants } from "./reader.ts";

/** A call that a check rejected. */
export interface RefusedCall {
  readonly self: unknown;
  readonly args: readonly unknown[];
}

/** Reads a source in a call; undefined if that throws. */
export type Read = (source: Source, call: RefusedCall) => unknown;

/** A size or number in a call: its place as guards print it, and the value. */
interface FoundSize {
  readonly place: string;
  readonly value: unknown;
}

/** Reads for one entry. */
export interface GuardReader {
  readonly read: Read;
  readonly size: (of: SizeSource, call: RefusedCall) => FoundSize;
}

/** Reads sources like checks, but without any facts about objects. */
export function sourceReads(readCaptured: CapturedReader): Read {
  return (source, { self, args }) => {
    const constants = new Constants();
    const lines: string[] = [];
    const care: Care = {
      refuse: () => "return undefined;",
      isSettled: (base) => isSettledAt(base, () => undefined),
      inspected: new Set(),
    };
    const value = callReader(lines, { constants, readCaptured, care }).read(source);
    const read = constants.evaluate(`function (self, args) {\n${lines.join("\n")}\nreturn ${value};\n}`);
    try {
      return typeof read === "function" ? read(self, args) : undefined;
    } catch {
      return undefined;
    }
  };
}

/** The reader of an entry; `sourceNamed` returns the source of a size. */
export function guardReader(
  guards: readonly Guard[],
  read: Read,
  sourceNamed: (name: string) => Source,
): GuardReader {
  const bases = new Map<string, Source>();
  for (const { fact } of guards) {
    if (fact.kind !== "size") continue;
    for (const { base } of sizesIn(fact)) bases.set(base, sourceNamed(base));
  }
  return {
    read,
    size(of, call) {
      const source = bases.get(of.base);
      return { place: sizePlace(of), value: source ? partOf(read(source, call), of.part) : undefined };
    },
  };
}

/** The place of a size, as guards print it. */
export function sizePlace(of: SizeSource): string {
  return sizeText(of).replace(/(?<=["\])])#\d+/g, "");
}

/**
 * A value as a tensor with metadata; null for everything else. Testing an object's class runs traps of proxies that it inherits from.
 */
export function tensorAt(value: unknown): Tensor | null {
  if (typeof value !== "object" || value === null || types.isProxy(value)) return null;
  return Object.hasOwn(value, "layout") && isTensor(value) && !isUninitialized(value) ? value : null;
}

function partOf(value: unknown, part: SizeSource["part"]): unknown {
  if (part.kind === "value") return value;
  const tensor = tensorAt(value);
  switch (part.kind) {
    case "shape":
      return tensor?.shape[part.dim];
    case "stride":
      return tensor?.stride()[part.dim];
    case "offset":
      return tensor?.storageOffset();
    default:
      return part satisfies never;
  }
}

/** The places that a guard on sizes reads. */
export function sizesIn({ guard, env }: FactOf<"size">): SizeSource[] {
  const of = (...dims: readonly Dim[]) => {
    const symbols = new Set<Sym>();
    for (const dim of dims) freeSymbols(dim, symbols);
    return [...symbols].map((symbol) => env.sourceOf(symbol));
  };
  switch (guard.kind) {
    case "range":
      return of(guard.symbol);
    case "source":
      return [guard.source, ...of(guard.equals)];
    case "relation":
      return of(guard.left, guard.right);
    default:
      return guard satisfies never;
  }
}
