/** The namespace `nn`: layers, and those that train on several processes. */
export * from "../nn/mod.ts";
/** Modules over several processes, as `torch.nn.parallel`. */
export * as parallel from "./parallel.ts";
