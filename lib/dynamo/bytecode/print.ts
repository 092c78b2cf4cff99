/**
 * Prints code objects as JavaScript functions, from any offset: a function expression whose parameters are the live
 * registers.
 *
 * Invariant: calling it does what the rest of the original does, with the same observable steps.
 *
 * Control flow is printed as structured statements after N. Ramsey, "Beyond Relooper" (ICFP 2022): a node's code
 * contains the nodes it dominates; nodes with several predecessors follow a labelled block that the predecessors break
 * out of; loop headers become loops. Try regions are separate nodes. If the flow is irreducible, a switch on the number
 * of the next block is printed instead.
 */
import { type CodeObject, UnsupportedSyntax } from "./code.ts";
import type { Offset, Register } from "./instruction.ts";
import {
  type BlockNode,
  buildFlow,
  dominates,
  type Flow,
  type FlowNode,
  type RegionInstance,
  type TryNode,
} from "./flow.ts";
import { Folder } from "./fold.ts";
import { liveRegisters } from "./liveness.ts";
import { dispatchStatements } from "./print_dispatch.ts";
import { withoutMarks } from "./print_marks.ts";
import { FunctionNames } from "./print_names.ts";
import type { PrintedFunction, PrintOptions } from "./print_types.ts";
import { suspension } from "./print_suspend.ts";
import { evaluation, isAbrupt, render, type Statement, tidy } from "./statement_tree.ts";

/** Prints the rest of a function from `entry` as a function expression. Throws `UnsupportedSyntax`. */
export function printFunction(code: CodeObject, options: PrintOptions = {}): PrintedFunction {
  const entry = options.entry ?? 0;
  const parameters = entry === 0 && !options.suspended
    ? []
    : options.parameters ?? [...liveAtEntry(code, options)];
  const names = new FunctionNames(code, options, parameters);
  const prologueEnd = generatorPrologue(code, entry);
  const body = prologueEnd === null ? functionBody(code, entry, { names, options }) : [
    ...functionBody(code, entry, { names, options, until: prologueEnd }),
    ...generatorBody(code, prologueEnd + 1, { names, options }),
  ];
  const lines = render(tidy(body, new Set()), "  ");
  const generator = code.generator && prologueEnd === null;
  const async = code.async && prologueEnd === null;
  const head = `${async ? "async " : ""}function${
    generator ? "*" : ""
  } ${names.functionName}(${names.parameterList()})`;
  const declared = names.declarations(parameters);
  const marked = [`${head} {`, ...(declared ? [`  let ${declared};`] : []), ...lines, "}"].join("\n");
  return {
    source: withoutMarks(marked),
    marked,
    parameters,
    free: names.freeUsed,
    strict: code.strict,
  };
}

/** Registers that the printed rest needs. The result of a suspended yield itself does not exist yet. */
function liveAtEntry(code: CodeObject, options: PrintOptions): ReadonlySet<Register> {
  const entry = options.entry ?? 0;
  const live = new Set(liveRegisters(code, entry));
  const i = code.instructions[entry];
  if (options.suspended && i && (i.op === "yield" || i.op === "yieldDelegate")) {
    live.delete(i.op === "yield" ? i.src : i.source);
    for (const r of liveRegisters(code, entry + 1)) if (r !== i.dst) live.add(r);
    if (i.onReturn !== null) {
      for (const r of liveRegisters(code, i.onReturn)) if (r !== i.dst) live.add(r);
    }
  }
  return live;
}

/**
 * Offset of `generatorStart` if code before it is observable, so that it has to run at the call and not at the first
 * next().
 */
function generatorPrologue(code: CodeObject, entry: Offset): Offset | null {
  if (!code.generator) return null;
  const at = code.instructions.findIndex((i) => i.op === "generatorStart");
  if (entry > at) return null;
  const quiet = new Set([
    "loadArgument",
    "loadThis",
    "loadRest",
    "loadArguments",
    "loadCallee",
    "loadHome",
    "const",
    "newCell",
    "move",
    "uninitialized",
  ]);
  return code.instructions.slice(entry, at).every((i) => quiet.has(i.op)) ? null : at;
}

interface BodyContext {
  readonly names: FunctionNames;
  readonly options: PrintOptions;
  /** Offset at which control leaves the printed part by falling off its end. */
  readonly until?: Offset;
}

function generatorBody(code: CodeObject, entry: Offset, context: BodyContext): readonly Statement[] {
  const lines = render(tidy(functionBody(code, entry, context)), "  ");
  const head = `${code.async ? "async " : ""}function* ()`;
  return [{ kind: "text", text: [`return (${head} {`, ...lines, "})();"].join("\n"), abrupt: true }];
}

/** Statements that run the code from an offset on. */
function functionBody(code: CodeObject, entry: Offset, context: BodyContext): readonly Statement[] {
  let flow: Flow | null = null;
  try {
    if (context.options.controlFlow !== "dispatch" || context.until !== undefined) {
      flow = buildFlow(code, entry);
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  if (flow?.reducible) return new StructuredPrinter(code, flow, context).print();
  if (context.until !== undefined) {
    throw new UnsupportedSyntax(
      "this control flow in a generator's parameters",
      code.module.position(code.span.start),
    );
  }
  return dispatchStatements(code, entry, context);
}

class StructuredPrinter {
  /** Nodes that are reached by breaking out of a labelled block, by the node under which they are printed. */
  private readonly placed = new Map<FlowNode, FlowNode[]>();
  /** Nodes that follow a loop, by its header. */
  private readonly behind = new Map<FlowNode, FlowNode[]>();
  private readonly isPlaced = new Set<FlowNode>();
  private readonly isHeader = new Set<FlowNode>();

  constructor(
    private readonly code: CodeObject,
    private readonly flow: Flow,
    private readonly context: BodyContext,
  ) {
    for (const node of flow.nodes) {
      if (node.predecessors.some((p) => p.order >= node.order)) this.isHeader.add(node);
    }
    const loops = new Map([...this.isHeader].map((header) => [header, loopOf(header)]));
    for (const node of flow.nodes) {
      if (!node.dominator) continue;
      const { owner, table } = this.place(node, node.dominator, loops);
      const forward = node.predecessors.filter((p) => p.order < node.order);
      if (forward.length <= 1 && owner === node.dominator && table === this.placed) continue;
      this.isPlaced.add(node);
      const list = table.get(owner) ?? [];
      list.push(node);
      table.set(owner, list);
    }
  }

  print(): readonly Statement[] {
    return this.tree(this.flow.entry);
  }

  /**
   * The node under which a node is printed: its dominator, unless that is in a try region or a loop that does not
   * contain the node; then the try node, or after the loop.
   */
  private place(
    node: FlowNode,
    dominator: FlowNode,
    loops: ReadonlyMap<FlowNode, ReadonlySet<FlowNode>>,
  ): { readonly owner: FlowNode; readonly table: Map<FlowNode, FlowNode[]> } {
    let owner = dominator;
    let table = this.placed;
    // Code that only leaves the function may be printed at its only use.
    const leaves = node.kind === "block" && node.successors.length === 0 && node.predecessors.length === 1;
    for (let at: FlowNode | null = dominator; at; at = at.dominator) {
      if (at.kind === "try") {
        if (this.inside(node, at.instance)) break;
        // The handler is printed in the catch clause, which is outside of the region already.
        if (this.inside(owner, at.instance)) [owner, table] = [at, this.placed];
      }
      const loop = leaves && at !== dominator ? undefined : loops.get(at);
      if (loop && !loop.has(node) && loop.has(owner)) [owner, table] = [at, this.behind];
    }
    return { owner, table };
  }

  private inside(node: FlowNode, instance: RegionInstance): boolean {
    for (let r = node.region; r; r = r.parent) if (r === instance) return true;
    return false;
  }

  private label(node: FlowNode): string {
    return `$L${node.order}`;
  }

  private loopLabel(node: FlowNode): string {
    return `$C${node.order}`;
  }

  /** The node's code with everything it dominates. */
  private tree(node: FlowNode): readonly Statement[] {
    const body = this.within(
      this.placed.get(node) ?? [],
      () => node.kind === "try" ? this.tryStatement(node) : this.block(node),
    );
    if (!this.isHeader.has(node)) return body;
    const loop: Statement = { kind: "loop", label: this.loopLabel(node), exit: null, condition: null, body };
    return this.within(this.behind.get(node) ?? [], () => [loop]);
  }

  /** Statements inside the labelled blocks that are broken out of to reach the `targets`, which follow them. */
  private within(targets: readonly FlowNode[], inner: () => readonly Statement[]): readonly Statement[] {
    const [outermost, ...rest] = [...targets].sort((a, b) => b.order - a.order);
    if (!outermost) return inner();
    return [
      { kind: "block", label: this.label(outermost), body: this.within(rest, inner) },
      ...this.tree(outermost),
    ];
  }

  private tryStatement(node: TryNode): readonly Statement[] {
    const { names } = this.context;
    if (!node.body || !node.handler) throw new Error("Expected a complete try node");
    const parameter = `$e${node.order}`;
    const body = this.go(node, node.body);
    const handler = [
      names.text(`${names.target(node.instance.entry.register)} = ${parameter};`),
      ...this.go(node, node.handler),
    ];
    return [{ kind: "try", body, parameter, handler }];
  }

  /** Transfers control from one node to another. */
  private go(from: FlowNode, to: FlowNode): readonly Statement[] {
    if (to.order <= from.order && dominates(to, from)) {
      return [{ kind: "continue", label: this.loopLabel(to) }];
    }
    if (this.isPlaced.has(to)) return [{ kind: "break", label: this.label(to) }];
    return this.tree(to);
  }

  private goTo(from: FlowNode, offset: Offset): readonly Statement[] {
    return this.go(from, this.flow.target(from, offset));
  }

  private block(node: BlockNode): readonly Statement[] {
    const { names } = this.context;
    const folder = new Folder(this.code, names, node.end);
    const last = node.end - 1;
    for (let at = node.start; at <= last; at++) {
      const i = this.code.instructions[at];
      if (!i) break;
      if (at === this.context.until) return folder.finish();
      switch (i.op) {
        case "jump":
          return [...folder.finish(), ...this.goTo(node, i.target)];
        case "jumpIf": {
          const { yes, no } = folder.condition(i.condition, i.test);
          const before = folder.finish();
          if (i.target === at + 1) {
            // Both targets are the same, but the condition is still evaluated.
            return [...before, ...evaluation(yes), ...this.goTo(node, at + 1)];
          }
          return [...before, {
            kind: "if",
            condition: yes,
            negated: no,
            then: this.goTo(node, i.target),
            otherwise: this.goTo(node, at + 1),
          }];
        }
        case "return": {
          const { text } = folder.operand(i.src);
          return [
            ...folder.finish(),
            names.text(text === "undefined" && !this.code.generator ? "return;" : `return ${text};`, true),
          ];
        }
        case "throw": {
          const { text } = folder.operand(i.src);
          return [...folder.finish(), names.text(`throw ${text};`, true)];
        }
        case "yield":
        case "yieldDelegate": {
          const { options } = this.context, go = (to: Offset) => this.goTo(node, to);
          const printed = suspension(this.code, i, { at, folder, names, options, go });
          if (printed) return printed;
          folder.add(i, at);
          break;
        }
        default:
          folder.add(i, at);
          if (i.op === "throwError") return folder.finish();
      }
    }
    const done = folder.finish();
    return isAbrupt(done) ? done : [...done, ...this.goTo(node, node.end)];
  }
}

/** The nodes of a header's loop: those from which control returns to it without leaving its dominance. */
function loopOf(header: FlowNode): ReadonlySet<FlowNode> {
  const loop = new Set<FlowNode>([header]);
  const work = header.predecessors.filter((p) => p.order >= header.order);
  for (let node = work.pop(); node; node = work.pop()) {
    if (loop.has(node)) continue;
    loop.add(node);
    work.push(...node.predecessors);
  }
  return loop;
}
