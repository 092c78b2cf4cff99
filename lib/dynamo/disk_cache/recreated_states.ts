/**
 * Recreates optimizer states that a trace had created ahead of the step, when its capture is reused. The state is
 * recorded so that it is removed if no step writes to it. Invariant: only dyn's own code runs, since it is not yet
 * known whether the rest of the state is the same.
 */
import { isOfIdentity } from "../../base/own_sources.ts";
import { PerParameter } from "../../optim/per_parameter.ts";
import { setGradEnabled } from "../../tensor/modes.ts";
import { positionOf } from "../frame/capture.ts";
import type { Unit } from "../cache/unit.ts";
import { Differs } from "./function_places.ts";
import type { NotedBeginning } from "./noted_reads.ts";
import { isPlainTensor } from "./shapes.ts";

/** Creates a state if none exists. Throws Differs if that would run code or getters of the program. */
export function recreateState({ earlyStates }: Unit, { optimizer, param, group }: NotedBeginning): void {
  if (!(optimizer instanceof PerParameter) || !isPlainTensor(param)) throw new Differs("another optimizer");
  const plain = Object.values(Object.getOwnPropertyDescriptors(group)).every((found) => "value" in found);
  const own = Object.getPrototypeOf(group) === Object.prototype &&
    ["prepare", "beginState", "begin"].every((name) => isOwnMethod(optimizer, name)) &&
    Object.getOwnPropertyDescriptor(optimizer, "state")?.value instanceof Map;
  if (!plain || !own) throw new Differs("another optimizer");
  if (optimizer.state.has(param)) return;
  setGradEnabled(false, () => optimizer.prepare(param, group));
  earlyStates.add(optimizer.state, param);
}

const ownMethods = new WeakMap<object, boolean>();

/** Returns whether a method is one that dyn's modules define. */
function isOwnMethod(object: object, name: string): boolean {
  for (let at: object | null = object; at; at = Object.getPrototypeOf(at)) {
    const found = Object.getOwnPropertyDescriptor(at, name);
    if (!found) continue;
    const method: unknown = found.value;
    if (typeof method !== "function") return false;
    let isOwn = ownMethods.get(method);
    if (isOwn === undefined) {
      const site = positionOf(method);
      ownMethods.set(method, isOwn = site !== null && isOfIdentity(site.url));
    }
    return isOwn;
  }
  return false;
}
