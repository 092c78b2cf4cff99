/** The passes for targets with runs, tables or streams: native code. */
export { foreachTables } from "./foreach_tables.ts";
export { splitIndexSets, splitOutermost } from "./index_set_splitting.ts";
export { runsOfLanes } from "./lanes.ts";
export { streamingStores } from "./streaming_stores.ts";
export { transposedTiles } from "./transposed_tiles.ts";
