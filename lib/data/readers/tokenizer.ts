/**
 * Tokenizers from the `tokenizer.json` that models are published with, through Hugging Face's library: texts to token
 * ids and back.
 */
import { optionsOf, refuseSurplus } from "../../base/checked_input.ts";
import { DynError, messageOf } from "../../base/errors.ts";
import { tensor } from "../../tensor/creation.ts";
import { isTensor, type Tensor } from "../../tensor/tensor.ts";
import { libraryOf, nameOf, type Source, textOf } from "./source.ts";

const TOKENIZERS = "npm:@huggingface/tokenizers@^0.2.0";

/** Options of `encode`. */
export interface EncodeOptions {
  /** Whether tokens for the beginning and end are added, if the model has them; default true. */
  readonly addSpecialTokens?: boolean;
}

/** Options of `batch`. */
export interface BatchOptions extends EncodeOptions {
  /** The token that pads shorter texts; default 0. */
  readonly padding?: number;
  /** Maximum number of tokens of a text; unlimited by default. */
  readonly maxLength?: number;
}

/** Converts texts to tokens and back. */
export class Tokenizer {
  readonly #model: object;

  /** `model`: the library's object for the file. */
  constructor(model: object) {
    this.#model = model;
  }

  /** Size of the vocabulary. */
  get length(): number {
    const found: unknown = this.#call("get_vocab", [true]);
    return found instanceof Map ? found.size : Object.keys(Object(found)).length;
  }

  /** Returns the tokens of a text. */
  encode(text: string, options: EncodeOptions = {}): number[] {
    if (arguments.length > 2) refuseSurplus("encode", 2, arguments);
    const { addSpecialTokens = true } = optionsOf("encode", options, ["addSpecialTokens"]);
    const { ids }: { ids?: unknown } = Object(
      this.#call("encode", [text, { add_special_tokens: addSpecialTokens }]),
    );
    return Array.isArray(ids) ? ids.map(Number) : [];
  }

  /** Returns several texts as int64 [texts, longest], with a mask that is 1 for text and 0 for padding. */
  batch(texts: readonly string[], options: BatchOptions = {}): { inputIds: Tensor; attentionMask: Tensor } {
    if (arguments.length > 2) refuseSurplus("batch", 2, arguments);
    const { padding = 0, maxLength = Infinity, ...encoding } = options;
    const ids = texts.map((text) => this.encode(text, encoding).slice(0, maxLength));
    const width = Math.max(0, ...ids.map(({ length }) => length));
    const row = (each: readonly number[], k: number, isMask: boolean) =>
      k < each.length ? isMask ? 1 : each[k] ?? padding : isMask ? 0 : padding;
    const filled = (isMask: boolean) =>
      tensor(ids.map((each) => Array.from({ length: width }, (_, k) => row(each, k, isMask))), {
        dtype: "int64",
      });
    return { inputIds: filled(false), attentionMask: filled(true) };
  }

  /** Returns the text of tokens. */
  decode(ids: readonly number[] | Tensor, { skipSpecialTokens = false } = {}): string {
    if (arguments.length > 2) refuseSurplus("decode", 2, arguments);
    const numbers = Array.from(isTensor(ids) ? ids.toTypedArray() : ids, Number);
    return String(this.#call("decode", [numbers, { skip_special_tokens: skipSpecialTokens }]));
  }

  #call(name: string, args: readonly unknown[]): unknown {
    const method: unknown = Reflect.get(this.#model, name);
    if (typeof method !== "function") throw new DynError(`Expected a tokenizer with ${name} but found none`);
    return Reflect.apply(method, this.#model, args);
  }
}

/** Reads a `tokenizer.json`. Throws DynError for other files. */
export async function readTokenizer(source: Source): Promise<Tokenizer> {
  if (arguments.length > 1) refuseSurplus("readTokenizer", 1, arguments);
  const library = await libraryOf(TOKENIZERS), made: unknown = Reflect.get(library, "Tokenizer");
  if (typeof made !== "function") throw new DynError("Expected a library with Tokenizer but found none");
  try {
    const model: unknown = Reflect.construct(made, [JSON.parse(textOf(source)), {}]);
    return new Tokenizer(Object(model));
  } catch (error) {
    throw new DynError(`Expected a tokenizer in ${nameOf(source)} but found ${messageOf(error)}`);
  }
}
