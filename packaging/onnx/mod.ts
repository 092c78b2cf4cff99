/** Writing of exported programs as ONNX models. */
import { refuseSurplus } from "../../lib/base/checked_input.ts";
import { onDemand } from "../../lib/base/on_demand.ts";
import { writeFile } from "../../lib/data/safetensors.ts";
import type { ExportedProgram } from "../../lib/export/program.ts";

const models = onDemand(import.meta.url, "./program.ts", () => import("./program.ts"));

/**
 * Writes an exported program as an ONNX model with opset 20. Symbolic sizes are named dimensions. Inputs are called
 * `input_0` and so on, by position among the arguments; results `output_0`; new values of written inputs or buffers
 * `new_` followed by their names. Throws DynError for ops and types without a counterpart in ONNX.
 */
export function saveOnnx(program: ExportedProgram, path: string | URL): void {
  if (arguments.length > 2) refuseSurplus("saveOnnx", 2, arguments);
  writeFile(path, models().onnxBytes(program));
}
