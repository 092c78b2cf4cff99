/**
 * The interface of a model of the zoo: a model with the functions that a user would compile: its forward pass, its loss
 * and the whole step of its recipe. Invariant: those functions are written as in a port of the original, with nothing
 * added for the compiler.
 */
import type { nn, Tensor } from "../../mod.ts";

/** A function of the tensors of a batch, in the order of the file with PyTorch's numbers. */
export type OfBatch<R> = (...batch: Tensor[]) => R;

/** One step of training, and what is done after each outside of it. */
export interface Training {
  readonly step: OfBatch<Tensor>;
  readonly after?: (loss: Tensor) => void;
}

/** Compiles a function, or gives it back. */
export type Wrap = <F extends (...given: never[]) => unknown>(fn: F) => F;

/** A model that can be run. */
export interface Subject {
  readonly model: nn.Module;
  readonly forward: OfBatch<Tensor>;
  readonly loss: OfBatch<Tensor>;
  /** Makes optimizers and schedules. */
  readonly train: () => Training;
  /** Generates tokens one after the other from a batch; `wrap` is for the function of one token. */
  readonly decode?: (wrap: Wrap, batch: readonly Tensor[]) => number[];
}

/** Parameters that vary between runs of one model. */
export interface Variant {
  /** Probability of every kind of dropout; PyTorch's numbers are without. */
  readonly dropout: number;
}

/** Counts of a function's capture: graphs, breaks, and versions after the first. */
export interface Counts {
  readonly graphs: number;
  readonly breaks: number;
  readonly recompiles: number;
}

/** Counts of what the runner compiles. */
export interface ExpectedCounts {
  /** The forward pass in evaluation mode, without gradients. */
  readonly forward: Counts;
  /** The loss in training mode; its gradients are computed outside. */
  readonly loss: Counts;
  /** Ten whole steps. */
  readonly step: Counts;
  /** The function that gives one token after the other. */
  readonly decode?: Counts;
}

/** A model of the zoo. */
export interface Specimen {
  /** Also the name of its file in data/. */
  readonly name: string;
  readonly make: (variant: Variant) => Subject;
  /** Whether it has dropout. */
  readonly random?: boolean;
  readonly counts: ExpectedCounts;
  /** Those on other devices than the CPU if they differ: a graph has one device, so a transfer ends it. */
  readonly countsElsewhere?: ExpectedCounts;
}

/** One graph that serves every call. */
export const ONE: Counts = { graphs: 1, breaks: 0, recompiles: 0 };

/** One graph for the first call (a rate is a number before it is one that changes, a prefix has a first length), one for the rest. */
export const FIRST_AND_REST: Counts = { graphs: 2, breaks: 0, recompiles: 1 };
