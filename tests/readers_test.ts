/** Readers of common data formats, and transforms of images. */
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { gzipSync } from "node:zlib";
import { arange, data, manualSeed, type Tensor, tensor, zeros } from "../mod.ts";
import { DynError } from "../lib/base/errors.ts";
import { encodePng } from "../lib/debug/summary/png.ts";
import { withFolder } from "./support/process.ts";
import imageTransforms from "./data/image_transforms.json" with { type: "json" };

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

Deno.test("colours and places of pixels change as torchvision changes them", () => {
  const picture = arange(90).mul(37).remainder(256).reshape(3, 5, 6).to("uint8");
  const exactly = (factor: number): readonly [number, number] => [factor, factor];
  // Ranges of one number leave nothing to chance
  const cases: Readonly<Record<keyof typeof imageTransforms, data.transforms.ImageTransform>> = {
    grayscale: transforms.grayscale(),
    brightness: transforms.colorJitter({ brightness: exactly(1.4) }),
    contrast: transforms.colorJitter({ contrast: exactly(1.6) }),
    saturation: transforms.colorJitter({ saturation: exactly(0.3) }),
    hue: transforms.colorJitter({ hue: exactly(-0.2) }),
    hueBack: transforms.colorJitter(0, 0, 0, exactly(0.35)),
    blur: transforms.gaussianBlur([3, 5], 0.9),
    rotation: transforms.randomRotation({ degrees: exactly(30) }),
    rotationBilinear: transforms.randomRotation(exactly(-25), "bilinear"),
    rotationExpanded: transforms.randomRotation(exactly(40), { interpolation: "bilinear", expand: true }),
    affine: transforms.randomAffine(exactly(20), {
      scale: exactly(1.3),
      shear: exactly(10),
      interpolation: "bilinear",
    }),
  };
  for (const [name, wanted] of Object.entries(imageTransforms)) {
    const change = Object.entries(cases).find(([each]) => each === name)?.[1];
    assert(change);
    const found = change(picture), precise = change(picture.to("float64").div(255));
    assertEquals([found.dtype, found.shape, precise.shape], [
      "uint8",
      wanted.uint8.shape,
      wanted.float64.shape,
    ]);
    const apart = found.to("float64").sub(tensor(wanted.uint8.values).reshape(found.shape)).abs();
    // float32 may decide the other way where a value is halfway between integers
    assert(apart.max().item() <= 1 && apart.sum().item() <= 2, `${name} of integers: ${apart.sum().item()}`);
    const off = precise.sub(tensor(wanted.float64.values, { dtype: "float64" }).reshape(precise.shape)).abs();
    assert(off.max().item() < 2e-6, `${name} of floats: ${off.max().item()}`);
  }
  assertEquals(transforms.randomInvert(1)(picture).at(0, 0, 1).item(), 255 - 37);
  assertEquals(transforms.randomGrayscale({ p: 1 })(picture).shape, [3, 5, 6]);
  assertEquals(transforms.randomGrayscale({ p: 0 })(picture).tolist(), picture.tolist());
  // Python rounds (5 - 2) / 2 to 2, and (5 - 4) / 2 to 0
  const rows = arange(25).reshape(1, 5, 5).to("uint8");
  assertEquals(transforms.centerCrop(2)(rows).tolist(), [[[12, 13], [17, 18]]]);
  assertEquals(transforms.centerCrop([4, 5])(rows).at(0, 0).tolist(), [0, 1, 2, 3, 4]);
});

Deno.test("random parts of images are within their ranges, and wrong settings of transforms are rejected", () => {
  // Each pixel's value says where it was
  const [height, width] = [20, 30], places = arange(600).reshape(1, 20, 30).to("float32");
  manualSeed(3);
  const crop = transforms.randomResizedCrop([40, 60], { scale: [0.25, 0.5], ratio: [0.5, 2] });
  for (let k = 0; k < 30; k++) {
    // Corners keep their values where images grow
    const grown = crop(places),
      [first, right, below] = [[0, 0], [0, 59], [39, 0]].map(([i = 0, j = 0]) =>
        Math.round(grown.at(0, i, j).item())
      );
    const w = (right ?? 0) - (first ?? 0) + 1, h = ((below ?? 0) - (first ?? 0)) / width + 1;
    assert(w > 0 && w <= width && Number.isInteger(h) && h > 0 && h <= height, `${w} x ${h}`);
    const share = w * h / 600;
    assert(share > 0.2 && share < 0.56 && w / h > 0.4 && w / h < 2.4, `${w} x ${h}`);
  }
  // No part of a long strip has the wanted ratio and area: the centre is taken
  const strip = arange(40).reshape(1, 1, 40).to("float32");
  const middle = transforms.randomResizedCrop(1, { scale: [1, 1], ratio: [1, 2] })(strip);
  assertEquals(middle.tolist(), [[[19.5]]]);
  const draw = (seed: number) => {
    manualSeed(seed);
    const both = transforms.compose([
      transforms.colorJitter(0.4, 0.4, 0.4, 0.1),
      transforms.randomRotation(20),
      transforms.gaussianBlur(3),
      transforms.randomAffine(0, { translate: [0.2, 0.1] }),
    ]);
    return JSON.stringify(both(places.div(600).expand(3, 20, 30)).tolist());
  };
  assertEquals(draw(1), draw(1));
  assert(draw(1) !== draw(2));
  const wrong: readonly (readonly [() => unknown, string])[] = [
    [() => Reflect.apply(transforms.resize, null, [{ size: 3 }]), "for the size of resize"],
    [() => Reflect.apply(transforms.centerCrop, null, [{ zzz: 1 }]), "for the size of centerCrop"],
    [() => transforms.randomCrop(0), "for the size of randomCrop"],
    [() => transforms.grayscale(2), "1 or 3"],
    [() => transforms.grayscale()(arange(12).reshape(2, 2, 3)), "1 or 3 channels"],
    [() => transforms.colorJitter({ hue: 0.6 }), "in [-0.5, 0.5]"],
    [() => transforms.colorJitter(-1), "brightness of colorJitter"],
    [() => transforms.colorJitter({ contrast: [2, 1] }), "in order for contrast"],
    [() => Reflect.apply(transforms.colorJitter, null, [{ brightnes: 1 }]), "found brightnes"],
    [() => transforms.gaussianBlur(4), "odd sizes"],
    [
      () => Reflect.apply(transforms.gaussianBlur, null, [null]),
      "a list for kernelSize of gaussianBlur but found null",
    ],
    [
      () => Reflect.apply(transforms.randomAffine, null, [3, true]),
      "a list for translate of randomAffine but found true",
    ],
    [() => transforms.gaussianBlur(3, 0), "a positive sigma"],
    [() => transforms.randomRotation(-1), "at least 0"],
    [() => Reflect.apply(transforms.randomRotation, null, [3, "cubic"]), "nearest, bilinear"],
    [() => transforms.randomAffine(0, { translate: [2, 0] }), "two shares"],
    [() => transforms.randomAffine(0, { scale: [0, 1] }), "a positive scale"],
    [() => transforms.randomResizedCrop(3, { ratio: [0, 1] }), "a positive ratio"],
  ];
  for (const [call, found] of wrong) assertThrows(call, DynError, found);
});
