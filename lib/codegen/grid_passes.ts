/** The passes for targets that run on a grid, by name. */
import { fusedAttention } from "./attention.ts";
import { fusedGradients } from "./attention_gradients.ts";
import { depthwiseConvolutions } from "./depthwise.ts";
import { flatLoops } from "./flat_loops.ts";
import { foldedGradients } from "./folded_gradients.ts";
import { mapToGrid } from "./grid.ts";
import { gridReductions } from "./grid_reductions.ts";
import { gridScans } from "./grid_scans.ts";
import { joinScalars } from "./joined_scalars.ts";
import { packedFilters } from "./packed_filters.ts";
import { persistentRows } from "./persistent_rows.ts";
import { rowFission } from "./row_fission.ts";
import { splitProducts } from "./split_products.ts";
import { transposedWeights } from "./transposed_weights.ts";

export const GRID_PASSES = {
  attention: fusedAttention,
  attention_gradients: fusedGradients,
  joined_scalars: joinScalars,
  depthwise: depthwiseConvolutions,
  folded_gradients: foldedGradients,
  packed_filters: packedFilters,
  transposed_weights: transposedWeights,
  split_products: splitProducts,
  flat_loops: flatLoops,
  row_fission: rowFission,
  grid_reductions: gridReductions,
  grid_scans: gridScans,
  grid: mapToGrid,
  persistent_rows: persistentRows,
} as const;
