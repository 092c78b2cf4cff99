/**
 * The device "cpu": pooled host memory; programs as WebAssembly SIMD or as native code. Invariant: work is complete
 * when a call returns.
 */
import "./cached_entries.ts";
import { type Device, type Memory, registerDevice } from "../../lib/loops/device.ts";
import "../eager_classes.ts";
import { HostBlock, HostMemory, hostOf } from "./host_memory.ts";
import { hostPool } from "./memory_pool.ts";
import { autotune } from "./autotune.ts";
import {
  compileClassForHost,
  compileEagerForHost,
  compileForHost,
  hostIdentity,
  restoreForHost,
} from "./native_tier.ts";
import { compileSource } from "./source_kernel.ts";
import { toolchainStatus } from "./toolchain.ts";

const allocate = (byteLength: number): HostMemory => hostPool.allocate(byteLength);

const readSync = (memory: Memory, byteOffset: number, byteLength: number): Uint8Array =>
  hostOf(memory).uint8.slice(byteOffset, byteOffset + byteLength);

/** The device, registered when this module loads. */
export const cpu: Device = {
  name: "cpu",
  hostReadable: true,
  synchronousReads: true,
  allocate,
  isClear: (memory) => hostOf(memory).block.isUntouched,
  free: (memory) => hostPool.free(hostOf(memory)),
  adopt: (buffer) => new HostMemory("cpu", new HostBlock(new Uint8Array(buffer))),
  memoryUse: hostPool,
  write: (memory, byteOffset, bytes) => hostOf(memory).uint8.set(bytes, byteOffset),
  readSync,
  read: (memory, byteOffset, byteLength) => Promise.resolve(readSync(memory, byteOffset, byteLength)),
  compileEager: compileEagerForHost,
  compileClass: compileClassForHost,
  compile: compileForHost,
  identity: hostIdentity,
  restore: restoreForHost,
  compileSource,
  choose: (forms) => toolchainStatus().kind === "ready" ? autotune(forms) : undefined,
  synchronize() {},
};
registerDevice(cpu);
