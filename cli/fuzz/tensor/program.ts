/**
 * Tensor programs as data: the generator makes them, the shrinker reduces them and the printer writes them as
 * functions. Invariant: a program names everything that it uses, and holds only plain values, so that it can be
 * compared, stored and shrunk.
 */
import type { DType } from "../../../lib/base/dtype.ts";

/** A size of new data: a number, or one of the program's sizes, which may differ between calls. */
export type SizeRef = number | { readonly size: number };

/** How the elements of generated data are chosen: spread over [low, high), integers for integer types. */
export interface Values {
  readonly seed: number;
  readonly low: number;
  readonly high: SizeRef;
  /** Some elements are NaN, infinite, −0, huge or tiny; "normal": none of them is subnormal. */
  readonly special: boolean | "normal";
}

/** An argument of a call. */
export type Arg =
  | number
  | boolean
  | string
  | null
  | readonly Arg[]
  | { readonly kind: "variable"; readonly name: string }
  /** `x.shape[d]`. */
  | { readonly kind: "shape"; readonly of: string; readonly dim: number }
  /** An options object, the last argument. */
  | { readonly kind: "options"; readonly entries: Readonly<Record<string, Arg>> };

/** The variables of a call's results: one, several taken from an array, or none. */
export type Bind = string | readonly (string | null)[] | null;

/** New elements: only before the function runs. */
export interface DataStatement {
  readonly kind: "data";
  readonly name: string;
  readonly shape: readonly SizeRef[];
  readonly dtype: DType;
  readonly values: Values;
  /** Whether it is a leaf that requires grad. */
  readonly grad: boolean;
}

/** A call: `x.add(y)`, `cat([x, y])`, `x.T`. The first argument of methods and properties is their receiver. */
export interface CallStatement {
  readonly kind: "call";
  readonly bind: Bind;
  readonly style: "method" | "function" | "property";
  /** For functions, including their namespace: "nn.functional.relu". */
  readonly name: string;
  readonly args: readonly Arg[];
}

/** A number read from a tensor. */
export interface NumberStatement {
  readonly kind: "number";
  readonly bind: string;
  readonly of: string;
  /** `x.sum().item()`, `+x.mean()`. */
  readonly how: "item" | "primitive";
}

/** Statements that contain others. Their bindings are not visible outside. */
export type BlockStatement =
  | { readonly kind: "noGrad"; readonly body: readonly Statement[] }
  | { readonly kind: "loop"; readonly count: number; readonly body: readonly Statement[] }
  | { readonly kind: "try"; readonly body: readonly Statement[]; readonly handler: readonly Statement[] }
  /** A branch on elements: `if (+x.sum() > 0)`. */
  | {
    readonly kind: "if";
    readonly of: string;
    readonly body: readonly Statement[];
    readonly otherwise: readonly Statement[];
  };

export type Statement =
  | DataStatement
  | CallStatement
  | NumberStatement
  | BlockStatement
  /** `x.registerHook((g) => { log.push("hook", …); return g.mul(scale); })`. */
  | { readonly kind: "hook"; readonly of: string; readonly scale: number }
  /** `x.sum().backward()`. */
  | { readonly kind: "backward"; readonly of: string; readonly retainGraph: boolean }
  /** `const [g] = autograd.grad(x.sum(), [a], …)`. */
  | {
    readonly kind: "grad";
    readonly bind: readonly string[];
    readonly of: string;
    readonly inputs: readonly string[];
    readonly createGraph: boolean;
  }
  | { readonly kind: "log"; readonly to: "log" | "console"; readonly values: readonly Arg[] }
  | { readonly kind: "optimizer"; readonly action: "zeroGrad" | "step" }
  | { readonly kind: "seed"; readonly seed: number };

/** An optimizer over captured leaves. */
export interface OptimizerSpec {
  readonly name: "SGD" | "Adam" | "AdamW" | "RMSprop" | "Adagrad";
  readonly params: readonly string[];
  readonly options: Readonly<Record<string, number | boolean>>;
}

/** One call of the function. */
export interface Call {
  /** Values of the program's sizes. */
  readonly sizes: readonly number[];
  /** Added to the seeds of all new data. */
  readonly shift: number;
  /** The value of each parameter: a name of the setup, or a number. */
  readonly args: readonly (string | number)[];
  /** `watched`: gradients are recorded, and the caller observes those that arrive at results. */
  readonly mode: "grad" | "watched" | "noGrad" | "inference";
}

/** A function over tensors, what it captures, and how it is called. */
export interface Program {
  /** Created once: captured by the function. */
  readonly state: readonly Statement[];
  readonly optimizer: OptimizerSpec | null;
  /** Created before each call: its arguments, and tensors of which these are views. */
  readonly setup: readonly Statement[];
  readonly params: readonly string[];
  readonly body: readonly Statement[];
  readonly results: readonly Arg[];
  readonly calls: readonly Call[];
  /** The `dynamic` option of `compile`. */
  readonly dynamic: boolean | null;
}

/** A variable as an argument. */
export function variable(name: string): Arg {
  return { kind: "variable", name };
}

export function isArgList(arg: Arg): arg is readonly Arg[] {
  return Array.isArray(arg);
}

/** Names that an argument mentions. */
export function namesInArg(arg: Arg): string[] {
  if (typeof arg !== "object" || arg === null) return [];
  if (isArgList(arg)) return arg.flatMap(namesInArg);
  switch (arg.kind) {
    case "variable":
      return [arg.name];
    case "shape":
      return [arg.of];
    case "options":
      return Object.values(arg.entries).flatMap(namesInArg);
    default:
      return arg satisfies never;
  }
}

/** The argument with every leaf of its nested lists replaced. */
export function mapArg(arg: Arg, change: (part: Arg) => Arg): Arg {
  if (typeof arg !== "object" || arg === null) return change(arg);
  if (isArgList(arg)) return arg.map((each) => mapArg(each, change));
  if (arg.kind !== "options") return change(arg);
  return {
    kind: "options",
    entries: Object.fromEntries(Object.entries(arg.entries).map(([k, each]) => [k, mapArg(each, change)])),
  };
}

/** Statements directly inside a statement, list by list. */
export function blocksOf(statement: Statement): readonly (readonly Statement[])[] {
  switch (statement.kind) {
    case "noGrad":
    case "loop":
      return [statement.body];
    case "try":
      return [statement.body, statement.handler];
    case "if":
      return [statement.body, statement.otherwise];
    default:
      return [];
  }
}

/** The statement with other statements inside, list by list. */
export function withBlocks(statement: Statement, blocks: readonly (readonly Statement[])[]): Statement {
  const [first = [], second = []] = blocks;
  switch (statement.kind) {
    case "noGrad":
    case "loop":
      return { ...statement, body: first };
    case "try":
      return { ...statement, body: first, handler: second };
    case "if":
      return { ...statement, body: first, otherwise: second };
    default:
      return statement;
  }
}

/** Names that a statement itself reads, without those of statements inside. */
export function namesRead(statement: Statement): string[] {
  switch (statement.kind) {
    case "call":
      return statement.args.flatMap(namesInArg);
    case "number":
    case "if":
    case "hook":
    case "backward":
      return [statement.of];
    case "grad":
      return [statement.of, ...statement.inputs];
    case "log":
      return statement.values.flatMap(namesInArg);
    case "data":
    case "noGrad":
    case "loop":
    case "try":
    case "optimizer":
    case "seed":
      return [];
    default:
      return statement satisfies never;
  }
}

/** Names that a statement binds for those after it. */
export function namesBound(statement: Statement): string[] {
  switch (statement.kind) {
    case "data":
      return [statement.name];
    case "number":
      return [statement.bind];
    case "grad":
      return [...statement.bind];
    case "call": {
      const { bind } = statement;
      if (bind === null) return [];
      return typeof bind === "string" ? [bind] : bind.filter((name) => name !== null);
    }
    default:
      return [];
  }
}

/** Every statement of a list and of the statements inside, in the order of the text. */
export function* everyStatement(list: readonly Statement[]): IterableIterator<Statement> {
  for (const statement of list) {
    yield statement;
    for (const block of blocksOf(statement)) yield* everyStatement(block);
  }
}

/** A program with each statement replaced by any number of others; nested ones come first. */
export function mapStatements(
  list: readonly Statement[],
  change: (statement: Statement) => readonly Statement[],
): Statement[] {
  return list.flatMap((statement) => {
    const blocks = blocksOf(statement);
    return change(
      blocks.length === 0
        ? statement
        : withBlocks(statement, blocks.map((block) => mapStatements(block, change))),
    );
  });
}

/** Names of the ops and methods that a program calls, sorted. */
export function calledNames(program: Program): string[] {
  const names = new Set<string>();
  for (const list of [program.state, program.setup, program.body]) {
    for (const statement of everyStatement(list)) {
      if (statement.kind === "call") names.add(statement.name);
      else if (statement.kind !== "data") names.add(statement.kind);
    }
  }
  return [...names].sort();
}

/** Returns the number of gradient calls in a program. */
export function passesOf(program: Program): number {
  return [...everyStatement(program.body)].filter(({ kind }) => kind === "backward" || kind === "grad")
    .length;
}
