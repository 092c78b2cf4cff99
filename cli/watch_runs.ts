/**
 * `watch`: a local page about a training run: curves, throughput, histograms, images, from the script's `Writer`s or
 * a folder of event files.
 *
 * Invariant: the page is served to this machine only; it stays until Ctrl-C, also after the script has ended.
 */
import { basename, dirname, join, relative, resolve } from "node:path";
import { htmlPage } from "../lib/debug/pages/page.ts";
import watchScript from "../lib/debug/pages/watch.js" with { type: "text" };
import { EventFollower, type ShownSeries } from "../lib/debug/summary/follow.ts";
import { endWithSignals } from "./children.ts";
import { type Command, UsageError } from "./command.ts";
import { isUrl, scriptUrl } from "./script_source.ts";

/** The port that is tried first. */
const PORT = 6100;
/** Milliseconds between polls of the files. */
const LOOK = 500;

/** A message to the page. */
type Update =
  | { readonly kind: "values"; readonly all: boolean; readonly series: readonly ShownSeries[] }
  | { readonly kind: "ended"; readonly code: number };

/** The name of the run that an event file belongs to: its folder, as seen from another. */
export function runName(from: string, path: string): string {
  const folder = dirname(resolve(path)), name = relative(from, folder);
  return name.startsWith("..") ? folder : name || basename(folder);
}

/** Finds event files and reports their contents to pages. */
class Watched {
  readonly #follower = new EventFollower((text) => console.error(`[watch] ${text}`));
  readonly #pages = new Set<(update: Update) => void>();
  #ended: Update | null = null;

  /** Runs are named as seen from `base`. */
  constructor(readonly base: string, readonly findFiles: () => readonly string[]) {}

  look(): void {
    for (const path of this.findFiles()) this.#follower.add(path, runName(this.base, path));
    const series = this.#follower.look();
    if (series.length > 0) this.#tell({ kind: "values", all: false, series });
  }

  ended(code: number): void {
    this.look();
    this.#tell(this.#ended = { kind: "ended", code });
  }

  #tell(update: Update): void {
    for (const page of this.#pages) page(update);
  }

  /** Adds a page, which immediately receives everything; the result removes it. */
  open(page: (update: Update) => void): () => void {
    page({ kind: "values", all: true, series: this.#follower.all });
    if (this.#ended) page(this.#ended);
    this.#pages.add(page);
    return () => void this.#pages.delete(page);
  }
}

/** A stream of updates, in the format of browsers. */
function updates(watched: Watched): Response {
  const encoder = new TextEncoder();
  let close = () => {};
  const body = new ReadableStream<Uint8Array>({
    start(stream) {
      close = watched.open((update) => stream.enqueue(encoder.encode(`data: ${JSON.stringify(update)}\n\n`)));
    },
    cancel: () => close(),
  });
  return new Response(body, {
    headers: { "content-type": "text/event-stream", "cache-control": "no-store" },
  });
}

/** The title of a page, and its state until a script ends. */
interface Shown {
  readonly title: string;
  readonly state: "running" | "watching";
}

function serve(shown: Shown, watched: Watched): Deno.HttpServer<Deno.NetAddr> {
  const page = htmlPage({ title: shown.title, script: watchScript, data: shown });
  const handler = (request: Request): Response => {
    // Other sites must not access it under their own host names
    if (!/^(localhost|127\.0\.0\.1):\d+$/.test(request.headers.get("host") ?? "")) {
      return new Response("Expected a local name", { status: 403 });
    }
    const { pathname } = new URL(request.url);
    if (pathname === "/updates") return updates(watched);
    if (pathname !== "/") return new Response("Expected / or /updates", { status: 404 });
    return new Response(page, { headers: { "content-type": "text/html; charset=utf-8" } });
  };
  const options = { hostname: "127.0.0.1", onListen() {} };
  try {
    return Deno.serve({ ...options, port: PORT }, handler);
  } catch (thrown) {
    if (!(thrown instanceof Deno.errors.AddrInUse)) throw thrown;
    return Deno.serve({ ...options, port: 0 }, handler);
  }
}

/** All event files below a folder; none if it has been removed. */
function eventFiles(folder: string): string[] {
  let entries: Deno.DirEntry[];
  try {
    entries = [...Deno.readDirSync(folder)].sort((a, b) => a.name < b.name ? -1 : 1);
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return [];
    throw thrown;
  }
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory) return eventFiles(path);
    return entry.isFile && entry.name.includes("tfevents") ? [path] : [];
  });
}

function isFolder(path: string): boolean {
  try {
    return Deno.statSync(path).isDirectory;
  } catch {
    return false;
  }
}

/** `dyn watch`. */
export const watchCommand: Command = {
  name: "watch",
  usage: "watch <script> [arguments], or watch <folder of event files>",
  summary: "Run a script and show what its Writers write on a local page",
  takesFlags: true,
  run: async ([target, ...args]) => {
    if (target === undefined) throw new UsageError("Expected a script or a folder but found nothing");
    if (isFolder(target)) {
      const watched = new Watched(resolve(target), () => eventFiles(target));
      watch({ title: target, state: "watching" }, watched);
      await new Promise(() => {});
    }
    if (target !== "-" && !isUrl(target)) scriptUrl(target, "a script or a folder");
    const list = await Deno.makeTempFile({ prefix: "dyn-watch-" });
    globalThis.addEventListener("unload", () => Deno.removeSync(list));
    const listed = () => Deno.readTextFileSync(list).split("\n").filter((path) => path !== "");
    const watched = new Watched(Deno.realPathSync("."), listed);
    watch({ title: target, state: "running" }, watched);
    const own = new URL("../cli.ts", import.meta.url).href;
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-check", own, "run", target, ...args],
      env: { DYN_WATCH: list },
    }).spawn();
    endWithSignals(() => child);
    const { code } = await child.status;
    watched.ended(code);
    console.error(`[watch] the script ended with code ${code}; the page stays until Ctrl-C`);
    await new Promise(() => {});
    return code;
  },
};

function watch(shown: Shown, watched: Watched): void {
  const { addr: { port } } = serve(shown, watched);
  console.error(`[watch] http://127.0.0.1:${port}/`);
  watched.look();
  setInterval(() => watched.look(), LOOK);
}
