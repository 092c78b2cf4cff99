/**
 * Messages between the stages of a pipeline: lists of tensors whose number and shapes the receiver does not know.
 * Invariants: sending never blocks, so that two stages can send to each other; messages arrive in order.
 */
import { type DType, DTYPES } from "../../base/dtype.ts";
import { DynError } from "../../base/errors.ts";
import { tensor } from "../../tensor/creation.ts";
import { empty, zeros } from "../../tensor/generated_functions.ts";
import type { Tensor } from "../../tensor/tensor.ts";
import { getGlobalRank, type ProcessGroup } from "../group.ts";
import { irecv, isend } from "../messages.ts";
import { sent } from "../staging.ts";
import type { Work } from "../work.ts";

/**
 * Numbers before activations: the number of tensors, then for each its type, whether it has a gradient, and its shape.
 */
const HEADER = 64;

/** Tags of activations and gradients. */
const ACTIVATIONS = 0, GRADIENTS = 1;

/** The announcement of a tensor to the next stage. */
interface Announced {
  readonly dtype: DType;
  readonly hasGradient: boolean;
  readonly shape: readonly number[];
}

function headerOf(tensors: readonly Tensor[]): Tensor {
  const numbers = [
    tensors.length,
    ...tensors.flatMap(({ dtype, requiresGrad, shape }) => [
      DTYPES.indexOf(dtype),
      requiresGrad ? 1 : 0,
      shape.length,
      ...shape,
    ]),
  ];
  if (numbers.length > HEADER) {
    throw new DynError(
      `Expected at most ${HEADER} types and sizes of tensors between stages but found ${numbers.length}`,
    );
  }
  return tensor([...numbers, ...Array<number>(HEADER - numbers.length).fill(0)], {
    dtype: "int32",
    device: "cpu",
  });
}

function announcedBy(header: Tensor): Announced[] {
  const numbers = header.tolist<number[]>();
  let at = 0;
  const next = (): number => numbers[at++] ?? 0;
  return Array.from({ length: next() }, () => {
    const dtype = DTYPES[next()] ?? "float32", hasGradient = next() === 1, rank = next();
    return { dtype, hasGradient, shape: Array.from({ length: rank }, next) };
  });
}

/** The connection from one stage to its neighbour. */
export class Link {
  /** Tensors being sent, kept until they have arrived. */
  readonly #sending: { readonly work: Work; readonly held: Tensor }[] = [];
  readonly #peer: number;

  constructor(private readonly group: ProcessGroup, neighbour: number, private readonly device: string) {
    this.#peer = getGlobalRank(group, neighbour);
  }

  #send(from: Tensor, tag: number): void {
    const held = sent(from.detach()), { group } = this;
    this.#sending.push({ work: isend(held, this.#peer, { group, tag }), held });
  }

  #receive(into: Tensor, tag: number): Tensor {
    irecv(into, this.#peer, { group: this.group, tag }).wait();
    return into;
  }

  /** Sends the results of a stage. */
  sendActivations(tensors: readonly Tensor[]): void {
    this.#send(headerOf(tensors), ACTIVATIONS);
    for (const each of tensors) this.#send(each, ACTIVATIONS);
  }

  /** Receives the activations of the previous stage; those that need gradients there require them here. */
  receiveActivations(): Tensor[] {
    const header = this.#receive(zeros([HEADER], { dtype: "int32", device: "cpu" }), ACTIVATIONS);
    return announcedBy(header).map(({ dtype, hasGradient, shape }) => {
      const found = this.#receive(empty(shape, { dtype, device: this.device }), ACTIVATIONS);
      return hasGradient ? found.requiresGrad_() : found;
    });
  }

  sendGradients(tensors: readonly Tensor[]): void {
    for (const each of tensors) this.#send(each, GRADIENTS);
  }

  /** Receives the gradients of tensors that were sent. */
  receiveGradients(of: readonly Tensor[]): Tensor[] {
    const { device } = this;
    return of.map(({ shape, dtype }) => this.#receive(empty(shape, { dtype, device }), GRADIENTS));
  }

  /** Waits until everything has been received. */
  finish(): void {
    for (const { work } of this.#sending.splice(0)) work.wait();
  }
}
