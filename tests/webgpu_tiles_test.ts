/** Tiles of matrix products on WebGPU: which ones are chosen, and products of each kind against float64. */
import { assert, assertEquals } from "@std/assert";
import { printMatmul } from "../backends/webgpu/matmul.ts";
import { apart } from "../backends/webgpu/print/bindings.ts";
import { writeParameters } from "../backends/webgpu/print/parameters.ts";
import { type Tile, TILES, tileThreads, tilingOf } from "../backends/webgpu/product_tiles.ts";
import { tilesOf } from "../backends/webgpu/target.ts";
import type { BufferDecl, BufferView, ExternKernel, Program } from "../lib/loops/ir.ts";
import { type Dim, evaluate } from "../lib/sym/expr.ts";
import { randomNumbers, sampleBySeed, testSeed } from "./support/sampling.ts";
import { unknownSize } from "./support/sizes.ts";
import { SKIP_WEBGPU } from "./support/webgpu.ts";

const KIBI = 1 << 10;
const view = (...shape: Dim[]): BufferView => ({ buffer: 0, offset: 0, shape, strides: [shape[1] ?? 1, 1] });

Deno.test("changing sizes have the tiles of the sizes that they are made for", () => {
  const threads = (rows: Dim) => {
    const kernel: ExternKernel = {
      kind: "extern",
      name: "mm",
      call: { op: "matmul", accumulate: false },
      inputs: [view(rows, 64), view(64, 256)],
      outputs: [view(rows, 256)],
      origins: [],
    };
    return tileThreads(tilesOf(kernel, 32 * KIBI));
  };
  for (const [rows, many] of [[256, 128], [1 << 13, 64]] as const) {
    assertEquals([threads(rows), threads(unknownSize("rows", rows))], [many, many]);
  }
});

/** A product; second operands may be read along the depth. */
type Sizes = readonly [rows: number, columns: number, depth: number, along: boolean];

function wayOf([rows, columns, depth, along]: Sizes, kibi = 32): [tile: string, parts: number] {
  const product = { batch: 1, rows, columns, depth, along, finished: false };
  const { tile, parts } = tilingOf(product, { bytes: kibi * KIBI, parts: Infinity });
  return [nameOf(tile), parts];
}

const nameOf = ({ rows, columns, slices }: Tile): string => `${rows} × ${columns}, ${slices}`;

Deno.test("products have tiles by the number of them, and are divided where they are few and deep", () => {
  assertEquals(wayOf([1024, 3072, 768, false]), ["64 × 96, 1", 1]);
  assertEquals(wayOf([1024, 768, 3072, false]), ["64 × 96, 1", 4]);
  assertEquals(wayOf([394, 2304, 768, false]), ["64 × 96, 1", 3]);
  assertEquals(wayOf([394, 2304, 768, true]), ["64 × 64, 1", 2]);
  assertEquals(wayOf([4096, 4096, 4096, false]), ["128 × 128, 1", 1]);
  // Of sliced tiles only the smallest fits the workgroup memory that every device has
  assertEquals([32, 16].map((kibi) => wayOf([98, 3072, 512, false], kibi)[0]), ["64 × 64, 2", "32 × 64, 2"]);
});

/** A product of sizes that no tile divides, as a program. */
function programOf([rows, columns, depth, along]: Sizes): Program {
  const declared = (name: string, length: number, kind: "input" | "output"): BufferDecl => ({
    name,
    dtype: "float32",
    length,
    role: kind === "input" ? { kind, written: false } : { kind },
  });
  const second = {
    buffer: 1,
    offset: 0,
    shape: [depth, columns],
    strides: along ? [1, depth] : [columns, 1],
  };
  return {
    name: "product",
    buffers: [
      declared("a", rows * depth, "input"),
      declared("b", depth * columns, "input"),
      declared("out", rows * columns, "output"),
    ],
    inputs: [0, 1],
    outputs: [2],
    sizes: [],
    arenaBytes: 0,
    kernels: [{
      kind: "extern",
      name: "mm",
      call: { op: "matmul", accumulate: false },
      inputs: [view(rows, depth), second],
      outputs: [{ ...view(rows, columns), buffer: 2 }],
      origins: [],
    }],
  };
}

/** Runs the shader of one product. */
async function runTile(
  device: GPUDevice,
  sizes: Sizes,
  tile: Tile,
  given: readonly Float32Array<ArrayBuffer>[],
) {
  const program = programOf(sizes), [kernel] = program.kernels, [rows, columns] = sizes;
  assert(kernel?.kind === "extern");
  const { code, memories, words, workgroups } = printMatmul(kernel, program, {
    placement: apart(32 * KIBI),
    tile,
  });
  const numbers = new Int32Array(Math.max(4, words.length + 1));
  writeParameters(numbers, words, { program, sizes: [], byteOffsets: [] });
  const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST | GPUBufferUsage.COPY_SRC;
  const result = device.createBuffer({ size: 4 * rows * columns, usage });
  const bound = [numbers, ...given].map((data) => {
    const buffer = device.createBuffer({ size: data.byteLength, usage });
    device.queue.writeBuffer(buffer, 0, data);
    return buffer;
  });
  const pipeline = device.createComputePipeline({
    layout: "auto",
    compute: { module: device.createShaderModule({ code }), entryPoint: "main" },
  });
  const places = [0, ...memories.map((each) => each.kind === "input" ? 1 + each.position : -1)];
  const group = device.createBindGroup({
    layout: pipeline.getBindGroupLayout(0),
    entries: places.map((at, binding) => ({ binding, resource: { buffer: bound[at] ?? result } })),
  });
  const encoder = device.createCommandEncoder(), pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  pass.setBindGroup(0, group);
  pass.dispatchWorkgroups(evaluate(workgroups.items, () => 0) / workgroups.each);
  pass.end();
  const copy = device.createBuffer({
    size: result.size,
    usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST,
  });
  encoder.copyBufferToBuffer(result, 0, copy, 0, result.size);
  device.queue.submit([encoder.finish()]);
  await copy.mapAsync(GPUMapMode.READ);
  return new Float32Array(copy.getMappedRange().slice(0));
}

Deno.test({
  name: "products by each tile are those of float64",
  ignore: SKIP_WEBGPU,
  async fn() {
    const adapter = await navigator.gpu.requestAdapter();
    const device = await adapter?.requestDevice({
      requiredLimits: { maxComputeWorkgroupStorageSize: 32 * KIBI },
    });
    assert(device);
    const next = randomNumbers(testSeed()),
      numbers = (count: number) => Float32Array.from({ length: count }, next);
    // Rows and columns beyond a tile; vectors are read only from multiples of four. A driver takes seconds for a tile
    const all = [[131, 204, 84], [29, 61, 19]].flatMap(([rows = 0, columns = 0, depth = 0]) =>
      TILES.flatMap((tile) =>
        [false, true].map((along) => ({ tile, sizes: [rows, columns, depth, along] as const }))
      )
    );
    for (const { tile, sizes } of sampleBySeed(all, 1)) {
      const [rows, columns, depth, along] = sizes;
      const [a, b] = [numbers(rows * depth), numbers(depth * columns)] as const;
      const found = await runTile(device, sizes, tile, [a, b]);
      for (let k = 0; k < rows * columns; k++) {
        const [i, j] = [Math.floor(k / columns), k % columns];
        let sum = 0;
        for (let d = 0; d < depth; d++) {
          sum += (a[i * depth + d] ?? NaN) * (b[along ? j * depth + d : d * columns + j] ?? NaN);
        }
        const off = Math.abs((found[k] ?? NaN) - sum);
        assert(
          off < 1e-5 * depth,
          `Expected ${sum} at ${k} of ${sizes} by ${nameOf(tile)} but found ${found[k]}`,
        );
      }
    }
    device.destroy();
  },
});
