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

async function hasAdapter(): Promise<boolean> {
  try {
    return Boolean(await navigator.gpu?.requestAdapter());
  } catch {
    return false;
  }
}

/** Whether WebGPU tests are to be skipped: `Deno.test({ name, ignore: SKIP_WEBGPU, fn })`. */
export const SKIP_WEBGPU: boolean = Deno.env.get("CI") !== "true" && !(await hasAdapter());

if (SKIP_WEBGPU) {
  console.warn(
    "No WebGPU adapter: its tests are skipped (Debian: apt-get install mesa-vulkan-drivers libvulkan1)",
  );
}
