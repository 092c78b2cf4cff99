/** Tests of caches between processes, with one import of dyn for all of these files. */
import "../kept_captures_test.ts";
import "../kept_classes_test.ts";
import "../kept_graphs_test.ts";
import "../kept_texts_test.ts";
import "../cache_trust_test.ts";
import "../formats_test.ts";
