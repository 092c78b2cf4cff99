/**
 * Random tensor programs, as an arbitrary whose values shrink by shrink.ts. Invariant: one seed produces one program,
 * wherever it runs.
 */
import fc from "fast-check";
import { type DType, isFloat, REAL_DTYPES } from "../../../lib/base/dtype.ts";
import { Choices } from "../choices.ts";
import { type Feature, FEATURES } from "./features.ts";
import { Draft, use, type Variable } from "./draft.ts";
import type { Arg, Call, OptimizerSpec, Program } from "./program.ts";
import { variable } from "./program.ts";
import { shrinkProgram } from "./shrink.ts";
import { addStatement, addTrainingStep, addUseOf } from "./statements.ts";
import { addSourceView } from "./view_calls.ts";

/** Limits on the programs. */
export interface GenerateOptions {
  /** Element types of new data; default: all. */
  readonly dtypes?: readonly DType[];
  /** Default: all. */
  readonly features?: readonly Feature[];
  /** Whether data may be subnormal; default: true. */
  readonly subnormals?: boolean;
  /** Maximum number of statements drawn for the body. */
  readonly statements?: number;
}

/** Adds a tensor parameter: a new one, or one related to another parameter. */
function addInput(draft: Draft): void {
  const { choices } = draft;
  const known = choices.pickAny(draft.sources);
  const how = known
    ? choices.weighted([[5, "new"], [3, "alike"], [3, "view"], [1, "again"]] as const)
    : "new";
  if (known && how === "again") {
    draft.param(known);
    return;
  }
  if (known && how === "view") {
    const view = addSourceView(draft, known);
    if (view) draft.param(view);
    return;
  }
  const dtype = known && how === "alike" ? known.meta.dtype : draft.dtype();
  const shape = known && how === "alike" ? known.meta.shape : draft.shape();
  const grad = isFloat(dtype) && choices.chance(0.45);
  if (choices.chance(0.12)) {
    draft.captured({ shape, dtype, grad });
    return;
  }
  const made = draft.source({ shape, dtype, grad });
  draft.param(grad && choices.chance(0.2) ? withHistory(draft, made) : made);
}

/** The tensor times one: equal, but not a leaf, so that it may be written. */
function withHistory(draft: Draft, v: Variable): Variable {
  const name = draft.fresh("x");
  const made = { ...v, name, leaf: false };
  draft.derivedSource({ kind: "call", bind: name, style: "method", name: "mul", args: [use(v), 1] }, made);
  return made;
}

const OPTIMIZERS: readonly Omit<OptimizerSpec, "params">[] = [
  { name: "SGD", options: { lr: 0.1 } },
  { name: "SGD", options: { lr: 0.1, momentum: 0.9 } },
  { name: "SGD", options: { lr: 0.05, momentum: 0.5, nesterov: true, weightDecay: 0.1 } },
  { name: "Adam", options: { lr: 0.05 } },
  { name: "AdamW", options: { lr: 0.05, weightDecay: 0.1 } },
  { name: "RMSprop", options: { lr: 0.02, momentum: 0.5 } },
  { name: "Adagrad", options: { lr: 0.1 } },
];

function addOptimizer(draft: Draft): void {
  const { choices } = draft;
  const params = Array.from(
    { length: choices.between(1, 2) },
    () => draft.captured({ shape: draft.shape(), dtype: "float32", grad: true }),
  );
  draft.optimizer = { ...choices.pick(OPTIMIZERS), params: params.map(({ name }) => name) };
  for (const param of params) addUseOf(draft, param);
}

/** Chooses the results of the function. */
function chooseResults(draft: Draft): readonly Arg[] {
  const { choices } = draft;
  const results: Arg[] = [];
  // Return unread values too: otherwise nothing would observe them
  const unread = new Set(draft.unread);
  for (let k = choices.between(1, 4); k > 0; k--) {
    const v = choices.chance(0.6) ? draft.pick(({ name }) => unread.has(name)) ?? draft.pick() : draft.pick();
    if (v) results.push(use(v));
  }
  const unsized = choices.pickAny(draft.unsized);
  if (unsized !== undefined && choices.chance(0.8)) results.push(variable(unsized));
  const number = choices.pickAny(draft.numbers);
  if (number && choices.chance(0.3)) results.push(variable(number.name));
  return results;
}

const mode = (choices: Choices): Call["mode"] =>
  choices.weighted([[76, "grad"], [12, "watched"], [8, "noGrad"], [4, "inference"]] as const);

/** Sizes in later calls, by frequency. */
const CHANGED_SIZES = [[2, 0], [4, 1], [4, 2], [4, 3], [4, 5], [3, 7], [2, 9], [3, 17]] as const;

/** The calls: one, then with other elements, then with other sizes or other tensors. */
function chooseCalls(draft: Draft): readonly Call[] {
  const { choices, sizes, args } = draft;
  const calls: Call[] = [{ sizes, shift: 0, args, mode: mode(choices) }];
  const changedSizes = () => {
    const changed = sizes.map((size) => choices.chance(0.5) ? size : choices.weighted(CHANGED_SIZES));
    return draft.holds(changed) ? changed : sizes;
  };
  const changedArgs = () =>
    args.map((arg, k) => {
      if (typeof arg === "number") {
        return choices.chance(0.5) ? arg : choices.pick([0, 1, 2, -1, 0.5, 2.5, 7]);
      }
      if (!draft.has("dynamic") || !choices.chance(0.08)) return arg;
      const own = draft.sources.find(({ name }) => name === arg);
      const others = draft.sources.filter(({ meta }) =>
        meta.dtype === own?.meta.dtype && meta.shape.length === own.meta.shape.length
      );
      return choices.pickAny(others)?.name ?? args[k] ?? arg;
    });
  const more = choices.weighted([[3, 0], [4, 1], [5, 2]]);
  for (let k = 1; k <= more; k++) {
    const isChanged = choices.chance(k === 1 ? 0.5 : 0.8) && draft.has("dynamic");
    calls.push({
      sizes: isChanged ? changedSizes() : sizes,
      shift: k,
      args: changedArgs(),
      mode: choices.chance(0.9) ? calls[0]?.mode ?? "grad" : mode(choices),
    });
  }
  return calls;
}

/** A random program. */
export function generateProgram(choices: Choices, options: GenerateOptions = {}): Program {
  const draft = new Draft(choices, {
    dtypes: options.dtypes ?? REAL_DTYPES,
    features: options.features ?? FEATURES,
    subnormals: options.subnormals ?? true,
  });
  const inputs = choices.between(1, 3);
  for (let k = 0; k < inputs; k++) addInput(draft);
  if (choices.chance(0.2)) draft.numberParam(choices.pick([2, 3, 0.5, 1.5, -1]));
  if (draft.has("optimizer") && choices.chance(0.12)) addOptimizer(draft);
  const most = options.statements ?? 8;
  for (let left = choices.between(1, most); left > 0; left--) addStatement(draft);
  if (draft.optimizer) addTrainingStep(draft);
  const results = chooseResults(draft);
  return draft.finish(results, chooseCalls(draft), choices.weighted([[8, null], [1, true], [1, false]]));
}

class Programs extends fc.Arbitrary<Program> {
  readonly #options: GenerateOptions;

  constructor(options: GenerateOptions) {
    super();
    this.#options = options;
  }

  override generate(source: fc.Random): fc.Value<Program> {
    return new fc.Value(generateProgram(new Choices(source), this.#options), undefined);
  }

  override canShrinkWithoutContext(_value: unknown): _value is Program {
    return false;
  }

  override shrink(program: Program): fc.Stream<fc.Value<Program>> {
    return fc.stream(shrinkProgram(program)).map((smaller) => new fc.Value(smaller, undefined));
  }
}

/** Random programs as an arbitrary of fast-check. */
export function programs(options: GenerateOptions = {}): fc.Arbitrary<Program> {
  return new Programs(options);
}
