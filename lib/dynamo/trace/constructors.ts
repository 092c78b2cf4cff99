/**
 * Decides which functions are constructors. Invariant: no code of the program runs.
 */
import type { ObjectValue } from "../variables/value.ts";
import { proxyOf } from "./proxies.ts";

/** Returns whether a function is a constructor. */
export function isConstructor(callee: ObjectValue): boolean {
  const { exotic, real } = callee, target = exotic.kind === "bound" ? exotic.target : proxyOf(callee)?.target;
  if (target) return target.kind === "object" && isConstructor(target);
  if (exotic.kind === "function" && exotic.definition) return true;
  if (exotic.kind === "function" && exotic.closure) {
    const { kind, generator, async } = exotic.closure.code;
    return kind === "function" && !generator && !async;
  }
  if (typeof real !== "function" || exotic.kind !== "function") return false;
  try {
    Reflect.construct(new Proxy(real, { construct: () => ({}) }), []);
    return true;
  } catch {
    return false;
  }
}
