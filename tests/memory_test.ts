/**
 * Memory that a program drops is recovered within the same job, on every device; live memory never is. Also the
 * allocator's statistics, and its errors if there is no room.
 */
import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { hostPages } from "../backends/cpu/host_pages.ts";
import type { HostBlock } from "../backends/cpu/host_memory.ts";
import { MemoryPool } from "../backends/cpu/memory_pool.ts";
import { memoryLimit, sizeClass } from "../backends/memory/block_pool.ts";
import { collectAll, Findable, LiveSet } from "../backends/memory/live_set.ts";
import { wasmPool } from "../backends/wasm/threads.ts";
import {
  compile,
  emptyCache,
  full,
  init,
  maxMemoryAllocated,
  memoryAllocated,
  memoryReserved,
  memorySummary,
  noGrad,
  ones,
  OutOfMemory,
  resetPeakMemoryStats,
  setMemoryLimit,
  type Tensor,
  zeros,
  zerosLike,
} from "../mod.ts";
import { randomNumbers, testSeed } from "./support/sampling.ts";
import { SKIP_WEBGPU } from "./support/webgpu.ts";

const MIB = 2 ** 20;

const isFindable = (found: object): found is Findable => found instanceof Findable;

/** Makes objects, and keeps one of so many. */
function fill(set: LiveSet<Findable>, kept: Findable[], keepEach: number): void {
  for (let i = 0; i < 1000; i++) {
    const made = new Findable();
    set.add(made);
    if (i % keepEach === 0) kept.push(made);
  }
}

/** Number of additional objects that may be found: the last one made may still be in a register. */
const SLACK = 1;

/** Checks that a search finds all those kept, and hardly anything else. A separate frame keeps nothing alive. */
function findsOnly(look: () => Findable[], kept: readonly Findable[]): void {
  const found = new Set(look());
  assert(kept.every((each) => found.has(each)));
  assert(found.size <= kept.length + SLACK, `Expected ${kept.length} objects but found ${found.size}`);
}

Deno.test("large memory is accessible to WebAssembly, and its pages are released", () => {
  const pool = new MemoryPool("cpu"), memory = pool.allocate(4 * MIB), { uint8, place } = memory.block;
  assertEquals(place?.memory, wasmPool().memory);
  assertEquals(uint8.byteOffset, place?.address);
  uint8.fill(1);
  pool.free(memory);
  pool.releaseUnused();
  assertEquals(pool.reserved, 0);
  // Bytes of pages that are gone are 0; at the ends there may be part of a page
  if (Deno.build.os === "linux") assert(uint8.subarray(2 ** 16, -(2 ** 16)).every((byte) => byte === 0));
});

Deno.test("fresh memory is 0, and is known to be so until it is released", () => {
  const pool = new MemoryPool("cpu"), held: HostBlock[] = [];
  // Pieces that others released come first
  while (!held.at(-1)?.isUntouched && held.length < 64) held.push(pool.allocate(64 * MIB).block);
  const memory = pool.allocate(MIB), { block } = memory;
  assertEquals([block.isUntouched, block.uint8.every((byte) => byte === 0)], [true, true]);
  pool.free(memory);
  const again = pool.allocate(MIB).block;
  assertEquals([again === block, again.isUntouched], [true, false]);
});

Deno.test("zeros of every type are 0 in reused and in fresh memory", () => {
  const makers = [zeros, (size: number[], options: object) => zerosLike(ones(size), options)];
  for (
    const dtype of [
      "float32",
      "float64",
      "float16",
      "bfloat16",
      "int8",
      "int64",
      "bool",
      "complex64",
    ] as const
  ) {
    for (const make of makers) {
      emptyCache("cpu");
      for (let k = 0; k < 3; k++) {
        using x = make([64, 1024], { dtype });
        assert(!x.ne(0).any().item(), dtype);
        x.fill_(1);
      }
    }
  }
});

Deno.test("a live set finds reachable objects in the middle of a job", () => {
  const set = new LiveSet(isFindable), kept: Findable[] = [];
  fill(set, kept, 10);
  for (let look = 0; look < 2; look++) findsOnly(() => set.young(true) ?? [], kept);
  assertEquals(set.young(true), []);
  fill(set, kept, 100);
  findsOnly(() => set.all(), kept);
  kept.length = 5;
  findsOnly(() => set.all(), kept);
});

Deno.test("old values that a search passed and that were not members do not stop later searches", () => {
  const stranger = new Findable(), kept: Findable[] = [];
  const set = new LiveSet((found): found is Findable => found instanceof Findable && found !== stranger);
  set.add(stranger);
  fill(set, kept, 100);
  let seen: readonly Findable[] | undefined;
  // None of them counts while V8 is marking
  for (let look = 0; look < 200 && !seen; look++) seen = set.young(false);
  findsOnly(() => [...seen ?? []], kept);
});

Deno.test("a pool reuses dropped memory in a loop that does not wait", () => {
  const pool = new MemoryPool("cpu");
  for (let i = 0; i < 10_000; i++) pool.allocate(4 * MIB);
  assert(pool.peakReserved <= 256 * MIB, `Expected at most 256 MiB but found ${pool.peakReserved}`);
  const { peakReserved: mostReserved } = pool;
  for (let i = 0; i < 100_000; i++) pool.allocate(64);
  assert(pool.peakReserved - mostReserved < 4 * MIB);
});

Deno.test("a large result mostly reuses the memory of one of the last eight, also after a collection", () => {
  const pool = new MemoryPool("cpu");
  let last: readonly HostBlock[] = [], same = 0;
  for (let i = 0; i < 200; i++) {
    if (i % 20 === 0) pool.releaseUnused();
    const { block } = pool.allocate(16 * MIB);
    if (last.includes(block)) same++;
    last = [...last, block].slice(-8);
  }
  // Not while V8 is marking
  assert(same > 150, `Expected most results in one of the last eight blocks but found ${same} of 200`);
});

Deno.test("memory above the search threshold is found among young objects", () => {
  const pool = new MemoryPool("cpu");
  for (let i = 0; i < 100; i++) pool.allocate(600 * MIB);
  // Objects that a search finds in a register count as old from the next one on
  assert(
    pool.peakReserved <= 2400 * MIB,
    `Expected at most 2400 MiB but found ${pool.peakReserved / MIB} MiB`,
  );
});

Deno.test("old memory that was dropped is found once twice as much is in use", () => {
  const pool = new MemoryPool("cpu"),
    size = 64 * MIB,
    window = Array.from({ length: 8 }, () => pool.allocate(size));
  for (let i = 0; i < 200; i++) window[i % window.length] = pool.allocate(size);
  assert(pool.peakReserved <= 1280 * MIB, `Expected at most 1280 MiB but found ${pool.peakReserved}`);
  assertEquals(window.length, 8);
});

Deno.test("old memory that was dropped is found once the new memory equals the cost of a search", () => {
  const pool = new MemoryPool("cpu"), size = 32 * MIB;
  const window = Array.from({ length: 8 }, () => pool.allocate(size));
  for (let i = 0; i < 100; i++) window[i % window.length] = pool.allocate(size);
  assert(pool.peakReserved <= 928 * MIB, `Expected at most 928 MiB but found ${pool.peakReserved / MIB} MiB`);
  assertEquals(window.length, 8);
});

/** The number of searches of a kind while something runs. */
function searches(kind: "young" | "all", run: () => void): number {
  const { young, all } = LiveSet.prototype;
  let count = 0;
  LiveSet.prototype.young = function (isUrgent) {
    if (kind === "young") count++;
    return young.call(this, isUrgent);
  };
  LiveSet.prototype.all = function () {
    if (kind === "all") count++;
    return all.call(this);
  };
  try {
    run();
  } finally {
    Object.assign(LiveSet.prototype, { young, all });
  }
  return count;
}

Deno.test("memory that a loop drops is searched for once per so many bytes, however much was used before", () => {
  const pool = new MemoryPool("cpu"), held = Array.from({ length: 5 }, () => pool.allocate(16 * MIB));
  const drop = () => {
    for (let i = 0; i < 100; i++) pool.allocate(16 * MIB);
  };
  drop();
  const looks = searches("young", drop);
  assert(looks <= 30, `Expected a look for each 64 MiB but found ${looks} for 1600 MiB`);
  assertEquals(held.length, 5);
});

Deno.test("the more objects a program has, the more new memory it takes until all of them are searched", () => {
  const hold = () =>
    searches("all", () => {
      const pool = new MemoryPool("cpu"), held = Array.from({ length: 60 }, () => pool.allocate(16 * MIB));
      assertEquals(held.length, 60);
    });
  assertEquals(hold(), 1);
  const objects = Array.from({ length: 32 }, () => new Array<number>(MIB).fill(0));
  assertEquals([hold(), objects.length], [0, 32]);
});

Deno.test("live memory shares no block, whatever its size", () => {
  const pool = new MemoryPool("cpu"), kept: Int32Array[] = [];
  const holders: unknown[] = [];
  for (let i = 0; i < 600; i++) {
    const memory = pool.allocate([64, MIB, 4 * MIB][i % 3] ?? 0),
      { buffer, byteOffset, byteLength } = memory.uint8;
    const words = new Int32Array(buffer, byteOffset, Math.min(4096, byteLength / 4));
    words.fill(i);
    // Some live long, most are dropped soon
    if (i % 10 !== 0) continue;
    kept.push(words);
    holders.push(memory);
  }
  kept.forEach((words, i) => assert(words.every((word) => word === 10 * i), `memory ${i} was overwritten`));
  assertEquals(holders.length, kept.length);
});

Deno.test("live memory shares no block, whichever ways memory came back and whenever V8 collects", () => {
  const seed = testSeed(), draw = randomNumbers(seed), below = (count: number) => Math.floor(draw() * count);
  const pool = new MemoryPool("cpu"), held: ReturnType<typeof pool.allocate>[] = [];
  for (let i = 0; i < 300; i++) {
    const made = pool.allocate([4096, MIB, 4 * MIB][below(3)] ?? 0);
    assert(!held.some(({ block }) => block === made.block), `seed ${seed}: one block of two live memories`);
    if (draw() < 0.5) held.push(made);
    // Some are freed and others dropped, of any age
    if (held.length > 24) {
      const [old] = held.splice(below(held.length), 1);
      if (old && draw() < 0.5) pool.free(old);
    }
    if (i % 50 === 49) collectAll();
  }
});

Deno.test("dropped memory is searched for before new pages are touched", () => {
  const pool = new MemoryPool("cpu"), size = 4 * MIB;
  for (let i = 0; i < 40; i++) pool.allocate(size);
  // Eight of them are made before a regular look
  assert(pool.reserved <= 6 * size, `${pool.reserved / size} blocks`);
  const held = Array.from({ length: 20 }, () => pool.allocate(size));
  assertEquals(new Set(held.map(({ block }) => block)).size, held.length);
});

Deno.test("a pool releases its memory, whatever sizes it kept before", () => {
  const pool = new MemoryPool("cpu"), give = (size: number) => pool.free(pool.allocate(size));
  for (const size of [MIB, 2 * MIB, 4 * MIB]) give(size);
  // The first list is empty, the others are not
  const held = pool.allocate(MIB);
  pool.releaseUnused();
  assertEquals([pool.allocated, pool.reserved, held.byteLength], [MIB, MIB, MIB]);
});

Deno.test("results of a compiled function keep their values while others are created and dropped", () => {
  const f = compile((x: Tensor, n: Tensor) => x.add(n));
  const x = full([1024, 1024], 1);
  const kept: Tensor[] = [];
  for (let i = 0; i < 60; i++) {
    const y = f(x, full([1], i));
    if (i % 7 === 0) kept.push(y);
  }
  kept.forEach((y, i) => assertEquals([y.min().item(), y.max().item()], [1 + 7 * i, 1 + 7 * i]));
});

Deno.test("a loop of 10,000 ops that drops its results holds only a few of them", () => {
  const x = ones([16, 1024]);
  emptyCache("cpu");
  resetPeakMemoryStats("cpu");
  const before = memoryReserved("cpu"), limit = before + 8 * MIB;
  setMemoryLimit(limit, "cpu");
  try {
    let y = x;
    noGrad(() => {
      for (let i = 0; i < 10_000; i++) {
        x.add(1);
        if (i % 10 === 0) y = y.add(1);
      }
    });
    assertEquals([y.at(0, 0).item(), y.at(15, 1023).item()], [1001, 1001]);
  } finally {
    setMemoryLimit(null, "cpu");
  }
});

Deno.test("the numbers follow what a program creates, releases and drops", () => {
  emptyCache("cpu");
  const before = memoryAllocated("cpu");
  resetPeakMemoryStats("cpu");
  const kept = ones([2, MIB / 4]);
  for (let i = 0; i < 3; i++) {
    using _given = ones([MIB / 4]);
  }
  assertEquals(memoryAllocated("cpu") - before, 2 * MIB);
  assertEquals(maxMemoryAllocated("cpu") - before, 3 * MIB);
  assertEquals(memoryReserved("cpu") >= before + 3 * MIB, true);
  noGrad(() => {
    for (let i = 0; i < 3; i++) ones([MIB / 4]);
  });
  assertEquals(memoryAllocated("cpu") - before, 5 * MIB);
  emptyCache("cpu");
  // The last one made may still stand in a register
  assert(memoryAllocated("cpu") - before <= 3 * MIB);
  assertEquals(memoryReserved("cpu"), memoryAllocated("cpu"));
  assertEquals(kept.at(1, 5).item(), 1);
  assertMatch(
    memorySummary("cpu"),
    /^memory of cpu +now +peak\nallocated +\d+\.\d\d MiB +\d+\.\d\d MiB\nreserved /,
  );
});

Deno.test("a compiled function reads the numbers at its own position", () => {
  const f = compile((x: Tensor) => {
    const before = memoryAllocated("cpu"), y = x.add(1), more = memoryAllocated("cpu") - before;
    return [y.mul(2), more] as const;
  });
  const x = ones([MIB / 4]);
  // Delays the next search for dropped memory
  emptyCache("cpu");
  for (let call = 0; call < 3; call++) assertEquals(f(x)[1], MIB);
});

Deno.test("allocations above the limit report the requested and the held size", () => {
  emptyCache("cpu");
  const held = memoryReserved("cpu"), limit = held + 16 * MIB;
  setMemoryLimit(limit, "cpu");
  try {
    const error = assertThrows(() => ones([8, MIB]), OutOfMemory);
    assertEquals(
      error.message,
      `Expected room for float32 [8, 1048576] (33554432 bytes) on cpu but found none, where ${held} bytes are held of at most ${limit}`,
    );
    assertEquals(error.shortage, { held, limit, what: "float32 [8, 1048576]" });
    // The obstacle is gone, and a request that fits succeeds
    assertEquals(ones([2, MIB]).at(1, 5).item(), 1);
  } finally {
    setMemoryLimit(null, "cpu");
  }
  assertThrows(
    () => setMemoryLimit(-1, "cpu"),
    Error,
    "Expected a positive number of bytes or null but found -1",
  );
});

Deno.test("the limit of a device comes from the environment", () => {
  assertEquals(memoryLimit("cpu", ""), undefined);
  assertEquals(memoryLimit("cpu", "1.5GiB"), 1.5 * 2 ** 30);
  assertEquals(memoryLimit("cpu", "webgpu=1GiB"), undefined);
  assertEquals(memoryLimit("webgpu", "4096, webgpu=512MiB"), 512 * MIB);
  assertThrows(
    () => memoryLimit("cpu", "much"),
    Error,
    'as in 8GiB or cpu=8GiB,webgpu=512MiB but found "much"',
  );
});

Deno.test("allocation sizes are few and little larger than requested", () => {
  const sizes = new Set<number>();
  for (let bytes = 1; bytes < 64 * MIB; bytes = Math.ceil(bytes * 1.01)) {
    const size = sizeClass(bytes);
    assert(size >= bytes && size <= Math.max(bytes * 1.125, bytes + 63), `${bytes} bytes take ${size}`);
    assertEquals([size % 64, sizeClass(size)], [0, size]);
    sizes.add(size);
  }
  assert(sizes.size < 200);
});

Deno.test("large buffers of the host begin at huge pages, and cost nothing once released", () => {
  const buffer = hostPages(4 * MIB), address = Deno.UnsafePointer.value(Deno.UnsafePointer.of(buffer));
  new Uint8Array(buffer).fill(1);
  if (Deno.build.os === "linux") assertEquals(Number(address) % (2 * MIB), 0);
  assertEquals(new Uint8Array(buffer)[4 * MIB - 1], 1);
});

/** The storages of a backward pass, in multiples of one of them, counted where each gradient of a chain arrives. */
function storagesInBackward(links: number, retainGraph: boolean): number[] {
  const x = ones([256, 1024], { requiresGrad: true }), counts: number[] = [];
  const build = (): Tensor => {
    let y = x;
    for (let i = 0; i < links; i++) {
      y = y.exp();
      y.registerHook(() => {
        emptyCache("cpu");
        counts.push(Math.round((memoryAllocated("cpu") - before) / MIB));
      });
    }
    return y.sum();
  };
  emptyCache("cpu");
  const before = memoryAllocated("cpu"), loss = build();
  loss.backward(null, { retainGraph });
  return counts;
}

Deno.test("backward drops what each node saved before the next one runs", () => {
  const counts = storagesInBackward(5, false);
  assertEquals(counts.slice(2).map((count) => count - (counts.at(-1) ?? 0)), [2, 1, 0]);
  const kept = storagesInBackward(5, true);
  assertEquals(new Set(kept.slice(2)).size, 1);
});

Deno.test({
  name: "webgpu: a loop of 10,000 ops that drops its results holds only a few of them",
  ignore: SKIP_WEBGPU,
  fn: async () => {
    await init({ device: "webgpu" });
    const x = ones([16, 1024], { device: "webgpu" });
    const limit = memoryReserved("webgpu") + 4 * MIB;
    setMemoryLimit(limit, "webgpu");
    try {
      let y = x;
      noGrad(() => {
        for (let i = 0; i < 10_000; i++) {
          x.add(1);
          if (i % 10 === 0) y = y.add(1);
        }
      });
      assertEquals([y.at(0, 0).item(), y.at(15, 1023).item()], [1001, 1001]);
      const most = Math.floor((limit - memoryAllocated("webgpu")) / (4 * MIB)) * MIB + limit;
      const error = assertThrows(() => ones([most / 4], { device: "webgpu" }), OutOfMemory);
      assertMatch(
        error.message,
        /^Expected room for float32 \[\d+\] \(\d+ bytes\) on webgpu but found none, where \d+ bytes are held of at most \d+$/,
      );
      assertEquals(x.add(1).sum().item(), 2 * 16 * 1024);
    } finally {
      setMemoryLimit(null, "webgpu");
    }
  },
});
