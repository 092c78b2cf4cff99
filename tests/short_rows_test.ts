/**
 * Random programs over matrices with short rows, in C++ and in WebAssembly: integers of 8 bytes, casts between all
 * widths, shifts, views as other types, rows read backwards or from another place, and selections and writes by row or
 * column. Compilers put copies of such loops in the loop around them and vectorise those. The oracle is WebAssembly,
 * whose printer does its own vectorisation; the seed of a run makes the programs.
 */
import { assert, assertEquals } from "@std/assert";
import { cat, compile, type DType, Tensor, tensor, where } from "../mod.ts";
import { SKIP_NATIVE } from "./support/native.ts";
import { randomNumbers, TAKES_ALL, testSeed } from "./support/sampling.ts";

const TYPES = ["float64", "int64", "float64", "int64", "int32", "float32", "int16", "int8", "uint8"] as const;
const WIDTHS = [2, 3, 4, 8, 8, 8, 16, 16, 20] as const;

/** Programs in one graph: each has its own operands, and the compiler runs once for all of them. */
const IN_GRAPH = 12;
const GRAPHS = TAKES_ALL ? 20 : 1;

type Condition = (x: Tensor) => Tensor;
/** The next value, and further results. */
type Step = (values: readonly Tensor[]) => readonly [Tensor, ...Tensor[]];
type Form = readonly [text: string, step: (values: readonly Tensor[]) => Tensor | ReturnType<Step>];

/** A program: what it does to a matrix, and its text. */
interface Generated {
  readonly operand: Tensor;
  readonly run: (operand: Tensor) => readonly Tensor[];
  readonly text: string;
}

class Maker {
  readonly #random: () => number;
  readonly #texts: string[] = [];

  constructor(seed: number) {
    this.#random = randomNumbers(seed);
    for (let i = 0; i < 8; i++) this.#random();
  }

  #below(n: number): number {
    return Math.floor(this.#random() * n);
  }

  #one<T>(items: readonly T[]): T {
    const found = items[this.#below(items.length)];
    assert(found !== undefined);
    return found;
  }

  program(): Generated {
    this.#texts.length = 0;
    const shape = [this.#one([3, 6, 7, 16, 33]), this.#one(WIDTHS)] as const, dtype = this.#one(TYPES);
    const length = shape[0] * shape[1], first = this.#below(100);
    const numbers = Array.from({ length }, (_, k) => (first + k * 37) % 120);
    const operand = tensor(numbers, { dtype }).view([...shape]);
    const steps = Array.from({ length: 2 + this.#below(5) }, (_, k) => this.#step(k + 1, shape));
    const text = `${dtype} [${shape}]: ${this.#texts.join("; ")}`;
    const run = (x: Tensor): readonly Tensor[] => {
      const values = [x], results: Tensor[] = [];
      for (const step of steps) {
        const [next, ...further] = step(values);
        values.push(next);
        results.push(next, ...further);
      }
      return results;
    };
    return { operand, run, text };
  }

  /** One of the values, more often a recent one. */
  #value(count: number): number {
    return this.#random() < 0.6 ? count - 1 : this.#below(count);
  }

  #step(count: number, [rows, width]: readonly [number, number]): Step {
    const i = this.#value(count),
      j = this.#value(count),
      at = this.#below(2),
      amount = this.#one([0, 1, 8, 32]);
    const type = this.#one(TYPES), number = 3 + this.#below(3), [named, holds] = this.#condition(rows, width);
    const wide = this.#one(["float64", "int64"] as const),
      half = this.#one(["int32", "float32", "int16"] as const);
    const take = (k: number, values: readonly Tensor[]): Tensor => values[k] ?? values[0] ?? tensor(0);
    const forms: readonly Form[] = [
      [`to ${type} of ${i}`, (v) => take(i, v).to(type)],
      [`flip ${at} of ${i}`, (v) => take(i, v).flip(at)],
      [`roll ${at} of ${i}`, (v) => take(i, v).roll(1, at)],
      [`${i} + ${j}`, (v) => take(i, v).add(take(j, v))],
      [`${i} << ${amount}`, (v) => take(i, v).to("int64").bitwiseLeftShift(amount)],
      [`${i} >> ${amount}`, (v) => take(i, v).to("int64").bitwiseRightShift(amount).to("int32")],
      [`where ${named}, ${i}, ${j}`, (v) => where(holds(take(i, v)), take(i, v), take(j, v))],
      [`where ${named}, ${number}, ${i}`, (v) => where(holds(take(j, v)), number, take(i, v))],
      [`fill ${at} of ${i}`, (v) => write(take(i, v), at, number)],
      [
        `rows of ${i} and ${j}`,
        (v) => cat([take(i, v).narrow(0, 0, 2), take(j, v).narrow(0, 2, rows - 2)], 0),
      ],
      [`halves ${half} of ${wide} of ${i}, flipped ${at}, filled`, (v) => halves(take(i, v), wide, half, at)],
      [`pair of ${i}, flipped, filled by ${number}`, (v) => pair(take(i, v), number)],
    ];
    const narrow = half === "int16" ? "int32" : half;
    const more: readonly Form[] = width % 2 > 0 ? [] : [
      [`${narrow} of ${i}, as ${wide}, filled by ${number}`, (v) => joined(take(i, v), wide, narrow, number)],
    ];
    const [text, step] = this.#one([...forms, ...more, ...more, ...more]);
    this.#texts.push(`${count} = ${text}`);
    return (values) => {
      const found = step(values);
      return found instanceof Tensor ? [found] : found;
    };
  }

  #condition(rows: number, width: number): readonly [string, Condition] {
    const at = this.#below(2), place = this.#one([0, 0, 1, 2]), size = at === 0 ? rows : width;
    const places = tensor(Array.from({ length: size }, (_, k) => k), { dtype: "int64" });
    const along = at === 0 ? places.unsqueeze(1) : places;
    return this.#one<readonly [string, Condition]>([
      [`place ${at} is ${place}`, () => along.eq(place)],
      [`place ${at} is even`, () => along.bitwiseAnd(1).eq(0)],
      [`greater than ${place * 20}`, (x) => x.gt(place * 20)],
      [`row begins above 50`, (x) => x.narrow(1, 0, 1).gt(50)],
    ]);
  }
}

function write(x: Tensor, dim: number, number: number): Tensor {
  const y = x.clone();
  y.select(dim, 0).fill_(number);
  return y;
}

/** Elements as narrower ones, in another order and written to, as the wider ones again. */
function halves(x: Tensor, wide: DType, half: DType, dim: number): Tensor {
  const y = x.to(wide).view(half).flip(dim).clone();
  y.select(0, 0).fill_(3);
  return y.view(wide);
}

/** Both halves of an integer, read backwards, written to and joined. */
function pair(x: Tensor, number: number): Tensor {
  const y = x.to("int64").flip(-1), z = write(y, 0, number);
  const low = write(y.to("int32"), 0, 5), high = write(y.bitwiseRightShift(32).to("int32"), 0, 5);
  return z.bitwiseXor(
    low.to("int64").bitwiseAnd(0xffffffff).bitwiseOr(high.to("int64").bitwiseLeftShift(32)),
  );
}

/** Elements joined in pairs, backwards: written to as pairs and, apart from that, as elements. */
function joined(x: Tensor, wide: DType, half: DType, number: number): ReturnType<Step> {
  const y = x.to(half).view(wide).flip(-1), whole = write(y, 0, number);
  return [whole.view(half), write(y.view(half), 0, 5).view(wide), whole];
}

const bytes = (x: Tensor): unknown => [x.dtype, x.shape, x.contiguous().view("uint8").tolist()];

Deno.test({
  name: "random programs over short rows give the same bits in C++ and in WebAssembly",
  ignore: SKIP_NATIVE,
  fn() {
    for (let k = 0; k < GRAPHS; k++) {
      const seed = testSeed() + k, maker = new Maker(seed);
      const programs = Array.from({ length: IN_GRAPH }, () => maker.program());
      const all = (...operands: readonly Tensor[]) =>
        programs.map(({ run }, p) => run(operands[p] ?? tensor(0)));
      const [inC, inWasm] = (["wait", "wasm"] as const).map((tier) =>
        compile(all, { fullgraph: true, dynamic: false, options: { tier } })(
          ...programs.map((p) => p.operand),
        )
      );
      programs.forEach(({ text }, p) => {
        assertEquals(inC?.[p]?.map(bytes), inWasm?.[p]?.map(bytes), `seed ${seed}, ${text}`);
      });
    }
  },
});
