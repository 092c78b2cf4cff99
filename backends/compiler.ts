/** The public namespace `compiler`: inspection and steering, and the table of backends. */
export * from "../lib/compiler.ts";
export { listBackends, registerBackend } from "./registry.ts";
