/** Replaces batch norms by ones without running statistics, which `vmap` supports. */
import { refuseSurplus } from "../base/checked_input.ts";
import { checkModule, type Module } from "../nn/module.ts";
import { noGrad } from "../tensor/modes.ts";
import { BatchNorm1d, BatchNorm2d, BatchNorm3d } from "../nn/normalization.ts";

/**
 * Makes all batch norms of a module use only the statistics of each batch, like
 * `torch.func.replace_all_batch_norm_modules_`.
 */
export function replaceAllBatchNormModules_<M extends Module>(root: M): M {
  if (arguments.length > 1) refuseSurplus("replaceAllBatchNormModules_", 1, arguments);
  checkModule(root, "replaceAllBatchNormModules_");
  noGrad(() => {
    for (const each of root.modules()) {
      if (!(each instanceof BatchNorm1d || each instanceof BatchNorm2d || each instanceof BatchNorm3d)) {
        continue;
      }
      for (const { field } of [...each.bufferEntries]) each.registerBuffer(field, null);
    }
  });
  return root;
}
