/** Datasets and loaders: the namespace `data`. */
export { type Dataset, permutation, randomSplit, Subset, TensorDataset } from "./dataset.ts";
export { DataLoader, defaultCollate, type LoaderOptions } from "./loader.ts";
