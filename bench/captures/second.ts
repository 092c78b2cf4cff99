/** A separate module with a function to capture. */
import type { Tensor } from "../../mod.ts";

let calls = 0;

export function second(x: Tensor): Tensor {
  calls++;
  return x.add(calls);
}

/** A closure whose variable changes with each call. */
export function counterFrom(start: number): (x: Tensor) => Tensor {
  let n = start;
  return (x) => {
    calls++;
    return x.add(n++);
  };
}
