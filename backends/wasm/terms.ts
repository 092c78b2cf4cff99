/**
 * Integer expressions for functions written by hand, of 32 bits and of 64. Invariant: a term has no state, so it may
 * be pushed several times and in several places.
 */
import { FunctionBody } from "./function_body.ts";
import type { Op, WasmType } from "./opcodes.ts";

/** Pushes one number. */
export type Term = (body: FunctionBody) => void;

export const int = (value: number): Term => (body) => void body.i32(value);
/** A local of any type. */
export const ref = (local: number): Term => (body) => void body.get(local);

/** An instruction of two operands. */
const binary = (op: Op): (left: Term, right: Term) => Term => (left, right) => (body) => {
  left(body);
  right(body);
  body.op(op);
};

export const sub: (left: Term, right: Term) => Term = binary("i32Sub");
export const div: (left: Term, right: Term) => Term = binary("i32DivS");
export const rem: (left: Term, right: Term) => Term = binary("i32RemS");
export const less: (left: Term, right: Term) => Term = binary("i32LtS");
export const atLeast: (left: Term, right: Term) => Term = binary("i32GeS");
export const same: (left: Term, right: Term) => Term = binary("i32Eq");
export const both: (left: Term, right: Term) => Term = binary("i32And");
const addTwo = binary("i32Add"), mulTwo = binary("i32Mul");

export const add = (...terms: readonly Term[]): Term => terms.reduce(addTwo);
export const mul = (...terms: readonly Term[]): Term => terms.reduce(mulTwo);
export const shl = (term: Term, by: number): Term => binary("i32Shl")(term, int(by));
export const shr = (term: Term, by: number): Term => binary("i32ShrS")(term, int(by));

/** condition ? left : right, both evaluated, of any type. */
export const choose = (condition: Term, left: Term, right: Term): Term => (body) => {
  left(body);
  right(body);
  condition(body);
  body.op("select");
};
export const min = (left: Term, right: Term): Term => choose(less(left, right), left, right);

/** The i32 at an address. */
export const word = (address: Term, offset = 0): Term => (body) => {
  address(body);
  body.memory("i32Load", offset);
};

/** local = term */
export function assign(body: FunctionBody, local: number, term: Term): void {
  term(body);
  body.set(local);
}

/** A new local that holds the term. */
export function keep(body: FunctionBody, term: Term): number {
  const local = body.local("i32");
  assign(body, local, term);
  return local;
}

/** for (counter = from; counter < to; counter += step), given the counter. */
export function each(
  body: FunctionBody,
  range: { readonly from?: Term; readonly to: Term; readonly step?: number },
  run: (counter: Term, local: number) => void,
): void {
  const counter = body.local("i32");
  const { from = int(0), to, step = 1 } = range;
  body.loop(counter, { from: () => from(body), to: () => to(body), step }, () => run(ref(counter), counter));
}

/** Runs `then` where the term is not 0. */
export function when(body: FunctionBody, condition: Term, then: () => void, otherwise?: () => void): void {
  condition(body);
  body.when(then, otherwise);
}

/** Calls a function of the module. */
export function call(body: FunctionBody, index: number, args: readonly Term[]): void {
  for (const arg of args) arg(body);
  body.call(index);
}

const i32s = (count: number) => new Array<"i32">(count).fill("i32");

/** A function whose parameters are all i32, by name. */
export function withParams<Name extends string>(
  names: readonly Name[],
  results: readonly WasmType[] = [],
): { body: FunctionBody; at: (name: Name) => Term; local: (name: Name) => number } {
  const local = (name: Name) => names.indexOf(name);
  return { body: new FunctionBody(i32s(names.length), results), at: (name) => ref(local(name)), local };
}

/** Pushes one i64. */
export type Long = Term;

export const long = (value: number | bigint): Long => (body) => void body.i64(value);

export const isLess: (left: Long, right: Long) => Term = binary("i64LtS");
export const isBelow: (left: Long, right: Long) => Term = binary("i64LtU");
