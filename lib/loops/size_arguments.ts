/**
 * Replaces expressions over a program's sizes by size arguments, and returns their values over the old sizes.
 * Invariant: programs that differ only in how sizes are computed have one text, so that they are compiled once: a sum
 * of all elements is the same loop, whether they come in one dimension or in four.
 */
import { hintOf } from "../sym/decide.ts";
import { add, type Dim, floorDiv, freeSymbols, max, min, mod, mul, type Sym, symbol } from "../sym/expr.ts";
import { InternalError } from "../base/errors.ts";
import type { Axis, BufferView, Kernel, LoopKernel, Program, Statement } from "./ir.ts";

/** A program, and the values of its sizes over those of the original program. */
interface WithSizeArguments {
  readonly program: Program;
  readonly sizes: readonly Dim[];
}

/** Replaces sizes by arguments. */
export function withSizeArguments(program: Program): WithSizeArguments {
  const rewriter = new SizeRewriter();
  const made: Program = {
    ...program,
    buffers: program.buffers.map((buffer) => ({
      ...buffer,
      length: rewriter.dim(buffer.length),
      role: buffer.role.kind === "temporary"
        ? { ...buffer.role, offset: rewriter.dim(buffer.role.offset) }
        : buffer.role,
    })),
    arenaBytes: rewriter.dim(program.arenaBytes),
    kernels: program.kernels.map((kernel) => rewriter.kernel(kernel)),
  };
  return {
    program: { ...made, sizes: [...rewriter.arguments.values()] },
    sizes: [...rewriter.arguments.keys()],
  };
}

/** Returns whether an expression is known before any loop runs. */
function isSize(d: Sym): boolean {
  for (const { node } of freeSymbols(d)) {
    if (node.kind !== "symbol" || node.role.kind !== "size") return false;
  }
  return true;
}

class SizeRewriter {
  /** New sizes by the expressions that they replace. */
  readonly arguments = new Map<Sym, Sym>();
  readonly #axes = new Map<Sym, Sym>();

  dim(d: Dim): Dim {
    if (typeof d === "number") return d;
    if (isSize(d)) return this.#argument(d);
    const { node } = d;
    switch (node.kind) {
      case "symbol":
        return this.#axes.get(d) ?? d;
      case "sum": {
        const sizes = node.terms.filter(({ term }) => isSize(term));
        const rest = node.terms.filter(({ term }) => !isSize(term));
        const fixed = this.dim(
          sizes.reduce<Dim>((sum, { term, coefficient }) => add(sum, mul(term, coefficient)), 0),
        );
        return rest.reduce<Dim>(
          (sum, { term, coefficient }) => add(sum, this.#scaled(term, coefficient)),
          add(fixed, node.constant),
        );
      }
      case "product":
        return this.#scaled(d, 1);
      case "floorDiv":
        return floorDiv(this.dim(node.left), this.dim(node.right));
      case "mod":
        return mod(this.dim(node.left), this.dim(node.right));
      case "min":
        return min(this.dim(node.left), this.dim(node.right));
      case "max":
        return max(this.dim(node.left), this.dim(node.right));
      default:
        return node satisfies never;
    }
  }

  kernel(kernel: Kernel): Kernel {
    if (kernel.kind === "loops") return this.#loops(kernel);
    const view = (each: BufferView): BufferView => ({
      ...each,
      offset: this.dim(each.offset),
      shape: each.shape.map((d) => this.dim(d)),
      strides: each.strides.map((d) => this.dim(d)),
    });
    return {
      ...kernel,
      inputs: kernel.inputs.map(view),
      outputs: kernel.outputs.map(view),
      ...(kernel.epilogue ? { epilogue: this.#loops(kernel.epilogue) } : {}),
    };
  }

  /**
   * coefficient·term, with the factors that are sizes as one argument. The coefficient stays, since tiles and lanes are
   * recognised by it.
   */
  #scaled(term: Sym, coefficient: number): Dim {
    if (term.node.kind !== "product") return mul(this.dim(term), coefficient);
    const { factors } = term.node;
    const fixed = this.dim(factors.filter(isSize).reduce<Dim>((product, each) => mul(product, each), 1));
    const rest = factors.filter((each) => !isSize(each)).map((each) => this.dim(each));
    return rest.reduce<Dim>((product, each) => mul(product, each), mul(fixed, coefficient));
  }

  #argument(d: Sym): Dim {
    // Known divisors of a size are preserved
    const [single] = d.node.kind === "sum" && d.node.constant === 0 && d.node.terms.length === 1
      ? d.node.terms
      : [];
    if (single && single.coefficient > 1) return mul(this.#argument(single.term), single.coefficient);
    const known = this.arguments.get(d);
    if (known) return known;
    const made = symbol(`n${this.arguments.size}`, {
      kind: "size",
      decider: {
        hintOf: () => hintOf(d),
        assume: (_relation, sides) => {
          throw new InternalError(
            `Expected no conditions on sizes but found one on ${sides[0]} and ${sides[1]}`,
          );
        },
      },
    }, [d.lower, d.upper]);
    this.arguments.set(d, made);
    return made;
  }

  #axis({ symbol: old, size }: Axis): Axis {
    const made = this.dim(size);
    const axis = symbol(`i${this.#axes.size}`, { kind: "axis", size: made }, [old.lower, old.upper]);
    this.#axes.set(old, axis);
    return { symbol: axis, size: made };
  }

  #loops(kernel: LoopKernel): LoopKernel {
    return { ...kernel, body: this.#body(kernel.body) };
  }

  #body(body: readonly Statement[]): Statement[] {
    return body.map((s): Statement => {
      switch (s.kind) {
        case "loop": {
          const axis = this.#axis(s.axis);
          return { ...s, axis, body: this.#body(s.body) };
        }
        case "masked":
          return { ...s, body: this.#body(s.body) };
        case "index":
        case "load":
        case "store":
          return { ...s, index: this.dim(s.index) };
        case "constant":
        case "scalar":
        case "cast":
        case "select":
          return s;
        default:
          return s satisfies never;
      }
    });
  }
}
