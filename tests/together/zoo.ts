/** Models of the zoo, with one import of dyn for all of these files. */
import "../zoo_test.ts";
import "../zoo_wasm_test.ts";
