/** Rules from ops to ONNX, by the op's name. Invariant: an op without a rule is refused. */
import type { Rule } from "./onnx_call.ts";
import { POINTWISE } from "./pointwise_rules.ts";
import { REDUCTIONS } from "./reduction_rules.ts";
import { SHAPES } from "./shape_rules.ts";
import { WINDOWS } from "./window_rules.ts";

/** Rules by the op's name. */
export const RULES: Readonly<Record<string, Rule>> = { ...POINTWISE, ...REDUCTIONS, ...SHAPES, ...WINDOWS };
