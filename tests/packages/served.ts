/**
 * Serves modules of this repository to browsers, without their types. Input: files by path; output: a server. Invariant:
 * nothing is served besides the repository's modules and what is given.
 */
import { stripTypeScriptTypes } from "node:module";

const ROOT = new URL("../../", import.meta.url);

/** A server of modules below /dyn/ and of given files; `body` gets its address. */
export async function serving<T>(
  files: Readonly<Record<string, Uint8Array<ArrayBuffer> | string>>,
  body: (address: string) => Promise<T>,
): Promise<T> {
  const type = (path: string): string =>
    path.endsWith(".html")
      ? "text/html"
      : path.endsWith(".ts")
      ? "text/javascript"
      : "application/octet-stream";
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    const { pathname } = new URL(request.url), file = files[pathname];
    const headers = { "content-type": type(pathname) };
    if (file !== undefined) return new Response(file, { headers });
    if (!pathname.startsWith("/dyn/") || !pathname.endsWith(".ts")) return new Response("", { status: 404 });
    const source = Deno.readTextFileSync(new URL(`.${pathname.slice("/dyn".length)}`, ROOT));
    return new Response(stripTypeScriptTypes(source, { mode: "transform" }), { headers });
  });
  try {
    return await body(`http://127.0.0.1:${server.addr.port}`);
  } finally {
    await server.shutdown();
  }
}
