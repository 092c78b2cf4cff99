/**
 * Backends composed of others: parts of graphs by engines, only pointwise chains, the inductor under other settings.
 * Imported for its effect. Invariant: parts that an engine does not take over are compiled by the inductor, unless a
 * backend's description says that they run op by op.
 */
import { aotAutograd } from "./aot/backend.ts";
import { partition } from "./aot/engines/partition.ts";
import { inStages, needsStages } from "./aot/stages.ts";
import { config } from "./base/config.ts";
import type { GraphBackend } from "./graph/backend.ts";
import { registerBackend } from "./graph/backends.ts";
import { type Engine, takeEngines } from "./graph/engines.ts";
import type { GraphCompiler } from "./graph/interpose.ts";
import { hasEffect, type Node } from "./graph/node.ts";
import { chosenNodes } from "./measured_engines.ts";
import { findTarget } from "./ops/table.ts";
import { compileFunctional, inductor } from "./pipeline.ts";

/** Creates the backend of an engine: the rest of each graph is compiled by the inductor. */
function backendOf(engine: Engine): GraphBackend {
  const { name, code } = engine;
  const fwCompiler: GraphCompiler = (gm) =>
    partition(gm, { [name]: chosenNodes(engine, gm) }).compile({ [name]: code().compile }, compileFunctional);
  return aotAutograd({ fwCompiler, keepsNothing: true });
}

takeEngines((engine) => {
  const { name, needs, code } = engine;
  registerBackend(name, backendOf(engine), { needs, absence: () => code().absence(), declines: true });
});

/** Returns whether a node computes each element from those at the same place only. */
function isPointwise(node: Node): boolean {
  const { value, leaf } = node.meta;
  if (value.kind !== "tensor" || leaf || hasEffect(node)) return false;
  if (node.op !== "call_function" && node.op !== "call_method") return false;
  return findTarget(node.target)?.definition.elementwise === true;
}

/** Compiles pointwise chains of functional graphs to kernels; the rest runs op by op. */
const aotFuser = aotAutograd({
  fwCompiler: (gm) => partition(gm, { fuser: isPointwise }).compile({ fuser: compileFunctional }),
  keepsNothing: true,
});

/** Compiles pointwise chains of captured graphs: each chain is differentiated separately, and the rest by the tape. */
const fuser: GraphBackend = (gm) =>
  needsStages(gm.graph)
    ? inStages(gm, fuser)
    : partition(gm, { fuser: isPointwise }).compile({ fuser: inductor });

/** The inductor, computing values that depend only on parameters once. */
const ofi: GraphBackend = (gm, examples) =>
  config.patch({ inductor: { freezing: true } }, () => inductor(gm, examples));

/** The inductor, recording graphs on a GPU. */
const replay: GraphBackend = (gm, examples) =>
  config.patch({ inductor: { replay: true } }, () => inductor(gm, examples));

const FUSING = "nothing; only chains of pointwise ops become kernels";
registerBackend("fuser", fuser, { needs: FUSING, declines: true });
registerBackend("aot_fuser", aotFuser, { needs: FUSING, declines: true });
registerBackend("ofi", ofi, {
  needs: "nothing; for inference: what depends on parameters alone is computed once",
  declines: true,
});
registerBackend("replay", replay, {
  needs: "tensors on webgpu, whose commands are recorded once and replayed; elsewhere it is the inductor",
  declines: true,
});
