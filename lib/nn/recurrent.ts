/**
 * Recurrent layers: Elman networks, LSTM (Hochreiter and Schmidhuber 1997) and GRU (Cho et al. 2014). Input: a
 * sequence [L, N, inputSize] ([N, L, inputSize] with batchFirst, [L, inputSize] without a batch) and possibly
 * former states; output: the outputs of all steps and the last states. Invariants: parameters have PyTorch's names,
 * shapes and order of gates; the inputs of all steps meet their weight in one product a layer and direction, so
 * that a step has only the product of its state.
 */
import { type Arguments, argumentsOf } from "../base/arguments.ts";
import { DynError } from "../base/errors.ts";
import { cat, dropout, empty, linear, stack } from "../tensor/generated_functions.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { uniform_ } from "./init.ts";
import { Module } from "./module.ts";
import { Parameter } from "./parameter.ts";
import { type Placement, placementOf } from "./placement.ts";
import { type Gates, gatesOfElman, GRU_GATES, LSTM_GATES, type Nonlinearity, type States } from "./gates.ts";

/** Sizes of recurrent layers and cells. */
export interface RecurrentSizes {
  /** Features of each input. */
  readonly inputSize: number;
  /** Features of the hidden state. */
  readonly hiddenSize: number;
}

/** Options of recurrent layers. */
export interface RecurrentOptions extends Placement {
  /** How many layers are stacked; 1 unless given. */
  readonly numLayers?: number;
  /** Whether there are biases; true unless given. */
  readonly bias?: boolean;
  /** Whether the batch is the first dimension of sequences; false unless given. */
  readonly batchFirst?: boolean;
  /** Between layers, while training. */
  readonly dropout?: number;
  /** Whether a second stack runs backwards; false unless given. */
  readonly bidirectional?: boolean;
}

/** Options of Elman networks. */
export interface ElmanOptions extends RecurrentOptions {
  /** "tanh" or "relu"; "tanh" unless given. */
  readonly nonlinearity?: Nonlinearity;
}

const GATED = {
  required: ["inputSize", "hiddenSize"],
  positional: ["numLayers", "bias", "batchFirst", "dropout", "bidirectional", "device", "dtype"],
} as const;

const ELMAN = {
  required: ["inputSize", "hiddenSize"],
  positional: [
    "numLayers",
    "nonlinearity",
    "bias",
    "batchFirst",
    "dropout",
    "bidirectional",
    "device",
    "dtype",
  ],
} as const;

type GatedArguments = Arguments<RecurrentSizes, RecurrentOptions, typeof GATED>;

/** One layer in one direction. */
interface Pass {
  readonly layer: number;
  readonly reverse: boolean;
  /** What the names of its parameters end with. */
  readonly suffix: string;
}

/** The outputs of all steps, and the states after the last. */
interface Run {
  readonly output: Tensor;
  readonly states: States;
}

abstract class Recurrent extends Module {
  readonly inputSize: number;
  readonly hiddenSize: number;
  readonly numLayers: number;
  readonly batchFirst: boolean;
  readonly dropout: number;
  readonly bidirectional: boolean;
  readonly bias: boolean;

  constructor(protected readonly gates: Gates, options: RecurrentSizes & RecurrentOptions) {
    super();
    this.inputSize = options.inputSize;
    this.hiddenSize = options.hiddenSize;
    this.numLayers = options.numLayers ?? 1;
    this.bias = options.bias ?? true;
    this.batchFirst = options.batchFirst ?? false;
    this.dropout = options.dropout ?? 0;
    this.bidirectional = options.bidirectional ?? false;
    const rows = gates.count * this.hiddenSize, bound = 1 / Math.sqrt(this.hiddenSize);
    const add = (name: string, shape: readonly number[]) => {
      const parameter = new Parameter(empty([...shape], placementOf(options)));
      uniform_(parameter, -bound, bound);
      this.registerParameter(name, parameter);
    };
    for (let layer = 0; layer < this.numLayers; layer++) {
      const width = layer === 0 ? this.inputSize : this.hiddenSize * (this.bidirectional ? 2 : 1);
      for (const { suffix } of this.passes(layer)) {
        add(`weight_ih_${suffix}`, [rows, width]);
        add(`weight_hh_${suffix}`, [rows, this.hiddenSize]);
        if (this.bias) {
          add(`bias_ih_${suffix}`, [rows]);
          add(`bias_hh_${suffix}`, [rows]);
        }
      }
    }
  }

  /** A layer forwards and then, if asked for, backwards. */
  private passes(layer: number): Pass[] {
    const forwards = { layer, reverse: false, suffix: `l${layer}` };
    return this.bidirectional
      ? [forwards, { layer, reverse: true, suffix: `l${layer}_reverse` }]
      : [forwards];
  }

  private parameter(name: string): Tensor {
    const value: unknown = Reflect.get(this, name);
    if (value instanceof Parameter) return value;
    throw new DynError(`Expected the parameter ${name} but found none`);
  }

  /** The outputs, and the last states of every pass stacked: [numLayers · directions, N, hiddenSize] each. */
  protected run(input: Tensor, given: States): Run {
    const single = input.ndim === 2;
    if (!single && input.ndim !== 3) {
      throw new DynError(`Expected a sequence of 2 or 3 dimensions but found shape [${input.shape}]`);
    }
    if (input.shape[input.ndim - 1] !== this.inputSize) {
      throw new DynError(`Expected inputs of ${this.inputSize} features but found shape [${input.shape}]`);
    }
    const swapped = this.batchFirst && !single;
    let sequence = single ? input.unsqueeze(1) : swapped ? input.transpose(0, 1) : input;
    const start = this.start(sequence, single ? given.map((state) => state.unsqueeze(1)) : given);
    const last: States[] = [];
    for (let layer = 0; layer < this.numLayers; layer++) {
      const outputs: Tensor[] = [];
      for (const pass of this.passes(layer)) {
        const before = start.map((state) => state.select(0, last.length));
        const { output, states } = this.pass(sequence, before, pass);
        outputs.push(output);
        last.push(states);
      }
      const [only] = outputs;
      sequence = only && outputs.length === 1 ? only : cat(outputs, -1);
      if (layer < this.numLayers - 1 && this.dropout > 0) {
        sequence = dropout(sequence, this.dropout, this.training);
      }
    }
    const states = start.map((_, k) => {
      const all = stack(last.map((each) => stateOf(each, k)), 0);
      return single ? all.squeeze(1) : all;
    });
    return { output: single ? sequence.squeeze(1) : swapped ? sequence.transpose(0, 1) : sequence, states };
  }

  /** The states before the first step: those given, else zeros. */
  private start(sequence: Tensor, given: States): States {
    const directions = this.bidirectional ? 2 : 1;
    const shape = [this.numLayers * directions, sequence.shape[1] ?? 1, this.hiddenSize];
    if (given.length === 0) return this.gates.zeros(shape, sequence);
    for (const state of given) {
      if (`${state.shape}` !== `${shape}`) {
        throw new DynError(`Expected a state of shape [${shape}] but found [${state.shape}]`);
      }
    }
    return given;
  }

  private pass(sequence: Tensor, start: States, { reverse, suffix }: Pass): Run {
    const inputBias = this.bias ? this.parameter(`bias_ih_${suffix}`) : null;
    const inputs = linear(sequence, this.parameter(`weight_ih_${suffix}`), inputBias);
    const weight = this.parameter(`weight_hh_${suffix}`);
    const bias = this.bias ? this.parameter(`bias_hh_${suffix}`) : null;
    const length = sequence.shape[0] ?? 0, outputs: Tensor[] = [];
    let states = start;
    for (let k = 0; k < length; k++) {
      const product = linear(stateOf(states, 0), weight, bias);
      states = this.gates.step(inputs.select(0, reverse ? length - 1 - k : k), product, states);
      outputs.push(stateOf(states, 0));
    }
    return { output: stack(reverse ? outputs.reverse() : outputs, 0), states };
  }

  override extraRepr(): string {
    return `${this.inputSize}, ${this.hiddenSize}, numLayers=${this.numLayers}`;
  }
}

function stateOf(states: States, k: number): Tensor {
  const state = states[k];
  if (!state) throw new DynError(`Expected a state ${k} but found ${states.length}`);
  return state;
}

/** h ← tanh(W x + b + V h + c), or relu, as torch.nn.RNN. */
export class RNN extends Recurrent {
  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(...given: Arguments<RecurrentSizes, ElmanOptions, typeof ELMAN>) {
    const options = argumentsOf<RecurrentSizes, ElmanOptions>("RNN", ELMAN, given);
    super(gatesOfElman(options.nonlinearity), options);
  }

  /** The output of the layer. */
  override forward(input: Tensor, state: Tensor | null = null): [Tensor, Tensor] {
    const { output, states } = this.run(input, state ? [state] : []);
    return [output, stateOf(states, 0)];
  }
}

/** As torch.nn.GRU. */
export class GRU extends Recurrent {
  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(...given: GatedArguments) {
    super(GRU_GATES, argumentsOf<RecurrentSizes, RecurrentOptions>("GRU", GATED, given));
  }

  /** The output of the layer. */
  override forward(input: Tensor, state: Tensor | null = null): [Tensor, Tensor] {
    const { output, states } = this.run(input, state ? [state] : []);
    return [output, stateOf(states, 0)];
  }
}

/** As torch.nn.LSTM, without projections. */
export class LSTM extends Recurrent {
  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(...given: GatedArguments) {
    super(LSTM_GATES, argumentsOf<RecurrentSizes, RecurrentOptions>("LSTM", GATED, given));
  }

  /** The output of the layer. */
  override forward(
    input: Tensor,
    state: readonly [Tensor, Tensor] | null = null,
  ): [Tensor, [Tensor, Tensor]] {
    const { output, states } = this.run(input, state ?? []);
    return [output, [stateOf(states, 0), stateOf(states, 1)]];
  }
}

abstract class Cell extends Module {
  readonly inputSize: number;
  readonly hiddenSize: number;
  /** [gates · hiddenSize, inputSize] */
  weight_ih: Parameter;
  /** [gates · hiddenSize, hiddenSize] */
  weight_hh: Parameter;
  bias_ih: Parameter | null;
  bias_hh: Parameter | null;

  constructor(protected readonly gates: Gates, options: RecurrentSizes & CellOptions) {
    super();
    const { inputSize, hiddenSize, bias = true } = options;
    this.inputSize = inputSize;
    this.hiddenSize = hiddenSize;
    const rows = gates.count * hiddenSize, bound = 1 / Math.sqrt(hiddenSize);
    const filled = (...shape: number[]) => {
      const parameter = new Parameter(empty(shape, placementOf(options)));
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
    const states = given ?? this.gates.zeros([...x.shape.slice(0, -1), this.hiddenSize], x);
    const product = linear(stateOf(states, 0), this.weight_hh, this.bias_hh);
    return this.gates.step(linear(x, this.weight_ih, this.bias_ih), product, states);
  }
}

/** Options of cells. */
export interface CellOptions extends Placement {
  /** Whether there are biases; true unless given. */
  readonly bias?: boolean;
}

/** Options of Elman cells. */
export interface ElmanCellOptions extends CellOptions {
  /** "tanh" or "relu"; "tanh" unless given. */
  readonly nonlinearity?: Nonlinearity;
}

const CELL = { required: ["inputSize", "hiddenSize"], positional: ["bias", "device", "dtype"] } as const;
const ELMAN_CELL = {
  required: ["inputSize", "hiddenSize"],
  positional: ["bias", "nonlinearity", "device", "dtype"],
} as const;

type CellArguments = Arguments<RecurrentSizes, CellOptions, typeof CELL>;

/** One step of an RNN, as torch.nn.RNNCell. */
export class RNNCell extends Cell {
  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(...given: Arguments<RecurrentSizes, ElmanCellOptions, typeof ELMAN_CELL>) {
    const options = argumentsOf<RecurrentSizes, ElmanCellOptions>("RNNCell", ELMAN_CELL, given);
    super(gatesOfElman(options.nonlinearity), options);
  }

  /** The output of the layer. */
  override forward(x: Tensor, h: Tensor | null = null): Tensor {
    return stateOf(this.next(x, h ? [h] : null), 0);
  }
}

/** One step of a GRU, as torch.nn.GRUCell. */
export class GRUCell extends Cell {
  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(...given: CellArguments) {
    super(GRU_GATES, argumentsOf<RecurrentSizes, CellOptions>("GRUCell", CELL, given));
  }

  /** The output of the layer. */
  override forward(x: Tensor, h: Tensor | null = null): Tensor {
    return stateOf(this.next(x, h ? [h] : null), 0);
  }
}

/** One step of an LSTM, as torch.nn.LSTMCell. */
export class LSTMCell extends Cell {
  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(...given: CellArguments) {
    super(LSTM_GATES, argumentsOf<RecurrentSizes, CellOptions>("LSTMCell", CELL, given));
  }

  /** The output of the layer. */
  override forward(x: Tensor, states: readonly [Tensor, Tensor] | null = null): [Tensor, Tensor] {
    const next = this.next(x, states);
    return [stateOf(next, 0), stateOf(next, 1)];
  }
}
