// Values of rows from plain values, from bytes that are apart and from differences: see doc.go.
#include "tiles.cuh"

template <typename T> DEVICE void store_value(u64 to, const T &value) {
    if constexpr (sizeof(T) == 16) {
        store<u64>(to, value.low);
        store<u64>(to + 8, value.high);
    } else
        store<T>(to, value);
}

DEVICE Wide extended(i64 value) { return Wide{(u64)value, (u64)(value >> 63)}; }

// Plain has the bytes of values, which follow each other from any address on.
struct Plain {
    u64 from;
    METHOD u32 word(u32 i) const { return load_word(from + (u64)i * 4); }
    METHOD u64 bytes(u32 i) const { return load_bytes(from + (u64)i * 8); }
    METHOD u8 byte(u32 i, u32 k, u32 width) const { return load<u8>(from + (u64)i * width + k); }
    METHOD u64 half(u32 i, u32 k) const { return load_bytes(from + (u64)i * 16 + 8 * k); } // of 16 bytes
};

// Aligned is Plain for values at multiples of their length.
struct Aligned {
    u64 from;
    METHOD u32 word(u32 i) const { return load<u32>(from + (u64)i * 4); }
    METHOD u64 bytes(u32 i) const { return load<u64>(from + (u64)i * 8); }
};

// Split has values of which the first bytes come first, then the second ones, and so on.
struct Split {
    u64 from;
    u32 values;
    METHOD u8 byte(u32 i, u32 k, u32) const { return load<u8>(from + (u64)k * values + i); }
    METHOD u64 part(u32 i, u32 first, u32 count) const {
        u64 value = 0;
#pragma unroll
        for (u32 k = 0; k < count; k++)
            value |= (u64)byte(i, first + k, 0) << 8 * k;
        return value;
    }
    METHOD u32 word(u32 i) const { return (u32)part(i, 0, 4); }
    METHOD u64 bytes(u32 i) const { return part(i, 0, 8); }
    METHOD u64 half(u32 i, u32 k) const { return part(i, 8 * k, 8); }
};

// Conversions of value i of a source.
template <typename Source> struct Copied4 {
    Source source;
    METHOD u32 at(u32 i) const { return source.word(i); }
};

template <typename Source> struct Copied8 {
    Source source;
    METHOD u64 at(u32 i) const { return source.bytes(i); }
};

template <typename Source> struct Copied2 {
    Source source;
    METHOD u16 at(u32 i) const { return (u16)(source.byte(i, 0, 2) | (u32)source.byte(i, 1, 2) << 8); }
};

template <typename Source> struct Copied16 {
    Source source;
    METHOD Wide at(u32 i) const { return Wide{source.half(i, 0), source.half(i, 1)}; }
};

template <typename Source, typename T> struct Narrowed {
    Source source;
    METHOD T at(u32 i) const { return (T)source.word(i); }
};

template <typename Source> struct Decimal32 {
    Source source;
    METHOD Wide at(u32 i) const { return extended((i32)source.word(i)); }
};

template <typename Source> struct Decimal64 {
    Source source;
    METHOD Wide at(u32 i) const { return extended((i64)source.bytes(i)); }
};

// DecimalBytes has numbers of up to 16 bytes, the greatest first.
template <typename Source> struct DecimalBytes {
    Source source;
    u32 width;
    METHOD Wide at(u32 i) const {
        const u64 sign = (u64)((i64)(i8)source.byte(i, 0, width) >> 63);
        Wide value = {sign, sign};
#pragma nounroll
        for (u32 k = 0; k < width; k++) {
            value.high = value.high << 8 | value.low >> 56;
            value.low = value.low << 8 | source.byte(i, k, width);
        }
        return value;
    }
};

// Instants are nanoseconds of the day and the Julian day: see pages/int96.go.
struct Instants {
    u64 from;
    i64 unit; // of a second
    METHOD u64 at(u32 i) const {
        const i64 nanosecond = (i64)load_bytes(from + (u64)i * 12), day = (i32)load_word(from + (u64)i * 12 + 8);
        i64 second = nanosecond / 1000000000, rest = nanosecond % 1000000000;
        if (rest < 0)
            second--, rest += 1000000000;
        second += (day - 2440588) * 86400;
        rest /= 1000000000 / unit;
        // second * unit + rest, if 64 bits hold it. A negative second is counted from the next one on, so
        // that the product is no less than the sum.
        if (second < 0)
            second++, rest -= unit;
        const i64 high = __nvvm_mulhi_ll(second, unit);
        const i64 low = second * unit;
        const i64 sum = (i64)((u64)low + (u64)rest);
        if (high != low >> 63 || (rest < 0 ? sum > low : sum < low))
            return no_instant;
        return (u64)sum;
    }
};

// copy is write for plain values, of which a warp loads those of four words at the same time: those of null rows
// too, in place of which it loads the first one.
template <typename Values> DEVICE void copy(const Page &page, u32 first, bool nulls, Values values) {
    using T = decltype(values.at(0));
    Span words(page, first);
#pragma unroll 4
    for (u64 w = words.word; w < words.end; w += tile_threads / warp_threads) {
        const Place p = place_of(page, w, nulls);
        const T value = values.at(p.valid ? p.rank : 0);
        if (p.within)
            store<T>(page.to + (page.row + p.row) * sizeof(T), p.valid ? value : 0);
    }
}

// write writes the values of the rows of a tile, and zeros for nulls.
template <typename Values> DEVICE void write(const Page &page, u32 first, bool nulls, Values values) {
    using T = decltype(values.at(0));
    Span words(page, first);
#pragma nounroll
    for (u64 w = words.word; w < words.end; w += tile_threads / warp_threads) {
        const Place p = place_of(page, w, nulls);
        T value = {};
        if (p.valid)
            value = values.at(p.rank);
        if (p.within)
            store_value<T>(page.to + (page.row + p.row) * sizeof(T), value);
    }
}

// write_instants also makes rows null if the type does not hold their value.
template <typename Values> DEVICE void write_instants(const Page &page, Outcome *outcome, u32 first, bool nulls, Values values) {
    Span words(page, first);
#pragma nounroll
    for (u64 w = words.word; w < words.end; w += tile_threads / warp_threads) {
        const Place p = place_of(page, w, nulls);
        u64 value = 0;
        if (p.valid)
            value = values.at(p.rank);
        write_instant(page, outcome, w, p, value);
    }
}

// write_bits writes booleans, which are bits.
DEVICE void write_bits(const Page &page, u32 first, bool nulls, u64 from) {
    Span words(page, first);
#pragma nounroll
    for (u64 w = words.word; w < words.end; w += tile_threads / warp_threads) {
        const Place p = place_of(page, w, nulls);
        bool value = false;
        if (p.valid)
            value = (load<u8>(from + p.rank / 8) >> p.rank % 8 & 1) != 0;
        const u32 bits = ballot(value), mask = ballot(p.within);
        if (lane_in_warp() == 0)
            write_word(page.to + 4 * w, mask, bits);
    }
}

// Part is a tile with its page.
struct Part {
    Page page;
    Outcome *outcome;
    u32 first;
    bool nulls;
    u64 from; // values

    // begin returns whether the page and its dictionary are without damage so far.
    METHOD bool begin(const Page *pages, Outcome *outcomes, const Tile *tiles) {
        const Tile tile = tiles[block_in_grid()];
        page = pages[tile.page];
        outcome = outcomes + tile.page;
        first = tile.first;
        const u32 valid = outcome->valid;
        nulls = valid != page.rows;
        if (outcome->status != 0)
            return false;
        if (is_direct_delta(page, valid))
            return false; // decode_deltas wrote the values
        from = page.encoding == delta ? page.dense : page.bytes + outcome->begin;
        if (page.encoding == delta)
            return true;
        const u64 length = page.length - outcome->begin;
        const bool fits = page.form == boolean ? (u64)valid <= length * 8 : valid <= length / value_bytes(page);
        if (!fits || page.encoding == split && length % value_bytes(page) != 0) {
            if (thread_in_block() == 0)
                damage(outcome, cut);
            return false;
        }
        return true;
    }
};

template <typename Source> DEVICE void convert(const Part &part, Source source) {
    const Page &page = part.page;
    switch (page.form) {
    case copied4:
        write(page, part.first, part.nulls, Copied4<Source>{source});
        break;
    case copied8:
        write(page, part.first, part.nulls, Copied8<Source>{source});
        break;
    case copied2:
        write(page, part.first, part.nulls, Copied2<Source>{source});
        break;
    case copied16:
        write(page, part.first, part.nulls, Copied16<Source>{source});
        break;
    case narrowed1:
        write(page, part.first, part.nulls, Narrowed<Source, u8>{source});
        break;
    case narrowed2:
        write(page, part.first, part.nulls, Narrowed<Source, u16>{source});
        break;
    case decimal32:
        write(page, part.first, part.nulls, Decimal32<Source>{source});
        break;
    case decimal64:
        write(page, part.first, part.nulls, Decimal64<Source>{source});
        break;
    case decimal_bytes:
        write(page, part.first, part.nulls, DecimalBytes<Source>{source, page.width});
    }
}

// The kernels write the values of the rows of tiles, a block for each.

// write_copied writes values that a file has as the column has them.
KERNEL LAUNCH_BOUNDS(128) write_copied(const Page *pages, Outcome *outcomes, const Tile *tiles) {
    Part part;
    if (!part.begin(pages, outcomes, tiles))
        return;
    const bool whole = part.from % (part.page.form == copied4 ? 4 : 8) == 0;
    if (part.page.form == copied4 && whole)
        copy(part.page, part.first, part.nulls, Copied4<Aligned>{{part.from}});
    else if (part.page.form == copied4)
        copy(part.page, part.first, part.nulls, Copied4<Plain>{{part.from}});
    else if (whole)
        copy(part.page, part.first, part.nulls, Copied8<Aligned>{{part.from}});
    else
        copy(part.page, part.first, part.nulls, Copied8<Plain>{{part.from}});
}

// write_converted writes values of other plain forms.
KERNEL LAUNCH_BOUNDS(128) write_converted(const Page *pages, Outcome *outcomes, const Tile *tiles) {
    Part part;
    if (!part.begin(pages, outcomes, tiles))
        return;
    if (part.page.form == boolean)
        write_bits(part.page, part.first, part.nulls, part.from);
    else if (part.page.form == instant)
        write_instants(part.page, part.outcome, part.first, part.nulls, Instants{part.from, (i64)part.page.width});
    else
        convert(part, Plain{part.from});
}

// write_split writes values with bytes that are apart.
KERNEL LAUNCH_BOUNDS(128) write_split(const Page *pages, Outcome *outcomes, const Tile *tiles) {
    Part part;
    if (part.begin(pages, outcomes, tiles))
        convert(part, Split{part.from, (u32)((part.page.length - part.outcome->begin) / value_bytes(part.page))});
}
