/** Exports another module's bindings. */

export * from "./counter.ts";
