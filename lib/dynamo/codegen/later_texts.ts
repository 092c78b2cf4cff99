/**
 * Generates code for primitives that are known only after the graph has run: elements of its results, and what the
 * program computes from them. Invariant: all elements are read at once, before anything else is done with the results.
 */
import { invariant } from "../../base/errors.ts";
import type { Constants } from "../guards/reader.ts";
import type { ItemValue, LaterValue, TensorValue, Value } from "../variables/value.ts";
import type { MakingOrder } from "./making_order.ts";
import type { Names } from "./names.ts";
import type { ResultNames } from "./result_names.ts";
import type * as runtime from "./runtime.ts";

/** The parts of generated code to which these primitives refer. */
interface LaterContext {
  readonly constants: Constants;
  readonly names: Names;
  readonly order: MakingOrder;
  value(value: Value): string;
  tensor(value: TensorValue): string;
  readonly results: Pick<ResultNames, "use">;
  helper(name: keyof typeof runtime): string;
}

/** The names of such primitives in generated code. */
export class LaterTexts {
  readonly #names = new Map<ItemValue, string>();
  readonly #reads: { readonly name: string; readonly tensor: string }[] = [];

  constructor(readonly context: LaterContext) {}

  /** The name of a primitive. */
  item(value: ItemValue): string {
    const { tensor, number, later } = value, { names, order } = this.context;
    if (number && !isOnlyRead(value)) return this.context.results.use(number.node);
    let name = this.#names.get(value);
    if (name === undefined) {
      invariant(tensor ?? later, "Expected an element that is read, or a computation");
      const text = later ? this.#computation(later) : null;
      name = names.fresh(later ? "computed" : "item");
      this.#names.set(value, name);
      if (text !== null) order.create(name, text);
      else if (tensor) this.#reads.push({ name, tensor: this.context.tensor(tensor) });
    }
    return name;
  }

  /** The statement that reads the elements. */
  reads(): string[] {
    const [first, ...others] = this.#reads;
    if (!first) return [];
    if (others.length === 0) return [`const ${first.name} = ${first.tensor}.item();`];
    // By index: the program may have replaced the iteration of arrays.
    const taken = this.#reads.map(({ name }, k) => `${k}: ${name}`).join(", ");
    const tensors = this.#reads.map(({ tensor }) => tensor).join(", ");
    return [`const { ${taken} } = ${this.context.helper("itemsOf")}([${tensors}]);`];
  }

  #computation({ apply, operands }: LaterValue): string {
    const { constants } = this.context;
    const texts = operands.map((each) => this.context.value(each)), [first = "", second] = texts;
    if (apply === "text") {
      return `\`${texts.flatMap((text) => text === '""' ? [] : `\${${text}}`).join("")}\``;
    }
    if (apply === "element") return first + texts.slice(1).map((index) => `[${index}]`).join("");
    if (typeof apply === "string") {
      return second === undefined ? apply + first : `${first} ${apply} ${second}`;
    }
    const fn = constants.name(apply.fn);
    if (!apply.isMethod) return `${fn}(${texts.join(", ")})`;
    return `${this.context.helper("callFunction")}(${fn}, ${first}, [${texts.slice(1).join(", ")}])`;
  }
}

/** Returns whether the graph does not use an element that it could, as a number or a size: it need not stop for it. */
function isOnlyRead({ tensor, number }: ItemValue): boolean {
  if (!tensor || !number || tensor.meta.dtype === "int64") return false;
  return number.dim === null && number.node.users.size === 0;
}
