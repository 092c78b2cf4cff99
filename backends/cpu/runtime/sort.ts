/**
 * Stable sorting of one row, or of the first elements of its order, with positions, as a C++ translation unit for one
 * element type, which exports `dyn_entry`, returning the address of a `void(const SortCall*)`. Invariant: NaN is the
 * greatest value, equal values keep their order in both directions; a row has fewer than 2³² elements, and is not
 * sorted in place.
 */

/** The argument; 64-bit words. Also pasted into generated programs. */
export const SORT_CALL: string = String.raw`
// the first 'count' values and positions of 'source' in order; strides in elements
struct SortCall {
  const void* source;
  void* values;
  long* indices;
  long n, count, source_stride, value_stride, index_stride, descending;
};
`;

/**
 * Every type maps to unsigned numbers in the order of its values, which are sorted together with positions. Zeros of
 * both signs map to the same number, and so do all NaNs; the values themselves are read from the source again.
 */
const ORDER: string = String.raw`
typedef unsigned long U64;
typedef unsigned U32;
template <int BYTES> struct UnsignedOf { typedef U64 type; };
template <> struct UnsignedOf<4> { typedef U32 type; };
template <> struct UnsignedOf<1> { typedef U32 type; };
typedef UnsignedOf<sizeof(T)>::type Key;
static const int KEY_BITS = sizeof(T) * 8;
static const Key ALL = sizeof(T) == 1 ? (Key) 255 : ~(Key) 0, SIGN = (Key) 1 << (KEY_BITS - 1);
static inline Key order(float x) {
  U32 b;
  __builtin_memcpy(&b, &x, 4);
  if ((b & 0x7fffffff) > 0x7f800000) return ~(U32) 0;
  if (b == 0x80000000) b = 0;
  return b & 0x80000000 ? ~b : b | 0x80000000;
}
static inline Key order(double x) {
  U64 b;
  __builtin_memcpy(&b, &x, 8);
  if ((b & 0x7fffffffffffffffUL) > 0x7ff0000000000000UL) return ~0UL;
  if (b == 0x8000000000000000UL) b = 0;
  return b & 0x8000000000000000UL ? ~b : b | 0x8000000000000000UL;
}
static inline Key order(int x) { return (Key) x ^ SIGN; }
static inline Key order(long x) { return (Key) x ^ SIGN; }
static inline Key order(unsigned char x) { return x; }
`;

const SORT: string = String.raw`
extern "C" void* malloc(unsigned long);
extern "C" void free(void*);
struct Item { Key key; U32 index; };
enum { RUN = 64 };   // elements that are looked at together
// short rows by insertion
static void insert_all(Item* items, long n) {
  for (long j = 1; j < n; j++) {
    const Item x = items[j];
    long k = j;
    for (; k > 0 && x.key < items[k - 1].key; k--) items[k] = items[k - 1];
    items[k] = x;
  }
}
// rows of medium length by merging runs; returns the array that holds the result
static Item* merge_all(Item* from, Item* to, long n) {
  for (long i = 0; i < n; i += 16) insert_all(from + i, i + 16 < n ? 16 : n - i);
  for (long width = 16; width < n; width *= 2) {
    for (long i = 0; i < n; i += 2 * width) {
      const long middle = i + width < n ? i + width : n, end = i + 2 * width < n ? i + 2 * width : n;
      long a = i, b = middle;
      for (long k = i; k < end; k++) {
        const bool left = a < middle && (b >= end || from[a].key <= from[b].key);
        to[k] = from[left ? a : b];
        a += left;
        b += !left;
      }
    }
    Item* const other = from;
    from = to;
    to = other;
  }
  return from;
}
// long rows digit by digit from the lowest, skipping digits that are equal everywhere
template <int DIGIT> static Item* radix_all(Item* from, Item* to, long n) {
  const int DIGITS = (KEY_BITS + DIGIT - 1) / DIGIT, VALUES = 1 << DIGIT, MASK = VALUES - 1;
  U32* const counts = (U32*) malloc(sizeof(U32) * DIGITS * VALUES);
  for (long i = 0; i < DIGITS * VALUES; i++) counts[i] = 0;
  for (long i = 0; i < n; i++) {
    for (int d = 0; d < DIGITS; d++) counts[d * VALUES + (int) (from[i].key >> (d * DIGIT) & MASK)]++;
  }
  for (int d = 0; d < DIGITS; d++) {
    U32* const count = counts + d * VALUES;
    if (count[(int) (from[0].key >> (d * DIGIT) & MASK)] == (U32) n) continue;
    U32 sum = 0;
    for (int v = 0; v < VALUES; v++) {
      const U32 here = count[v];
      count[v] = sum;
      sum += here;
    }
    for (long i = 0; i < n; i++) to[count[(int) (from[i].key >> (d * DIGIT) & MASK)]++] = from[i];
    Item* const other = from;
    from = to;
    to = other;
  }
  free(counts);
  return from;
}
// returns the array that holds the result; uses small digits if counting would take longer than moving items
static Item* sort_all(Item* from, Item* to, long n) {
  return n < 256 ? merge_all(from, to, n) : n < 16384 ? radix_all<8>(from, to, n) : radix_all<11>(from, to, n);
}
static inline Key key_at(const SortCall& c, long i, Key flip) {
  return order(((const T*) c.source)[i * c.source_stride]) ^ flip;
}
// Whether no element of a run precedes the last of the first ones, by comparison of values
template <bool DESCENDING> static inline bool all_behind(const T* x, T last) {
  int ahead = 0;
  for (long j = 0; j < RUN; j++) ahead |= DESCENDING ? !(x[j] <= last) : !(x[j] >= last);
  return !ahead;
}
// Finds candidates for the first of the order: elements not below the last one found so far are none, since equal ones
// come earlier. Calls 'take' for the others; it returns the last of the first once there are enough.
template <class TAKE> static void each_candidate(const SortCall& c, Key flip, bool& enough, Item& last, TAKE take) {
  const T* const source = (const T*) c.source;
  for (long start = 0; start < c.n; start += RUN) {
    const long end = start + RUN < c.n ? start + RUN : c.n;
    if (enough && end - start == RUN && c.source_stride == 1) {
      const T least = source[last.index];
      if (c.descending ? all_behind<true>(source + start, least) : all_behind<false>(source + start, least)) continue;
    }
    for (long i = start; i < end; i++) {
      const Key key = key_at(c, i, flip);
      if (!enough || key < last.key) take(Item{key, (U32) i});
    }
  }
}
// few of them are kept sorted
static Item* insert_first(const SortCall& c, Item* items, Key flip) {
  long found = 0;
  bool enough = false;
  Item last = {};
  each_candidate(c, flip, enough, last, [&](const Item& item) {
    long k = enough ? found - 1 : found++;
    for (; k > 0 && item.key < items[k - 1].key; k--) items[k] = items[k - 1];
    items[k] = item;
    enough = found == c.count;
    last = items[found - 1];
  });
  return items;
}
// many are sorted whenever the buffer is full
static Item* select_first(const SortCall& c, Item* from, Item* to, long room, Key flip) {
  long found = 0;
  bool enough = false;
  Item last = {};
  each_candidate(c, flip, enough, last, [&](const Item& item) {
    from[found++] = item;
    if (found < room) return;
    Item* const sorted = sort_all(from, to, found);
    to = sorted == from ? to : from;
    from = sorted;
    found = c.count;
    last = from[found - 1];
    enough = true;
  });
  return sort_all(from, to, found);
}
static void sort(const SortCall* call) {
  const SortCall& c = *call;
  if (c.count == 0) return;
  const T* source = (const T*) c.source;
  const long FEW = 32, room = 2 * c.count + 16;
  const bool few = c.count <= FEW && 2 * c.count < c.n, some = 8 * room < c.n;
  const long most = few ? c.count : some ? room : c.n;
  Item* const memory = (Item*) malloc((unsigned long) (2 * most + 1) * sizeof(Item));
  const Key flip = c.descending ? ALL : 0;   // descending is ascending by the complement
  Item* sorted;
  if (few) {
    sorted = insert_first(c, memory, flip);
  } else if (some) {
    sorted = select_first(c, memory, memory + most, room, flip);
  } else {
    for (long i = 0; i < c.n; i++) memory[i] = {key_at(c, i, flip), (U32) i};
    sorted = sort_all(memory, memory + most, c.n);
  }
  for (long i = 0; i < c.count; i++) {
    const long at = sorted[i].index;
    ((T*) c.values)[i * c.value_stride] = source[at * c.source_stride];
    c.indices[i * c.index_stride] = at;
  }
  free(memory);
}
extern "C" __attribute__((visibility("default"))) void (*dyn_entry())(const SortCall*) { return sort; }
`;

/** The translation unit of sorting over one element type, named as in C++. */
export function sortSource(type: string): string {
  return `typedef ${type} T;\n${SORT_CALL}${ORDER}${SORT}`;
}
