/**
 * The work of a graph during lowering: storages, and jobs in order. Invariant: a formula is stored at most once, and
 * only if something needs it in memory or its readers would repeat too much work.
 */
import { InternalError } from "../base/errors.ts";
import type { DType } from "../base/dtype.ts";
import { contiguousStrides, type TensorMeta } from "../graph/meta.ts";
import type { Element, Operand } from "../loops/body.ts";
import type { BufferId } from "../loops/ir.ts";
import { type BufferOperand, isBufferOperand } from "../loops/record.ts";
import { hintOf } from "../sym/decide.ts";
import { type Dim, product } from "../sym/expr.ts";
import { type Lanes, newAxis, type Work } from "./computation.ts";
import { ownCost } from "./cost.ts";
import { denseStrides, linearView } from "./layouts.ts";
import { chooseStored, type Entry } from "./realize.ts";
import { isLazy, type Label, type LazyTensor, type Storage, storedForm } from "./tensors.ts";

/** A computation before its accesses are known. */
export interface Job {
  readonly order: number;
  readonly work: Work;
  readonly target: BufferOperand;
  readonly sizes: readonly Dim[];
  readonly over: readonly Dim[];
  /** The axes that run in lanes, if the order of a sum is settled. */
  readonly lanes?: Lanes;
  readonly label: Label;
  /** The tensor whose formula it stores. */
  readonly tensor?: LazyTensor;
  /** A buffer that must be written before it runs, although it does not read the buffer. */
  readonly after?: BufferId;
}

/** Collects storages, formulas and jobs. */
export class WorkPlan {
  readonly #storages: Storage[] = [];
  readonly #jobs: Job[] = [];
  readonly #entries: Entry[] = [];
  readonly #lazies: LazyTensor[] = [];
  /** Tensors with memory of their own, in the layout in which it was allocated. */
  readonly made: Set<BufferOperand> = new Set();
  /** The position of the next job. */
  order = 0;

  /** Returns everything, once all jobs have been added. */
  finish(): { readonly storages: readonly Storage[]; readonly jobs: readonly Job[] } {
    chooseStored(this.#entries, (tensor) => this.store(tensor));
    return { storages: this.#storages, jobs: this.#jobs.sort((a, b) => a.order - b.order) };
  }

  /** Adds new memory. */
  storage(name: string, dtype: DType, rest: Pick<Storage, "length" | "role">): Storage {
    const storage = { id: this.#storages.length, name, dtype, ...rest };
    this.#storages.push(storage);
    return storage;
  }

  /** A result without elements: nothing computes it, and no index is divided by a size of 0. */
  nothing({ shape, dtype }: Pick<TensorMeta, "shape" | "dtype">, label: Label): Operand {
    const element: Element = (o) => o.constant(dtype === "bool" ? false : 0, dtype);
    return this.lazy(element, { shape, dtype, label, viewOf: undefined, strides: contiguousStrides(shape) });
  }

  /** A tensor converted to another type; where it is stored, its values are rounded to that type. */
  asType(operand: Operand, dtype: DType, label: Label): Operand {
    if (operand.dtype === dtype) return operand;
    const { shape } = operand,
      strides = isLazy(operand) || isBufferOperand(operand) ? operand.strides : undefined;
    return this.lazy((o, index) => o.load(operand, index), {
      shape,
      dtype,
      label,
      viewOf: undefined,
      strides: denseStrides(shape, strides),
    });
  }

  /** A tensor with memory of its own, dense in the order of the requested strides. */
  fresh(shape: readonly Dim[], dtype: DType, wanted: readonly Dim[] | undefined): BufferOperand {
    const view = { shape, strides: denseStrides(shape, wanted), offset: 0 };
    const storage = this.storage(`t${this.#storages.length}`, dtype, {
      length: product(shape),
      role: { kind: "internal" },
    });
    const made = { ...view, dtype, buffer: storage.id };
    this.made.add(made);
    return made;
  }

  /** A tensor that is a formula until it is stored. */
  lazy(
    element: Element,
    rest: Pick<LazyTensor, "shape" | "dtype" | "label" | "viewOf" | "strides">,
  ): LazyTensor {
    const tensor: LazyTensor = {
      kind: "lazy",
      id: this.#lazies.length,
      element,
      stored: undefined,
      order: this.order,
      ...rest,
    };
    this.#lazies.push(tensor);
    const axes = tensor.shape.map((size, d): Dim => newAxis(size, `i${d}`).symbol);
    this.#entries.push({
      cost: ownCost((recorder) => element(recorder, axes)),
      iterations: countOf(tensor.shape),
      tensor,
    });
    return tensor;
  }

  /** Adds a job that fills a tensor, or adds to it. */
  job(
    work: Work,
    target: BufferOperand,
    { sizes = target.shape, over, lanes, label, order = this.order, tensor, after }: {
      sizes?: readonly Dim[];
      over: readonly Dim[];
      lanes?: Lanes;
      label: Label;
      order?: number;
      tensor?: LazyTensor;
      after?: BufferId | undefined;
    },
  ): void {
    if (isEmpty({ shape: sizes })) return;
    const more = {
      ...(tensor ? { tensor } : {}),
      ...(after === undefined ? {} : { after }),
      ...(lanes === undefined ? {} : { lanes }),
    };
    this.#jobs.push({ order, work, target, sizes, over, label, ...more });
    if (tensor || work.kind === "extern" || work.kind === "region" || work.kind === "rows") return;
    const index = sizes.map((size, d): Dim => newAxis(size, `i${d}`).symbol);
    const reduced = over.map((size, d): Dim => newAxis(size, `r${d}`).symbol);
    const cost = ownCost((recorder) => {
      if (work.kind === "pointwise") work.element(recorder, index);
      else if (work.kind === "reduction" || work.kind === "scan") work.element(recorder, index, reduced);
      else {
        work.target(recorder, index);
        work.value(recorder, index);
      }
    });
    this.#entries.push({ cost, iterations: countOf(sizes) * countOf(over), tensor: undefined });
  }

  /** Stores the elements of a lazy tensor. */
  store(tensor: LazyTensor): BufferOperand {
    if (tensor.stored) return tensor.stored;
    const { element, shape, dtype, order, label } = tensor;
    const target = this.fresh(shape, dtype, tensor.strides);
    tensor.stored = target;
    this.job({ kind: "pointwise", element }, target, { over: [], label, order, tensor });
    return target;
  }

  /**
   * A strided view of memory with an operand's elements: a view of the operand's own memory if strides can express it.
   */
  materialize(operand: Operand): BufferOperand {
    const stored = storedForm(operand);
    if (stored) return stored;
    if (!isLazy(operand)) {
      throw new InternalError(`Expected a tensor of the graph but found shape ${operand.shape}`);
    }
    const { viewOf } = operand;
    if (viewOf && (storedForm(viewOf) || countOf(viewOf.shape) <= countOf(operand.shape))) {
      this.materialize(viewOf);
      const strided = linearView(operand.element, operand);
      if (strided) return strided;
    }
    return this.store(operand);
  }
}

/** Returns whether a tensor has no elements in any call. */
export const isEmpty = ({ shape }: { readonly shape: readonly Dim[] }): boolean => shape.includes(0);

const countOf = (shape: readonly Dim[]) => hintOf(product(shape));
