/** Programs for other runtimes, with one import of dyn for all of these files. */
import "../package_test.ts";
import "../standalone_test.ts";
import "../export_test.ts";
import "../onnx_export_test.ts";
import "../onnxrt_test.ts";
import "../engines_test.ts";
