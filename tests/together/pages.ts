/** Pages and sources, with one import of dyn for all of these files. */
import "../docs_test.ts";
import "../op_pages_test.ts";
import "../house_style_test.ts";
import "../layering_test.ts";
import "../on_demand_test.ts";
import "../mpi_words_test.ts";
import "../together_test.ts";
