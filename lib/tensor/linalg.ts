/** Linear algebra: the namespace `linalg`, as `torch.linalg`. */
export * from "./generated_linalg.ts";
export { LinAlgError } from "../base/errors.ts";
