/** Builtins that programs replace, with one import of dyn for all of these files. */
import "../support/eager_tier.ts";
import "../promise_constructors_test.ts";
import "../replaced_builtins_test.ts";
import "../patched_builtins_test.ts";
import "../known_replacements_test.ts";
import "../inherited_properties_test.ts";
