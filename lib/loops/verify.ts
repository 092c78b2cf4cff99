/**
 * The specification of loop IR as a checker; an `InternalError` names the kernel and the broken rule. Invariant:
 * every backend can print a program that passes without further checks of scope or type; index bounds are checked by
 * the reference interpreter, because they depend on data.
 */
import { isInteger, isSmall, type ValueType, valueType } from "../base/dtype.ts";
import { InternalError } from "../base/errors.ts";
import { sameList } from "../base/lists.ts";
import { type Dim, freeSymbols, print, type Sym } from "../sym/expr.ts";
import {
  type Axis,
  type BufferDecl,
  type BufferId,
  type BufferView,
  type ExternKernel,
  type Fold,
  isPosition,
  type Loop,
  type LoopKernel,
  type Program,
  type Prologue,
  type Statement,
  type ValueId,
} from "./ir.ts";
import { canonicalFormOf } from "./canonical_form.ts";
import { loadType } from "./record.ts";
import { countersOf, kernelGroups } from "./kernel_groups.ts";
import { isRegion, type RegionKernel } from "./regions.ts";
import { isShareable } from "./scans.ts";
import { usesOf } from "./uses.ts";
import { admits, resultType, SCALAR_OPS } from "./scalar.ts";

/** Checks a whole program; `stage` says after which step, for the message. */
export function verifyProgram(program: Program, stage = "scheduling"): void {
  const fail = (message: string): never => {
    throw new InternalError(`Loop IR of ${program.name} after ${stage}: ${message}`);
  };
  const sizes = new Set(program.sizes);
  const knownSize = (d: Dim, what: string) => {
    for (const s of freeSymbols(d)) {
      if (!sizes.has(s)) fail(`Expected ${what} over the program's sizes but found ${print(d)}`);
    }
  };
  checkRoles(program, fail);
  checkGuard(program, fail);
  for (const buffer of program.buffers) {
    knownSize(buffer.length, `length of ${buffer.name}`);
    if (buffer.role.kind === "temporary") knownSize(buffer.role.offset, `offset of ${buffer.name}`);
    if (buffer.role.kind === "window") checkWindow(program, buffer.role, fail);
  }
  knownSize(program.arenaBytes, "size of the arena");
  const nests = new NestChecker(program);
  for (const kernel of program.kernels) {
    if (kernel.kind === "loops") nests.check(kernel);
    else if (isRegion(kernel)) checkRegion(program, kernel, { stage, fail });
    else checkExtern(program, kernel, { nests, fail });
  }
  checkLocals(program, fail);
}

/**
 * Checks the nests of a program; of equivalent ones it checks only the first, and only the buffers of the others.
 */
class NestChecker {
  readonly #known = new Map<object, Checked[]>();

  constructor(readonly program: Program) {}

  check(kernel: LoopKernel): void {
    const canonical = canonicalFormOf(kernel.body);
    if (!canonical) return new KernelChecker(this.program, kernel).check();
    const known = this.#known.get(canonical.kind) ?? [];
    const former = known.find((each) => this.#isEquivalent(each, kernel, canonical.buffers));
    if (!former) {
      new KernelChecker(this.program, kernel).check();
      const written = [...usesOf(kernel).written].map((id) => canonical.buffers.indexOf(id));
      this.#known.set(canonical.kind, [...known, { kernel, buffers: canonical.buffers, written }]);
      return;
    }
    for (const at of former.written) {
      checkWritable(this.program, canonical.buffers[at] ?? -1, (message) => {
        throw new InternalError(`Kernel ${kernel.name} of ${this.program.name}: ${message}`);
      });
    }
  }

  #isEquivalent(former: Checked, { blocks, workgroup }: LoopKernel, places: readonly BufferId[]): boolean {
    const { buffers } = this.program;
    const like = (one: BufferDecl | undefined, other: BufferDecl | undefined) =>
      one?.dtype === other?.dtype && (one?.role.kind === "local") === (other?.role.kind === "local");
    return former.kernel.workgroup === workgroup &&
      sameList(countersOf(former.kernel.blocks).map(symbolOf), countersOf(blocks).map(symbolOf)) &&
      places.every((id, at) => like(buffers[id], buffers[former.buffers[at] ?? -1]));
  }
}

/** A nest that has been checked, its buffers, and the positions of those that it writes. */
interface Checked {
  readonly kernel: LoopKernel;
  readonly buffers: readonly BufferId[];
  readonly written: readonly number[];
}

const symbolOf = ({ symbol }: Axis): Sym => symbol;

/** A local buffer belongs to one kernel, or to adjacent ones that run by the same blocks. */
function checkLocals({ buffers, kernels }: Program, fail: (message: string) => never): void {
  if (!buffers.some(({ role }) => role.kind === "local")) return;
  const owners = new Map<BufferId, number>();
  for (const [owner, group] of kernelGroups(kernels).entries()) {
    for (const kernel of group) {
      for (const id of usesOf(kernel).all) {
        const buffer = buffers[id];
        if (buffer?.role.kind !== "local") continue;
        if ((owners.get(id) ?? owner) !== owner) {
          fail(`Expected the local ${buffer.name} in one place but found it in ${group[0]?.name}, too`);
        }
        owners.set(id, owner);
      }
    }
  }
}

/** A window is part of memory from outside the call, not of another window. */
function checkWindow(
  { buffers }: Program,
  { of, from }: { readonly of: BufferId; readonly from: number },
  fail: (message: string) => never,
): void {
  const kind = buffers[of]?.role.kind;
  if (kind === undefined || kind === "window" || kind === "local" || from < 0) {
    fail(`Expected a window on memory of the call but found one on b${of} from ${from} on`);
  }
}

function checkRoles(program: Program, fail: (message: string) => never): void {
  for (const [kind, ids] of [["input", program.inputs], ["output", program.outputs]] as const) {
    const declared = program.buffers.flatMap((b, id) => b.role.kind === kind ? [id] : []),
      named = new Set(ids);
    if (ids.length !== declared.length || declared.some((id) => !named.has(id))) {
      fail(`Expected ${kind}s ${declared} but found ${ids}`);
    }
  }
}

/** Checks that kernels before the decision write the flag, and no memory that existed before the call. */
function checkGuard(program: Program, fail: (message: string) => never): void {
  const { guard, kernels, buffers } = program;
  if (!guard) return;
  const flag = buffers[guard.flag];
  if (flag?.role.kind !== "output" || flag.dtype !== "bool" || flag.length !== 1) {
    fail(`Expected an output of one bool as the flag but found b${guard.flag}`);
  }
  const writers = kernels.map((kernel) => [...usesOf(kernel).written]);
  writers.forEach((written, at) => {
    const isInput = written.some((id) => buffers[id]?.role.kind === "input");
    if (isInput && at < guard.after) {
      fail(`Expected ${kernels[at]?.name} to run after the decision: it writes an input`);
    }
    if (written.includes(guard.flag) && at >= guard.after) {
      fail(`Expected ${kernels[at]?.name} to run before the decision: it writes the flag`);
    }
  });
}

interface ExternCheck {
  readonly nests: NestChecker;
  readonly fail: (message: string) => never;
}

/** Regions that have been checked. */
const checked = new WeakSet<Program>();

/** Checks the call of a region, and the region once: a buffer for each of its own, and an arena of its size. */
function checkRegion(
  program: Program,
  { name, call: { program: region, rows }, inputs, outputs }: RegionKernel,
  { stage, fail }: { readonly stage: string; readonly fail: (message: string) => never },
): void {
  if (!checked.has(region)) verifyProgram(region, stage);
  checked.add(region);
  const own = [...region.inputs, ...region.outputs], given = [...inputs, ...outputs];
  const arena = outputs.length > region.outputs.length ? 1 : 0, runs = rows ?? 1;
  if (inputs.length !== runs * region.inputs.length || outputs.length !== region.outputs.length + arena) {
    fail(`${name}: Expected buffers for ${region.inputs} and ${region.outputs}`);
  }
  if (rows !== undefined) checkRows(region, inputs, (message) => fail(`${name}: ${message}`));
  for (const [at, view] of given.entries()) {
    const place = at < inputs.length ? at % region.inputs.length : at - inputs.length + region.inputs.length;
    const buffer = program.buffers[view.buffer], like = region.buffers[own[place] ?? -1];
    if (!buffer || view.offset !== 0) fail(`${name}: Expected a whole buffer but found b${view.buffer}`);
    if (like && buffer?.dtype !== like.dtype) {
      fail(`${name}: Expected ${like.dtype} but found ${buffer?.dtype}`);
    }
  }
  const written = [...outputs, ...inputs.filter((_, at) => isWritten(region, at % region.inputs.length))];
  for (const view of written) checkWritable(program, view.buffer, (message) => fail(`${name}: ${message}`));
}

/** Returns whether a program writes to an input. */
function isWritten({ inputs, buffers }: Program, at: number): boolean {
  const role = buffers[inputs[at] ?? -1]?.role;
  return role?.kind === "input" && role.written;
}

/** Checks that runs on rows have their results in inputs, each of which nothing else names. */
function checkRows(region: Program, views: readonly BufferView[], fail: (message: string) => never): void {
  if (region.outputs.length > 0) fail("Expected results of rows in their inputs");
  const seen = new Set<BufferId>(), again = new Set<BufferId>();
  for (const { buffer } of views) (seen.has(buffer) ? again : seen).add(buffer);
  for (const [at, { buffer }] of views.entries()) {
    if (again.has(buffer) && isWritten(region, at % region.inputs.length)) {
      fail(`Expected rows that touch nothing which others write but found b${buffer}`);
    }
  }
}

function checkExtern(program: Program, kernel: ExternKernel, { nests, fail }: ExternCheck): void {
  for (const view of [...kernel.inputs, ...kernel.outputs]) {
    const buffer = program.buffers[view.buffer];
    if (!buffer) fail(`${kernel.name}: Expected a buffer but found b${view.buffer}`);
    else if (isSmall(buffer.dtype)) {
      fail(`${kernel.name}: Expected operands of a type of values but found ${buffer.dtype}`);
    }
    if (view.shape.length !== view.strides.length) {
      fail(`${kernel.name}: Expected as many strides as sizes but found ${view.shape} by ${view.strides}`);
    }
  }
  for (const view of kernel.outputs) checkWritable(program, view.buffer, (m) => fail(`${kernel.name}: ${m}`));
  for (const prologue of kernel.prologues ?? []) {
    checkPrologue(kernel, prologue, (m) => fail(`${kernel.name}: ${m}`));
    nests.check(prologue.nest);
  }
  const { epilogue } = kernel;
  const [first] = kernel.outputs;
  if (!epilogue) return;
  if (!first) return fail(`${kernel.name}: Expected an output for the epilogue but found none`);
  checkNest(epilogue, first.shape, (m) => fail(`${kernel.name}: ${m}`));
  nests.check(epilogue);
}

/** Checks that a nest has exactly one parallel loop per size, after values only; returns its innermost body. */
function checkNest(
  nest: LoopKernel,
  sizes: readonly Dim[],
  fail: (message: string) => never,
): readonly Statement[] {
  let { body } = nest;
  for (const size of sizes) {
    const loop = body.at(-1), values = body.slice(0, -1);
    const plain = values.every(({ kind }) => kind !== "loop" && kind !== "store");
    if (!plain || loop?.kind !== "loop" || loop.order !== "parallel" || loop.axis.size !== size) {
      return fail(`Expected a nest with one parallel loop of ${size} but found ${loop?.kind}`);
    }
    body = loop.body;
  }
  if (body.some((s) => s.kind === "loop")) fail("Expected no loop inside the nest of a call but found one");
  return body;
}

function checkPrologue(
  kernel: ExternKernel,
  { input, transposed, nest }: Prologue,
  fail: (message: string) => never,
): void {
  const view = kernel.inputs[input];
  if (!view) return fail(`Expected a prologue of an input but found one of ${input}`);
  const [last = 1, before = 1, ...batch] = view.shape.toReversed();
  const two = transposed ? [last, before] : [before, last];
  const body = checkNest(nest, [...batch.toReversed(), ...two], fail);
  const stores = body.filter((s) => s.kind === "store");
  if (stores.length !== 1 || stores[0]?.buffer !== view.buffer) {
    fail(`Expected a prologue with one store to b${view.buffer} but found ${stores.length}`);
  }
  const users = [...kernel.inputs, ...kernel.outputs].filter(({ buffer }) => buffer === view.buffer);
  if (users.length !== 1) fail(`Expected one use of b${view.buffer} but found ${users.length}`);
}

function checkWritable(program: Program, buffer: number, fail: (message: string) => void): void {
  const role = program.buffers[buffer]?.role;
  if (role?.kind === "input" && !role.written) {
    fail(`Expected a writable buffer but found the input b${buffer}`);
  }
  if (role?.kind === "window") fail(`Expected a writable buffer but found the window b${buffer}`);
}

/** Checks scopes and types of one kernel. */
class KernelChecker {
  readonly #visible = new Map<ValueId, ValueType>();
  readonly #defined = new Set<ValueId>();
  /** Values defined in the open scopes, innermost last. */
  readonly #scope: ValueId[] = [];
  readonly #symbols: Set<Sym>;

  constructor(readonly program: Program, readonly kernel: LoopKernel) {
    this.#symbols = new Set(program.sizes);
    for (const { symbol } of countersOf(kernel.blocks)) this.#symbols.add(symbol);
  }

  check(): void {
    this.#statements(this.kernel.body, { vector: false, parallel: [], grid: true, team: false });
  }

  #fail(message: string): never {
    throw new InternalError(`Kernel ${this.kernel.name} of ${this.program.name}: ${message}`);
  }

  #define(id: ValueId, dtype: ValueType): void {
    if (this.#defined.has(id)) this.#fail(`Expected a fresh value but v${id} is defined twice`);
    this.#defined.add(id);
    this.#visible.set(id, dtype);
    this.#scope.push(id);
  }

  #use(id: ValueId): ValueType {
    const dtype = this.#visible.get(id);
    return dtype ?? this.#fail(`Expected a visible value but found v${id}`);
  }

  #expect(id: ValueId, dtype: ValueType): void {
    const found = this.#use(id);
    if (found !== dtype) this.#fail(`Expected v${id} to be ${dtype} but found ${found}`);
  }

  #index(d: Dim): void {
    for (const s of freeSymbols(d)) {
      if (s.node.kind === "symbol" && s.node.role.kind === "value") {
        const { id } = s.node.role;
        if (!isInteger(this.#use(id))) this.#fail(`Expected an integer index but v${id} is ${this.#use(id)}`);
      } else if (!this.#symbols.has(s)) {
        this.#fail(`Expected symbols in scope but found ${print(s)} in ${print(d)}`);
      }
    }
  }

  #statements(statements: readonly Statement[], around: ScopeFacts): void {
    const scope = { ...around, grid: around.grid && statements.length === 1 };
    for (const s of statements) this.#statement(s, scope);
  }

  /** Runs `body` and forgets the values that it defines. */
  #scoped(body: () => void): void {
    const before = this.#scope.length;
    body();
    for (const id of this.#scope.splice(before)) this.#visible.delete(id);
  }

  #statement(s: Statement, scope: ScopeFacts): void {
    switch (s.kind) {
      case "loop":
        return this.#loop(s, scope);
      case "constant":
        this.#constant(s.value, s.dtype);
        return this.#define(s.id, s.dtype);
      case "index":
        this.#index(s.index);
        return this.#define(s.id, s.dtype);
      case "scalar": {
        const info = SCALAR_OPS[s.op];
        const [first] = s.args;
        if (s.args.length !== info.arity || first === undefined) {
          this.#fail(`Expected ${info.arity} operands of ${s.op} but found ${s.args.length}`);
        }
        const operand = this.#use(first);
        for (const arg of s.args) this.#expect(arg, operand);
        if (!admits(info.operands, operand)) {
          this.#fail(`Expected ${info.operands} operands of ${s.op}, not ${operand}`);
        }
        if (resultType(s.op, operand) !== s.dtype) {
          this.#fail(
            `Expected ${s.op} of ${operand} to give ${resultType(s.op, operand)} but found ${s.dtype}`,
          );
        }
        return this.#define(s.id, s.dtype);
      }
      case "cast":
        this.#use(s.value);
        return this.#define(s.id, s.dtype);
      case "select":
        this.#expect(s.condition, "bool");
        this.#expect(s.then, s.dtype);
        this.#expect(s.otherwise, s.dtype);
        return this.#define(s.id, s.dtype);
      case "load": {
        this.#index(s.index);
        const buffer = this.program.buffers[s.buffer];
        if (!buffer || loadType(buffer.dtype) !== s.dtype) {
          this.#fail(`Expected b${s.buffer} to give ${s.dtype} but found ${buffer?.dtype}`);
        }
        return this.#define(s.id, s.dtype);
      }
      case "store": {
        this.#index(s.index);
        const buffer = this.program.buffers[s.buffer];
        if (!buffer) return this.#fail(`Expected a buffer but found b${s.buffer}`);
        checkWritable(this.program, s.buffer, (m) => this.#fail(m));
        this.#expect(s.value, s.mode === "add" ? valueType(buffer.dtype) : loadType(buffer.dtype));
        if (s.mode === "set" && buffer.role.kind !== "local") this.#disjoint(s.index, scope);
        return;
      }
      case "masked": {
        this.#expect(s.condition, "bool");
        this.#expect(s.otherwise, s.dtype);
        this.#scoped(() => {
          this.#statements(s.body, scope);
          this.#expect(s.value, s.dtype);
        });
        return this.#define(s.id, s.dtype);
      }
      default:
        s satisfies never;
    }
  }

  #constant(value: number | bigint | boolean, dtype: ValueType): void {
    const wanted: string = dtype === "bool" ? "boolean" : dtype === "int64" ? "bigint" : "number";
    const found: string = typeof value;
    if (found !== wanted) this.#fail(`Expected a ${wanted} for ${dtype} but found ${found}`);
  }

  /** Iterations of a parallel loop must write different elements: at least, the index must depend on its axis. */
  #disjoint(index: Dim, scope: ScopeFacts): void {
    const symbols = freeSymbols(index);
    const indirect = [...symbols].some((s) => s.node.kind === "symbol" && s.node.role.kind === "value");
    if (indirect) return;
    for (const axis of scope.parallel) {
      if (!symbols.has(axis)) {
        this.#fail(`Expected a store index with ${print(axis)} but found ${print(index)}`);
      }
    }
  }

  /** A grid encloses everything else; a team divides unordered loops and scans, one or several as one. */
  #shared(loop: Loop, { grid, team }: ScopeFacts): void {
    const { share, order } = loop;
    if (share === "grid" && !(grid && order === "parallel")) {
      this.#fail("Expected parallel loops around everything as the grid but found others");
    }
    if (share !== "team") return;
    if (team) this.#fail("Expected a loop that is not part of one that a team divides but found one");
    if (!isShareable(loop) || (order !== "parallel" && this.kernel.workgroup === undefined)) {
      this.#fail(`Expected a loop that a team can divide but found a ${order} one`);
    }
  }

  #fold({ op, dtype, values, positions, count }: Fold, loop: Loop): void {
    if (loop.vector || loop.order !== "reduction") {
      this.#fail("Expected folds after a reduction's iterations only");
    }
    if (isPosition(op) !== (positions !== undefined)) {
      this.#fail(`Expected indices for ${op} exactly where positional`);
    }
    this.#index(count);
    for (
      const [elements, type] of [[values, isPosition(op) ? undefined : dtype], [positions, dtype]] as const
    ) {
      if (!elements) continue;
      this.#index(elements.index);
      const found = this.program.buffers[elements.buffer]?.dtype;
      if (found === undefined || (type !== undefined && found !== type)) {
        this.#fail(`Expected ${type} in b${elements.buffer} to fold but found ${found}`);
      }
    }
  }

  #loop(loop: Loop, scope: ScopeFacts): void {
    this.#index(loop.axis.size);
    if (loop.vector && scope.vector) this.#fail("Expected one vector loop on a path but found two");
    if (loop.order === "parallel" && (loop.reductions.length > 0 || loop.carried.length > 0)) {
      this.#fail("Expected a parallel loop without reductions or carried values but found some");
    }
    if (loop.carried.length > 0 && loop.order !== "sequential") {
      this.#fail(`Expected a sequential loop for carried values but found ${loop.order}`);
    }
    this.#shared(loop, scope);
    for (const c of loop.carried) this.#expect(c.initial, c.dtype);
    const { symbol } = loop.axis;
    if (this.#symbols.has(symbol)) this.#fail(`Expected a fresh axis but found ${print(symbol)} again`);
    this.#symbols.add(symbol);
    if (loop.part) this.#symbols.add(loop.part.end);
    const grows = loop.order === "parallel" && loop.axis.size !== 1;
    this.#scoped(() => {
      for (const c of loop.carried) this.#define(c.id, c.dtype);
      const [inner] = loop.body;
      const chained = loop.body.length === 1 && inner?.kind === "loop" && inner.share === "team";
      this.#statements(loop.body, {
        vector: scope.vector || loop.vector,
        grid: loop.share === "grid",
        team: scope.team || (loop.share === "team" && !chained),
        parallel: grows ? [...scope.parallel, symbol] : scope.parallel,
      });
      for (const c of loop.carried) this.#expect(c.next, c.dtype);
      for (const r of loop.reductions) {
        const positional = r.op === "argmax" || r.op === "argmin";
        if (positional !== (r.index !== undefined)) {
          this.#fail(`Expected an index for ${r.op} exactly where positional`);
        }
        if (r.index !== undefined) this.#expect(r.index, r.dtype);
        if (positional ? !isInteger(r.dtype) : this.#use(r.value) !== r.dtype) {
          this.#fail(`Expected ${r.op} of ${this.#use(r.value)} but found ${r.dtype}`);
        }
        this.#use(r.value);
      }
      for (const f of loop.folds ?? []) this.#fold(f, loop);
    });
    this.#symbols.delete(symbol);
    if (loop.part) this.#symbols.delete(loop.part.end);
    for (const c of loop.carried) {
      this.#visible.set(c.id, c.dtype);
      this.#scope.push(c.id);
    }
    for (const r of loop.reductions) this.#define(r.id, r.dtype);
    for (const f of loop.folds ?? []) this.#define(f.id, f.dtype);
  }
}

/** Facts about the statements that enclose one. */
interface ScopeFacts {
  /** Whether it is alone in loops of the grid. */
  readonly grid: boolean;
  /** Whether a team has divided an enclosing loop. */
  readonly team: boolean;
  readonly vector: boolean;
  readonly parallel: readonly Sym[];
}
