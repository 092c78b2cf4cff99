/**
 * Intentionally wrong backends, for tests of the tools that find wrong answers: one op is replaced by another.
 * Invariant: everything else works as in "aot_eager", so that only the tools decide whether the fault is found.
 */
import { compiler, config, type fx } from "../../mod.ts";
import { aotAutograd } from "../../lib/aot/backend.ts";
import { copyGraph } from "../../lib/graph/copy.ts";
import { GraphModule } from "../../lib/graph/graph_module.ts";
import type { GraphSignature } from "../../lib/graph/signature.ts";

/** A compiler of functional graphs that takes some ops for others, in graphs of some roles. */
function confusing(
  confusions: Readonly<Record<string, string>>,
  roles: readonly GraphSignature["role"][],
): fx.GraphBackend {
  const compile = (gm: GraphModule): fx.CompiledFunction => {
    const role = gm.signature?.role ?? "inference";
    if (!roles.includes(role)) return (...args) => gm.forward(...args);
    const graph = copyGraph(gm.graph);
    for (const node of graph.nodes) node.target = confusions[node.target] ?? node.target;
    const changed = new GraphModule(graph, gm.attributes, gm.runner, gm.signature);
    return (...args) => changed.forward(...args);
  };
  return aotAutograd({ fwCompiler: compile });
}

const module = import.meta.url;

/** Native code is wrong, which takes over after some runs, of which a checked call makes two. */
const wrongNative: fx.GraphBackend = (gm, examples) => {
  const right = confusing({}, []), wrong = confusing({ tanh: "sigmoid" }, ["inference", "forward"]);
  const first = right(gm, examples), native = wrong(gm, examples);
  let calls = 0;
  const isNative = config.inductor.tier === "wait";
  return (...args) => (isNative || calls++ > 5 ? native : first)?.(...args);
};
compiler.registerBackend("wrong_native", wrongNative, { debug: true, module });

/** tanh is computed as sigmoid. */
compiler.registerBackend("wrong_tanh", confusing({ tanh: "sigmoid" }, ["inference", "forward"]), {
  debug: true,
  module,
});

/** The derivative of a sine is taken for a sine. */
compiler.registerBackend("wrong_backward", confusing({ cos: "sin" }, ["backward"]), { debug: true, module });

/** Compilation fails where there is a sine. */
compiler.registerBackend(
  "refuses_sin",
  aotAutograd({
    fwCompiler: (gm) => {
      const found = gm.graph.nodes.find(({ op, target }) => op !== "placeholder" && target === "sin");
      if (found) throw new RangeError(`Expected no sine but found ${found.name}`);
      return (...args) => gm.forward(...args);
    },
  }),
  { debug: true, module },
);
