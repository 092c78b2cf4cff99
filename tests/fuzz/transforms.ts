/**
 * Draws functions of tensors with transforms of functions inside, two deep, that write in place: to what they
 * differentiate by, to captured tensors, and to views of both. Invariant: all tensors of a program are vectors of four
 * elements, so that every value fits everywhere; a seed gives one program.
 */
import { randomNumbers } from "../support/sampling.ts";

/** A line of a program, or a function with a body between two lines. */
type Line = string | { readonly open: string; readonly body: readonly Line[]; readonly close: string };

const UNARY = [
  "sin()",
  "tanh()",
  "mul(0.5)",
  "square()",
  "detach()",
  "clone()",
  "flip(0)",
  "sigmoid()",
  "cumsum(0)",
  "view([-1])",
];
const BINARY = ["mul", "add", "sub", "maximum"];

/** Parts of a tensor that writes go to. */
const PARTS = [
  ".narrow(0, 1, 2)",
  ".select(0, 1)",
  ".view([2, 2]).t()",
  ".view([2, 2]).select(1, 0)",
  ".slice(0, 0, 4, 2)",
  "",
  "",
];

/** Draws one program. */
class Draft {
  readonly #random: () => number;
  #names = 0;

  constructor(seed: number) {
    this.#random = randomNumbers(seed);
    for (let i = 0; i < 8; i++) this.#random();
  }

  #below(count: number): number {
    return Math.floor(this.#random() * count);
  }

  #pick(list: readonly string[]): string {
    return list[this.#below(list.length)] ?? "";
  }

  #fresh(): string {
    return `v${this.#names++}`;
  }

  #vector(names: readonly string[]): string {
    const a = this.#pick(names), b = this.#pick(names);
    switch (this.#below(5)) {
      case 0:
        return `${a}.${this.#pick(BINARY)}(${b})`;
      case 1:
        return `${a}.${this.#pick(BINARY)}(${b}.sum())`;
      case 2:
        return `where(${a}.gt(0.1), ${b}, ${a}.mul(0.4))`;
      default:
        return `${a}.${this.#pick(UNARY)}`;
    }
  }

  #number(names: readonly string[]): string {
    return `${this.#pick(names)}.mul(${this.#pick(names)}).sum()`;
  }

  #write(names: readonly string[]): string {
    const target = `${this.#pick(names)}${this.#pick(PARTS)}`, source = this.#pick(names);
    return this.#pick([
      `${target}.mul_(${source}.sum());`,
      `${target}.add_(${source}.select(0, 2));`,
      `${target}.copy_(${source}.mean());`,
      `noGrad(() => ${target}.mul_(0.75));`,
      `${target}.tanh_();`,
      `${target}.mul_(0.5).add_(0.1);`,
    ]);
  }

  /** Lines, and the names that hold vectors after them. `writes`: programs with recomputed functions must not. */
  lines(
    given: readonly string[],
    { depth, count, writes }: { readonly depth: number; readonly count: number; readonly writes: boolean },
  ): { readonly body: readonly Line[]; readonly names: readonly string[] } {
    const body: Line[] = [], names = [...given];
    for (let k = 0; k < count; k++) {
      const drawn = this.#random();
      if (drawn < 0.25 && writes) body.push(this.#write(names));
      else if (drawn < 0.31) body.push("graphBreak();");
      else if (drawn > 0.6 && depth > 0) body.push(this.#transform(names, depth - 1, writes));
      else {
        const name = this.#fresh();
        const value = drawn < 0.38 && writes
          ? `slopes(${this.#number(names)}, ${this.#pick(names)})`
          : this.#vector(names);
        body.push(`const ${name} = ${value};`);
        names.push(name);
      }
    }
    return { body, names };
  }

  /** A call of a transform; its results join the names. */
  #transform(names: string[], depth: number, writes: boolean): Line {
    const x = this.#fresh(), made = this.#fresh(), of = this.#pick(names), tangent = this.#pick(names);
    const kind = this.#below(10), isRecomputed = kind === 0 && !writes;
    const inner = this.lines([...names.filter(() => this.#random() < 0.5), x, x], {
      depth: isRecomputed ? 0 : depth,
      count: 1 + this.#below(4),
      writes,
    });
    const vector = `return ${this.#vector(inner.names)};`,
      number = `return ${this.#number([x, ...inner.names])};`;
    const forms = [
      isRecomputed
        ? [`checkpoint((${x}) => {`, vector, `}, ${of})`]
        : [`noGrad(() => ((${x}) => {`, vector, `})(${of}))`],
      [`func.grad((${x}) => {`, number, `})(${of})`],
      [`func.vjp((${x}) => {`, vector, `}, ${of})[1](${tangent})[0]`],
      [`func.jvp((${x}) => {`, vector, `}, [${of}], [${tangent}])[1]`],
      [`func.jacrev((${x}) => {`, vector, `})(${of}).sum(0)`],
      [`func.jacfwd((${x}) => {`, vector, `})(${of}).sum(1)`],
      [`func.hessian((${x}) => {`, number, `})(${of}).sum(0)`],
      [`vmap((${x}) => {`, vector, `})(${of}.view([1, 4])).select(0, 0)`],
      [`func.linearize((${x}) => {`, vector, `}, ${of})[1](${tangent})`],
      [`called({ weight: ${tangent} }, ${of}, (${x}, weight) => {`, vector, "})"],
    ];
    const [open = "", result = "", close = ""] = forms[kind] ?? [];
    names.push(made);
    return { open: `const ${made} = ${open}`, body: [...inner.body, result], close: `${close};` };
  }

  /** A number from 0 on. */
  choice(count: number): number {
    return this.#below(count);
  }
}

function printed(lines: readonly Line[], indent: string): string {
  return lines.map((line) =>
    typeof line === "string"
      ? indent + line
      : `${indent}${line.open}\n${printed(line.body, `${indent}  `)}\n${indent}${line.close}`
  ).join("\n");
}

/** The text of a function of `{ x, y, p, c, w }` that returns a list of vectors. */
export function drawnProgram(seed: number): string {
  const draft = new Draft(seed);
  const { body, names } = draft.lines(["x", "y", "p", "c", "w"], {
    depth: 2,
    count: 2 + draft.choice(5),
    writes: draft.choice(4) > 0,
  });
  return `({ x, y, p, c, w }) => {\n${
    printed([...body, `return [${names.slice(-3).join(", ")}];`], "  ")
  }\n}`;
}
