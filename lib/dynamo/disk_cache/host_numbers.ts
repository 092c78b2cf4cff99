/**
 * Serialises numbers that differ between calls: expressions over places of a call. Invariant: results of builtins
 * that differ in each call are refused.
 */
import type { Plain } from "../../base/recording.ts";
import { DamagedForm, listIn, NotStorable, numberIn, textIn } from "../../sym/stored/forms.ts";
import { type HostExpression, isHostBinary, isHostMath } from "../variables/host_number.ts";
import type { ByNumber, Form } from "./place_forms.ts";
import { source } from "./place_forms.ts";
import { readPrimitive, writePrimitive } from "./plain_values.ts";

function write(value: HostExpression, by: ByNumber): Plain {
  const again = (each: HostExpression) => write(each, by);
  switch (value.kind) {
    case "called":
      throw new NotStorable(`the result of ${value.call.text}, which changes between calls`);
    case "element":
      if (value.form) throw new NotStorable("a number in memory of another form");
      return [value.kind, source.write(value.source, by), again(value.at), value.isWhole];
    case "shared":
      throw new NotStorable("a long computation");
    case "source":
      return [value.kind, source.write(value.source, by)];
    case "literal":
      return [value.kind, writePrimitive(value.value)];
    case "tensorSize":
      return [value.kind, source.write(value.source, by), value.part, value.dim];
    case "binary":
      return [value.kind, value.operator, again(value.left), again(value.right)];
    case "unary":
      return [value.kind, value.operator, again(value.operand)];
    case "math":
      return [value.kind, value.name, ...value.args.map(again)];
    default:
      return value satisfies never;
  }
}

function read(form: Plain, by: ByNumber): HostExpression {
  const [kind, first = null, ...rest] = listIn(form), [second = null, third = null] = rest;
  switch (kind) {
    case "source":
      return { kind, source: source.read(first, by) };
    case "element":
      return {
        kind,
        source: source.read(first, by),
        at: read(second, by),
        form: null,
        isWhole: third === true,
      };
    case "literal": {
      const value = readPrimitive(first);
      if (typeof value === "number" || typeof value === "string") return { kind, value };
      break;
    }
    case "tensorSize":
      if (second !== "shape" && second !== "stride") break;
      return { kind, source: source.read(first, by), part: second, dim: numberIn(third) };
    case "binary": {
      const operator = textIn(first);
      if (!isHostBinary(operator)) break;
      return { kind, operator, left: read(second, by), right: read(third, by) };
    }
    case "unary":
      if (first !== "-" && first !== "+" && first !== "~") break;
      return { kind, operator: first, operand: read(second, by) };
    case "math": {
      const name = textIn(first);
      if (isHostMath(name)) return { kind, name, args: rest.map((each) => read(each, by)) };
      break;
    }
    default:
  }
  throw new DamagedForm(`Expected a number of a call but found ${JSON.stringify(form)}`);
}

/** Serialises an expression that each call evaluates. */
export const hostExpression: Form<HostExpression> = { write, read };
