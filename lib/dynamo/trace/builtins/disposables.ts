/**
 * Models of DisposableStack: stacks of the trace hold their disposables in a private list. Invariant: such a stack does
 * not leave the trace.
 */
import { breakGraph } from "../../break_reasons.ts";
import { SUPPRESSED } from "../../bytecode/runtime.ts";
import type { PrivateAccess } from "../../frame/info.ts";
import { isObject } from "../../variables/type_of.ts";
import { constant, isCallable, ObjectValue, UNDEFINED, type Value } from "../../variables/value.ts";
import { builtinPrototype, elementsOf, newArray } from "../contents.ts";
import { type CallRequest, type CallResult, type Interpreter, PUSHED } from "../interpreter.ts";
import { readProperty } from "../properties.ts";
import type { ModelTable } from "./table.ts";

const { prototype } = DisposableStack;

/** The list of a stack, with a receiver, a method and its arguments for each item; undefined once disposed of. */
const CONTENT: PrivateAccess = {
  has: () => false,
  get: () => undefined,
  set: () => breakGraph("constructor", "a stack of disposables"),
  member: "field",
};

function newStack(m: Interpreter, content: ObjectValue): ObjectValue {
  const made = new ObjectValue(
    { kind: "plain" },
    builtinPrototype(m, prototype, "DisposableStack"),
    null,
    null,
  );
  made.onlyTraced = { step: m.steps - 1, cause: { kind: "constructor", detail: "a stack of disposables" } };
  made.privates.set(CONTENT, content);
  return made;
}

/** The list of a stack; null if it has been disposed of. */
function contentOf(self: Value): ObjectValue | null {
  const content = self.kind === "object" ? self.privates.get(CONTENT) : undefined;
  if (!content) return breakGraph("builtin", "a stack of disposables from outside");
  return content.kind === "object" ? content : null;
}

/** Takes the list out of a stack. */
function taken({ self }: CallRequest): ObjectValue | null {
  const content = contentOf(self);
  if (self.kind === "object") self.privates.set(CONTENT, UNDEFINED);
  return content;
}

const refuseDisposed = (): never => breakGraph("throws", "a stack that has been disposed of");

/** A method that adds to a stack. */
function adding(
  add: (m: Interpreter, request: CallRequest, put: (...entry: [Value, Value, Value[]]) => void) => CallResult,
) {
  return (m: Interpreter, request: CallRequest): CallResult => {
    const content = contentOf(request.self) ?? refuseDisposed();
    return add(m, request, (self, dispose, args) => {
      if (!isCallable(dispose)) return breakGraph("throws", "a value that cannot be disposed of");
      elementsOf(m, content).push(newArray(m, [self, dispose, newArray(m, args)]));
    });
  };
}

/** Adds the models. */
export function addDisposables(table: ModelTable): void {
  table.constructs(
    DisposableStack,
    (m, _request, of) =>
      of?.real === prototype
        ? newStack(m, newArray(m, []))
        : breakGraph("constructor", "a subclass of DisposableStack"),
  );
  table.getter(prototype, "disposed", (_m, { self }) => constant(contentOf(self) === null));
  table.method(
    prototype,
    "use",
    adding((m, { args: [value = UNDEFINED], completion }, put) => {
      if (value.kind === "constant" && (value.value === undefined || value.value === null)) return value;
      if (!isObject(value)) return breakGraph("throws", "a value that cannot be disposed of");
      const then = (dispose: Value): void => {
        put(value, dispose, []);
        m.complete(completion, value);
      };
      readProperty(m, value, Symbol.dispose, { kind: "inside", then });
      return PUSHED;
    }),
  );
  table.method(
    prototype,
    "adopt",
    adding((_m, { args: [value = UNDEFINED, dispose = UNDEFINED] }, put) => {
      put(UNDEFINED, dispose, [value]);
      return value;
    }),
  );
  table.method(
    prototype,
    "defer",
    adding((_m, { args: [dispose = UNDEFINED] }, put) => {
      put(UNDEFINED, dispose, []);
      return UNDEFINED;
    }),
  );
  table.method(prototype, "move", (m, request) => newStack(m, taken(request) ?? refuseDisposed()));
  table.method(prototype, "dispose", (m, request) => {
    const content = taken(request);
    return content
      ? m.callInternal("disposeAll", { ...request, args: [content, constant(SUPPRESSED)] })
      : UNDEFINED;
  });
}
