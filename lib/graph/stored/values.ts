/**
 * Codecs of node metadata and arguments. Invariant: an argument reads back as the same value: −0, NaN, bigints and
 * undefined included.
 */
import { DTYPES } from "../../base/dtype.ts";
import type { Plain } from "../../base/recording.ts";
import { Sym } from "../../sym/expr.ts";
import type { TensorMeta } from "../meta.ts";
import { type Argument, isList, isRecord, Node, type NodeValue } from "../node.ts";
import { type Codec, flag, list, oneOf, primitive, record, text, union } from "../../sym/stored/codec.ts";
import { DamagedForm, listIn, numberIn, recordIn } from "../../sym/stored/forms.ts";
import { dim } from "../../sym/stored/dims.ts";
import type { Symbols } from "../../sym/stored/symbols.ts";

export const dtype = oneOf(...DTYPES);

export const tensorMeta: Codec<TensorMeta> = record<TensorMeta>({
  shape: list(dim),
  strides: list(dim),
  offset: dim,
  dtype,
  device: text,
});

export const nodeValue: Codec<NodeValue> = union<NodeValue>({
  tensor: record({ tensor: tensorMeta, requiresGrad: flag }),
  tensors: record({ tensors: list(tensorMeta), requiresGrad: flag }),
  size: record({ size: dim }),
  number: record({ dtype }),
  unknown: record({}),
});

/** Nodes by number. */
interface NodeNumbers {
  numberOf(node: Node): number;
  at(number: number): Node;
}

/** Rejects all nodes. */
const NO_NODES: NodeNumbers = {
  numberOf(node) {
    throw new DamagedForm(`Expected no node but found ${node.name}`);
  },
  at(number) {
    throw new DamagedForm(`Expected no node but found ${number}`);
  },
};

/**
 * Serialises an argument tree. A value that JSON lacks is a list that begins with its kind; lists begin with "list".
 */
export function writeArgument(argument: Argument, nodes: NodeNumbers, symbols: Symbols): Plain {
  if (argument instanceof Node) return ["node", nodes.numberOf(argument)];
  if (argument instanceof Sym) return ["size", dim.write(argument, symbols)];
  if (isList(argument)) {
    const form: Plain[] = ["list"];
    for (let i = 0; i < argument.length; i++) form.push(writeArgument(argument[i], nodes, symbols));
    return form;
  }
  if (isRecord(argument)) {
    return Object.fromEntries(
      Object.entries(argument).map(([key, each]) => [key, writeArgument(each, nodes, symbols)]),
    );
  }
  return primitive.write(argument, symbols);
}

/** Reads a serialised argument tree. */
export function readArgument(form: Plain | undefined, nodes: NodeNumbers, symbols: Symbols): Argument {
  if (form === undefined) throw new DamagedForm("Expected an argument but found none");
  if (typeof form !== "object" || form === null) return form;
  const again = (each: Plain) => readArgument(each, nodes, symbols);
  if (!Array.isArray(form)) {
    return Object.fromEntries(Object.entries(recordIn(form)).map(([key, each]) => [key, again(each)]));
  }
  const [kind, ...rest] = listIn(form), [first = null] = rest;
  switch (kind) {
    case "node":
      return nodes.at(numberIn(first));
    case "size":
      return dim.read(first, symbols);
    case "list":
      return rest.map(again);
    case "bigint":
    case "special":
      return primitive.read(form, symbols);
    default:
      throw new DamagedForm(`Expected an argument but found ${JSON.stringify(kind)}`);
  }
}

/** Arguments without nodes. */
export const constantArgument: Codec<Argument> = {
  write: (value, symbols) => writeArgument(value, NO_NODES, symbols),
  read: (form, symbols) => readArgument(form, NO_NODES, symbols),
};
