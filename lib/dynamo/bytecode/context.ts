/**
 * State shared by the parts of the compiler while one function is compiled: registers of variables, jumps through
 * finally blocks and iterator closes, temporaries.
 *
 * Invariant: `contexts` lists, outermost first, the blocks that a jump out of the current place must leave.
 */
import type * as ast from "acorn";
import { type ClassTemplate, type CodeObject, type SourceSpan, UnsupportedSyntax } from "./code.ts";
import type { ConstantValue, Register } from "./instruction.ts";
import { CodeBuilder, type Label, type Region } from "./builder.ts";
import type { ParsedModule } from "./parse.ts";
import type { AstNode, FunctionNode } from "./syntax.ts";
import { type Analysis, pseudoOwner, type Unit, type Variable } from "./scope.ts";

/** A target of `break`. */
interface BreakContext {
  readonly kind: "break";
  readonly labels: readonly string[];
  /** Whether a `break` without a label refers to it (loops and switch). */
  readonly plain: boolean;
  readonly target: Label;
}

/** A target of `continue`. */
interface ContinueContext {
  readonly kind: "continue";
  readonly labels: readonly string[];
  readonly target: Label;
}

/** A finally block: leaving through it sets `which` and `value` and jumps to `entry`. */
interface FinallyContext {
  readonly kind: "finally";
  readonly entry: Label;
  readonly which: Register;
  readonly value: Register;
  /** Continuations after the block, by `which` - 2 (0: fall through, 1: throw value). */
  readonly exits: Leave[];
}

/** An iterator to be closed on the way out. */
interface IteratorContext {
  readonly kind: "iterator";
  readonly iterator: Register;
  /** Closed only while this register is false; null: always. */
  readonly done: Register | null;
  readonly async: boolean;
  readonly region: Region | null;
}

type ControlContext = BreakContext | ContinueContext | FinallyContext | IteratorContext;

/** A way out of a statement. */
type Leave =
  | { readonly kind: "return"; readonly node: SourceSpan }
  | { readonly kind: "jump"; readonly to: BreakContext | ContinueContext; readonly node: SourceSpan };

/** A return that starts at a suspended yield. */
interface PendingReturn {
  readonly label: Label;
  readonly register: Register;
  readonly contexts: readonly ControlContext[];
  readonly region: Region | null;
  readonly node: SourceSpan;
}

/** The place of a variable, seen from the unit being compiled. */
export type Place =
  | { readonly kind: "register"; readonly register: Register }
  | { readonly kind: "cell"; readonly register: Register }
  | { readonly kind: "free"; readonly index: number };

export class FunctionContext {
  readonly builder: CodeBuilder = new CodeBuilder();
  readonly children: CodeObject[] = [];
  readonly classes: ClassTemplate[] = [];
  contexts: ControlContext[] = [];
  /** Target of an optional chain for null and undefined. */
  chainExit: Label | null = null;
  /** Whether the code being compiled is strict; the heritage of a class is strict even in sloppy functions. */
  strict: boolean;
  private readonly places = new Map<Variable, Register>();
  private readonly freeIndex = new Map<Variable, number>();
  private pending: PendingReturn[] = [];

  constructor(
    readonly unit: Unit,
    readonly module: ParsedModule,
    /** Variables of `free`, in order. */
    readonly freeVariables: readonly Variable[],
    readonly hooks: {
      readonly expression: (ctx: FunctionContext, node: ast.Expression, dst?: Register) => Register;
      readonly statement: (ctx: FunctionContext, node: ast.Statement, labels: readonly string[]) => void;
      readonly child: (unit: Unit) => CodeObject;
    },
    readonly flags: { readonly async: boolean; readonly generator: boolean },
  ) {
    this.strict = unit.strict;
    freeVariables.forEach((v, i) => this.freeIndex.set(v, i));
  }

  get analysis(): Analysis {
    return this.module.analysis;
  }

  expression(node: ast.Expression, dst?: Register): Register {
    return this.hooks.expression(this, node, dst);
  }

  statement(node: ast.Statement, labels: readonly string[] = []): void {
    this.hooks.statement(this, node, labels);
  }

  unsupported(construct: string, node: SourceSpan): never {
    throw new UnsupportedSyntax(construct, this.module.position(node.start));
  }

  // ---- small emitters

  constant(value: ConstantValue, node: SourceSpan, dst: Register = this.builder.temp()): Register {
    this.builder.emit({ op: "const", dst, value }, node);
    return dst;
  }

  move(dst: Register, src: Register, node: SourceSpan): void {
    if (dst !== src) this.builder.emit({ op: "move", dst, src }, node);
  }

  // ---- variables

  /** The variable that a name node refers to, null for globals. */
  variableOf(node: AstNode): Variable | null {
    return this.analysis.references.get(node) ?? null;
  }

  /** this, super, new.target, callee, arguments of the frame visible to this code. */
  pseudo(name: string): Variable | null {
    return pseudoOwner(this.unit).pseudo.get(name) ?? null;
  }

  /** Returns whether closures share the variable through a cell, rather than as a copy of its final value. */
  static needsCell(variable: Variable): boolean {
    return variable.capturers.size > 0 &&
      (variable.reassigned || variable.usedEarly || variable.unit.dynamicScope);
  }

  place(variable: Variable): Place {
    if (variable.unit !== this.unit) {
      const index = this.freeIndex.get(variable);
      if (index === undefined) throw new Error(`Expected ${variable.name} among the free variables`);
      return { kind: "free", index };
    }
    const kind = FunctionContext.needsCell(variable) ? "cell" : "register";
    let register = this.places.get(variable);
    if (register === undefined) {
      register = this.builder.variable(variable.name, kind === "cell");
      this.places.set(variable, register);
    }
    return { kind, register };
  }

  /** Creates the variable, uninitialised if some use may come too early. */
  enter(variable: Variable, node: SourceSpan): void {
    const place = this.place(variable);
    if (!variable.usedEarly || place.kind === "free") return;
    if (place.kind === "cell") {
      this.builder.emit({ op: "newCell", dst: place.register, src: null, name: variable.name }, node);
    } else this.builder.emit({ op: "uninitialized", dst: place.register }, node);
  }

  /** Gives the variable its first value. */
  initialize(variable: Variable, src: Register, node: SourceSpan): void {
    const place = this.place(variable);
    if (place.kind === "register") this.move(place.register, src, node);
    else if (place.kind === "free") this.builder.emit({ op: "storeFree", index: place.index, src }, node);
    else if (variable.usedEarly) this.builder.emit({ op: "storeCell", cell: place.register, src }, node);
    else this.builder.emit({ op: "newCell", dst: place.register, src, name: variable.name }, node);
  }

  /** Register to evaluate the initial value into, undefined if `initialize` must move it. */
  initialRegister(variable: Variable): Register | undefined {
    const place = this.place(variable);
    return place.kind === "register" && !variable.usedEarly ? place.register : undefined;
  }

  private mayBeEarly(variable: Variable, node: SourceSpan): boolean {
    return variable.usedEarly && (node.start < variable.readyAt || variable.unordered);
  }

  /** A register with the variable's value; it may be the variable's own. */
  read(variable: Variable, node: SourceSpan, dst?: Register): Register {
    if (variable.kind === "this" && variable.unit.kind === "program") {
      if (this.module.program.sourceType === "module") return this.constant(undefined, node, dst);
      const global = dst ?? this.builder.temp();
      this.builder.emit({ op: "loadGlobal", dst: global, name: "globalThis", forTypeof: false }, node);
      return global;
    }
    const place = this.place(variable);
    if (place.kind === "register") {
      if (this.mayBeEarly(variable, node)) {
        this.builder.emit({ op: "checkTdz", src: place.register, name: variable.name }, node);
      }
      if (dst === undefined) return place.register;
      this.move(dst, place.register, node);
      return dst;
    }
    const result = dst ?? this.builder.temp();
    if (place.kind === "free") this.builder.emit({ op: "loadFree", dst: result, index: place.index }, node);
    else if (this.mayBeEarly(variable, node)) {
      const raw = this.builder.temp();
      this.builder.emit({ op: "loadCell", dst: raw, cell: place.register }, node);
      this.builder.emit({ op: "checkTdz", src: raw, name: variable.name }, node);
      this.move(result, raw, node);
    } else this.builder.emit({ op: "loadCell", dst: result, cell: place.register }, node);
    return result;
  }

  /** Assigns a variable that exists. */
  write(variable: Variable, src: Register, node: SourceSpan): void {
    if (this.refusesWrite(variable, node)) return;
    const place = this.place(variable);
    if (place.kind === "free") this.builder.emit({ op: "storeFree", index: place.index, src }, node);
    else {
      if (this.mayBeEarly(variable, node)) {
        let held = place.register;
        if (place.kind === "cell") {
          held = this.builder.temp();
          this.builder.emit({ op: "loadCell", dst: held, cell: place.register }, node);
        }
        this.builder.emit({ op: "checkTdz", src: held, name: variable.name }, node);
      }
      if (place.kind === "cell") this.builder.emit({ op: "storeCell", cell: place.register, src }, node);
      else this.move(place.register, src, node);
    }
  }

  /** Emits the effect of an assignment to a constant, if it is one. */
  private refusesWrite(variable: Variable, node: SourceSpan): boolean {
    if (variable.assignment === "plain") return false;
    if (this.strict || variable.assignment === "throws") {
      if (variable.unit !== this.unit || this.mayBeEarly(variable, node)) this.read(variable, node);
      this.builder.emit(
        { op: "throwError", type: "TypeError", message: "Assignment to constant variable." },
        node,
      );
    }
    return true;
  }

  /** A register into which the value can be computed directly when assigning, undefined if `write` must do it. */
  writeRegister(variable: Variable): Register | undefined {
    if (variable.assignment !== "plain" || variable.usedEarly || variable.unit !== this.unit) {
      return undefined;
    }
    const place = this.place(variable);
    return place.kind === "register" ? place.register : undefined;
  }

  // ---- leaving statements

  /** Runs `body` with an additional context. */
  inside(context: ControlContext, body: () => void): void {
    this.contexts.push(context);
    body();
    this.contexts.pop();
  }

  /** Emits the jump of a `break` or `continue`. */
  leaveTo(kind: "break" | "continue", label: string | null, node: SourceSpan): void {
    for (let i = this.contexts.length - 1; i >= 0; i--) {
      const c = this.contexts[i];
      if (!c || c.kind !== kind) continue;
      if (label === null ? (c.kind === "continue" || c.plain) : c.labels.includes(label)) {
        this.leave({ kind: "jump", to: c, node }, null);
        return;
      }
    }
    this.unsupported(`${kind} without a target`, node);
  }

  /** Emits a return of `value` through all enclosing contexts. */
  leaveByReturn(value: Register, node: SourceSpan): void {
    this.leave({ kind: "return", node }, value);
  }

  /**
   * Leaves contexts, closing iterators on the way; a finally block takes over and continues afterwards (`resumeLeave`).
   */
  private leave(way: Leave, value: Register | null): void {
    const saved = this.contexts;
    const savedRegion = this.builder.region;
    for (let i = saved.length - 1; i >= 0; i--) {
      const c = saved[i];
      if (!c || (way.kind === "jump" && c === way.to)) break;
      if (c.kind === "iterator") {
        this.contexts = saved.slice(0, i);
        this.builder.region = c.region;
        this.closeIterator(c, way.node);
      } else if (c.kind === "finally") {
        let index = c.exits.findIndex((e) =>
          e.kind === way.kind && (e.kind === "return" || (way.kind === "jump" && e.to === way.to))
        );
        if (index < 0) index = c.exits.push(way) - 1;
        if (value !== null) this.move(c.value, value, way.node);
        // Nothing reads it in this case, but it must be defined
        else this.constant(undefined, way.node, c.value);
        this.constant(index + 2, way.node, c.which);
        this.builder.jump(c.entry, way.node);
        this.contexts = saved;
        this.builder.region = savedRegion;
        return;
      }
    }
    if (way.kind === "jump") this.builder.jump(way.to.target, way.node);
    else if (value !== null) this.emitReturn(value, way.node);
    this.contexts = saved;
    this.builder.region = savedRegion;
  }

  private emitReturn(value: Register, node: SourceSpan): void {
    if (this.unit.functionKind !== "derivedConstructor") {
      this.builder.emit({ op: "return", src: value }, node);
      return;
    }
    // A derived constructor returns an object, or undefined for `this`; anything else is a TypeError.
    const b = this.builder;
    // The constructor has already ended, so its handlers do not apply.
    b.within(null, () => {
      const own = b.label();
      b.emit({ op: "jumpIf", condition: "undefined", test: value, target: own.id }, node);
      b.emit({ op: "checkObject", src: value, what: "Result of the derived constructor" }, node);
      b.emit({ op: "return", src: value }, node);
      b.place(own);
      const variable = this.thisVariable();
      b.emit({ op: "return", src: this.read(variable, node) }, node);
    });
  }

  /** `this` of a derived constructor. */
  thisVariable(): Variable {
    const variable = this.pseudo("this");
    if (!variable) throw new Error("Expected a this variable in a derived constructor");
    return variable;
  }

  /** Compiles `body`, each exit of which enters the finally block that is compiled next; `resumeLeave` ends that. */
  enterFinally(node: SourceSpan, body: () => void): FinallyContext {
    const b = this.builder;
    const context: FinallyContext = {
      kind: "finally",
      entry: b.label(),
      which: b.temp(),
      value: b.temp(),
      exits: [],
    };
    const thrown = b.guarded(context.value, () => {
      this.inside(context, body);
      this.constant(undefined, node, context.value);
      this.constant(0, node, context.which);
      b.jump(context.entry, node);
      this.flushReturns(context);
    });
    b.place(thrown, true);
    this.constant(1, node, context.which);
    b.place(context.entry, true);
    return context;
  }

  /** Leaves a finally block by the exit for which it was entered. */
  resumeLeave(context: FinallyContext, node: SourceSpan): void {
    const b = this.builder;
    const when = (which: number, then: () => void): void => {
      const skip = b.label();
      const wanted = this.constant(which, node);
      const test = b.temp();
      b.emit({ op: "binary", dst: test, operator: "===", left: context.which, right: wanted }, node);
      b.emit({ op: "jumpIf", condition: "falsy", test, target: skip.id }, node);
      then();
      b.place(skip);
    };
    when(1, () => b.emit({ op: "throw", src: context.value }, node));
    context.exits.forEach((exit, i) =>
      when(i + 2, () => this.leave(exit, exit.kind === "return" ? context.value : null))
    );
  }

  /** Closes an iterator as a jump out of its loop or pattern does. */
  private closeIterator(c: IteratorContext, node: SourceSpan): void {
    const b = this.builder;
    const skip = b.label();
    if (c.done !== null) b.emit({ op: "jumpIf", condition: "truthy", test: c.done, target: skip.id }, node);
    if (c.async) this.closeAsync(c.iterator, true, node);
    else b.emit({ op: "iteratorClose", iterator: c.iterator, quiet: false }, node);
    b.place(skip);
  }

  /** Awaits iterator.return(), if there is one. */
  closeAsync(iterator: Register, checked: boolean, node: SourceSpan): void {
    const b = this.builder;
    const skip = b.label();
    const method = b.temp();
    b.emit({ op: "getProp", dst: method, object: iterator, key: { kind: "name", name: "return" } }, node);
    b.emit({ op: "jumpIf", condition: "nullish", test: method, target: skip.id }, node);
    const result = b.temp();
    b.emit(
      { op: "call", dst: result, callee: method, self: iterator, args: [], text: "iterator.return" },
      node,
    );
    const settled = b.temp();
    b.emit({ op: "await", dst: settled, src: result }, node);
    if (checked) b.emit({ op: "checkObject", src: settled, what: "Iterator result" }, node);
    b.place(skip);
  }

  // ---- generators

  /** Target for return() at a yield here; null if nothing would run on the way out. */
  returnAtYield(register: Register, node: SourceSpan): Label | null {
    if (!this.contexts.some((c) => c.kind === "finally" || c.kind === "iterator")) return null;
    const label = this.builder.label();
    this.pending.push({ label, register, contexts: [...this.contexts], region: this.builder.region, node });
    return label;
  }

  /** Emits the returns of yields inside `context` (all remaining ones if null). */
  flushReturns(context: FinallyContext | null): void {
    const mine = this.pending.filter((p) => context === null || p.contexts.includes(context));
    this.pending = this.pending.filter((p) => !mine.includes(p));
    for (const p of mine) {
      const saved = this.contexts;
      this.contexts = [...p.contexts];
      this.builder.place(p.label);
      this.builder.within(p.region, () => {
        if (this.flags.async) this.builder.emit({ op: "await", dst: p.register, src: p.register }, p.node);
        this.leaveByReturn(p.register, p.node);
      });
      this.contexts = saved;
    }
  }
}

/** Returns whether a function's parameter list runs no user code and binds no patterns. */
export function hasSimpleParameters(node: FunctionNode): boolean {
  return node.params.every((p) => p.type === "Identifier");
}
