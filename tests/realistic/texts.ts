/** Programs that cut, parse and write texts. */
import { manualSeed, ones, randn, type Tensor, tensor } from "../../mod.ts";
import type { Program } from "../../cli/fuzz/language/observation.ts";

class BytePairs {
  readonly #ranks = new Map<string, number>();
  readonly #cache = new Map<string, readonly string[]>();
  constructor(merges: readonly string[]) {
    merges.forEach((pair, rank) => this.#ranks.set(pair, rank));
  }
  #best(parts: readonly string[]): number {
    let best = -1, rank = Infinity;
    for (let i = 0; i + 1 < parts.length; i++) {
      const found = this.#ranks.get(`${parts[i]} ${parts[i + 1]}`);
      if (found !== undefined && found < rank) [best, rank] = [i, found];
    }
    return best;
  }
  split(word: string): readonly string[] {
    const known = this.#cache.get(word);
    if (known) return known;
    let parts = [...word];
    for (let at = this.#best(parts); at >= 0; at = this.#best(parts)) {
      parts = [...parts.slice(0, at), parts[at]! + parts[at + 1]!, ...parts.slice(at + 2)];
    }
    this.#cache.set(word, parts);
    return parts;
  }
  get size(): number {
    return this.#cache.size;
  }
}

type Level = "debug" | "info" | "warn";

class Logger {
  static readonly order: readonly Level[] = ["debug", "info", "warn"];
  readonly lines: string[] = [];
  constructor(readonly scope: string, readonly level: Level = "info", private readonly sink: string[] = []) {}
  child(scope: string) {
    return new Logger(`${this.scope}.${scope}`, this.level, this.sink);
  }
  log(level: Level, message: string, fields: Record<string, unknown> = {}) {
    if (Logger.order.indexOf(level) < Logger.order.indexOf(this.level)) return;
    this.sink.push(JSON.stringify({ level, scope: this.scope, message, ...fields }));
  }
  get all() {
    return this.sink;
  }
}

export const programs: Readonly<Record<string, Program>> = {
  "pairs of bytes are merged and embedded"({ compile, see }) {
    manualSeed(1);
    const bpe = new BytePairs(["l o", "lo w", "e r", "n e", "ne w"]);
    const ids = new Map<string, number>();
    const weight = randn([12, 3]);
    const embed = compile((text: string) => {
      const tokens = text.split(/\s+/).flatMap((word) => bpe.split(word));
      const index = tokens.map((token) => {
        if (!ids.has(token)) ids.set(token, ids.size);
        return ids.get(token)!;
      });
      return { tokens, mean: weight.indexSelect(0, tensor(index)).mean(0) };
    });
    for (const text of ["low lower", "new newer lower", "low new"]) see(embed(text));
    see(ids.size, bpe.size);
  },
  "words are cut into the longest known pieces"({ compile, see }) {
    const vocabulary = new Map(
      ["[UNK]", "un", "##aff", "##able", "play", "##ing", "##ed"].map((w, i) => [w, i]),
    );
    const pieces = (word: string): string[] => {
      const out: string[] = [];
      let start = 0;
      outer: while (start < word.length) {
        for (let end = word.length; end > start; end--) {
          const piece = (start > 0 ? "##" : "") + word.slice(start, end);
          if (vocabulary.has(piece)) {
            out.push(piece);
            start = end;
            continue outer;
          }
        }
        return ["[UNK]"];
      }
      return out;
    };
    const encode = compile((words: readonly string[], w: Tensor) => {
      const rows = words.map((word) => pieces(word.toLowerCase()).map((p) => vocabulary.get(p)!));
      const longest = Math.max(...rows.map((r) => r.length));
      const padded = rows.map((r) => [...r, ...Array<number>(longest - r.length).fill(0)]);
      const mask = rows.map((r) => padded[0]!.map((_, k) => k < r.length ? 1 : 0));
      const x = w.indexSelect(0, tensor(padded).reshape(-1)).reshape(rows.length, longest, -1);
      const m = tensor(mask, { dtype: "float32" }).unsqueeze(-1);
      return x.mul(m).sum(1).div(m.sum(1));
    });
    manualSeed(2);
    const w = randn([7, 2]);
    see(encode(["unaffable", "Playing"], w), encode(["played", "xyz"], w), encode(["play"], w));
  },
  "lines of a log are parsed into features"({ compile, see }) {
    const pattern = /^(?<level>INFO|WARN|ERROR)\s+(?<ms>\d+)ms\s+(?<path>\/\S*)$/;
    const levels = ["INFO", "WARN", "ERROR"] as const;
    const featurise = compile((lines: readonly string[], w: Tensor) => {
      const bad: string[] = [];
      const rows = lines.flatMap((line, i) => {
        const groups = pattern.exec(line)?.groups;
        if (!groups) {
          bad.push(`${i}:${line}`);
          return [];
        }
        const { level = "", ms = "0", path = "" } = groups;
        return [[levels.findIndex((l) => l === level), Number(ms) / 1000, path.split("/").length - 1]];
      });
      return { scores: tensor(rows, { dtype: "float32" }).matmul(w), bad };
    });
    manualSeed(3);
    const w = randn([3, 1]);
    see(
      featurise(["INFO 12ms /a", "ERROR 500ms /a/b", "nonsense"], w),
      featurise(["WARN 100ms /x/y/z", "INFO 1ms /"], w),
    );
  },
  "lines of a log carry their fields"({ compile, see }) {
    const log = new Logger("train").child("step");
    let step = 0;
    const train = compile((x: Tensor) => {
      const y = x.square().sum();
      log.log("debug", "never");
      log.log("info", "step", { step: step++, shape: x.shape.join("x") });
      if (step % 3 === 0) log.log("warn", `every third: ${step}`);
      return y;
    });
    for (let k = 0; k < 10; k++) see(train(ones([k % 2 + 1, 2])));
    see(log.all);
  },
};
