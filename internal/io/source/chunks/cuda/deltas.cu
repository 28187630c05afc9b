// Integers that are differences: see decode.go.
#include "page.cuh"

static constexpr u32 summing = 256; // threads, next to a warp that lists
static constexpr u32 delta_tile = 2048, most_parts = 256, most_block = 1 << 20;
static constexpr u32 groups = delta_tile / summing; // of 32 values for each warp

// Miniblock is differences of a width above the least one of their block.
struct Miniblock {
    u64 packed, least;
    u32 width, padding;
};

// Queue has the miniblocks of the values from begin to end, of which the first one is the value of the stream's head if
// begin is 0.
struct Queue {
    Miniblock miniblock[most_parts];
    u32 begin, end;
    u32 first; // number of the first miniblock
};

// Deltas is the reader of a stream, which a lane has.
struct Deltas {
    u64 position, end; // addresses
    u64 first, least, widths;
    u32 parts, size; // miniblocks of a block, values of a miniblock
    u32 total, done, miniblocks;
    u32 part, status;
    Miniblock miniblock; // the current one, which has left values more
    u32 left;

    METHOD bool zigzag(u64 &value) {
        u64 read;
        if (!read_varint(position, end, read)) {
            status = cut;
            return false;
        }
        value = read >> 1 ^ -(read & 1);
        return true;
    }

    // begin reads the head of a stream of as many values as there are, or at least as many.
    METHOD void begin(u64 from, u64 to, u32 most) {
        position = from, end = to;
        done = miniblocks = status = total = size = left = 0;
        u64 block, count, numbers;
        if (!read_varint(position, end, block) || !read_varint(position, end, count) || !read_varint(position, end, numbers)) {
            status = cut;
            return;
        }
        if (block == 0 || block > most_block || count == 0 || count > block || block % count != 0 || numbers > most) {
            status = bad_delta;
            return;
        }
        parts = part = (u32)count;
        size = (u32)(block / count);
        if (zigzag(first))
            total = (u32)numbers;
    }

    METHOD bool begin_block() {
        if (!zigzag(least))
            return false;
        if (end - position < parts) {
            status = cut;
            return false;
        }
        widths = position;
        position += parts;
        part = 0;
        return true;
    }

    // list lists the next miniblocks. The lanes of a warp call it, of which the first has the reader.
    METHOD void list(Queue &queue) {
        const u64 ahead = shuffle_value(position, 0) + lane_in_warp() * 128;
        if (ahead < shuffle_value(end, 0))
            asm volatile("prefetch.global.L1 [%0];" ::"l"(ahead));
        if (lane_in_warp() == 0)
            list_miniblocks(queue);
    }

    // next reads the head of the next miniblock.
    METHOD bool next() {
        if (part == parts && !begin_block())
            return false;
        const u32 width = load<u8>(widths + part++), count = minimum(size, total - done);
        const u64 bytes = end - position, whole = ((u64)size * width + 7) / 8;
        if (width > 64 || whole > bytes && ((u64)count * width + 7) / 8 > bytes) { // some writers cut the last one
            status = width > 64 ? bad_width : cut;
            return false;
        }
        left = count;
        miniblock = Miniblock{position, least, width, 0};
        position += whole < bytes ? whole : bytes;
        miniblocks++;
        return true;
    }

    METHOD void list_miniblocks(Queue &queue) {
        queue.begin = done;
        queue.first = left > 0 ? miniblocks - 1 : miniblocks;
        const u32 limit = done + minimum(total - done, delta_tile);
        if (done == 0 && total > 0)
            done = 1; // the head has it
        u32 listed = 0;
#pragma nounroll
        while (done < limit && listed < most_parts && status == 0 && (left > 0 || next())) {
            queue.miniblock[listed++] = miniblock;
            const u32 count = minimum(left, limit - done);
            done += count;
            left -= count;
        }
        queue.end = done;
    }
};

// wide_bits returns a number of up to 64 bits.
DEVICE u64 wide_bits(u64 packed, u64 bit, u32 width) {
    const u64 at = packed + bit / 8;
    const u32 shift = (u32)(bit % 8);
    u64 value = load_bytes(at) >> shift;
    if (shift + width > 64)
        value |= (u64)load<u8>(at + 8) << (64 - shift);
    return width == 0 ? 0 : value & whole_word >> (64 - width);
}

// decode_deltas decodes the values of listed pages, a block for each: into values of the column if it has them as they
// are and no row is null, else into values of the rows that are not.
KERNEL LAUNCH_BOUNDS(288) decode_deltas(const Page *pages, Outcome *outcomes, const u32 *listed) {
    __shared__ Queue queue[2];
    __shared__ u64 sums[2][summing / warp_threads];
    __shared__ u64 head; // the first value
    __shared__ u32 size;
    const u32 number = listed[block_in_grid()];
    const Page page = pages[number];
    Outcome *const outcome = outcomes + number;
    const u32 valid = outcome->valid, warp = thread_in_block() / warp_threads, lane = lane_in_warp();
    if (outcome->status != 0 || valid == 0)
        return;
    const bool lengths = page.encoding == delta_lengths, lists = warp == summing / warp_threads;
    const u32 bytes = lengths ? 4 : value_bytes(page);
    const bool direct = is_direct_delta(page, valid);
    const u64 to = direct ? page.to + page.row * bytes : page.dense;
    Deltas deltas;
    deltas.position = deltas.end = 0;
    if (lists) {
        if (lane == 0) {
            deltas.begin(page.bytes + outcome->begin, page.bytes + page.length, page.rows);
            if (deltas.status == 0 && (lengths ? deltas.total != valid : deltas.total < valid))
                deltas.status = bad_delta, deltas.total = 0;
            head = deltas.first;
            size = deltas.size;
        }
        deltas.list(queue[0]);
    }
    synchronize_block();
    // Miniblocks of most writers have as many values as a power of two: a shift is faster than a division.
    const bool shifts = (size & size - 1) == 0;
    const u32 log = __builtin_ctz(size | 1u << 31);
    u64 before = 0;
#pragma nounroll
    for (u32 k = 0; queue[k].begin != queue[k].end; k ^= 1) {
        const Queue &now = queue[k];
        const u32 begin = now.begin, end = now.end;
        u64 value[groups];
        if (lists)
            deltas.list(queue[k ^ 1]);
        else {
            u64 running = 0;
#pragma unroll
            for (u32 g = 0; g < groups; g++) {
                const u32 i = begin + (warp * groups + g) * warp_threads + lane;
                u64 delta = i == 0 ? head : 0;
                if (i > 0 && i < end) {
                    const u32 place = i - 1 - now.first * size, block = shifts ? place >> log : place / size;
                    const Miniblock m = now.miniblock[block];
                    delta = m.least + wide_bits(m.packed, (u64)(place - block * size) * m.width, m.width);
                }
                const u64 scanned = warp_scan(delta, Sum<u64>());
                value[g] = running + scanned;
                running += shuffle_value(scanned, warp_threads - 1);
            }
            if (lane == 0)
                sums[k][warp] = running;
        }
        synchronize_block();
        u64 own = before;
#pragma unroll
        for (u32 w = 0; w < summing / warp_threads; w++) {
            if (w < warp)
                own += sums[k][w];
            before += sums[k][w];
        }
        if (lists)
            continue;
#pragma unroll
        for (u32 g = 0; g < groups; g++) {
            const u32 i = begin + (warp * groups + g) * warp_threads + lane;
            if (i >= end || i >= valid)
                continue;
            const u64 result = own + value[g];
            if (bytes == 8)
                store<u64>(to + (u64)i * 8, result);
            else
                store<u32>(to + (u64)i * 4, (u32)result);
            if (lengths && result > page.length)
                damage(outcome, bad_length);
        }
    }
    if (!lists || lane != 0)
        return;
    if (deltas.status != 0)
        damage(outcome, deltas.status);
    outcome->data = (u32)(deltas.position - page.bytes);
}
