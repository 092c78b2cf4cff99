/**
 * Transforms of the places of pixels, with the names and numbers of `torchvision.transforms.v2`: crops in random sizes,
 * rotations and affine maps. Invariant: pixels from outside the image are 0.
 */
import { type Arguments, argumentsOf, type Trailing, trailing } from "../base/arguments.ts";
import { checkKind, checkOneOf, refuseValue } from "../base/checked_input.ts";
import { isFloat } from "../base/dtype.ts";
import { tensor } from "../tensor/creation.ts";
import { gridSample } from "../tensor/generated_functions.ts";
import type { Tensor } from "../tensor/tensor.ts";
import {
  both,
  cropped,
  type ImageSize,
  type ImageTransform,
  made,
  randomBelow,
  randomIn,
  type Range,
  rangeOf,
  rounded,
  sizeOf,
} from "./image_transform.ts";
import { resized } from "./resizing.ts";

/** Options of `randomResizedCrop`. */
export interface ResizedCropOptions {
  /** The range of the part's share of the area; default [0.08, 1]. */
  readonly scale?: Range | undefined;
  /** The range of its width over its height; default [3/4, 4/3]. */
  readonly ratio?: Range | undefined;
}

/** The place and size of a part: its corner, then its height and width. */
interface Part {
  readonly corner: readonly [top: number, left: number];
  readonly size: readonly [height: number, width: number];
}

/** Number of attempts to find a part that fits. */
const ATTEMPTS = 10;

/** A random part of an image; if none of several fits, the greatest in the centre whose ratio is within the range. */
function randomPart([height, width]: readonly [number, number], scale: Range, ratio: Range): Part {
  const logs: Range = [Math.log(ratio[0]), Math.log(ratio[1])];
  for (let k = 0; k < ATTEMPTS; k++) {
    const area = height * width * randomIn(scale), aspect = Math.exp(randomIn(logs));
    const w = rounded(Math.sqrt(area * aspect)), h = rounded(Math.sqrt(area / aspect));
    if (w > 0 && h > 0 && w <= width && h <= height) {
      return { corner: [randomBelow(height - h + 1), randomBelow(width - w + 1)], size: [h, w] };
    }
  }
  const own = width / height;
  const h = own < ratio[0] ? rounded(width / ratio[0]) : height;
  const w = own > ratio[1] ? rounded(height * ratio[1]) : width;
  return { corner: [Math.floor((height - h) / 2), Math.floor((width - w) / 2)], size: [h, w] };
}

/** Crops a part of a random size, shape and place, and resizes it (Szegedy et al., 2015). */
export function randomResizedCrop(
  size: ImageSize,
  ...given: Trailing<ResizedCropOptions, ["scale", "ratio"]>
): ImageTransform {
  const wanted = both("randomResizedCrop", size);
  const options = trailing<ResizedCropOptions>("randomResizedCrop", ["scale", "ratio"], given);
  const scale = rangeOf("scale of randomResizedCrop", options.scale ?? [0.08, 1]);
  const ratio = rangeOf("ratio of randomResizedCrop", options.ratio ?? [3 / 4, 4 / 3]);
  if (!(scale[0] >= 0) || !(ratio[0] > 0)) refuseValue("a scale of at least 0 and a positive ratio", options);
  return made("randomResizedCrop", { size, scale, ratio }, (image) => {
    const { corner, size } = randomPart(sizeOf(image), scale, ratio);
    return resized(cropped(image, corner, size), wanted);
  });
}

/** How values between pixels are computed. */
export type Interpolation = "nearest" | "bilinear";

/** Rotation counter-clockwise in degrees: a range, or the greatest to both sides. */
export type Degrees = number | Range;

/** Options of `randomRotation`. */
export interface RotationOptions {
  /** How values between pixels are computed; default "nearest". */
  readonly interpolation?: Interpolation | undefined;
  /** Whether the result is as large as the whole rotated image; default false. */
  readonly expand?: boolean | undefined;
}

/** Options of `randomAffine`. */
export interface AffineOptions {
  /** The greatest shifts as shares of width and height; default none. */
  readonly translate?: readonly [width: number, height: number] | undefined;
  /** The range of the factor of sizes; default 1. */
  readonly scale?: Range | undefined;
  /** Shear along the width in degrees: a range, or the greatest to both sides; default none. */
  readonly shear?: Degrees | undefined;
  /** How values between pixels are computed; default "nearest". */
  readonly interpolation?: Interpolation | undefined;
}

/** Required arguments of rotations. */
interface Turned {
  readonly degrees: Degrees;
}

/** A map of places around the centre, from those of the result to those of the image: two rows of a matrix. */
type Places = readonly (readonly [x: number, y: number, shift: number])[];

function degreesOf(what: string, given: Degrees): Range {
  if (typeof given === "number" && !(given >= 0)) refuseValue(`${what} of at least 0`, given);
  return rangeOf(what, typeof given === "number" ? [-given, given] : given);
}

/** An image whose pixels are those at other places of the given one; the result has `size`. */
function moved(
  image: Tensor,
  places: Places,
  { interpolation, size }: {
    readonly interpolation: Interpolation;
    readonly size: readonly [number, number];
  },
): Tensor {
  const [height, width] = sizeOf(image),
    [h, w] = size,
    x = isFloat(image.dtype) ? image : image.to("float32");
  const half = [width / 2, height / 2];
  const grid = Array.from(
    { length: h },
    (_, i) =>
      Array.from(
        { length: w },
        (_, j) =>
          places.map(([a, b, c], k) => (a * (j + 0.5 - w / 2) + b * (i + 0.5 - h / 2) + c) / (half[k] ?? 1)),
      ),
  );
  const found = gridSample(
    x.reshape(1, -1, height, width),
    tensor([grid], { dtype: x.dtype, device: x.device }),
    interpolation,
    "zeros",
    false,
  ).reshape([...image.shape.slice(0, -2), h, w]);
  return isFloat(image.dtype) ? found : found.round().to(image.dtype);
}

const radians = (degrees: number): number => degrees * Math.PI / 180;

type Pair = readonly [number, number];

/** The size of a rotated image, as torchvision rounds it. */
function grown([height, width]: Pair, [across, down]: readonly [Pair, Pair]): Pair {
  const corners = [[-1, -1], [-1, 1], [1, 1], [1, -1]].map((
    [x = 0, y = 0],
  ) => [x * width / 2, y * height / 2]);
  const extent = ([p, q]: Pair, size: number) => {
    const values = corners.map(([x = 0, y = 0]) => p * x + q * y + size / 2);
    const tidy = (value: number) => Math.trunc(value * 1e4) / 1e4;
    return Math.ceil(tidy(Math.max(...values))) - Math.floor(tidy(Math.min(...values)));
  };
  return [extent(down, height), extent(across, width)];
}

const ROTATION = {
  required: ["degrees"],
  positional: ["interpolation", "expand"],
  flags: { expand: true },
} as const;

/** Rotates counter-clockwise by a random angle. */
export function randomRotation(
  ...given: Arguments<Turned, RotationOptions, typeof ROTATION>
): ImageTransform {
  const { degrees, interpolation = "nearest", expand = false } = argumentsOf<Turned, RotationOptions>(
    "randomRotation",
    ROTATION,
    given,
  );
  const range = degreesOf("degrees of randomRotation", degrees);
  checkOneOf("interpolation of randomRotation", interpolation, ["nearest", "bilinear"]);
  return made("randomRotation", { degrees, interpolation, expand }, (image) => {
    const angle = radians(randomIn(range)), [cos, sin] = [Math.cos(angle), Math.sin(angle)];
    const own = sizeOf(image), size = expand ? grown(own, [[cos, -sin], [sin, cos]]) : own;
    return moved(image, [[cos, -sin, 0], [sin, cos, 0]], { interpolation, size });
  });
}

const AFFINE = {
  required: ["degrees"],
  positional: ["translate", "scale", "shear", "interpolation"],
} as const;

/** Rotates clockwise, shifts, scales and shears by random numbers. */
export function randomAffine(...given: Arguments<Turned, AffineOptions, typeof AFFINE>): ImageTransform {
  const { degrees, translate = [0, 0], scale = [1, 1], shear = 0, interpolation = "nearest" } = argumentsOf<
    Turned,
    AffineOptions
  >("randomAffine", AFFINE, given);
  const turns = degreesOf("degrees of randomAffine", degrees),
    sizes = rangeOf("scale of randomAffine", scale);
  const shears = degreesOf("shear of randomAffine", shear);
  if (!(sizes[0] > 0)) refuseValue("a positive scale of randomAffine", scale);
  checkKind(translate, "a list", "translate of randomAffine");
  if (![...translate].every((each) => each >= 0 && each <= 1) || translate.length !== 2) {
    refuseValue("two shares in [0, 1] for translate of randomAffine", translate);
  }
  checkOneOf("interpolation of randomAffine", interpolation, ["nearest", "bilinear"]);
  return made("randomAffine", { degrees, translate, scale, shear, interpolation }, (image) => {
    const size = sizeOf(image), angle = radians(randomIn(turns));
    const [right, down] = [translate[0] * size[1], translate[1] * size[0]].map((most) =>
      rounded(randomIn([-most, most]))
    );
    const factor = randomIn(sizes), lean = Math.tan(radians(randomIn(shears)));
    const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
    // The inverse of scale · rotation · shear, after taking back the shift
    const rows: readonly Pair[] = [[-sin * lean + cos, cos * lean + sin], [-sin, cos]];
    const places: Places = rows.map(([a, b]) =>
      [a / factor, b / factor, -(a * (right ?? 0) + b * (down ?? 0)) / factor] as const
    );
    return moved(image, places, { interpolation, size });
  });
}
