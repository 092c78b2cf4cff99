/** Readers of common data formats, and transforms of images. */
import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { gzipSync } from "node:zlib";
import { arange, data, manualSeed, type Tensor, tensor, zeros } from "../mod.ts";
import { DynError } from "../lib/base/errors.ts";
import { encodePng } from "../lib/debug/summary/png.ts";
import { withFolder } from "./support/process.ts";

const { transforms } = data;
const bytes = (text: string) => new TextEncoder().encode(text);

/** A file as NumPy writes it: its header is filled up to 128 bytes. */
function npy(header: string, elements: ArrayBufferView): Uint8Array {
  const start = Uint8Array.of(0x93, ...bytes("NUMPY"), 1, 0, 118, 0);
  const text = bytes(header.padEnd(117) + "\n");
  return Uint8Array.from([...start, ...text, ...new Uint8Array(elements.buffer)]);
}

Deno.test("arrays that NumPy saved are read as tensors, in either order, and vice versa", async () => {
  const plain = npy(
    "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
    Float32Array.of(0, 1, 2, 3, 4, 5.5),
  );
  assertEquals(data.readNpy(plain).tolist(), [[0, 1, 2], [3, 4, 5.5]]);
  const columns = npy(
    "{'descr': '<i8', 'fortran_order': True, 'shape': (2, 3), }",
    BigInt64Array.of(0n, 3n, 1n, 4n, 2n, 5n),
  );
  assertEquals(data.readNpy(columns).tolist(), [[0, 1, 2], [3, 4, 5]]);
  const single = npy("{'descr': '<f8', 'fortran_order': False, 'shape': (), }", Float64Array.of(3.5));
  assertEquals([data.readNpy(single).shape, data.readNpy(single).item()], [[], 3.5]);
  const swapped = npy("{'descr': '>i4', 'fortran_order': False, 'shape': (1,), }", Int32Array.of(1));
  assertThrows(() => data.readNpy(swapped), DynError, "one of the types f2, f4");
  assertThrows(() => data.readNpy(plain.subarray(0, 140)), DynError, "Expected 24 bytes of elements");
  assertThrows(() => data.readNpy(bytes("PK")), DynError, "an array that NumPy has saved but found 2 bytes");
  await withFolder(async (folder) => {
    for (
      const each of [arange(6).reshape(2, 3).t(), tensor([true, false]), zeros([], { dtype: "float16" })]
    ) {
      data.writeNpy(`${folder}/a.npy`, each);
      const { size } = await Deno.stat(`${folder}/a.npy`);
      const again = data.readNpy(`${folder}/a.npy`);
      assertEquals([again.tolist(), again.dtype], [each.tolist(), each.dtype]);
      assertEquals((size - each.numel() * each.elementSize()) % 64, 0);
    }
  });
});

Deno.test("tables are read by column; errors name the line of values that are not numbers", async () => {
  const table = await data.readCsv(bytes('name,x,y\n"Doe, J",1.5,2\nRoe,-3e2,nan\n'));
  assertEquals([table.length, table.columns, table.texts("name")], [2, ["name", "x", "y"], [
    "Doe, J",
    "Roe",
  ]]);
  assertEquals(table.tensor(["y", "x"]).tolist(), [[2, 1.5], [NaN, -300]]);
  assertEquals(table.tensor("x", { dtype: "float64" }).dtype, "float64");
  assertThrows(() => table.tensor("name"), DynError, 'a number in line 2, column name, but found "Doe, J"');
  assertThrows(() => table.tensor("z"), DynError, 'a column to be one of name, x, y but found "z"');
  const bare = await data.readCsv(bytes("1;2\n3;4\n"), { header: false, delimiter: ";" });
  assertEquals(bare.tensor().tolist(), [[1, 2], [3, 4]]);
  await assertRejects(() => data.readCsv(bytes("a,b\n1\n")), DynError, "Expected 2 cells in line 2");
  assertEquals(data.readJsonLines(bytes('{"a": 1}\n\n{"a": [2]}\n')), [{ a: 1 }, { a: [2] }]);
  assertThrows(() => data.readJsonLines(bytes('{"a": 1}\n{"a"')), DynError, "JSON in line 2");
  assertThrows(() => data.readJsonLines(bytes("3\n")), DynError, "an object in line 1");
});

Deno.test("digits and small images are read from their file formats", async () => {
  await withFolder(async (folder) => {
    const idx = (...shape: number[]) =>
      Uint8Array.from(
        [0, 0, 8, shape.length, ...shape.flatMap((n) => [0, 0, 0, n]), 1, 2, 3, 4, 5, 6, 7, 8].slice(
          0,
          4 + 4 * shape.length + shape.reduce((a, b) => a * b, 1),
        ),
      );
    Deno.writeFileSync(`${folder}/train-images-idx3-ubyte.gz`, gzipSync(idx(2, 2, 2)));
    await Deno.writeFile(`${folder}/train-labels-idx1-ubyte`, idx(2));
    const [pictures, labels] = data.mnist(folder).tensors;
    assertEquals([pictures.tolist(), labels.tolist(), labels.dtype], [[[[1, 2], [3, 4]], [[5, 6], [7, 8]]], [
      1,
      2,
    ], "int64"]);
    assertThrows(() => data.mnist(folder, { train: false }), DynError, "t10k-images-idx3-ubyte");
    assertThrows(() => data.readIdx(idx(2, 2, 2).subarray(0, 20)), DynError, "Expected 8 elements");
    const row = new Uint8Array(3 + 2 * 3072).fill(7);
    row[0] = 3;
    row[3073] = 9;
    Deno.writeFileSync(`${folder}/test_batch.bin`, row.subarray(0, 2 * 3073));
    const [small, classes] = data.cifar10(folder, { train: false }).tensors;
    assertEquals([small.shape, classes.tolist(), small.at(1, 2, 31, 31).item()], [[2, 3, 32, 32], [3, 9], 7]);
    Deno.writeFileSync(`${folder}/test_batch.bin`, row.subarray(0, 100));
    assertThrows(() => data.cifar10(folder, { train: false }), DynError, "rows of 3073 bytes");
  });
});

Deno.test("PNG and JPEG files are read as images of their channels", async () => {
  const pixels = Uint8Array.of(255, 0, 0, 0, 255, 0, 0, 0, 255, 9, 9, 9, 0, 0, 0, 255, 255, 255);
  const png = encodePng({ width: 3, height: 2, channels: 3, data: pixels });
  const picture = await data.readImage(png);
  assertEquals([picture.shape, picture.dtype], [[3, 2, 3], "uint8"]);
  assertEquals(picture.permute(1, 2, 0).reshape(-1).tolist(), [...pixels]);
  assertEquals((await data.readImage(png, "gray")).tolist(), [[[76, 150, 29], [9, 0, 255]]]);
  const gray = encodePng({ width: 2, height: 1, channels: 1, data: Uint8Array.of(5, 6) });
  assertEquals((await data.readImage(gray, "rgb")).tolist(), [[[5, 6]], [[5, 6]], [[5, 6]]]);
  // Eight by eight pixels of one grey, as small as JPEG gets
  const { encode } = (await import("npm:jpeg-js@^0.4.4")).default;
  const flat = encode({ width: 8, height: 8, data: new Uint8Array(256).fill(128) }, 90).data;
  const found = await data.readImage(new Uint8Array(flat));
  assertEquals([found.shape, found.sub(128).abs().max().item() <= 1], [[3, 8, 8], true]);
  await assertRejects(
    () => data.readImage(bytes("GIF89a")),
    DynError,
    "a PNG or JPEG file but found 6 bytes",
  );
});

Deno.test("tokenizers encode, pad and decode", async () => {
  const vocab = { "[UNK]": 0, "[PAD]": 1, hello: 2, world: 3 };
  const tokenizer = await data.readTokenizer(bytes(JSON.stringify({
    version: "1.0",
    added_tokens: [],
    normalizer: { type: "Lowercase" },
    pre_tokenizer: { type: "Whitespace" },
    post_processor: null,
    decoder: null,
    model: {
      type: "WordPiece",
      vocab,
      unk_token: "[UNK]",
      continuing_subword_prefix: "##",
      max_input_chars_per_word: 100,
    },
  })));
  assertEquals(tokenizer.encode("Hello World again"), [2, 3, 0]);
  assertEquals([tokenizer.decode([2, 3]), tokenizer.decode(tensor([3]))], ["hello world", "world"]);
  const { inputIds, attentionMask } = tokenizer.batch(["hello world", "world"], { padding: 1 });
  assertEquals([inputIds.tolist(), attentionMask.tolist()], [[[2, 3], [3, 1]], [[1, 1], [1, 0]]]);
  assertEquals(tokenizer.length, 4);
  await assertRejects(() => data.readTokenizer(bytes("{}")), DynError, "a tokenizer in 2 bytes");
});

Deno.test("images are cropped, flipped and normalised, with random numbers determined by a seed", () => {
  const picture = arange(2 * 4 * 6).reshape(2, 4, 6).to("uint8");
  const ready = transforms.compose([transforms.toFloat(), transforms.normalize([0, 0.5], [1, 0.5])]);
  assertEquals(ready(picture).at(0, 1).mul(255).round().tolist(), [6, 7, 8, 9, 10, 11]);
  assertEquals(ready(picture).at(1, 0, 0).item().toFixed(4), ((24 / 255 - 0.5) / 0.5).toFixed(4));
  assertEquals(transforms.centerCrop(2)(picture).at(0).tolist(), [[8, 9], [14, 15]]);
  assertEquals([transforms.resize(2)(picture).shape, transforms.resize([3, 5])(picture).dtype], [
    [2, 2, 3],
    "uint8",
  ]);
  // Like torch.nn.functional.interpolate with antialias=True
  const row = (size: readonly [number, number]) =>
    transforms.resize(size)(arange(10).square().reshape(1, 2, 5).to("float32"));
  const fixed = (x: Tensor) =>
    Array.from<unknown, string>(x.reshape(-1).toTypedArray(), (each) => Number(each).toFixed(4));
  assertEquals(fixed(row([1, 2])), ["19.2273", "37.2273"]);
  assertEquals(fixed(row([2, 7]).at(0, 1)), [
    "25.0000",
    "31.2857",
    "39.7143",
    "49.0000",
    "59.7143",
    "71.2857",
    "81.0000",
  ]);
  assertEquals(transforms.randomHorizontalFlip(1)(picture).at(0, 0).tolist(), [5, 4, 3, 2, 1, 0]);
  assertEquals(transforms.randomVerticalFlip(0)(picture).tolist(), picture.tolist());
  assertEquals(transforms.randomHorizontalFlip({ p: 1 })(picture).at(0, 0).tolist(), [5, 4, 3, 2, 1, 0]);
  const flips = [transforms.randomVerticalFlip(1), transforms.randomVerticalFlip(1)];
  assertEquals(transforms.randomApply(flips, { p: 1 })(picture).tolist(), picture.tolist());
  assertThrows(() => transforms.randomErasing(2), DynError, "p of randomErasing to be in [0, 1] but found 2");
  const draw = (seed: number) => {
    manualSeed(seed);
    const crop = transforms.randomCrop(3, { padding: 1 });
    return [0, 1, 2, 3].map(() => transforms.randomErasing(0.5)(crop(picture)).tolist());
  };
  assertEquals(draw(1), draw(1));
  assertEquals(JSON.stringify(draw(1)) === JSON.stringify(draw(2)), false);
  assertEquals(`${transforms.centerCrop(2)}`, "centerCrop(size=2)");
  assertThrows(
    () => transforms.centerCrop(5)(picture),
    DynError,
    "an image of at least [5,5] but found [4, 6]",
  );
  assertThrows(() => transforms.normalize([0], [1])(picture), DynError, "floats but found uint8");
});
