/**
 * Single steps of recurrent layers, for inputs [N, inputSize] or [inputSize]. Invariant: parameters have PyTorch's
 * names, shapes and order of gates.
 */
import { checkKind } from "../base/checked_input.ts";
import { DynError } from "../base/errors.ts";
import { settings, unlessDefault } from "../base/console_text.ts";
import { checkedTensors, checkTensor } from "../tensor/checked.ts";
import { type Arguments } from "../base/arguments.ts";
import { empty, linear } from "../tensor/generated_functions.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { layerArguments } from "./layer_arguments.ts";
import { type Gates, gatesOfElman, GRU_GATES, LSTM_GATES, type Nonlinearity, type States } from "./gates.ts";
import { uniform_ } from "./init.ts";
import { Module } from "./module.ts";
import { Parameter } from "./parameter.ts";
import { type Placement, placementOf } from "./placement.ts";
import { type RecurrentSizes, type StartArguments, startOf, stateOf } from "./recurrent.ts";

/** The base of recurrent cells, as torch.nn.RNNCellBase. */
export abstract class RNNCellBase extends Module {
  /** Features of each input. */
  readonly inputSize: number;
  /** Features of the hidden state. */
  readonly hiddenSize: number;
  /** Whether the cell was made with biases. */
  readonly bias: boolean;
  /** [gates · hiddenSize, inputSize] */
  weight_ih: Parameter;
  /** [gates · hiddenSize, hiddenSize] */
  weight_hh: Parameter;
  /** [gates · hiddenSize] */
  bias_ih: Parameter | null;
  /** [gates · hiddenSize] */
  bias_hh: Parameter | null;

  /** Initialises parameters as PyTorch does. */
  constructor(protected readonly gates: Gates, options: RecurrentSizes & CellOptions) {
    super();
    checkKind(options, "an object", "the sizes of a recurrent cell");
    const { inputSize, hiddenSize, bias = true } = options;
    this.inputSize = inputSize;
    this.hiddenSize = hiddenSize;
    this.bias = bias;
    const rows = gates.count * hiddenSize;
    const made = (...shape: number[]) => new Parameter(empty(shape, placementOf(options)));
    this.weight_ih = made(rows, inputSize);
    this.weight_hh = made(rows, hiddenSize);
    this.bias_ih = bias ? made(rows) : null;
    this.bias_hh = bias ? made(rows) : null;
    this.resetParameters();
  }

  /** Reinitialises the parameters. */
  resetParameters(): void {
    const bound = 1 / Math.sqrt(this.hiddenSize);
    for (const parameter of this.parameters()) uniform_(parameter, -bound, bound);
  }

  /** The settings between the parentheses of its printed form. */
  override extraRepr(): string {
    const nonlinearity = this instanceof RNNCell ? unlessDefault("tanh", this.nonlinearity) : undefined;
    return settings([this.inputSize, this.hiddenSize], {
      bias: unlessDefault(true, this.bias),
      nonlinearity,
    });
  }

  /** The states after an input [N, inputSize] or [inputSize]. */
  protected next(x: Tensor, given: States | null, gates = this.gates): States {
    checkTensor(x, "a recurrent cell");
    if (x.ndim !== 1 && x.ndim !== 2) {
      throw new DynError(`Expected an input of 1 or 2 dimensions for a recurrent cell but found ${x.ndim}`);
    }
    const shape = [...x.shape.slice(0, -1), this.hiddenSize];
    const states = given === null
      ? gates.zeros(shape, x)
      : checkedTensors(given, "the states of a recurrent cell");
    for (const state of states) {
      if (state.ndim !== shape.length || state.shape.some((size, d) => size !== shape[d])) {
        throw new DynError(
          `Expected a state of shape [${shape.join(", ")}] but found [${state.shape.join(", ")}]`,
        );
      }
    }
    const product = linear(stateOf(states, 0), this.weight_hh, this.bias_hh);
    return gates.step(linear(x, this.weight_ih, this.bias_ih), product, states);
  }
}

/** Options of cells. */
export interface CellOptions extends Placement {
  /** Whether there are biases; default true. */
  readonly bias?: boolean;
}

/** Options of Elman cells. */
export interface ElmanCellOptions extends CellOptions {
  /** "tanh" or "relu"; default "tanh". */
  readonly nonlinearity?: Nonlinearity;
}

const CELL = {
  required: ["inputSize", "hiddenSize"],
  counts: ["inputSize", "hiddenSize"],
  positional: ["bias", "device", "dtype"],
  flags: { bias: true },
} as const;
const ELMAN_CELL = {
  required: ["inputSize", "hiddenSize"],
  counts: ["inputSize", "hiddenSize"],
  positional: ["bias", "nonlinearity", "device", "dtype"],
  flags: { bias: true },
} as const;

type CellArguments = Arguments<RecurrentSizes, CellOptions, typeof CELL>;

/** One step of an RNN, as torch.nn.RNNCell. */
export class RNNCell extends RNNCellBase {
  /** The activation. */
  nonlinearity: Nonlinearity;

  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(...given: Arguments<RecurrentSizes, ElmanCellOptions, typeof ELMAN_CELL>) {
    const options = layerArguments<RecurrentSizes, ElmanCellOptions>("RNNCell", ELMAN_CELL, given);
    super(gatesOfElman(options.nonlinearity), options);
    this.nonlinearity = options.nonlinearity ?? "tanh";
  }

  /** The output of the layer. */
  override forward(x: Tensor, ...given: StartArguments<Tensor>): Tensor {
    const h = startOf(this, given);
    return stateOf(this.next(x, h ? [h] : null, gatesOfElman(this.nonlinearity)), 0);
  }
}

/** One step of a GRU, as torch.nn.GRUCell. */
export class GRUCell extends RNNCellBase {
  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(...given: CellArguments) {
    super(GRU_GATES, layerArguments<RecurrentSizes, CellOptions>("GRUCell", CELL, given));
  }

  /** The output of the layer. */
  override forward(x: Tensor, ...given: StartArguments<Tensor>): Tensor {
    const h = startOf(this, given);
    return stateOf(this.next(x, h ? [h] : null), 0);
  }
}

/** One step of an LSTM, as torch.nn.LSTMCell. */
export class LSTMCell extends RNNCellBase {
  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(...given: CellArguments) {
    super(LSTM_GATES, layerArguments<RecurrentSizes, CellOptions>("LSTMCell", CELL, given));
  }

  /** The output of the layer. */
  override forward(x: Tensor, ...given: StartArguments<readonly [Tensor, Tensor]>): [Tensor, Tensor] {
    const next = this.next(x, startOf(this, given));
    return [stateOf(next, 0), stateOf(next, 1)];
  }
}
