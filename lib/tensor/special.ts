/** Special functions: the namespace `special`, as `torch.special`. */
export * from "./generated_special.ts";
export { logSoftmax, softmax } from "./generated_free.ts";
