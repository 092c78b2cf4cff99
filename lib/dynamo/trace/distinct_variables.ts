/**
 * Captured variables of a trace, by name. Invariant: variables of one name that a trace takes to be different are
 * guarded to be.
 */
import type { DistinctCellsFact } from "../guards/guard.ts";
import type { CellPlace } from "../source.ts";

/** The guards of the trace. */
interface Guarded {
  guardGrowing(fact: DistinctCellsFact): void;
}

interface GrowingFact extends DistinctCellsFact {
  readonly members: CellPlace[];
}

/** Variables of one name. */
interface Namesakes {
  readonly fact: GrowingFact;
  /** Whether some of them may be other variables in other calls. */
  isLoose: boolean;
}

/** Variables of one name are one fact: comparing each with each would take quadratic time. */
export class DistinctVariables {
  readonly #namesakes = new Map<string, Namesakes>();

  constructor(readonly output: Guarded) {}

  /** Adds a variable that is none of the known ones: in another call it may be one of those of the same name. */
  add(name: string, place: CellPlace): void {
    let known = this.#namesakes.get(name);
    if (!known) {
      known = { fact: { kind: "distinctCells", members: [] }, isLoose: false };
      this.#namesakes.set(name, known);
    }
    const { fact } = known;
    fact.members.push(place);
    known.isLoose ||= place.kind !== "live";
    if (known.isLoose && fact.members.length > 1) this.output.guardGrowing(fact);
  }
}
