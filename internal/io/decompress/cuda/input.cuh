// The compressed bytes of a page, staged in shared memory.
#pragma once
#include "page.cuh"

typedef Vector<u32, 4> Part;

// load_part returns 16 bytes of a page from an aligned position on, which may be negative. Bytes
// outside of the page are zeros.
DEVICE Part load_part(const u8 *from, u32 length, i64 at) {
    if (at >= 0 && at + 16 <= (i64)length)
        return *(const Part *)(from + at);
    u64 low = 0, high = 0;
    if (at > -16 && at < (i64)length) {
#pragma nounroll
        for (i32 i = 15; i >= 0; i--) {
            const bool inside = at + i >= 0 && at + i < (i64)length;
            high = high << 8 | low >> 56;
            low = low << 8 | (inside ? from[at + i] : 0);
        }
    }
    return {{(u32)low, (u32)(low >> 32), (u32)high, (u32)(high >> 32)}};
}

// eight_bytes returns eight bytes of three words, from a byte of the first one on.
DEVICE u64 eight_bytes(u32 a, u32 b, u32 c, u32 byte) {
    const u64 low = ((u64)b << 32 | a) >> byte * 8, high = ((u64)c << 32 | b) >> byte * 8;
    return high << 32 | (u32)low;
}

// Input reads the bytes of a page. The ring has two chunks of them, and the registers the next.
// The warp loads 16 bytes a lane, a chunk ahead.
struct Input {
    static constexpr u32 chunk_bytes = 512, ring_words = 2 * chunk_bytes / 4;
    // ahead is the number of bytes after a prepared position that can be read.
    static constexpr u32 ahead = chunk_bytes;

    const u8 *from;
    u32 length, lane;
    u32 lead; // bytes of the first chunk before the page, so that chunks are aligned
    u32 chunk; // the first one in the ring
    u32 *ring;
    Part next;

    METHOD void begin(const Work &w, u32 *words, u32 thread) {
        from = w.from, length = w.compressed, ring = words, lane = thread;
        lead = (u32)(u64)from & 15;
        fill(0);
    }

    // prepare makes `ahead` bytes from a position on readable. All lanes call it.
    METHOD void prepare(u32 position) {
        const u32 at = (position + lead) / chunk_bytes;
        if (at == chunk)
            return;
        synchronize_warp();
        if (at != chunk + 1) {
            fill(at);
            return;
        }
        store(chunk + 2, next);
        chunk = at;
        next = load(chunk + 2);
        synchronize_warp();
    }

    // eight returns eight bytes from a position on. Those after the page are undefined.
    METHOD u64 eight(u32 position) const {
        const u32 at = position + lead, word = at / 4;
        return eight_bytes(ring[word % ring_words], ring[(word + 1) % ring_words], ring[(word + 2) % ring_words], at % 4);
    }

    METHOD void fill(u32 at) {
        chunk = at;
        store(at, load(at));
        store(at + 1, load(at + 1));
        next = load(at + 2);
        synchronize_warp();
    }

    METHOD void store(u32 number, const Part &part) { *(Part *)(ring + number % 2 * (chunk_bytes / 4) + lane * 4) = part; }

    // load returns the bytes of this lane of a chunk, zeros outside of the page.
    METHOD Part load(u32 number) const { return load_part(from, length, (i64)number * chunk_bytes + lane * 16 - lead); }
};
