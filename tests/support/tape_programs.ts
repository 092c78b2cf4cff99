/**
 * Random programs about the gradient tape: products, views, writes in place in and out of noGrad, leaves that are
 * switched, hooks, and backward passes, with graph breaks at random places. A seed determines a program. Outcomes are
 * what a caller can see: results, gradients, and the first error.
 */
import { assert } from "@std/assert";
import * as dyn from "../../mod.ts";
import { autograd, compile, type CompileOptions, isTensor, noGrad, type Tensor, tensor } from "../../mod.ts";
import { randomNumbers } from "./sampling.ts";

const { savedTensorsHooks } = autograd.graph;

/** A program as text: the body of a function of a list of leaves. */
export interface TapeProgram {
  readonly seed: number;
  readonly lines: readonly string[];
  /** Which leaves require a gradient. */
  readonly requiring: readonly boolean[];
}

/** A program: returns tensors, and adds what else it sees to a list. */
type Run = (leaves: readonly Tensor[], seen: unknown[]) => readonly Tensor[];

/** Leaves of a program, of shape [2, 3] as all its tensors. */
const LEAVES = 3;

class Writer {
  readonly lines: string[] = [];
  #count = 0;
  /** Names of tensors that are in scope, with leaves first. */
  readonly tensors: string[] = [];
  readonly declared: string[] = [];

  constructor(readonly random: () => number) {}

  below = (n: number): number => Math.floor(this.random() * n);

  chance = (p: number): boolean => this.random() < p;

  one<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)];
    assert(item !== undefined);
    return item;
  }

  /** A tensor, more often one of the latest. */
  tensor(): string {
    const { tensors } = this;
    return this.chance(0.5) ? this.one(tensors.slice(-3)) : this.one(tensors);
  }

  makes(of: string): void {
    const name = `t${this.#count++}`;
    this.declared.push(name);
    this.lines.push(`${name} = ${of};`);
    this.tensors.push(name);
  }
}

/** Expressions of new values of shape [2, 3]. */
const VALUES: readonly ((w: Writer) => string)[] = [
  (w) => `${w.tensor()}.mul(${w.tensor()})`,
  (w) => `${w.tensor()}.mul(${w.tensor()})`,
  (w) => `${w.tensor()}.mul(${w.tensor()}).sum().mul(${w.tensor()})`,
  (w) => `${w.tensor()}.add(${w.tensor()})`,
  (w) => `${w.tensor()}.mul(1.5)`,
  (w) => `${w.tensor()}.sin()`,
  (w) => `${w.tensor()}.tanh()`,
  (w) => `${w.tensor()}.exp()`,
  (w) => `${w.tensor()}.clone()`,
  (w) => `${w.tensor()}.div(${w.tensor()}.abs().add(1))`,
];

/** Expressions of views of shape [2, 3]. */
const VIEWS: readonly ((w: Writer) => string)[] = [
  (w) => `${w.tensor()}.view(2, 3)`,
  (w) => `${w.tensor()}.view(6).view(2, 3)`,
  (w) => `${w.tensor()}.t().t()`,
  (w) => `${w.tensor()}.detach()`,
  (w) => `${w.tensor()}.detach()`,
  (w) => `${w.tensor()}.narrow(0, 0, 2)`,
  (w) => `${w.tensor()}.select(0, ${w.below(2)}).expand(2, 3)`,
  (w) => `${w.tensor()}.viewAs(${w.tensor()})`,
];

/** Statements that write in place. */
const WRITES: readonly ((w: Writer) => string)[] = [
  (w) => `${w.tensor()}.mul_(0.5)`,
  (w) => `${w.tensor()}.mul_(${w.tensor()})`,
  (w) => `${w.tensor()}.add_(${w.tensor()})`,
  (w) => `${w.tensor()}.select(0, ${w.below(2)}).mul_(2)`,
  (w) => `${w.tensor()}.copy_(${w.tensor()})`,
  (w) => `${w.tensor()}.sin_()`,
  (w) => `${w.tensor()}.zero_()`,
  (w) => `${w.tensor()}.detach().mul_(3)`,
  (w) => `${w.tensor()}.t().add_(1)`,
];

/** Statements about what is recorded. */
const SWITCHES: readonly ((w: Writer) => string)[] = [
  (w) => `${w.tensor()}.requiresGrad_(${w.chance(0.7)})`,
  (w) => `${w.tensor()}.retainGrad()`,
  (w) => `${w.tensor()}.registerHook((g) => g.mul(2))`,
  (w) => `${w.tensor()}.registerHook((g) => { seen.push(g.detach().sum()); })`,
  (w) => `l${w.below(LEAVES)}.grad = null`,
  (w) => `seen.push(${w.tensor()}.requiresGrad, ${w.tensor()}.isLeaf)`,
];

/** A tensor that requires a gradient, most often. */
const requiring = (w: Writer): string => {
  const name = w.tensor();
  return w.chance(0.8) ? `[${name}, l0, l1, l2].find((t) => t.requiresGrad) ?? l0` : name;
};

const passOf = (w: Writer, of: (root: string) => string): string => {
  const root = w.tensor();
  return w.chance(0.9) ? `if (${root}.requiresGrad) ${of(root)}` : of(root);
};

/** Statements that compute gradients, and keep what is saved: a graph may release more at once than the tape. */
const PASSES: readonly ((w: Writer) => string)[] = [
  (w) => passOf(w, (root) => `${root}.sum().backward(undefined, { retainGraph: true })`),
  (w) => passOf(w, (root) => `${root}.mul(${w.tensor()}).sum().backward(undefined, { retainGraph: true })`),
  (w) =>
    passOf(
      w,
      (root) =>
        `seen.push(...autograd.grad([${root}.sum()], [${
          requiring(w)
        }], undefined, { allowUnused: true, retainGraph: true }))`,
    ),
];

const BLOCKS = ["noGrad", "noGrad", "enableGrad", "inferenceMode"];

const guarded = (w: Writer, statement: string): string =>
  w.chance(0.5) ? `${statement};` : `try { ${statement}; } catch (e) { seen.push(e.message.slice(0, 40)); }`;

function statements(w: Writer, count: number, depth: number): void {
  for (let k = 0; k < count; k++) {
    if (w.chance(0.25)) w.lines.push("brk();");
    const kind = w.random();
    if (kind < 0.32) w.makes(w.one(VALUES)(w));
    else if (kind < 0.45) w.makes(w.one(VIEWS)(w));
    else if (kind < 0.6) {
      const write = w.one(WRITES)(w);
      w.lines.push(
        w.chance(0.6) ? `noGrad(() => { ${w.chance(0.2) ? "brk(); " : ""}${write}; });` : guarded(w, write),
      );
    } else if (kind < 0.7) w.lines.push(guarded(w, w.one(SWITCHES)(w)));
    else if (kind < 0.8) w.lines.push(`${w.one(PASSES)(w)};`);
    else if (kind < 0.83) {
      const of = requiring(w);
      w.makes(
        `autograd.grad([${w.tensor()}.mul(${of}).sum()], [${of}], undefined, { createGraph: true })[0]`,
      );
    } else if (depth < 2) {
      w.lines.push(`${w.one(BLOCKS)}(() => {`);
      statements(w, 1 + w.below(3), depth + 1);
      w.lines.push("});");
    }
  }
}

/** Draws a program. */
export function drawTapeProgram(seed: number): TapeProgram {
  const random = randomNumbers(seed);
  for (let k = 0; k < 8; k++) random();
  const w = new Writer(random);
  const requiring = Array.from({ length: LEAVES }, () => w.chance(0.7));
  for (let k = 0; k < LEAVES; k++) w.tensors.push(`l${k}`);
  statements(w, 4 + w.below(7), 0);
  const declared = w.declared.length > 0 ? [`let ${w.declared.join(", ")};`] : [];
  return {
    seed,
    lines: [...declared, ...w.lines, `return [${w.tensors.slice(LEAVES).join(", ")}];`],
    requiring,
  };
}

/** A program as a function. */
function functionOf({ lines }: TapeProgram): Run {
  const names = ["noGrad", "enableGrad", "inferenceMode", "autograd"] as const;
  const text = `return (leaves, seen) => { const [l0, l1, l2] = leaves;\n${lines.join("\n")}\n}`;
  const made: unknown = new Function("brk", ...names, text)(
    dyn.compiler.graphBreak,
    ...names.map((name) => dyn[name]),
  );
  assert(typeof made === "function");
  return (leaves, seen) => made(leaves, seen);
}

/** The beginning of the error of a pass that needs values which were written in place since. */
const OVERWRITTEN = "One of the variables needed for gradient";

/** The part of an error's message that does not name nodes of the tape. */
const errorOf = (thrown: unknown): string =>
  thrown instanceof Error ? thrown.message.slice(0, OVERWRITTEN.length) : `${thrown}`;

/** The parts of a value that a caller sees. */
function shown(value: unknown): unknown {
  if (!isTensor(value)) return value;
  const digits = value.detach().flatten().tolist();
  assert(Array.isArray(digits) || typeof digits === "number");
  return [value.requiresGrad, value.isLeaf, ...[digits].flat().map((x) => Number(x).toPrecision(4))];
}

/** Everything that a caller sees of a run and of backward passes from its results. */
function outcomeOf(program: TapeProgram, wrap: (run: Run) => Run): readonly string[] {
  const leaves = program.requiring.map((requiresGrad, k) =>
    tensor([[0.5 + k, -0.3 * k, 1.1], [0.7, 0.2 + k, -0.4]], { requiresGrad })
  );
  const seen: unknown[] = [], out: unknown[] = [], results: Tensor[] = [];
  try {
    results.push(...wrap(functionOf(program))(leaves, seen));
  } catch (error) {
    // A pass that fails leaves other partial sums in the gradients of leaves
    return [...seen.map(shown), errorOf(error)].map((each) => JSON.stringify(each));
  }
  const gradients = () => [...leaves, ...results].map((each) => each.isLeaf ? shown(each.grad) : null);
  out.push(...results.map(shown), ...seen.map(shown), ...leaves.map(shown), ...gradients());
  for (const result of results.filter(({ requiresGrad }) => requiresGrad)) {
    for (const each of [...leaves, ...results]) if (each.isLeaf) each.grad = null;
    try {
      result.sum().backward(undefined, { retainGraph: true });
      out.push(...gradients());
    } catch (error) {
      out.push(errorOf(error));
    }
  }
  return out.map((each) => JSON.stringify(each) ?? "undefined");
}

/**
 * The first difference between a plain and a compiled run; undefined if there is none that matters. A graph may save
 * other values than the tape: it may still have one that the tape lost to a write in place, and then gives the gradient
 * that the tape would have given, or have lost one that the tape still has, and says so.
 */
export function tapeDifference(program: TapeProgram, options: CompileOptions): string | undefined {
  const plain = outcomeOf(program, (run) => run), found = outcomeOf(program, (run) => compile(run, options));
  const at = firstOther(plain, found);
  if (at < 0 || found[at]?.includes(OVERWRITTEN)) return undefined;
  // A pass within the program ends the plain run, whose error is then the last that is seen
  if (plain[at]?.includes(OVERWRITTEN) || plain.at(-1)?.includes(OVERWRITTEN)) {
    // Copies of saved values are those that the tape would have without writes in place
    const kept = savedTensorsHooks(
      (saved: Tensor) => noGrad(() => saved.detach().clone()),
      (copy: Tensor) => copy,
      () => outcomeOf(program, (run) => run),
    );
    const other = firstOther(kept, found);
    if (other < 0 || found[other]?.includes(OVERWRITTEN) || plain[other] === found[other]) return undefined;
  }
  const text = [`program ${program.seed}, leaves require grad: ${program.requiring}`, ...program.lines];
  return `${found[at]} instead of ${plain[at]} at ${at} of ${text.join("\n  ")}`;
}

function firstOther(wanted: readonly string[], found: readonly string[]): number {
  const at = wanted.findIndex((each, k) => each !== found[k]);
  return at < 0 && found.length > wanted.length ? wanted.length : at;
}
