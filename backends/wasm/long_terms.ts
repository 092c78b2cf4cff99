/**
 * 64-bit integer expressions for functions written by hand. Input: constants and locals; output: terms that push one
 * i64, or one i32 where they compare. Invariant: a term has no state, so it may be pushed several times.
 */
import type { FunctionBody } from "./function_body.ts";
import type { OP } from "./opcodes.ts";

/** Pushes one i64. */
export type Long = (body: FunctionBody) => void;
/** Pushes one i32: whether something holds. */
export type Truth = (body: FunctionBody) => void;

export const long = (value: number | bigint): Long => (body) => void body.i64(value);
export const longRef = (local: number): Long => (body) => void body.get(local);

const binary = (op: keyof typeof OP) => (left: Long, right: Long): Long => (body) => {
  left(body);
  right(body);
  body.op(op);
};

export const plus: (left: Long, right: Long) => Long = binary("i64Add");
export const minus: (left: Long, right: Long) => Long = binary("i64Sub");
export const times: (left: Long, right: Long) => Long = binary("i64Mul");
export const bitAnd: (left: Long, right: Long) => Long = binary("i64And");
export const bitOr: (left: Long, right: Long) => Long = binary("i64Or");
export const bitXor: (left: Long, right: Long) => Long = binary("i64Xor");
/** Counts must lie in [0, 64). */
export const left: (value: Long, count: Long) => Long = binary("i64Shl");
export const right: (value: Long, count: Long) => Long = binary("i64ShrU");

export const isLess: (left: Long, right: Long) => Truth = binary("i64LtS");
export const isBelow: (left: Long, right: Long) => Truth = binary("i64LtU");
export const isSame: (left: Long, right: Long) => Truth = binary("i64Eq");
export const differs: (left: Long, right: Long) => Truth = binary("i64Ne");

/** 1 or 0. */
export const asLong = (truth: Truth): Long => (body) => {
  truth(body);
  body.op("i64ExtendI32U");
};

/** condition ? then : otherwise, both evaluated. */
export const either = (condition: Truth, then: Long, otherwise: Long): Long => (body) => {
  then(body);
  otherwise(body);
  condition(body);
  body.op("select");
};

export const lesser = (a: Long, b: Long): Long => either(isLess(a, b), a, b);
export const greater = (a: Long, b: Long): Long => either(isLess(a, b), b, a);
/** Leading zeros. */
export const leading = (value: Long): Long => (body) => {
  value(body);
  body.op("i64Clz");
};

/** A new local that holds the term. */
export function keepLong(body: FunctionBody, term: Long): number {
  const local = body.local("i64");
  setLong(body, local, term);
  return local;
}

export function setLong(body: FunctionBody, local: number, term: Long): void {
  term(body);
  body.set(local);
}
