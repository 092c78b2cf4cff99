/** The requirements of engines, and how to install them. */

/** Those of oneDNN. */
export const ONEDNN_NEEDS =
  "a C++ compiler and oneDNN 2 or 3 with its headers (Debian: apt-get install libdnnl-dev; " +
  "elsewhere DNNLROOT names its folder)";

/** The package of ONNX Runtime, in the version with which its backend was tested. */
export const ORT_PACKAGE = "npm:onnxruntime-node@1.30.0";

/** Those of ONNX Runtime. */
export const ORT_NEEDS =
  `ONNX Runtime (deno cache --no-config ${ORT_PACKAGE}, 290 MB; or ONNXRUNTIME_NODE names the package's folder)`;
