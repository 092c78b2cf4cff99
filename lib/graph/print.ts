/**
 * Graphs as JavaScript that a person can read: the source of `forward`, with the user's lines as comments and every
 * value dropped after its last use. Invariant: one statement per node, in order; the same graph prints the same text.
 */
import type { DType } from "../base/dtype.ts";
import { TextWriter } from "../base/text_writer.ts";
import { print as printSize } from "../sym/expr.ts";
import type { TensorMeta } from "./meta.ts";
import { userPosition } from "./place.ts";
import { formatArgument, type Graph, type Node, type NodeValue, type SourcePosition } from "./node.ts";

/** Options of printed code. */
export interface PrintOptions {
  /** Element type, shape and strides of every value, as comments. */
  readonly types?: boolean;
  /** The name of the function, by default `forward`. */
  readonly name?: string;
}

/** The source of a graph as a function. */
export function printGraph(graph: Graph, { types = false, name = "forward" }: PrintOptions = {}): string {
  const out = new TextWriter();
  const annotated = (node: Node) => {
    const text = types ? typeText(node.meta.value) : "";
    return text ? `${node.name} /* ${text} */` : node.name;
  };
  const drops = lastUses(graph);
  let position: string | undefined;
  let first = true;
  out.block(`function ${name}(${graph.placeholders.map(annotated).join(", ")}) {`, () => {
    for (const node of graph.nodes) {
      if (node.op === "placeholder") continue;
      const place = placeText(userPosition(node));
      if (node.op !== "output" && place !== position) {
        if (!first) out.gap();
        if (place) out.line(`// ${place}`);
        position = place;
      }
      first = false;
      const dead = drops.get(node) ?? [];
      const drop = dead.length > 0 ? `  ${dead.join(" = ")} = null;` : "";
      if (node.op === "output") out.line(`return ${formatArgument(node.args[0])};`);
      else out.line(`let ${annotated(node)} = ${callText(node)};${drop}`);
    }
  });
  const regions = new Map(
    graph.nodes.flatMap(({ target, meta: { region } }) => region ? [[region, target]] : []),
  );
  for (const [region, name] of regions) out.line(printGraph(region.graph, { types, name }).trimEnd());
  return out.toString();
}

/** The right-hand side of a node's statement. */
function callText(node: Node): string {
  const { target } = node;
  const kwargs = Object.keys(node.kwargs).length > 0 ? [formatArgument(node.kwargs)] : [];
  const args = [...node.args.map(formatArgument), ...kwargs];
  switch (node.op) {
    case "get_attr":
      return `this.${target}`;
    case "call_module":
      return `this.${target}.call(${args.join(", ")})`;
    case "call_method": {
      const [receiver, ...rest] = args;
      return `${receiver}.${target}(${rest.join(", ")})`;
    }
    case "call_function":
      if (target === "getitem" && args.length === 2) return `${args[0]}[${args[1]}]`;
      return `${target.includes(".") || node.meta.region ? "" : "ops."}${target}(${args.join(", ")})`;
    case "placeholder":
    case "output":
      return node.name;
    default:
      return node.op satisfies never;
  }
}

/** Returns for each node the values that are not read after it, in order of creation. */
function lastUses(graph: Graph): Map<Node, Node[]> {
  const last = new Map<Node, Node>();
  for (const node of graph.nodes) {
    for (const input of node.inputs()) last.set(input, node);
  }
  const drops = new Map<Node, Node[]>();
  for (const [value, user] of last) {
    const list = drops.get(user);
    if (list) list.push(value);
    else drops.set(user, [value]);
  }
  return drops;
}

function placeText(position: SourcePosition | undefined): string | undefined {
  return position &&
    `File: ${position.file}:${position.line} in ${
      position.functionName || "<anonymous>"
    }, code: ${position.code}`;
}

const SHORT: Readonly<Record<DType, string>> = {
  float32: "f32",
  float64: "f64",
  float16: "f16",
  bfloat16: "bf16",
  int64: "i64",
  int32: "i32",
  int16: "i16",
  int8: "i8",
  uint8: "u8",
  bool: "b8",
  complex64: "c64",
  complex128: "c128",
};

/** Short form of metadata: `f32[2, s0]`, with strides if they are given: `f32[2, 3][3, 1]`. */
export function metaText(meta: Pick<TensorMeta, "shape" | "dtype"> & Partial<TensorMeta>): string {
  const list = (dims: TensorMeta["shape"]) => `[${dims.map(printSize).join(", ")}]`;
  return `${SHORT[meta.dtype]}${list(meta.shape)}${meta.strides ? list(meta.strides) : ""}`;
}

/** Returns a short description of a node's value; empty if nothing is known. */
export function typeText(value: NodeValue): string {
  switch (value.kind) {
    case "tensor":
      return metaText(value.tensor);
    case "tensors":
      return `[${value.tensors.map(metaText).join(", ")}]`;
    case "size":
      return `size ${printSize(value.size)}`;
    case "number":
      return `number ${value.dtype}`;
    case "unknown":
      return "";
    default:
      return value satisfies never;
  }
}
