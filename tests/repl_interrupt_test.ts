/** Ctrl-C in the REPL, typed into a terminal that `script` (Debian's bsdutils) provides. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { fileURLToPath } from "node:url";
import { Interrupted, Interrupts } from "../cli/interrupts.ts";
import { launches } from "../lib/loops/launch.ts";
import { ones } from "../mod.ts";
import { withFolder } from "./support/process.ts";

const CLI = fileURLToPath(new URL("../cli.ts", import.meta.url));

/** A REPL in a terminal: types, and waits for what it answers. */
interface Typed {
  type(text: string): Promise<void>;
  until(wanted: string): Promise<void>;
  /** The exit code. */
  end(): Promise<number>;
}

/** Milliseconds that only a REPL which hangs needs for an answer. */
const HANGS = 120_000;

async function withRepl(body: (repl: Typed) => Promise<void>): Promise<void> {
  await withFolder(async (folder) => {
    const child = new Deno.Command("script", {
      // Signals reach the REPL alone: some shells would stay between, and end by Ctrl-C themselves
      args: ["-qfec", `exec ${Deno.execPath()} run -A --no-check ${CLI} repl`, "/dev/null"],
      env: { DYN_CACHE_DIR: `${folder}/cache`, TERM: "dumb", NO_COLOR: "1" },
      stdin: "piped",
      stdout: "piped",
    }).spawn();
    const writer = child.stdin.getWriter(),
      reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
    let told = "";
    try {
      await body({
        type: (text) => writer.write(new TextEncoder().encode(text)),
        async until(wanted) {
          let isHung = false;
          const limit = setTimeout(() => {
            isHung = true;
            child.kill("SIGKILL");
          }, HANGS);
          try {
            while (!told.includes(wanted)) {
              const { value, done } = await reader.read();
              if (done) throw new Error(`Expected ${wanted} ${isHung ? "in time " : ""}but found ${told}`);
              told += value;
            }
          } finally {
            clearTimeout(limit);
          }
          told = told.slice(told.indexOf(wanted) + wanted.length);
        },
        end: async () => (await child.status).code,
      });
    } finally {
      await writer.abort().catch(() => {});
      await reader.cancel();
      try {
        child.kill("SIGKILL");
      } catch {
        // Already ended
      }
      await child.status;
    }
  });
}

const INTERRUPT = "\x03";

Deno.test({
  name: "Ctrl-C ends what runs and not the REPL; a second one ends what starts no kernel",
  ignore: Deno.build.os !== "linux",
  fn: () =>
    withRepl(async ({ type, until, end }) => {
      await until("> ");
      await type("let n = 0\r");
      await until("> ");
      const loops = [
        "while (true) n += tensor([1, 2]).add(n).numel();",
        "await new Promise(() => {});",
        "for (;;) { await new Promise((r) => setTimeout(r, 1)); n += ones([2]).add(1).numel(); }",
      ];
      for (const loop of loops) {
        // In two parts, so that what is typed is not what is waited for
        await type(`console.log("be" + "gun"); ${loop}\r`);
        await until("begun");
        await type(INTERRUPT);
        await until("Interrupted: The run was ended by Ctrl-C");
        await until("> ");
      }
      await type("let m = n; await new Promise((r) => setTimeout(r, 50)); 'rest ' + (n - m)\r");
      await until("rest 0");
      await until("> ");
      await type('console.log("be" + "gun"); for (;;);\r');
      await until("begun");
      let code: number | undefined;
      const ended = end().then((found) => code = found);
      // Signals that come at the same time are one
      while (code === undefined) {
        await type(INTERRUPT).catch(() => {});
        await Promise.race([ended, new Promise((done) => setTimeout(done, 100))]);
      }
      // 128 and the number of SIGTERM
      assertEquals(code, 143);
    }),
});

/** A thread that notes Ctrl-C and tells of it when the test wants. */
class Thread {
  static last: Thread | undefined;
  onmessage: ((event: { readonly data: number | null }) => void) | undefined;
  shared: Int32Array = new Int32Array(2);

  constructor() {
    Thread.last = this;
  }

  postMessage(shared: Int32Array): void {
    this.shared = shared;
    this.tell(null);
  }

  /** Notes Ctrl-C in the run in progress, whose number is returned. */
  note(): number {
    return this.shared[1] = this.shared[0] ?? 0;
  }

  tell(data: number | null): void {
    this.onmessage?.({ data });
  }
}

Deno.test("Ctrl-C ends the run that it was pressed in, and no later one if that is told late", async () => {
  const { Worker } = globalThis, { watcher } = launches, sent: boolean[] = [];
  const define = (value: unknown) =>
    Object.defineProperty(globalThis, "Worker", { value, writable: true, configurable: true });
  define(Thread);
  try {
    const interrupts = await Interrupts.watch((are) => sent.push(are)), thread = Thread.last;
    assert(thread);
    const kernel = () => ones([2]).add(1).item();
    const never = () => new Promise<number>(() => {});
    let [early, resume] = [0, () => {}];
    // A kernel notices it first; what the run left behind starts none later
    await assertRejects(
      () =>
        interrupts.while(async () => {
          new Promise<void>((resolve) => resume = resolve).then(kernel).catch(() => early = -1);
          early = thread.note();
          for (;;) await ones([2]).add(1).data();
        }),
      Interrupted,
    );
    // Told during the next run, which ends by itself
    const next = interrupts.while(async () => {
      thread.tell(early);
      await null;
      return ones([2]).add(1).sum().item();
    });
    assertEquals(await next, 4);
    // That which waits is told; this leaves the kernels of other runs alone
    const later = interrupts.while(never);
    thread.tell(thread.note());
    await assertRejects(() => later, Interrupted);
    assertEquals(await interrupts.while(async () => (await null, ones([2]).sum().item())), 2);
    resume();
    await new Promise((done) => setTimeout(done, 0));
    assertEquals(early, -1);
    // Between runs nothing is interrupted
    thread.tell(thread.note());
    assertEquals(await interrupts.while(async () => (await null, ones([3]).sum().item())), 3);
    assertEquals(sent, [true, false, true, false, true, false, true, false, true, false]);
  } finally {
    define(Worker);
    launches.watcher = watcher;
  }
});
