/** Display functions for notebooks: the namespace `notebook`. Tensors and modules display without a call. */
export { curves, Displayed, type DisplayImageOptions, image, type MediaBundle } from "./display.ts";
