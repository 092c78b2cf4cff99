/**
 * For programs of tests of what is kept of modules' texts: compiles a function, calls it twice with `change` in between
 * and prints one JSON line: what the calls give, the lines that the graphs come from, and what was counted.
 */
import type { GraphModule } from "../../lib/graph/graph_module.ts";
import { counters } from "../../lib/base/logs.ts";
import { compile, type Tensor, tensor } from "../../mod.ts";

/** Calls `f` compiled, and tells of it. */
export function tell(f: (x: Tensor) => Tensor, change?: () => void): void {
  const lines: unknown[] = [];
  const backend = (gm: GraphModule) => {
    const calls = gm.graph.nodes.filter(({ op }) => op.startsWith("call_"));
    lines.push(...calls.map(({ meta: { stack } }) => [stack.at(-1)?.line, stack.at(-1)?.code]));
    return (...inputs: unknown[]) => gm.forward(...inputs);
  };
  const compiled = compile(f, { backend }), x = tensor([1, 2]);
  const results = [0, 1].map(() => {
    const result = Array.from(compiled(x).toTypedArray(), Number);
    change?.();
    return result;
  });
  const [inspector, texts, modules] = ["inspector", "cached_texts", "modules"].map((group) =>
    Object.fromEntries(counters.entries(group))
  );
  console.log(JSON.stringify({ results, lines, inspector, texts, modules }));
}
