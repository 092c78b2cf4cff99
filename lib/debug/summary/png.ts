/** Encodes PNG files. Invariant: lossless. https://www.w3.org/TR/png-3 */
import process from "node:process";
import { concat } from "../../base/bytes.ts";

/** An image: one byte per channel, by rows; 1 channel is grey, 3 are colours, 4 with opacity. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly channels: 1 | 3 | 4;
  readonly data: Uint8Array;
}

/** Loaded for the first image, because few programs need it. */
const compression = () => process.getBuiltinModule("node:zlib");

const SIGNATURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);
const COLOUR_TYPES = { 1: 0, 3: 2, 4: 6 } as const;

function word(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value);
  return bytes;
}

function chunk(type: string, data: Uint8Array): Uint8Array {
  const body = concat(new TextEncoder().encode(type), data);
  return concat(word(data.length), body, word(compression().crc32(body)));
}

/** An image as a PNG file. */
export function encodePng({ width, height, channels, data }: Pixels): Uint8Array<ArrayBuffer> {
  const row = width * channels, filtered = new Uint8Array(height * (row + 1));
  for (let y = 0; y < height; y++) filtered.set(data.subarray(y * row, (y + 1) * row), y * (row + 1) + 1);
  const header = concat(word(width), word(height), Uint8Array.of(8, COLOUR_TYPES[channels], 0, 0, 0));
  return concat(
    SIGNATURE,
    chunk("IHDR", header),
    chunk("IDAT", new Uint8Array(compression().deflateSync(filtered))),
    chunk("IEND", new Uint8Array(0)),
  );
}
