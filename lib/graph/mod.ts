/** Graphs as users and backends see them: the namespace `fx`. */
export {
  type Argument,
  Graph,
  Node,
  type NodeMeta,
  type NodeValue,
  type Opcode,
  type SourcePosition,
} from "./node.ts";
export { GraphModule } from "./graph_module.ts";
export { Interpreter } from "./interpreter.ts";
export type { CompiledFunction, GraphBackend } from "./backend.ts";
export type { GraphSignature, MutatedInput } from "./signature.ts";
export type { TensorMeta } from "./meta.ts";
