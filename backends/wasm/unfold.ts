/**
 * Images as matrices of windows and back, as WebAssembly functions. An image [channels, H, W] unfolds to columns
 * [(channel, ky, kx), (oy, ox)], 0 outside the image; folding adds every element of the columns to the pixel that it
 * came from. Invariant: rows are written in ascending addresses, so that a vector that runs over a row's end is
 * corrected by what follows; after the columns there are `COLUMN_SLACK` bytes for the last one.
 */
import type { FunctionBody } from "./function_body.ts";
import {
  add,
  assign,
  both,
  div,
  each,
  int,
  keep,
  less,
  max,
  min,
  more,
  mul,
  ref,
  same,
  shl,
  shr,
  sub,
  type Term,
  when,
  withParams,
  word,
} from "./terms.ts";

/** Bytes behind columns that may be written. */
export const COLUMN_SLACK = 64;

/** The words of a description, in order. Channels count those of one group. */
export const CONV_FIELDS = [
  "input",
  "weight",
  "bias",
  "output",
  "batch",
  "groups",
  "inChannels",
  "outChannels",
  "height",
  "width",
  "kernelHeight",
  "kernelWidth",
  "rows",
  "row",
  "strideY",
  "strideX",
  "paddingY",
  "paddingX",
  "dilationY",
  "dilationX",
  /** inChannels·kernelHeight·kernelWidth */
  "depth",
  /** rows·row */
  "pixels",
  /** Whether the columns of an image are the image. */
  "plain",
  /** Bytes that the columns of one image take, rounded up. */
  "columnBytes",
  /** Gradient of the weight: whether units are output channels, else input channels. */
  "byOutput",
] as const;
export type ConvField = (typeof CONV_FIELDS)[number];

/** The words of a description at an address, each read once into a local. */
export function fields(body: FunctionBody, at: Term): (name: ConvField) => Term {
  const known = new Map<ConvField, Term>();
  CONV_FIELDS.forEach((name, i) => known.set(name, ref(keep(body, word(at, 4 * i)))));
  return (name) => known.get(name) ?? int(0);
}

/** Walks the rows of columns with the parts of the image that they come from. */
function eachRow(
  body: FunctionBody,
  of: (name: ConvField) => Term,
  walk: {
    readonly image: Term;
    readonly from: Term;
    readonly to: Term;
    readonly columns: number;
    /** `low` to `high`: the outputs inside the image; `pixel`: the address for `low`. */
    readonly inside: (row: { low: Term; high: Term; pixel: number }) => void;
    readonly outside: () => void;
  },
): void {
  const { columns } = walk;
  each(body, { from: walk.from, to: walk.to }, (c) => {
    const channel = keep(body, add(walk.image, shl(mul(c, of("height"), of("width")), 2)));
    each(body, { to: of("kernelHeight") }, (ky) => {
      each(body, { to: of("kernelWidth") }, (kx) => {
        // Position of output 0, and the outputs whose pixel lies in [0, width)
        const x0 = keep(body, sub(mul(kx, of("dilationX")), of("paddingX")));
        const up = (distance: Term) =>
          div(add(max(distance, int(0)), sub(of("strideX"), int(1))), of("strideX"));
        const low = keep(body, min(up(sub(int(0), ref(x0))), of("row")));
        const high = keep(body, max(ref(low), min(up(sub(of("width"), ref(x0))), of("row"))));
        const start = keep(body, add(ref(channel), shl(add(ref(x0), mul(ref(low), of("strideX"))), 2)));
        each(body, { to: of("rows") }, (oy) => {
          const y = keep(body, sub(add(mul(oy, of("strideY")), mul(ky, of("dilationY"))), of("paddingY")));
          when(
            body,
            both(more(ref(y), int(-1)), less(ref(y), of("height"))),
            () => {
              const pixel = keep(body, add(ref(start), shl(mul(ref(y), of("width")), 2)));
              walk.inside({ low: ref(low), high: ref(high), pixel });
            },
            walk.outside,
          );
          assign(body, columns, add(ref(columns), shl(of("row"), 2)));
        });
      });
    });
  });
}

/** Writes zeros from one element of a row to another, and up to three more. */
function zeros(body: FunctionBody, row: number, from: Term, to: Term): void {
  const [address, left] = [body.local("i32"), body.local("i32")];
  assign(body, left, shr(add(sub(to, from), int(3)), 2));
  assign(body, address, add(ref(row), shl(from, 2)));
  body.times(left, () => {
    body.get(address).splatConstant(0).simdMemory("store");
    assign(body, address, add(ref(address), int(16)));
  });
}

/** (description, image, columns, from channel, to channel): the columns of these channels. */
export function unfoldFunction(): FunctionBody {
  const { body, at } = withParams(["description", "image", "columns", "from", "to"]);
  const of = fields(body, at("description"));
  const columns = keep(body, at("columns"));
  const [to, left] = [body.local("i32"), body.local("i32")];
  const stepBytes = keep(body, shl(of("strideX"), 2));
  eachRow(body, of, {
    image: at("image"),
    from: at("from"),
    to: at("to"),
    columns,
    inside({ low, high, pixel }) {
      zeros(body, columns, int(0), low);
      assign(body, to, add(ref(columns), shl(low, 2)));
      when(body, same(of("strideX"), int(1)), () => {
        assign(body, left, shr(add(sub(high, low), int(3)), 2));
        body.times(left, () => {
          body.get(to).get(pixel).simdMemory("load").simdMemory("store");
          assign(body, to, add(ref(to), int(16)));
          assign(body, pixel, add(ref(pixel), int(16)));
        });
      }, () => {
        assign(body, left, sub(high, low));
        body.times(left, () => {
          body.get(to).get(pixel).memory("f32Load").memory("f32Store");
          assign(body, to, add(ref(to), int(4)));
          assign(body, pixel, add(ref(pixel), ref(stepBytes)));
        });
      });
      zeros(body, columns, high, of("row"));
    },
    outside: () => zeros(body, columns, int(0), of("row")),
  });
  return body;
}

/** (description, columns, image): image += what the columns hold for each pixel. */
export function foldFunction(): FunctionBody {
  const { body, at } = withParams(["description", "columns", "image"]);
  const of = fields(body, at("description"));
  const columns = keep(body, at("columns"));
  const [from, left] = [body.local("i32"), body.local("i32")];
  const stepBytes = keep(body, shl(of("strideX"), 2));
  const single = (pixel: number, step: Term) =>
    body.times(left, () => {
      body.get(pixel).get(from).simdMemory("load32Zero").get(pixel).simdMemory("load32Zero").simd("f32Add");
      body.lane("f32Extract", 0).memory("f32Store");
      assign(body, from, add(ref(from), int(4)));
      assign(body, pixel, add(ref(pixel), step));
    });
  eachRow(body, of, {
    image: at("image"),
    from: int(0),
    to: of("inChannels"),
    columns,
    inside({ low, high, pixel }) {
      assign(body, from, add(ref(columns), shl(low, 2)));
      when(body, same(of("strideX"), int(1)), () => {
        assign(body, left, shr(sub(high, low), 2));
        body.times(left, () => {
          body.get(pixel).get(from).simdMemory("load").get(pixel).simdMemory("load").simd("f32Add");
          body.simdMemory("store");
          assign(body, from, add(ref(from), int(16)));
          assign(body, pixel, add(ref(pixel), int(16)));
        });
        assign(body, left, both(sub(high, low), int(3)));
        single(pixel, int(4));
      }, () => {
        assign(body, left, sub(high, low));
        single(pixel, ref(stepBytes));
      });
    },
    outside() {},
  });
  return body;
}
