/** Types of elements, with one import of dyn for all of these files. */
import "../support/eager_tier.ts";
import "../small_types_test.ts";
import "../autocast_test.ts";
import "../empty_tensors_test.ts";
import "../custom_ops_test.ts";
import "../wasm_test.ts";
import "../wasm_kernel_test.ts";
import "../wasm_library_test.ts";
import "../wasm_operations_test.ts";
