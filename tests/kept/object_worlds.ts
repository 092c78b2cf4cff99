/**
 * Worlds of objects with more than properties: home objects of methods, bound functions, typed arrays, expressions,
 * errors, symbols. An argument selects the other world; it prints results of a wrapped function.
 */
import { type Tensor, tensor } from "../../mod.ts";
import type { World } from "./telling.ts";

/** A tensor to compute with. */
const input = (): Tensor => tensor([[1.5, -2], [3, 4]]);

export const OBJECT_WORLDS: Readonly<Record<string, World>> = {
  "a variable that holds one of two symbols of a name"(other, wrap) {
    const one = Symbol("name"), two = Symbol("name"), held = other ? two : one;
    return wrap((x: Tensor) => x.mul(held === one ? 2 : 3))(input());
  },
  "an instance that is called in two ways"(other, wrap) {
    class Scaled {
      factor = other ? 3 : 2;
      by(x: Tensor, more?: Tensor): Tensor {
        return more ? x.mul(this.factor).add(more) : x.mul(this.factor);
      }
    }
    const scaled = new Scaled(), run = wrap((x: Tensor, more?: Tensor) => scaled.by(x, more));
    const passed = wrap((scaled: Scaled, x: Tensor, more?: Tensor) => scaled.by(x, more));
    return [run(input()), run(input(), input()), passed(scaled, input()), passed(scaled, input(), input())];
  },
  "many closures of one function"(other, wrap) {
    const by = other ? 3 : 2;
    return Array.from({ length: 40 }, () => wrap((x: Tensor) => x.mul(by))(input()));
  },
  "super of a method"(other, wrap) {
    class Base {
      scale(x: Tensor): Tensor {
        return x.mul(2);
      }
    }
    class Another extends Base {
      override scale(x: Tensor): Tensor {
        return x.mul(5);
      }
    }
    class Heir extends Base {
      override scale(x: Tensor): Tensor {
        return super.scale(x).add(1);
      }
    }
    if (other) Object.setPrototypeOf(Heir.prototype, Another.prototype);
    const heir = new Heir();
    return wrap((x: Tensor) => heir.scale(x))(input());
  },
  "super of a method that two classes have"(other, wrap) {
    class Base {
      scale(x: Tensor): Tensor {
        return x.mul(2);
      }
    }
    class Heir extends Base {
      override scale(x: Tensor): Tensor {
        return super.scale(x).add(1);
      }
    }
    const heir = new Heir(), { scale } = Heir.prototype;
    if (other) Object.defineProperty(heir, "scale", { value: scale });
    if (other) Object.defineProperty(Base.prototype, "scale", { value: (x: Tensor) => x.mul(7) });
    return wrap((x: Tensor) => heir.scale(x))(input());
  },
  "what a function is bound to"(other, wrap) {
    const layer = { factor: other ? 3 : 2 };
    function scale(this: { readonly factor: number }, by: number, x: Tensor): Tensor {
      return x.mul(this.factor).add(by);
    }
    const run = scale.bind(layer, 1);
    return wrap((x: Tensor) => run(x))(input());
  },
  "an argument that a function is bound to"(other, wrap) {
    const run = Reflect.apply(Function.prototype.bind, (by: number, x: Tensor) => x.mul(by), [
      null,
      other ? 3 : 2,
    ]);
    return wrap((x: Tensor): Tensor => run(x))(input());
  },
  "a function in the place of a bound one"(other, wrap) {
    const scale = (by: number, x: Tensor): Tensor => x.mul(by), run = scale.bind(null, 2);
    const held: (x: Tensor) => Tensor = other ? (x) => x.mul(3) : run;
    return wrap((x: Tensor) => held(x))(input());
  },
  "the numbers of a typed array"(other, wrap) {
    const numbers = new Float32Array(other ? [3, 4] : [1, 2]);
    return wrap((x: Tensor) => x.mul(tensor(numbers)).mul(numbers[0] ?? 0).add(numbers.length))(input());
  },
  "a typed array that is passed on"(other, wrap) {
    const numbers = new Float32Array(other ? 2 : 1), state: { held?: unknown } = {};
    return wrap((x: Tensor) => {
      state.held = numbers;
      return x.mul(2);
    })(input());
  },
  "an expression"(other, wrap) {
    const expression = other ? /^a+$/ : /^b+$/;
    return wrap((x: Tensor) => expression.test("aaa") ? x.mul(2) : x.mul(3))(input());
  },
  "an error"(other, wrap) {
    const error = new RangeError(other ? "one" : "another");
    Object.defineProperty(error, "stack", { value: "" });
    return wrap((x: Tensor) => x.mul(error.message.length))(input());
  },
  "a function of a text that is evaluated"(other, wrap) {
    const evaluated = new Function("x", `return x.mul(${other ? 3 : 2})`) as (x: Tensor) => Tensor;
    return wrap((x: Tensor, run: typeof evaluated) => run(x))(input(), evaluated);
  },
  "a number that is private"(other, wrap) {
    class Scaled {
      #factor = other ? 3 : 2;
      scale(x: Tensor): Tensor {
        return x.mul(this.#factor);
      }
    }
    return wrap((x: Tensor, by: Scaled) => by.scale(x))(input(), new Scaled());
  },
  "whether an object has a private number"(other, wrap) {
    class Scaled {
      #factor = 2;
      static isScaled(value: object): boolean {
        return #factor in value;
      }
    }
    const scaled: object = other ? Object.create(Scaled.prototype) : new Scaled();
    return wrap((x: Tensor, by: object) => x.mul(Scaled.isScaled(by) ? 2 : 3))(input(), scaled);
  },
  "an instance of a class that is made anew"(other, wrap) {
    const make = () => {
      class Scaled {
        factor = other ? 3 : 2;
        scale(x: Tensor): Tensor {
          return x.mul(this.factor);
        }
      }
      return new Scaled();
    };
    const run = wrap((x: Tensor, by: ReturnType<typeof make>) => by.scale(x));
    return [make(), make(), make()].map((by) => run(input(), by));
  },
};
