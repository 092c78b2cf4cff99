/** Ops and what they compute, with one import of dyn for all of these files. */
import "../support/eager_tier.ts";
import "../reference_ops_test.ts";
import "../special_functions_test.ts";
import "../math_test.ts";
import "../bessel_test.ts";
import "../base_test.ts";
import "../fills_test.ts";
import "../first_of_ties_test.ts";
import "../equal_elements_test.ts";
import "../index_arithmetic_test.ts";
import "../convolution_loops_test.ts";
import "../transposed_operands_test.ts";
import "../torch_choices_test.ts";
import "../torch_defaults_test.ts";
import "../tensor_test.ts";
import "../flex_attention_test.ts";
import "../distribution_sets_test.ts";
