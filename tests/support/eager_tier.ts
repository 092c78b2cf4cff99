/**
 * The tier of eager ops in lists of test files that do not test it: in one run of four, by the seed, the C++ compiler
 * builds hot ones in the background, as it does for programs; in the others they stay on WebAssembly, since a tenth of
 * the suite's time would go into code that hardly any test still calls.
 */
import { EAGER_OP } from "../../backends/cpu/tiered_program.ts";
import { TAKES_ALL, testSeed } from "./sampling.ts";

// The seed's last digits choose the tier of graphs
if (!TAKES_ALL && (testSeed() >> 2) % 4 !== 0) Object.assign(EAGER_OP, { hot: Infinity });
