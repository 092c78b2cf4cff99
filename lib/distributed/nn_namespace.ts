/** The namespace `nn`: layers, including those that train on several processes. */
export * from "../nn/mod.ts";
/** Modules over several processes, like `torch.nn.parallel`. */
export * as parallel from "./parallel.ts";
