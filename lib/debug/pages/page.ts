/**
 * Self-contained HTML pages. Invariant: data are shown, never run: scripts insert them into the page as text only. Data
 * are compressed, since texts of compilers repeat themselves: pages of large models are a tenth of what they show.
 */
import { gzipSync } from "node:zlib";
import base from "./base.js" with { type: "text" };
import style from "./base.css" with { type: "text" };
import { escapeHtml } from "./escape.ts";

/** The contents of a page. */
interface PageParts {
  readonly title: string;
  /** The script that fills the page: the text of a module that imports only base.js. */
  readonly script: string;
  /** Passed to the script as JSON, under the name `DATA`. */
  readonly data: unknown;
}

/** The text of a module as part of a script. */
const inScript = (module: string): string =>
  module.replace(/^import [^;]*;$/gm, "").replace(/^export /gm, "");

/** A whole page. */
export function htmlPage({ title, script, data }: PageParts): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${style}</style></head><body>
<noscript>This page shows its contents by a script.</noscript>
<script id="data" type="application/gzip">${gzipSync(JSON.stringify(data)).toString("base64")}</script>
<script type="module">
${inScript(base)}
${inScript(script)}
</script></body></html>
`;
}
