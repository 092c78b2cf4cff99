/**
 * NeRF (Mildenhall et al. 2020) as in Yen-Chen Lin's port: frequencies of positions and directions, densities along
 * rays turned into weights by a running product, a second pass at positions drawn from those weights by inversion of
 * their cumulative sums (searchsorted, gather) and sorted among the first; Adam with a rate that decays.
 */
import {
  cat,
  cos,
  cumprod,
  cumsum,
  exp,
  gather,
  linspace,
  max,
  min,
  nn,
  norm,
  ones,
  onesLike,
  optim,
  searchsorted,
  sigmoid,
  sin,
  sort,
  stack,
  sum,
  type Tensor,
  tensor,
  where,
  zerosLike,
} from "../../../mod.ts";
import { ONE, type Specimen } from "../specimen.ts";

const F = nn.functional;

/** The input followed by sines and cosines of it at powers of two. */
class Embedder {
  readonly functions: ((x: Tensor) => Tensor)[] = [(x) => x];
  readonly size: number;

  constructor(inputs: number, bands: number) {
    for (const band of Array.from({ length: bands }, (_, i) => 2 ** i)) {
      for (const periodic of [sin, cos]) this.functions.push((x) => periodic(x.mul(band)));
    }
    this.size = inputs * this.functions.length;
  }

  embed(x: Tensor): Tensor {
    return cat(this.functions.map((fn) => fn(x)), -1);
  }
}

class NeRF extends nn.Module {
  readonly points = new Embedder(3, 2);
  readonly views = new Embedder(3, 1);
  readonly pts_linears: nn.ModuleList<nn.Linear>;
  readonly alpha_linear: nn.Linear;
  readonly rgb_linear: nn.Linear;

  constructor(readonly width: number, readonly skips: readonly number[]) {
    super();
    this.pts_linears = new nn.ModuleList([
      new nn.Linear(this.points.size, width),
      new nn.Linear(width, width),
      new nn.Linear(width + this.points.size, width),
    ]);
    this.alpha_linear = new nn.Linear(width, 1);
    this.rgb_linear = new nn.Linear(width + this.views.size, 3);
  }

  override forward(pts: Tensor, dirs: Tensor): readonly [Tensor, Tensor] {
    const input = this.points.embed(pts);
    let h = input;
    for (const [i, linear] of this.pts_linears.entries()) {
      h = F.relu(linear.call(h));
      if (this.skips.includes(i)) h = cat([input, h], -1);
    }
    const rgb = sigmoid(this.rgb_linear.call(cat([h, this.views.embed(dirs)], -1)));
    return [rgb, this.alpha_linear.call(h).at("...", 0)];
  }

  /** Colours of rays, with the weights and places of their samples. */
  render(origins: Tensor, dirs: Tensor, z: Tensor): { readonly rgb: Tensor; readonly weights: Tensor } {
    const pts = origins.at("...", null, ":").add(dirs.at("...", null, ":").mul(z.at("...", ":", null)));
    const viewdirs = dirs.div(norm(dirs, { dim: -1, keepdim: true })).at(":", null).expand(pts.shape);
    const [rgb, sigma] = this.call(pts, viewdirs);
    let dists = z.at("...", "1:").sub(z.at("...", ":-1"));
    const last = tensor([1e10], { dtype: z.dtype, device: z.device }).expand(dists.at("...", ":1").shape);
    dists = cat([dists, last], -1).mul(norm(dirs.at("...", null, ":"), { dim: -1 }));
    const alpha = exp(F.relu(sigma).neg().mul(dists)).rsub(1);
    const first = ones([alpha.shape[0] ?? 0, 1], { dtype: z.dtype, device: z.device });
    const passed = cumprod(cat([first, alpha.rsub(1).add(1e-10)], -1), -1).at(":", ":-1");
    const weights = alpha.mul(passed);
    return { rgb: sum(weights.at("...", null).mul(rgb), -2), weights };
  }

  /** Both passes. */
  rays(origins: Tensor, dirs: Tensor, { near = 2, far = 6 } = {}): readonly [Tensor, Tensor] {
    const t = linspace(0, 1, 6, { dtype: origins.dtype, device: origins.device });
    const z = t.rsub(1).mul(near).add(t.mul(far)).expand([origins.shape[0] ?? 0, 6]);
    const coarse = this.render(origins, dirs, z);
    const mid = z.at("...", "1:").add(z.at("...", ":-1")).mul(0.5);
    const drawn = samplePdf(mid, coarse.weights.at("...", "1:-1"), 5).detach();
    const [sorted] = sort(cat([z, drawn], -1), -1);
    return [coarse.rgb, this.render(origins, dirs, sorted).rgb];
  }
}

/** Places at which the cumulative weights of bins reach evenly spaced levels. */
function samplePdf(bins: Tensor, weights: Tensor, count: number): Tensor {
  weights = weights.add(1e-5);
  const pdf = weights.div(sum(weights, -1, { keepdim: true }));
  let cdf = cumsum(pdf, -1);
  cdf = cat([zerosLike(cdf.at("...", ":1")), cdf], -1);
  const levels = linspace(0, 1, count, { dtype: cdf.dtype, device: cdf.device });
  const u = levels.expand([...cdf.shape.slice(0, -1), count]).contiguous();
  const inds = searchsorted(cdf.detach(), u, { right: true });
  const below = max(zerosLike(inds.sub(1)), inds.sub(1));
  const above = min(onesLike(inds).mul((cdf.shape.at(-1) ?? 0) - 1), inds);
  const indsG = stack([below, above], -1);
  const matched = [indsG.shape[0] ?? 0, indsG.shape[1] ?? 0, cdf.shape.at(-1) ?? 0];
  const cdfG = gather(cdf.unsqueeze(1).expand(matched), 2, indsG);
  const binsG = gather(bins.unsqueeze(1).expand(matched), 2, indsG);
  let denom = cdfG.at("...", 1).sub(cdfG.at("...", 0));
  denom = where(denom.lt(1e-5), onesLike(denom), denom);
  const t = u.sub(cdfG.at("...", 0)).div(denom);
  return binsG.at("...", 0).add(t.mul(binsG.at("...", 1).sub(binsG.at("...", 0))));
}

export const nerf: Specimen = {
  name: "nerf",
  make() {
    const model = new NeRF(12, [1]);
    const lossOf = (origins: Tensor, dirs: Tensor, target: Tensor) => {
      const [coarse, fine] = model.rays(origins, dirs);
      return fine.sub(target).pow(2).mean().add(F.mseLoss(coarse, target));
    };
    const train = () => {
      const optimizer = new optim.Adam(model.parameters(), { lr: 5e-3, betas: [0.9, 0.999] });
      let globalStep = 0;
      const step = (origins: Tensor, dirs: Tensor, target: Tensor) => {
        optimizer.zeroGrad();
        const loss = lossOf(origins, dirs, target);
        loss.backward();
        optimizer.step();
        const rate = 5e-3 * 0.1 ** (globalStep / 100);
        for (const group of optimizer.paramGroups) group.lr = rate;
        globalStep += 1;
        return loss.detach();
      };
      return { step };
    };
    return { model, forward: (origins, dirs) => cat([...model.rays(origins, dirs)]), loss: lossOf, train };
  },
  counts: { forward: ONE, loss: ONE, step: { graphs: 3, breaks: 0, recompiles: 2 } },
};
