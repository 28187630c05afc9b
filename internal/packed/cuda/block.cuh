// Blocks of packed columns, as the host describes them: tile.go and device.go.
#pragma once

#include "scan.cuh"

static constexpr u32 tile_rows = 2048, tiles_per_block = 32, unpack_threads = 256;
static constexpr u32 rows_per_thread = tile_rows / unpack_threads;
static constexpr u32 run_words = tile_rows / 64;
static constexpr u32 padding = 16, none = 0xffffffff;
static constexpr u32 as_bits = 0xff, most_exponent = 15;

enum Form : u32 { offsets, deltas, runs, wide };

enum Kind : u32 { integers1, integers2, integers4, integers8, decimals, booleans, floats4, floats8, texts, large_texts };

struct Tile {
    u64 reference, factor;
    u32 data, validity, text;
    u8 form, width, exponent, padding;
};

// Column is a column in device memory.
struct Column {
    u64 values; // address of values, or of offsets of strings
    u64 bitmap; // address of the bitmap, or 0
    u64 bytes;  // address of the bytes of strings
    u64 offsets, strings; // addresses of the dictionary
    u32 entries; // of the dictionary
    u32 kind;
};

// Block is a block in device memory.
struct Block {
    u64 bytes;     // address
    u64 text_at;   // of the column: bytes of strings in the blocks before
    u32 row;       // of the column: the first one of the block
    u32 rows;
    u32 length;    // of bytes
    u32 text;      // bytes of strings
    u32 column;
    u32 coded;     // whether the strings are those of the dictionary
};

typedef u64 Pair __attribute__((ext_vector_type(2)));

template <typename T> using Global = __attribute__((address_space(1))) T;

// load and store access global memory at an address that is aligned to T.
template <typename T> DEVICE T load(u64 address) { return *(const Global<T> *)address; }
template <typename T> DEVICE void store(u64 address, T value) { *(Global<T> *)address = value; }

DEVICE u32 minimum(u32 a, u32 b) { return a < b ? a : b; }

// load_bytes returns eight bytes from any address on. It reads whole words: up to 15 bytes more.
DEVICE u64 load_bytes(u64 address) {
    const u64 at = address & ~7ull;
    const u32 shift = (u32)(address & 7) * 8;
    const u64 low = load<u64>(at), high = load<u64>(at + 8);
    return low >> shift | high << 1 << (63 - shift);
}

// GlobalCodes are the data of a tile in its block.
struct GlobalCodes {
    u64 address;
    template <typename T> METHOD T at(u32 i) const { return load<T>(address + (u64)i * sizeof(T)); }
    METHOD GlobalCodes behind(u32 bytes) const { return {address + bytes}; }
};

// SharedCodes are the data of a tile in shared memory.
struct SharedCodes {
    const u64 *words;
    template <typename T> METHOD T at(u32 i) const { return ((const T *)words)[i]; }
    METHOD SharedCodes behind(u32 bytes) const { return {words + bytes / 8}; }
};

// code_at returns code i of a width from 1 to 64. It reads up to 8 bytes behind the codes.
template <typename Codes> DEVICE u64 code_at(const Codes &codes, u32 i, u32 width) {
    const u32 bit = i * width; // below 2^17
    if (width <= 32) {
        const u32 low = codes.template at<u32>(bit >> 5), high = codes.template at<u32>((bit >> 5) + 1);
        return ((u64)high << 32 | low) >> (bit & 31) & (~0ull >> (64 - width));
    }
    const u32 shift = bit & 63;
    const u64 low = codes.template at<u64>(bit >> 6), high = codes.template at<u64>((bit >> 6) + 1);
    return (low >> shift | high << 1 << (63 - shift)) & (~0ull >> (64 - width));
}

DEVICE u32 code_bytes(u32 count, u32 width) { return (count * width + 63) / 64 * 8; }

// PartOf is a tile with its block and its column.
template <typename Codes> struct PartOf {
    Column column;
    Block block;
    Tile tile;
    u32 index; // of the tile
    u32 rows;
    u64 data; // address
    Codes codes;

    // begin returns whether the tile exists and the memory that it names is in its block: tile.check.
    METHOD bool begin(const Column *columns, const Block *blocks, u32 *outcomes) {
        const u32 number = block_in_grid() / tiles_per_block;
        block = blocks[number];
        index = block_in_grid() % tiles_per_block;
        if (index * tile_rows >= block.rows)
            return false;
        column = columns[block.column];
        rows = minimum(tile_rows, block.rows - index * tile_rows);
        const u64 at = block.bytes + (u64)index * sizeof(Tile);
        tile.reference = load<u64>(at);
        tile.factor = load<u64>(at + 8);
        const u64 places = load<u64>(at + 16), rest = load<u64>(at + 24);
        tile.data = (u32)places;
        tile.validity = (u32)(places >> 32);
        tile.text = (u32)rest;
        tile.form = (u8)(rest >> 32);
        tile.width = (u8)(rest >> 40);
        tile.exponent = (u8)(rest >> 48);
        data = block.bytes + tile.data;
        const bool known = tile.form <= wide && tile.width <= 64 && (tile.form != wide || column.kind == decimals) &&
                           (tile.exponent <= most_exponent || tile.exponent == as_bits);
        const u32 length = tile.form == runs ? 8 * run_words : tile.form == wide ? 16 * rows : code_bytes(rows, tile.width);
        if (known && within(tile.data, length) && (tile.validity == none || within(tile.validity, tile_rows / 8)))
            return true;
        if (thread_in_block() == 0)
            damage(outcomes);
        return false;
    }

    // within reports whether the bytes from an offset on, and the words that code_at reads behind them, are in the block.
    METHOD bool within(u32 offset, u32 length) const { return offset % 8 == 0 && (u64)offset + length + padding <= block.length; }

    METHOD void damage(u32 *outcomes) const { __atomic_fetch_or(outcomes + block_in_grid() / tiles_per_block, 1u, __ATOMIC_RELAXED); }

    // first_row is the first row of the tile in the column.
    METHOD u64 first_row() const { return block.row + index * tile_rows; }

    METHOD u64 offset_at(u32 i) const { return tile.reference + (tile.width == 0 ? 0 : tile.factor * code_at(codes, i, tile.width)); }

    // valid returns the bits of 32 rows from a multiple of 32 on.
    METHOD u32 valid(u32 word) const { return tile.validity == none ? whole_warp : load<u32>(block.bytes + tile.validity + 4 * word); }

    // bit_rows is the number of bits of bitmaps that are written: whole words of 8 bytes.
    METHOD u32 bit_rows() const { return (rows + 63) & ~63u; }

    // write_validity writes the bitmap of the tile.
    METHOD void write_validity() const {
        const u32 word = thread_in_block();
        if (column.bitmap == 0 || word * 32 >= bit_rows())
            return;
        u32 bits = word * 32 < rows ? valid(word) : 0;
        if (word * 32 < rows && rows - word * 32 < 32)
            bits &= (1u << (rows - word * 32)) - 1;
        store<u32>(column.bitmap + first_row() / 8 + 4 * word, bits);
    }
};

struct Part : PartOf<GlobalCodes> {
    METHOD bool begin(const Column *columns, const Block *blocks, u32 *outcomes) {
        const bool sound = PartOf<GlobalCodes>::begin(columns, blocks, outcomes);
        codes.address = data;
        return sound;
    }

    // read_offsets reads the values of the rows of a thread, which are behind each other. Narrow codes are one word.
    METHOD void read_offsets(u32 first, u64 (&values)[rows_per_thread]) const {
        if (tile.width > 8) {
#pragma unroll
            for (u32 k = 0; k < rows_per_thread; k++)
                values[k] = offset_at(minimum(first + k, rows - 1));
            return;
        }
        const u64 word = tile.width == 0 || first >= rows ? 0 : load_bytes(data + first / 8 * tile.width);
#pragma unroll
        for (u32 k = 0; k < rows_per_thread; k++)
            values[k] = tile.reference + tile.factor * (word >> k * tile.width & ((1u << tile.width) - 1));
    }
};

// Staged has the values of a tile in shared memory.
struct Staged {
    u64 values[tile_rows];
    u64 sums[unpack_threads / warp_threads];
};

// sum_deltas decodes values from their differences.
template <typename Codes> DEVICE void sum_deltas(const PartOf<Codes> &part, Staged &staged) {
    const Sum<u64> sum;
    u64 values[rows_per_thread];
    u64 total = 0;
    const u32 first = thread_in_block() * rows_per_thread;
#pragma unroll
    for (u32 k = 0; k < rows_per_thread; k++) {
        const u32 i = minimum(first + k, part.rows - 1);
        total += part.tile.factor + (part.tile.width == 0 ? 0 : code_at(part.codes, i, part.tile.width));
        values[k] = total;
    }
    const u64 scanned = warp_scan(total, sum);
    u64 all;
    const u64 warps = block_fold_before<unpack_threads / warp_threads>(shuffle_value(scanned, warp_threads - 1), staged.sums, all, sum);
    const u64 before = part.tile.reference + warps + before_lane(scanned, sum);
#pragma unroll
    for (u32 k = 0; k < rows_per_thread; k++)
        staged.values[first + k] = before + values[k];
    synchronize_block();
}

// find_runs decodes values from the first values of runs. It returns false if their codes are not in the block. All
// threads get the same result.
template <typename Codes> DEVICE bool find_runs(const PartOf<Codes> &part, Staged &staged) {
    const Sum<u64> sum;
    const u32 first = thread_in_block() * rows_per_thread;
    const u32 bits = part.codes.template at<u8>(thread_in_block());
    const u64 scanned = warp_scan((u64)__builtin_popcount(bits), sum);
    u64 marked;
    const u64 warps = block_fold_before<unpack_threads / warp_threads>(shuffle_value(scanned, warp_threads - 1), staged.sums, marked, sum);
    const u32 begin = part.codes.template at<u8>(0) & 1;
    if (begin == 0 || !part.within(part.tile.data, 8 * run_words + code_bytes((u32)marked, part.tile.width)))
        return false;
    const Codes codes = part.codes.behind(8 * run_words);
    u32 run = (u32)(warps + before_lane(scanned, sum));
#pragma unroll
    for (u32 k = 0; k < rows_per_thread; k++) {
        run += bits >> k & 1;
        staged.values[first + k] = part.tile.reference + (part.tile.width == 0 ? 0 : part.tile.factor * code_at(codes, run - 1, part.tile.width));
    }
    synchronize_block();
    return true;
}

static_assert(rows_per_thread == 8, "find_runs reads a byte of bits, read_offsets as many bytes of codes as a code has bits");
