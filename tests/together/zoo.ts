/** Models of the zoo, with one import of dyn for all of these files. */
import "../support/eager_tier.ts";
import "../zoo_test.ts";
import "../zoo_wasm_test.ts";
