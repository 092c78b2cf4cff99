/** Placeholder of the generated op interface; tools/generate.ts writes it from the definitions. */
import type { TensorLike } from "./definition.ts";
export interface OpApi<T extends TensorLike> {
  add(self: T, other: T | number): T;
}
