/** Fuzzers, with one import of dyn for all of these files. */
import "../support/eager_tier.ts";
import "../fuzz/found_test.ts";
import "../fuzz/fuzzer_test.ts";
import "../fuzz/language_test.ts";
import "../fuzz/supervisor_test.ts";
import "../fuzz/tensor_programs_test.ts";
import "../fuzz/transforms_test.ts";
