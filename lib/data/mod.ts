/** Datasets, samplers and loaders: the namespace `data`. */
export {
  ChainDataset,
  ConcatDataset,
  type Dataset,
  IterableDataset,
  randomSplit,
  StackDataset,
  type Stacked,
  Subset,
  TensorDataset,
} from "./dataset.ts";
export * from "./samplers.ts";
export { DistributedSampler, type DistributedSamplerOptions } from "./distributed_sampler.ts";
export { type Collated, defaultCollate, defaultConvert } from "./collate.ts";
export { fromModule } from "./from_module.ts";
export { getWorkerInfo, type WorkerInfo } from "./worker_info.ts";
export { DataLoader, type LoaderOptions, type Samples } from "./loader.ts";
