/** Registers oneDNN, whose code loads when it is used. Imported for its effect. */
import { onDemand } from "../../lib/base/on_demand.ts";
import { registerEngine } from "../../lib/graph/engines.ts";
import { ONEDNN_NEEDS } from "../engine_needs.ts";

const engine = onDemand(import.meta.url, "./engine.ts", () => import("./engine.ts"));

registerEngine({ name: "onednn", needs: ONEDNN_NEEDS, code: () => engine().oneDnnEngine });
