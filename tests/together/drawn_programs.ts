/** Programs of users, compiled as they are and once more piece by piece, with one import of dyn for all of these files. */
import "../support/eager_tier.ts";
import "../asked_gradients_test.ts";
import "../custom_gradients_test.ts";
import "../programs_models_test.ts";
import "../programs_tensors_test.ts";
import "../realistic_test.ts";
import "../rule_programs_test.ts";
import "../module_changes_test.ts";
import "../module_hooks_test.ts";
import "../module_tools_test.ts";
import "../behaviour_test.ts";
import "../rows/wrong_calls_test.ts";
import "../layout_changes_test.ts";
