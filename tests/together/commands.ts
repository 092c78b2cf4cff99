/** The command line, with one import of dyn for all of these files. */
import "../cli_test.ts";
import "../import_maps_test.ts";
import "../prepare_test.ts";
import "../repl_interrupt_test.ts";
import "../repro_test.ts";
import "../bisect_test.ts";
import "../readme_test.ts";
import "../sampling_test.ts";
