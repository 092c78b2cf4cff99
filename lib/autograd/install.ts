/**
 * Connects tensors with the tape and the engine. Imported for its effect. Invariant: loading it twice changes
 * nothing.
 */
import { installAutograd } from "../tensor/tensor.ts";
import { giveHistory } from "./captured_function.ts";
import { backward, gradients } from "./engine.ts";
import { gradFnOf, record, recordInplace, registerAccumulationHook, registerHook } from "./tape.ts";

installAutograd({
  record,
  recordInplace,
  giveHistory,
  gradFnOf,
  registerHook,
  registerAccumulationHook,
  backward,
  gradients,
});
