/**
 * `backends`: lists the names that `compile` accepts, each with what it needs or lacks.
 */
import { type Command, expectNoMore } from "./command.ts";
import { toolkit } from "./toolkit.ts";

/** `dyn backends`. */
export const backendsCommand: Command = {
  name: "backends",
  usage: "backends",
  summary: "List the backends that compile can use, and what each needs",
  takesFlags: false,
  run: async (args) => {
    expectNoMore("backends", args);
    const backends = (await toolkit()).compiler.describeBackends({ debug: true });
    const width = Math.max(...backends.map(({ name }) => name.length));
    for (const { name, needs, missing } of backends) {
      const lacks = missing === null ? [] : [`not here: ${missing}`];
      console.log(
        [name.padEnd(width), ...needs === null ? [] : [`needs ${needs}`], ...lacks].join("  ").trimEnd(),
      );
    }
    return 0;
  },
};
