/**
 * `backends`: the names that `compile` takes. Input: none; output: one name a line.
 */
import { type Command, expectNoMore } from "./command.ts";
import { toolkit } from "./toolkit.ts";

/** `dyn backends`. */
export const backendsCommand: Command = {
  name: "backends",
  usage: "backends",
  summary: "List the backends that compile can use",
  takesFlags: false,
  run: async (args) => {
    expectNoMore("backends", args);
    for (const name of (await toolkit()).compiler.listBackends({ debug: true })) console.log(name);
    return 0;
  },
};
