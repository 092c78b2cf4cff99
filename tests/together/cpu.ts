/** Native code, with one import of dyn for all of these files. */
import "../cpu_print_test.ts";
import "../cpu_runtime_test.ts";
import "../kept_forms_test.ts";
import "../kernel_tables_test.ts";
import "../native_sort_test.ts";
import "../disjoint_sums_test.ts";
import "../row_blocks_test.ts";
import "../prologues_test.ts";
import "../transposed_tiles_test.ts";
