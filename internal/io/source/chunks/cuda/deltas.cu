// Integers that are differences: see doc.go.
#include "segments.cuh"

static constexpr u32 threads = 256;
static constexpr u32 most_block = 1 << 20, least_segment = 512, most_guessed = 2048, most_guessed_parts = 64;
static constexpr u32 at_once = mark_values / warp_threads; // values of a lane

// Head is the head of a stream, which find_blocks leaves for the other kernels.
struct Head {
    u64 first;
    u32 total;       // values
    u32 size, parts; // values of a miniblock, miniblocks of a block
    u32 padding;
};

static constexpr u32 head_bytes = sizeof(Head);

// Blocks is the chain of the blocks of a page's stream.
struct Blocks {
    u64 from;
    u32 length, size, parts;

    // least_bytes returns the length of the least difference of a block, of which bytes are the first ones, or none.
    METHOD u32 least_bytes(u32 at, u64 bytes) const {
        const u64 ends = ~bytes & 0x8080808080808080;
        if (ends != 0) {
            const u32 size = (u32)__builtin_ctzll(ends) / 8 + 1;
            return size <= length - at ? size : none;
        }
        u64 place = from + at, value;
        return read_varint(place, from + length, value) ? (u32)(place - from) - at : none;
    }

    // least reads the least difference of a block, a varint of count bytes. bytes has the first eight of them.
    METHOD u64 least(u32 at, u64 bytes, u32 count) const {
        u64 value;
        if (count <= 8) { // seven bits of each
            value = bytes & whole_word >> (64 - 8 * count) & 0x7f7f7f7f7f7f7f7f;
            value = value & 0x007f007f007f007f | (value & 0x7f007f007f007f00) >> 1;
            value = value & 0x00003fff00003fff | (value & 0x3fff00003fff0000) >> 2;
            value = value & 0x0fffffff | (value & 0x0fffffff00000000) >> 4;
        } else {
            u64 place = from + at;
            read_varint(place, from + length, value);
        }
        return value >> 1 ^ -(value & 1);
    }

    // packed_bytes is the length of a miniblock.
    METHOD u64 packed_bytes(u32 width) const { return ((u64)size * width + 7) / 8; }

    // four reports whether blocks have four miniblocks of whole bytes, as most writers have them.
    METHOD bool four() const { return parts == 4 && size % 8 == 0; }

    // four_widths are the widths of a block of four miniblocks, of which bytes are the first ones.
    METHOD u32 four_widths(u32 at, u64 bytes, u32 head) const { return head <= 4 ? (u32)(bytes >> 8 * head) : load_word(from + at + head); }

    // four_bytes is the length of miniblocks by their widths, the bytes of a word.
    METHOD u32 four_bytes(u32 widths) const {
        const u32 sum = (widths & 0xff00ff) + (widths >> 8 & 0xff00ff);
        return size / 8 * ((sum & 0xffff) + (sum >> 16));
    }

    // add_bytes adds the lengths of as many miniblocks as count with widths from a place on. It returns false if one has too many
    // bits.
    METHOD bool add_bytes(u32 at, u32 count, u64 &bytes) const {
#pragma nounroll
        for (u32 i = 0; i < count; i++) {
            const u32 width = load<u8>(from + at + i);
            if (width > 64)
                return false;
            bytes += packed_bytes(width);
        }
        return true;
    }

    // read returns the place behind a block, or none and the damage.
    METHOD u32 read(u32 at, u32 &damage) const {
        damage = cut;
        if (at >= length)
            return none;
        const u64 first = load_bytes(from + at);
        const u32 head = least_bytes(at, first);
        if (head == none || length - at - head < parts)
            return none;
        u64 bytes = 0;
        bool narrow;
        if (four()) {
            const u32 widths = four_widths(at, first, head);
            bytes = four_bytes(widths);
            // A byte above 64 has bit 7, or its lower bits have it when 63 is added.
            narrow = ((widths | (widths & 0x7f7f7f7f) + 0x3f3f3f3f) & 0x80808080) == 0;
        } else
            narrow = add_bytes(at + head, parts, bytes);
        if (!narrow) {
            damage = bad_width;
            return none;
        }
        return bytes > length - at - head - parts ? none : at + head + parts + (u32)bytes;
    }

    METHOD u32 next(u32 at, u64 &values) const {
        u32 damage;
        const u32 behind = read(at, damage);
        values += behind != none;
        return behind;
    }

    // guess returns where a few blocks seem to follow each other: few bytes of numbers are widths. Blocks of many miniblocks, which
    // no writer has, would take too long.
    METHOD u32 guess(u32 at, u32 end) const {
        if (parts > most_guessed_parts)
            return end;
        const u32 last = end - at < most_guessed ? end : at + most_guessed;
#pragma nounroll
        for (; at < last; at++) {
            u64 blocks = 0;
            u32 place = at;
#pragma nounroll
            for (u32 i = 0; i < 3 && place < length; i++)
                place = next(place, blocks);
            if (place != none)
                return at;
        }
        return end;
    }

    // read_last returns the place behind the last block, of which some writers cut the last miniblock that has values.
    METHOD u32 read_last(u32 at, u32 values, u32 &damage) const {
        damage = cut;
        const u32 head = at < length ? least_bytes(at, load_bytes(from + at)) : none;
        if (head == none || length - at - head < parts)
            return none;
        const u32 widths = at + head;
        u32 place = widths + parts;
#pragma nounroll
        for (u32 i = 0; values > 0; i++) {
            const u32 width = load<u8>(from + widths + i), count = minimum(size, values), left = length - place;
            if (width > 64) {
                damage = bad_width;
                return none;
            }
            const u64 whole = packed_bytes(width);
            if (whole > left && ((u64)count * width + 7) / 8 > left)
                return none;
            place += whole < left ? (u32)whole : left;
            values -= count;
        }
        damage = 0;
        return place;
    }
};

// read_head reads the head of a stream of at most as many values as there are rows. It returns damage.
DEVICE u32 read_head(u64 from, u32 length, u32 rows, Head &head, u32 &behind) {
    u64 at = from, block, count, numbers, first;
    const u64 end = from + length;
    if (!read_varint(at, end, block) || !read_varint(at, end, count) || !read_varint(at, end, numbers))
        return cut;
    if (block == 0 || block > most_block || count == 0 || count > block || block % count != 0 || numbers > rows)
        return bad_delta;
    if (!read_varint(at, end, first))
        return cut;
    head = Head{first >> 1 ^ -(first & 1), (u32)numbers, (u32)(block / count), (u32)count, 0};
    behind = (u32)(at - from);
    return 0;
}

// has_lengths reports whether the differences of a page are those of lengths.
DEVICE bool has_lengths(const Page &page) { return page.encoding != delta; }

// stream_begin is the place of the stream of a page. That of strings with prefixes is behind the stream of those.
DEVICE u32 stream_begin(const Page &page, const Outcome *outcomes, const Outcome *own) {
    return page.encoding == delta_strings ? outcomes[page.dictionary].data : own->begin;
}

// mark_block leaves the marks of a block.
DEVICE void mark_block(u64 marks, u32 at, u64 number, u32 block, u32 total) {
    const u64 before = 1 + number * block, end = before + block < total ? before + block : total;
#pragma nounroll
    for (u32 i = number == 0 ? 0 : marks_before(before); i < marks_before(end); i++)
        store_mark(marks, i, Mark{at, (u32)before});
}

// find_blocks finds the blocks of the streams of listed pages, a block of threads for each.
KERNEL LAUNCH_BOUNDS(256) find_blocks(const Page *pages, Outcome *outcomes, const u32 *listed) {
    const u32 number = listed[block_in_grid()];
    const Page page = pages[number];
    Outcome *const outcome = outcomes + number;
    const u32 valid = outcome->valid, begin = stream_begin(page, outcomes, outcome);
    if (outcome->status != 0 || valid == 0 || page.dictionary != none && outcomes[page.dictionary].status != 0)
        return;
    synchronize_block(); // before the status changes
    const bool lengths = has_lengths(page);
    const u64 from = page.bytes + begin;
    const u32 length = page.length - begin;
    Head head;
    u32 behind = 0, status = read_head(from, length, page.rows, head, behind);
    if (status == 0 && (lengths ? head.total != valid : head.total < valid))
        status = bad_delta;
    if (status != 0) {
        if (thread_in_block() == 0)
            damage(outcome, status);
        return;
    }
    if (thread_in_block() == 0) {
        *(Head *)page.marks = head;
        if (head.total == 1)
            outcome->data = begin + behind;
    }
    if (head.total == 1)
        return;
    const Blocks chain = {from, length, head.size, head.parts};
    const u32 block = head.size * head.parts, blocks = (head.total - 2) / block + 1;
    u64 all;
    const Segment segment = follow<threads>(chain, behind, length, least_segment, all);
    u64 k = segment.before;
    u32 at = segment.begin;
#pragma nounroll
    while (at < segment.limit && k < blocks - 1) {
        mark_block(page.marks + head_bytes, at, k, block, head.total);
        u32 damaged;
        at = chain.read(at, damaged);
        if (at == none)
            damage(outcome, damaged);
        k++;
    }
    if (segment.behind != none && all < blocks && thread_in_block() == 0)
        damage(outcome, cut);
    if (at < segment.limit && k == blocks - 1) {
        mark_block(page.marks + head_bytes, at, k, block, head.total);
        u32 damaged;
        const u32 end = chain.read_last(at, head.total - 1 - (blocks - 1) * block, damaged);
        if (end == none)
            damage(outcome, damaged);
        else
            outcome->data = begin + end;
    }
}

// wide_bits returns a number of up to 64 bits.
DEVICE u64 wide_bits(u64 packed, u64 bit, u32 width) {
    const u64 at = packed + bit / 8;
    const u32 shift = (u32)(bit % 8);
    u64 value = load_bytes(at) >> shift;
    if (shift + width > 64)
        value |= (u64)load<u8>(at + 8) << (64 - shift);
    return width == 0 ? 0 : value & whole_word >> (64 - width);
}

// Differences are those of mark_values values from one on, which the lanes of a warp have.
struct Differences {
    u64 value[at_once];

    // read_block reads the differences that are in a block. Number i of a lane is that of value first + 32 i + lane.
    METHOD void read_block(const Blocks &chain, u32 at, u32 before, u32 first, u32 end) {
        const u64 first_bytes = load_bytes(chain.from + at);
        const u32 head = chain.least_bytes(at, first_bytes), widths = at + head, parts = chain.parts, size = chain.size;
        const u64 least = chain.least(at, first_bytes, head), packed = chain.from + widths + parts;
        const bool shifts = (size & size - 1) == 0, four = chain.four();
        const u32 log = __builtin_ctz(size | 1u << 31), all = four ? chain.four_widths(at, first_bytes, head) : 0;
#pragma unroll
        for (u32 i = 0; i < at_once; i++) {
            const u32 wanted = first + warp_threads * i + lane_in_warp(), place = wanted - before;
            if (wanted < before || wanted >= end || place >= size * parts)
                continue;
            const u32 part = shifts ? place >> log : place / size;
            u64 bytes = 0;
            u32 width;
            if (four) {
                width = all >> 8 * part & 255;
                bytes = chain.four_bytes(all & (1u << 8 * part) - 1);
            } else {
                width = load<u8>(chain.from + widths + part);
                chain.add_bytes(widths, part, bytes);
            }
            value[i] = least + wide_bits(packed + bytes, (u64)(place - part * size) * width, width);
        }
    }

    // read reads those from value first on. It returns the number of values.
    METHOD u32 read(const Page &page, u32 begin, u32 first) {
        const Head head = *(const Head *)page.marks;
#pragma unroll
        for (u32 i = 0; i < at_once; i++)
            value[i] = 0;
        if (first >= head.total || head.total == 1)
            return head.total;
        const Blocks chain = {page.bytes + begin, page.length - begin, head.size, head.parts};
        const u32 end = minimum(head.total, first + mark_values), block = head.size * head.parts;
        Mark mark = load_mark(page.marks + head_bytes, first / mark_values);
#pragma nounroll
        while (mark.before < end) {
            read_block(chain, mark.place, mark.before, first, end);
            mark.before += block;
            if (mark.before >= end)
                break;
            u32 damaged;
            mark.place = chain.read(mark.place, damaged);
        }
        return head.total;
    }
};

// Part is a part of a page's values, of which each warp has mark_values.
struct Part {
    Page page;
    Outcome *outcome;
    u32 first, place; // value; of the stream

    // begin returns whether the page is without damage.
    METHOD bool begin(const Page *pages, Outcome *outcomes, const Tile *tiles) {
        const Tile tile = tiles[block_in_grid()];
        page = pages[tile.page];
        outcome = outcomes + tile.page;
        first = tile.first + thread_in_block() / warp_threads * mark_values;
        const u32 status = outcome->status | (page.dictionary == none ? 0 : outcomes[page.dictionary].status);
        place = stream_begin(page, outcomes, outcome);
        return shuffle_value(status, 0) == 0 && outcome->valid != 0;
    }
};

// sum_deltas adds the differences of parts.
KERNEL LAUNCH_BOUNDS(256) sum_deltas(const Page *pages, Outcome *outcomes, const Tile *tiles) {
    Part part;
    if (!part.begin(pages, outcomes, tiles))
        return;
    Differences differences;
    if (part.first >= differences.read(part.page, part.place, part.first))
        return;
    u64 sum = 0;
#pragma unroll
    for (u32 i = 0; i < at_once; i++)
        sum += differences.value[i];
    sum = warp_fold(sum, Sum<u64>());
    if (lane_in_warp() == 0)
        store<u64>(part.page.sums + part.first / mark_values * 8, sum);
}

// scan_deltas finds the values before the parts of listed pages, a block for each.
KERNEL LAUNCH_BOUNDS(256) scan_deltas(const Page *pages, Outcome *outcomes, const u32 *listed) {
    const Page page = pages[listed[block_in_grid()]];
    const Outcome *outcome = outcomes + listed[block_in_grid()];
    if (outcome->status != 0 || outcome->valid == 0 || page.dictionary != none && outcomes[page.dictionary].status != 0)
        return;
    const Head head = *(const Head *)page.marks;
    scan_sums<threads>(page.sums, marks_before(head.total), head.first);
}

// write_deltas writes the values of parts: into the column if it has them as they are and no row is null, else for the rows
// that are not.
KERNEL LAUNCH_BOUNDS(256) write_deltas(const Page *pages, Outcome *outcomes, const Tile *tiles) {
    Part part;
    if (!part.begin(pages, outcomes, tiles))
        return;
    const Page &page = part.page;
    Differences differences;
    if (part.first >= differences.read(page, part.place, part.first))
        return;
    const u32 valid = part.outcome->valid;
    const bool lengths = has_lengths(page);
    const u32 bytes = lengths ? 4 : value_bytes(page), most = page.encoding == delta_prefixes ? 0x7fffffff : page.length;
    const u64 to = is_direct_delta(page, valid) ? page.to + page.row * bytes : page.dense;
    u64 before = load<u64>(page.sums + part.first / mark_values * 8);
#pragma unroll
    for (u32 i = 0; i < at_once; i++) {
        const u64 scanned = warp_scan(differences.value[i], Sum<u64>()), result = before + scanned;
        before += shuffle_value(scanned, warp_threads - 1);
        const u32 place = part.first + warp_threads * i + lane_in_warp();
        if (place >= valid)
            continue;
        if (bytes == 8)
            store<u64>(to + (u64)place * 8, result);
        else
            store<u32>(to + (u64)place * 4, (u32)result);
        if (lengths && result > most)
            damage(part.outcome, bad_length);
    }
}
