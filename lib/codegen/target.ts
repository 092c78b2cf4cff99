/**
 * The capabilities of a device, as far as code generation needs them. Passes read nothing else, and only a device's own
 * folder asks which device it is. Each tier of a device defines one.
 */
import type { DType } from "../base/dtype.ts";
import type { ExternKernel } from "../loops/ir.ts";
import type { Side } from "./winograd_matrices.ts";

/** Support for a library call: by the library, or "none", in which case it becomes loops. */
export type CallSupport = LibraryCall | "none";

/** The parts of a call that the library runs. */
interface LibraryCall {
  /** Whether operands may be computed as they are read; otherwise by kernels of their own. */
  readonly prologues: boolean;
  /** Whether the epilogue runs on parts as they are finished; otherwise it is a kernel of its own. */
  readonly epilogue: boolean;
}

/** A call without prologues and epilogue. */
export const ALONE: LibraryCall = { prologues: false, epilogue: false };

/** Sizes of products whose first operands are computed on the fly, as far as known. */
interface ComputedSizes {
  /** Elements of an operand, over all matrices, and whether those above a diagonal are zero. */
  readonly elements: number;
  readonly causal: boolean;
  /** Columns of each result. */
  readonly columns: readonly number[];
  /** Number of products from which elements are computed. */
  readonly products: number;
}

/** The sizes that keep a grid busy. */
export interface Grid {
  /** Number of workgroups that fills it several times over. */
  readonly groups: number;
  /** Elements of a reduction that are worth a workgroup. */
  readonly elements: number;
  /** Invocations of a workgroup. */
  readonly invocations: number;
  /** Shorter loops are run by one invocation each: windows of pooling, small rows. */
  readonly shared: number;
  /** Fewer than `few` rows of at least `long` elements become a kernel for each of their loops. */
  readonly rows: { readonly few: number; readonly long: number };
  /** Elements of a row that an invocation may keep in registers between passes over the row. */
  readonly registers: number;
  /** Whether buffers are aligned so that four elements may be read and written as a vector. */
  readonly vectors: boolean;
  /**
   * Returns the number of attention rows computed together by a kernel that keeps scores out of memory; undefined if
   * there is no kernel for values of this many features.
   */
  readonly attention: (features: number) => number | undefined;
  /**
   * Returns the number of product rows computed together by a kernel that computes an operand on the fly; undefined if
   * there is no kernel for the sizes, or if storing the operand is faster.
   */
  readonly computed: (sizes: ComputedSizes) => number | undefined;
  /** Returns whether this many elements, computed for one kernel, are stored for another product that needs them. */
  readonly stores: (elements: number) => boolean;
  /** Maximum size in bytes of temporaries for such elements. */
  readonly temporaries: number;
  /** Maximum size in bytes of all temporaries of a program, which share one memory, before later steps add more. */
  readonly arena: number;
  /**
   * Returns the layout into which the filters of a convolution are repacked: by taps with output channels adjacent, or,
   * if so many channels share the transforms of images, transformed, with each point of the transform laid out likewise.
   * Undefined if they are read in place.
   */
  readonly filters: (convolution: ExternKernel) => "taps" | 32 | 64 | undefined;
  /**
   * Returns the side of the squares of results with which a convolution of known sizes, or a gradient of its filters, is
   * a product of transforms in so many bytes; undefined if it is none.
   */
  readonly transforms: (convolution: ExternKernel, bytes: number) => Side | undefined;
  /** Returns the number of parts of a product's depth with which it is fastest; a few more or fewer will do as well. */
  readonly parts: (product: ExternKernel) => number;
  /**
   * Returns whether a product's second operand, a weight, is worth a transposed copy: calls of the program keep it while
   * the weight stays the same.
   */
  readonly transposes: (product: ExternKernel) => boolean;
}

/** How a team of threads divides loops: the outermost loop of a nest, or several parallel loops as one. */
export type ThreadSharing = "outermost" | "nest";

/** Facts about one way of running programs. */
export interface Target {
  /** For messages and dumps: "native". */
  readonly name: string;
  /** Returns how a library call over operands of these types is run. */
  supports(kernel: ExternKernel, dtypes: ReadonlySet<DType>): CallSupport;
  /**
   * Whether loops run in SIMD lanes along one loop of a nest. Long sums are then cut into blocks, so that all such
   * targets add in the same order.
   */
  readonly lanes: boolean;
  /** Whether vector loops have to be straight runs of statements, which the target's compiler vectorises. */
  readonly runs: boolean;
  /** How threads divide loops; "none": there are no threads, and full reductions are not split. */
  readonly threads: ThreadSharing | "none";
  /** The grid of workgroups that loops are mapped to, which few results of long reductions would leave idle. */
  readonly grid: Grid | null;
  /**
   * Bytes of thread-local buffers for products that are fused row by row; 0: the library's products cannot be called on
   * blocks of rows.
   */
  readonly blockBytes: number;
  /**
   * Maximum number of rows of a product that reads its second operand in place if the rows of that are contiguous:
   * otherwise such products are much slower. 0: it makes no difference.
   */
  readonly rowsInPlace: number;
  /** Whether the library has matrix products, also on blocks, but no convolutions. */
  readonly im2col: boolean;
  /** Maximum number of buffers of one kernel. */
  readonly kernelBuffers: number;
  /** Whether adjacent kernels that do the same work on other buffers run as one function over a table of these. */
  readonly tables: boolean;
  /** Width of the widest integers that it computes with; at 32, int64 keeps its low 32 bits. */
  readonly integers: 32 | 64;
  /** Every size of a call is below this. */
  readonly sizeLimit: number;
  /** Maximum number of statements to which the loops inside a vector loop are unrolled; 0: they stay loops. */
  readonly unrolls: number;
  /** Whether lanes can be stored past the caches. */
  readonly streams: boolean;
}
