/**
 * Serves pages to tests for as long as a test needs. Invariant: files are served as to the page among the examples.
 */
import { serve } from "../../examples/web/server.ts";

/** A server of modules below /dyn/ and of given files; `body` gets its address. */
export async function serving<T>(
  files: Readonly<Record<string, Uint8Array<ArrayBuffer> | string>>,
  body: (address: string) => Promise<T>,
): Promise<T> {
  const server = serve(files, 0);
  try {
    return await body(`http://127.0.0.1:${server.addr.port}`);
  } finally {
    await server.shutdown();
  }
}
