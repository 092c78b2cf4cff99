/**
 * Facts about parameters, which are always the same objects, and whether the version of metadata covers them.
 * Invariant: while that version is unchanged, such a fact stays true.
 */
import { relyOnMetadata } from "../../tensor/metadata_version.ts";
import { isTensor, type Tensor } from "../../tensor/tensor.ts";
import type { Source } from "../source.ts";
import type { Fact } from "./guard.ts";

/** Returns whether a fact is about the metadata of constant tensors, whose changes are then counted. */
export function relyOnTensors(fact: Fact): boolean {
  const tensors = tensorsOf(fact);
  tensors?.forEach(relyOnMetadata);
  return tensors !== null;
}

/** The tensors, if a fact is about their metadata alone; null for other facts. */
function tensorsOf(fact: Fact): readonly Tensor[] | null {
  switch (fact.kind) {
    case "tensor":
      // The program may replace a tensor's methods at any time
      return fact.expected.methods.size > 0 ? null : parametersAt([fact.source]);
    case "leaf":
    case "made":
      return parametersAt([fact.source]);
    case "apart":
    case "elsewhere":
      return parametersAt([fact.source, ...fact.others]);
    default:
      return null;
  }
}

function parametersAt(sources: readonly Source[]): readonly Tensor[] | null {
  const found: Tensor[] = [];
  for (const source of sources) {
    // The history of a view changes with that of its base.
    if (source.kind !== "known" || !isTensor(source.object) || source.object.viewState !== null) return null;
    found.push(source.object);
  }
  return found;
}
