/**
 * Decides whether tests of the WebGPU device run.
 *
 * Exports a value for a test's `ignore`. Invariant: on a CI machine (`CI=true`) they always run, so that a missing
 * adapter fails there; elsewhere they are skipped with a line that says so. Files that use WebGPU import this one.
 */

/**
 * Without OpenGL where nobody asks for it: at a process' end libEGL frees what threads that end free, too, and test
 * files are threads. One run in twenty of a file was aborted so, after all of its tests had passed.
 */
const BACKENDS = "DENO_WEBGPU_BACKEND";

if (Deno.env.get(BACKENDS) === undefined) Deno.env.set(BACKENDS, "vulkan,metal,dx12");

async function findAdapter(): Promise<GPUAdapter | null> {
  try {
    return await navigator.gpu?.requestAdapter() ?? null;
  } catch {
    return null;
  }
}

const adapter = await findAdapter();

/** Whether WebGPU tests are to be skipped: `Deno.test({ name, ignore: SKIP_WEBGPU, fn })`. */
export const SKIP_WEBGPU: boolean = Deno.env.get("CI") !== "true" && !adapter;

/** Whether WebGPU runs on a GPU, whose memory is not this process's. */
export const HAS_GPU: boolean = adapter !== null && !adapter.info.isFallbackAdapter;

if (SKIP_WEBGPU) {
  console.warn(
    "No WebGPU adapter: its tests are skipped (Debian: apt-get install mesa-vulkan-drivers libvulkan1)",
  );
}
