/** Training steps in which a size or a number depends on elements. */
import { autograd, config, manualSeed, nn, optim, rand, randn, type Tensor } from "../../mod.ts";
import type { Corpus } from "../support/programs.ts";
import type { World } from "../../cli/fuzz/language/observation.ts";

type Step = (x: Tensor, y: Tensor) => Tensor;

/** Runs a step three times and shows its losses, and parameters with their gradients. */
function train({ compile, see }: World, model: nn.Module, step: Step): void {
  config.patch({ captureScalarOutputs: true, captureDynamicOutputShapes: true }, () => {
    const run = compile((x: Tensor, y: Tensor) => {
      model.zeroGrad();
      return step(x, y);
    });
    for (let seed = 0; seed < 3; seed++) {
      manualSeed(seed + 10);
      see(run(randn([4, 3]), randn([4, 1])));
      for (const parameter of model.parameters()) see(parameter.detach().clone(), parameter.grad?.clone());
    }
  });
}

function linear(): nn.Linear {
  manualSeed(1);
  return new nn.Linear(3, 1);
}

function done(loss: Tensor): Tensor {
  loss.backward();
  return loss.detach();
}

/** One graph, each. */
export const lateBackward: Corpus = {
  "a mask of the targets"(world) {
    const model = linear();
    train(world, model, (x, y) => done(model.call(x).sub(y).square().maskedSelect(y.gt(0)).sum()));
  },
  "a mask of what the model gives"(world) {
    const model = linear();
    train(world, model, (x) => {
      const out = model.call(x);
      return done(out.maskedSelect(out.gt(0)).square().sum());
    });
  },
  "rows that are kept"(world) {
    const model = linear();
    train(world, model, (x, y) => {
      const kept = y.reshape([-1]).gt(0).nonzero().reshape([-1]);
      return done(model.call(x.indexSelect(0, kept)).square().sum());
    });
  },
  "an element of what the model gives"(world) {
    const model = linear();
    train(world, model, (x) => {
      const out = model.call(x), scale = Number(out.detach().abs().max().item());
      return done(out.div(scale * 2).square().sum());
    });
  },
  "two passes, the second behind what the first has added"(world) {
    const model = linear(), optimizer = new optim.SGD(model.parameters(), { lr: 0.1 });
    train(world, model, (x) => {
      const out = model.call(x), loss = done(out.maskedSelect(out.gt(-1)).square().sum());
      optimizer.step();
      return loss;
    });
  },
  "random numbers before the mask"(world) {
    const model = linear();
    train(world, model, (x) => {
      const out = nn.functional.dropout(model.call(x), 0.5);
      return done(out.maskedSelect(out.gt(0)).square().sum());
    });
  },
  "running statistics before the mask"(world) {
    const model = new nn.Sequential(linear(), new nn.BatchNorm1d(1));
    train(world, model, (x) => {
      const out = model.call(x);
      return done(out.maskedSelect(out.gt(0)).square().sum());
    });
  },
  "a write to rows before the mask, and behind it"(world) {
    const model = linear();
    train(world, model, (x) => {
      const out = model.call(x).tanh().clone();
      out.select(0, 1).mul_(3);
      const kept = out.maskedSelect(out.gt(0)).mul(2);
      kept.mul_(0.5);
      return done(kept.square().sum().add(out.square().mean()));
    });
  },
  "random numbers on both sides of two masks"(world) {
    const model = linear();
    train(world, model, (x, y) => {
      const out = nn.functional.dropout(model.call(x), 0.3);
      const kept = nn.functional.dropout(out.maskedSelect(out.ne(0)), 0.3);
      const again = kept.maskedSelect(kept.gt(-1)).mul(rand([1]).add(0.5));
      return done(again.square().sum().add(y.sum()));
    });
  },
  "a scale by an element, behind random numbers"(world) {
    const model = linear();
    train(world, model, (x) => {
      const out = nn.functional.dropout(model.call(x), 0.5);
      const scale = Number(out.detach().abs().max().item()) + 1;
      return done(out.div(scale).square().sum());
    });
  },
  "an update between two passes, both of random numbers"(world) {
    const model = linear(), optimizer = new optim.SGD(model.parameters(), { lr: 0.1, momentum: 0.9 });
    train(world, model, (x) => {
      const pass = () => {
        const out = nn.functional.dropout(model.call(x), 0.5);
        const loss = done(out.maskedSelect(out.gt(-9)).square().mean());
        optimizer.step();
        return loss;
      };
      return pass().add(pass());
    });
  },
  "a pass that keeps what it reads, and a second one"(world) {
    const model = linear();
    train(world, model, (x) => {
      const out = nn.functional.dropout(model.call(x), 0.5);
      const kept = out.maskedSelect(out.gt(-9));
      kept.square().sum().backward(null, { retainGraph: true });
      return done(kept.sum());
    });
  },
  "statistics, random numbers and layers in front of a mask of classes"(world) {
    manualSeed(3);
    const model = new nn.Sequential(
      new nn.Linear(3, 5),
      new nn.BatchNorm1d(5),
      new nn.Dropout(0.2),
      new nn.Linear(5, 2),
    );
    train(world, model, (x, y) => {
      const out = model.call(x), rows = y.reshape([-1]).gt(-0.5).nonzero().reshape([-1]);
      const loss = nn.functional.crossEntropy(
        out.indexSelect(0, rows),
        y.reshape([-1]).gt(0).long().indexSelect(0, rows),
      );
      return done(loss);
    });
  },
};

/** Programs that need the tape. */
export const brokenLateBackward: Corpus = {
  "random numbers before the mask, on the way to a tensor that is made"(world) {
    const model = linear();
    train(world, model, (x) => {
      const out = nn.functional.dropout(model.call(x), 0.5), scaled = out.mul(2);
      const [grad] = autograd.grad([scaled.maskedSelect(out.gt(0)).square().sum()], [out], {
        retainGraph: true,
      });
      if (grad) world.see(grad);
      return done(scaled.square().sum());
    });
  },
  "a result that requires grad, whose history is used up"(world) {
    const model = linear(), { see } = world;
    train({ ...world, see: () => {} }, model, (x) => {
      const out = model.call(x);
      out.maskedSelect(out.gt(-9)).square().sum().backward();
      return out;
    });
    train({ ...world, see: (out) => attempt(out, see) }, model, (x) => {
      const out = model.call(x);
      out.maskedSelect(out.gt(-9)).square().sum().backward();
      return out.square();
    });
  },
};

/** Shows whether gradients can still be asked for. */
function attempt(out: unknown, see: World["see"]): void {
  const { backward } = Object(out);
  if (typeof backward !== "function") return;
  try {
    const sum: unknown = Reflect.apply(Object(out).sum, out, []);
    Reflect.apply(backward, sum, []);
    see("again");
  } catch (error) {
    see(String(error).slice(0, 50));
  }
}
