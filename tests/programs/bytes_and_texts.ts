/** Programs that sort and convert typed arrays, bytes, 64-bit integers and texts. */
import { type Tensor, tensor } from "../../mod.ts";
import type { Corpus } from "../support/programs.ts";

const v = (...values: number[]): Tensor => tensor(values, { dtype: "float32" });

/** Methods of newer engines, whose types TypeScript does not know. */
interface Newer {
  readonly insert: <K, V>(map: Map<K, V>, key: K, value: V) => V;
  readonly insertBy: <K, V>(map: Map<K, V>, key: K, make: (key: K) => V) => V;
  readonly isError: (value: unknown) => boolean;
  readonly escape: (text: string) => string;
}
const method = (owner: object, name: string) => Reflect.get(owner, name);
const newer: Newer = {
  insert: (map, key, value) => method(map, "getOrInsert").call(map, key, value),
  insertBy: (map, key, make) => method(map, "getOrInsertComputed").call(map, key, make),
  isError: (value) => method(Error, "isError").call(Error, value),
  escape: (text) => method(RegExp, "escape").call(RegExp, text),
};

export const bytesAndTexts: Corpus = {
  "typed arrays that are sorted, also by a comparator that contradicts itself"({ compile, see }) {
    const sorter = (length: number, seed: number) => (x: Tensor) => {
      const asked: number[] = [];
      let state = seed;
      const numbers = Float64Array.from({ length }, (_, i) => (i * 7919 + seed) % 101);
      const mixed = numbers.toSorted((a, b) => {
        asked.push(a, b);
        state = (state * 31 + 7) % 997;
        return state % 3 ? a - b : NaN;
      });
      const copy = numbers.slice(), same = copy.sort((a, b) => asked.push(b, a) && (a % 10) - (b % 10));
      return [x.mul(mixed[0] ?? 1), asked, mixed, numbers, copy, same === copy];
    };
    for (const [length, seed] of [[17, 9], [5, 1], [2, 3], [1, 1], [0, 1]] as const) {
      see(compile(sorter(length, seed))(v(1)));
    }
    const g = compile((x: Tensor) => {
      const numbers = Float64Array.of(3, 1, 2, NaN, -0, 0);
      return [x, numbers.toSorted(), numbers.slice().sort(), Uint8Array.of(10, 9).sort(), numbers];
    });
    see(g(v(1)), g(v(2)));
  },
  "typed arrays that are filtered, replaced in, and made of what is listed"({ compile, see }) {
    const f = compile((x: Tensor, given: Float32Array) => {
      const numbers = Float64Array.of(3, 1, 2, -0), counts: number[] = [];
      function* some() {
        yield 1;
        yield 300;
      }
      const mapped = Int16Array.from(
        some(),
        function (this: { k: number }, n, ...rest) {
          counts.push(rest.length);
          return n + this.k;
        },
        { k: 2 },
      );
      return [
        [x.mul(2), numbers.filter((n) => n > 1), given.filter((_, i) => i % 2 === 0), numbers.with(-1, 9)],
        [given.with(0, 4), mapped, counts, Uint8Array.from("12", Number), Uint8Array.from(new Set([1, 2]))],
        [new Uint8Array(some()), new Int8Array(new Set([3]).values()), new Float32Array({ length: 2, 0: 5 })],
        Int32Array.from({ length: 3 }, (_, i) => i),
      ];
    });
    see(f(v(1), new Float32Array([1, 2, 3])), f(v(2), new Float32Array([4, 5, 6])));
  },
  "64-bit integers of a DataView"({ compile, see }) {
    const f = compile((x: Tensor, given: DataView) => {
      const view = new DataView(new ArrayBuffer(24));
      view.setBigInt64(0, -5n);
      view.setBigUint64(8, 2n ** 63n + 3n, true);
      given.setBigInt64(8, 12345678901234567890n);
      const read = [view.getBigInt64(0), view.getBigUint64(0), view.getBigInt64(8, true)];
      return [x.mul(Number(read[0])), read, view.getBigUint64(8, true), view.getBigUint64(16), given];
    });
    const given = new DataView(new ArrayBuffer(16));
    see(f(v(1), given), f(v(2), given));
  },
  "texts as bytes and back"({ compile, see }) {
    const f = compile((x: Tensor, text: string) => {
      const encoder = new TextEncoder(), decoder = new TextDecoder("utf-8", { fatal: true });
      const bytes = encoder.encode(text), bom = Uint8Array.of(0xef, 0xbb, 0xbf, 65);
      const texts = [
        new TextDecoder().decode(bom),
        new TextDecoder("utf-8", { ignoreBOM: true }).decode(bom),
        new TextDecoder("latin1").decode(Uint8Array.of(0xe9)),
        new TextDecoder().decode(Uint8Array.of(0xff, 65)),
      ];
      try {
        decoder.decode(Uint8Array.of(0xff));
      } catch (error) {
        texts.push((error as Error).name);
      }
      const data = [
        bytes.toBase64(),
        bytes.toHex(),
        Uint8Array.fromBase64("AQID"),
        Uint8Array.fromHex("ff00"),
      ];
      return {
        y: x.mul(tensor([...bytes]).sum()),
        texts,
        data,
        encoder,
        decoder,
        back: decoder.decode(bytes),
      };
    });
    for (const text of ["hé", "a", "hé"]) {
      const { encoder, decoder, ...rest } = f(v(1), text);
      see(rest, decoder.fatal, decoder.decode(encoder.encode(text)));
    }
  },
  "keys inserted where they are missing, what is an error, and escapes"({ compile, see }) {
    const f = compile((x: Tensor, groups: Map<string, Tensor[]>) => {
      const seen: unknown[] = [], map = new Map<unknown, number>([["z", 1]]);
      newer.insertBy(groups, "k", () => []).push(x);
      const make = (key: unknown) => seen.push(key, Object.is(key, 0));
      const inserted = ["a", "z", -0, "a"].map((key) => newer.insertBy(map, key, make));
      const errors = [new RangeError("a"), { __proto__: Error.prototype }, 1, undefined].map(newer.isError);
      return [x.mul(newer.insert(map, "y", 3)), newer.insert(map, "z", 5), inserted, [...map], seen, errors];
    });
    const groups = new Map<string, Tensor[]>();
    see(f(v(1), groups), f(v(2), groups), groups, newer.escape("a.b"));
  },
  "why a signal was aborted"({ compile, see }) {
    const f = compile((x: Tensor, { aborted, reason }: AbortSignal) => [
      x.mul(2),
      aborted && [reason.name, reason.message, reason.code],
    ]);
    see(f(v(1), AbortSignal.abort()), f(v(2), AbortSignal.abort()));
  },
};
