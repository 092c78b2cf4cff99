/** Tools that inspect programs, with one import of dyn for all of these files. */
import "../support/eager_tier.ts";
import "../debug_test.ts";
import "../report_test.ts";
import "../numerics_test.ts";
import "../shadow_test.ts";
import "../simulator_test.ts";
import "../profiler_test.ts";
import "../notebook_test.ts";
import "../console_test.ts";
import "../writer_test.ts";
import "../running_functions_test.ts";
import "../settings_test.ts";
