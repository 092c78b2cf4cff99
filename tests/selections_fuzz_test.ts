/**
 * Random programs that select by masks, compute with what is selected and write it back: results, final contents of
 * arguments, effects and gradients of compiled calls are those of plain ones, wherever the graph ends. DYN_TEST_SEED
 * repeats a run.
 */
import { assert, assertEquals } from "@std/assert";
import { clone, compile, config, isTensor, noGrad, type Tensor, tensor, where } from "../mod.ts";
import { randomNumbers, TAKES_ALL, testSeed } from "./support/sampling.ts";

/** One instruction: what to do with which earlier values. */
interface Step {
  readonly kind: number;
  readonly a: number;
  readonly b: number;
  readonly n: number;
}

/** Elements of a tensor at a mask. */
interface Selected {
  readonly by: Tensor;
  readonly s: Tensor;
}

interface State {
  readonly tensors: Tensor[];
  readonly masks: Tensor[];
  readonly selections: Selected[];
  readonly results: Tensor[];
  /** Effects outside of the program. */
  readonly seen: number[];
}

type Instruction = (state: State, a: number, b: number, n: number) => void;

function at<T>(values: readonly T[], place: number): T {
  const found = values[place % values.length];
  if (found === undefined) throw new Error("no values");
  return found;
}

const UNARY: readonly ((s: Tensor) => Tensor)[] = [
  (s) => s.exp(),
  (s) => s.log(),
  (s) => s.sqrt(),
  (s) => s.square(),
  (s) => s.neg(),
  (s) => s.sigmoid(),
  (s) => s.relu(),
  (s) => s.acosh(),
  (s) => s.pow(1.5),
  (s) => s.reciprocal(),
  (s) => where(s.gt(0), s, s.mul(0.5)),
];

const BINARY: readonly ((s: Tensor, t: Tensor) => Tensor)[] = [
  (s, t) => s.add(t),
  (s, t) => s.mul(t),
  (s, t) => s.div(t),
  (s, t) => where(s.lt(t), t, s),
];

/** A selection computed from one, by a function of its own. */
function apply({ selections }: State, a: number, run: (s: Tensor) => Tensor): void {
  if (selections.length === 0) return;
  const { by, s } = at(selections, a);
  selections.push({ by, s: run(s) });
}

const SELECT: Instruction = ({ tensors, masks, selections }, a, b) => {
  const by = at(masks, b);
  selections.push({ by, s: at(tensors, a).at(by) });
};

const WRITE: Instruction = ({ tensors, selections }, a, b) => {
  if (selections.length === 0) return;
  const { by, s } = at(selections, b);
  at(tensors, a).set([by], s);
};

/** Instructions after which no size matters. */
const PLAIN: readonly Instruction[] = [
  ({ tensors, masks }, a, _b, n) => void masks.push(at(tensors, a).gt(n * 0.5 - 0.5)),
  ({ tensors, masks }, a) => void masks.push(at(tensors, a).sum(1).lt(1)),
  ({ masks }, a) => void masks.push(at(masks, a).logicalNot()),
  SELECT,
  SELECT,
  (state, a, b) => apply(state, a, at(UNARY, b)),
  (state, a, b) => apply(state, a, at(UNARY, b)),
  (state, a, b, n) => apply(state, a, (s) => at(BINARY, b)(s, s.add(n))),
  (state, a, _b, n) => apply(state, a, (s) => s.mul(n - 1.5)),
  (state, a, _b, n) => apply(state, a, (s) => s.add(tensor(n, { dtype: "float64" }))),
  (state, a, b) => {
    const others = state.selections.filter(({ by }) =>
      by === state.selections[a % state.selections.length]?.by
    );
    apply(state, a, (s) => {
      const { s: t } = at(others, b);
      return s.ndim === t.ndim ? at(BINARY, b)(s, t) : s;
    });
  },
  WRITE,
  WRITE,
  ({ tensors }, a) => void tensors.push(clone(at(tensors, a))),
  ({ tensors }, a, b) => void at(tensors, a).add_(b % 3 - 1),
];

/** Writes to what gradients may have saved: a write at a mask saves it where one element is selected. */
const IN_PLACE: readonly Instruction[] = [
  ({ masks }, a) => void at(masks, a).logicalNot_(),
  ({ masks }, a, b) => void at(masks, a).at(b % 2).fill_(b % 3 === 0),
  ({ selections }, a, _b, n) => void (selections.length > 0 && at(selections, a).s.mul_(n)),
  ({ selections }, a) => void (selections.length > 0 && at(selections, a).s.exp_()),
  ({ tensors }, a, b) => void at(tensors, a).mul_(at(tensors, b)),
];

/** Instructions after which sizes matter. */
const OTHERS: readonly Instruction[] = [
  ({ selections, seen }, a) => void (selections.length > 0 && seen.push(at(selections, a).s.numel())),
  ({ selections, results }, a) => void (selections.length > 0 && results.push(at(selections, a).s)),
  ({ selections, results }, a) => void (selections.length > 0 && results.push(at(selections, a).s.sum())),
  ({ seen, tensors }, a) => void seen.push(at(tensors, a).detach().at(0, 0).item()),
  ({ selections, masks }, a, b) => {
    if (selections.length > 0) selections.push({ by: at(masks, b), s: at(selections, a).s });
  },
  (state, a, b) => noGrad(() => apply(state, a, at(UNARY, b))),
  (state, a) => {
    const { by } = state.selections[a % state.selections.length] ?? {};
    if (by && by.ndim === 2) apply(state, a, (s) => s.cumsum(0));
  },
];

type Run = (x: Tensor, y: Tensor, seen: number[]) => readonly Tensor[];

function interpret(steps: readonly Step[], instructions: readonly Instruction[]): Run {
  return (x, y, seen) => {
    const state: State = { tensors: [x, y], masks: [y.gt(0)], selections: [], results: [], seen };
    for (const { kind, a, b, n } of steps) at(instructions, kind)(state, a, b, n);
    return [...state.tensors, ...state.results];
  };
}

const shown = (value: Tensor): unknown => [value.dtype, value.requiresGrad, value.detach().tolist()];

/** Runs a call: its results or its error, its effects, its arguments afterwards, and gradients. */
function observe(run: Run, given: readonly Tensor[], recording: boolean): readonly unknown[] {
  const leaves = given.map((each) => recording ? clone(each).requiresGrad_() : clone(each));
  const [x, y] = leaves.map((leaf) => recording ? leaf.mul(1) : leaf),
    seen: number[] = [],
    found: unknown[] = [];
  assert(x && y);
  try {
    const results = run(x, y, seen);
    found.push(results.map(shown));
    const losses = results.filter((each) => each.requiresGrad && each.numel() > 0).map((each) => each.sum());
    const [loss, ...others] = losses;
    if (loss) others.reduce((sum, each) => sum.add(each), loss).backward();
    found.push(leaves.map(({ grad }) => isTensor(grad) && grad.tolist()));
  } catch (error) {
    found.push(error instanceof Error ? error.name : String(error));
  }
  return [...found, seen, shown(x), shown(y)];
}

/** Gradients of one value that come from several are added in the order of graphs, which rounds differently. */
function near(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((each, k) => near(each, b[k]));
  }
  if (typeof a !== "number" || typeof b !== "number") return a === b;
  return a === b || (Number.isNaN(a) && Number.isNaN(b)) ||
    Math.abs(a - b) <= 1e-12 * Math.max(1, Math.abs(b));
}

const INPUTS: readonly (readonly Tensor[])[] = [
  [[[0.5, -1, 2], [0.25, 0, -0.5]], [[1, 2, -3], [-1, -2, 0.75]]],
  [[[-0.5, 1, 2], [1, 0, 1]], [[-1, -2, 0], [-1, -2, -0.75]]],
  [[[0.5, 1, 2], [0.25, 3, 0.5]], [[1, 2, 3], [1, 2, 1]]],
].map((pair) => pair.map((values) => tensor(values, { dtype: "float64" })));

for (let program = 0; program < (TAKES_ALL ? 400 : 12); program++) {
  const seed = testSeed() + program;
  Deno.test(`a random program of selections by masks: ${program}`, () => {
    const random = randomNumbers(seed);
    for (let i = 0; i < 8; i++) random();
    const draw = (below: number) => Math.floor(random() * below);
    const writes = random() < 0.4, isPlain = random() < 0.4;
    const instructions = [...PLAIN, ...PLAIN, ...writes ? IN_PLACE : [], ...isPlain ? [] : OTHERS];
    const steps = Array.from({ length: 4 + draw(12) }, (): Step => ({
      kind: draw(1000),
      a: draw(1000),
      b: draw(1000),
      n: draw(4),
    }));
    const run = interpret(steps, instructions);
    for (const backend of ["eager", "aot_eager"]) {
      // Sizes of what a break leaves differ between these calls
      const compiled = config.patch({ cacheSizeLimit: 64 }, () => compile(run, { backend }));
      for (const recording of writes ? [false] : [false, true]) {
        for (const given of INPUTS) {
          const plain = observe(run, given, recording), found = observe(compiled, given, recording);
          if (!near(found, plain)) assertEquals(found, plain, `${backend}, ${JSON.stringify(steps)}`);
        }
      }
    }
  });
}
