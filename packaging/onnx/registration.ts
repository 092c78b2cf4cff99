/** Registers ONNX Runtime, whose code loads when it is used. Imported for its effect. */
import { ORT_NEEDS } from "../../backends/engine_needs.ts";
import { onDemand } from "../../lib/base/on_demand.ts";
import { registerEngine } from "../../lib/graph/engines.ts";

const engine = onDemand(import.meta.url, "./engine.ts", () => import("./engine.ts"));

registerEngine({ name: "onnxrt", needs: ORT_NEEDS, code: () => engine().onnxEngine });
