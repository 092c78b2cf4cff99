/**
 * A variational autoencoder (Kingma and Welling 2014) as PyTorch's examples write it: convolutions, two heads,
 * reparametrisation by noise of the shape of the deviation, binary cross entropy plus the divergence.
 */
import { nn, optim, randnLike, type Tensor } from "../../../mod.ts";
import { ONE, type Specimen } from "../specimen.ts";

const F = nn.functional;

class VAE extends nn.Module {
  readonly encoder = new nn.Sequential(
    new nn.Conv2d(1, 4, { kernelSize: 3, stride: 2, padding: 1 }),
    new nn.LeakyReLU(0.2, { inplace: true }),
    new nn.Flatten(),
  );
  readonly fc21 = new nn.Linear(64, 3);
  readonly fc22 = new nn.Linear(64, 3);
  readonly fc3 = new nn.Linear(3, 64);
  readonly decoder = new nn.Sequential(
    new nn.Unflatten({ dim: 1, unflattenedSize: [4, 4, 4] }),
    new nn.ELU({ inplace: true }),
    new nn.ConvTranspose2d(4, 1, { kernelSize: 3, stride: 2, padding: 1, outputPadding: 1 }),
    new nn.Sigmoid(),
  );

  constructor(readonly noise: number) {
    super();
  }

  encode(x: Tensor): [Tensor, Tensor] {
    const h1 = this.encoder.call(x);
    return [this.fc21.call(h1), this.fc22.call(h1)];
  }

  reparameterize(mu: Tensor, logvar: Tensor): Tensor {
    if (!this.training || this.noise === 0) return mu;
    const std = logvar.mul(0.5).exp();
    const eps = randnLike(std);
    return eps.mul(std).mul_(this.noise).add_(mu);
  }

  decode(z: Tensor): Tensor {
    return this.decoder.call(this.fc3.call(z));
  }

  override forward(x: Tensor): [Tensor, Tensor, Tensor] {
    const [mu, logvar] = this.encode(x);
    const z = this.reparameterize(mu, logvar);
    return [this.decode(z), mu, logvar];
  }
}

/** Reconstruction of all elements summed, and the divergence from the standard normal. */
function lossFunction(reconX: Tensor, x: Tensor, [mu, logvar]: readonly [Tensor, Tensor]): Tensor {
  const bce = F.binaryCrossEntropy(reconX.view(-1, 64), x.view(-1, 64), { reduction: "sum" });
  const kld = logvar.add(1).sub(mu.pow(2)).sub(logvar.exp()).sum().mul(-0.5);
  return bce.add(kld);
}

export const vae: Specimen = {
  name: "vae",
  make({ dropout }) {
    // Noise is drawn where other models drop elements: PyTorch's numbers are without
    const model = new VAE(dropout === 0 ? 0 : 1);
    const lossOf = (data: Tensor) => {
      const [reconBatch, mu, logvar] = model.call(data);
      return lossFunction(reconBatch, data, [mu, logvar]);
    };
    const train = () => {
      const optimizer = new optim.Adam(model.parameters(), { lr: 1e-2 });
      const step = (data: Tensor) => {
        optimizer.zeroGrad();
        const loss = lossOf(data);
        loss.backward();
        optimizer.step();
        return loss.detach().div(data.shape[0] ?? 1);
      };
      return { step };
    };
    return { model, forward: (data) => model.call(data)[0], loss: lossOf, train };
  },
  random: true,
  counts: { forward: ONE, loss: ONE, step: ONE },
};
