/**
 * A headless browser for tests of pages, driven by the DevTools protocol. Invariant: on a CI machine (`CI=true`) its
 * tests always run, so that a missing browser fails there; elsewhere they are skipped with a line that says so. No
 * page outlives its test.
 */

const NAMES = ["chromium-headless-shell", "chromium", "google-chrome"];

function findBrowser(): string | undefined {
  const folders = (Deno.env.get("PATH") ?? "").split(":");
  return NAMES.flatMap((name) => folders.map((folder) => `${folder}/${name}`)).find((path) => {
    try {
      return Deno.statSync(path).isFile;
    } catch {
      return false;
    }
  });
}

const found = findBrowser();

/** Whether tests of pages are to be skipped: `Deno.test({ name, ignore: SKIP_BROWSER, fn })`. */
export const SKIP_BROWSER: boolean = Deno.env.get("CI") !== "true" && found === undefined;

if (SKIP_BROWSER) {
  console.warn("No browser: tests of pages are skipped (Debian: apt-get install chromium-headless-shell)");
}

/** A page of the browser. */
export interface Page {
  /** The value of an expression, awaited; JSON can hold it. Throws what the expression throws. */
  evaluate(expression: string): Promise<unknown>;
  /** Draws with the pointer: pressed at the first place, released at the last. */
  draw(places: readonly (readonly [x: number, y: number])[]): Promise<void>;
  /** Waits until an expression is true. Throws where that takes longer than half a minute. */
  until(expression: string): Promise<void>;
  /** Errors of scripts so far. */
  readonly errors: readonly string[];
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: {
    readonly exceptionDetails?: { readonly exception?: { readonly description?: string } };
  };
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly message: string };
}

/** Opens a page, in a browser whose WebGPU has a software adapter, and runs `body` over it. */
export async function withPage(address: string, body: (page: Page) => Promise<void>): Promise<void> {
  if (found === undefined) throw new Error(`Expected one of ${NAMES.join(", ")} but found none`);
  const folder = await Deno.makeTempDir();
  const browser = new Deno.Command(found, {
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--enable-unsafe-webgpu",
      "--use-webgpu-adapter=swiftshader",
      "--remote-debugging-port=0",
      `--user-data-dir=${folder}`,
      "about:blank",
    ],
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const log = browser.stderr.pipeThrough(new TextDecoderStream()).getReader();
  let told = "", socket: WebSocket | undefined, port: string | undefined;
  try {
    while (!/DevTools listening on ws:\S+\n/.test(told)) {
      const { value, done } = await log.read();
      if (done) throw new Error(`Expected a browser that listens but found one that ended: ${told}`);
      told += value;
    }
    port = /ws:\/\/127\.0\.0\.1:(\d+)/.exec(told)?.[1];
    const response = await fetch(`http://127.0.0.1:${port}/json/new?${encodeURIComponent(address)}`, {
      method: "PUT",
    });
    const { webSocketDebuggerUrl }: { webSocketDebuggerUrl: string } = await response.json();
    socket = new WebSocket(webSocketDebuggerUrl);
    await body(await attach(socket));
  } finally {
    const closed = socket && new Promise((done) => socket?.addEventListener("close", done));
    socket?.close();
    // The started program may be a script that started the browser: a signal would not reach it
    if (port !== undefined) await closeBrowser(port);
    else browser.kill("SIGKILL");
    await closed;
    await log.cancel();
    await browser.status;
    await Deno.remove(folder, { recursive: true }).catch(() => {});
  }
}

/** Ends the browser that listens at a port. */
async function closeBrowser(port: string): Promise<void> {
  const { webSocketDebuggerUrl }: { webSocketDebuggerUrl: string } =
    await (await fetch(`http://127.0.0.1:${port}/json/version`)).json();
  const socket = new WebSocket(webSocketDebuggerUrl);
  await new Promise((done) => {
    socket.onopen = () => socket.send(JSON.stringify({ id: 1, method: "Browser.close" }));
    socket.onclose = socket.onerror = done;
  });
}

async function attach(socket: WebSocket): Promise<Page> {
  const waiting = new Map<number, (message: Message) => void>(), errors: string[] = [];
  let count = 0;
  await new Promise((done, failed) => {
    socket.onopen = done;
    socket.onerror = failed;
  });
  socket.onmessage = ({ data }) => {
    const message: Message = JSON.parse(String(data));
    if (message.id !== undefined) waiting.get(message.id)?.(message);
    else if (message.method === "Runtime.exceptionThrown") {
      errors.push(message.params?.exceptionDetails?.exception?.description ?? "an unknown error");
    }
  };
  const send = (method: string, params: Readonly<Record<string, unknown>> = {}): Promise<Message> =>
    new Promise((done) => {
      const id = ++count;
      waiting.set(id, done);
      socket.send(JSON.stringify({ id, method, params }));
    });
  await send("Runtime.enable");
  const page: Page = {
    errors,
    async evaluate(expression) {
      const { result, error } = await send("Runtime.evaluate", {
        expression,
        awaitPromise: true,
        returnByValue: true,
      });
      const { result: value, exceptionDetails } = (result ?? {}) as {
        readonly result?: { readonly value?: unknown };
        readonly exceptionDetails?: { readonly exception?: { readonly description?: string } };
      };
      if (error) throw new Error(error.message);
      if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? "an unknown error");
      return value?.value;
    },
    async draw(places) {
      const pointer = async (type: string, [x, y]: readonly [number, number]) => {
        await send("Input.dispatchMouseEvent", { type, x, y, button: "left", buttons: 1, clickCount: 1 });
      };
      for (const [k, place] of places.entries()) {
        await pointer(k === 0 ? "mousePressed" : "mouseMoved", place);
        if (k === places.length - 1) await pointer("mouseReleased", place);
      }
    },
    async until(expression) {
      for (let tries = 0; tries < 600; tries++) {
        if (await page.evaluate(expression)) return;
        await new Promise((done) => setTimeout(done, 50));
      }
      throw new Error(`Expected the page to come to ${expression} but it did not: ${errors.join("; ")}`);
    },
  };
  await page.until("document.readyState === 'complete' && location.href !== 'about:blank'");
  return page;
}
