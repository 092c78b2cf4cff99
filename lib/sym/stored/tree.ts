/** The codec of tree structures. Invariant: Maps are refused. */
import type { Plain } from "../../base/recording.ts";
import type { TreeSpec } from "../../base/tree.ts";
import { type Codec, list, text } from "./codec.ts";
import { listIn, NotStorable, recordIn } from "./forms.ts";

/** Structures of values between processes. */
export const tree: Codec<TreeSpec> = {
  write(spec, symbols): Plain {
    switch (spec.kind) {
      case "leaf":
        return null;
      case "array":
        return spec.items.map((each) => tree.write(each, symbols));
      case "object":
        return { keys: spec.keys, items: spec.items.map((each) => tree.write(each, symbols)) };
      case "map":
        throw new NotStorable("a Map among the results of a graph");
      default:
        return spec satisfies never;
    }
  },
  read(form, symbols): TreeSpec {
    if (form === null) return { kind: "leaf" };
    const items = (each: Plain | undefined) => listIn(each).map((item) => tree.read(item, symbols));
    if (Array.isArray(form)) return { kind: "array", items: items(form) };
    const fields = recordIn(form);
    return {
      kind: "object",
      keys: list(text).read(fields.keys ?? null, symbols),
      items: items(fields.items),
    };
  },
};
