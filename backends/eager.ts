/**
 * Capture only: runs the captured graph op by op. For telling faults of capture from faults of compilation.
 */
import type { GraphBackend } from "../lib/graph/backend.ts";

/** The backend "eager". */
export const eager: GraphBackend = (gm) => (...inputs) => gm.forward(...inputs);
