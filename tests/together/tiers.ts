/** Tiers of code, with one import of dyn for all of these files. */
import "../tiers_test.ts";
import "../faults_test.ts";
import "../eager_classes_test.ts";
