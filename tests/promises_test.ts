/** The promises of a CI machine: with `CI=true` nothing is skipped because a compiler or a GPU is missing. */
import { assertEquals } from "@std/assert";
import { toolchainStatus } from "../backends/cpu/toolchain.ts";
import { findAdapter } from "../backends/webgpu/device.ts";
import { SKIP_NATIVE } from "./support/native.ts";
import { SKIP_WEBGPU } from "./support/webgpu.ts";

const promised = Deno.env.get("CI") === "true";

Deno.test("tests of native code run where there is a C++ compiler, which CI promises", () => {
  const status = toolchainStatus(), found = status.kind === "ready";
  assertEquals(
    { found, skipped: SKIP_NATIVE },
    { found: promised || found, skipped: !found },
    Deno.inspect(status),
  );
});

Deno.test("tests of WebGPU run where there is an adapter, which CI promises", async () => {
  const found = await findAdapter() !== null;
  assertEquals({ found, skipped: SKIP_WEBGPU }, { found: promised || found, skipped: !found });
});
