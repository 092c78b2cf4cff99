/**
 * Image files as tensors: PNG by fast-png, JPEG by jpeg-js; uint8 of shape [channels, height, width], like
 * `torchvision.io.read_image`. Invariant: pixels are unchanged, except that of 16-bit samples only the high eight
 * bits are kept.
 */
import { refuseSurplus } from "../../base/checked_input.ts";
import { DynError } from "../../base/errors.ts";
import { fromTypedArray } from "../../tensor/creation.ts";
import type { Tensor } from "../../tensor/tensor.ts";
import { bytesOf, functionOf, libraryOf, nameOf, type Source } from "./source.ts";

const PNG = "npm:fast-png@^8.0.0", JPEG = "npm:jpeg-js@^0.4.4";

/** Channels of an image: unchanged, one for brightness, or three for colour. */
export type ImageMode = "unchanged" | "gray" | "rgb";

/** Samples by rows, `channels` of them per pixel. */
interface Samples {
  readonly width: number;
  readonly height: number;
  readonly channels: number;
  readonly data: Uint8Array;
}

/** Reads an image. Throws DynError for formats other than PNG and JPEG. */
export async function readImage(source: Source, mode: ImageMode = "unchanged"): Promise<Tensor> {
  if (arguments.length > 2) refuseSurplus("readImage", 2, arguments);
  const bytes = bytesOf(source), samples = inMode(await decode(bytes, nameOf(source)), mode);
  const { width, height, channels, data } = samples;
  return fromTypedArray(data).reshape(height, width, channels).permute(2, 0, 1).contiguous();
}

async function decode(bytes: Uint8Array, name: string): Promise<Samples> {
  if (bytes[0] === 0x89 && bytes[1] === 0x50) {
    return samplesOf(functionOf(await libraryOf(PNG), "decode")(bytes), name);
  }
  if (bytes[0] === 0xff && bytes[1] === 0xd8) {
    const found = functionOf(await libraryOf(JPEG), "decode")(bytes, { useTArray: true });
    const { width, height, data } = samplesOf({ ...Object(found), channels: 4 }, name);
    // jpeg-js adds an opacity of 255 to every pixel
    return { width, height, channels: 3, data: data.filter((_, k) => k % 4 !== 3) };
  }
  throw new DynError(`Expected a PNG or JPEG file but found ${name}`);
}

/** Validates the result of a decoder. Throws DynError if it is not an image. */
function samplesOf(found: unknown, name: string): Samples {
  const { width, height, channels, data, palette }: Record<string, unknown> = Object(found);
  const isPicture = typeof width === "number" && typeof height === "number" && typeof channels === "number";
  if (!isPicture || !(data instanceof Uint8Array || data instanceof Uint16Array)) {
    throw new DynError(`Expected an image in ${name} but found none`);
  }
  if (Array.isArray(palette)) {
    return coloured({ width, height, channels, data: Uint8Array.from(data) }, palette);
  }
  const eight = data instanceof Uint8Array
    ? Uint8Array.from(data)
    : Uint8Array.from(data, (each) => each >> 8);
  return { width, height, channels, data: eight };
}

/** Replaces palette indices by colours. */
function coloured({ width, height, data }: Samples, palette: readonly unknown[]): Samples {
  const colours = palette.map((each) => Array.from(Object(each), Number)), channels = colours[0]?.length ?? 3;
  const found = new Uint8Array(width * height * channels);
  for (let k = 0; k < width * height; k++) found.set(colours[data[k] ?? 0] ?? [], k * channels);
  return { width, height, channels, data: found };
}

/** Converts an image to the channels of a mode: brightness with the weights of ITU-R 601-2. */
function inMode(samples: Samples, mode: ImageMode): Samples {
  const { width, height, channels, data } = samples, isGray = channels < 3;
  if (mode === "unchanged" || (mode === "gray" ? channels === 1 : channels === 3)) return samples;
  const wanted = mode === "gray" ? 1 : 3, found = new Uint8Array(width * height * wanted);
  for (let k = 0; k < width * height; k++) {
    const [r = 0, g = 0, b = 0] = [0, 1, 2].map((c) => data[k * channels + (isGray ? 0 : c)] ?? 0);
    if (mode === "rgb") found.set([r, g, b], k * 3);
    else found[k] = isGray ? r : Math.round(0.299 * r + 0.587 * g + 0.114 * b);
  }
  return { width, height, channels: wanted, data: found };
}
