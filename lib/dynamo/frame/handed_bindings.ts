/**
 * The free variables of a function of a rewritten module, from the accessors that it exposes.
 *
 * Bindings are created on demand. Invariant: a variable that nothing assigns is a value as soon as it is initialised.
 */
import { freeVariableAt } from "../bytecode/free.ts";
import type { Unit, Variable } from "../bytecode/scope.ts";
import { bindingFrom } from "./cells.ts";
import { type FindModule, importOrigin, type Origin } from "./imports.ts";
import type { FreeBinding } from "./info.ts";
import { InspectorUnavailable } from "./inspector.ts";
import { noteNamespace } from "./namespaces.ts";
import type { RewrittenFunction } from "./rewritten.ts";

export class HandedBindings {
  private readonly made = new Map<Variable, FreeBinding>();

  constructor(private readonly from: RewrittenFunction, private readonly find: FindModule) {}

  of(unit: Unit, index: number): FreeBinding {
    return this.ofName(freeVariableAt(unit, this.from.module, index).variable);
  }

  ofName(variable: Variable): FreeBinding {
    const known = this.made.get(variable);
    if (known) return known;
    const binding = this.make(variable);
    // A variable that is not initialised yet may be final once it is.
    if (binding.kind !== "cell" || variable.reassigned) this.made.set(variable, binding);
    return binding;
  }

  private make(variable: Variable): FreeBinding {
    const accessors = this.from.accessors(variable);
    if (!accessors) {
      return {
        kind: "unreachable",
        because:
          `${variable.name} cannot be reached: where the function begins the name means another variable`,
      };
    }
    if (variable.reassigned || variable.kind === "private" || variable.kind === "this") {
      return bindingFrom(variable, accessors);
    }
    const origin = this.originOf(variable);
    const [get] = accessors;
    if (origin?.kind === "changing" || origin?.kind === "unknown" || !get) {
      return bindingFrom(variable, accessors);
    }
    try {
      const value = get();
      if (origin) noteNamespace(value, origin);
      return { kind: "value", value };
    } catch (error) {
      if (!(error instanceof ReferenceError)) throw error;
      return bindingFrom(variable, accessors);
    }
  }

  /**
   * Returns the origin of an import; null for other variables. If it cannot be determined the import is assumed to
   * change.
   */
  private originOf(variable: Variable): Origin | null {
    if (variable.kind !== "import") return null;
    try {
      return importOrigin(variable, this.from.module, this.find);
    } catch (error) {
      if (!(error instanceof InspectorUnavailable)) throw error;
      return { kind: "unknown" };
    }
  }
}
