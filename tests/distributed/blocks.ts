/** The model for tests of sharding: two blocks, in layers whose sizes are not divisible, and a head without bias. */
import { distributed, nn, type Tensor } from "../../mod.ts";

class Block extends nn.Module {
  readonly first = new nn.Linear(5, 7);
  readonly second = new nn.Linear(7, 5);
  override forward(x: Tensor): Tensor {
    return this.second.call(this.first.call(x).tanh()).add(x);
  }
}

/** The model, whole. */
export const blocks = (): nn.Sequential =>
  new nn.Sequential(new Block(), new Block(), new nn.Linear(5, 3, { bias: false }));

/** Divides its blocks and what is left. */
export function shardBlocks<M extends nn.Module>(net: M, options: distributed.FullyShardOptions = {}): M {
  for (const block of net.children().slice(0, 2)) distributed.fullyShard(block, options);
  return distributed.fullyShard(net, options);
}
