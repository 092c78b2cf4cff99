/**
 * Unfolding and folding for convolutions of stride 1 whose outputs are as wide as the image. There the columns of
 * one kernel position are the image itself, moved: rows are copied all at once, and what wrapped around at the
 * edges is put right. Input and output as in unfold.ts. Invariant: reading may run over either end of an image,
 * writing only over the end of what is written next; folding writes inside the image alone.
 */
import type { FunctionBody } from "./function_body.ts";
import {
  add,
  assign,
  both,
  each,
  int,
  keep,
  less,
  max,
  min,
  mul,
  ref,
  shl,
  shr,
  sub,
  type Term,
  when,
  withParams,
} from "./terms.ts";
import { type ConvField, fields } from "./unfold.ts";

/** Padding up to which an image is read before its start. */
export const MOST_PADDING = 64;

/** The part of the columns that belongs to one channel and kernel position. */
interface Plane {
  readonly channel: Term;
  /** First element of the columns. */
  readonly columns: number;
  /** How far the image is moved: to the right, and in all. */
  readonly right: Term;
  readonly moved: Term;
  /** Output rows and columns whose pixels lie inside the image. */
  readonly top: Term;
  readonly bottom: Term;
  readonly low: Term;
  readonly high: Term;
}

type Of = (name: ConvField) => Term;

function eachPlane(
  body: FunctionBody,
  of: Of,
  walk: {
    readonly image: Term;
    readonly from: Term;
    readonly to: Term;
    readonly columns: number;
    readonly plane: (plane: Plane) => void;
  },
): void {
  const { columns } = walk, zero = int(0);
  const clamp = (term: Term, most: Term) => ref(keep(body, max(zero, min(term, most))));
  each(body, { from: walk.from, to: walk.to }, (c) => {
    const channel = ref(keep(body, add(walk.image, shl(mul(c, of("height"), of("width")), 2))));
    each(body, { to: of("kernelHeight") }, (ky) => {
      const down = ref(keep(body, sub(mul(ky, of("dilationY")), of("paddingY"))));
      const top = clamp(sub(zero, down), of("rows"));
      const bottom = ref(keep(body, max(top, clamp(sub(of("height"), down), of("rows")))));
      each(body, { to: of("kernelWidth") }, (kx) => {
        const right = ref(keep(body, sub(mul(kx, of("dilationX")), of("paddingX"))));
        const low = clamp(sub(zero, right), of("row"));
        const high = ref(keep(body, max(low, clamp(sub(of("width"), right), of("row")))));
        const moved = ref(keep(body, add(mul(down, of("width")), right)));
        walk.plane({ channel, columns, right, moved, top, bottom, low, high });
        assign(body, columns, add(ref(columns), shl(of("pixels"), 2)));
      });
    });
  });
}

/** Runs over `count` words in vectors; the last one may run over the end. */
function vectors(body: FunctionBody, count: Term, run: () => void): void {
  const left = keep(body, shr(add(count, int(3)), 2));
  body.times(left, run);
}

/** Zeros from one element of a plane to another, and up to three more. */
function zeros(body: FunctionBody, columns: number, from: Term, to: Term): void {
  const address = keep(body, add(ref(columns), shl(from, 2)));
  vectors(body, sub(to, from), () => {
    body.get(address).splatConstant(0).simdMemory("store");
    assign(body, address, add(ref(address), int(16)));
  });
}

/** Zeros where the image wrapped around: left of `low` and from `high` on, in the rows inside it. */
function clearEdges(body: FunctionBody, of: Of, { columns, top, bottom, low, high }: Plane): void {
  const clear = (from: Term, to: Term) =>
    when(body, less(from, to), () => {
      const row = keep(body, add(ref(columns), shl(mul(top, of("row")), 2)));
      const rows = keep(body, sub(bottom, top));
      body.times(rows, () => {
        each(body, { from, to }, (x) => {
          add(ref(row), shl(x, 2))(body);
          body.i32(0).memory("i32Store");
        });
        assign(body, row, add(ref(row), shl(of("row"), 2)));
      });
    });
  clear(int(0), low);
  clear(high, of("row"));
}

/** (description, image, columns, from channel, to channel): the columns of these channels. */
export function unfoldSameFunction(): FunctionBody {
  const { body, at } = withParams(["description", "image", "columns", "from", "to"]);
  const of = fields(body, at("description"));
  const columns = keep(body, at("columns"));
  eachPlane(body, of, {
    image: at("image"),
    from: at("from"),
    to: at("to"),
    columns,
    plane(plane) {
      const { channel, moved, top, bottom } = plane;
      const start = ref(keep(body, mul(top, of("row")))), end = ref(keep(body, mul(bottom, of("row"))));
      zeros(body, columns, int(0), start);
      const to = keep(body, add(ref(columns), shl(start, 2)));
      const from = keep(body, add(channel, shl(add(start, moved), 2)));
      vectors(body, sub(end, start), () => {
        body.get(to).get(from).simdMemory("load").simdMemory("store");
        assign(body, to, add(ref(to), int(16)));
        assign(body, from, add(ref(from), int(16)));
      });
      clearEdges(body, of, plane);
      zeros(body, columns, end, of("pixels"));
    },
  });
  return body;
}

/** (description, columns, image): image += what the columns hold for each pixel. Uses the columns up. */
export function foldSameFunction(): FunctionBody {
  const { body, at } = withParams(["description", "columns", "image"]);
  const of = fields(body, at("description"));
  const columns = keep(body, at("columns"));
  eachPlane(body, of, {
    image: at("image"),
    from: int(0),
    to: of("inChannels"),
    columns,
    plane(plane) {
      const { channel, moved, top, bottom, low, high } = plane;
      clearEdges(body, of, plane);
      // From the first to the last element inside the image; nothing where there is none
      const first = ref(keep(body, add(mul(top, of("row")), low)));
      const last = add(mul(sub(bottom, int(1)), of("row")), high);
      const count = keep(body, sub(last, first));
      when(body, both(less(top, bottom), less(low, high)), () => {
        const from = keep(body, add(ref(columns), shl(first, 2)));
        const to = keep(body, add(channel, shl(add(first, moved), 2)));
        const left = keep(body, shr(ref(count), 2));
        body.times(left, () => {
          body.get(to).get(from).simdMemory("load").get(to).simdMemory("load").simd("f32Add").simdMemory(
            "store",
          );
          assign(body, from, add(ref(from), int(16)));
          assign(body, to, add(ref(to), int(16)));
        });
        assign(body, left, both(ref(count), int(3)));
        body.times(left, () => {
          const sum = body.local("v128");
          body.get(from).simdMemory("load32Zero").get(to).simdMemory("load32Zero").simd("f32Add").set(sum);
          body.get(to).get(sum).laneMemory("store32Lane", 0, 0);
          assign(body, from, add(ref(from), int(4)));
          assign(body, to, add(ref(to), int(4)));
        });
      });
    },
  });
  return body;
}
