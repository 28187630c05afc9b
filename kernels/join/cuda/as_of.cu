// The nearest row of each row of an as-of join.
#include "gpuframe.cuh"

#define METHOD __device__ inline __attribute__((always_inline))

static constexpr u32 no_row = 0xffffffff;

enum Direction : u32 { backward, forward, nearest_of_both };

// Nearest is struct nearest of asof_match.go.
struct Nearest {
    const u32 *low, *high, *begin, *end;
    const u8 *valid, *left, *right;
    u64 limit;
    u32 sorted, direction, not_equal, wanted, real, width;

    METHOD u64 bits(const u8 *keys, u64 i) const {
        switch (width) {
        case 1: return keys[i];
        case 2: return ((const u16 *)keys)[i];
        case 4: return ((const u32 *)keys)[i];
        default: return ((const u64 *)keys)[i];
        }
    }

    // between returns the distance from a smaller key to a larger one. The bits of floats
    // that are not negative have the order of the floats.
    METHOD u64 between(u64 larger, u64 smaller) const {
        if (real == 0)
            return larger - smaller & (width == 8 ? ~0ull : (1ull << 8 * width) - 1);
        const f64 x = __builtin_bit_cast(f64, larger), y = __builtin_bit_cast(f64, smaller);
        if (x == y)
            return 0; // also for infinities
        f64 difference;
        asm("sub.rn.f64 %0, %1, %2;" : "=d"(difference) : "d"(x), "d"(y));
        return __builtin_bit_cast(u64, difference);
    }
};

// nearest_rows writes the nearest row of each row that has one, and how many it has: none
// or one. list has the rows at all places, or is null if these are the places.
KERNEL nearest_rows(u32 *first, u32 *counts, const Nearest n, const u32 *list, u64 rows) {
    const u64 step = threads_per_grid();
    for (u64 row = thread_in_grid(); row < rows; row += step) {
        bool has_back = false, has_ahead = false;
        u32 back = no_row, ahead = no_row;
        if (n.valid == nullptr || (n.valid[row / 8] >> (row % 8) & 1) != 0) {
            if (n.direction != forward) {
                const u32 place = (n.not_equal != 0 ? n.low : n.high)[row];
                has_back = place > (n.begin == nullptr ? 0 : n.begin[row]);
                back = place - 1;
            }
            if (n.direction != backward) {
                ahead = (n.not_equal != 0 ? n.high : n.low)[row];
                has_ahead = ahead < (n.end == nullptr ? n.sorted : n.end[row]);
            }
        }
        if (n.wanted != 0) {
            u64 back_distance = 0, ahead_distance = 0;
            if (has_back) {
                back_distance = n.between(n.bits(n.left, row), n.bits(n.right, back));
                has_back = back_distance <= n.limit;
            }
            if (has_ahead) {
                ahead_distance = n.between(n.bits(n.right, ahead), n.bits(n.left, row));
                has_ahead = ahead_distance <= n.limit;
            }
            if (has_back && has_ahead)
                has_back = back_distance <= ahead_distance;
        }
        const u32 place = has_back ? back : has_ahead ? ahead : no_row;
        first[row] = place != no_row && list != nullptr ? list[place] : place;
        counts[row] = has_back || has_ahead;
    }
}
