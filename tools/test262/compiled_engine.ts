/**
 * Runs tests of the conformance suite compiled, with the causes of breaks. Invariant: graphs are interpreted, so that
 * all differences come from the capture.
 */
import "../../backends/cpu/device.ts";
import "../../lib/autograd/install.ts";
import "../../lib/tensor/install.ts";
import { breakText } from "../../lib/base/errors.ts";
import { optimize } from "../../lib/dynamo/mod.ts";
import { tensor } from "../../lib/tensor/creation.ts";
import { Tensor } from "../../lib/tensor/tensor.ts";
import { type Counting, type Engine, surrounded } from "./engine.ts";

// Taken before any test runs, since tests delete it.
const number = Number, { defineProperty } = Object;

/** Independent of changes that tests make to arrays. */
function append(list: string[], text: string): void {
  defineProperty(list, list.length, { __proto__: null, value: text, enumerable: true } as PropertyDescriptor);
}

// Tests may define elements that all arrays inherit, beside which only operations run that have run before
tensor(0, { dtype: "float32" }).add(0).add(1).item();

/** Compiles tests; each is called until none of its variables is missing. */
export const compiledEngine: Engine = {
  zero: () => tensor(0, { dtype: "float32" }),
  read: (count) => count instanceof Tensor ? number(count.item()) : NaN,
  run: (test, state, capture) => {
    const compiled = optimize(surrounded, {
      backend: (gm) => (...inputs) => gm.forward(...inputs),
      hooks: {
        onGraph: () => void capture.graphs++,
        onBreak: (reason) => append(capture.breaks, breakText(reason)),
        onUncompiled: (reason) => append(capture.uncompiled, breakText(reason)),
      },
    });
    compiled(state as Counting, test);
  },
};
