/**
 * Shrinks programs: smaller variants with parts removed or simplified, the largest steps first. Invariant: each names
 * only what it binds; none equals the program, and every step reduces a well-founded measure, so that shrinking
 * terminates. The caller determines whether a variant still runs.
 */
import { isFloat, isInteger } from "../../../lib/base/dtype.ts";
import {
  type Arg,
  blocksOf,
  type Call,
  type DataStatement,
  everyStatement,
  isArgList,
  mapArg,
  mapStatements,
  namesBound,
  namesInArg,
  namesRead,
  type Program,
  type Statement,
  withBlocks,
} from "./program.ts";

/** All smaller programs, without duplicates. */
export function* shrinkProgram(program: Program): IterableIterator<Program> {
  const seen = new Set([JSON.stringify(program)]);
  for (const candidate of candidates(program)) {
    const text = JSON.stringify(candidate);
    if (seen.has(text)) continue;
    seen.add(text);
    yield candidate;
  }
}

function* candidates(program: Program): IterableIterator<Program> {
  yield* fewerCalls(program);
  yield withoutUnused(program);
  yield* fewerStatements(program);
  yield* fewerResults(program);
  yield* fewerInputs(program);
  yield* plainerCalls(program);
  yield* plainerData(program);
  yield* smallerSizes(program);
  yield* simplerArguments(program);
}

/** The program without statements and results that use unbound names. */
function tidy(program: Program): Program {
  const names = new Set<string>();
  const state = bound(program.state, names);
  const inSetup = new Set(names);
  const setup = bound(program.setup, inSetup);
  for (const param of program.params) names.add(param);
  const optimizer = program.optimizer &&
    { ...program.optimizer, params: program.optimizer.params.filter((name) => names.has(name)) };
  const isOptimizing = optimizer !== null && optimizer.params.length > 0;
  const body = bound(program.body, names).filter(({ kind }) => isOptimizing || kind !== "optimizer");
  return {
    ...program,
    state,
    setup,
    optimizer: isOptimizing ? optimizer : null,
    body,
    results: program.results.filter((result) => namesInArg(result).every((name) => names.has(name))),
  };
}

/** The statements whose names are bound; adds their own bindings. */
function bound(list: readonly Statement[], names: Set<string>): Statement[] {
  return list.flatMap((statement) => {
    if (!namesRead(statement).every((name) => names.has(name))) return [];
    const blocks = blocksOf(statement);
    const inside = blocks.map((block) => bound(block, new Set(names)));
    if (blocks.length > 0 && inside.every((block) => block.length === 0)) return [];
    for (const name of namesBound(statement)) names.add(name);
    return [blocks.length === 0 ? statement : withBlocks(statement, inside)];
  });
}

function* fewerCalls(program: Program): IterableIterator<Program> {
  const { calls } = program;
  if (calls.length < 2) return;
  for (const call of calls) yield { ...program, calls: [call] };
  for (const k of calls.keys()) yield { ...program, calls: calls.toSpliced(k, 1) };
}

function* fewerStatements(program: Program): IterableIterator<Program> {
  const { body } = program;
  for (let size = body.length; size >= 1; size = size > 1 ? Math.ceil(size / 2) : 0) {
    for (let at = body.length - size; at >= 0; at -= size) {
      yield tidy({ ...program, body: body.toSpliced(at, size) });
    }
  }
  const flat = [...numbered(body)];
  for (const { statement, number } of flat) {
    const receiver = statement.kind === "call" && typeof statement.bind === "string"
      ? statement.args[0]
      : undefined;
    if (statement.kind === "call" && typeof statement.bind === "string" && receiver !== undefined) {
      const [name] = namesInArg(receiver);
      if (name !== undefined) {
        yield tidy(renamed(replaceStatement(program, number, []), statement.bind, name));
      }
    }
    for (const block of blocksOf(statement)) yield tidy(replaceStatement(program, number, block));
    yield tidy(replaceStatement(program, number, []));
    if (statement.kind === "loop" && statement.count > 1) {
      yield replaceStatement(program, number, [{ ...statement, count: statement.count - 1 }]);
    }
    if (statement.kind === "try" && statement.handler.length > 0) {
      yield replaceStatement(program, number, [{ ...statement, handler: [] }]);
    }
    if (statement.kind === "if" && statement.otherwise.length > 0) {
      yield replaceStatement(program, number, [{ ...statement, otherwise: [] }]);
    }
  }
}

/** Every statement of the body with its place in the order of visits. */
function* numbered(list: readonly Statement[]): IterableIterator<{ statement: Statement; number: number }> {
  let number = 0;
  function* visit(inner: readonly Statement[]): IterableIterator<{ statement: Statement; number: number }> {
    for (const statement of inner) {
      for (const block of blocksOf(statement)) yield* visit(block);
      yield { statement, number: number++ };
    }
  }
  yield* visit(list);
}

/** The program with the statement of that number replaced. */
function replaceStatement(program: Program, number: number, by: readonly Statement[]): Program {
  let at = 0;
  return { ...program, body: mapStatements(program.body, (each) => at++ === number ? by : [each]) };
}

/** The program with a name replaced by another. */
function renamed(program: Program, from: string, to: string): Program {
  const other = (name: string) => name === from ? to : name;
  const arg = (each: Arg): Arg =>
    mapArg(each, (part) => {
      if (typeof part !== "object" || part === null || isArgList(part)) return part;
      if (part.kind === "variable") return { ...part, name: other(part.name) };
      return part.kind === "shape" ? { ...part, of: other(part.of) } : part;
    });
  const statement = (each: Statement): Statement => {
    switch (each.kind) {
      case "call":
        return { ...each, args: each.args.map(arg) };
      case "log":
        return { ...each, values: each.values.map(arg) };
      case "grad":
        return { ...each, of: other(each.of), inputs: each.inputs.map(other) };
      case "number":
      case "if":
      case "hook":
      case "backward":
        return { ...each, of: other(each.of) };
      default:
        return each;
    }
  };
  const list = (statements: readonly Statement[]) => mapStatements(statements, (each) => [statement(each)]);
  return {
    ...program,
    body: list(program.body),
    setup: list(program.setup),
    results: program.results.map(arg),
  };
}

function* fewerResults(program: Program): IterableIterator<Program> {
  const { results } = program;
  if (results.length > 1) { for (const result of results) yield { ...program, results: [result] }; }
  for (const k of results.keys()) yield { ...program, results: results.toSpliced(k, 1) };
}

/** The program without anything that its body does not mention. */
function withoutUnused(program: Program): Program {
  const read = new Set([
    ...[...everyStatement(program.body)].flatMap(namesRead),
    ...program.results.flatMap(namesInArg),
    ...program.optimizer?.params ?? [],
  ]);
  const kept = program.params.map((param) => read.has(param));
  const calls = program.calls.map((call) => ({ ...call, args: call.args.filter((_, k) => kept[k]) }));
  const handed = new Set(calls.flatMap(({ args }) => args));
  const setup: Statement[] = [];
  for (const statement of program.setup.toReversed()) {
    const isUsed = namesBound(statement).some((name) =>
      handed.has(name) || setup.some((later) => namesRead(later).includes(name))
    );
    if (isUsed) setup.unshift(statement);
  }
  return {
    ...program,
    params: program.params.filter((_, k) => kept[k]),
    calls,
    setup,
    state: program.state.filter((statement) => namesBound(statement).some((name) => read.has(name))),
  };
}

function* fewerInputs(program: Program): IterableIterator<Program> {
  const { params, calls, setup, state } = program;
  for (const k of params.keys()) {
    yield tidy({
      ...program,
      params: params.toSpliced(k, 1),
      calls: calls.map((call) => ({ ...call, args: call.args.toSpliced(k, 1) })),
    });
  }
  const handed = new Set(calls.flatMap(({ args }) => args));
  for (const [k, statement] of setup.entries()) {
    const names = namesBound(statement);
    const isUsed = names.some((name) =>
      handed.has(name) || setup.some((other) => namesRead(other).includes(name))
    );
    if (!isUsed) yield { ...program, setup: setup.toSpliced(k, 1) };
    // Replace a view by its base
    const [bind] = names, receiver = statement.kind === "call" ? statement.args[0] : undefined;
    const [of] = receiver === undefined ? [] : namesInArg(receiver);
    if (bind === undefined || of === undefined) continue;
    const plain = renamed({ ...program, setup: setup.toSpliced(k, 1) }, bind, of);
    yield {
      ...plain,
      calls: calls.map((call) => ({ ...call, args: call.args.map((arg) => arg === bind ? of : arg) })),
    };
  }
  for (const k of state.keys()) yield tidy({ ...program, state: state.toSpliced(k, 1) });
}

function* plainerCalls(program: Program): IterableIterator<Program> {
  const { calls } = program, [first] = calls;
  if (program.dynamic !== null) yield { ...program, dynamic: null };
  const change = (k: number, call: Call): Program => ({ ...program, calls: calls.with(k, call) });
  for (const [k, call] of calls.entries()) {
    if (call.mode !== "grad") yield change(k, { ...call, mode: "grad" });
    if (call.shift !== 0) yield change(k, { ...call, shift: 0 });
    if (!first || k === 0) continue;
    // Only to smaller ones, since sizes of single calls shrink too
    const least = first.sizes.map((size, n) => Math.min(size, call.sizes[n] ?? size));
    if (`${least}` !== `${call.sizes}`) yield change(k, { ...call, sizes: least });
    for (const [n, size] of least.entries()) {
      if (size !== call.sizes[n]) yield change(k, { ...call, sizes: call.sizes.with(n, size) });
    }
    if (`${call.args}` !== `${first.args}`) yield change(k, { ...call, args: first.args });
  }
}

/** The program with one statement of new data changed. */
function* eachData(
  program: Program,
  change: (data: DataStatement) => readonly DataStatement[],
): IterableIterator<Program> {
  for (const part of ["setup", "state"] as const) {
    const list = program[part];
    for (const [k, statement] of list.entries()) {
      if (statement.kind !== "data") continue;
      for (const other of change(statement)) yield { ...program, [part]: list.with(k, other) };
    }
  }
}

function* plainerData(program: Program): IterableIterator<Program> {
  yield* eachData(program, (data) => {
    const { values } = data;
    const others: DataStatement[] = [];
    if (data.grad) others.push({ ...data, grad: false });
    if (values.special) others.push({ ...data, values: { ...values, special: false } });
    if (data.dtype !== "float32" && isFloat(data.dtype)) others.push({ ...data, dtype: "float32" });
    if (data.dtype !== "int64" && isInteger(data.dtype)) others.push({ ...data, dtype: "int64" });
    if (!isFloat(data.dtype) && !data.grad) others.push({ ...data, dtype: "float32" });
    return others;
  });
}

/** Smaller numbers of elements. */
const smaller = (size: number): number[] =>
  [...new Set([1, 2, Math.floor(size / 2), size - 1])].filter((s) => s >= 1 && s < size);

function* smallerSizes(program: Program): IterableIterator<Program> {
  const { calls } = program;
  const count = calls[0]?.sizes.length ?? 0;
  for (let n = 0; n < count; n++) {
    const now = calls.map((call) => call.sizes[n] ?? 1);
    for (const size of smaller(Math.max(...now))) {
      yield {
        ...program,
        calls: calls.map((call) => ({
          ...call,
          sizes: call.sizes.with(n, Math.min(size, call.sizes[n] ?? 1)),
        })),
      };
    }
    for (const [k, call] of calls.entries()) {
      for (const size of smaller(call.sizes[n] ?? 1)) {
        yield { ...program, calls: calls.with(k, { ...call, sizes: call.sizes.with(n, size) }) };
      }
    }
  }
  yield* eachData(program, (data) =>
    data.shape.flatMap((size, d) => [
      ...typeof size === "number"
        ? smaller(size).map((less) => ({ ...data, shape: data.shape.with(d, less) }))
        : [],
      { ...data, shape: data.shape.toSpliced(d, 1) },
    ]));
}

function* simplerArguments(program: Program): IterableIterator<Program> {
  for (const { statement, number } of numbered(program.body)) {
    if (statement.kind === "hook" && statement.scale !== 1) {
      yield replaceStatement(program, number, [{ ...statement, scale: 1 }]);
    }
    if (statement.kind === "backward" && statement.retainGraph) {
      yield replaceStatement(program, number, [{ ...statement, retainGraph: false }]);
    }
    if (statement.kind === "grad" && statement.createGraph) {
      yield replaceStatement(program, number, [{ ...statement, createGraph: false }]);
    }
    if (statement.kind !== "call") continue;
    const { args } = statement;
    const last = args.at(-1);
    if (
      args.length > 1 &&
      (typeof last !== "object" || last === null || isArgList(last) || last.kind === "options")
    ) {
      yield replaceStatement(program, number, [{ ...statement, args: args.slice(0, -1) }]);
    }
    for (const [k, arg] of args.entries()) {
      for (const other of simplerArg(arg)) {
        yield replaceStatement(program, number, [{ ...statement, args: args.with(k, other) }]);
      }
    }
  }
}

function* simplerArg(arg: Arg): IterableIterator<Arg> {
  if (typeof arg === "number") {
    if (arg !== 0) yield 0;
    if (arg !== 0 && arg !== 1) yield 1;
    if (arg > 2) yield Math.floor(arg / 2);
    if (arg > 2) yield arg - 1;
    return;
  }
  if (typeof arg !== "object" || arg === null) return;
  if (isArgList(arg)) {
    for (const [k, each] of arg.entries()) {
      if (arg.length > 1) yield arg.toSpliced(k, 1);
      for (const other of simplerArg(each)) yield arg.with(k, other);
    }
  } else if (arg.kind === "options") {
    for (const name of Object.keys(arg.entries)) {
      yield {
        kind: "options",
        entries: Object.fromEntries(Object.entries(arg.entries).filter(([other]) => other !== name)),
      };
    }
  } else if (arg.kind === "shape") yield 1;
}
