/**
 * DCGAN (Radford et al. 2016) as PyTorch's tutorial writes it: a generator of transposed convolutions, a
 * discriminator of strided ones, two optimizers, labels that are filled again and again, a detached fake batch.
 */
import { full, nn, optim, stack, type Tensor } from "../../../mod.ts";
import { ONE, type Specimen } from "../specimen.ts";

class Generator extends nn.Module {
  readonly main: nn.Sequential;

  constructor(nz: number, ngf: number, nc: number) {
    super();
    this.main = new nn.Sequential(
      new nn.ConvTranspose2d(nz, ngf * 2, 4, 1, 0, { bias: false }),
      new nn.BatchNorm2d(ngf * 2),
      new nn.ReLU(true),
      new nn.ConvTranspose2d(ngf * 2, nc, 4, 2, 1, { bias: false }),
      new nn.Tanh(),
    );
  }

  override forward(input: Tensor): Tensor {
    return this.main.call(input);
  }
}

class Discriminator extends nn.Module {
  readonly main: nn.Sequential;

  constructor(nc: number, ndf: number) {
    super();
    this.main = new nn.Sequential(
      new nn.Conv2d(nc, ndf, 4, 2, 1, { bias: false }),
      new nn.LeakyReLU(0.2, { inplace: true }),
      new nn.Conv2d(ndf, ndf * 2, 3, 1, 1, { bias: false }),
      new nn.BatchNorm2d(ndf * 2),
      new nn.LeakyReLU(0.2, { inplace: true }),
      new nn.Conv2d(ndf * 2, 1, 4, 1, 0, { bias: false }),
      new nn.Sigmoid(),
    );
  }

  override forward(input: Tensor): Tensor {
    return this.main.call(input).view(-1);
  }
}

function weightsInit(m: nn.Module): void {
  const classname = m.constructor.name;
  if (m instanceof nn.Conv2d || m instanceof nn.ConvTranspose2d) {
    nn.init.normal_(m.weight, 0.0, 0.02);
  } else if (classname.startsWith("BatchNorm") && m instanceof nn.BatchNorm2d && m.weight && m.bias) {
    nn.init.normal_(m.weight, 1.0, 0.02);
    nn.init.constant_(m.bias, 0);
  }
}

class DCGAN extends nn.Module {
  readonly netG = new Generator(4, 3, 2);
  readonly netD = new Discriminator(2, 3);

  constructor() {
    super();
    this.netG.apply(weightsInit);
    this.netD.apply(weightsInit);
  }

  override forward(noise: Tensor): Tensor {
    return this.netG.call(noise);
  }
}

export const gan: Specimen = {
  name: "gan",
  make() {
    const model = new DCGAN();
    const { netG, netD } = model;
    const criterion = new nn.BCELoss();
    const realLabel = 1, fakeLabel = 0;
    const lossOf = (real: Tensor, noise: Tensor) => {
      const label = full([real.size(0)], realLabel, { dtype: real.dtype, device: real.device });
      const errD = criterion.call(netD.call(real), label);
      const errG = criterion.call(netD.call(netG.call(noise)), label);
      return errD.add(errG);
    };
    const train = () => {
      const optimizerD = new optim.Adam(netD.parameters(), { lr: 0.01, betas: [0.5, 0.999] });
      const optimizerG = new optim.Adam(netG.parameters(), { lr: 0.01, betas: [0.5, 0.999] });
      const step = (real: Tensor, noise: Tensor) => {
        // Maximise log(D(x)) + log(1 − D(G(z)))
        netD.zeroGrad();
        const label = full([real.size(0)], realLabel, { dtype: real.dtype, device: real.device });
        let output = netD.call(real);
        const errDReal = criterion.call(output, label);
        errDReal.backward();
        const fake = netG.call(noise);
        label.fill_(fakeLabel);
        output = netD.call(fake.detach());
        const errDFake = criterion.call(output, label);
        errDFake.backward();
        const errD = errDReal.add(errDFake);
        optimizerD.step();
        // Maximise log(D(G(z)))
        netG.zeroGrad();
        label.fill_(realLabel);
        output = netD.call(fake);
        const errG = criterion.call(output, label);
        errG.backward();
        optimizerG.step();
        return stack([errD.detach(), errG.detach()]);
      };
      return { step };
    };
    return { model, forward: (_real: Tensor, noise: Tensor) => model.call(noise), loss: lossOf, train };
  },
  counts: { forward: ONE, loss: ONE, step: ONE },
};
