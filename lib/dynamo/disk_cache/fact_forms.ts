/**
 * Serialises guards. Invariant: total over the kinds of facts; references that have no number (cells) are refused.
 */
import { ENGINE_STATES } from "../guards/engine_state.ts";
import { DTYPES } from "../../base/dtype.ts";
import type { BreakReason, UserFrame } from "../../base/errors.ts";
import { localAddress, portableAddress } from "../../base/portable_addresses.ts";
import type { SourcePosition } from "../../graph/node.ts";
import { sizeGuard } from "../../sym/stored/envs.ts";
import { flag, list, number as count, oneOf, orNull, primitiveOf, text } from "../../sym/stored/codec.ts";
import { DamagedForm, listIn, numberIn, textIn } from "../../sym/stored/forms.ts";
import { layoutOf } from "../../tensor/layout.ts";
import { ambientState } from "../ambient.ts";
import {
  ANY_KEY,
  type Fact,
  type FactOf,
  type Guard,
  type LaterReads,
  type MethodExpectation,
  PRIMITIVE_TYPES,
  type TensorExpectation,
} from "../guards/guard.ts";
import { BYTES_CLASSES, isBytesClass } from "../guards/bytes.ts";
import type { CellPlace } from "../source.ts";
import { codeAt } from "./code_forms.ts";
import {
  cell,
  constant,
  fields,
  flagOrNull,
  type Form,
  hostExpression,
  key,
  maybe,
  object,
  refused,
  source,
  variants,
} from "./place_forms.ts";
import { readKey, readPrimitive, writeKey, writePrimitive } from "./plain_values.ts";

/** Functions of accessors: undefined, or objects of the journal. */
const accessor: Form<unknown> = {
  write: (value, by) => typeof value === "function" ? by.numberOf(value) : null,
  read: (form, by) => form === null ? undefined : by.at(numberIn(form)),
};

const method = fields<MethodExpectation>({
  kind: oneOf("method", "getter"),
  prototype: object,
  key,
  method: maybe(object),
});

const entryKey: Form<FactOf<"entries">["keys"][number]> = {
  write: (value) => value === ANY_KEY ? ["any"] : ["is", writePrimitive(value)],
  read(form) {
    const [kind, value = null] = listIn(form);
    return kind === "any" ? ANY_KEY : readPrimitive(value);
  },
};

const methods: Form<ReadonlyMap<string | symbol, object>> = {
  write: (value, by) => [...value].map(([name, fn]) => [writeKey(name), by.numberOf(fn)]),
  read: (form, by) =>
    new Map(
      listIn(form).map((each) => {
        const [name = null, fn] = listIn(each);
        return [readKey(name), by.at(numberIn(fn))];
      }),
    ),
};

const expectation = fields<Omit<TensorExpectation, "layout">>({
  prototype: orNull(object),
  className: text,
  dtype: oneOf(...DTYPES),
  device: text,
  requiresGrad: flag,
  shape: list(orNull(count)),
  strides: list(orNull(count)),
  marked: list(count),
  methods,
});

const known = (values: readonly (number | null)[]): readonly number[] | null =>
  values.every((each) => each !== null) ? values : null;

const tensor: Form<TensorExpectation> = {
  write: ({ layout: _, ...expected }, by) => expectation.write(expected, by),
  read(form, by) {
    const expected = expectation.read(form, by), { dtype, device } = expected;
    const shape = known(expected.shape), strides = known(expected.strides);
    return { ...expected, layout: shape && strides && layoutOf({ shape, strides, dtype, device }) };
  },
};

const size: Form<Omit<FactOf<"size">, "kind">> = {
  write: ({ guard }, { symbols }) => sizeGuard.write(guard, symbols),
  read: (form, { symbols, sizes }) => ({ guard: sizeGuard.read(form, symbols), env: sizes }),
};

const cellPlace = variants<CellPlace>({
  live: fields({ cell }),
  box: fields({ cell, source }),
  captured: fields({ cell, source, base: source, index: count }),
});

const BYTES = Object.keys(BYTES_CLASSES).filter((name) => isBytesClass(name));

const fact = variants<Fact>({
  constant: fields({ source, value: constant }),
  identity: fields({ source, object, label: text }),
  prototype: fields({ source, prototype: orNull(object), isArray: flag, label: text }),
  object: fields({ source }),
  function: fields({ source }),
  array: fields({ source, length: count }),
  list: fields({ source }),
  elements: fields({ source }),
  keys: fields({
    source,
    which: oneOf("enumerable", "all"),
    keys: list(text),
    symbols: list<symbol, unknown>({
      write: writeKey,
      read(form) {
        const found = readKey(form);
        if (typeof found === "symbol") return found;
        throw new DamagedForm(`Expected a symbol but found ${found}`);
      },
    }),
  }),
  ownKey: fields({ source, key, present: flag }),
  writable: fields({ source, key }),
  writableAt: fields({ source, at: hostExpression }),
  flags: fields({
    source,
    key,
    flags: fields({ writable: flagOrNull, enumerable: flag, configurable: flag }),
  }),
  accessor: fields({ source, key, get: accessor, set: accessor }),
  entries: fields({ source, what: oneOf("Map", "Set"), keys: list(entryKey) }),
  code: fields({ source, code: codeAt }),
  same: fields({ source, other: source }),
  distinct: fields({ members: list(source), others: list(source) }),
  apart: fields({ source, others: list(source) }),
  elsewhere: fields({ source, others: list(source) }),
  tensor: fields({ source, expected: tensor }),
  leaf: fields({ source, hooks: fields({ before: list(object), after: list(object) }) }),
  made: fields({ source }),
  integer: fields({ source }),
  type: fields({ source, type: oneOf(...PRIMITIVE_TYPES) }),
  expression: fields({ expression: hostExpression, expected: primitiveOf("boolean", "number") }),
  size,
  sameCell: fields({ place: cellPlace, other: cellPlace }),
  distinctCells: fields({ members: list(cellPlace) }),
  argumentCount: fields({ count }),
  timeZone: fields({ setting: text }),
  proxy: fields({ source, present: flag }),
  madeBy: fields({ source, constructorText: orNull(text) }),
  generator: fields({ source }),
  engineState: fields({ source, state: orNull(oneOf(...ENGINE_STATES)) }),
  cloneable: fields({ source }),
  unboxed: fields({ source }),
  unrevoked: refused(() => "a proxy"),
  bytes: fields({ source, type: oneOf(...BYTES) }),
  memory: refused(() => "memory"),
  extensible: fields({ source, present: flag }),
  integrity: fields({ source, level: oneOf("frozen", "sealed") }),
  globalState: fields({
    state: { write: () => null, read: () => ambientState() },
    methods: list(method),
    later: fields<LaterReads>({ members: list(method), defaults: flag }),
  }),
});

/** A line of the program, by number. */
export const position: Form<SourcePosition> = {
  write: (value, { lines }) => lines.numberOf(value),
  read(form, { lines }) {
    const found = lines.list[numberIn(form)];
    if (found) return found;
    throw new DamagedForm(`Expected one of ${lines.list.length} lines but found ${form}`);
  },
};

/** A file of the program. */
const address: Form<string> = {
  write: (file) => portableAddress(file),
  read: (form) => localAddress(textIn(form)),
};

/** A line of the program itself. */
export const line: Form<SourcePosition> = fields<SourcePosition>({
  file: address,
  line: count,
  column: count,
  functionName: text,
  code: text,
});

/** The reason why a graph ends. */
export const reason: Form<BreakReason> = fields<BreakReason>({
  id: text,
  category: text,
  explanation: text,
  hint: text,
  stack: list<UserFrame, unknown>({
    write: (
      { functionName, file, line, column, code },
    ) => [functionName, portableAddress(file), line, column, code ?? null],
    read(form) {
      const [functionName, file, line, column, code = null] = listIn(form);
      const place = { functionName: textIn(functionName), file: localAddress(textIn(file)) };
      const written = code === null ? {} : { code: textIn(code) };
      return { ...place, line: numberIn(line), column: numberIn(column), ...written };
    },
  }),
});

/** Serialises guards. They compare the current ambient state, which is part of a journal's key. */
export const guard: Form<Guard> = fields<Guard>({ fact, user: orNull(position) });
