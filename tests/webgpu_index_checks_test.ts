/**
 * Indices on WebGPU that have passed the check of a compiled call are not checked again, unless the call could find
 * others: after a write, at other places of their memory, in other numbers, or chosen by other inputs.
 */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { findDevice } from "../lib/loops/device.ts";
import { UndoLog } from "../lib/tensor/undo.ts";
import { arange, compile, DynError, init, nn, noGrad, type Tensor, tensor, where } from "../mod.ts";
import { sampleBySeed } from "./support/sampling.ts";
import { SKIP_WEBGPU } from "./support/webgpu.ts";

const { embedding } = nn.functional;

/** Indices whose bounds the host does not know, as the device computes them. */
const computed = (...values: number[]): Tensor =>
  tensor(values, { dtype: "int64", device: "webgpu" }).add(100).sub(100);

/** A table of as many rows, of which each holds its number. */
const rows = (count: number): Tensor => arange(count, { dtype: "float32", device: "webgpu" }).unsqueeze(1);

const TABLE_ROWS = 4;

/** Sizes are symbols, so that all calls are those of one program. */
const compiled = () => compile((ids: Tensor, table: Tensor) => embedding(ids, table), { dynamic: true });

/** Runs calls that find these rows, or an index out of range where there is a number. */
function expect(call: () => Tensor, found: readonly number[] | number): void {
  if (typeof found !== "number") return assertEquals(call().flatten().tolist(), [...found]);
  // A call that has failed fails again
  for (const _ of [1, 2]) assertThrows(call, DynError, `but found ${found}`);
}

/** Calls in which indices pass, and then others that could take the place of those. */
const CASES: Readonly<Record<string, () => void>> = {
  "a write in place"() {
    const run = compiled(), table = rows(TABLE_ROWS), ids = computed(0, 1, 2);
    const call = () => run(ids, table);
    for (const _ of [1, 2]) expect(call, [0, 1, 2]);
    ids.add_(2);
    expect(call, 4);
    ids.sub_(1);
    for (const _ of [1, 2]) expect(call, [1, 2, 3]);
    ids.select(0, 1).fill_(-1);
    expect(call, -1);
  },
  "a write that follows an undone one"() {
    const run = compiled(), table = rows(TABLE_ROWS), ids = computed(0, 1, 2);
    const call = () => run(ids, table), log = new UndoLog();
    expect(call, [0, 1, 2]);
    log.willWrite(ids);
    ids.add_(1);
    for (const _ of [1, 2]) expect(call, [1, 2, 3]);
    assertEquals(log.rollBack(), true);
    // The version is now that of the call that has passed last
    ids.add_(3);
    expect(call, 4);
  },
  "a tensor at other places of the same memory"() {
    const run = compiled(), table = rows(TABLE_ROWS), ids = computed(0, 9, 1, 8, 2, 3);
    // At another offset, with other strides, and more of them; memory is the same throughout
    for (const _ of [1, 2]) expect(() => run(ids.slice(0, 4, 6), table), [2, 3]);
    expect(() => run(ids.slice(0, 2, 4), table), 8);
    for (const _ of [1, 2]) expect(() => run(ids.slice(0, 0, 6, 2), table), [0, 1, 2]);
    expect(() => run(ids.slice(0, 0, 3), table), 9);
    for (const _ of [1, 2]) expect(() => run(ids.slice(0, 0, 1), table), [0]);
    expect(() => run(ids.slice(0, 0, 2), table), 9);
    expect(() => run(ids.slice(0, 4, 6), table), [2, 3]);
  },
  "a tensor with other strides"() {
    const run = compiled(), table = rows(TABLE_ROWS), ids = computed(0, 1, 9, 2, 3, 0, 0, 0, 0, 0, 0, 0);
    for (const _ of [1, 2]) expect(() => run(ids.asStrided([2, 2], [3, 1]), table), [0, 1, 2, 3]);
    expect(() => run(ids.asStrided([2, 2], [2, 1]), table), 9);
    for (const _ of [1, 2]) expect(() => run(ids.asStrided([2, 2], [4, 1]), table), [0, 1, 3, 0]);
  },
  "a smaller table"() {
    const run = compiled(), ids = computed(0, 1, 3);
    for (const _ of [1, 2]) expect(() => run(ids, rows(TABLE_ROWS)), [0, 1, 3]);
    expect(() => run(ids, rows(TABLE_ROWS - 1)), 3);
  },
  "one smaller table of two"() {
    const both = compile(
      (ids: Tensor, one: Tensor, two: Tensor) => embedding(ids, one).add(embedding(ids, two)),
      { dynamic: true },
    );
    const ids = computed(0, 1, 3);
    for (const _ of [1, 2]) expect(() => both(ids, rows(5), rows(TABLE_ROWS)), [0, 2, 6]);
    expect(() => both(ids, rows(5), rows(TABLE_ROWS - 1)), 3);
    expect(() => both(ids, rows(TABLE_ROWS - 1), rows(5)), 3);
  },
  "others beside them"() {
    const both = compile((one: Tensor, two: Tensor, table: Tensor) =>
      embedding(one, table).add(embedding(two, table))
    );
    const ids = computed(0, 1, 2, 3, 9, 1), table = rows(TABLE_ROWS);
    const [first, second, third] = [0, 2, 4].map((at) => ids.slice(0, at, at + 2));
    assert(first && second && third);
    for (const _ of [1, 2]) expect(() => both(first, second, table), [2, 4]);
    expect(() => both(third, second, table), 9);
    expect(() => both(first, third, table), 9);
    const apart = computed(1, 1);
    for (const _ of [1, 2]) expect(() => both(first, apart, table), [1, 2]);
    expect(() => both(first, computed(1, 7), table), 7);
    expect(() => both(computed(8, 1), apart, table), 8);
  },
  "another choice among them"() {
    const chosen = compile((ids: Tensor, keep: Tensor, table: Tensor) =>
      embedding(where(keep, ids, 0), table)
    );
    const ids = computed(3, 9, 1), table = rows(TABLE_ROWS);
    const keeping = (...flags: number[]) => computed(...flags).gt(0);
    for (const _ of [1, 2]) expect(() => chosen(ids, keeping(1, 0, 1), table), [3, 0, 1]);
    expect(() => chosen(ids, keeping(0, 1, 0), table), 9);
  },
};

for (const [name, run] of sampleBySeed(Object.entries(CASES), 3)) {
  Deno.test({
    name: `indices that have passed on WebGPU are checked again: ${name}`,
    ignore: SKIP_WEBGPU,
    fn: () => init({ device: "webgpu" }).then(() => noGrad(run)),
  });
}

Deno.test({
  name: "calls on WebGPU wait once for indices that stay the same, also those in two parts of one memory",
  ignore: SKIP_WEBGPU,
  async fn() {
    await init({ device: "webgpu" });
    const device = findDevice("webgpu"), { readSync } = device ?? {};
    if (!device || !readSync) throw new Error("Expected a device that can be read");
    let waits = 0;
    device.readSync = (...given) => {
      waits++;
      return readSync.apply(device, given);
    };
    try {
      const ids = computed(0, 1, 2, 3), table = rows(TABLE_ROWS);
      const one = compiled(),
        two = compile((a: Tensor, b: Tensor, table: Tensor) => embedding(a, table).add(embedding(b, table)));
      const waited = (call: () => Tensor) => {
        const before = waits;
        noGrad(call);
        return waits - before;
      };
      const whole = () => one(ids, table);
      const parts = () => two(ids.slice(0, 0, 2), ids.slice(0, 2, 4), table);
      assertEquals([whole, whole, parts, parts, parts, whole].map(waited), [1, 0, 1, 0, 0, 0]);
      noGrad(() => ids.mul_(1));
      assertEquals([whole, whole, parts, parts].map(waited), [1, 0, 1, 0]);
    } finally {
      device.readSync = readSync;
    }
  },
});
