/**
 * Model-agnostic meta-learning (Finn et al. 2017): a few steps of gradient descent on each task, by functional calls
 * with parameters that carry their own history, gradients through those steps, Adam on the shared start.
 */
import { autograd, func, nn, optim, stack, type Tensor } from "../../../mod.ts";
import { ONE, type Specimen } from "../specimen.ts";

const F = nn.functional;

class Regressor extends nn.Module {
  readonly net: nn.Sequential;

  constructor(hidden: number) {
    super();
    this.net = new nn.Sequential(
      new nn.Linear(1, hidden),
      new nn.Tanh(),
      new nn.Linear(hidden, hidden),
      new nn.Tanh(),
      new nn.Linear(hidden, 1),
    );
  }

  override forward(x: Tensor): Tensor {
    return this.net.call(x);
  }
}

/** Parameters after `steps` of descent on one task. */
function adapted(model: Regressor, [x, y]: readonly [Tensor, Tensor], steps: number): Record<string, Tensor> {
  let params: Record<string, Tensor> = Object.fromEntries(model.namedParameters());
  for (let i = 0; i < steps; i++) {
    const loss = F.mseLoss(func.functionalCall(model, params, [x]), y);
    const grads = autograd.grad(loss, Object.values(params), { createGraph: true });
    params = Object.fromEntries(
      Object.entries(params).map(([name, p], i) => [name, p.sub((grads[i] as Tensor).mul(0.1))]),
    );
  }
  return params;
}

export const maml: Specimen = {
  name: "maml",
  make() {
    const model = new Regressor(8);
    const lossOf = (xSupport: Tensor, ySupport: Tensor, xQuery: Tensor, yQuery: Tensor) => {
      const losses: Tensor[] = [];
      for (let task = 0; task < xSupport.size(0); task++) {
        const params = adapted(model, [xSupport.at(task), ySupport.at(task)], 2);
        losses.push(F.mseLoss(func.functionalCall(model, params, [xQuery.at(task)]), yQuery.at(task)));
      }
      return stack(losses).mean();
    };
    const train = () => {
      const metaOptimizer = new optim.Adam(model.parameters(), { lr: 0.01 });
      const step = (...batch: [Tensor, Tensor, Tensor, Tensor]) => {
        metaOptimizer.zeroGrad();
        const loss = lossOf(...batch);
        loss.backward();
        metaOptimizer.step();
        return loss.detach();
      };
      return { step };
    };
    return { model, forward: (_x, _y, xQuery) => model.call(xQuery), loss: lossOf, train };
  },
  counts: { forward: ONE, loss: ONE, step: ONE },
};
