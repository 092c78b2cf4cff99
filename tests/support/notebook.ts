/**
 * A notebook's kernel, `deno jupyter`, spoken to as a notebook does: Jupyter's messages
 * (https://jupyter-client.readthedocs.io/en/stable/messaging.html) over ZeroMQ (https://rfc.zeromq.org/spec/23/).
 */
import { createHmac } from "node:crypto";
import { join } from "node:path";

/** Text that a cell has printed on each stream; `error` has what it has thrown. */
export type Shown = Readonly<Record<"stdout" | "stderr" | "error", string>>;

const encoder = new TextEncoder(), decoder = new TextDecoder();
const SHORT_FRAME = 255, MORE = 1, LONG = 2, COMMAND = 4;

/** One connection of ZeroMQ, without security. */
class Socket {
  #buffered = new Uint8Array();

  private constructor(readonly connection: Deno.Conn) {}

  static async open(kind: "DEALER" | "SUB", port: number, isRunning: IsRunning): Promise<Socket> {
    const socket = new Socket(await connect(port, isRunning));
    const greeting = new Uint8Array(64);
    greeting.set([0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0x7f, 3, 0, ...encoder.encode("NULL")]);
    await socket.#write(greeting);
    await socket.#read(greeting.length);
    const ready = encoder.encode(`\x05READY\x0bSocket-Type\0\0\0${String.fromCharCode(kind.length)}${kind}`);
    await socket.#write(new Uint8Array([COMMAND, ready.length, ...ready]));
    await socket.#frame();
    // Everything is subscribed to
    if (kind === "SUB") await socket.send([new Uint8Array([1])]);
    return socket;
  }

  async send(parts: readonly Uint8Array[]): Promise<void> {
    for (const [at, part] of parts.entries()) {
      const length = new Uint8Array(8), isLong = part.length > SHORT_FRAME;
      new DataView(length.buffer).setBigUint64(0, BigInt(part.length));
      const flags = (at < parts.length - 1 ? MORE : 0) | (isLong ? LONG : 0);
      await this.#write(new Uint8Array([flags, ...isLong ? length : [part.length], ...part]));
    }
  }

  /** The parts of the next message. */
  async receive(): Promise<Uint8Array[]> {
    const parts: Uint8Array[] = [];
    for (;;) {
      const { flags, body } = await this.#frame();
      parts.push(body);
      if ((flags & MORE) === 0) return parts;
    }
  }

  async #frame(): Promise<{ readonly flags: number; readonly body: Uint8Array }> {
    const [flags = 0] = await this.#read(1), length = await this.#read((flags & LONG) !== 0 ? 8 : 1);
    return { flags, body: await this.#read(Number(BigInt(`0x${length.toHex()}`))) };
  }

  async #write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length;) at += await this.connection.write(bytes.subarray(at));
  }

  async #read(count: number): Promise<Uint8Array> {
    while (this.#buffered.length < count) {
      const chunk = new Uint8Array(65_536), length = await this.connection.read(chunk);
      if (length === null) throw new Error("Expected the kernel to answer but it has closed the connection");
      this.#buffered = new Uint8Array([...this.#buffered, ...chunk.subarray(0, length)]);
    }
    const taken = this.#buffered.slice(0, count);
    this.#buffered = this.#buffered.subarray(count);
    return taken;
  }
}

/** Whether a kernel runs. */
type IsRunning = () => boolean;

/** Connects as soon as the kernel listens. Throws if it ends before. */
async function connect(port: number, isRunning: IsRunning): Promise<Deno.Conn> {
  while (isRunning()) {
    try {
      return await Deno.connect({ hostname: "127.0.0.1", port });
    } catch (error) {
      if (!(error instanceof Deno.errors.ConnectionRefused)) throw error;
      await new Promise((done) => setTimeout(done, 20));
    }
  }
  throw new Error(`Expected a kernel that listens at port ${port} but it has ended`);
}

/** Ports below those that systems give out themselves: no other process is given one before the kernel takes it. */
const FIRST_PORT = 10_000, PORTS = 20_000;

function freePort(): number {
  for (;;) {
    const port = FIRST_PORT + Math.floor(Math.random() * PORTS);
    try {
      using _listener = Deno.listen({ hostname: "127.0.0.1", port });
      return port;
    } catch (thrown) {
      if (!(thrown instanceof Deno.errors.AddrInUse)) throw thrown;
    }
  }
}

/** Runs cells one after another, and gives what each has shown. The folder is for the description of the kernel. */
export async function runCells(folder: string, cells: readonly string[]): Promise<Shown[]> {
  const key = "key", channels = ["shell", "iopub", "stdin", "control", "hb"] as const;
  const ports = Object.fromEntries(channels.map((each) => [`${each}_port`, freePort()]));
  const description = join(folder, "connection.json");
  const about = { ip: "127.0.0.1", transport: "tcp", key, signature_scheme: "hmac-sha256", ...ports };
  await Deno.writeTextFile(description, JSON.stringify(about));
  const kernel = new Deno.Command(Deno.execPath(), {
    args: ["jupyter", "--kernel", "--conn", description],
    env: { NO_COLOR: "1" },
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  let hasEnded = false;
  const isRunning = () => !hasEnded, ended = kernel.status.then(() => hasEnded = true);
  try {
    const [shell, shown] = await Promise.all([
      Socket.open("DEALER", ports.shell_port ?? 0, isRunning),
      Socket.open("SUB", ports.iopub_port ?? 0, isRunning),
    ]);
    using _shell = shell.connection, _shown = shown.connection;
    const execute = async (code: string): Promise<void> => {
      const header = {
        msg_id: crypto.randomUUID(),
        session: key,
        username: "",
        date: new Date().toISOString(),
        msg_type: "execute_request",
        version: "5.3",
      };
      const content = { code, silent: false, store_history: true, user_expressions: {}, allow_stdin: false };
      const parts = [header, {}, {}, content].map((each) => JSON.stringify(each));
      const signature = createHmac("sha256", key).update(parts.join("")).digest("hex");
      await shell.send(["<IDS|MSG>", signature, ...parts].map((each) => encoder.encode(each)));
      await shell.receive();
    };
    // What the kernel shows is lost until it has heard of the subscription
    let isHeard = false;
    const heard = shown.receive().then(() => isHeard = true);
    while (!isHeard) await execute("0");
    await heard;
    const found: Shown[] = [];
    for (const code of cells) {
      const end = `${crypto.randomUUID()}\n`, text = JSON.stringify(end.trim());
      await execute(code);
      await execute(`console.log(${text}); console.error(${text});`);
      found.push(await shownUntil(shown, end));
    }
    return found;
  } finally {
    if (isRunning()) kernel.kill("SIGKILL");
    await ended;
  }
}

/**
 * Returns what the kernel shows until both streams have come to an end mark, that of timers of earlier cells too: a
 * kernel says that a cell has ended before it has sent all of the text.
 */
async function shownUntil(socket: Socket, end: string): Promise<Shown> {
  const shown = { stdout: "", stderr: "", error: "" };
  while (!shown.stdout.endsWith(end) || !shown.stderr.endsWith(end)) {
    const parts = (await socket.receive()).map((each) => decoder.decode(each));
    const [header, , , content] = parts.slice(parts.indexOf("<IDS|MSG>") + 2).map((each) => JSON.parse(each));
    if (header.msg_type === "stream" && content.name === "stdout") shown.stdout += content.text;
    if (header.msg_type === "stream" && content.name === "stderr") shown.stderr += content.text;
    if (header.msg_type === "error") shown.error += `${content.ename}: ${content.evalue}`;
  }
  return { ...shown, stdout: shown.stdout.slice(0, -end.length), stderr: shown.stderr.slice(0, -end.length) };
}
