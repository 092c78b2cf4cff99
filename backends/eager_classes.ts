/**
 * Has the classes of eager calls compiled as graphs are. Imported for its effect. Invariant: eager execution shows up
 * in no count and no record of compiled graphs.
 */
import { compileGraph } from "../lib/inductor/compile_graph.ts";
import { findTarget } from "../lib/ops/table.ts";
import { installGraphPrograms } from "../lib/tensor/classes.ts";

installGraphPrograms((graph, { name, ownResults }) =>
  compileGraph(graph, (target) => findTarget(target)?.definition, {
    name,
    signature: { ownResults },
    silent: true,
  })
);
