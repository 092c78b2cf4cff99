/**
 * Recurrent layers: Elman networks, LSTM (Hochreiter and Schmidhuber 1997) and GRU (Cho et al. 2014), over a sequence
 * [L, N, inputSize] ([N, L, inputSize] with batchFirst, [L, inputSize] without a batch). Invariants: parameters have
 * PyTorch's names, shapes and order of gates; one product for each layer and direction multiplies the inputs of all
 * steps by their weight, so that a step computes only the product of its state.
 */
import { checkInteger, checkShare } from "../base/checked_numbers.ts";
import { settings, unlessDefault } from "../base/console_text.ts";
import { checkKind } from "../base/checked_input.ts";
import { checkedTensors, checkTensor } from "../tensor/checked.ts";
import { type AnyFunction, type Arguments, genericArguments, type Trailing } from "../base/arguments.ts";
import { DynError } from "../base/errors.ts";
import { cat, dropout, empty, linear, stack, zeros } from "../tensor/generated_functions.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { layerArguments } from "./layer_arguments.ts";
import { uniform_ } from "./init.ts";
import { type CallOf, Module } from "./module.ts";
import { Parameter } from "./parameter.ts";
import { PackedSequence, reordered } from "./utils/sequences.ts";
import { type Placement, placementOf } from "./placement.ts";
import { type Gates, gatesOfElman, GRU_GATES, LSTM_GATES, type Nonlinearity, type States } from "./gates.ts";

/** Arguments of a call besides the input. */
interface Started<S> {
  /** The initial states. */
  readonly hx?: S | null;
}

const STARTED = ["hx"] as const;

/** Initial states, by position or by name. */
export type StartArguments<S> = Trailing<Started<S>, typeof STARTED>;

/** The given initial states. Throws DynError for other names. */
export const startOf = <S>(layer: object, given: StartArguments<S>): S | null =>
  genericArguments<object, Started<S>>(layer.constructor.name, { required: [], positional: STARTED }, given)
    .hx ?? null;

/** Sizes of recurrent layers and cells. */
export interface RecurrentSizes {
  /** Features of each input. */
  readonly inputSize: number;
  /** Features of the hidden state. */
  readonly hiddenSize: number;
}

/** Options of recurrent layers. */
export interface RecurrentOptions extends Placement {
  /** Number of stacked layers; default 1. */
  readonly numLayers?: number;
  /** Whether there are biases; default true. */
  readonly bias?: boolean;
  /** Whether the batch is the first dimension of sequences; default false. */
  readonly batchFirst?: boolean;
  /** Dropout probability between layers during training. */
  readonly dropout?: number;
  /** Whether to run each layer backwards too; default false. */
  readonly bidirectional?: boolean;
}

/** Options of Elman networks. */
export interface ElmanOptions extends RecurrentOptions {
  /** "tanh" or "relu"; default "tanh". */
  readonly nonlinearity?: Nonlinearity;
}

const GATED = {
  required: ["inputSize", "hiddenSize"],
  counts: ["inputSize", "hiddenSize", "numLayers"],
  positional: ["numLayers", "bias", "batchFirst", "dropout", "bidirectional", "device", "dtype"],
  flags: { batchFirst: true, bias: true, bidirectional: true },
} as const;

const ELMAN = {
  required: ["inputSize", "hiddenSize"],
  counts: ["inputSize", "hiddenSize", "numLayers"],
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
  flags: { batchFirst: true, bias: true, bidirectional: true },
} as const;

/** Options of LSTMs. */
export interface LSTMOptions extends RecurrentOptions {
  /** Size of the projected outputs; default 0: no projection. */
  readonly projSize?: number;
}

const PROJECTED = {
  ...GATED,
  named: ["projSize"],
  flags: { batchFirst: true, bias: true, bidirectional: true },
} as const;

type GatedArguments = Arguments<RecurrentSizes, RecurrentOptions, typeof GATED>;

/** One layer in one direction. */
interface Pass {
  readonly layer: number;
  readonly reverse: boolean;
  /** Suffix of its parameter names. */
  readonly suffix: string;
}

/** The outputs of all steps, and the final states. */
interface Run {
  readonly output: Tensor;
  readonly states: States;
}

/** The base of recurrent layers, as torch.nn.RNNBase. */
export abstract class RNNBase extends Module {
  readonly inputSize: number;
  readonly hiddenSize: number;
  readonly numLayers: number;
  readonly batchFirst: boolean;
  readonly dropout: number;
  readonly bidirectional: boolean;
  readonly bias: boolean;
  /** Size of the projected outputs; 0: no projection. */
  readonly projSize: number;

  constructor(protected readonly gates: Gates, options: RecurrentSizes & LSTMOptions) {
    super();
    checkKind(options, "an object", "the sizes of a recurrent layer");
    this.inputSize = options.inputSize;
    this.hiddenSize = options.hiddenSize;
    this.numLayers = options.numLayers ?? 1;
    this.bias = options.bias ?? true;
    this.batchFirst = options.batchFirst ?? false;
    this.dropout = options.dropout ?? 0;
    this.bidirectional = options.bidirectional ?? false;
    this.projSize = options.projSize ?? 0;
    for (const name of ["inputSize", "hiddenSize", "numLayers"] as const) {
      checkInteger(`${name} of ${new.target.name}`, this[name], 1);
    }
    checkShare(`dropout of ${new.target.name}`, this.dropout);
    if (this.projSize < 0 || this.projSize >= this.hiddenSize) {
      throw new DynError(
        `Expected projSize in [0, ${this.hiddenSize}), less than hiddenSize, but found ${this.projSize}`,
      );
    }
    const rows = gates.count * this.hiddenSize;
    const add = (name: string, shape: readonly number[]) =>
      this.registerParameter(name, new Parameter(empty([...shape], placementOf(options))));
    for (let layer = 0; layer < this.numLayers; layer++) {
      const width = layer === 0 ? this.inputSize : this.outputSize * (this.bidirectional ? 2 : 1);
      for (const { suffix } of this.passes(layer)) {
        add(`weight_ih_${suffix}`, [rows, width]);
        add(`weight_hh_${suffix}`, [rows, this.outputSize]);
        if (this.bias) {
          add(`bias_ih_${suffix}`, [rows]);
          add(`bias_hh_${suffix}`, [rows]);
        }
        if (this.projSize > 0) add(`weight_hr_${suffix}`, [this.projSize, this.hiddenSize]);
      }
    }
    this.resetParameters();
  }

  /** Reinitialises the parameters. */
  resetParameters(): void {
    const bound = 1 / Math.sqrt(this.hiddenSize);
    for (const parameter of this.parameters()) uniform_(parameter, -bound, bound);
  }

  /** Output features of one direction. */
  private get outputSize(): number {
    return this.projSize || this.hiddenSize;
  }

  /** Does nothing: parameters are always laid out as by `flatten_parameters`. */
  flattenParameters(): void {}

  /** The parameters by layer and direction. */
  get allWeights(): Tensor[][] {
    const layers = Array.from({ length: this.numLayers }, (_, layer) => this.passes(layer)).flat();
    return layers.map(({ suffix }) => this.kinds().map((kind) => this.parameter(`${kind}_${suffix}`)));
  }

  /** Prefixes of a layer's parameter names. */
  private kinds(): string[] {
    const biases = this.bias ? ["bias_ih", "bias_hh"] : [];
    return ["weight_ih", "weight_hh", ...biases, ...this.projSize > 0 ? ["weight_hr"] : []];
  }

  /** A layer's directions: forwards and, if bidirectional, backwards. */
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

  /**
   * Computes the outputs, and the final states of every direction stacked: [numLayers · directions, N, hiddenSize]
   * each.
   */
  protected run(input: Tensor, given: States): Run {
    checkTensor(input, "a recurrent layer");
    checkKind(given, "a list", "the states of a recurrent layer");
    checkedTensors(given, "the states of a recurrent layer");
    const single = input.ndim === 2;
    if (!single && input.ndim !== 3) {
      throw new DynError(`Expected a sequence of 2 or 3 dimensions but found shape [${input.shape}]`);
    }
    if (input.shape[input.ndim - 1] !== this.inputSize) {
      throw new DynError(`Expected inputs of ${this.inputSize} features but found shape [${input.shape}]`);
    }
    const swapped = this.batchFirst && !single;
    const sequence = single ? input.unsqueeze(1) : swapped ? input.transpose(0, 1) : input;
    const unsqueezed = single ? given.map((state) => state.unsqueeze(1)) : given;
    const start = this.start(sequence, sequence.shape[1] ?? 1, unsqueezed);
    const { output, states } = this.stacked(sequence, start, (x, before, pass) => this.pass(x, before, pass));
    return {
      output: single ? output.squeeze(1) : swapped ? output.transpose(0, 1) : output,
      states: single ? states.map((state) => state.squeeze(1)) : states,
    };
  }

  /** Like `run` for packed sequences: elements, and states in the order of the batch. */
  protected runPacked(packed: PackedSequence, given: States): { output: PackedSequence; states: States } {
    const { data, batchSizes, sortedIndices, unsortedIndices } = packed, [batch = 0] = batchSizes;
    const start = this.start(data, batch, given.map((state) => reordered(state, sortedIndices, 1)));
    const { output, states } = this.stacked(
      data,
      start,
      (x, before, pass) => this.packedPass({ data: x, sizes: batchSizes }, before, pass),
    );
    return {
      output: new PackedSequence(output, batchSizes, sortedIndices, unsortedIndices),
      states: states.map((state) => reordered(state, unsortedIndices, 1)),
    };
  }

  /** Runs all layers, each in its directions. */
  private stacked(input: Tensor, start: States, run: (x: Tensor, before: States, pass: Pass) => Run): Run {
    const last: States[] = [];
    let sequence = input;
    for (let layer = 0; layer < this.numLayers; layer++) {
      const outputs: Tensor[] = [];
      for (const pass of this.passes(layer)) {
        const before = start.map((state) => state.select(0, last.length));
        const { output, states } = run(sequence, before, pass);
        outputs.push(output);
        last.push(states);
      }
      const [only] = outputs;
      sequence = only && outputs.length === 1 ? only : cat(outputs, -1);
      if (layer < this.numLayers - 1 && this.dropout > 0) {
        sequence = dropout(sequence, this.dropout, this.training);
      }
    }
    return { output: sequence, states: start.map((_, k) => stack(last.map((each) => stateOf(each, k)), 0)) };
  }

  /** The initial states: the given ones, or zeros. */
  private start(sequence: Tensor, batch: number, given: States): States {
    const directions = this.bidirectional ? 2 : 1;
    const lead = [this.numLayers * directions, batch], shape = [...lead, this.hiddenSize];
    const first = [...lead, this.outputSize];
    if (given.length === 0) {
      const all = this.gates.zeros(shape, sequence), { dtype, device } = sequence;
      return this.projSize === 0 ? all : [zeros(first, { dtype, device }), ...all.slice(1)];
    }
    const states = checkedTensors(given, "the states of a recurrent layer");
    if (states.length !== this.gates.states) {
      throw new DynError(`Expected ${this.gates.states} states but found ${states.length}`);
    }
    states.forEach((state, k) => {
      const wanted = k === 0 ? first : shape;
      if (`${state.shape}` !== `${wanted}`) {
        throw new DynError(`Expected a state of shape [${wanted}] but found [${state.shape}]`);
      }
    });
    return given;
  }

  private pass(sequence: Tensor, start: States, { reverse, suffix }: Pass): Run {
    const inputs = linear(sequence, this.parameter(`weight_ih_${suffix}`), this.biasOf(`bias_ih_${suffix}`));
    const weight = this.parameter(`weight_hh_${suffix}`), bias = this.biasOf(`bias_hh_${suffix}`);
    const length = sequence.shape[0] ?? 0, outputs: Tensor[] = [];
    let states = start;
    for (let k = 0; k < length; k++) {
      const product = linear(stateOf(states, 0), weight, bias);
      states = this.projected(
        this.gates.step(inputs.select(0, reverse ? length - 1 - k : k), product, states),
        suffix,
      );
      outputs.push(stateOf(states, 0));
    }
    return { output: stack(reverse ? outputs.reverse() : outputs, 0), states };
  }

  /**
   * Runs one layer in one direction over packed sequences. Forwards, states of sequences that have ended are unchanged.
   */
  private packedPass(
    { data, sizes }: { readonly data: Tensor; readonly sizes: readonly number[] },
    start: States,
    { reverse, suffix }: Pass,
  ): Run {
    const inputs = linear(data, this.parameter(`weight_ih_${suffix}`), this.biasOf(`bias_ih_${suffix}`));
    const weight = this.parameter(`weight_hh_${suffix}`), bias = this.biasOf(`bias_hh_${suffix}`);
    const outputs: Tensor[] = [], ended: States[] = [], length = sizes.length;
    const begun = sizes[reverse ? length - 1 : 0] ?? 0;
    let active = begun, at = reverse ? data.shape[0] ?? 0 : 0;
    let states = start.map((state) => state.narrow(0, 0, begun));
    for (let k = 0; k < length; k++) {
      const size = sizes[reverse ? length - 1 - k : k] ?? 0, before = active;
      if (size < before) {
        ended.push(states.map((state) => state.narrow(0, size, before - size)));
        states = states.map((state) => state.narrow(0, 0, size));
      } else if (size > before) {
        states = states.map((state, i) =>
          cat([state, stateOf(start, i).narrow(0, before, size - before)], 0)
        );
      }
      active = size;
      if (reverse) at -= size;
      const product = linear(stateOf(states, 0), weight, bias);
      states = [...this.projected(this.gates.step(inputs.narrow(0, at, size), product, states), suffix)];
      outputs.push(stateOf(states, 0));
      if (!reverse) at += size;
    }
    const whole = states.map((state, i) =>
      cat([state, ...ended.map((each) => stateOf(each, i)).reverse()], 0)
    );
    return { output: cat(reverse ? outputs.reverse() : outputs, 0), states: whole };
  }

  /** Projects the first state, if there is a projection. */
  private projected(states: States, suffix: string): States {
    if (this.projSize === 0) return states;
    const [output, ...rest] = states;
    return output ? [linear(output, this.parameter(`weight_hr_${suffix}`)), ...rest] : states;
  }

  /** The bias of a name; null without biases. */
  private biasOf(name: string): Tensor | null {
    return this.bias ? this.parameter(name) : null;
  }

  override extraRepr(): string {
    return settings([this.inputSize, this.hiddenSize], {
      projSize: unlessDefault(0, this.projSize),
      numLayers: unlessDefault(1, this.numLayers),
      bias: unlessDefault(true, this.bias),
      batchFirst: unlessDefault(false, this.batchFirst),
      dropout: unlessDefault(0, this.dropout),
      bidirectional: unlessDefault(false, this.bidirectional),
    });
  }
}

/** One of several states. Throws DynError for an unknown one. */
export function stateOf(states: States, k: number): Tensor {
  const state = states[k];
  if (!state) throw new DynError(`Expected a state ${k} but found ${states.length}`);
  return state;
}

/** The type of `call` with final states `S`: those without initial states come first, so that unions can be called. */
type RecurrentCall<F extends AnyFunction, S> =
  & ((input: PackedSequence) => [PackedSequence, S])
  & ((input: Tensor) => [Tensor, S])
  & CallOf<F>;

/** A recurrent layer with one state. */
abstract class OneState extends RNNBase {
  /** Runs hooks and `forward`. */
  declare call: RecurrentCall<this["forward"], Tensor>;

  /** Returns the packed outputs and the final state. */
  override forward(input: PackedSequence, ...given: StartArguments<Tensor>): [PackedSequence, Tensor];
  /** Returns the outputs of all steps and the final state. */
  override forward(input: Tensor, ...given: StartArguments<Tensor>): [Tensor, Tensor];
  /** Returns the outputs of all steps and the final state. */
  override forward(
    input: Tensor | PackedSequence,
    ...start: StartArguments<Tensor>
  ): [Tensor | PackedSequence, Tensor] {
    const state = startOf(this, start), given = state ? [state] : [];
    const { output, states } = input instanceof PackedSequence
      ? this.runPacked(input, given)
      : this.run(input, given);
    return [output, stateOf(states, 0)];
  }
}

/** h ← tanh(W x + b + V h + c), or relu, as torch.nn.RNN. */
export class RNN extends OneState {
  readonly nonlinearity: "tanh" | "relu";

  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(...given: Arguments<RecurrentSizes, ElmanOptions, typeof ELMAN>) {
    const options = layerArguments<RecurrentSizes, ElmanOptions>("RNN", ELMAN, given);
    super(gatesOfElman(options.nonlinearity), options);
    this.nonlinearity = options.nonlinearity ?? "tanh";
  }

  /** The kind of the layer, as PyTorch names it. */
  get mode(): "RNN_TANH" | "RNN_RELU" {
    return this.nonlinearity === "tanh" ? "RNN_TANH" : "RNN_RELU";
  }
}

/** Like torch.nn.GRU. */
export class GRU extends OneState {
  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(...given: GatedArguments) {
    super(GRU_GATES, layerArguments<RecurrentSizes, RecurrentOptions>("GRU", GATED, given));
  }

  /** The kind of the layer, as PyTorch names it. */
  get mode(): "GRU" {
    return "GRU";
  }
}

/** Like torch.nn.LSTM. */
export class LSTM extends RNNBase {
  /** Runs hooks and `forward`. */
  declare call: RecurrentCall<this["forward"], [Tensor, Tensor]>;

  /** Takes PyTorch's arguments in its order; trailing ones also by name. */
  constructor(...given: Arguments<RecurrentSizes, LSTMOptions, typeof PROJECTED>) {
    super(LSTM_GATES, layerArguments<RecurrentSizes, LSTMOptions>("LSTM", PROJECTED, given));
  }

  /** The kind of the layer, as PyTorch names it. */
  get mode(): "LSTM" {
    return "LSTM";
  }

  /** Returns the packed outputs and the final states. */
  override forward(
    input: PackedSequence,
    ...given: StartArguments<readonly [Tensor, Tensor]>
  ): [PackedSequence, [Tensor, Tensor]];
  /** Returns the outputs of all steps and the final states. */
  override forward(
    input: Tensor,
    ...given: StartArguments<readonly [Tensor, Tensor]>
  ): [Tensor, [Tensor, Tensor]];
  /** Returns the outputs of all steps and the final states. */
  override forward(
    input: Tensor | PackedSequence,
    ...start: StartArguments<readonly [Tensor, Tensor]>
  ): [Tensor | PackedSequence, [Tensor, Tensor]] {
    const given = startOf(this, start) ?? [];
    const { output, states } = input instanceof PackedSequence
      ? this.runPacked(input, given)
      : this.run(input, given);
    return [output, [stateOf(states, 0), stateOf(states, 1)]];
  }
}
