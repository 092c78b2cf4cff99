/**
 * Serves a page to browsers: files, and modules of this repository without their types. Invariant: only these modules
 * and the given files are served.
 */
import { stripTypeScriptTypes } from "node:module";

const ROOT = new URL("../../", import.meta.url);

const TYPES: Readonly<Record<string, string>> = { html: "text/html", ts: "text/javascript" };

/** Returns the body of a file for a browser; modules lose their types. */
function bodyOf(path: string, content: Uint8Array<ArrayBuffer> | string): Uint8Array<ArrayBuffer> | string {
  return path.endsWith(".ts") && typeof content === "string"
    ? stripTypeScriptTypes(content, { mode: "transform" })
    : content;
}

/** Serves `files` at their paths and modules below /dyn/; port 0: any free port. */
export function serve(
  files: Readonly<Record<string, Uint8Array<ArrayBuffer> | string>>,
  port: number,
): Deno.HttpServer<Deno.NetAddr> {
  return Deno.serve({ hostname: "127.0.0.1", port, onListen() {} }, (request) => {
    const { pathname } = new URL(request.url), file = files[pathname];
    const isModule = pathname.startsWith("/dyn/") && pathname.endsWith(".ts");
    if (file === undefined && !isModule) return new Response("", { status: 404 });
    const content = file ?? Deno.readTextFileSync(new URL(`.${pathname.slice("/dyn".length)}`, ROOT));
    const type = TYPES[pathname.split(".").at(-1) ?? ""] ?? "application/octet-stream";
    return new Response(bodyOf(pathname, content), { headers: { "content-type": type } });
  });
}

/** Serves the page for drawing digits, and a package of a model that recognises them. */
export function serveClassifier(
  model: Uint8Array<ArrayBuffer>,
  port: number,
): Deno.HttpServer<Deno.NetAddr> {
  return serve({
    "/index.html": Deno.readTextFileSync(new URL("index.html", import.meta.url)),
    "/digits.dyn": model,
  }, port);
}
