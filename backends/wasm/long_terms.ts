/**
 * 64-bit integer expressions for functions written by hand, as terms.ts has those of 32. Input: constants and terms;
 * output: terms that push one i64, or one i32 where they compare.
 */
import type { FunctionBody } from "./function_body.ts";
import { binary, choose, keep, type Term } from "./terms.ts";

/** Pushes one i64. */
export type Long = Term;

export const long = (value: number | bigint): Long => (body) => void body.i64(value);

export const plus: (left: Long, right: Long) => Long = binary("i64Add");
export const minus: (left: Long, right: Long) => Long = binary("i64Sub");
export const times: (left: Long, right: Long) => Long = binary("i64Mul");
export const bitAnd: (left: Long, right: Long) => Long = binary("i64And");
export const bitOr: (left: Long, right: Long) => Long = binary("i64Or");
export const bitXor: (left: Long, right: Long) => Long = binary("i64Xor");
/** Counts must lie in [0, 64). */
export const left: (value: Long, count: Long) => Long = binary("i64Shl");
export const right: (value: Long, count: Long) => Long = binary("i64ShrU");

export const isLess: (left: Long, right: Long) => Term = binary("i64LtS");
export const isBelow: (left: Long, right: Long) => Term = binary("i64LtU");
export const isSame: (left: Long, right: Long) => Term = binary("i64Eq");
export const differs: (left: Long, right: Long) => Term = binary("i64Ne");

/** 1 or 0. */
export const asLong = (truth: Term): Long => (body) => {
  truth(body);
  body.op("i64ExtendI32U");
};

export const lesser = (a: Long, b: Long): Long => choose(isLess(a, b), a, b);
export const greater = (a: Long, b: Long): Long => choose(isLess(a, b), b, a);
/** Leading zeros. */
export const leading = (value: Long): Long => (body) => {
  value(body);
  body.op("i64Clz");
};

/** A new local that holds the term. */
export const keepLong = (body: FunctionBody, term: Long): number => keep(body, term, "i64");
