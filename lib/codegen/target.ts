/**
 * The capabilities of a device, as far as code generation needs them. Passes read only this, and only a device's own
 * folder checks which device it is. Each tier of a device defines one.
 */
import type { DType } from "../base/dtype.ts";
import type { ExternKernel } from "../loops/ir.ts";

/** Support for a library call: by the library, or "none", in which case it becomes loops. */
export type CallSupport = LibraryCall | "none";

/** The parts of a call that the library runs. */
export interface LibraryCall {
  /** Whether operands are computed where they are needed; otherwise by kernels of their own. */
  readonly prologues: boolean;
  /** Whether the epilogue runs on parts as they are finished; otherwise it is a kernel of its own. */
  readonly epilogue: boolean;
}

/** A call without anything around it. */
export const ALONE: LibraryCall = { prologues: false, epilogue: false };

/** Products of matrices in tiles. */
export interface Tiles {
  readonly rows: number;
  readonly columns: number;
  /** Tiles that fill a large device, which may share the depth of a product where it has fewer. */
  readonly busy: number;
  /** The least depth that is worth a tile. */
  readonly depth: number;
  /** Depths of parts are multiples of this. */
  readonly step: number;
}

/** Sizes of products whose first operands are made, as far as they are known. */
export interface MadeSizes {
  /** Elements of an operand, of all matrices, and whether those behind a diagonal are zero. */
  readonly elements: number;
  readonly causal: boolean;
  /** Of the results. */
  readonly columns: readonly number[];
  /** Products that elements are made of. */
  readonly products: number;
}

/** The sizes that keep a grid busy. */
export interface Grid {
  /** Workgroups that fill it several times over. */
  readonly groups: number;
  /** Elements of a reduction that are worth a workgroup. */
  readonly elements: number;
  /** Invocations of a workgroup. */
  readonly invocations: number;
  /** Shorter loops are done by one invocation each: windows of pooling, small rows. */
  readonly shared: number;
  /** Fewer rows than `few`, of at least `long` elements, are a kernel for each of their loops. */
  readonly rows: { readonly few: number; readonly long: number };
  /** Whether buffers start where four elements may be read and written as a vector. */
  readonly vectors: boolean;
  /**
   * Returns the number of attention rows computed together by a kernel that keeps scores out of memory; undefined if
   * there is no kernel for values of so many features.
   */
  readonly attention: (features: number) => number | undefined;
  /**
   * Returns the number of product rows computed together by a kernel that computes an operand on the fly; undefined
   * if there is no kernel for the sizes, or operands are better kept in memory.
   */
  readonly made: (sizes: MadeSizes) => number | undefined;
  /** Returns whether so many elements computed for one kernel are stored for a further product that needs them. */
  readonly keeps: (elements: number) => boolean;
  /** Bytes of temporaries up to which such elements are written down. */
  readonly temporaries: number;
  /**
   * Returns the layout into which the filters of a convolution are repacked: by taps with output channels adjacent,
   * or transformed, with each point of the transform laid out likewise. Undefined if they are read in place.
   * Gradients of filters use transforms or none.
   */
  readonly filters: (convolution: ExternKernel) => "taps" | "transformed" | undefined;
  /** The tiles that make a product. */
  readonly tiles: (product: ExternKernel) => Tiles;
}

/** The loops that a team of threads divides: the outermost loop of a nest, or several parallel loops as one. */
export type ThreadSharing = "outermost" | "nest";

/** Facts about one way to run programs. */
export interface Target {
  /** For messages and dumps: "native". */
  readonly name: string;
  /** Returns how a library call over operands of these types is run. */
  supports(kernel: ExternKernel, dtypes: ReadonlySet<DType>): CallSupport;
  /**
   * Whether loops run in SIMD lanes along one loop of a nest. Then long sums are cut in blocks, so that all such targets
   * add in one order.
   */
  readonly lanes: boolean;
  /** Whether vector loops are to be straight runs of statements, because the target's compiler has to vectorise them. */
  readonly runs: boolean;
  /** How threads divide loops; "none": there are no threads, and full reductions are not split. */
  readonly threads: ThreadSharing | "none";
  /** The grid of workgroups that loops are mapped to, which few results of long reductions would leave idle. */
  readonly grid: Grid | null;
  /**
   * Bytes that a thread may have for what products that are finished row by row hand on; 0: the library's products cannot
   * be called on blocks of rows.
   */
  readonly blockBytes: number;
  /**
   * Up to how many rows a product reads its second operand where it lies, if the rows of that lie side by side: otherwise
   * such products are much slower. 0: there is no such difference.
   */
  readonly rowsInPlace: number;
  /** Whether the library has products of matrices, on blocks too, but no convolutions. */
  readonly unfolds: boolean;
  /** Maximum number of buffers of one kernel. */
  readonly kernelBuffers: number;
  /** Whether neighbouring kernels that do the same with other buffers run as one function over a table of these. */
  readonly tables: boolean;
  /** Bits of the widest integers that it computes with: where 32, int64 keeps its low ones. */
  readonly integers: 32 | 64;
  /** Every size of a call is below this. */
  readonly sizeLimit: number;
  /** Most statements that the loops inside a vector loop may be unrolled to; 0: they stay loops. */
  readonly unrolls: number;
  /** Whether lanes can be stored past the caches. */
  readonly streams: boolean;
}
