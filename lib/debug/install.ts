/**
 * Installs the recorders that the environment and the settings request, the debugging backend, and the display in
 * notebooks. `DYN_TRACE` is read when this module loads, `config.inductor.trace` at each compilation. Invariant:
 * nothing is written before something is compiled.
 */
import { onDemand } from "../base/on_demand.ts";
import { environmentVariable } from "../base/permissions.ts";
import { recording } from "../base/recording.ts";
import { setCallRecorder } from "../dynamo/call_recorder.ts";
import { registerBackend } from "../graph/backends.ts";
import { interpose } from "../graph/interpose.ts";
import { reproInterposer } from "./after.ts";
import { bisectInterposer } from "./bisect_graphs.ts";
import { crossref } from "./crossref.ts";
import { installDisplays } from "./notebook/display.ts";
import { debugFolders } from "./folder.ts";
import { shadowed } from "./shadow.ts";
import { traceRecorder } from "./trace.ts";
import { traceRuns } from "./trace_runtime.ts";

const replay = onDemand(import.meta.url, "./replay/record.ts", () => import("./replay/record.ts"));

const folder = environmentVariable("DYN_TRACE");
if (folder) {
  const recorder = traceRecorder(folder);
  recording.add(recorder);
  traceRuns((line) => recorder.write(line));
}
registerBackend("crossref", crossref, {
  debug: true,
  needs: "nothing; compares what it captures with what it runs",
});
recording.add(debugFolders((text) => console.error(text)));
setCallRecorder((call, run) => replay().recordFailures(call, run));
interpose(bisectInterposer);
interpose(reproInterposer);
interpose({ captured: shadowed });
installDisplays();
