// Strings of pages: see strings.go. The places of a page's strings are the lengths of the ones before: string k of
// those with a value has the bytes from place k to place k + 1.
#include "segments.cuh"
#include "tiles.cuh"

static constexpr u32 chains = 128, least_segment = 128, most_guessed = 1024;

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

    METHOD u32 next(u32 at, u64 &strings) const {
        const u32 behind = next(at);
        strings += behind != none;
        return behind;
    }

    // guess returns the place from at on, before end, where a string seems to begin, or end. Bytes of texts are
    // lengths beyond the page. The byte before a length makes a length with it that is 256 times as long or more, so
    // the shortest string of a few places is the true one.
    METHOD u32 guess(u32 at, u32 end) const {
        const u32 last = end - at < most_guessed ? end : at + most_guessed;
#pragma nounroll
        for (; at < last; at++) {
            if (!plausible(at))
                continue;
            u32 best = at;
#pragma nounroll
            for (u32 i = at + 1; i < at + 4; i++)
                if (next(i) - i < next(best) - best && plausible(i))
                    best = i;
            return best;
        }
        return end;
    }
};

// follow_lengths finds the places of the plain strings of listed pages, a block for each.
KERNEL LAUNCH_BOUNDS(128) follow_lengths(const Page *pages, Outcome *outcomes, const u32 *listed) {
    const u32 number = listed[block_in_grid()];
    const Page page = pages[number];
    Outcome *const outcome = outcomes + number;
    if (outcome->status != 0)
        return;
    const u32 valid = outcome->valid;
    const Chain chain = {page.bytes + outcome->begin, page.length - outcome->begin};
    u64 all;
    const Segment segment = follow<chains>(chain, 0, chain.length, least_segment, all);
    u64 k = segment.before;
    u32 at = segment.begin;
    bool last = valid == 0 && thread_in_block() == 0;
#pragma nounroll
    while (at < segment.limit && k < valid) {
        const u32 next = chain.next(at);
        if (next == none) {
            damage(outcome, chain.length - at < 4 ? cut : bad_length);
            return;
        }
        store<u32>(page.places + 4 * k, at - 4 * (u32)k);
        at = next;
        k++;
        last = k == valid;
    }
    if (last) {
        store<u32>(page.places + 4 * (u64)valid, (valid == 0 ? 0 : at) - 4 * valid);
        outcome->bytes = (valid == 0 ? 0 : at) - 4 * valid;
    }
    if (thread_in_block() == 0 && segment.behind != none && all < valid)
        damage(outcome, cut);
}

static constexpr u32 each = mark_values / warp_threads; // strings of a lane

// Lengths are those of mark_values strings of a page with indices or with lengths apart, which the lanes of a warp have.
struct Lengths {
    Page page;
    Outcome *outcome;
    u32 first, valid;
    u32 length[each]; // number i of a lane is that of string first + 32 i + lane

    // begin returns whether there are strings and the page and its dictionary are without damage.
    METHOD bool begin(const Page *pages, Outcome *outcomes, const Tile *tiles) {
        const Tile tile = tiles[block_in_grid()];
        page = pages[tile.page];
        outcome = outcomes + tile.page;
        valid = outcome->valid;
        first = tile.first + thread_in_block() / warp_threads * mark_values;
        return first < valid && outcome->status == 0 && (page.dictionary == none || outcomes[page.dictionary].status == 0);
    }

    METHOD void read(const Page *pages) {
        const bool indices = page.encoding == indexed;
        const u64 dictionary = indices ? pages[page.dictionary].places : 0;
#pragma unroll
        for (u32 i = 0; i < each; i++) {
            const u32 k = first + warp_threads * i + lane_in_warp();
            length[i] = k < valid ? load<u32>(page.dense + 4 * (u64)k) : 0;
        }
        if (!indices)
            return;
#pragma unroll
        for (u32 i = 0; i < each; i++) {
            const u64 at = dictionary + 4 * (u64)length[i];
            length[i] = first + warp_threads * i + lane_in_warp() < valid ? load<u32>(at + 4) - load<u32>(at) : 0;
        }
    }
};

// sum_lengths adds the lengths of strings of tiles, a warp for mark_values.
KERNEL LAUNCH_BOUNDS(256) sum_lengths(const Page *pages, Outcome *outcomes, const Tile *tiles) {
    Lengths lengths;
    if (!lengths.begin(pages, outcomes, tiles))
        return;
    lengths.read(pages);
    u64 sum = 0;
#pragma unroll
    for (u32 i = 0; i < each; i++)
        sum += lengths.length[i];
    sum = warp_fold(sum, Sum<u64>());
    if (lane_in_warp() == 0)
        store<u64>(lengths.page.sums + lengths.first / mark_values * 8, sum);
}

// scan_lengths finds the bytes before those strings, a block for each listed page.
KERNEL LAUNCH_BOUNDS(256) scan_lengths(const Page *pages, Outcome *outcomes, const u32 *listed) {
    const Page page = pages[listed[block_in_grid()]];
    Outcome *const outcome = outcomes + listed[block_in_grid()];
    if (outcome->status != 0 || page.dictionary != none && outcomes[page.dictionary].status != 0)
        return;
    synchronize_block(); // before the status changes
    const u64 bytes = scan_sums<256>(page.sums, marks_before(outcome->valid), 0);
    if (thread_in_block() != 0)
        return;
    store<u32>(page.places + 4 * (u64)outcome->valid, (u32)bytes);
    outcome->bytes = bytes;
    if (page.encoding == delta_lengths && bytes > page.length - outcome->data)
        damage(outcome, bad_length);
    else if (bytes > 0x7fffffff)
        damage(outcome, too_long);
}

// place_lengths finds the places of the strings of tiles, a warp for mark_values.
KERNEL LAUNCH_BOUNDS(256) place_lengths(const Page *pages, Outcome *outcomes, const Tile *tiles) {
    Lengths lengths;
    if (!lengths.begin(pages, outcomes, tiles))
        return;
    lengths.read(pages);
    u32 place = (u32)load<u64>(lengths.page.sums + lengths.first / mark_values * 8);
#pragma unroll
    for (u32 i = 0; i < each; i++) {
        const u32 k = lengths.first + warp_threads * i + lane_in_warp(), scanned = warp_scan(lengths.length[i], Sum<u32>());
        if (k < lengths.valid)
            store<u32>(lengths.page.places + 4 * (u64)k, place + scanned - lengths.length[i]);
        place += shuffle_value(scanned, warp_threads - 1);
    }
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

static constexpr u32 byte_tile = 16384, byte_threads = 256, most_own = 64;

// Output is bytes of a tile in shared memory, of which several threads may have some of a word.
struct Output {
    u32 *words;

    METHOD void add(u32 word, u32 bytes) const {
        if (bytes != 0)
            __atomic_fetch_or(words + word, bytes, __ATOMIC_RELAXED);
    }

    // copy copies a string of a thread.
    METHOD void copy(u32 to, u64 from, u32 length) const {
        const u32 shift = (u32)(from & 7) * 8, bit = to % 4 * 8;
        u64 at = from & ~7ull, low = load<u64>(at), carry = 0;
        u32 word = to / 4;
#pragma nounroll
        for (u32 left = length; left > 0; word += 2) {
            const u64 high = load<u64>(at += 8);
            u64 bytes = low >> shift | high << 1 << (63 - shift);
            low = high;
            if (left < 8)
                bytes &= whole_word >> (64 - 8 * left);
            const u64 moved = bytes << bit | carry;
            add(word, (u32)moved);
            add(word + 1, (u32)(moved >> 32));
            carry = bytes >> 1 >> (63 - bit);
            left -= minimum(left, 8);
        }
        if (carry != 0)
            add(word, (u32)carry);
    }

    // copy_together copies a string of a warp.
    METHOD void copy_together(u32 to, u64 from, u32 length) const {
        const u32 end = to + length;
#pragma nounroll
        for (u32 word = to / 4 + lane_in_warp(); word * 4 < end; word += warp_threads) {
            const u32 place = word * 4;
            u32 bytes = place < to ? load_word(from) << (to - place) * 8 : load_word(from + (place - to));
            if (end - place < 4)
                bytes &= (1u << (end - place) * 8) - 1;
            add(word, bytes);
        }
    }
};

// write_bytes writes the bytes of tiles of byte_tile bytes of a page, a block for each. A thread copies a string of up to
// most_own bytes, a warp a longer one, to shared memory, of which then all threads write words.
KERNEL LAUNCH_BOUNDS(256) write_bytes(const Page *pages, const Outcome *outcomes, const Tile *tiles, const Strings *strings) {
    __shared__ u32 words[byte_tile / 4 + 4];
    __shared__ u32 bounds[2];
    const Tile tile = tiles[block_in_grid()];
    const Strings to = strings[tile.page];
    const Page page = pages[to.page];
    const Outcome outcome = outcomes[to.page];
    const u32 total = (u32)outcome.bytes, ahead = (u32)(to.bytes & 15); // tiles are aligned to 16 bytes
    const u32 begin = tile.first < ahead ? 0 : tile.first - ahead;
    const u64 edge = (u64)tile.first + byte_tile - ahead;
    const u32 end = edge < total ? (u32)edge : total;
    if (begin >= end)
        return;
    for (u32 i = thread_in_block(); i < byte_tile / 4 + 4; i += byte_threads)
        words[i] = 0;
    if (thread_in_block() < 2)
        bounds[thread_in_block()] = string_at(page.places, 0, outcome.valid, thread_in_block() == 0 ? begin : end - 1);
    synchronize_block();
    const u32 high = bounds[1] + 1, skipped = tile.first < ahead ? ahead - tile.first : 0;
    const Source source(pages, page, outcome);
    const Output output = {words};
#pragma nounroll
    for (u32 first = bounds[0]; first < high; first += byte_threads) {
        const u32 k = first + thread_in_block();
        u32 place = 0, length = 0;
        u64 from = 0;
        if (k < high) {
            const u32 string = load<u32>(page.places + 4 * (u64)k), next = load<u32>(page.places + 4 * (u64)k + 4);
            place = string < begin ? begin : string;
            length = minimum(next, end) - place;
            from = length == 0 ? 0 : source.of(k) + (place - string);
            place += skipped - begin;
        }
        if (length <= most_own && length > 0)
            output.copy(place, from, length);
#pragma nounroll
        for (u32 lanes = ballot(length > most_own); lanes != 0; lanes &= lanes - 1) {
            const u32 lane = (u32)__builtin_ctz(lanes);
            output.copy_together(shuffle_value(place, lane), shuffle_value(from, lane), shuffle_value(length, lane));
        }
    }
    synchronize_block();
    const u64 target = to.bytes + begin - skipped;
    const u32 bytes = end - begin + skipped;
#pragma nounroll
    for (u32 i = thread_in_block() * 8; i < bytes; i += byte_threads * 8) {
        if (i >= skipped && bytes - i >= 8) {
            store<u64>(target + i, (u64)words[i / 4 + 1] << 32 | words[i / 4]);
            continue;
        }
#pragma nounroll
        for (u32 b = i < skipped ? skipped : i; b < i + 8 && b < bytes; b++)
            store<u8>(target + b, (u8)(words[b / 4] >> b % 4 * 8));
    }
}
