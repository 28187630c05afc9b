// The ends of the fields of delimited text.
//
// A separator, which is a delimiter or a line end, is one if the number of quotes before it is even. A tile counts its
// separators for both cases; a scan of the tiles finds which one holds, and how many separators are before each tile.
// Then each tile writes the places of its separators.
#include "delimited.cuh"

static constexpr u32 thread_bytes = 32, tile_threads = 256, tile_bytes = tile_threads * thread_bytes, tile_warps = tile_threads / warp_threads;

// Tile has the counts of a tile, and then those of the tiles before it.
struct Tile {
    // counts are the numbers of fields and of rows that end, if the tile begins outside of quotes and if it begins
    // within. Each has 16 bits: fields outside, fields within, rows outside, rows within. Before the tile they are the
    // numbers of fields and of rows of 32 bits each.
    u64 counts;
    u32 odd; // whether the number of quotes is odd
    u32 padding;
};

DEVICE u64 exchanged(u64 counts) { return (counts & 0x0000ffff0000ffff) << 16 | (counts >> 16 & 0x0000ffff0000ffff); }

// equal_bytes returns a bit for each byte of a word that equals the byte of a pattern.
DEVICE u32 equal_bytes(u32 word, u32 pattern) {
    const u32 other = word ^ pattern;
    const u32 high = ~((other & 0x7f7f7f7f) + 0x7f7f7f7f | other) & 0x80808080;
    return (high >> 7) * 0x01020408 >> 24;
}

// Marks are the bytes of a thread that matter: a bit for each. Lines without contents are left out if rows have several
// fields. edges are the bytes that may stand next to a quote.
struct Marks {
    u32 quotes, lines, separators, edges;
};

// is_empty reports whether the line that ends at a place has no contents.
DEVICE bool is_empty(const u8 *text, u32 at) {
    if (at == 0 || text[at - 1] == '\n')
        return true;
    return text[at - 1] == '\r' && (at == 1 || text[at - 2] == '\n');
}

DEVICE Marks marks_of(const Text &text, u32 at) {
    Marks marks = {0, 0, 0, 0};
    if (at >= text.length)
        return marks;
    const Vector<u32, 4> *words = (const Vector<u32, 4> *)(text.bytes + at);
    const u32 delimiters = text.delimiter * 0x01010101;
#pragma unroll
    for (u32 v = 0; v < thread_bytes / 16; v++) {
        const Vector<u32, 4> four = words[v];
#pragma unroll
        for (u32 i = 0; i < 4; i++) {
            const u32 shift = 16 * v + 4 * i;
            marks.quotes |= equal_bytes(four.lane[i], 0x22222222) << shift;
            marks.lines |= equal_bytes(four.lane[i], 0x0a0a0a0a) << shift;
            marks.separators |= equal_bytes(four.lane[i], delimiters) << shift;
        }
    }
    if (text.length - at < thread_bytes) {
        const u32 within = below(text.length - at);
        marks.quotes &= within, marks.lines &= within, marks.separators &= within;
    }
    marks.edges = marks.quotes | marks.lines | marks.separators;
    if (text.width > 1)
        for (u32 left = marks.lines; left != 0; left &= left - 1)
            if (is_empty(text.bytes, at + __builtin_ctz(left)))
                marks.lines &= ~(left & -left);
    marks.separators |= marks.lines;
    return marks;
}

// parities returns bit i: whether the number of bits up to i is odd.
DEVICE u32 parities(u32 bits) {
    bits ^= bits << 1;
    bits ^= bits << 2;
    bits ^= bits << 4;
    bits ^= bits << 8;
    return bits ^ bits << 16;
}

// count_separators counts the fields and rows that end in each tile, a block for each.
KERNEL LAUNCH_BOUNDS(256) count_separators(Tile *tiles, Text text) {
    __shared__ u64 counted[tile_warps];
    __shared__ u32 odd[tile_warps];
    const Marks marks = marks_of(text, block_in_grid() * tile_bytes + thread_in_block() * thread_bytes);
    const u32 inside = parities(marks.quotes), lane = lane_in_warp(), warp = thread_in_block() / warp_threads;
    const u64 outer = (u64)__builtin_popcount(marks.separators & ~inside) | (u64)__builtin_popcount(marks.lines & ~inside) << 32;
    const u64 inner = (u64)__builtin_popcount(marks.separators & inside) | (u64)__builtin_popcount(marks.lines & inside) << 32;
    u64 counts = outer | inner << 16;
    const u32 quoted = ballot(is_odd(marks.quotes) != 0);
    if (is_odd(quoted & below(lane)) != 0)
        counts = exchanged(counts);
    counts = warp_fold(counts, Sum<u64>());
    if (lane == 0) {
        counted[warp] = counts;
        odd[warp] = is_odd(quoted);
    }
    synchronize_block();
    if (thread_in_block() != 0)
        return;
    Tile tile = {0, 0, 0};
    for (u32 i = 0; i < tile_warps; i++) {
        tile.counts += tile.odd != 0 ? exchanged(counted[i]) : counted[i];
        tile.odd ^= odd[i];
    }
    tiles[block_in_grid()] = tile;
}

static constexpr u32 scan_threads = 1024, scan_warps = scan_threads / warp_threads;

// scan_tiles replaces tiles by their starts. One block.
KERNEL LAUNCH_BOUNDS(1024) scan_tiles(Tile *tiles, u32 count, Outcome *outcome, Text text) {
    __shared__ u64 sums[scan_warps];
    __shared__ u32 odd[scan_warps];
    const u32 lane = lane_in_warp(), warp = thread_in_block() / warp_threads;
    u32 state = 0;
    u64 before = 0; // rows in the high word
    for (u32 first = 0; first < count; first += scan_threads) {
        const u32 i = first + thread_in_block();
        Tile tile = {0, 0, 0};
        if (i < count)
            tile = tiles[i];
        const u32 quoted = ballot(tile.odd != 0);
        if (lane == 0)
            odd[warp] = is_odd(quoted);
        synchronize_block();
        const u32 quoted_warps = ballot(odd[lane] != 0);
        const u32 inside = state ^ is_odd(quoted & below(lane)) ^ is_odd(quoted_warps & below(warp));
        const u64 counts = inside != 0 ? tile.counts >> 16 : tile.counts;
        const u64 value = counts & 0x0000ffff0000ffff;
        const u64 scanned = warp_scan(value, Sum<u64>());
        u64 total;
        const u64 place = before + block_fold_before<scan_warps>(shuffle_value(scanned, warp_threads - 1), sums, total, Sum<u64>()) + scanned - value;
        if (i < count)
            tiles[i] = Tile{place, inside, 0};
        before += total;
        state ^= is_odd(quoted_warps);
    }
    if (thread_in_block() != 0)
        return;
    u32 faults = 0;
    if (state != 0)
        faults |= bad_quote;
    if ((u32)(before >> 32) != text.rows)
        faults |= bad_count;
    if ((u32)before != (u64)text.rows * text.width)
        faults |= bad_width;
    *outcome = Outcome{faults, faults != 0};
}

// ends_quoted reports whether the byte at a place may follow the closing quote of a field, apart from separators and
// quotes.
DEVICE bool ends_quoted(const Text &text, u32 at) { return at + 1 < text.length && text.bytes[at] == '\r' && text.bytes[at + 1] == '\n'; }

// check_quotes checks that quotes begin and end whole fields. inside are the bytes before which the number of quotes is
// odd.
DEVICE bool check_quotes(const Text &text, const Marks &marks, u32 at, u32 inside) {
    const u32 lane = lane_in_warp(), edges = marks.edges;
    u32 before = shuffle_value_up(edges, 1) >> 31, behind = shuffle_down(edges, 1) & 1;
    if (ballot(marks.quotes != 0) == 0)
        return true;
    if (lane == 0) {
        before = 1;
        if (at > 0 && at <= text.length) {
            const u8 c = text.bytes[at - 1];
            before = c == '"' || c == '\n' || c == text.delimiter;
        }
    }
    if (lane == warp_threads - 1) {
        behind = 0;
        if (at < text.length && text.length - at > thread_bytes) {
            const u8 c = text.bytes[at + thread_bytes];
            behind = c == '"' || c == '\n' || c == text.delimiter;
        }
    }
    const u32 opening = marks.quotes & ~inside, closing = marks.quotes & inside;
    bool ok = (opening & ~(edges << 1 | before)) == 0;
    for (u32 left = closing & ~(edges >> 1 | behind << 31); left != 0; left &= left - 1)
        ok = ok && ends_quoted(text, at + __builtin_ctz(left) + 1);
    return ok;
}

// write_separators writes the place of the end of each field, a block for each tile.
KERNEL LAUNCH_BOUNDS(256) write_separators(const Tile *tiles, u32 *ends, Outcome *outcome, Text text) {
    __shared__ u32 odd[tile_warps], sums[tile_warps];
    if (outcome->refused != 0)
        return;
    const u32 at = block_in_grid() * tile_bytes + thread_in_block() * thread_bytes;
    const Marks marks = marks_of(text, at);
    const Tile before = tiles[block_in_grid()];
    const u32 lane = lane_in_warp(), warp = thread_in_block() / warp_threads;
    const u32 quoted = ballot(is_odd(marks.quotes) != 0);
    if (lane == 0)
        odd[warp] = is_odd(quoted);
    synchronize_block();
    u32 state = before.odd ^ is_odd(quoted & below(lane));
    for (u32 i = 0; i < warp; i++)
        state ^= odd[i];
    const u32 inside = parities(marks.quotes) ^ (0 - state);
    if (!check_quotes(text, marks, at, inside ^ marks.quotes))
        fault(outcome, bad_quote);
    const u32 separators = marks.separators & ~inside, lines = marks.lines & ~inside;
    const u32 value = __builtin_popcount(separators) | __builtin_popcount(lines) << 16;
    const u32 scanned = warp_scan(value, Sum<u32>());
    u32 total;
    const u32 place = block_fold_before<tile_warps>(shuffle_value(scanned, warp_threads - 1), sums, total, Sum<u32>()) + scanned - value;
    u32 field = (u32)before.counts + (place & 0xffff), row = (u32)(before.counts >> 32) + (place >> 16);
    bool ok = true;
    for (u32 left = separators; left != 0; left &= left - 1, field++) {
        const u32 bit = __builtin_ctz(left);
        ends[field] = at + bit;
        if ((lines >> bit & 1) != 0)
            ok = ok && (u64)++row * text.width == (u64)field + 1;
    }
    if (!ok)
        fault(outcome, bad_width);
}
