/** Programs that create dates. */
import { type Tensor, tensor } from "../../mod.ts";
import type { Corpus } from "../support/programs.ts";

const v = (...values: number[]): Tensor => tensor(values, { dtype: "float32" });

/** Programs without a break. */
export const dates: Corpus = {
  "what a date says"({ compile, see }) {
    const f = compile((x: Tensor) => {
      const d = new Date(2020, 1, 2, 3), other = new Date("2021-03-04T05:06:07Z");
      return [
        x.add(d.getFullYear()).mul(d.getDay()),
        [d.toISOString(), String(d), `${other}`, d < other, +other - +d, d.valueOf() === +d],
        [d instanceof Date, typeof d, Object.prototype.toString.call(d), d.getTimezoneOffset()],
        [Date.UTC(2000, 1), Date.parse("2020-01-01"), new Date("no date").getTime()],
      ];
    });
    see(f(v(1)), f(v(2)));
  },
  "a date that is set, and handed on"({ compile, see }) {
    const f = compile((x: Tensor, hours: number) => {
      const d = new Date(0);
      const time = d.setUTCHours(hours);
      const copy = new Date(d);
      copy.setUTCMinutes(30);
      return { x: x.add(1), d, copy, list: [d, time, copy.getTime()] };
    });
    const { x, d, copy, list } = f(v(1), 5);
    see(x, d.toISOString(), copy.toISOString(), list[0] === d, list);
    see(f(v(1), 7).d === d, f(v(1), 7).d.getTime());
  },
  "a time that is told"({ compile, see }) {
    const f = compile((x: Tensor) => {
      const now = new Date();
      return { y: x.add(1), now, time: now.getTime() };
    });
    const before = Date.now(), first = f(v(1)), second = f(v(1)), after = Date.now();
    see(first.y, first.now.getTime() === first.time, first.now === second.now);
    see(before <= first.time, first.time <= second.time, second.time <= after);
  },
  "dates from outside, and those that others are made of"({ compile, see }) {
    class Day extends Date {
      get number() {
        return Math.floor(this.getTime() / 86400000);
      }
    }
    const began = new Date(Date.UTC(2020, 1, 2, 3));
    const options = { when: new Date(5e11), every: 3 };
    const f = compile((x: Tensor, d: Date) => {
      const elapsed = d.getTime() - began.getTime(), day = new Day(began);
      options.when = new Date(options.when.getTime() + options.every);
      return [
        x.mul(elapsed).add(d.getUTCDate()),
        [d > began, d.getFullYear() - began.getFullYear(), began.toISOString(), `${began}`],
        [JSON.stringify({ began }), began.toJSON(), began.toLocaleDateString("en-US"), new Date(began) <= d],
        [day.number, day, day instanceof Day, structuredClone({ began }), options.when.getTime()],
      ];
    });
    for (const time of [6e11, 7e11, 8e11, 9e11]) see(f(v(1), new Date(time)));
    see(began, options);
  },
  "a date from outside that is set"({ compile, see }) {
    const began = new Date(0);
    const f = compile((x: Tensor) => {
      began.setUTCHours(5);
      const copy = new Date(began);
      copy.setTime(7);
      return [x.add(began.getUTCHours()), began.getTime(), copy, began.toISOString()];
    });
    see(f(v(1)), began.getTime());
  },
  "the time of the call as a text and as a part of it"({ compile, see }) {
    const log: string[] = [];
    const f = compile((x: Tensor) => {
      const now = new Date(), at = now.toISOString(), record = { at: new Date(), year: now.getUTCFullYear() };
      log.push(`[${new Date().toISOString()}] ${x.sum().item()} in ${now.getFullYear()}`);
      now.setTime(5);
      return [x.mul(2), at, at.length, `${new Date()}`, JSON.stringify({ at: record.at }), record, now];
    });
    for (const x of [v(1), v(2)]) {
      const before = Date.now(),
        [y, at = "", length, text, json = "", record, past] = f(x),
        parsed = JSON.parse(`${json}`);
      const times = [at, parsed.at, (record as { at: Date }).at, log.at(-1)?.slice(1, 25)].map((each) =>
        +new Date(`${each}`)
      );
      see(
        y,
        length,
        past,
        `${text}`.length,
        (record as { year: number }).year > 2000,
        log.at(-1)?.slice(25, -4),
      );
      see(times.map((time) => Math.abs(time - before) < 60_000));
    }
  },
};

/** Programs that break, or throw. */
export const brokenDates: Corpus = {
  "properties of dates from outside, and their methods"({ compile, attempt }) {
    class Marked extends Date {
      extra = 3;
      note?: number;
      get double() {
        return this.getTime() * 2;
      }
      plus(n: number) {
        return this.extra + n;
      }
    }
    let reads = 0;
    const odd = Object.defineProperty(new Marked(5), "k", { get: () => ++reads, enumerable: true });
    const uses: ((x: Tensor, d: Marked) => unknown)[] = [
      (x, d) => [x.add(d.getTime()), d.getUTCFullYear(), +d, d.toISOString(), JSON.stringify({ d })],
      (x, d) => [x.add(d.extra), d.plus(1), d.double, d instanceof Marked, d instanceof Date],
      (x, d) => [x.add(1), { ...d }, Object.keys(d), "k" in d, reads, Object.prototype.toString.call(d)],
      (x, d) => [d.setTime(9), d.note = 4, x.add(d.note ?? 0), d.setUTCDate(3), d.getTime(), d.note],
    ];
    for (const use of uses) {
      const f = compile((x: Tensor, d: Marked) => use(x, d));
      for (const d of [new Marked(1), odd, new Marked(86400000)]) attempt(() => f(v(1), d));
    }
  },
  "a date that is none, and what is no date"({ compile, see }) {
    const f = compile((x: Tensor, which: number) => {
      try {
        if (which === 0) return [x, new Date(NaN).toISOString()];
        return [x, Date.prototype.getTime.call({} as Date)];
      } catch (error) {
        return [x.add(1), String(error)];
      }
    });
    see(f(v(1), 0), f(v(1), 1));
  },
  "classes of dates, dates from outside, and dates as text of a place"({ compile, see }) {
    class Half extends Date {
      half() {
        return this.getTime() / 2;
      }
    }
    const f = compile((x: Tensor, given: Date) => {
      const made = new Half(8), d = new Date(5);
      return [x.add(made.half()), given.getTime(), d.toLocaleDateString("en-US"), JSON.stringify({ d })];
    });
    see(f(v(1), new Date(3)), f(v(1), new Date(4)));
  },
};
