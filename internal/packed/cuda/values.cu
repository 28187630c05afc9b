// Values of rows from the tiles of blocks: see device.go.
#include "block.cuh"

static constexpr f64 powers_of_ten[16] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

// power_of_ten returns a power of up to 15 without a table in memory.
DEVICE f64 power_of_ten(u32 exponent) {
    f64 power = 1;
#pragma unroll
    for (u32 i = 1; i < 16; i++)
        power = exponent == i ? powers_of_ten[i] : power;
    return power;
}

// Offsets are the values of a tile by their codes.
template <typename Codes> struct Offsets {
    const PartOf<Codes> &part;
    METHOD u64 at(u32 i) const { return part.offset_at(i); }
};

// Decoded are values in shared memory.
struct Decoded {
    const Staged &staged;
    METHOD u64 at(u32 i) const { return staged.values[i]; }
};

// write_rows calls write with each row of the tile, neighbours in a warp, and its value.
template <typename Codes, typename Values, typename Write> DEVICE void write_rows(const PartOf<Codes> &part, Values values, Write write) {
    u64 loaded[rows_per_thread];
#pragma unroll
    for (u32 k = 0; k < rows_per_thread; k++)
        loaded[k] = values.at(minimum(thread_in_block() + k * unpack_threads, part.rows - 1));
#pragma unroll
    for (u32 k = 0; k < rows_per_thread; k++) {
        const u32 i = thread_in_block() + k * unpack_threads;
        if (i < part.rows)
            write(i, loaded[k]);
    }
}

// write_narrow writes values of one or two bytes: a thread those of eight rows behind each other.
template <typename T, typename Codes, typename Values> DEVICE void write_narrow(const PartOf<Codes> &part, Values values) {
    const u32 first = thread_in_block() * rows_per_thread;
    const u64 to = part.column.values + (part.first_row() + first) * sizeof(T);
    constexpr u32 together = 8 / sizeof(T);
    u64 words[rows_per_thread / together] = {};
#pragma unroll
    for (u32 k = 0; k < rows_per_thread; k++)
        words[k / together] |= (u64)(T)values.at(minimum(first + k, part.rows - 1)) << k % together * (8 * sizeof(T));
#pragma unroll
    for (u32 w = 0; w < rows_per_thread / together; w++)
        if (first + (w + 1) * together <= part.rows)
            store<u64>(to + w * 8, words[w]);
        else
            for (u32 k = 0; k < together && first + w * together + k < part.rows; k++)
                store<T>(to + w * 8 + k * sizeof(T), (T)(words[w] >> k * (8 * sizeof(T))));
}

// write_bits writes booleans.
template <typename Values> DEVICE void write_bits(const Part &part, Values values) {
    bool loaded[rows_per_thread];
#pragma unroll
    for (u32 k = 0; k < rows_per_thread; k++)
        loaded[k] = (values.at(minimum(thread_in_block() + k * unpack_threads, part.rows - 1)) & 1) != 0;
#pragma unroll
    for (u32 k = 0; k < rows_per_thread; k++) {
        const u32 i = thread_in_block() + k * unpack_threads;
        const u32 bits = ballot(i < part.rows && loaded[k]);
        if (lane_in_warp() == 0 && i < part.bit_rows())
            store<u32>(part.column.values + (part.first_row() + i) / 8, bits);
    }
}

// write_words writes integers and decimals.
template <typename Codes, typename Values> DEVICE void write_words(const PartOf<Codes> &part, Values values) {
    const u64 row = part.first_row(), to = part.column.values;
    switch (part.column.kind) {
    case integers1:
        write_narrow<u8>(part, values);
        break;
    case integers2:
        write_narrow<u16>(part, values);
        break;
    case integers4:
        write_rows(part, values, [=](u32 i, u64 value) { store<u32>(to + (row + i) * 4, (u32)value); });
        break;
    case integers8:
        write_rows(part, values, [=](u32 i, u64 value) { store<u64>(to + (row + i) * 8, value); });
        break;
    case decimals:
        write_rows(part, values, [=](u32 i, u64 value) {
            store<Pair>(to + (row + i) * 16, Pair{value, (u64)((i64)value >> 63)});
        });
        break;
    }
}

template <typename Values> DEVICE void write_tile(const Part &part, Values values) {
    const u64 row = part.first_row(), to = part.column.values;
    const bool decimal = part.tile.exponent != as_bits;
    switch (part.column.kind) {
    default:
        write_words(part, values);
        break;
    case booleans:
        write_bits(part, values);
        break;
    case floats4: {
        const f64 power = decimal ? power_of_ten(part.tile.exponent) : 1;
        write_rows(part, values, [=](u32 i, u64 value) {
            if (decimal)
                store<f32>(to + (row + i) * 4, (f32)((f64)(i64)value / power));
            else
                store<u32>(to + (row + i) * 4, (u32)value);
        });
        break;
    }
    case floats8: {
        const f64 power = decimal ? power_of_ten(part.tile.exponent) : 1;
        write_rows(part, values, [=](u32 i, u64 value) {
            if (decimal)
                store<f64>(to + (row + i) * 8, (f64)(i64)value / power);
            else
                store<u64>(to + (row + i) * 8, value);
        });
        break;
    }
    }
}

// write_wide copies values of 16 bytes.
template <typename Codes> DEVICE void write_wide(const PartOf<Codes> &part) {
    const u64 to = part.column.values + part.first_row() * 16;
    for (u32 i = thread_in_block(); i < 2 * part.rows; i += unpack_threads)
        store<u64>(to + (u64)i * 8, load<u64>(part.data + (u64)i * 8));
}

// unpack_values has a block for each tile.
KERNEL LAUNCH_BOUNDS(unpack_threads) unpack_values(const Column *columns, const Block *blocks, u32 *outcomes) {
    __shared__ Staged staged;
    Part part;
    if (!part.begin(columns, blocks, outcomes))
        return;
    part.write_validity();
    switch (part.tile.form) {
    case offsets:
        write_tile(part, Offsets<GlobalCodes>{part});
        return;
    case deltas:
        sum_deltas(part, staged);
        break;
    case runs:
        if (!find_runs(part, staged)) {
            if (thread_in_block() == 0)
                part.damage(outcomes);
            return;
        }
        break;
    case wide:
        write_wide(part);
        return;
    }
    write_tile(part, Decoded{staged});
}

// HostPart is a tile in host memory, the data of which is copied to shared memory first: so it comes over the link once,
// by requests of whole warps.
struct HostPart : PartOf<SharedCodes> {
    METHOD bool begin(const Column *columns, const Block *blocks, u32 *outcomes, Pair *shared) {
        if (!PartOf<SharedCodes>::begin(columns, blocks, outcomes))
            return false;
        if (tile.form == wide)
            return true;
        const u32 skipped = data & 15, most = 8 * run_words + code_bytes(tile_rows, tile.width) + 8;
        const u32 length = skipped + minimum(most, block.length - tile.data);
        const u64 from = data - skipped;
        for (u32 i = thread_in_block(); i * 16 < length; i += unpack_threads)
            shared[i] = i * 16 + 16 <= length ? load<Pair>(from + (u64)i * 16) : Pair{load<u64>(from + (u64)i * 16), 0};
        codes.words = (const u64 *)shared + skipped / 8;
        synchronize_block();
        return true;
    }
};

// unpack_words is unpack_values for words in host memory.
KERNEL LAUNCH_BOUNDS(unpack_threads) unpack_words(const Column *columns, const Block *blocks, u32 *outcomes) {
    __shared__ Staged staged;
    __shared__ Pair data[tile_rows / 2 + run_words / 2 + 2];
    HostPart part;
    if (!part.begin(columns, blocks, outcomes, data))
        return;
    switch (part.tile.form) {
    case offsets:
        write_words(part, Offsets<SharedCodes>{part});
        return;
    case deltas:
        sum_deltas(part, staged);
        break;
    case runs:
        if (!find_runs(part, staged)) {
            if (thread_in_block() == 0)
                part.damage(outcomes);
            return;
        }
        break;
    case wide:
        write_wide(part);
        return;
    }
    write_words(part, Decoded{staged});
}
