/**
 * Writes curves of a training run as event files, like `torch.utils.tensorboard.SummaryWriter`; TensorBoard and `dyn
 * watch` read them. Invariant: values are written within a second, and before the process ends.
 */
import { environmentVariable } from "../../base/permissions.ts";
import { hparamContents, type Hyperparameter } from "./hparams.ts";
import { checkKind, checkOptions, optionsOf, refuseSurplus, refuseValue } from "../../base/checked_input.ts";
import { join } from "node:path";
import { DynError, messageOf } from "../../base/errors.ts";
import type { Module } from "../../nn/module.ts";
import { readElements } from "../../tensor/host.ts";
import { isTensor, type Tensor } from "../../tensor/tensor.ts";
import { concat } from "../../base/bytes.ts";
import { encodeEvent, encodePluginEvent, type SummaryValue, versionEvent } from "./events.ts";
import { histogramOf } from "./histogram.ts";
import { type DataFormats, pixelsOf } from "./pixels.ts";
import { encodePng } from "./png.ts";
import { tfRecord } from "./wire.ts";

export type { Hyperparameter } from "./hparams.ts";
export type { DataFormats } from "./pixels.ts";

/** Options of `addImage`. */
export interface ImageOptions {
  /** Layout of the dimensions; default "CHW". */
  readonly dataformats?: DataFormats | undefined;
}

/** Options of a `Writer`. */
export interface WriterOptions {
  /** The folder of the file; default `runs/` followed by the time and the host's name. */
  readonly logDir?: string | undefined;
  /** The end of the default folder's name. */
  readonly comment?: string | undefined;
  /** The end of the file's name. */
  readonly filenameSuffix?: string | undefined;
}

/** Maximum delay of buffered values in milliseconds, and maximum number of buffered bytes. */
const WAIT = 1000, MOST_BYTES = 1 << 16;

let count = 0;

/** Writes one event file. */
export class Writer {
  /** The folder of the file. */
  readonly logDir: string;
  /** The path of the file. */
  readonly path: string;
  readonly #file: Deno.FsFile;
  #pending: Uint8Array[] = [];
  #bytes = 0;
  #lastWrite = performance.now();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #closed = false;
  /** Steps of tags that are added without a step. */
  readonly #steps = new Map<string, number>();
  /** A disk that is temporarily full must not end the program from a timer: unwritten values are kept. */
  readonly #flush = () => {
    try {
      this.flush();
    } catch (error) {
      if (!this.#hasFailed) console.warn(`Expected ${this.path} to be written but found ${messageOf(error)}`);
      this.#hasFailed = true;
    }
  };
  #hasFailed = false;

  /**
   * Creates `logDir`, which may also be given by name. Throws DynError if the file cannot be created, and for other
   * options.
   */
  constructor(logDir?: string | WriterOptions, options: WriterOptions = {}) {
    const named = typeof logDir === "object" ? logDir : { ...options, logDir };
    checkOptions("Writer", { logDir: ["string"], comment: ["string"], filenameSuffix: ["string"] }, named);
    const time = new Date(), host = Deno.hostname(), { comment = "", filenameSuffix = "" } = named;
    const name = time.toISOString().slice(0, 19).replace("T", "_").replaceAll(":", "-");
    this.logDir = named.logDir ?? join("runs", `${name}_${host}${comment}`);
    const seconds = Math.floor(time.getTime() / 1000);
    const file = `events.out.tfevents.${seconds}.${host}.${Deno.pid}.${count++}${filenameSuffix}`;
    this.path = join(this.logDir, file);
    try {
      Deno.mkdirSync(this.logDir, { recursive: true });
      this.#file = Deno.openSync(this.path, { write: true, createNew: true });
    } catch (cause) {
      throw new DynError(`Expected a folder for event files but found ${JSON.stringify(this.logDir)}`, {
        cause,
      });
    }
    this.#write(versionEvent(seconds));
    this.flush();
    globalThis.addEventListener("unload", this.#flush);
    const watched = environmentVariable("DYN_WATCH");
    if (watched) Deno.writeTextFileSync(watched, `${Deno.realPathSync(this.path)}\n`, { append: true });
  }

  /**
   * Adds a number. The default step is one more than the tag's last. Throws DynError for tensors with more than one
   * element.
   */
  addScalar(tag: string, value: number | Tensor, globalStep?: number): void {
    if (arguments.length > 3) refuseSurplus("addScalar", 3, arguments);
    const number = isTensor(value) ? Number(value.item()) : value;
    if (typeof number !== "number") {
      refuseValue(`a number for the scalar ${tag}`, number);
    }
    this.#add(tag, { kind: "scalar", value: number }, globalStep);
  }

  /** Adds several numbers under a common tag. */
  addScalars(
    mainTag: string,
    values: Readonly<Record<string, number | Tensor>>,
    globalStep?: number,
  ): void {
    if (arguments.length > 3) refuseSurplus("addScalars", 3, arguments);
    for (const [name, value] of Object.entries(values)) {
      this.addScalar(`${mainTag}/${name}`, value, globalStep);
    }
  }

  /** Adds a histogram of numbers. Throws DynError if there are none, or one is not finite. */
  addHistogram(
    tag: string,
    values: Tensor | ArrayLike<number>,
    globalStep?: number,
  ): void {
    if (arguments.length > 3) refuseSurplus("addHistogram", 3, arguments);
    const numbers = isTensor(values) ? Float64Array.from(readElements(values), Number) : values;
    this.#add(tag, { kind: "histogram", histogram: histogramOf(numbers) }, globalStep);
  }

  /**
   * Adds an image of 1, 3 or 4 channels: floats from 0 to 1, integers from 0 to 255. Throws DynError for other tensors.
   */
  addImage(
    tag: string,
    image: Tensor,
    globalStep?: number,
    options: ImageOptions = {},
  ): void {
    if (arguments.length > 4) refuseSurplus("addImage", 4, arguments);
    const { dataformats = "CHW" } = optionsOf("addImage", options, ["dataformats"]);
    const { width, height, channels, data } = pixelsOf(image, dataformats);
    const png = encodePng({ width, height, channels, data });
    this.#add(tag, { kind: "image", width, height, channels, png }, globalStep);
  }

  /** Adds a text, which may be Markdown. */
  addText(tag: string, text: string, globalStep?: number): void {
    if (arguments.length > 3) refuseSurplus("addText", 3, arguments);
    this.#add(tag, { kind: "text", text }, globalStep);
  }

  /** Adds histograms of all parameters of a module, as `weights/name`, and of their gradients, as `gradients/name`. */
  addParameters(module: Module, globalStep?: number): void {
    if (arguments.length > 2) refuseSurplus("addParameters", 2, arguments);
    for (const [name, parameter] of module.namedParameters()) {
      this.addHistogram(`weights/${name}`, parameter, globalStep);
      if (parameter.grad) this.addHistogram(`gradients/${name}`, parameter.grad, globalStep);
    }
  }

  /**
   * Adds the hyperparameters and final metrics of a run, for comparisons between runs: in a separate file in the folder
   * `runName` of this writer's, by default the time. Throws DynError for values of other kinds.
   */
  addHparams(
    hparams: Readonly<Record<string, Hyperparameter>>,
    metrics: Readonly<Record<string, number | Tensor>>,
    runName: string = String(Date.now() / 1000),
  ): void {
    if (arguments.length > 3) refuseSurplus("addHparams", 3, arguments);
    checkKind(hparams, "an object", "hyperparameters by name");
    checkKind(metrics, "an object", "metrics by name");
    const contents = hparamContents(hparams, Object.keys(metrics));
    using run = new Writer(join(this.logDir, runName));
    for (const [tag, content] of contents) {
      run.#write(
        encodePluginEvent({ time: Date.now() / 1000, step: 0, tag }, { plugin: "hparams", content }),
      );
    }
    for (const [tag, value] of Object.entries(metrics)) run.addScalar(tag, value);
  }

  #add(tag: string, value: SummaryValue, globalStep: number | undefined): void {
    if (this.#closed) throw new DynError("Expected an open writer but found a closed one");
    const step = globalStep ?? (this.#steps.get(tag) ?? -1) + 1;
    if (!Number.isInteger(step)) throw new DynError(`Expected an integer as a step but found ${step}`);
    this.#steps.set(tag, step);
    this.#write(encodeEvent({ time: Date.now() / 1000, step, tag, value }));
    if (this.#bytes > MOST_BYTES || performance.now() - this.#lastWrite > WAIT) this.flush();
    else if (this.#timer === undefined) {
      this.#timer = setTimeout(this.#flush, WAIT);
      Deno.unrefTimer(Number(this.#timer));
    }
  }

  #write(event: Uint8Array): void {
    const record = tfRecord(event);
    this.#pending.push(record);
    this.#bytes += record.length;
  }

  /** Writes buffered values. Throws the system's error if that fails; unwritten values are kept for the next call. */
  flush(): void {
    if (arguments.length > 0) refuseSurplus("flush", 0, arguments);
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#lastWrite = performance.now();
    if (this.#closed) return;
    let rest = concat(...this.#pending);
    try {
      while (rest.length > 0) rest = rest.subarray(this.#file.writeSync(rest));
    } finally {
      this.#pending = rest.length > 0 ? [rest] : [];
      this.#bytes = rest.length;
    }
  }

  /** Writes buffered values and closes the file. */
  close(): void {
    if (arguments.length > 0) refuseSurplus("close", 0, arguments);
    if (this.#closed) return;
    this.flush();
    this.#closed = true;
    this.#file.close();
    globalThis.removeEventListener("unload", this.#flush);
  }

  /** Closes the writer at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.close();
  }
}
