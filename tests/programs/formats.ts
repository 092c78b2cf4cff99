/** Programs with locale-dependent formatting. */
import { type Tensor, tensor } from "../../mod.ts";
import type { Corpus } from "../support/programs.ts";

const v = (...values: number[]): Tensor => tensor(values, { dtype: "float32" });

/** Programs without a break. */
export const formats: Corpus = {
  "numbers, plurals, names and lists"({ compile, see }) {
    const f = compile((x: Tensor) => {
      const money = new Intl.NumberFormat("de-DE", { style: "currency", currency: "EUR" });
      return [
        x.mul(money.format(1234.5).length),
        [money.format(12n), money.formatToParts(3.5), money.resolvedOptions().currency],
        [new Intl.PluralRules("en", { type: "ordinal" }).select(2), (1234.5).toLocaleString("en-IN")],
        new Intl.ListFormat("en", { type: "disjunction" }).format(["a", "b", "c"]),
        new Intl.DisplayNames(["en"], { type: "region" }).of("CH"),
        new Intl.RelativeTimeFormat("en", { numeric: "auto" }).format(-1, "day"),
        [
          new Intl.Locale("en-Latn-US").region,
          12345n.toLocaleString("en"),
          Intl.NumberFormat("en").format(0.5),
        ],
        [Intl.getCanonicalLocales("EN-us"), Intl.Collator.supportedLocalesOf(["en", "xx"])],
      ];
    });
    see(f(v(1)), f(v(2)));
  },
  "order and case"({ compile, see }) {
    const base = new Intl.Collator("en", { sensitivity: "base" });
    const f = compile((x: Tensor, words: string[]) => {
      const sorted = words.toSorted(new Intl.Collator("sv").compare);
      return [
        x.mul(sorted.length),
        sorted,
        words.toSorted(base.compare),
        "a".localeCompare("B", ["en"], { sensitivity: "base" }),
        "İ".toLocaleLowerCase("tr"),
      ];
    });
    see(f(v(1), ["z", "ä", "A", "b"]), f(v(2), ["z", "ä", "A", "b"]));
  },
  "dates in a stated zone"({ compile, see }) {
    const options = { timeZone: "Asia/Tokyo", dateStyle: "short", timeStyle: "long" } as const;
    const kept = new Intl.DateTimeFormat("en-GB", options);
    const f = compile((x: Tensor) => {
      const date = new Date(86_400_000 * 365);
      return [x.add(1), kept.format(date), kept.formatRange(0, date), date.toLocaleString("ja", options)];
    });
    see(f(v(1)), f(v(2)));
  },
  "formatters that leave the function"({ compile, see }) {
    const f = compile((x: Tensor) => {
      const digits = { maximumFractionDigits: 1 };
      const made = new Intl.NumberFormat("en", digits);
      digits.maximumFractionDigits = 3;
      return { y: x.mul(made.format(0.25).length), made, digits };
    });
    const first = f(v(1)), second = f(v(1));
    see(first.y, first.made === second.made, first.made.format(0.123), second.digits);
    see(first.made instanceof Intl.NumberFormat, String(first.made));
  },
  "a formatter that is passed in"({ compile, see }) {
    const f = compile((x: Tensor, format: Intl.NumberFormat) => x.mul(Number(format.format(2.345))));
    const made = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
    see(f(v(1), made), f(v(2), made));
  },
  "words and letters of texts"({ compile, see }) {
    const words = new Intl.Segmenter("en", { granularity: "word" }), counts = new Map<string, number>();
    const f = compile((x: Tensor, text: string) => {
      let y = x;
      for (const { segment, index, isWordLike } of words.segment(text)) {
        if (!isWordLike) continue;
        counts.set(segment, (counts.get(segment) ?? 0) + 1);
        y = y.mul(2).add(index);
      }
      const letters = [...new Intl.Segmenter("de").segment(text)].map((each) => each.segment);
      return [y, letters.reverse().join(""), new Intl.Segmenter("en").resolvedOptions(), counts.size];
    });
    for (const text of ["one two, one", "e\u0301a 👩‍👩‍👧!", ""]) see(f(v(1), text), f(v(2), text), counts);
    const parts = compile((x: Tensor, at: number) => {
      const segments = words.segment("to be or not"), all = segments[Symbol.iterator]();
      const [first, second] = [all.next(), all.next()];
      const kinds = [Object.prototype.toString.call(all), all[Symbol.iterator]() === all, typeof all.next];
      return [
        x.mul(at),
        segments.containing(at),
        segments.containing(90),
        first,
        second,
        kinds,
        [...all].length,
      ];
    });
    see(parts(v(1), 4), parts(v(1), 4), parts(v(1), 7));
  },
};

/** Programs that may break: what is asked is not known, or leaves the function. */
export const brokenFormats: Corpus = {
  "other formatters in each call"({ compile, see }) {
    const f = compile((x: Tensor, format: Intl.NumberFormat) => x.mul(Number(format.format(2.345))));
    for (const maximumFractionDigits of [0, 1, 2]) {
      see(f(v(1), new Intl.NumberFormat("en", { maximumFractionDigits })));
    }
  },
  "functions of formatters that leave"({ compile, see }) {
    const f = compile((x: Tensor) => ({ y: x.add(1), format: new Intl.NumberFormat("en").format }));
    const first = f(v(1)), second = f(v(1));
    see(first.y, first.format(1234.5), first.format === second.format);
  },
  "segments that leave the graph, or whose loop breaks it"({ compile, see, attempt }) {
    const words = new Intl.Segmenter("en", { granularity: "word" }), counts = new Map([["one", 2]]);
    const given = compile((x: Tensor) => {
      const iterator = words.segment("c")[Symbol.iterator]();
      return [x.add(1), words.segment("a b"), iterator];
    });
    const [, segments, iterator] = given(v(1)) as [Tensor, Intl.Segments, Iterator<Intl.SegmentData>];
    see([...segments], iterator.next(), `${segments}`, `${iterator}`);
    const tokens = compile((x: Tensor, run: () => number) => {
      const found: string[] = [];
      for (const { segment } of words.segment("a b c")) {
        found.push(segment);
        x = x.mul(run());
      }
      return [x, found];
    });
    attempt(() => tokens(v(2), () => counts.size));
    attempt(() => tokens(v(2), () => [].length === 0 ? counts.get("one") ?? 3 : 4));
    attempt(() =>
      tokens(v(2), () => {
        throw new Error("none");
      })
    );
  },
  "what the formatters refuse"({ compile, attempt }) {
    const uses: ((x: Tensor) => unknown)[] = [
      (x) => [x.add(1), new Intl.NumberFormat("no locale at all")],
      (x) => [x.add(1), new Intl.NumberFormat("en", { style: "currency" }).format(1)],
      (x) => [x.add(1), new Intl.DateTimeFormat("en").format(NaN)],
      (x) => [x.add(1), Reflect.apply(Intl.PluralRules.prototype.select, {}, [1])],
      (x) => [x.add(1), new Intl.Segmenter("en", { granularity: "letter" as "word" })],
      (x) => [x.add(1), new Intl.Segmenter("en").segment(Symbol.iterator as unknown as string)],
      (x) => [x.add(1), new Intl.Segmenter("en").segment("ab").containing(1n as unknown as number)],
      (x) => [x.add(1), new Intl.NumberFormat("en").format(x.sum().item())],
    ];
    for (const use of uses) {
      const f = compile(use);
      for (let i = 0; i < 2; i++) attempt(() => f(v(i)));
    }
  },
  "options with getters, and methods that are replaced"({ compile, see }) {
    let reads = 0;
    const options = {
      get maximumFractionDigits() {
        return reads++;
      },
    };
    const f = compile((x: Tensor) => x.mul(Number(new Intl.NumberFormat("en", options).format(2.345))));
    see(f(v(1)), f(v(1)), reads);
    const own = Object.assign(new Intl.PluralRules("en"), { select: (): string => "mine" });
    const g = compile((x: Tensor) => [x.add(1), own.select(1)]);
    see(g(v(1)));
    own.select = () => "other";
    see(g(v(1)));
  },
};
