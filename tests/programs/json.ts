/** Programs that write and read JSON with custom code. */
import { type Tensor, tensor } from "../../mod.ts";
import type { Corpus } from "../support/programs.ts";

const v = (...values: number[]): Tensor => tensor(values, { dtype: "float32" });

class Layer {
  constructor(public size: number, private secret = 1) {}
  toJSON(key: string) {
    return { key, size: this.size, note: undefined };
  }
}

/** Programs without a break. */
export const json: Corpus = {
  "replacers, lists of names, and indents"({ compile, see }) {
    const settings = {
      rate: 0.1,
      secret: "key",
      nested: { secret: 1, map: new Map([["a", 1]]), list: [undefined, () => 1, Symbol.iterator, NaN, -0] },
      text: 'a"\n\u2028\ud800',
    };
    const f = compile((x: Tensor) => {
      const calls: unknown[] = [];
      const text = JSON.stringify(settings, function (key, value) {
        calls.push([key, this === settings, typeof value]);
        return key === "secret" ? undefined : value instanceof Map ? [...value] : value;
      }, 2);
      return [
        x.mul(settings.rate),
        text,
        calls,
        JSON.stringify(settings, ["rate", "nested", "secret", "rate", 1 as never], "--"),
        JSON.stringify({ a: [], b: {}, c: [{}] }, null, 20),
        JSON.stringify([1, [2]], (_, value) => typeof value === "number" ? value + 1 : value, "\t"),
        JSON.stringify(undefined, () => "instead"),
        JSON.stringify("text", () => undefined),
      ];
    });
    see(f(v(1)), f(v(2)));
  },
  "objects that say what is written of them"({ compile, see }) {
    const layers = [new Layer(1), new Layer(2)], made = new Date(5e11);
    const f = compile((x: Tensor) => [
      x.add(1),
      JSON.stringify({ layers, last: new Layer(3), made, now: new Date(7), none: new Date(NaN) }),
      JSON.stringify({
        get read() {
          return { again: 1 };
        },
      }),
      JSON.stringify({ toJSON: () => undefined }) ?? "nothing",
    ]);
    see(f(v(1)), f(v(2)));
  },
  "revivers"({ compile, see }) {
    const text = '{"rate":"0.5","layers":[1,{"size":2},null],"skip":true,"when":"2020-01-01T00:00:00.000Z"}';
    const f = compile((x: Tensor) => {
      const seen: unknown[] = [];
      const config = JSON.parse(text, function (key, value) {
        seen.push(key, Array.isArray(this));
        if (key === "rate") return Number(value);
        if (key === "when") return new Date(value).getTime();
        return key === "skip" ? undefined : value;
      });
      const sources: unknown[] = [];
      type Reader = (key: string, value: unknown, context: { source?: string }) => unknown;
      const read: Reader = (key, value, { source }) => (sources.push([key, source]), value);
      const numbers = JSON.parse('[1.50, {"0": "a"}, 1e2]', read as (key: string, value: unknown) => unknown);
      return [x.mul(config.rate), config, seen, numbers, sources];
    });
    see(f(v(1)), f(v(2)));
  },
};

/** Programs that break, or throw. */
export const brokenJson: Corpus = {
  "what cannot be written, and code that breaks the graph"({ compile, attempt }) {
    const f = compile((x: Tensor, which: number) => {
      const circle: Record<string, unknown> = { a: { b: [1] } };
      (circle["a"] as Record<string, unknown>)["back"] = circle;
      const uses = [
        () => JSON.stringify({ n: 1n }),
        () => JSON.stringify(circle),
        () => JSON.stringify(circle, (_, value) => value),
        () => JSON.stringify({ loss: x.sum().item() }, (_, value) => value),
        () => JSON.stringify({ boxed: [Object(1), Object("a"), Object(true)] }, null, 1),
        () => JSON.stringify([1, 2], (_, value) => (console.debug("written"), value)),
        () => JSON.parse("[1, 2]", (_, value) => (console.debug("read"), value)),
      ];
      return [x.mul(2), uses[which]?.()];
    });
    for (let i = 0; i < 7; i++) attempt(() => f(v(1), i));
  },
};
