/** Gradients, with one import of dyn for all of these files. */
import "../support/eager_tier.ts";
import "../late_backward_test.ts";
import "../host_steps_test.ts";
import "../late_sizes_test.ts";
import "../late_numbers_test.ts";
import "../regions_test.ts";
import "../compiled_autograd_test.ts";
import "../autograd_test.ts";
import "../forward_ad_test.ts";
import "../result_gradients_test.ts";
import "../attention_gradients_test.ts";
import "../vmap_test.ts";
import "../func_test.ts";
import "../derivatives_test.ts";
import "../written_results_test.ts";
import "../view_layouts_test.ts";
import "../distributions_test.ts";
