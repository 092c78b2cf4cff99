/**
 * Exported programs as ONNX models. Invariant: an op without a counterpart in ONNX is refused by name; nothing is
 * left out.
 */
import { DynError } from "../../lib/base/errors.ts";
import { ExportedProgram } from "../../lib/export/program.ts";
import { type Argument, isList, Node } from "../../lib/graph/node.ts";
import { readStored } from "../../lib/tensor/host.ts";
import { ownResults } from "../own_results.ts";
import { callOf } from "./call.ts";
import { OnnxModel } from "./model.ts";
import { OnnxValue, Values } from "./values.ts";

/** The bytes of the model. */
export function onnxBytes(program: ExportedProgram): Uint8Array<ArrayBuffer> {
  if (!(program instanceof ExportedProgram)) {
    throw new DynError(`Expected a program that compiler.export gave but found ${typeof program}`);
  }
  const { parts } = program, { functional, mutations } = ownResults(parts), { graph } = functional;
  const model = new OnnxModel(), named = new Map<Node, OnnxValue>(), lists = new Map<Node, OnnxValue>();
  const values: Values = new Values(model, (symbol): string => {
    const origin = parts.call.sizes.find((each) => each.symbol === symbol)?.origin;
    const isArgument = origin?.of.kind === "argument" &&
      parts.call.arguments[origin.of.leaf]?.kind === "tensor";
    if (origin?.of.kind !== "argument" || !isArgument || origin.part.kind !== "shape") {
      throw new DynError(`Expected sizes that are dimensions of inputs but found ${symbol}`);
    }
    const shape = model.node("Shape", [`input_${origin.of.leaf}`]);
    return model.node("Gather", [shape, values.integers([origin.part.dim])]);
  }, true);
  parts.call.arguments.forEach((spec, leaf) => {
    if (spec.kind === "tensor") model.input(`input_${leaf}`, spec.shape, spec.dtype);
  });
  for (const [at, node] of graph.placeholders.entries()) {
    const spec = parts.inputs[at]?.value, { value } = node.meta;
    if (value.kind !== "tensor" || !spec || spec.kind === "size") continue;
    const { shape, dtype } = value.tensor;
    if (spec.kind === "argument") named.set(node, new OnnxValue(`input_${spec.leaf}`, shape, dtype));
    else {
      const held = parts.held.get(spec.name)?.tensor;
      if (!held) throw new DynError(`Expected the tensor ${spec.name} but found none`);
      const { buffer, byteOffset, byteLength } = readStored(held.contiguous());
      model.constant(new Uint8Array(buffer, byteOffset, byteLength), held.shape, dtype, spec.name);
      named.set(node, new OnnxValue(spec.name, shape, dtype));
    }
  }
  for (const node of graph.nodes) {
    if (node.op === "placeholder" || node.op === "output" || node.users.size === 0) continue;
    const found = callOf(node, { named, lists, values });
    (node.meta.value.kind === "tensors" ? lists : named).set(node, found);
  }
  const [list = null] = graph.output.args, outputs: readonly Argument[] = isList(list) ? list : [];
  outputs.forEach((node, at) => {
    const value = node instanceof Node ? named.get(node) : undefined;
    if (!value) throw new DynError(`Expected a tensor as output ${at} but found none`);
    const mutation = mutations.find(({ result }) => result === at),
      input = mutation && parts.inputs[mutation.input];
    const target = input?.value.kind === "held"
      ? input.value.name
      : graph.placeholders[mutation?.input ?? 0]?.name;
    const written = input?.value.kind === "argument" ? `input_${input.value.leaf}` : target;
    model.output(value.name, mutation ? `new_${written}` : `output_${at}`, value);
  });
  return model.finish(parts.call.name);
}
