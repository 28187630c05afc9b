// Words of device memory are packed as tiles, without their meaning: see words.go.
#include "block.cuh"

static constexpr u32 warps = unpack_threads / warp_threads;
static constexpr u32 gain = 8; // of forms other than offsets: choose.go
static constexpr i64 most = 0x7fffffffffffffff;

// Source is a block to pack: Source of words.go.
struct Source {
    u64 from; // address of its words
    u64 to;   // address of the packed block
    u32 rows;
    u32 kind;
};

// TileWords are the words of a tile.
struct TileWords {
    Source source;
    u32 index; // of the tile
    u32 rows;

    // begin returns whether the tile exists.
    METHOD bool begin(const Source *sources) {
        source = sources[block_in_grid() / tiles_per_block];
        index = block_in_grid() % tiles_per_block;
        if (index * tile_rows >= source.rows)
            return false;
        rows = minimum(tile_rows, source.rows - index * tile_rows);
        return true;
    }

    METHOD u64 address(u32 i, u32 bytes) const { return source.from + (u64)(index * tile_rows + i) * bytes; }

    // at returns a word with its sign. wide is set if it has more than 64 bits.
    METHOD i64 at(u32 i, bool &wide) const {
        switch (source.kind) {
        case integers1:
            return load<i8>(address(i, 1));
        case integers2:
            return load<i16>(address(i, 2));
        case integers4:
            return load<i32>(address(i, 4));
        case decimals: {
            const Pair pair = load<Pair>(address(i, 16));
            wide |= (i64)pair[1] != (i64)pair[0] >> 63;
            return pair[0];
        }
        }
        return load<i64>(address(i, 8));
    }

    // stage loads the words into shared memory. Behind the last one it is repeated. It returns whether one of the
    // thread's words is wide.
    METHOD bool stage(Staged &staged) const {
        bool wide = false;
        u64 loaded[rows_per_thread];
#pragma unroll
        for (u32 k = 0; k < rows_per_thread; k++)
            loaded[k] = at(minimum(thread_in_block() + k * unpack_threads, rows - 1), wide);
#pragma unroll
        for (u32 k = 0; k < rows_per_thread; k++)
            staged.values[thread_in_block() + k * unpack_threads] = loaded[k];
        synchronize_block();
        return wide;
    }
};

// Shape decides the form of a tile.
struct Shape {
    i64 low, high;       // of the words
    i64 least, greatest; // of the differences of neighbours
    u32 runs, wide;
};

struct Shapes {
    METHOD Shape none() const { return {most, ~most, most, ~most, 0, 0}; }
    METHOD Shape fold(const Shape &a, const Shape &b) const {
        return {a.low < b.low ? a.low : b.low,
                a.high > b.high ? a.high : b.high,
                a.least < b.least ? a.least : b.least,
                a.greatest > b.greatest ? a.greatest : b.greatest,
                a.runs + b.runs,
                a.wide | b.wide};
    }
};

// remainder and quotient divide by 32 bits if they can: that takes a fraction of the time.
DEVICE u64 remainder(u64 a, u64 b) { return ((a | b) >> 32) == 0 ? (u32)a % (u32)b : a % b; }
DEVICE u64 quotient(u64 a, u64 b) { return ((a | b) >> 32) == 0 ? (u32)a / (u32)b : a / b; }

// Divisors folds numbers to their greatest common divisor.
struct Divisors {
    METHOD u64 none() const { return 0; }
    METHOD u64 fold(u64 a, u64 b) const {
#pragma nounroll
        while (b != 0) {
            const u64 rest = remainder(a, b);
            a = b;
            b = rest;
        }
        return a;
    }
};

DEVICE u32 width_of(u64 greatest) { return greatest == 0 ? 0 : 64 - (u32)__builtin_clzll(greatest); }

// shape_of finds the shape of a tile. All threads get it.
DEVICE Shape shape_of(const TileWords &words, const Staged &staged, bool wide, Shape *shared) {
    const Shapes shapes;
    Shape shape = shapes.none();
    shape.wide = wide;
#pragma unroll
    for (u32 k = 0; k < rows_per_thread; k++) {
        const u32 i = thread_in_block() + k * unpack_threads;
        const i64 value = staged.values[i], before = staged.values[i == 0 ? 0 : i - 1];
        const i64 difference = (i64)((u64)value - (u64)before);
        const bool follows = i > 0 && i < words.rows;
        shape = shapes.fold(shape, {value, value, follows ? difference : most, follows ? difference : ~most, value != before, 0});
    }
    Shape all;
    block_fold_before<warps>(warp_fold(shape, shapes), shared, all, shapes);
    all.runs++; // the first one
    return all;
}

// common_factor finds the greatest number of which all differences to the least word are multiples.
DEVICE u64 common_factor(const Staged &staged, u64 low, u64 span, u64 *shared) {
    const Divisors divisors;
    u64 factor = span;
#pragma nounroll
    for (u32 k = 0; k < rows_per_thread && factor > 1; k++) {
        const u64 rest = remainder(staged.values[thread_in_block() + k * unpack_threads] - low, factor);
        if (rest != 0)
            factor = divisors.fold(factor, rest);
    }
    u64 all;
    block_fold_before<warps>(warp_fold(factor, divisors), shared, all, divisors);
    return all;
}

// measure_words finds the forms of tiles, as tileWriter.write of choose.go does, a block for each. The place of their
// data is the length of it.
KERNEL LAUNCH_BOUNDS(unpack_threads) measure_words(const Source *sources, u64 tiles) {
    __shared__ Staged staged;
    __shared__ Shape shapes[warps];
    TileWords words;
    if (!words.begin(sources))
        return;
    const bool is_wide = words.stage(staged);
    const Shape shape = shape_of(words, staged, is_wide, shapes);
    const u64 span = (u64)shape.high - (u64)shape.low;
    Form form = offsets;
    u64 reference = shape.low, factor = 0;
    u32 width = 0, length = 0;
    if (shape.wide != 0) {
        form = wide;
        reference = 0;
        factor = 1;
        length = 16 * words.rows;
    } else if (span != 0) {
        factor = common_factor(staged, shape.low, span, staged.sums);
        width = width_of(quotient(span, factor));
        u32 bits = words.rows * width;
        bits -= bits / gain + 1;
        const u32 marked = 64 * run_words + shape.runs * width;
        const bool steps = words.rows > 1 && span < 1ull << 62;
        const u32 step = steps ? width_of((u64)shape.greatest - (u64)shape.least) : 64;
        length = code_bytes(words.rows, width);
        if (words.rows * step < bits && words.rows * step <= marked) {
            form = deltas;
            width = step;
            factor = shape.least;
            reference = staged.values[0] - factor;
            length = code_bytes(words.rows, width);
        } else if (marked < bits) {
            form = runs;
            length = 8 * run_words + code_bytes(shape.runs, width);
        }
    }
    if (thread_in_block() != 0)
        return;
    const u64 to = tiles + (u64)block_in_grid() * sizeof(Tile);
    store<u64>(to, reference);
    store<u64>(to + 8, factor);
    store<u64>(to + 16, (u64)none << 32 | length);
    store<u64>(to + 24, (u64)as_bits << 48 | (u64)width << 40 | (u64)form << 32);
}

// write_codes writes codes in shared memory, a word of them a thread.
DEVICE void write_codes(const Staged &staged, u32 count, u32 width, u64 to) {
    const u32 words = code_bytes(count, width) / 8;
#pragma nounroll
    for (u32 w = thread_in_block(); w < words; w += unpack_threads) {
        u32 i = w * 64 / width;
        i32 bit = (i32)(i * width) - (i32)(w * 64);
        u64 word = staged.values[i] >> -bit;
#pragma nounroll
        for (bit += width, i++; bit < 64 && i < count; bit += width, i++)
            word |= staged.values[i] << bit;
        store<u64>(to + (u64)w * 8, word);
    }
}

// pack_words writes the data of tiles by the descriptions in their blocks.
KERNEL LAUNCH_BOUNDS(unpack_threads) pack_words(const Source *sources) {
    __shared__ Staged staged;
    TileWords words;
    if (!words.begin(sources))
        return;
    const u64 at = words.source.to + (u64)words.index * sizeof(Tile);
    const u64 reference = load<u64>(at), factor = load<u64>(at + 8), to = words.source.to + load<u32>(at + 16), rest = load<u64>(at + 24);
    const u32 form = (u8)(rest >> 32), width = (u8)(rest >> 40);
    if (form == wide) {
        for (u32 i = thread_in_block(); i < words.rows; i += unpack_threads)
            store<Pair>(to + (u64)i * 16, load<Pair>(words.address(i, 16)));
        return;
    }
    if (width == 0)
        return;
    words.stage(staged);
    if (form == runs) {
        const u32 first = thread_in_block() * rows_per_thread;
        u64 values[rows_per_thread];
        u32 marks = 0;
        u64 before = staged.values[first == 0 ? 0 : first - 1];
#pragma unroll
        for (u32 k = 0; k < rows_per_thread; k++) {
            values[k] = staged.values[first + k];
            marks |= (u32)(values[k] != before || first + k == 0) << k;
            before = values[k];
        }
        const Sum<u64> sum;
        const u64 scanned = warp_scan((u64)__builtin_popcount(marks), sum);
        u64 count;
        u32 run = (u32)(block_fold_before<warps>(shuffle_value(scanned, warp_threads - 1), staged.sums, count, sum) + before_lane(scanned, sum));
        store<u8>(to + thread_in_block(), (u8)marks);
#pragma unroll
        for (u32 k = 0; k < rows_per_thread; k++)
            if ((marks >> k & 1) != 0)
                staged.values[run++] = quotient(values[k] - reference, factor);
        synchronize_warp();
        synchronize_block();
        write_codes(staged, (u32)count, width, to + 8 * run_words);
        return;
    }
    u64 codes[rows_per_thread];
#pragma unroll
    for (u32 k = 0; k < rows_per_thread; k++) {
        const u32 i = thread_in_block() + k * unpack_threads;
        if (form == deltas)
            codes[k] = i == 0 ? 0 : staged.values[i] - staged.values[i - 1] - factor;
        else
            codes[k] = factor == 1 ? staged.values[i] - reference : quotient(staged.values[i] - reference, factor);
    }
    synchronize_block();
#pragma unroll
    for (u32 k = 0; k < rows_per_thread; k++)
        staged.values[thread_in_block() + k * unpack_threads] = codes[k];
    synchronize_block();
    write_codes(staged, words.rows, width, to);
}
