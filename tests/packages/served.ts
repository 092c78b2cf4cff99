/**
 * Serves pages to tests. Input: files by path; output: a server for as long as a test needs it. Invariant: what is served is
 * what the page among the examples gets.
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
