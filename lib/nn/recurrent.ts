/**
 * Recurrent layers: Elman networks, LSTM (Hochreiter and Schmidhuber 1997) and GRU (Cho et al. 2014). Input: a
 * sequence [L, N, inputSize] ([N, L, inputSize] with batchFirst, [L, inputSize] without a batch) and possibly
 * former states; output: the outputs of all steps and the last states. Invariant: parameters have PyTorch's names,
 * shapes and order of gates.
 */
import { DynError } from "../base/errors.ts";
import { cat, dropout, empty, linear, stack, zeros } from "../tensor/generated_functions.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { type Trailing, trailing } from "../base/arguments.ts";
import { uniform_ } from "./init.ts";
import { Module } from "./module.ts";
import { Parameter } from "./parameter.ts";

/** Options of recurrent layers. */
export interface RecurrentOptions {
  readonly numLayers?: number;
  readonly bias?: boolean;
  readonly batchFirst?: boolean;
  /** Between layers, while training. */
  readonly dropout?: number;
  readonly bidirectional?: boolean;
}

/** The parameters of one layer in one direction. */
interface Weights {
  readonly inputWeight: Tensor;
  readonly stateWeight: Tensor;
  readonly inputBias: Tensor | null;
  readonly stateBias: Tensor | null;
}

/** The states that a step reads and gives: h, and c of an LSTM. */
type States = readonly Tensor[];

/** One step: the states after an input [N, inputSize]. */
type Step = (x: Tensor, states: States, weights: Weights) => States;

const first = (states: States): Tensor => {
  const [h] = states;
  if (!h) throw new DynError("Expected a state but found none");
  return h;
};

/** Both products of a step: of the input and of the state. */
function products(x: Tensor, h: Tensor, w: Weights): [Tensor, Tensor] {
  return [linear(x, w.inputWeight, w.inputBias), linear(h, w.stateWeight, w.stateBias)];
}

const elman = (nonlinearity: "tanh" | "relu"): Step => (x, states, weights) => {
  const [a, b] = products(x, first(states), weights), sum = a.add(b);
  return [nonlinearity === "tanh" ? sum.tanh() : sum.relu()];
};

const lstm: Step = (x, states, weights) => {
  const [h, c] = states;
  if (!h || !c) throw new DynError("Expected states h and c of an LSTM but found fewer");
  const [a, b] = products(x, h, weights);
  const [input, forget, cell, output] = a.add(b).chunk(4, -1);
  if (!input || !forget || !cell || !output) throw new DynError("Expected four gates");
  const next = forget.sigmoid().mul(c).add(input.sigmoid().mul(cell.tanh()));
  return [output.sigmoid().mul(next.tanh()), next];
};

const gru: Step = (x, states, weights) => {
  const h = first(states), [a, b] = products(x, h, weights);
  const [ra, za, na] = a.chunk(3, -1), [rb, zb, nb] = b.chunk(3, -1);
  if (!ra || !za || !na || !rb || !zb || !nb) throw new DynError("Expected three gates");
  const update = za.add(zb).sigmoid();
  const candidate = na.add(ra.add(rb).sigmoid().mul(nb)).tanh();
  return [candidate.add(update.mul(h.sub(candidate)))];
};

/** What a kind of layer is. */
interface Kind {
  readonly name: string;
  readonly gates: number;
  readonly states: number;
  readonly step: Step;
}

const LSTM_KIND: Kind = { name: "LSTM", gates: 4, states: 2, step: lstm };
const GRU_KIND: Kind = { name: "GRU", gates: 3, states: 1, step: gru };
const elmanKind = (nonlinearity: "tanh" | "relu"): Kind => ({
  name: "RNN",
  gates: 1,
  states: 1,
  step: elman(nonlinearity),
});

const NAMES = ["numLayers", "bias", "batchFirst", "dropout", "bidirectional"] as const;

abstract class Recurrent extends Module {
  readonly numLayers: number;
  readonly batchFirst: boolean;
  readonly dropout: number;
  readonly bidirectional: boolean;
  readonly bias: boolean;
  readonly #kind: Kind;

  constructor(
    kind: Kind,
    readonly inputSize: number,
    readonly hiddenSize: number,
    options: RecurrentOptions,
  ) {
    super();
    this.#kind = kind;
    this.numLayers = options.numLayers ?? 1;
    this.bias = options.bias ?? true;
    this.batchFirst = options.batchFirst ?? false;
    this.dropout = options.dropout ?? 0;
    this.bidirectional = options.bidirectional ?? false;
    const rows = kind.gates * hiddenSize, bound = 1 / Math.sqrt(hiddenSize);
    const add = (name: string, shape: readonly number[]) => {
      const parameter = new Parameter(empty([...shape]));
      uniform_(parameter, -bound, bound);
      this.registerParameter(name, parameter);
    };
    for (const { suffix, layer } of this.#passes()) {
      const width = layer === 0 ? inputSize : hiddenSize * (this.bidirectional ? 2 : 1);
      add(`weight_ih_${suffix}`, [rows, width]);
      add(`weight_hh_${suffix}`, [rows, hiddenSize]);
      if (this.bias) {
        add(`bias_ih_${suffix}`, [rows]);
        add(`bias_hh_${suffix}`, [rows]);
      }
    }
  }

  /** Layers in order, each forwards and then, if asked for, backwards. */
  #passes(): { layer: number; reverse: boolean; suffix: string }[] {
    return Array.from(
      { length: this.numLayers },
      (_, layer) =>
        (this.bidirectional ? [false, true] : [false]).map((reverse) => ({
          layer,
          reverse,
          suffix: `l${layer}${reverse ? "_reverse" : ""}`,
        })),
    ).flat();
  }

  #weights(suffix: string): Weights {
    const of = (name: string): Tensor => {
      const value: unknown = Reflect.get(this, `${name}_${suffix}`);
      if (value instanceof Parameter) return value;
      throw new DynError(`Expected the parameter ${name}_${suffix} but found none`);
    };
    return {
      inputWeight: of("weight_ih"),
      stateWeight: of("weight_hh"),
      inputBias: this.bias ? of("bias_ih") : null,
      stateBias: this.bias ? of("bias_hh") : null,
    };
  }

  /** The outputs, and the last states of every pass stacked: [numLayers · directions, N, hiddenSize] each. */
  protected run(input: Tensor, given: readonly Tensor[]): { output: Tensor; states: Tensor[] } {
    const single = input.ndim === 2;
    if (!single && input.ndim !== 3) {
      throw new DynError(`Expected a sequence of 2 or 3 dimensions but found shape [${input.shape}]`);
    }
    if (input.shape.at(-1) !== this.inputSize) {
      throw new DynError(`Expected inputs of ${this.inputSize} features but found shape [${input.shape}]`);
    }
    const swapped = this.batchFirst && !single;
    let sequence = single ? input.unsqueeze(1) : swapped ? input.transpose(0, 1) : input;
    const batch = sequence.shape[1] ?? 1, passes = this.#passes();
    const start = given.length > 0 ? given.map((state) => single ? state.unsqueeze(1) : state) : Array.from(
      { length: this.#kind.states },
      () => zeros([passes.length, batch, this.hiddenSize], { dtype: input.dtype, device: input.device }),
    );
    const last: States[] = [];
    for (let layer = 0; layer < this.numLayers; layer++) {
      const outputs: Tensor[] = [];
      for (const pass of passes.filter((each) => each.layer === layer)) {
        const before = start.map((state) => state.select(0, passes.indexOf(pass)));
        const result = this.#pass(sequence, before, pass);
        outputs.push(result.output);
        last.push(result.states);
      }
      sequence = outputs.length === 1 ? outputs[0] ?? sequence : cat(outputs, -1);
      if (layer < this.numLayers - 1 && this.dropout > 0) {
        sequence = dropout(sequence, this.dropout, this.training);
      }
    }
    const states = start.map((_, k) => {
      const all = stack(last.map((each) => each[k] ?? first(each)), 0);
      return single ? all.squeeze(1) : all;
    });
    return { output: single ? sequence.squeeze(1) : swapped ? sequence.transpose(0, 1) : sequence, states };
  }

  #pass(
    sequence: Tensor,
    start: States,
    { reverse, suffix }: { readonly reverse: boolean; readonly suffix: string },
  ): { output: Tensor; states: States } {
    const weights = this.#weights(suffix), length = sequence.shape[0] ?? 0;
    const outputs: Tensor[] = [];
    let states = start;
    for (let k = 0; k < length; k++) {
      states = this.#kind.step(sequence.select(0, reverse ? length - 1 - k : k), states, weights);
      outputs.push(first(states));
    }
    return { output: stack(reverse ? outputs.reverse() : outputs, 0), states };
  }

  override extraRepr(): string {
    return `${this.inputSize}, ${this.hiddenSize}, numLayers=${this.numLayers}`;
  }
}

/** h ← tanh(W x + b + V h + c), or relu, as torch.nn.RNN. */
export class RNN extends Recurrent {
  constructor(
    inputSize: number,
    hiddenSize: number,
    ...given: Trailing<
      RecurrentOptions & { readonly nonlinearity?: "tanh" | "relu" },
      ["numLayers", "nonlinearity", "bias", "batchFirst", "dropout", "bidirectional"]
    >
  ) {
    const names = ["numLayers", "nonlinearity", "bias", "batchFirst", "dropout", "bidirectional"] as const;
    const options = trailing<RecurrentOptions & { readonly nonlinearity?: "tanh" | "relu" }>(
      "RNN",
      names,
      given,
    );
    super(elmanKind(options.nonlinearity ?? "tanh"), inputSize, hiddenSize, options);
  }

  override forward(input: Tensor, state: Tensor | null = null): [Tensor, Tensor] {
    const { output, states } = this.run(input, state ? [state] : []);
    return [output, first(states)];
  }
}

/** As torch.nn.GRU. */
export class GRU extends Recurrent {
  constructor(inputSize: number, hiddenSize: number, ...given: Trailing<RecurrentOptions, typeof NAMES>) {
    super(GRU_KIND, inputSize, hiddenSize, trailing<RecurrentOptions>("GRU", NAMES, given));
  }

  override forward(input: Tensor, state: Tensor | null = null): [Tensor, Tensor] {
    const { output, states } = this.run(input, state ? [state] : []);
    return [output, first(states)];
  }
}

/** As torch.nn.LSTM, without projections. */
export class LSTM extends Recurrent {
  constructor(inputSize: number, hiddenSize: number, ...given: Trailing<RecurrentOptions, typeof NAMES>) {
    super(LSTM_KIND, inputSize, hiddenSize, trailing<RecurrentOptions>("LSTM", NAMES, given));
  }

  override forward(
    input: Tensor,
    state: readonly [Tensor, Tensor] | null = null,
  ): [Tensor, [Tensor, Tensor]] {
    const { output, states: [h, c] } = this.run(input, state ?? []);
    if (!h || !c) throw new DynError("Expected two states of an LSTM");
    return [output, [h, c]];
  }
}

abstract class Cell extends Module {
  /** [gates · hiddenSize, inputSize] */
  weight_ih: Parameter;
  /** [gates · hiddenSize, hiddenSize] */
  weight_hh: Parameter;
  bias_ih: Parameter | null;
  bias_hh: Parameter | null;
  readonly #kind: Kind;

  constructor(kind: Kind, readonly inputSize: number, readonly hiddenSize: number, bias: boolean) {
    super();
    this.#kind = kind;
    const rows = kind.gates * hiddenSize, bound = 1 / Math.sqrt(hiddenSize);
    const filled = (...shape: number[]) => {
      const parameter = new Parameter(empty(shape));
      uniform_(parameter, -bound, bound);
      return parameter;
    };
    this.weight_ih = filled(rows, inputSize);
    this.weight_hh = filled(rows, hiddenSize);
    this.bias_ih = bias ? filled(rows) : null;
    this.bias_hh = bias ? filled(rows) : null;
  }

  /** The states after an input [N, inputSize] or [inputSize]. */
  protected next(x: Tensor, given: States | null): States {
    const shape = [...x.shape.slice(0, -1), this.hiddenSize];
    const states = given ??
      Array.from({ length: this.#kind.states }, () => zeros(shape, { dtype: x.dtype, device: x.device }));
    return this.#kind.step(x, states, {
      inputWeight: this.weight_ih,
      stateWeight: this.weight_hh,
      inputBias: this.bias_ih,
      stateBias: this.bias_hh,
    });
  }
}

interface CellOptions {
  readonly bias?: boolean;
}

/** One step of an RNN, as torch.nn.RNNCell. */
export class RNNCell extends Cell {
  constructor(
    inputSize: number,
    hiddenSize: number,
    ...given: Trailing<CellOptions & { readonly nonlinearity?: "tanh" | "relu" }, ["bias", "nonlinearity"]>
  ) {
    const options = trailing<CellOptions & { readonly nonlinearity?: "tanh" | "relu" }>(
      "RNNCell",
      ["bias", "nonlinearity"],
      given,
    );
    super(elmanKind(options.nonlinearity ?? "tanh"), inputSize, hiddenSize, options.bias ?? true);
  }

  override forward(x: Tensor, h: Tensor | null = null): Tensor {
    return first(this.next(x, h ? [h] : null));
  }
}

/** One step of a GRU, as torch.nn.GRUCell. */
export class GRUCell extends Cell {
  constructor(inputSize: number, hiddenSize: number, ...given: Trailing<CellOptions, ["bias"]>) {
    super(GRU_KIND, inputSize, hiddenSize, trailing<CellOptions>("GRUCell", ["bias"], given).bias ?? true);
  }

  override forward(x: Tensor, h: Tensor | null = null): Tensor {
    return first(this.next(x, h ? [h] : null));
  }
}

/** One step of an LSTM, as torch.nn.LSTMCell. */
export class LSTMCell extends Cell {
  constructor(inputSize: number, hiddenSize: number, ...given: Trailing<CellOptions, ["bias"]>) {
    super(LSTM_KIND, inputSize, hiddenSize, trailing<CellOptions>("LSTMCell", ["bias"], given).bias ?? true);
  }

  override forward(x: Tensor, states: readonly [Tensor, Tensor] | null = null): [Tensor, Tensor] {
    const [h, c] = this.next(x, states);
    if (!h || !c) throw new DynError("Expected two states of an LSTM");
    return [h, c];
  }
}
