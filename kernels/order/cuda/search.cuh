// The places of values among sorted words.
#pragma once

#include "bitrow.cuh"
#include "scan.cuh"

static constexpr u32 search_threads = 256, search_warps = search_threads / warp_threads, search_loads = 8;
static constexpr u32 search_tile = search_threads * search_loads; // Go's searchTile
// A block copies at most this many words to shared memory: Go's searchCached.
static constexpr u32 search_cached = 4096;
// Every sample_distance-th word is a sample: Go's sampleDistance. A block has some samples
// in shared memory.
static constexpr u32 sample_distance = 32, search_splitters = 1024;

template <typename T> struct Least {
    METHOD T none() const { return ~(T)0; }
    METHOD T fold(T a, T b) const { return b < a ? b : a; }
};

// Search finds the number of words that come before a value or, if upper is set, that do
// not come after it. The bits of flip are inverted in words and values.
template <typename Word, bool upper> struct Search {
    const Word *words;
    u32 n;
    const Word *samples; // of more than search_cached words
    Word flip;

    METHOD bool before(Word word, Word value) const {
        word ^= flip;
        return upper ? word <= value : word < value;
    }

    // place returns the first of the words from low to high that is not before the value,
    // or high.
    METHOD u32 place(const Word *from, u32 low, u32 high, Word value) const {
        while (low < high) {
            const u32 middle = low + (high - low) / 2;
            if (before(from[middle], value))
                low = middle + 1;
            else
                high = middle;
        }
        return low;
    }

    // The place of a value lies from low to high, if count of the samples at a distance are
    // before it, and there are n words.
    METHOD static u32 low(u32 count, u32 distance) { return count == 0 ? 0 : (count - 1) * distance + 1; }
    METHOD static u32 high(u32 count, u32 distance, u32 n) { return (u64)count * distance < n ? count * distance : n; }

    METHOD u32 sample_count() const { return (n + sample_distance - 1) / sample_distance; }
    METHOD u32 splitter_distance() const { return (sample_count() + search_splitters - 1) / search_splitters; }
    METHOD u32 splitter_count() const { return (sample_count() + splitter_distance() - 1) / splitter_distance(); }

    // samples_before returns the number of samples before a value.
    METHOD u32 samples_before(const Word *splitters, Word value) const {
        const u32 distance = splitter_distance(), count = place(splitters, 0, splitter_count(), value);
        return place(samples, low(count, distance), high(count, distance, sample_count()), value);
    }
};

// find_places writes the places of values. Each block takes tiles of values. If the places of a
// tile are close together, which is so for sorted values, the block copies the words among
// them to shared memory.
template <typename Word, bool upper> DEVICE void find_places(u32 *places, const Search<Word, upper> &search, const Word *values, u64 count) {
    __shared__ Word cached[search_cached], splitters[search_splitters];
    __shared__ Word leasts[search_warps], mosts[search_warps];
    __shared__ u32 range[2];
    const u32 thread = thread_in_block(), warp = thread / warp_threads;
    const bool few = search.n <= search_cached;
    if (!few)
        for (u32 i = thread; i < search.splitter_count(); i += search_threads)
            splitters[i] = search.samples[i * search.splitter_distance()];
    for (u64 begin = (u64)block_in_grid() * search_tile; begin < count; begin += (u64)blocks_per_grid() * search_tile) {
        const u32 there = count - begin < search_tile ? (u32)(count - begin) : search_tile;
        Word value[search_loads], least = ~(Word)0, most = 0;
#pragma unroll
        for (u32 i = 0; i < search_loads; i++) {
            const u32 at = i * search_threads + thread;
            value[i] = values[begin + (at < there ? at : 0)] ^ search.flip;
            least = value[i] < least ? value[i] : least;
            most = value[i] > most ? value[i] : most;
        }
        least = warp_fold(least, Least<Word>());
        most = warp_fold(most, Most<Word>());
        if (lane_in_warp() == 0) {
            leasts[warp] = least;
            mosts[warp] = most;
        }
        synchronize_block();
        // Two warps find the ends of the range.
        if (thread == 0) {
            for (u32 i = 1; i < search_warps; i++)
                least = leasts[i] < least ? leasts[i] : least;
            range[0] = few ? 0 : search.low(search.samples_before(splitters, least), sample_distance);
        } else if (thread == warp_threads) {
            for (u32 i = 0; i < search_warps; i++)
                most = mosts[i] > most ? mosts[i] : most;
            range[1] = few ? search.n : search.high(search.samples_before(splitters, most), sample_distance, search.n);
        }
        synchronize_block();
        const u32 low = range[0], high = range[1];
        if (high - low <= search_cached) {
            for (u32 i = thread; i < high - low; i += search_threads)
                cached[i] = search.words[low + i];
            synchronize_block();
#pragma unroll
            for (u32 i = 0; i < search_loads; i++)
                if (i * search_threads + thread < there)
                    places[begin + i * search_threads + thread] = low + search.place(cached, 0, high - low, value[i]);
        } else
            for (u32 at = thread; at < there; at += search_threads) {
                const Word own = values[begin + at] ^ search.flip;
                const u32 samples = search.samples_before(splitters, own);
                places[begin + at] =
                    search.place(search.words, search.low(samples, sample_distance), search.high(samples, sample_distance, search.n), own);
            }
        synchronize_block();
    }
}
