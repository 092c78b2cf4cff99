/**
 * The free variables of a function that V8 loaded unchanged: final values, live cells, or the reason why there is
 * neither.
 *
 * Bindings are created on demand. Invariant: a binding that is not pending never changes.
 *
 * The inspector shows the values of variables, which suffices for those that never change. Accessors for the others can
 * only be created where the name is in scope, that is inside a call of the function; so they become available with its
 * next call.
 */
import { logs } from "../../base/logs.ts";
import type { CodeObject } from "../bytecode/code.ts";
import { compileFunction } from "../bytecode/compile.ts";
import { freeVariableAt, freeVariables } from "../bytecode/free.ts";
import type { ParsedModule } from "../bytecode/parse.ts";
import type { Unit, Variable } from "../bytecode/scope.ts";
import { accessText, entryText } from "./access_text.ts";
import { type Accessors, bindingFrom, moduleCell, privateMember } from "./cells.ts";
import { type FindModule, importOrigin } from "./imports.ts";
import { bindingsOfMethod, classmates, privateMethodNode, withKin } from "./classmates.ts";
import type { FreeBinding, Held, PrivateAccess, UnreachedMethod } from "./info.ts";
import { noteNamespace } from "./namespaces.ts";
import { type Inspector, InspectorUnavailable, textField } from "./inspector.ts";
import { isInPackage } from "./loaded_texts.ts";
import { type Located, losesThis, meansInside, moduleVariablesAt } from "./located.ts";
import { type CallWatch, watchCalls } from "./next_call.ts";
import { isOwnModule } from "../../base/errors.ts";
import { preferringOwnBuiltins } from "../../base/own_builtins.ts";
import { readScopes, type ScopeSnapshot } from "./scopes.ts";
import type { Scripts } from "./scripts.ts";

/** The connection to V8 and the scripts read through it. */
export interface Access {
  readonly inspector: Inspector;
  readonly scripts: Scripts;
  readonly find: FindModule;
}

/** The function and the scopes to which variables belong. */
export interface Surroundings {
  readonly fn: object;
  readonly module: ParsedModule;
  readonly scopes: ScopeSnapshot;
}

/** Functions with pending variables. */
const waiting = new Set<Waiting>();

/**
 * Watches the functions with pending variables, and returns the function that must run the program next, while they are
 * watched; those that are called expose their variables. Afterwards bindings are requested anew. `first` is the
 * function, if any, that the run calls first.
 */
export function watchNextRun(first: object | null): <T>(run: () => T) => T {
  const watched = [...waiting].map((one) => ({ one, watch: one.watch() }));
  waiting.clear();
  const close = watched.map(({ one, watch }) => watchCalls(one.inspector, watch));
  return (run) => {
    try {
      return run();
    } finally {
      // The run may have replaced builtins.
      preferringOwnBuiltins(() => {
        for (const end of close) end();
        for (const { one, watch } of watched) one.take(watch.values, watch.fn === first);
      });
    }
  };
}

/** A function whose next call exposes its pending variables. */
interface Waiting {
  readonly inspector: Inspector;
  watch(): CallWatch;
  /** `isFirst`: the first of the calls was of this very function. */
  take(calls: readonly (readonly Accessors[])[], isFirst: boolean): void;
}

/** Number of runs without a call of a function with pending variables after which these are given up. */
const MOST_IN_VAIN = 3;

/**
 * Maximum number of closures of the same code that wait for their variables; with more, each is probably called only
 * once.
 */
const MOST_CLOSURES = 8;

/** Number of closures that have waited for their own instance of a variable. */
const waited = new WeakMap<Variable, number>();

/** Bindings of free variables, created on demand and cached. */
export class Bindings {
  private readonly made = new Map<Variable, FreeBinding>();
  /** Number of runs watched without a call. */
  private vain = 0;
  private readonly counted = new Set<Variable>();

  constructor(
    private readonly use: Access,
    private readonly at: Surroundings,
    private readonly inside: () => Located | null,
  ) {}

  of(unit: Unit, index: number): FreeBinding {
    const { all, variable } = freeVariableAt(unit, this.at.module, index);
    return this.among(all, variable);
  }

  /** The binding of a private name that the functions of the class may not use. */
  ofName(name: Variable): FreeBinding {
    return this.among([name], name);
  }

  /** Returns the binding of a variable; all pending ones of `all` are awaited together. */
  private among(all: readonly Variable[], variable: Variable): FreeBinding {
    const known = this.made.get(variable) ?? this.fromSnapshot(variable);
    if (known) return known;
    const at = this.inside();
    for (const each of all) {
      if (!this.made.has(each) && this.fromSnapshot(each) === null) this.made.set(each, this.later(each, at));
    }
    if (at) this.wait(at);
    return this.made.get(variable) ?? this.later(variable, at);
  }

  /** Returns the binding of a variable until the function's next call. */
  private later(variable: Variable, at: Located | null): FreeBinding {
    const shared = moduleCell(variable);
    if (shared) return { kind: "cell", cell: shared };
    if (entryText(variable) === null) {
      return { kind: "unreachable", because: `${variable.name} of an enclosing method cannot be read` };
    }
    const because = `${variable.name} can be reached only in a call`;
    if (at && losesThis(at)) {
      return {
        kind: "unreachable",
        because: `${because}, where V8 would spoil "this" of a constructor whose arrow functions use it`,
      };
    }
    // Private members of dyn's own classes are the state of tapes and storages, which no trace enters.
    const isKept = variable.kind === "private" && isOwnModule(this.at.module.url);
    if (!at || isKept || !meansInside(at, variable)) return { kind: "unreachable", because };
    const access = variable.kind === "private" ? shownAccess(this.use.inspector, variable) : null;
    return {
      kind: "pending",
      because,
      held: () => this.heldBy(at.fn, variable),
      access,
      method: access ? this.unreached(variable, at) : null,
      declaration: variable,
    };
  }

  /** A private method seen from here: it is in the scope of the class, as this function is. */
  private unreached(variable: Variable, at: Located): UnreachedMethod | null {
    const node = privateMethodNode(variable);
    const unit = node && at.module.analysis.units.get(node);
    if (!unit) return null;
    let code: CodeObject | null = null;
    return {
      get code() {
        return code ??= compileFunction(node, at.module);
      },
      binding: (index) => {
        const each = freeVariables(unit, at.module)[index];
        if (!each) throw new RangeError(`Expected a free variable of ${variable.name} but found ${index}`);
        return this.made.get(each) ?? this.fromSnapshot(each) ?? this.later(each, at);
      },
    };
  }

  private heldBy(fn: object, variable: Variable): Held {
    try {
      const found = this.scopesOf(fn).lookup(variable.name);
      return found.kind === "absent" ? { kind: "unknown" } : found;
    } finally {
      this.use.inspector.release();
    }
  }

  /** The current value, if it cannot change. */
  private fromSnapshot(variable: Variable): FreeBinding | null {
    const kin = bindingsOfMethod(this.at.fn)?.get(variable);
    if (kin) {
      this.made.set(variable, kin);
      return kin;
    }
    if (variable.reassigned || variable.kind === "private" || variable.kind === "this") return null;
    const origin = variable.kind === "import" ? importOrigin(variable, this.at.module, this.use.find) : null;
    if (origin?.kind === "changing" || origin?.kind === "unknown") return null;
    const found = this.at.scopes.lookup(variable.name);
    if (found.kind !== "value") return null;
    if (origin) noteNamespace(found.value, origin);
    const binding: FreeBinding = { kind: "value", value: found.value };
    this.made.set(variable, binding);
    return binding;
  }

  /** Registers the function for its next call, unless that has been in vain too often. */
  private wait(at: Located): void {
    const pending = [...this.made].flatMap(([variable, binding]) =>
      binding.kind === "pending" ? [{ variable, because: binding.because }] : []
    );
    if (pending.length === 0) return;
    if (this.vain >= MOST_IN_VAIN || !this.maySpend(pending.map(({ variable }) => variable))) {
      for (const { variable, because } of pending) this.made.set(variable, { kind: "unreachable", because });
      logs.announce("graph_breaks", givenUpText(at, pending.map(({ variable }) => variable.name)));
      return;
    }
    const variables = pending.map(({ variable }) => variable);
    // Also the module's other variables, for its other functions, and the class's, for its private methods.
    const others = [...moduleVariablesAt(at), ...classmates(variables, at)];
    const all = [...new Set([...variables, ...others])];
    waiting.add({
      inspector: this.use.inspector,
      watch: () => ({ fn: at.fn, expression: accessText(all), values: [] }),
      take: (calls, isFirst) => {
        for (const variable of variables) this.made.delete(variable);
        // Names that parameters bind without calling anything that might be of the same code.
        const [certain] = isFirst && at.node.params.every(({ type }) => type === "Identifier") ? calls : [];
        if (!this.takeFrom(at.fn, { variables, all, certain }, calls)) this.vain++;
      },
    });
  }

  /** Returns whether this closure may wait; counts it once for each variable. */
  private maySpend(variables: readonly Variable[]): boolean {
    const own = variables.filter((variable) => !variable.single && !this.counted.has(variable));
    if (own.some((variable) => (waited.get(variable) ?? 0) >= MOST_CLOSURES)) return false;
    for (const variable of own) {
      this.counted.add(variable);
      waited.set(variable, (waited.get(variable) ?? 0) + 1);
    }
    return true;
  }

  /** If one of the calls was of this very closure, makes its accessors the bindings; returns whether it was. */
  private takeFrom(
    fn: object,
    { variables, all, certain }: {
      readonly variables: readonly Variable[];
      readonly all: readonly Variable[];
      /** A call known to be of this closure. */
      readonly certain: readonly Accessors[] | undefined;
    },
    calls: readonly (readonly Accessors[])[],
  ): boolean {
    for (const call of calls) {
      const accessors = new Map(all.map((variable, i) => [variable, call[i] ?? []]));
      const isOurs = call === certain ||
        variables.every((variable) => this.isSame(fn, variable, accessors.get(variable) ?? []));
      if (!isOurs) continue;
      const kin = new Map<Variable, FreeBinding>();
      for (const [variable, each] of accessors) {
        const binding = withKin(bindingFrom(variable, each), kin);
        kin.set(variable, binding);
        if (variables.includes(variable)) this.made.set(variable, binding);
      }
      return true;
    }
    return false;
  }

  /** Returns whether accessors from some call of the code refer to the variable of this closure. */
  private isSame(fn: object, variable: Variable, [get, set]: Accessors): boolean {
    if (!get) return false;
    if (variable.kind === "private") return true;
    const mark = {};
    try {
      const held = get();
      if (variable.single) return true;
      if (!set) return this.holds(fn, variable, held);
      set(mark);
      try {
        return this.holds(fn, variable, mark);
      } finally {
        set(held);
      }
    } catch (error) {
      if (error instanceof InspectorUnavailable || error instanceof ReferenceError) return false;
      throw error;
    } finally {
      this.use.inspector.release();
    }
  }

  private holds(fn: object, variable: Variable, value: unknown): boolean {
    const found = this.scopesOf(fn).lookup(variable.name);
    return found.kind === "value" && Object.is(found.value, value);
  }

  private scopesOf(fn: object): ScopeSnapshot {
    const { inspector } = this.use;
    return readScopes(inspector, textField(inspector.internals(fn).get("Scopes") ?? {}, "objectId"));
  }
}

/** Private members as the inspector shows them. */
function shownAccess(inspector: Inspector, variable: Variable): PrivateAccess {
  const shown = (object: object): Held => {
    try {
      return inspector.privateMember(object, variable.name);
    } finally {
      inspector.release();
    }
  };
  return {
    has: (object) => shown(object).kind === "value",
    get: (object) => {
      const found = shown(object);
      return found.kind === "value" ? found.value : undefined;
    },
    set: () => {},
    member: privateMember(variable.unit, variable),
  };
}

/** For users who wonder why a function is slow. */
function givenUpText({ module, node }: Located, names: readonly string[]): string {
  const { file, line } = module.position(node.start);
  const name = module.analysis.units.get(node)?.name || "a function";
  const cause = isInPackage(module.url)
    ? "because modules of packages are loaded as they are"
    : "because dyn has not prepared its module while it was loaded. Start the program with dyn instead of deno run, " +
      "or with deno run --preload=jsr:@x/dyn/preload";
  return `${name} (${file}:${line}) runs uncompiled: ${
    names.join(", ")
  }, which it captures, cannot be reached, ${cause}`;
}
