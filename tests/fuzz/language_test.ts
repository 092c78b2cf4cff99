/**
 * Random JavaScript around tensors, plain and compiled: some programs, from a new seed each time. DYN_FUZZ_SEED and
 * DYN_FUZZ_PROGRAMS choose others; `deno run -A cli.ts fuzz --fuzzer language` runs them for as long as one likes.
 */
import { assert, assertEquals } from "@std/assert";
import { toolchainStatus } from "../../backends/cpu/toolchain.ts";
import { runCampaign } from "../../cli/fuzz/campaign.ts";
import { check, LanguageFuzzer } from "../../cli/fuzz/language/fuzzer.ts";
import { REPLACEABLE } from "../../cli/fuzz/language/replaced.ts";
import type { CampaignEvent, Tier } from "../../cli/fuzz/protocol.ts";
import { sampleBySeed } from "../support/sampling.ts";

/** Programs by tier: fewer where each costs a compiler's time. */
const PROGRAMS: readonly (readonly [tier: Tier, programs: number])[] = [
  ["eager", 14],
  ["aot_eager", 4],
  ["native", 2],
];

const seed = Number(Deno.env.get("DYN_FUZZ_SEED") ?? Math.floor(Math.random() * 2 ** 31));
const wanted = Deno.env.get("DYN_FUZZ_PROGRAMS");

for (const [tier, few] of PROGRAMS) {
  const ignore = tier === "native" && toolchainStatus().kind !== "ready";
  Deno.test({
    name: `random programs of the language on ${tier}`,
    ignore,
    async fn() {
      console.log(`Seed ${seed}`);
      const programs = wanted === undefined ? few : Number(wanted);
      const events: CampaignEvent[] = [];
      await runCampaign(new LanguageFuzzer(), {
        tier,
        seed,
        programs,
        seconds: 1e9,
        shrinkSeconds: 20,
        enough: 1,
        report: (event) => void (event.event === "program" || events.push(event)),
      });
      for (const event of events) {
        if (event.event !== "finding") continue;
        const { failure, file } = event;
        const again =
          `deno run -A cli.ts fuzz --fuzzer language --tier ${tier} --seed ${event.seed} --path ${event.path}`;
        assert(false, `${failure.text}\nSee it again: ${again}\n\n${file}`);
      }
      const end = events.find((event) => event.event === "end");
      assertEquals(end?.event === "end" ? end.counts["programs"] : 0, programs);
    },
  });
}

/** Bodies with which a compiled function once was another than its original. */
const FOUND: Readonly<Record<string, string>> = {
  "a captured variable that printed classes and the rest of a function share":
    "class Base { get kind() { return 'base'; } } class Derived extends Base { get kind() { return super.kind + c0; } } " +
    "log.push(opaque(n)); log.push(new Derived().kind); " +
    "for (const [v, e] of m) { if (--fuel < 0) return 'no fuel'; m.delete(v); if (n < n + c0) m.set(v + 1, e); }",
  "an element that is deleted and read":
    "delete list[0]; log.push(list[0], list.map((e) => opaque(e + list[0])));",
};

Deno.test("language programs that were once compiled wrongly", async () => {
  const calls = [[0], []].map((list) => ({ size: 2, seed: 0, n: 1, k: 1, list, same: false }));
  for (const [name, body] of Object.entries(FOUND)) {
    const scenario = {
      helper: "",
      generator: "",
      calls,
      dynamic: undefined,
      forceBreak: -1,
      replaced: null,
      semicolons: true,
      body,
      async: false,
    };
    assertEquals(await check(scenario, "eager"), null, name);
  }
});

/** The third of the builtins that a run replaces. */
const drawn = (names: readonly string[], salt: number): readonly string[] =>
  sampleBySeed(names, Math.ceil(names.length / 3), salt);

/** A program with that body, as two calls in which a builtin records its calls. */
const recording = (replaced: string, body: string, isAsync: boolean) => ({
  helper: isAsync ? "" : "log.push([a, b].join());",
  generator: "",
  calls: [1, 2].map((n) => ({ size: 2, seed: n, n, k: 1, list: [1, 2], same: n === 2 })),
  dynamic: undefined,
  forceBreak: -1,
  semicolons: true,
  replaced,
  body,
  async: isAsync,
});

Deno.test("builtins that record their calls record those of the program and none of the compiler's", async () => {
  const body =
    "for (const [v, e] of m) { held.push(() => v); log.push(v, e, st.has(v)); } t0 = t0.add(n); opaque(p); " +
    "log.push(list.map((e) => opaque(e + 1)), Object.keys(o), Math.max(n, k), new Set(list).has(1), h0(n, ...list)); " +
    "{ const g = gen(1); log.push(g.next().value, [...g], w.twice(1)); } t1 = t1.mul(t0.sum()); held.push(() => t1.sum().item());";
  for (const replaced of drawn(REPLACEABLE, 0)) {
    assertEquals(await check(recording(replaced, body, false), "eager"), null, replaced);
  }
});

Deno.test("builtins that record their calls record none of what calls of local classes and closures look up", async () => {
  const body =
    "class A { #v = n; static s = k; get v() { return this.#v; } inc() { this.#v += A.s; return this; } } " +
    "class B extends A { inc() { super.inc(); return super.inc(); } } const b = new B(); b.inc(); opaque(n); log.push(b.inc().v, b instanceof A); " +
    "const make = (from) => { let c = from; class L { get() { return c++; } } return new L(); }; const l = make(n); l.get(); opaque(n); " +
    "t0 = t0.add(l.get()); const l2 = make(k); opaque(n); const deep = (d) => d ? deep(d - 1) + l2.get() : 0; log.push(deep(3), l.get()); " +
    "{ const f = new Float32Array([1, n]); opaque(n); t1 = t1.mul(f[1]); }";
  for (
    const replaced of drawn(REPLACEABLE.filter((name) => /^(Map|WeakMap|Set|String|Symbol)\b/.test(name)), 1)
  ) {
    assertEquals(await check(recording(replaced, body, false), "eager"), null, replaced);
  }
});

Deno.test("builtins that record their calls record none of the pieces of async functions and generators", async () => {
  const body =
    "for await (const v of agen(n)) { log.push(v); t0 = t0.add(v); opaque(v); if (v > n) break; } " +
    "{ const g = agen(3); log.push((await g.next()).value, (await g.return(7)).value); } " +
    "try { const g = agen(1); await g.next(); await g.throw(new Error('e')); } catch (e) { log.push(e.message); } " +
    "{ const a = async () => { opaque(1); throw n; }; try { await a(); } catch (e) { log.push(e); } } " +
    "{ const d = async function* () { yield* agen(n); opaque(n); yield* [1, 2]; }; for await (const v of d()) log.push(v); " +
    "const g = d(); await g.next(); log.push(await g.return(n)); } " +
    "try { const g = (async function* () { opaque(n); yield* [1, 2]; })(); await g.next(); await g.throw(n); } catch (e) { log.push(String(e)); } " +
    "{ const z = { __proto__: { v: k } }; opaque(n); log.push(z.v, tag`a${n}b`); }";
  const places = /^(Reflect|Promise)|^Object\.(\w*PrototypeOf|freeze)$/;
  for (const replaced of drawn(REPLACEABLE.filter((name) => places.test(name)), 2)) {
    assertEquals(await check(recording(replaced, body, true), "eager"), null, replaced);
  }
});
