/**
 * Typed arrays, DataViews and buffers of the program in compiled functions: changing contents need no further versions,
 * and writes are visible as in the program.
 */
import { assertEquals } from "@std/assert";
import { difference, faults, observe, type Program } from "../cli/fuzz/language/observation.ts";
import { randomNumbers, sampleBySeed } from "./support/sampling.ts";
import { compile, compiler, cond, fromTypedArray, stack, type Tensor, tensor } from "../mod.ts";

const floats = (n: number, seed: number) =>
  Float32Array.from({ length: n }, (_, i) => Math.sin(i * 1.3 + seed) * 3);
const bytes = (n: number, seed: number) =>
  Uint8Array.from({ length: n }, (_, i) => (i * 37 + seed * 101) % 256);
const row = () => tensor([1.5, 2.5, 3.5, 4.5]);

interface Expected {
  readonly breaks?: number;
  readonly entries?: number;
}

/** Calls a function four times, plainly and compiled, and compares everything that shows. */
async function agree(
  f: (...args: never[]) => unknown,
  args: (k: number) => readonly unknown[],
  { breaks = 0, entries = 1 }: Expected = {},
): Promise<void> {
  const scenario: Program = ({ compile, see, attempt }) => {
    const run = compile(f);
    for (let k = 0; k < 4; k++) {
      const given = args(k);
      attempt(() => Reflect.apply(run, undefined, given));
      see(given);
    }
  };
  compiler.reset();
  const plain = await observe(scenario, (fn) => fn);
  const before = faults(), compiled = await observe(scenario, (fn) => compile(fn, { backend: "eager" }));
  assertEquals([difference(plain, compiled), faults()], [null, before]);
  const made = compiler.cacheEntries(f).length;
  const { graphBreakCount } = Reflect.apply(compiler.explain(f), undefined, args(0));
  assertEquals({ breaks: graphBreakCount, entries: made }, { breaks, entries });
}

Deno.test("typed arrays become tensors whose elements each call passes", async () => {
  await agree((b: Uint8Array) => tensor(b).float().div(255), (k) => [bytes(4, k)]);
  await agree((b: Float32Array) => fromTypedArray(b, [2, 3]).sum([1]), (k) => [floats(6, k)]);
  await agree((b: Float32Array) => tensor(b).sum(), (k) => [floats(4 + k, k)], { entries: 2 });
  await agree((b: Float32Array) => tensor([...b, 0.5]), (k) => [floats(3, k)]);
  await agree(
    (b: Float32Array) => tensor(b.slice(1, 4)).add(tensor(b.subarray(2, 5))),
    (k) => [floats(6, k)],
  );
  await agree((b: BigInt64Array) => tensor(b).add(1), (k) => [BigInt64Array.of(BigInt(k), 5n)]);
  await agree((b: ArrayBuffer) => tensor(new Float32Array(b, 4, 2)), (k) => [floats(3, k).buffer]);
  await agree((b: Float32Array) => {
    const before = tensor(b), copy = b.slice();
    b[0] = 100;
    copy[1] = 7;
    return [before, tensor(b), tensor(copy).add_(1), copy];
  }, (k) => [floats(3, k)]);
  await agree((b: Int16Array) => {
    const frames: Tensor[] = [];
    for (let i = 0; i + 4 <= b.length; i += 2) frames.push(tensor(b.subarray(i, i + 4)).float().div(32768));
    return stack(frames);
  }, (k) => [Int16Array.from(floats(8, k), (v) => v * 5000)]);
  // The type follows from whether all numbers are whole
  await agree((b: Float32Array) => tensor([b[0] ?? 0, 2]), (k) => [Float32Array.of(k % 2 ? 0.5 : 4)], {
    entries: 2,
  });
});

Deno.test("elements are numbers that each call passes", async () => {
  await agree((b: Float32Array, x: Tensor) => x.mul(b[0] ?? 0).add(b[9] ?? 5), (k) => [floats(2, k), row()]);
  await agree((b: Float32Array, x: Tensor) => {
    let sum = 0;
    for (const [i, each] of b.entries()) sum += each * i;
    return x.sub(sum / b.length).mul(Math.max(...b)).add(b.reduce((a, each) => a + each, 0));
  }, (k) => [floats(8, k), row()]);
  // Longer than an expression that generated code repeats
  await agree((b: Float32Array, x: Tensor) => {
    let sum = 0;
    for (let i = 0; i < b.length; i++) sum += (b[i] ?? 0) ** 2;
    return x.div(Math.sqrt(sum));
  }, (k) => [floats(250, k), row()]);
  await agree((v: DataView, x: Tensor) => x.mul(v.getInt16(1)).add(v.getFloat32(4, true)), (k) => {
    const view = new DataView(bytes(12, k).buffer, 2);
    view.setFloat32(4, k / 3, true);
    return [view, row()];
  });
  await agree(
    (table: Float32Array, at: Uint8Array, x: Tensor) => x.mul(table.subarray(1)[(at[0] ?? 0) & 3] ?? 0),
    (k) => [floats(6, 1), Uint8Array.of(k), row()],
  );
  await agree((b: Float32Array, x: Tensor) => {
    return cond(x.sum().gt(b[0] ?? 0), () => x.mul(b[1] ?? 0), () => x.sub(tensor(b).sum()));
  }, (k) => [floats(4, k * 9), row()]);
});

Deno.test("writes to typed arrays and views are those of the language", async () => {
  const classes = [
    Int8Array,
    Uint8Array,
    Uint8ClampedArray,
    Int16Array,
    Uint16Array,
    Int32Array,
    Uint32Array,
  ];
  for (const Class of [...classes, Float16Array, Float32Array, Float64Array]) {
    await agree(
      (b: InstanceType<typeof Class>, n: number, x: Tensor) => {
        b[0] = n * 1e4;
        b[1] = -n;
        b[2] = 2.5;
        b[3] = 300;
        b[9] = 1;
        return [b[2], b[3], b[9], x.add(b[2])];
      },
      (k) => [new Class(4), k * 1234.567 + 0.5, row()],
      { entries: 2 },
    );
  }
  await agree((b: Float32Array, x: Tensor) => {
    b.fill(3, 1, 3);
    b.copyWithin(0, 2);
    b.set(b.subarray(0, 3), 1);
    b.reverse();
    return x.mul(b[1] ?? 0);
  }, (k) => [floats(5, k), row()]);
  await agree((v: DataView, x: Tensor) => {
    v.setUint16(0, 70000, true);
    v.setFloat64(8, 1 / 3);
    v.setInt8(3, -2);
    v.setFloat16(16, 1 / 3);
    return x.add(v.getUint16(0, true)).sub(v.getFloat16(16)).mul(v.getFloat64(8)).sub(v.getInt32(4));
  }, (k) => [new DataView(bytes(20, k).buffer, 1), row()]);
  await agree(
    (x: Tensor, n: number) => {
      const buffer = new ArrayBuffer(16), view = new DataView(buffer), shown = new Uint8Array(buffer, 4, 4);
      view.setFloat32(0, n, true);
      shown[1] = n * 3;
      return [buffer, view, shown, shown.buffer === buffer, x.mul(shown[2] ?? 0)];
    },
    (k) => [row(), k + 0.5],
    { entries: 2 },
  );
  await agree(
    (b: Float64Array, x: Tensor) => {
      const own = new Float64Array(2);
      own[1] = b[0] = Number(x.sum().item());
      return [own, x.mul(2)];
    },
    (k) => [Float64Array.from(floats(2, k)), row()],
  );
});

Deno.test("arrays that share memory see each other's writes, and calls determine which do", async () => {
  await agree((b: Float32Array, x: Tensor) => {
    const window = b.subarray(1, 3);
    window[0] = 8;
    b[2] = 9;
    return [window, window[1], window.buffer === b.buffer, x.mul(window[1] ?? 0)];
  }, (k) => [floats(5, k), row()]);
  await agree((a: Float32Array, b: Float32Array, x: Tensor) => {
    a[0] = 3;
    return [b[0], b[1], x.mul(b[1] ?? 0)];
  }, (k) => {
    const one = floats(8, k);
    return [one.subarray(2, 6), k % 2 ? one.subarray(1) : floats(7, k), row()];
  }, { entries: 2 });
  // A number of another form, of which all bytes were written, or some
  await agree((b: Float32Array, x: Tensor) => {
    const words = new Uint32Array(b.buffer);
    words[0] = 0x40490fdb;
    return x.mul(b[0] ?? 0);
  }, (k) => [floats(2, k), row()]);
  await agree(
    (b: Float32Array, x: Tensor) => {
      const halves = new Uint16Array(b.buffer);
      halves[1] = 0x4049;
      return x.mul(b[0] ?? 0);
    },
    (k) => [floats(2, k), row()],
    { breaks: 1 },
  );
});

Deno.test("lost, resized or shared memory, and odd objects, end graphs or are right", async () => {
  const write = (b: Float32Array, x: Tensor) => {
    b[0] = 1;
    return [b.length, x.mul(b.byteLength)];
  };
  await agree(write, (k) => {
    const b = floats(4, k);
    if (k === 2) structuredClone(b.buffer, { transfer: [b.buffer] });
    return [b, row()];
  }, { entries: 2 });
  await agree(write, (k) => {
    const shared = new Float32Array(new SharedArrayBuffer(16));
    return [k === 2 ? shared : floats(4, k), row()];
  }, { entries: 2 });
  await agree(write, (k) => {
    const resizable = new Float32Array(new ArrayBuffer(8, { maxByteLength: 16 }));
    return [k === 2 ? resizable : floats(2, k), row()];
  }, { entries: 2 });
  await agree(
    (b: Float32Array, x: Tensor) => {
      try {
        Object.freeze(b);
      } catch (error) {
        return [error instanceof TypeError, x.mul(2)];
      }
      return x;
    },
    (k) => [floats(2, k), row()],
    { breaks: 1 },
  );
  await agree(
    (b: Float32Array, x: Tensor) => {
      const heir = Object.create(b);
      heir[0] = 5;
      heir[9] = 6;
      return [heir[0], heir[9], Object.keys(heir), x.mul(2)];
    },
    (k) => [floats(2, k), row()],
    { breaks: 2 },
  );
  await agree((b: Float32Array, x: Tensor) => [b.slice(1), b.length, x.mul(2)], (k) => {
    const b = floats(3, k);
    if (k === 2) Object.defineProperty(b, "constructor", { value: Float64Array });
    if (k === 3) Object.defineProperty(b, "length", { value: 1 });
    return [b, row()];
  }, { entries: 3 });
});

Deno.test("guards on typed arrays are on their class and length, never on contents", () => {
  const f = compile((b: Float32Array, x: Tensor) => x.mul(b[0] ?? 0).add(tensor(b)), { backend: "eager" });
  f(floats(4, 1), row());
  const texts = compiler.cacheEntries(f).flatMap(({ guards }) => guards.codeParts);
  assertEquals(texts.filter((text) => text.includes('L["b"]')).map((text) => text.replace(/ {2}#.*/, "")), [
    '___check_type(L["b"], Float32Array)',
    '___shows_bytes(L["b"], Float32Array)',
    'lengthOf(L["b"]) === 4',
  ]);
});

Deno.test("a loop continues with the element whose bytes ended the graph", async () => {
  const program: Program = ({ compile, see }) => {
    const run = compile((x: Tensor, floats: Float32Array, bytes: Uint8Array) => {
      const log: number[] = [];
      for (const each of floats) {
        bytes[5] = 7;
        log.push(each);
      }
      return [x.add(log.length), log];
    });
    for (let k = 0; k < 2; k++) {
      const buffer = new ArrayBuffer(12);
      see(run(row(), new Float32Array(buffer), new Uint8Array(buffer)));
    }
  };
  const plain = await observe(program, (fn) => fn);
  assertEquals(difference(plain, await observe(program, (fn) => compile(fn, { backend: "eager" }))), null);
});

Deno.test("values other than numbers are converted as in the language, also where the graph ends before they are read", async () => {
  const values: readonly unknown[] = [undefined, null, true, "3", "x", "", -0];
  await agree((x: Tensor) => {
    const written = values.map((value) => {
      const made = new Float64Array([value] as number[]), bytes = new Uint8ClampedArray(2);
      const view = new DataView(new ArrayBuffer(8));
      bytes.fill(value as number, 1);
      view.setFloat32(4, value as number);
      return [made, bytes, view];
    });
    return [x.add(1), written];
  }, (k) => [tensor([k])]);
});

Deno.test("memory of the call is shared by arrays made of each other, and read in any form", async () => {
  await agree((x: Tensor, by: number) => {
    const all = new Float32Array(6), part = all.subarray(2, 5), last = part.subarray(-1);
    all.forEach((_, i) => all[i] = i * by);
    part[0] = 100;
    last[0] = 7;
    return [x.add(tensor(part.subarray(0, 3)).sum()), all, part.byteOffset, last.buffer === all.buffer, [
      ...last,
    ]];
  }, () => [row(), 1.5]);
  await agree((x: Tensor, size: number) => {
    const frame = new ArrayBuffer(16), head = new DataView(frame), body = new Float32Array(frame, 8);
    head.setUint32(0, 0x61626364);
    head.setUint16(4, size, true);
    body.set([1, size]);
    const name = new TextDecoder().decode(new Uint8Array(frame, 0, 4)), bytes = new Uint8Array(frame);
    return [
      name,
      x.add(tensor(body).sum()),
      x.mul(tensor(bytes.subarray(0, 4))),
      head.getFloat32(8, true),
      bytes,
    ];
  }, () => [row(), 258]);
});

/** Writes with a value, or reads. */
type Access = readonly [type: string, at: number, little: boolean, value: number | null];

const TYPES = {
  Int8: 1,
  Uint8: 1,
  Int16: 2,
  Uint16: 2,
  Int32: 4,
  Uint32: 4,
  Float32: 4,
  Float64: 8,
} as const;

/** Accesses to 16 bytes, of which a seed draws types, places, orders of bytes and values. */
function drawnAccesses(seed: number): readonly Access[] {
  const random = randomNumbers(seed), draw = (count: number): number => Math.floor(random() * count);
  const values = [0, -1, 255, 65537, 1.5, -0.1, 2 ** 31, 1e300, NaN];
  return Array.from({ length: 8 }, () => {
    const [type = "", size = 1] = Object.entries(TYPES)[draw(8)] ?? [];
    return [type, draw(17 - size), draw(2) === 0, draw(5) < 3 ? values[draw(values.length)] ?? 0 : null];
  });
}

Deno.test("memory that is written in some forms is read in others as in the language", async () => {
  for (const seed of sampleBySeed(Array.from({ length: 2000 }, (_, k) => k), 12)) {
    const accesses = drawnAccesses(seed),
      program: Program = ({ compile, see, attempt }) => {
        const run = compile((given: ArrayBuffer | null, x: Tensor) => {
          const view = new DataView(given ?? new ArrayBuffer(16)), read: unknown[] = [];
          for (const [type, at, little, value] of accesses) {
            if (value === null) read.push(Reflect.get(view, `get${type}`).call(view, at, little));
            else Reflect.get(view, `set${type}`).call(view, at, value, little);
          }
          const part = new Int16Array(view.buffer, 6, 4);
          return [read, new Uint8Array(view.buffer), part, x.add(tensor(part))];
        });
        const given = bytes(16, seed).buffer;
        for (const each of [null, given, null]) attempt(() => run(each, row()));
        see(given);
      };
    const plain = await observe(program, (fn) => fn), before = faults();
    const compiled = await observe(program, (fn) => compile(fn, { backend: "eager" }));
    assertEquals([difference(plain, compiled), faults()], [null, before], `seed ${seed}`);
  }
});
