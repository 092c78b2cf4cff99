/**
 * The free variables of one function: final values, live cells, or why there is neither.
 *
 * Input: a function's place and the inspector. Output: a binding for each variable, made when it is asked for.
 * Invariant: a binding that is not pending never changes.
 */
import { freeVariables } from "../bytecode/free.ts";
import type { ParsedModule } from "../bytecode/parse.ts";
import type { Unit, Variable } from "../bytecode/scope.ts";
import { accessText, bindingsFrom, makeBindings } from "./cells.ts";
import { importOrigin } from "./imports.ts";
import type { FreeBinding } from "./info.ts";
import { noteNamespace } from "./namespaces.ts";
import { type Inspector, InspectorUnavailable, textField } from "./inspector.ts";
import type { Located } from "./live_edit.ts";
import { type CallWatch, watchCalls } from "./next_call.ts";
import { readScopes, type ScopeSnapshot } from "./scopes.ts";
import type { Scripts } from "./scripts.ts";

/** The connection to V8 and the scripts read through it. */
export interface Access {
  readonly inspector: Inspector;
  readonly scripts: Scripts;
}

/** Where a function's variables are. */
export interface Surroundings {
  readonly module: ParsedModule;
  readonly scopes: ScopeSnapshot;
}

/** Functions some of whose variables are pending. */
const waiting = new Set<Waiting>();

/**
 * Runs `run`, in which functions with pending variables may be called; those that are give them. Afterwards they
 * are asked for anew.
 */
export function atNextCall<T>(run: () => T): T {
  const [first, ...others] = [...waiting].map((one) => ({ one, watch: one.watch() }));
  waiting.clear();
  if (!first) return run();
  const watched = [first, ...others];
  try {
    return watchCalls(first.one.inspector, watched.map(({ watch }) => watch), run);
  } finally {
    for (const { one, watch } of watched) one.take(watch.values);
  }
}

/** A function whose pending variables its next call gives. */
interface Waiting {
  readonly inspector: Inspector;
  watch(): CallWatch;
  take(values: readonly unknown[]): void;
}

/** Runs in which a function with pending variables was not called, after which they are given up. */
const MOST_IN_VAIN = 3;

/** Bindings of free variables, made when they are asked for and kept. */
export class Bindings {
  private readonly made = new Map<Variable, FreeBinding>();
  /** Runs that were watched in vain. */
  private vain = 0;

  constructor(
    private readonly use: Access,
    private readonly at: Surroundings,
    private readonly inside: () => Located | null,
  ) {}

  of(unit: Unit, index: number): FreeBinding {
    const all = freeVariables(unit, this.at.module);
    const variable = all[index];
    if (!variable) {
      throw new RangeError(`Expected an index of a free variable below ${all.length} but found ${index}`);
    }
    const known = this.made.get(variable) ?? this.fromSnapshot(variable);
    if (known) return known;
    // One edit of the script serves all variables of the function that need it.
    this.makeLive(all.filter((v) => !this.made.has(v) && this.fromSnapshot(v) === null));
    return this.made.get(variable) ?? { kind: "unreachable", because: `${variable.name} cannot be reached` };
  }

  /** The value as it is, where it cannot change. */
  private fromSnapshot(variable: Variable): FreeBinding | null {
    if (variable.reassigned || variable.kind === "private" || variable.kind === "this") return null;
    const origin = variable.kind === "import"
      ? importOrigin(variable, this.at.module, (url) => this.use.scripts.moduleAt(url))
      : null;
    if (origin?.kind === "changing") return null;
    const found = this.at.scopes.lookup(variable.name);
    if (found.kind !== "value") return null;
    if (origin) noteNamespace(found.value, origin);
    const binding: FreeBinding = { kind: "value", value: found.value };
    this.made.set(variable, binding);
    return binding;
  }

  private makeLive(wanted: readonly Variable[]): void {
    try {
      const at = this.inside();
      const none = "no function of the class can be called without running it";
      for (const variable of wanted) {
        if (!at) {
          this.made.set(variable, {
            kind: "unreachable",
            because: `${variable.name} cannot be reached: ${none}`,
          });
        }
      }
      if (!at) return;
      for (const [variable, binding] of makeBindings(this.use.inspector, at, wanted)) {
        this.made.set(variable, binding);
      }
      this.wait(at);
    } catch (error) {
      if (!(error instanceof InspectorUnavailable)) throw error;
      // Not remembered: a later request may come from a place where the inspector answers.
    } finally {
      this.use.inspector.release();
    }
  }

  /** Registers the function for its next call, unless that has been in vain too often. */
  private wait(at: Located): void {
    const pending = [...this.made].flatMap(([variable, binding]) =>
      binding.kind === "pending" ? [{ variable, because: binding.because }] : []
    );
    if (pending.length === 0) return;
    if (this.vain >= MOST_IN_VAIN) {
      for (const { variable, because } of pending) this.made.set(variable, { kind: "unreachable", because });
      return;
    }
    const variables = pending.map(({ variable }) => variable);
    waiting.add({
      inspector: this.use.inspector,
      watch: () => ({ fn: at.fn, expression: accessText(variables), values: [] }),
      take: (values) => {
        for (const variable of variables) this.made.delete(variable);
        if (!this.takeFrom(at.fn, variables, values)) this.vain++;
      },
    });
  }

  /** Whether one of the calls was of this very closure; then its accessors are the bindings. */
  private takeFrom(fn: object, variables: readonly Variable[], calls: readonly unknown[]): boolean {
    for (const call of calls) {
      const bindings = bindingsFrom(variables, call);
      if (variables.every((variable) => this.isSame(fn, variable, bindings.get(variable)))) {
        for (const [variable, binding] of bindings) this.made.set(variable, binding);
        return true;
      }
    }
    return false;
  }

  /** Whether a write through the cell shows in the variables V8 tells of the function. */
  private isSame(fn: object, variable: Variable, binding: FreeBinding | undefined): boolean {
    if (binding?.kind !== "cell") return false;
    const { cell } = binding;
    const mark = {};
    try {
      const held = cell.get();
      if (variable.single) return true;
      cell.set(mark);
      try {
        const found = this.scopesOf(fn).lookup(variable.name);
        return found.kind === "value" && found.value === mark;
      } finally {
        cell.set(held);
      }
    } catch (error) {
      if (error instanceof InspectorUnavailable || error instanceof ReferenceError) return false;
      throw error;
    } finally {
      this.use.inspector.release();
    }
  }

  private scopesOf(fn: object): ScopeSnapshot {
    const { inspector } = this.use;
    return readScopes(inspector, textField(inspector.internals(fn).get("Scopes") ?? {}, "objectId"));
  }
}
