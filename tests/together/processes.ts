/** Several processes, with one import of dyn for all of these files. */
import "../distributed_test.ts";
import "../data_parallel_test.ts";
import "../data_test.ts";
import "../readers_test.ts";
import "../rewriting_test.ts";
