/** Programs that catch errors of the engine inside their graph. */
import { type Tensor, tensor } from "../../mod.ts";
import type { Corpus } from "../support/programs.ts";

const v = (...values: number[]): Tensor => tensor(values, { dtype: "float32" });

/** The class and the words of what is thrown. */
function caught(run: () => unknown): unknown {
  try {
    return ["no error", run()];
  } catch (error) {
    return error instanceof Error
      ? [error.name, error.message, error.constructor.name, Object.keys(error)]
      : error;
  }
}

type Loose = Record<PropertyKey, never>;

class Sized {
  static readonly limit = 3;
  get size() {
    return 2;
  }
}

/** Programs without a break. */
export const engineErrors: Corpus = {
  "writes that objects refuse"({ compile, see }) {
    const settings = Object.freeze({ rate: 1, sizes: Object.freeze([1, 2]) }) as unknown as Loose;
    const sealed = Object.seal({ a: 1 }) as unknown as Loose;
    const fixed = Object.defineProperty({}, "k", { value: 3 }) as Loose;
    const heir = Object.create(fixed) as Loose;
    const sized = new Sized() as unknown as Loose;
    const f = compile((x: Tensor) => [
      x.mul(2),
      caught(() => settings["rate"] = 2 as never),
      caught(() => settings["more"] = 2 as never),
      caught(() => (settings["sizes"] as unknown as number[])[0] = 4),
      caught(() => (settings["sizes"] as unknown as number[]).push(4)),
      caught(() => sealed["b"] = 1 as never),
      caught(() => delete sealed["a"]),
      caught(() => fixed["k"] = 4 as never),
      caught(() => heir["k"] = 4 as never),
      caught(() => sized["size"] = 4 as never),
      caught(() => delete (Sized as unknown as Loose)["prototype"]),
      [sealed["a"], heir["k"], Object.keys(settings)],
    ]);
    see(f(v(1)), f(v(2)));
  },
  "writes that objects of the graph refuse"({ compile, see }) {
    const f = compile((x: Tensor) => {
      const frozen = Object.freeze({ a: 1 }) as unknown as Loose;
      const sealed = Object.seal({ a: 1 } as unknown as Loose);
      const sized = new Sized() as unknown as Loose;
      const kept = Object.preventExtensions({ a: 1 }) as unknown as Loose;
      const list = Object.freeze([1, 2]) as unknown as number[];
      sealed["a"] = 5 as never;
      kept["a"] = 6 as never;
      delete kept["a"];
      return [
        x.mul(2),
        caught(() => frozen["a"] = 2 as never),
        caught(() => frozen["b"] = 2 as never),
        caught(() => delete frozen["a"]),
        caught(() => sealed["b"] = 2 as never),
        caught(() => sized["size"] = 4 as never),
        caught(() => kept["a"] = 4 as never),
        caught(() => list.push(3)),
        [frozen, sealed, kept, list],
      ];
    });
    see(f(v(1)), f(v(2)));
  },
  "nothing where an object or a function is expected"({ compile, see }) {
    const config: { model?: { dim: number; layers: (() => number)[] }; none: null } = { none: null };
    const key = Symbol("key");
    const f = compile((x: Tensor, at: string) => [
      x.mul(2),
      caught(() => config.model!.dim),
      caught(() => (config.none as unknown as Loose)[at]),
      caught(() => (config.none as unknown as Loose)[key]),
      caught(() => (config.model as unknown as Loose)["dim"] = 1 as never),
      caught(() => {
        const { dim } = config.model!;
        return dim;
      }),
      caught(() => {
        const { layers: [first] } = config.none as unknown as { layers: number[] };
        return first;
      }),
      caught(() => {
        for (const each of config.none as unknown as number[]) return each;
      }),
      caught(() => {
        const [first] = config.model as unknown as number[];
        return first;
      }),
      caught(() => (([first]) => first)(5 as unknown as number[])),
      caught(() => (({ dim }) => dim)(config.none as unknown as { dim: number })),
      caught(() => {
        for (const { dim } of [config.model!]) return dim;
      }),
      caught(() => (config as unknown as { build(x: Tensor): Tensor }).build(x)),
      caught(() => new (config as unknown as { Model: new () => object }).Model()),
      caught(() => ("text" as unknown as Loose)["extra"] = 1 as never),
      caught(() => (5 as unknown as Loose)["extra"] = 1 as never),
    ]);
    see(f(v(1), "a"), f(v(2), "a"));
  },
  "what builtins refuse"({ compile, see }) {
    const f = compile((x: Tensor) => [
      x.mul(2),
      caught(() => JSON.parse("{bad")),
      caught(() => "a".repeat(-1)),
      caught(() => (1).toFixed(101)),
      caught(() => BigInt("one")),
      caught(() => (1n as unknown as number) + 1),
      caught(() => decodeURIComponent("%")),
      caught(() => new RegExp("[")),
      caught(() => new Date(NaN).toISOString()),
      caught(() => Symbol.for("a") as unknown as number * 2),
    ]);
    see(f(v(1)));
  },
  "an error that is kept, wrapped and thrown on"({ compile, see, attempt }) {
    const log: unknown[] = [];
    const config = Object.freeze({ rate: 1 }) as unknown as Loose;
    const f = compile((x: Tensor, again: boolean) => {
      const y = x.mul(2);
      try {
        config["rate"] = 2 as never;
      } catch (error) {
        log.push(String(error), error instanceof TypeError);
        if (again) throw new Error("refused", { cause: error });
      } finally {
        log.push("finally");
      }
      return y;
    });
    see(f(v(1), false), log);
    attempt(() => f(v(1), true));
    see(log);
  },
  "several errors in one"({ compile, see }) {
    const f = compile((x: Tensor) => {
      const errors = [new Error("a"), new TypeError("b", { cause: 1 })];
      try {
        throw new AggregateError(errors, "many", { cause: "them" });
      } catch (error) {
        if (!(error instanceof AggregateError)) return x;
        error.cause = x.shape;
        return [x.mul(error.errors.length), error.message, error.errors === errors, String(error), error];
      }
    });
    see(f(v(1)));
    const g = compile((x: Tensor) => {
      const fault = new Error("a", { cause: 1 });
      fault.cause = 2;
      fault.message += "b";
      const bare: { message?: string; cause?: unknown } = new Error("gone", { cause: 1 });
      delete bare.message;
      delete bare.cause;
      return [x.add(1), fault, new AggregateError(new Set([1])), new SuppressedError(1, 2, "three"), bare];
    });
    const [, fault, many, both, bare] = g(v(1)) as [Tensor, Error, AggregateError, SuppressedError, object];
    see(
      Reflect.ownKeys(bare),
      fault.cause,
      fault.message,
      many.errors,
      Object.keys(many),
      Reflect.ownKeys(both),
      both.suppressed,
    );
  },
  "an error while another one leaves a block of what is disposed of"({ compile, see }) {
    const f = compile((x: Tensor) => {
      try {
        using _ = {
          [Symbol.dispose]() {
            throw new Error("disposing");
          },
        };
        throw new Error("body");
      } catch (error) {
        const { message, error: outer, suppressed } = error as SuppressedError;
        return [x.mul(2), message, String(outer), String(suppressed), error instanceof SuppressedError];
      }
    });
    see(f(v(1)));
  },
};
