/**
 * The scripts V8 has loaded: their texts, parsed, with positions in the user's files.
 *
 * Invariant: a script is fetched and parsed at most once while code of it is in use; fetching needs the debugger unless
 * the runtime caches the text, so texts that may be needed are fetched together. Scripts without a URL were evaluated
 * from a text; their number is unbounded, so each is dropped with its last code.
 */
import { counters } from "../../base/logs.ts";
import { freeVariables } from "../bytecode/free.ts";
import { lineStarts, type ParsedModule, parseModule } from "../bytecode/parse.ts";
import { isFunctionNode } from "../bytecode/syntax.ts";
import { PLACED_URL } from "../bytecode/placed_code.ts";
import {
  atBatchEnd,
  type Inspector,
  InspectorUnavailable,
  type ScriptOutline,
  textField,
} from "./inspector.ts";
import { type EmittedText, emittedText } from "./emitted_texts.ts";
import { cacheTexts, isKnownClosed, mapOf, noteCachedTexts, noteClosed, noteMap } from "./cached_texts.ts";
import { likelyModule } from "./likely_modules.ts";
import {
  type FunctionPlace,
  isAmbiguous,
  isLikely,
  type LoadedText,
  standsAt,
  textAt,
  textOf,
} from "./loaded_texts.ts";
import { userPosition } from "./positions.ts";
import { loadedText } from "./source_text.ts";

/** A loaded script. */
export interface Script {
  readonly url: string;
  readonly text: string;
  /** Offsets at which lines begin. */
  readonly lines: readonly number[];
  /** The parsed text; null if it cannot be parsed. */
  readonly module: ParsedModule | null;
  /** Whether parsing was requested. */
  readonly isParsed: boolean;
}

/** Total size of texts fetched ahead of need, in characters. */
const FETCH_AHEAD = 2_000_000;

export class Scripts {
  private readonly loaded = new Map<string, Script>();
  private readonly byUrl = new Map<string, Script>();
  private readonly urls = new Map<string, string>();
  private readonly modules = new Set<string>();
  readonly #evaluated = new EvaluatedScripts();
  /** Those that constructors of functions have made, by the text of their function. */
  readonly #constructed = new EvaluatedScripts();
  /** Modules of which only the text was requested. */
  readonly #wanted = new Set<Script>();
  /** URLs that no script has. */
  private readonly absent = new Set<string>();
  /** Whether listing the URLs of all scripts has so far found what was requested. */
  private mayAsk = true;
  private outlines: ReadonlyMap<string, ScriptOutline> = new Map();

  constructor(private readonly inspector: Inspector) {
    const note = (params: Record<string, unknown>): void => {
      const id = textField(params, "scriptId");
      if (this.#note(id, textField(params, "url")) && params.isModule === true) this.modules.add(id);
    };
    inspector.on("Debugger.scriptParsed", note);
    inspector.on("Debugger.scriptFailedToParse", note);
  }

  /** The script with that id, which contains a function; null if V8 does not return its text. */
  scriptOf(fn: object, id: string, place: FunctionPlace): Script | null {
    if (!this.#known(id)) {
      noteCachedTexts();
      const shown = loadedText(fn), noted = textOf(shown, place);
      const found = noted ? this.noted(noted) : this.#likelyOf(shown, place);
      if (found && !isAmbiguous(shown)) {
        if (noted) this.loaded.set(id, found);
        else this.#take(id, found);
      } // A function without outer variables is the same in whichever module it is
      else if (found && this.#isClosed(found, place)) return found;
      else {
        const kept = this.#keptOf(id);
        if (kept && standsAt(shown, place, kept)) this.#take(id, kept);
      }
    }
    return this.get(id);
  }

  /**
   * The script that `new Function` has made for a function: the function in parentheses. Functions of the same text
   * share it, whatever programs evaluate in each call. The caller must check that the function sees no outer variables.
   */
  constructed(fn: object, { line, column }: FunctionPlace): Script | null {
    const shown = loadedText(fn), isNamed = /^(?:async )?function\*? anonymous\(/.test(shown);
    if (!isNamed || line !== 0 || column !== shown.indexOf("(") + 1) return null;
    const known = this.#constructed.get(shown);
    if (known) return known;
    const made = makeScript({ url: "", text: `(${shown})` }, false);
    this.#constructed.set(shown, made);
    return made;
  }

  /**
   * The script of a function among the likely modules, from the runtime's cache, unless all scripts have been listed.
   */
  #likelyOf(shown: string, place: FunctionPlace): Script | null {
    if (this.urls.size > 0) return null;
    const found = likelyModule(shown, place), script = found && this.#emitted(found);
    return script && standsAt(shown, place, script) ? script : null;
  }

  /** Returns a module from the runtime's cache; null if it was loaded as something else. */
  #emitted(found: EmittedText): Script | null {
    noteMap(found);
    const script = this.noted(found);
    return isModule(script) ? script : null;
  }

  /** A script from the runtime's cache, if that is the text that V8 has. */
  #keptOf(id: string): Script | null {
    if (this.mayAsk && !this.outlines.has(id)) {
      this.#askForOutlines();
      // Evaluated texts have no URLs, and a program may evaluate any number of them
      this.mayAsk = this.urls.has(id);
    }
    const { url, length } = this.outlines.get(id) ?? { url: "", length: -1 };
    // A module that was rewritten on load differs from the runtime's cache
    if (url === "" || length < 0) return null;
    const seen = textAt(url), script = seen ? this.noted(seen) : null, found = seen ? null : emittedText(url);
    if (found && found.text.length === length) return this.#emitted(found);
    return script && script.text.length === length && isModule(script) ? script : null;
  }

  #askForOutlines(): void {
    this.outlines = this.inspector.scripts();
    for (const [id, { url }] of this.outlines) this.#note(id, url);
  }

  #take(id: string, script: Script): void {
    this.loaded.set(id, script);
    this.modules.add(id);
    atBatchEnd(this.#keep);
  }

  #note(scriptId: string, url: string): boolean {
    const isNamed = url !== "" && url !== PLACED_URL;
    if (isNamed) this.urls.set(scriptId, url);
    return isNamed;
  }

  private get(id: string): Script | null {
    const known = this.#known(id);
    if (known) return known;
    atBatchEnd(this.#keep);
    return this.inspector.withDebugger(() => {
      this.fetch(id);
      // Keeps the script alive until here.
      const fetched = this.#known(id);
      this.fetchAhead();
      return fetched;
    });
  }

  /** Caches the texts that were parsed, for the next run of the program. */
  readonly #keep = (): void => {
    const parsed = [...this.loaded].filter(([id, script]) => this.modules.has(id) && script.isParsed);
    cacheTexts([...this.#wanted, ...parsed.map(([, script]) => script)]);
  };

  #known(id: string): Script | null {
    return this.loaded.get(id) ?? this.#evaluated.get(id);
  }

  /** The module loaded from a URL, if any. */
  moduleAt(url: string): ParsedModule | null {
    noteCachedTexts();
    const text = textAt(url);
    if (text) return this.noted(text).module;
    const id = this.idOf(url);
    if (id !== null) return this.get(id)?.module ?? null;
    if (this.absent.has(url)) return null;
    const kept = this.byUrl.get(url) ?? this.#importedFrom(url);
    if (kept) return kept.module;
    // Enabling the debugger reports all scripts.
    this.inspector.withDebugger(() => {});
    const found = this.idOf(url);
    if (found === null) this.absent.add(url);
    return found === null ? null : this.get(found)?.module ?? null;
  }

  /**
   * Returns whether the function at a position uses no outer variables; cached with the text, which need not be
   * parsed again.
   */
  #isClosed(script: Script, { line, column }: FunctionPlace): boolean {
    const offset = (script.lines[line] ?? 0) + column;
    if (isKnownClosed(script, offset)) return true;
    if (!isClosedAt(offset, script)) return false;
    noteClosed(script, offset);
    this.#wanted.add(script);
    atBatchEnd(this.#keep);
    return true;
  }

  /** A module that another one imports, from the runtime's cache. */
  #importedFrom(url: string): Script | null {
    const found = emittedText(url), script = found && this.#emitted(found);
    if (script) {
      this.#wanted.add(script);
      atBatchEnd(this.#keep);
    }
    return script;
  }

  /** The text of the module loaded from a URL, as far as it is known without the debugger. */
  textAt(url: string): string | null {
    noteCachedTexts();
    const noted = this.byUrl.get(url) ?? textAt(url);
    if (noted) return noted.text;
    const id = this.idOf(url);
    return id === null ? null : this.loaded.get(id)?.text ?? null;
  }

  private idOf(url: string): string | null {
    for (const [id, known] of this.urls) if (known === url && this.modules.has(id)) return id;
    return null;
  }

  /** The one script of a module whose text was seen when it was loaded. */
  private noted({ url, text }: LoadedText): Script {
    const known = this.byUrl.get(url);
    if (known) return known;
    const script = makeScript({ url, text }, true);
    this.byUrl.set(url, script);
    return script;
  }

  /** Returns the length of the text. */
  private fetch(id: string): number {
    const seen = textAt(this.urls.get(id) ?? "");
    if (seen) {
      this.loaded.set(id, this.noted(seen));
      return 0;
    }
    const text = textField(this.inspector.post("Debugger.getScriptSource", { scriptId: id }), "scriptSource");
    const url = this.urls.get(id) ?? "";
    if (url === "") this.#evaluated.set(id, makeScript({ url, text }, false));
    else this.loaded.set(id, makeScript({ url, text }, this.modules.has(id)));
    return text.length;
  }

  /**
   * Fetches texts that may be needed next while the debugger is enabled, since enabling it costs more than many texts.
   */
  private fetchAhead(): void {
    let total = 0;
    for (const [id, url] of this.urls) {
      if (total > FETCH_AHEAD) return;
      if (this.loaded.has(id) || !isLikely(url)) continue;
      try {
        total += this.fetch(id);
      } catch (error) {
        // V8 has collected the script meanwhile.
        if (!(error instanceof InspectorUnavailable)) throw error;
      }
    }
  }
}

/** Scripts by a key, as long as they, or what was parsed from them, are referenced. */
class EvaluatedScripts {
  readonly #scripts = new Map<string, WeakRef<Script>>();
  readonly #gone = new FinalizationRegistry<string>((key) => {
    // A later script may have the same one
    if (this.get(key) === null) this.#scripts.delete(key);
  });
  readonly #ofModules = new WeakMap<ParsedModule, Script>();

  get(key: string): Script | null {
    return this.#scripts.get(key)?.deref() ?? null;
  }

  set(key: string, script: Script): void {
    if (script.module) this.#ofModules.set(script.module, script);
    this.#scripts.set(key, new WeakRef(script));
    this.#gone.register(script, key);
  }
}

/** Returns whether a text can only be that of a module. */
const isModule = ({ module }: Script): boolean =>
  module?.program.body.some(({ type }) => /^(?:Import|Export)/.test(type)) ?? false;

/** Returns whether the function at an offset uses no outer variables. */
function isClosedAt(offset: number, { module }: Script): boolean {
  const node = module?.functionAt(offset);
  const unit = node && isFunctionNode(node) ? module?.analysis.units.get(node) : undefined;
  return module !== null && unit !== undefined && freeVariables(unit, module).length === 0;
}

/** Variables of CommonJS modules: the only files that are loaded as scripts. */
const COMMONJS = ["exports", "require", "module", "__filename", "__dirname"];

function makeScript(source: Pick<Script, "url" | "text">, isModule: boolean): Script {
  const { url, text } = source;
  const lines = lineStarts(text);
  let parsed: ParsedModule | null | undefined;
  return {
    url,
    text,
    lines,
    get isParsed(): boolean {
      return parsed !== undefined;
    },
    get module(): ParsedModule | null {
      if (parsed === undefined) {
        counters.add("modules", "parsed");
        try {
          parsed = parseModule({
            url,
            text,
            sourceType: isModule ? "module" : "script",
            given: !isModule && url.startsWith("file:") ? COMMONJS : [],
            position: userPosition({
              url,
              text,
              lines,
              map: () => mapOf(url),
            }),
          });
        } catch {
          parsed = null;
        }
      }
      return parsed;
    },
  };
}
