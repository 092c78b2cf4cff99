/**
 * Events of event files, which TensorBoard also reads. Invariant: reading returns what was written, in the file's
 * precision: scalars have 32 bits. Field numbers: event.proto, summary.proto, tensor.proto of TensorBoard.
 */
import { concat } from "../../base/bytes.ts";
import { bytesField, doubleField, doublesField, Fields, floatField, intField } from "../../base/protobuf.ts";
import type { Histogram } from "./histogram.ts";

/** One value. */
export type SummaryValue =
  | { readonly kind: "scalar"; readonly value: number }
  | { readonly kind: "histogram"; readonly histogram: Histogram }
  /** A PNG file. */
  | {
    readonly kind: "image";
    readonly width: number;
    readonly height: number;
    readonly channels: number;
    readonly png: Uint8Array;
  }
  | { readonly kind: "text"; readonly text: string };

/** A value of a tag at a step; `time` is seconds since 1970. */
export interface SummaryEvent {
  readonly time: number;
  readonly step: number;
  readonly tag: string;
  readonly value: SummaryValue;
}

/** TensorFlow's number for text tensors. */
const DT_STRING = 7;
const TEXT_SUFFIX = "/text_summary";

/** The first event of a file. */
export function versionEvent(time: number): Uint8Array {
  return concat(doubleField(1, time), bytesField(3, "brain.Event:2"));
}

/** Encodes an event as a message. */
export function encodeEvent({ time, step, tag, value }: SummaryEvent): Uint8Array {
  const name = value.kind === "text" ? tag + TEXT_SUFFIX : tag;
  const summary = bytesField(1, concat(bytesField(1, name), encodeValue(value)));
  return concat(doubleField(1, time), intField(2, step), bytesField(5, summary));
}

/** Encodes an event for a plugin of TensorBoard, which interprets its content. */
export function encodePluginEvent(
  { time, step, tag }: Omit<SummaryEvent, "value">,
  { plugin, content }: { readonly plugin: string; readonly content: Uint8Array },
): Uint8Array {
  const metadata = bytesField(1, concat(bytesField(1, plugin), bytesField(2, content)));
  const summary = bytesField(1, concat(bytesField(1, tag), bytesField(9, metadata)));
  return concat(doubleField(1, time), intField(2, step), bytesField(5, summary));
}

function encodeValue(value: SummaryValue): Uint8Array {
  switch (value.kind) {
    case "scalar":
      return floatField(2, value.value);
    case "image": {
      const { width, height, channels, png } = value;
      return bytesField(
        4,
        concat(intField(1, height), intField(2, width), intField(3, channels), bytesField(4, png)),
      );
    }
    case "histogram": {
      const { min, max, count, sum, sumOfSquares, limits, counts } = value.histogram;
      return bytesField(
        5,
        concat(
          ...[min, max, count, sum, sumOfSquares].map((each, at) => doubleField(at + 1, each)),
          doublesField(6, limits),
          doublesField(7, counts),
        ),
      );
    }
    case "text": {
      const shape = bytesField(2, bytesField(2, intField(1, 1)));
      const tensor = concat(intField(1, DT_STRING), shape, bytesField(8, value.text));
      return concat(bytesField(8, tensor), bytesField(9, bytesField(1, bytesField(1, "text"))));
    }
    default:
      return value satisfies never;
  }
}

/** Decodes the values of a message; other kinds are skipped. */
export function decodeEvent(message: Uint8Array): SummaryEvent[] {
  const fields = new Fields(message), time = fields.number(1), step = fields.number(2);
  return (fields.message(5)?.messages(1) ?? []).flatMap((each) => {
    const value = decodeValue(each), name = each.text(1);
    const tag = value?.kind === "text" && name.endsWith(TEXT_SUFFIX)
      ? name.slice(0, -TEXT_SUFFIX.length)
      : name;
    return value ? [{ time, step, tag, value }] : [];
  });
}

function decodeValue(fields: Fields): SummaryValue | null {
  if (fields.has(2)) return { kind: "scalar", value: fields.number(2) };
  const image = fields.message(4), histogram = fields.message(5), tensor = fields.message(8);
  if (image) {
    return {
      kind: "image",
      height: image.number(1),
      width: image.number(2),
      channels: image.number(3),
      png: image.bytes(4),
    };
  }
  if (histogram) {
    return {
      kind: "histogram",
      histogram: {
        min: histogram.number(1),
        max: histogram.number(2),
        count: histogram.number(3),
        sum: histogram.number(4),
        sumOfSquares: histogram.number(5),
        limits: histogram.doubles(6),
        counts: histogram.doubles(7),
      },
    };
  }
  return tensor?.number(1) === DT_STRING ? { kind: "text", text: tensor.text(8) } : null;
}
