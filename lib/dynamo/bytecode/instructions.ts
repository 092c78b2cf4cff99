/**
 * The table of instructions: for each its reads and writes, whether it can throw, and how listings show it.
 *
 * Invariant: operands are listed in the order in which an instruction reads them; no other module distinguishes
 * instructions for these purposes.
 */
import type { InstructionOf, Opcode } from "./instruction.ts";

type Field<O extends Opcode> = Exclude<keyof InstructionOf<O>, "op"> & string;

/** Properties of one instruction. */
export interface Rule<O extends Opcode = Opcode> {
  /** Its operands: registers, and fields that contain registers. */
  readonly reads: readonly Field<O>[];
  /** Registers that it writes; by default `dst`, if there is one. */
  readonly writes?: readonly Field<O>[];
  /**
   * Its line in a listing: {field} as an operand, {field!} as a constant, {field~} as a free variable; <field: …> only
   * if the field is set, <!field: …> only if it is not.
   */
  readonly text: string;
  /** Whether it neither throws, nor suspends, nor runs other code. */
  readonly pure?: true;
  /** Whether it depends on the function to which it belongs: arguments, receiver, the function itself. */
  readonly frame?: true;
}

/** The rows, by name. */
export const INSTRUCTIONS: { readonly [O in Opcode]: Rule<O> } = {
  const: { reads: [], text: "{dst} = {value!}", pure: true },
  regexp: { reads: [], text: "{dst} = /{pattern}/{flags}", pure: true },
  move: { reads: ["src"], text: "{dst} = {src}", pure: true },
  uninitialized: { reads: [], text: "{dst} = uninitialized", pure: true },
  checkTdz: { reads: ["src"], text: "checkTdz {src} {name}" },
  throwError: { reads: [], text: "throwError {type} {message!}" },
  loadThis: { reads: [], text: "{dst} = {op}", pure: true, frame: true },
  loadArgument: { reads: [], text: "{dst} = {op} {index}", pure: true, frame: true },
  loadRest: { reads: [], text: "{dst} = {op} {from}", pure: true, frame: true },
  loadArguments: { reads: [], text: "{dst} = {op}", pure: true, frame: true },
  loadNewTarget: { reads: [], text: "{dst} = {op}", pure: true, frame: true },
  loadCallee: { reads: [], text: "{dst} = {op}", pure: true, frame: true },
  loadHome: { reads: [], text: "{dst} = {op}", pure: true, frame: true },
  generatorStart: { reads: [], text: "{op}", pure: true, frame: true },
  loadFree: { reads: [], text: "{dst} = {index~}" },
  storeFree: { reads: ["src"], text: "{index~} = {src}" },
  loadGlobal: { reads: [], text: "{dst} = global {name}<forTypeof: for typeof>" },
  storeGlobal: { reads: ["src"], text: "global {name} = {src}<!strict: sloppy>" },
  newCell: { reads: ["src"], text: "{dst} = newCell <src:{src}><!src:uninitialized>", pure: true },
  loadCell: { reads: ["cell"], text: "{dst} = cell {cell}", pure: true },
  storeCell: { reads: ["cell", "src"], text: "cell {cell} = {src}", pure: true },
  unary: { reads: ["src"], text: "{dst} = {operator} {src}" },
  binary: { reads: ["left", "right"], text: "{dst} = {left} {operator} {right}" },
  toNumeric: { reads: ["src"], text: "{dst} = {op} {src}" },
  increment: { reads: ["src"], text: "{dst} = {src} {by}", pure: true },
  toPropertyKey: { reads: ["src"], text: "{dst} = {op} {src}" },
  toString: { reads: ["src"], text: "{dst} = {op} {src}" },
  template: { reads: ["values"], text: "{dst} = template {quasis}" },
  templateObject: { reads: [], text: "{dst} = {op} {raw!}", pure: true },
  getProp: { reads: ["object", "key"], text: "{dst} = {object}[{key}]" },
  setProp: { reads: ["object", "key", "value"], text: "{object}[{key}] = {value}<!strict: sloppy>" },
  deleteProp: { reads: ["object", "key"], text: "{dst} = delete {object}[{key}]<!strict: sloppy>" },
  getSuper: { reads: ["home", "receiver", "key"], text: "{dst} = super({home})[{key}] for {receiver}" },
  setSuper: {
    reads: ["home", "receiver", "key", "value"],
    text: "super({home})[{key}] for {receiver} = {value}<!strict: sloppy>",
  },
  getPrivate: { reads: ["object"], text: "{dst} = {object}.{name~}" },
  setPrivate: { reads: ["object", "value"], text: "{object}.{name~} = {value}" },
  hasPrivate: { reads: ["object"], text: "{dst} = {name~} in {object}" },
  definePrivate: { reads: ["object", "value"], text: "define {object}.{name~} = {value}" },
  array: { reads: ["elements"], text: "{dst} = [{elements}]" },
  arrayAppend: { reads: ["array", "element"], text: "{array} append {element}" },
  object: { reads: ["members"], text: "{dst} = {{members}}" },
  define: { reads: ["object", "member"], text: "{object} define {member}" },
  objectRest: { reads: ["source", "excluded"], text: "{dst} = rest of {source} without [{excluded}]" },
  checkObjectCoercible: { reads: ["src"], text: "{op} {src}" },
  checkObject: { reads: ["src"], text: "{op} {src} {what!}" },
  closure: {
    reads: ["captures", "home", "name"],
    text: "{dst} = closure {child}<namePrefix: {namePrefix}> {name} ({captures})<home: home {home}>",
    pure: true,
  },
  class: {
    reads: ["heritage", "keys", "captures"],
    text: "{dst} = class {index} {name!} ({captures})<heritage: extends {heritage}><keys: keys ({keys})>",
  },
  call: { reads: ["callee", "self", "args"], text: "{dst} = call {callee}<self: this {self}> ({args})" },
  new: { reads: ["callee", "args"], text: "{dst} = new {callee} ({args})" },
  superCall: {
    reads: ["callee", "newTarget", "args"],
    text: "{dst} = superCall {callee} newTarget {newTarget} ({args})",
  },
  checkSuperOnce: { reads: ["src"], text: "{op} {src}" },
  initFields: { reads: ["object", "callee"], text: "initFields {object} of {callee}" },
  import: { reads: ["specifier", "options"], text: "{dst} = import {specifier}<options: with {options}>" },
  jump: { reads: [], text: "jump {target}", pure: true },
  jumpIf: { reads: ["test"], text: "jump {target} if {condition} {test}", pure: true },
  return: { reads: ["src"], text: "{op} {src}", pure: true },
  throw: { reads: ["src"], text: "{op} {src}" },
  getIterator: {
    reads: ["source"],
    writes: ["iterator", "next"],
    text: "{iterator}, {next} = <async:async >iterator of {source}",
  },
  iteratorNext: {
    reads: ["done", "iterator", "next"],
    writes: ["done", "value"],
    text: "{done}, {value} = next of {iterator} by {next}<elided:, elided>",
  },
  iteratorResult: { reads: ["result"], writes: ["done", "value"], text: "{done}, {value} = result {result}" },
  iteratorRest: {
    reads: ["done", "iterator", "next"],
    writes: ["done", "dst"],
    text: "{done}, {dst} = rest of {iterator} by {next}",
  },
  iteratorClose: { reads: ["iterator"], text: "close {iterator}<quiet: quietly>" },
  forIn: { reads: ["object"], text: "{dst} = keys of {object}" },
  forInNext: {
    reads: ["enumerator"],
    writes: ["done", "key"],
    text: "{done}, {key} = next key of {enumerator}",
  },
  yield: { reads: ["src"], text: "{dst} = yield {src}<onReturn:, on return {onReturn}>" },
  yieldDelegate: { reads: ["source"], text: "{dst} = yield* {source}<onReturn:, on return {onReturn}>" },
  await: { reads: ["src"], text: "{dst} = await {src}" },
  getDisposer: { reads: ["src"], text: "{dst} = <async:async >disposer of {src}" },
  suppressedError: { reads: ["error", "suppressed"], text: "{dst} = {op} {error} {suppressed}", pure: true },
  debugger: { reads: [], text: "{op}" },
};
