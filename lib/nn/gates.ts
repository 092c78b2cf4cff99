/**
 * One step of a recurrent layer, by kind: computes the new states from the products of the input and of the state with
 * their weights (gates concatenated along the last dimension in PyTorch's order) and the previous states. Invariant:
 * the first state is the step's output.
 */
import { refuseChoice } from "../base/checked_input.ts";
import { invariant } from "../base/errors.ts";
import { zeros } from "../tensor/generated_functions.ts";
import type { Tensor } from "../tensor/tensor.ts";

/** The states before or after a step: h, and c of an LSTM. */
export type States = readonly Tensor[];

/** The activation of an Elman network. */
export type Nonlinearity = "tanh" | "relu";

/** A kind of recurrence. */
export abstract class Gates {
  /** `count` gates and `states` states, each of hiddenSize elements per sample. */
  constructor(readonly count: number, readonly states: number) {}

  /** The states after a step. */
  abstract step(input: Tensor, state: Tensor, states: States): States;

  /** Creates states of zeros, with the type and device of `like`. */
  zeros(shape: readonly number[], like: Tensor): States {
    const made: Tensor[] = [];
    for (let k = 0; k < this.states; k++) {
      made.push(zeros([...shape], { dtype: like.dtype, device: like.device }));
    }
    return made;
  }
}

class Elman extends Gates {
  constructor(readonly nonlinearity: Nonlinearity) {
    super(1, 1);
  }

  override step(input: Tensor, state: Tensor): States {
    const sum = input.add(state);
    return [this.nonlinearity === "tanh" ? sum.tanh() : sum.relu()];
  }
}

class LongShortTerm extends Gates {
  constructor() {
    super(4, 2);
  }

  override step(a: Tensor, b: Tensor, [, c]: States): States {
    const [input, forget, cell, output] = a.add(b).chunk(4, -1);
    invariant(c && input && forget && cell && output, "Expected four gates and two states");
    const next = forget.sigmoid().mul(c).add(input.sigmoid().mul(cell.tanh()));
    return [output.sigmoid().mul(next.tanh()), next];
  }
}

class Gated extends Gates {
  constructor() {
    super(3, 1);
  }

  override step(a: Tensor, b: Tensor, [h]: States): States {
    const [ra, za, na] = a.chunk(3, -1), [rb, zb, nb] = b.chunk(3, -1);
    invariant(h && ra && za && na && rb && zb && nb, "Expected three gates and a state");
    const update = za.add(zb).sigmoid();
    const candidate = na.add(ra.add(rb).sigmoid().mul(nb)).tanh();
    return [candidate.add(update.mul(h.sub(candidate)))];
  }
}

export const LSTM_GATES: Gates = new LongShortTerm();
export const GRU_GATES: Gates = new Gated();

const ELMAN: Readonly<Record<Nonlinearity, Gates>> = { tanh: new Elman("tanh"), relu: new Elman("relu") };

/** The recurrence of an Elman network. Throws DynError for another non-linearity. */
export function gatesOfElman(nonlinearity: Nonlinearity = "tanh"): Gates {
  return ELMAN[nonlinearity] ?? refuseChoice("nonlinearity of RNN", Object.keys(ELMAN), nonlinearity);
}
