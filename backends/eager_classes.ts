/**
 * Compiles the classes of eager calls in the same way as graphs. Imported for its effect. Invariant: eager execution
 * appears in no count and no record of compiled graphs.
 */
import { cutLimits } from "../lib/codegen/blocked_sums.ts";
import { compileGraph } from "../lib/inductor/compile_graph.ts";
import { withSizeArguments } from "../lib/loops/size_arguments.ts";
import { findTarget } from "../lib/ops/table.ts";
import { installGraphPrograms } from "../lib/tensor/classes.ts";

installGraphPrograms((graph, { name, ownResults }) => {
  const compiled = compileGraph(graph, (target) => findTarget(target)?.definition, {
    name,
    signature: { ownResults },
    silent: true,
  });
  return {
    ...compiled,
    ...withSizeArguments(compiled.program),
    limits: cutLimits(compiled.program),
  };
});
