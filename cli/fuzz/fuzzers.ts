/** The registry of fuzzers, by name and with the features to omit. */
import { DynError } from "../../lib/base/errors.ts";
import { type CampaignOptions, runCampaign } from "./campaign.ts";
import type { Fuzzer } from "./fuzzer.ts";
import { LANGUAGE_FEATURES, LanguageFuzzer } from "./language/fuzzer.ts";
import type { FuzzerName } from "./protocol.ts";
import { ASPECTS } from "./tensor/facts.ts";
import { FEATURES } from "./tensor/features.ts";
import { TensorFuzzer } from "./tensor/fuzzer.ts";

/** Runs a campaign of a fuzzer, whatever its programs are. */
type Run = (options: CampaignOptions) => Promise<void>;

function campaigns<P>(fuzzer: Fuzzer<P>): Run {
  return (options) => runCampaign(fuzzer, options);
}

/** Looks up names; throws DynError for an unknown one. */
function chosen<T extends string>(known: readonly T[], names: readonly string[]): readonly T[] {
  const unknown = names.find((name) => !known.some((each) => each === name));
  if (unknown !== undefined) throw new DynError(`Expected some of ${known.join(", ")} but found ${unknown}`);
  return known.filter((each) => names.includes(each));
}

const MAKERS: Readonly<Record<FuzzerName, (without: readonly string[]) => Run>> = {
  tensors: (without) => campaigns(new TensorFuzzer({ without: chosen([...ASPECTS, ...FEATURES], without) })),
  language: (without) => campaigns(new LanguageFuzzer({ without: chosen(LANGUAGE_FEATURES, without) })),
};

/** The campaigns of a fuzzer. `without` names the features not to generate and the observations not to compare. */
export function campaignsOf(name: FuzzerName, without: readonly string[]): Run {
  return MAKERS[name](without);
}
