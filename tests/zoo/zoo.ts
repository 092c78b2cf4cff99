/**
 * The zoo: all its models, and which of them a run of the tests takes where all would take too long. Input: `DYN_ZOO`
 * ("all": every model on every tier) and `DYN_ZOO_SEED`; output: specimens. Invariant: a seed always gives the same
 * sample.
 */
import { bert } from "./models/bert.ts";
import { convnext } from "./models/convnext.ts";
import { diffusion } from "./models/diffusion.ts";
import { dqn } from "./models/dqn.ts";
import { efficientnet } from "./models/efficientnet.ts";
import { gan } from "./models/gan.ts";
import { gpt2 } from "./models/gpt2.ts";
import { graphNetwork } from "./models/graph_network.ts";
import { gruClassifier, lstmTagger } from "./models/lstm_tagger.ts";
import { mobilenet } from "./models/mobilenet.ts";
import { resnet18, resnet50, resnext } from "./models/resnet.ts";
import { speech } from "./models/speech.ts";
import { swin } from "./models/swin.ts";
import { t5 } from "./models/t5.ts";
import { unet } from "./models/unet.ts";
import { vae } from "./models/vae.ts";
import { vit } from "./models/vit.ts";
import type { Specimen } from "./specimen.ts";

/** Every model. */
export const ZOO: readonly Specimen[] = [
  resnet18,
  resnet50,
  resnext,
  mobilenet,
  efficientnet,
  convnext,
  unet,
  vit,
  swin,
  bert,
  gpt2,
  t5,
  lstmTagger,
  gruClassifier,
  vae,
  gan,
  dqn,
  diffusion,
  graphNetwork,
  speech,
];

/** Whether every model runs on every tier. */
export const EXHAUSTIVE: boolean = Deno.env.get("DYN_ZOO") === "all";

const SEED = Number(Deno.env.get("DYN_ZOO_SEED") ?? 1);

/** Every model where the run is exhaustive, else `count` of those given, which another seed changes. */
export function sampled(count: number, given: readonly Specimen[] = ZOO): readonly Specimen[] {
  if (EXHAUSTIVE) return ZOO;
  const left = [...given], chosen: Specimen[] = [];
  let state = SEED;
  while (chosen.length < count && left.length > 0) {
    // A step of splitmix32
    state = (state + 0x9e3779b9) | 0;
    let mixed = Math.imul(state ^ state >>> 16, 0x21f0aaad);
    mixed = Math.imul(mixed ^ mixed >>> 15, 0x735a2d97);
    chosen.push(...left.splice(((mixed ^ mixed >>> 15) >>> 0) % left.length, 1));
  }
  return chosen;
}
