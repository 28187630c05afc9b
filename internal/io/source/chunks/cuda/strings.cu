// Strings of pages: see strings.go. The places of a page's strings are the lengths of the ones before: string k of
// those with a value has the bytes from place k to place k + 1.
#include "tiles.cuh"

// Chain follows the lengths of plain strings, each of which is behind the one before.
struct Chain {
    u64 from;
    u32 length; // of the page's strings

    // next returns the place behind a string, or none if it is not within the page.
    METHOD u32 next(u32 at) const {
        if (at > length || length - at < 4)
            return none;
        const u32 size = load_word(from + at);
        return size > length - at - 4 ? none : at + 4 + size;
    }

    // plausible reports whether a few strings could follow each other.
    METHOD bool plausible(u32 at) const {
#pragma nounroll
        for (u32 i = 0; i < 4 && at != length; i++) {
            at = next(at);
            if (at == none)
                return false;
        }
        return true;
    }

    // guess returns the place from at on, before end, where a string seems to begin, or none. Bytes of texts are
    // lengths beyond the page. The byte before a length makes a length with it that is 256 times as long or more, so
    // the shortest string of a few places is the true one.
    METHOD u32 guess(u32 at, u32 end) const {
#pragma nounroll
        for (; at < end; at++) {
            if (!plausible(at))
                continue;
            u32 best = at;
#pragma nounroll
            for (u32 i = at + 1; i < at + 4; i++)
                if (next(i) - i < next(best) - best && plausible(i))
                    best = i;
            return best;
        }
        return none;
    }
};

static constexpr u32 chains = 128, least_segment = 128, most_guessed = 1024;

// Segment is a part of a page, of which a thread follows the strings that begin there.
struct Segment {
    u32 begin, end; // places of the first string and behind the last one
    u32 strings;
    u32 before; // strings of the page before the segment
};

// join_segments finds the first string of each segment and the number of those before. It follows the strings of a segment
// again if the guess of its first one was wrong. It returns the damage of the page.
DEVICE u32 join_segments(Segment *segments, const Chain &chain, u32 bytes, u32 valid) {
    u32 place = 0, k = 0, status = 0;
#pragma nounroll
    for (u32 s = 0; s < chains; s++) {
        const u64 behind = (u64)(s + 1) * bytes;
        const u32 stop = behind < chain.length ? (u32)behind : chain.length;
        Segment &segment = segments[s];
        const u32 guess = segment.begin;
        segment.begin = place;
        segment.before = k < valid ? k : valid;
        if (guess == place) {
            place = segment.end;
            k += segment.strings;
        }
#pragma nounroll
        while (place < stop && k < valid) {
            const u32 next = chain.next(place);
            if (next == none) {
                status = chain.length - place < 4 ? cut : bad_length;
                k = valid;
                break;
            }
            place = next;
            k++;
        }
    }
    return k < valid ? cut : status;
}

// follow_lengths finds the places of the plain strings of listed pages, a block for each. A thread guesses where the
// first string of its segment begins, and follows the lengths from there. When the segments are joined, it follows
// them again and writes the places.
KERNEL LAUNCH_BOUNDS(128) follow_lengths(const Page *pages, Outcome *outcomes, const u32 *listed) {
    __shared__ Segment segments[chains];
    __shared__ u32 status;
    const u32 number = listed[block_in_grid()];
    const Page page = pages[number];
    Outcome *const outcome = outcomes + number;
    if (outcome->status != 0)
        return;
    const u32 valid = outcome->valid, own = thread_in_block();
    const Chain chain = {page.bytes + outcome->begin, page.length - outcome->begin};
    const u32 share = chain.length / chains + 1, bytes = share < least_segment ? least_segment : share;
    const u64 first = (u64)own * bytes, limit = first + bytes;
    const u32 end = limit < chain.length ? (u32)limit : chain.length;
    u32 at = own == 0 ? 0 : first < end ? chain.guess((u32)first, minimum(end, (u32)first + most_guessed)) : none;
    const u32 begin = at;
    u32 strings = 0;
#pragma nounroll
    while (at < end) {
        const u32 next = chain.next(at);
        if (next == none)
            break;
        at = next;
        strings++;
    }
    segments[own] = Segment{begin, at, strings, 0};
    synchronize_block();
    if (own == 0)
        status = join_segments(segments, chain, bytes, valid);
    synchronize_block();
    if (status != 0) {
        if (own == 0)
            damage(outcome, status);
        return;
    }
    at = segments[own].begin;
    u32 k = segments[own].before;
    const bool writes = k < valid || valid == 0 && own == 0;
#pragma nounroll
    while (at < end && k < valid) {
        const u32 next = chain.next(at);
        if (next == none)
            break;
        store<u32>(page.places + 4 * (u64)k, at - 4 * k);
        at = next;
        k++;
    }
    if (writes && k == valid) {
        store<u32>(page.places + 4 * (u64)valid, at - 4 * valid);
        outcome->bytes = at - 4 * valid;
    }
}

static constexpr u32 sum_threads = 256, each = 8;

// sum_lengths finds the places of the strings of listed pages by their indices in the dictionary or by their lengths, a
// block for each.
KERNEL LAUNCH_BOUNDS(256) sum_lengths(const Page *pages, Outcome *outcomes, const u32 *listed) {
    __shared__ u64 sums[sum_threads / warp_threads];
    const u32 number = listed[block_in_grid()];
    const Page page = pages[number];
    Outcome *const outcome = outcomes + number;
    if (outcome->status != 0 || page.dictionary != none && outcomes[page.dictionary].status != 0)
        return;
    const u32 valid = outcome->valid;
    const u64 dictionary = page.dictionary == none ? 0 : pages[page.dictionary].places;
    u64 before = 0;
#pragma nounroll
    for (u64 tile = 0; tile < valid; tile += sum_threads * each) {
        const u64 first = tile + thread_in_block() * each;
        u32 lengths[each];
        u64 own = 0;
#pragma unroll
        for (u32 i = 0; i < each; i++) {
            lengths[i] = 0;
            if (first + i < valid) {
                lengths[i] = load<u32>(page.dense + 4 * (first + i));
                if (page.encoding == indexed) {
                    const u64 at = dictionary + 4 * (u64)lengths[i];
                    lengths[i] = load<u32>(at + 4) - load<u32>(at);
                }
            }
            own += lengths[i];
        }
        const u64 scanned = warp_scan(own, Sum<u64>());
        u64 total;
        u64 place = before + block_fold_before<sum_threads / warp_threads>(shuffle_value(scanned, warp_threads - 1), sums, total, Sum<u64>());
        place += scanned - own;
        before += total;
#pragma unroll
        for (u32 i = 0; i < each; i++) {
            if (first + i < valid)
                store<u32>(page.places + 4 * (first + i), (u32)place);
            place += lengths[i];
        }
    }
    if (thread_in_block() != 0)
        return;
    store<u32>(page.places + 4 * (u64)valid, (u32)before);
    outcome->bytes = before;
    if (page.encoding == delta_lengths && before > page.length - outcome->data)
        damage(outcome, bad_length);
    else if (before > 0x7fffffff)
        damage(outcome, too_long);
}

// Strings is where the strings of a page go.
struct Strings {
    u64 offsets; // address of the offset of the first row
    u64 bytes;   // address of the first byte
    u64 base;    // offset of the first row
    u32 page;
    u32 last; // whether the column ends with the page
    u32 wide; // whether offsets have 64 bits
    u32 padding;

    METHOD void offset(u32 row, u64 place) const {
        if (wide != 0)
            store<u64>(offsets + 8 * (u64)row, base + place);
        else
            store<u32>(offsets + 4 * (u64)row, (u32)(base + place));
    }
};

// write_offsets writes the offsets of the rows of tiles, a block for each.
KERNEL LAUNCH_BOUNDS(128) write_offsets(const Page *pages, const Outcome *outcomes, const Tile *tiles, const Strings *strings) {
    const Tile tile = tiles[block_in_grid()];
    const Strings to = strings[tile.page];
    const Page page = pages[to.page];
    const Outcome outcome = outcomes[to.page];
    const bool nulls = outcome.valid != page.rows;
    Span words(page, tile.first);
#pragma unroll 2
    for (u64 w = words.word; w < words.end; w += tile_threads / warp_threads) {
        const Place p = place_of(page, w, nulls);
        if (!p.within)
            continue;
        to.offset(p.row, load<u32>(page.places + 4 * (u64)p.rank));
        if (to.last != 0 && p.row == page.rows - 1)
            to.offset(page.rows, outcome.bytes);
    }
}

// Source finds the bytes of a page's strings.
struct Source {
    u64 places, from;
    u32 gap; // bytes of the length before each string
    // Of indices: those, and the dictionary.
    u64 indices;

    METHOD Source(const Page *pages, const Page &page, const Outcome &outcome) {
        indices = 0;
        places = page.places;
        from = page.bytes + outcome.begin;
        gap = 4;
        if (page.encoding == indexed) {
            const Page &dictionary = pages[page.dictionary];
            indices = page.dense;
            places = dictionary.places;
            from = dictionary.bytes;
        } else if (page.encoding != plain) {
            from = page.bytes + outcome.data;
            gap = 0;
        }
    }
    METHOD u64 of(u32 k) const {
        if (indices != 0)
            k = load<u32>(indices + 4 * (u64)k);
        return from + load<u32>(places + 4 * (u64)k) + gap * ((u64)k + 1);
    }
};

// string_at returns the string with a byte, of the strings from low to before high.
DEVICE u32 string_at(u64 places, u32 low, u32 high, u32 byte) {
#pragma nounroll
    while (high - low > 1) {
        const u32 middle = low + (high - low) / 2;
        if (load<u32>(places + 4 * (u64)middle) <= byte)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static constexpr u32 byte_tile = 16384, byte_threads = 256;

// write_bytes writes the bytes of tiles of byte_tile bytes of a page, a block for each: a thread writes 16 bytes at a
// time, of as many strings.
KERNEL LAUNCH_BOUNDS(256) write_bytes(const Page *pages, const Outcome *outcomes, const Tile *tiles, const Strings *strings) {
    __shared__ u32 bounds[2];
    const Tile tile = tiles[block_in_grid()];
    const Strings to = strings[tile.page];
    const Page page = pages[to.page];
    const Outcome outcome = outcomes[to.page];
    const u32 total = (u32)outcome.bytes, ahead = (u32)(to.bytes & 15); // the groups of 16 bytes are aligned
    if (thread_in_block() < 2) {
        const u64 edge = (u64)tile.first + thread_in_block() * byte_tile;
        const u64 byte = edge < ahead ? 0 : edge - ahead;
        bounds[thread_in_block()] = string_at(page.places, 0, outcome.valid, byte < total ? (u32)byte : total - 1);
    }
    synchronize_block();
    const u32 low = bounds[0], high = bounds[1] + 1;
    const Source source(pages, page, outcome);
#pragma nounroll
    for (u32 i = thread_in_block() * 16; i < byte_tile; i += byte_threads * 16) {
        const u64 edge = (u64)tile.first + i;
        const u64 begin = edge < ahead ? 0 : edge - ahead, limit = edge + 16 - ahead;
        const u32 end = limit < total ? (u32)limit : total;
        if (begin >= end)
            break;
        u32 at = (u32)begin, k = string_at(page.places, low, high, at);
        u32 place = load<u32>(page.places + 4 * (u64)k);
        u64 low_word = 0, high_word = 0;
#pragma nounroll
        while (at < end) {
            const u32 next = load<u32>(page.places + 4 * (u64)k + 4);
            u64 from = source.of(k) + (at - place);
            const u32 stop = minimum(next, end);
#pragma nounroll
            while (at < stop) {
                const u32 offset = at - (u32)begin, bit = offset % 8 * 8, count = minimum(stop - at, 8 - offset % 8);
                const u64 bytes = load_bytes(from) & whole_word >> (64 - 8 * count);
                if (offset < 8)
                    low_word |= bytes << bit;
                else
                    high_word |= bytes << bit;
                at += count;
                from += count;
            }
            place = next;
            k++;
        }
        const u64 target = to.bytes + begin;
        if (end - (u32)begin == 16) {
            store<u64>(target, low_word);
            store<u64>(target + 8, high_word);
            continue;
        }
#pragma nounroll
        for (u32 b = 0; b < end - (u32)begin; b++)
            store<u8>(target + b, (u8)((b < 8 ? low_word : high_word) >> b % 8 * 8));
    }
}
