/** Display in notebooks beyond tensors and modules, which need no call: the namespace `notebook`. */
export { curves, Displayed, type DisplayImageOptions, image, type MediaBundle } from "./display.ts";
