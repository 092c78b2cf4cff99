/**
 * Capture and ahead-of-time autograd without code generation: the functional, partitioned graphs run op by op. For
 * telling faults of differentiation from faults of code generation.
 */
import { aotAutograd, interpretGraph } from "../lib/aot/backend.ts";
import type { GraphBackend } from "../lib/graph/backend.ts";

/** The backend "aot_eager". */
export const aotEager: GraphBackend = aotAutograd({ fwCompiler: interpretGraph });
