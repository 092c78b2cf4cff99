/** What notebooks show besides tensors and modules, which show by themselves: the namespace `notebook`. */
export { curves, Displayed, type DisplayImageOptions, image, type MediaBundle } from "./display.ts";
