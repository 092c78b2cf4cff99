/** Models and their training, with one import of dyn for all of these files. */
import "../support/eager_tier.ts";
import "../examples_test.ts";
import "../layer_steps_test.ts";
import "../layers_test.ts";
import "../models_test.ts";
import "../optimizers_test.ts";
import "../own_optimizers_test.ts";
import "../checkpoint_effects_test.ts";
import "../checkpointing_test.ts";
import "../decomposition_invariants_test.ts";
import "../decompositions_test.ts";
import "../further_decompositions_test.ts";
import "../freezing_test.ts";
import "../higher_order_test.ts";
import "../pytorch_names_test.ts";
