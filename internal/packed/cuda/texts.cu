// Strings of rows from the tiles of blocks: see device.go.
#include "block.cuh"

// too_long is the length of a string that is not in the block. It makes each sum of lengths greater than the block.
static constexpr u64 too_long = 1ull << 44;

static constexpr u32 warps = unpack_threads / warp_threads;
static constexpr u32 warp_rows = warp_threads * rows_per_thread;

// WarpMemory is the shared memory of a warp.
union WarpMemory {
    Pair collected[257]; // strings, which the warp writes in whole words
    struct {             // places of strings that are too long for that
        u32 from[warp_rows], at[warp_rows], length[warp_rows];
    } listed;
};

// Memory is the shared memory of a block: values until the lengths are known, then a part for each warp.
union Memory {
    Staged staged;
    WarpMemory warps[warps];
};

static constexpr u32 collected_bytes = sizeof(WarpMemory::collected) - 16;

// Strings are those of the rows of a thread: their places in the dictionary and their lengths.
struct Strings {
    u32 from[rows_per_thread], length[rows_per_thread];
    u64 total; // of the lengths

    METHOD void read(const Part &part, const u64 (&values)[rows_per_thread], u32 valid) {
        total = 0;
#pragma unroll
        for (u32 k = 0; k < rows_per_thread; k++) {
            from[k] = length[k] = 0;
            if ((valid >> k & 1) == 0)
                continue;
            if (values[k] >= (part.block.coded == 0 ? (u64)part.block.text + 1 : part.column.entries)) {
                total += too_long;
                continue;
            }
            length[k] = (u32)values[k];
            if (part.block.coded != 0) {
                const u64 at = part.column.offsets + values[k] * 4;
                from[k] = load<u32>(at);
                length[k] = load<u32>(at + 4) - from[k];
            }
            total += length[k];
        }
    }
};

// copy_bytes copies bytes by a number of threads. The words that load_bytes reads behind them exist.
DEVICE void copy_bytes(u64 to, u64 from, u64 length, u32 thread, u32 threads) {
    const u64 head = (8 - (to & 7)) & 7, before = head < length ? head : length;
    const u64 words = (length - before) / 8, after = before + words * 8;
    if (thread < before)
        store<u8>(to + thread, load<u8>(from + thread));
    constexpr u32 together = 4; // loads that overlap
    u64 i = thread;
    for (; i + (together - 1) * threads < words; i += together * threads) {
        u64 loaded[together];
#pragma unroll
        for (u32 k = 0; k < together; k++)
            loaded[k] = load_bytes(from + before + (i + k * threads) * 8);
#pragma unroll
        for (u32 k = 0; k < together; k++)
            store<u64>(to + before + (i + k * threads) * 8, loaded[k]);
    }
    for (; i < words; i += threads)
        store<u64>(to + before + i * 8, load_bytes(from + before + i * 8));
    for (i = after + thread; i < length; i += threads)
        store<u8>(to + i, load<u8>(from + i));
}

// write_offsets writes the offsets of the strings of a thread. The last one of a tile writes the end too.
template <typename T> DEVICE void write_offsets(const Part &part, u32 first, u64 at, const Strings &strings) {
    constexpr u32 together = 16 / sizeof(T);
    typedef T Group __attribute__((ext_vector_type(together)));
    const u64 to = part.column.values + (part.first_row() + first) * sizeof(T);
    Group groups[rows_per_thread / together];
#pragma unroll
    for (u32 k = 0; k < rows_per_thread; k++) {
        groups[k / together][k % together] = (T)at;
        at += strings.length[k];
    }
    if (first + rows_per_thread <= part.rows) {
#pragma unroll
        for (u32 i = 0; i < rows_per_thread / together; i++)
            store<Group>(to + i * 16, groups[i]);
    } else {
#pragma unroll
        for (u32 k = 0; k < rows_per_thread; k++)
            if (first + k < part.rows)
                store<T>(to + k * sizeof(T), groups[k / together][k % together]);
    }
    if (first < part.rows && part.rows <= first + rows_per_thread)
        store<T>(to + (part.rows - first) * sizeof(T), (T)at);
}

// Run is bytes behind each other that a thread writes to shared memory. It shares its first and its last word with the
// threads before and behind it.
struct Run {
    u64 *word;
    u64 bytes; // of the word
    u32 bits;  // up to the end of the bytes
    bool shared;

    METHOD Run(u64 *words, u32 at) : word(words + at / 8), bytes(0), bits(at % 8 * 8), shared(bits != 0) {}

    METHOD void add() const {
        u32 *const halves = (u32 *)word; // GPUs have no instruction for words of 64 bits
        __atomic_fetch_or(halves, (u32)bytes, __ATOMIC_RELAXED);
        __atomic_fetch_or(halves + 1, (u32)(bytes >> 32), __ATOMIC_RELAXED);
    }

    // append appends up to eight bytes. Those beyond the count are 0.
    METHOD void append(u64 next, u32 count) {
        bytes |= next << bits;
        const u32 end = bits + 8 * count;
        if (end < 64) {
            bits = end;
            return;
        }
        if (shared)
            add();
        else
            *word = bytes;
        shared = false;
        word++;
        bytes = next >> 1 >> (63 - bits);
        bits = end - 64;
    }

    // copy appends bytes, the first words of which are loaded.
    METHOD void copy(u64 from, u32 length, u64 low, u64 high) {
        const u32 shift = (u32)(from & 7) * 8;
        u64 at = (from & ~7ull) + 8;
#pragma nounroll
        while (length > 0) {
            const u64 next = low >> shift | high << 1 << (63 - shift);
            if (length <= 8) {
                append(next & ~0ull >> (64 - 8 * length), length);
                return;
            }
            append(next, 8);
            length -= 8;
            low = high;
            high = load<u64>(at += 8);
        }
    }
};

// collect writes the strings of a warp, which has a number of bytes, by shared memory: so neighbouring lanes write
// neighbouring words. at is the place of the thread's strings among them.
DEVICE void collect(const Part &part, const Strings &strings, u64 to, u32 at, u32 length, Pair *collected) {
    const u32 ahead = (u32)(to & 15), end = ahead + length;
    for (u32 i = lane_in_warp(); i * 16 < end; i += warp_threads)
        collected[i] = Pair{0, 0};
    synchronize_warp();
    Run run((u64 *)collected, ahead + at);
    constexpr u32 together = 4; // loads that overlap
#pragma unroll
    for (u32 first = 0; first < rows_per_thread; first += together) {
        u64 low[together], high[together];
#pragma unroll
        for (u32 k = 0; k < together; k++) {
            const u64 from = part.column.strings + strings.from[first + k] & ~7ull;
            low[k] = strings.length[first + k] == 0 ? 0 : load<u64>(from);
            high[k] = strings.length[first + k] == 0 ? 0 : load<u64>(from + 8);
        }
#pragma unroll
        for (u32 k = 0; k < together; k++)
            run.copy(part.column.strings + strings.from[first + k], strings.length[first + k], low[k], high[k]);
    }
    if (run.bytes != 0)
        run.add();
    synchronize_warp();
    const u64 aligned_to = to - ahead;
    for (u32 i = lane_in_warp() * 16; i < end; i += warp_threads * 16) {
        if (i >= ahead && i + 16 <= end) {
            store<Pair>(aligned_to + i, collected[i / 16]);
            continue;
        }
        for (u32 b = i < ahead ? ahead : i; b < i + 16 && b < end; b++)
            store<u8>(aligned_to + b, ((u8 *)collected)[b]);
    }
}

// copy_listed writes the strings of a warp, each by a few lanes.
DEVICE void copy_listed(const Part &part, const Strings &strings, u64 to, u32 at, u64 length, WarpMemory &memory) {
    auto &listed = memory.listed;
#pragma unroll
    for (u32 k = 0; k < rows_per_thread; k++) {
        const u32 row = lane_in_warp() * rows_per_thread + k;
        listed.from[row] = strings.from[k], listed.at[row] = at, listed.length[row] = strings.length[k];
        at += strings.length[k];
    }
    synchronize_warp();
    const u32 lanes = length > 256 * warp_rows ? warp_threads : 8;
#pragma nounroll
    for (u32 row = lane_in_warp() / lanes; row < warp_rows; row += warp_threads / lanes)
        copy_bytes(to + listed.at[row], part.column.strings + listed.from[row], listed.length[row], lane_in_warp() % lanes, lanes);
}

// unpack_texts has a block for each tile.
KERNEL RESIDENT_BOUNDS(unpack_threads, 4) unpack_texts(const Column *columns, const Block *blocks, u32 *outcomes) {
    __shared__ Memory memory;
    Part part;
    if (!part.begin(columns, blocks, outcomes))
        return;
    part.write_validity();
    const u32 first = thread_in_block() * rows_per_thread;
    u64 values[rows_per_thread];
    if (part.tile.form == offsets)
        part.read_offsets(first, values);
    else {
        if (part.tile.form == deltas)
            sum_deltas(part, memory.staged);
        else if (!find_runs(part, memory.staged)) {
            if (thread_in_block() == 0)
                part.damage(outcomes);
            return;
        }
#pragma unroll
        for (u32 k = 0; k < rows_per_thread; k++)
            values[k] = memory.staged.values[first + k];
    }
    u32 valid = first < part.rows ? part.valid(first / 32) >> first % 32 : 0;
    if (first < part.rows && part.rows - first < rows_per_thread)
        valid &= (1u << (part.rows - first)) - 1;
    Strings strings;
    strings.read(part, values, valid);
    // The strings are those from tile.text up to that of the next tile.
    u32 end = part.block.text;
    if ((part.index + 1) * tile_rows < part.block.rows)
        end = load<u32>(part.block.bytes + (u64)(part.index + 1) * sizeof(Tile) + 24);
    const Sum<u64> sum;
    const u64 scanned = warp_scan(strings.total, sum), warp_total = shuffle_value(scanned, warp_threads - 1);
    u64 all;
    const u64 before = block_fold_before<warps>(warp_total, memory.staged.sums, all, sum);
    if (end > part.block.text || part.tile.text > end || all != end - part.tile.text) {
        if (thread_in_block() == 0)
            part.damage(outcomes);
        return;
    }
    const u64 start = part.block.text_at + part.tile.text; // of the tile's strings in the column
    const u32 at = (u32)before_lane(scanned, sum);         // of the thread's strings in those of the warp
    if (part.column.kind == texts)
        write_offsets<u32>(part, first, start + before + at, strings);
    else
        write_offsets<u64>(part, first, start + before + at, strings);
    const u64 to = part.column.bytes + start;
    if (part.block.coded == 0) {
        copy_bytes(to, part.block.bytes + part.block.length - padding - part.block.text + part.tile.text, all, thread_in_block(), unpack_threads);
        return;
    }
    WarpMemory &own = memory.warps[thread_in_block() / warp_threads];
    if (warp_total <= collected_bytes)
        collect(part, strings, to + before, at, (u32)warp_total, own.collected);
    else
        copy_listed(part, strings, to + before, at, warp_total, own);
}
