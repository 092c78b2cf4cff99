/** Ops by their definitions, eager and compiled, with one import of dyn for all of these files. */
import "../support/eager_tier.ts";
import "../inplace_ops_test.ts";
import "../generated_ops_test.ts";
import "../aot_ops_test.ts";
import "../op_types_test.ts";
import "../memory_access_test.ts";
import "../indexing_test.ts";
import "../index_checks_test.ts";
import "../library_numbers_test.ts";
import "../narrow_tensors_test.ts";
import "../complex_test.ts";
import "../absent_arguments_test.ts";
import "../default_device_test.ts";
import "../second_derivatives_test.ts";
