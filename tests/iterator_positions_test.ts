/** Positions of iterators that generated code has advanced, compared with the items that they yield. */
import { assertEquals } from "@std/assert";
import { compile, compiler, nn, ones, type Tensor, tensor } from "../mod.ts";
import {
  begunIndex,
  itemAt,
  keysLeft,
  kindsLeft,
  noteBegun,
  takeBegun,
  valuesLeft,
} from "../lib/dynamo/functions/iterator_positions.ts";
import { randomNumbers, testSeed } from "./support/sampling.ts";

Deno.test("the remaining items of a collection are known while entries are added and removed", () => {
  const random = randomNumbers(testSeed()), below = (n: number) => Math.floor(random() * n);
  for (let run = 0; run < 200; run++) {
    const map = new Map<number, number>(), set = new Set<number>();
    const change = () => {
      const key = below(6), value = below(100), how = below(12);
      if (how === 0) {
        map.clear();
        set.clear();
      } else if (how < 6) {
        map.delete(key);
        set.delete(key);
      } else {
        map.set(key, value);
        set.add(key);
      }
    };
    for (let i = 0; i < 6; i++) change();
    const index = Math.min(below(3), map.size);
    const ofMap = map.entries(), ofSet = set.values();
    for (let i = 0; i < index; i++) [ofMap.next(), ofSet.next()];
    noteBegun(ofMap, map, { what: "entries", index });
    noteBegun(ofSet, set, { what: "values", index });
    for (let i = below(8); i > 0; i--) {
      change();
      // Neither to look nor to take some takes anything away
      if (below(2) === 0) keysLeft(ofMap);
      const count = Math.min(below(3), keysLeft(ofMap).length);
      takeBegun(ofMap, count, false);
      takeBegun(ofSet, count, false);
    }
    const keys = keysLeft(ofMap), entries = keys.map((key, i) => [key, valuesLeft(ofMap)[i]]);
    const members = keysLeft(ofSet), kinds = kindsLeft(ofMap);
    assertEquals(kinds, [...keys.map(() => "entries of a map"), false]);
    assertEquals(begunIndex(ofMap), map.size - keys.length);
    assertEquals([entries, members], [[...ofMap], [...ofSet]]);
  }
});

Deno.test("iterators of strings yield characters, those of lists elements", () => {
  const text = "a\u{1f600}\ud83d\ude00b\ude00\ud83d", ofText = text[Symbol.iterator]();
  ofText.next();
  noteBegun(ofText, text, { what: "values", index: 1 });
  takeBegun(ofText, 1, false);
  assertEquals([begunIndex(ofText), kindsLeft(ofText).length], [3, 5]);
  assertEquals(keysLeft(ofText), [...ofText]);
  const list = new Float32Array([1, 2, 3]), ofList = list.values();
  noteBegun(ofList, list, { what: "values", index: 0 });
  takeBegun(ofList, 1, false);
  assertEquals([itemAt(ofList, 0), itemAt(ofList, 1)], [...ofList]);
});

Deno.test("iterators and generators from outside are advanced exactly as the program does, between graphs", () => {
  const log: string[] = [];
  function* items(count: number): Generator<Tensor> {
    try {
      for (let i = 0; i < count; i++) {
        log.push(`item ${i}`);
        yield tensor([i, 1]);
      }
    } finally {
      log.push("closed");
    }
  }
  const first = (source: Iterable<Tensor>, most: number) => {
    let sum = tensor([0, 0]);
    for (const item of source) {
      sum = sum.add(item);
      if (--most === 0) break;
    }
    return sum.mul(2);
  };
  const shown = (run: typeof first) => {
    const sums = [items(3), items(1), items(3), [tensor([1, 2])].values()].map((source) =>
      run(source, 2).tolist()
    );
    return [sums, log.splice(0)];
  };
  const compiled = compile(first, { backend: "eager" }), listed = compile(first, { backend: "eager" });
  assertEquals(shown(compiled), shown(first));
  for (const most of [5, 5]) assertEquals(listed([tensor([1, 2])].values(), most).tolist(), [2, 4]);
  assertEquals(compiler.status(listed).graphBreaks, 1);
});

/** A layer that looks at a number, and so breaks the graph. */
class Gate extends nn.Module {
  declare open: Tensor;
  constructor() {
    super();
    this.registerBuffer("open", tensor(true));
  }
  override forward(x: Tensor): Tensor {
    return this.open.item() ? x.mul(2) : x;
  }
}

Deno.test("after a break in one layer of a container, all others stay in one graph", () => {
  const layers = () => [new Gate(), ...Array.from({ length: 12 }, () => new nn.Tanh())];
  const list = new nn.ModuleList(layers()), chain = new nn.Sequential(...layers());
  const loops: Readonly<Record<string, (x: Tensor) => Tensor>> = {
    chain: (x) => chain.call(x),
    list: (x) => {
      for (const layer of list) x = layer.call(x);
      return x;
    },
    entries: (x) => {
      for (const [i, layer] of list.entries()) x = layer.call(x).add(i);
      return x;
    },
    "keys of an own class": (x) => {
      const own = { [Symbol.iterator]: () => chain.children().keys() };
      for (const i of own) x = (list[i] ?? chain).call(x);
      return x;
    },
  };
  for (const [name, loop] of Object.entries(loops)) {
    compiler.reset();
    const compiled = compile(loop, { backend: "eager" });
    for (let call = 0; call < 2; call++) {
      assertEquals(compiled(ones([2])).tolist(), loop(ones([2])).tolist());
    }
    const { graphs, graphBreaks, recompiles } = compiler.status(compiled);
    assertEquals({ graphs, graphBreaks, recompiles }, { graphs: 1, graphBreaks: 1, recompiles: 0 }, name);
  }
});
