/**
 * Models of errors that the program creates. Invariant: the stack, which depends on the place of creation, is not known
 * while tracing.
 */
import { breakGraph } from "../../break_reasons.ts";
import { constant, ObjectValue, UNDEFINED, type Value } from "../../variables/value.ts";
import { builtinPrototype, newArray, newObject } from "../contents.ts";
import { joinedText } from "../texts.ts";
import { type CallResult, type Completion, type Interpreter, PUSHED } from "../interpreter.ts";
import { collect } from "../iteration.ts";
import { textArgument } from "./pure.ts";
import type { ModelTable } from "./table.ts";

type ErrorConstructor = typeof ERRORS[number] | AggregateErrorConstructor | SuppressedErrorConstructor;

const ERRORS = [Error, TypeError, RangeError, SyntaxError, ReferenceError, EvalError, URIError] as const;

const hidden = { kind: "data", writable: true, enumerable: false, configurable: true } as const;

/** An error with the message and the options of a constructor; `prototype` if it belongs to a subclass. */
export function newError(
  m: Interpreter,
  constructor: ErrorConstructor,
  [message, options]: readonly Value[],
  prototype: ObjectValue | null = builtinPrototype(m, constructor.prototype, constructor.name),
): ObjectValue {
  const known = m.wrapper.known(constructor, constructor.name);
  if (known.kind !== "object") return breakGraph("constructor", "an error");
  // Errors passed to the constructor are ordinary properties
  const args: Value[] = constructor === AggregateError
    ? [newArray(m, [])]
    : constructor === SuppressedError
    ? [UNDEFINED, UNDEFINED]
    : [];
  const made = new ObjectValue({ kind: "constructed", constructor: known, args }, prototype, null, null);
  if (message && !(message.kind === "constant" && message.type === "undefined")) {
    const text = message.kind === "object" || message.kind === "tensor"
      ? breakGraph("coercion", "the message of an error")
      : message.kind === "constant" || message.kind === "number" || message.kind === "item"
      ? joinedText(m, [message])
      : constant("");
    made.slots.set("message", { value: text, ...hidden });
    args.push(text);
  } else args.push(UNDEFINED);
  if (options?.kind === "object") {
    const cause = m.plainProperty(options, "cause");
    if (cause) {
      made.slots.set("cause", { value: cause, ...hidden });
      // It is set afterwards: its value may depend on the error
      args.push(newObject(m, [["cause", UNDEFINED]]));
    }
  }
  return made;
}

/** An AggregateError. */
function aggregate(
  m: Interpreter,
  [errors = UNDEFINED, ...args]: readonly Value[],
  { prototype, completion }: { readonly prototype: ObjectValue | null; readonly completion: Completion },
): CallResult {
  const made = newError(m, AggregateError, args, prototype ?? undefined);
  collect(m, errors, (items) => {
    made.slots.set("errors", { value: newArray(m, [...items]), ...hidden });
    m.complete(completion, made);
  });
  return PUSHED;
}

/** A SuppressedError. */
export function suppressedError(
  m: Interpreter,
  [error = UNDEFINED, suppressed = UNDEFINED, message = UNDEFINED]: readonly Value[],
  prototype: ObjectValue | null = null,
): ObjectValue {
  const made = newError(m, SuppressedError, [message], prototype ?? undefined);
  for (const [key, value] of Object.entries({ error, suppressed })) made.slots.set(key, { value, ...hidden });
  return made;
}

/** Returns whether a value is an error that the trace has made. */
function isMadeError(value: Value | undefined): boolean {
  if (value?.kind !== "object" || value.exotic.kind !== "constructed") return false;
  const { real } = value.exotic.constructor;
  return [...ERRORS, AggregateError, SuppressedError].some((each) => each === real);
}

/** Adds the models of errors. */
export function addErrors(table: ModelTable): void {
  for (const constructor of ERRORS) {
    table.constructs(constructor, (m, { args }, prototype) => newError(m, constructor, args, prototype));
    table.call(constructor, (m, { args }) => newError(m, constructor, args));
  }
  table.constructs(
    AggregateError,
    (m, { args, completion }, prototype) => aggregate(m, args, { prototype, completion }),
  );
  table.call(
    AggregateError,
    (m, { args, completion }) => aggregate(m, args, { prototype: null, completion }),
  );
  table.constructs(SuppressedError, (m, { args }, prototype) => suppressedError(m, args, prototype));
  table.call(SuppressedError, (m, { args }) => suppressedError(m, args));
  table.method(Error, "captureStackTrace", (_m, { args: [target] }) => {
    // An error already has a stack, which the trace does not know either
    return isMadeError(target)
      ? UNDEFINED
      : breakGraph("builtin", "captureStackTrace of a value that is not a new error");
  });
  table.method(Error, "isError", (_m, { args: [value = UNDEFINED] }) => {
    if (value.kind !== "object") return constant(false);
    if (value.real) return breakGraph("builtin", "Error.isError of an object from outside");
    return constant(isMadeError(value));
  });
  table.method(Error.prototype, "toString", (m, { self }) => {
    if (self.kind !== "object") return breakGraph("throws", "Error.prototype.toString");
    const part = (key: string, otherwise: string) => {
      const value = m.plainProperty(self, key) ?? UNDEFINED;
      if (value.kind === "constant" && value.value === undefined) return otherwise;
      return textArgument(m, value, "Error.prototype.toString");
    };
    const name = part("name", "Error"), message = part("message", "");
    if (name === "") return constant(message);
    return constant(message ? `${name}: ${message}` : name);
  });
}
