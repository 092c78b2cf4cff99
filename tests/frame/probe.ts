/** Captures a closure in the main thread and in a worker, and prints the result. */
import { captureFunction } from "../../lib/dynamo/frame/capture.ts";

let n = 1;
const step = (): number => n++;

function report(): string {
  const found = captureFunction(step);
  if (found.kind === "function") return found.binding(0).kind;
  return "because" in found ? found.because : found.kind;
}

if (self.name === "worker") {
  const channel = new BroadcastChannel("probe");
  channel.postMessage(report());
  channel.close();
} else {
  console.log(`main ${report()}`);
  const channel = new BroadcastChannel("probe");
  channel.onmessage = (event: MessageEvent<string>) => {
    console.log(`worker ${event.data}`);
    channel.close();
    worker.terminate();
  };
  const worker = new Worker(import.meta.url, { type: "module", name: "worker" });
}
