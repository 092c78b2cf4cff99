/**
 * The rules of house style that Deno's linter lacks, as a lint plugin.
 *
 * Invariant: each rule looks at one file alone; checks over several files (imports between rooms) are tests.
 */

/** Folders and files whose exported functions have the parameters that PyTorch or a package gave them. */
const USER_FACING = [
  "lib/ops/",
  "lib/tensor/",
  "lib/nn/",
  "lib/optim/",
  "lib/data/",
  "lib/autograd/",
  "tests/std/",
];

/** Folders of functions that programs call, whose options are misspelt at times. */
const OF_PROGRAMS = [
  ...USER_FACING,
  "lib/func/",
  "lib/export/",
  "lib/distributed/",
  "lib/distributions/",
  "lib/debug/summary/",
];

/** Maximum number of positional parameters of any other exported function, besides options. */
const MOST_PARAMETERS = 3;

/** Types of an explicit context that precedes the parameters proper. */
const CONTEXT_TYPES =
  /(Context|Machine|Tracer|Interpreter|Frame|Recorder|Compiler|Builder|Writer|Body|State|Scope)$/;

/** Names that say nothing about what a file holds. */
const VAGUE_FILES = /(^|[/\\])(utils?|helpers?|misc|common)\.ts$/;

/** Maximum number of lines of a file that is written by hand. */
const MOST_LINES = 560;

/** The constant beginning and end of a string or template, if known. */
interface Ends {
  readonly first?: string | undefined;
  readonly last?: string | undefined;
}

function constantEnds(node: Deno.lint.Expression | Deno.lint.SpreadElement | undefined): Ends {
  if (node?.type === "Literal" && typeof node.value === "string") {
    return { first: node.value, last: node.value };
  }
  if (node?.type !== "TemplateLiteral") return {};
  // An empty piece means that an inserted value stands there.
  return { first: node.quasis[0]?.cooked || undefined, last: node.quasis.at(-1)?.cooked || undefined };
}

/** Returns the fault of an error message, if any. */
function messageFault({ first, last }: Ends): string | undefined {
  if (first !== undefined && /^\s*\p{Ll}/u.test(first)) {
    return "Expected an error message that starts with a capital";
  }
  if (last !== undefined && /(^|[^.])\.\s*$/.test(last)) {
    return "Expected an error message without a final period";
  }
  return undefined;
}

/** Returns whether a parameter is the context of the call. */
function isContext(parameter: Deno.lint.Parameter | undefined): boolean {
  const type = parameter?.type === "Identifier" ? parameter.typeAnnotation?.typeAnnotation : undefined;
  return type?.type === "TSTypeReference" && type.typeName.type === "Identifier" &&
    CONTEXT_TYPES.test(type.typeName.name);
}

/** Returns whether a parameter holds options by name rather than one value by position. */
function holdsOptions(parameter: Deno.lint.Parameter): boolean {
  switch (parameter.type) {
    case "ObjectPattern":
    case "RestElement":
      return true;
    case "AssignmentPattern":
      return parameter.left.type === "ObjectPattern" ||
        (parameter.left.type === "Identifier" && isOptionsName(parameter.left.name));
    case "Identifier":
      return isOptionsName(parameter.name);
    default:
      return false;
  }
}

const isOptionsName = (name: string): boolean => /^(options|opts|config)$|Options$/.test(name);

/** The path of the file with forward slashes and a leading one. */
function pathOf(context: Deno.lint.RuleContext): string {
  return `/${context.filename.replaceAll("\\", "/")}`;
}

/** Turns of phrase that are not idiomatic, or coinages for terms of the field, each with a plain one. */
const STRANGE_WORDS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:is|are|be|was|were) had\b/, "is available"],
  [/\bno business of\b/, "does not concern"],
  [/\bhand(?:s|ed|ing)? (?:on|out)\b/, "passes on"],
  [/\bg(?:ives?|iven|ave|iving) back\b/, "returns"],
  [/\bother way round\b/, "vice versa"],
  [/\bshar(?:es?|ed|ing) out\b/, "divides"],
  [/\bstepped through\b/, "traced"],
  [/\b(?:is|are|was|were) told of\b/, "is notified of"],
  [/\b(?:lies?|stands?) behind\b/, "follows"],
  [/\bby turns\b/, "alternately"],
  [/\bwhere (?:absent|not given|none (?:is|are) given)\b/, "by default"],
  [/\bl(?:ies?|ying|ay) (?:side by side|apart)\b/, "is adjacent, is distinct"],
  [/\bmade (?:again|anew)\b/, "recreated"],
  [/\bin the place of\b/, "in place of"],
  [/\band (?:its|their) (?:kin|like)\b/, "and similar ones"],
  [/\bto be had\b|\bfor want of\b/, "available, for lack of"],
  [/\bwhoever\b/i, "the caller"],
  [/\bturned round\b/, "reversed"],
  [/\bput(?:s|ting)? off\b/, "defers"],
  [/\bas \w+ has (?:it|them)\b/, "as in PyTorch"],
  [/\bis met by\b|\bare met by\b/, "is read by"],
  [/\bformer (?:process|call|run)(?:es|s)?\b/, "earlier"],
  [/\bis told (?:by|how|what)\b/, "is determined by"],
  [/\bin the order in which they (?:come|came)\b/, "in order"],
  [/\bfrom call to call\b|\banother one in each\b/, "between calls"],
  [/\bof (?:its|their) own accord\b/, "by itself"],
  [/\btells? (?:what|which|how|whether|where|why)\b/, "shows"],
  [/\bgo(?:es)? on(?! the\b)/, "continues"],
  [/\bmend(?:s|ed)?\b/, "fixes"],
  [/\bis asked of\b|\bother calls bring\b|\bby name apart\b/, "is required of, changes, named"],
];

/** A function or method whose declaration follows. */
const CALLABLE =
  /^\s*(?:export\s+)?(?:default\s+)?(?:(?:static|async|override|abstract|protected|private)\s+)*(?:function\b|#?[\w$]+(?:<[^\n]*?>)?\()/;

/** Returns the fault of a documentation comment, if any; `following` is the code after it. */
function docFault(comment: string, following: string): string | undefined {
  const text = comment.replaceAll(/^\s*\*+ ?/gm, "").trim();
  const [clause] = /^(?:What|Whatever|That which|Those which)\b/.exec(text) ?? [];
  if (clause !== undefined) return `Expected a noun or a verb but found "${clause} …"`;
  const [question] = /^(?:Whether|Which|How)\b/.exec(text) ?? [];
  if (question !== undefined && CALLABLE.test(following)) {
    return `Expected a verb, as in "Returns whether …", but found "${question} …"`;
  }
  if (/\bInput: [^]*\boutput: /i.test(text)) {
    return 'Expected sentences but found a form "Input: …; output: …"';
  }
  return undefined;
}

const plugin: Deno.lint.Plugin = {
  name: "house-style",
  rules: {
    "opening-comment": {
      create: (context) => ({
        Program(node) {
          const text = context.sourceCode.text.replace(/^#!.*\n/, "").trimStart();
          if (text === "" || text.startsWith("/*") || text.startsWith("//")) return;
          context.report({ node, message: "Expected a comment that says what this file is for" });
        },
      }),
    },

    "error-message": {
      create: (context) => ({
        NewExpression(node) {
          // Tests throw what a user's program might throw.
          if (pathOf(context).includes("/tests/")) return;
          if (node.callee.type !== "Identifier" || !/Error$/.test(node.callee.name)) return;
          const fault = messageFault(constantEnds(node.arguments[0]));
          if (fault) context.report({ node, message: fault });
        },
      }),
    },

    "few-parameters": {
      create: (context) => ({
        "ExportNamedDeclaration > FunctionDeclaration"(node: Deno.lint.FunctionDeclaration) {
          if (USER_FACING.some((part) => pathOf(context).includes(`/${part}`))) return;
          const last = node.params.at(-1);
          const positional = node.params.length - (last && holdsOptions(last) ? 1 : 0) -
            (isContext(node.params[0]) ? 1 : 0);
          if (positional <= MOST_PARAMETERS) return;
          const message = `Expected at most ${MOST_PARAMETERS} positional parameters but found ${positional}`;
          context.report({ node, message, hint: "Put the rest into an options object" });
        },
      }),
    },

    "checked-options": {
      create: (context) => ({
        AssignmentPattern({ left }) {
          if (!OF_PROGRAMS.some((part) => pathOf(context).includes(`/${part}`))) return;
          if (left.type !== "ObjectPattern" || left.properties.some(({ type }) => type === "RestElement")) {
            return;
          }
          const type = left.typeAnnotation?.typeAnnotation;
          if (type?.type !== "TSTypeReference" || type.typeName.type !== "Identifier") return;
          if (!type.typeName.name.endsWith("Options")) return;
          context.report({
            node: left,
            message: "Expected options whose names are checked",
            hint: "Take `options`, and destructure what optionsOf returns",
          });
        },
      }),
    },

    "telling-file-name": {
      create: (context) => ({
        Program(node) {
          if (!VAGUE_FILES.test(context.filename)) return;
          context.report({ node, message: "Expected a file name that says what the file holds" });
        },
      }),
    },

    "small-file": {
      create: (context) => ({
        Program(node) {
          const lines = context.sourceCode.text.split("\n").length - 1;
          if (
            lines <= MOST_LINES || !/[/\\](?:lib|backends)[/\\](?!.*[/\\]generated)/.test(pathOf(context))
          ) return;
          context.report({
            node,
            message: `Expected at most ${MOST_LINES} lines but found ${lines}`,
            hint: "Move one of the concepts of the file to a file of its own",
          });
        },
      }),
    },

    "plain-words": {
      create: (context) => ({
        "Program:exit"() {
          for (const { value, range } of context.sourceCode.getAllComments()) {
            const text = value.replaceAll(/[\s*]+/g, " ");
            for (const [strange, plain] of STRANGE_WORDS) {
              const [found] = strange.exec(text) ?? [];
              if (found === undefined) continue;
              context.report({ range, message: `Expected words like "${plain}" but found "${found}"` });
            }
          }
        },
      }),
    },

    "plain-documentation": {
      create: (context) => ({
        "Program:exit"() {
          for (const { type, value, range } of context.sourceCode.getAllComments()) {
            if (type !== "Block" || !value.startsWith("*")) continue;
            const message = docFault(value, context.sourceCode.text.slice(range[1], range[1] + 200));
            if (message === undefined) continue;
            context.report({
              range,
              message,
              hint: "Say what a function does, what a value is, and what a file holds",
            });
          }
        },
      }),
    },

    "no-silencing": {
      create: (context) => ({
        "Program:exit"() {
          for (const { value, range } of context.sourceCode.getAllComments()) {
            if (!/^[\s/*]*(@ts-(ignore|expect-error|nocheck)|deno-lint-ignore|deno-fmt-ignore)/.test(value)) {
              continue;
            }
            context.report({
              range,
              message: "Expected code that the checker and the linter accept but found them silenced",
            });
          }
        },
      }),
    },

    "no-unfinished-work": {
      create: (context) => ({
        "Program:exit"() {
          for (const comment of context.sourceCode.getAllComments()) {
            if (!/\b(TODO|FIXME|XXX|HACK)\b/.test(comment.value)) continue;
            context.report({
              range: comment.range,
              message: "Expected finished work but found a note about what is missing",
            });
          }
        },
      }),
    },
  },
};

export default plugin;
