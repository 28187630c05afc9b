// The scan with tensor cores, of GPUs with compute capability 8.0 and newer. The elements are
// rounded to 11 bits (TF32), so that a dot product has an error of 2⁻¹⁰ of the product of the
// lengths; the distances of the rows that are found are computed to all digits afterwards.
#include "lookback.cuh"
#include "nearest.cuh"

// The elements of a step, and a row of them in shared memory: eight rows from any element on lie
// in different banks.
static constexpr u32 depth = 16, stride = depth + 4;
// Steps of which the elements are in shared memory, or on their way to it.
static constexpr u32 stages = 4, stage_words = 2 * scan_tile * stride;
// A warp has the products of 64 queries and 32 rows, as 4 × 4 products of 16 × 8.
static constexpr u32 warp_queries = 64, warp_rows = 32, query_blocks = 4, row_blocks = 4;

// tf32 rounds to 11 bits. Tensor cores cut the other bits off.
DEVICE u32 tf32(u32 x) { return x + 0x1000; }

DEVICE void multiply(f32 (&sums)[4], const u32 (&a)[4], const u32 (&b)[2]) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// tiles_shared has stages: a tile of the queries, and behind it one of the rows. Go's tensorShared
// is its size.
extern __shared__ u32 tiles_shared[];

DEVICE u32 shared_address(const void *address) {
    u64 shared;
    asm("cvta.to.shared.u64 %0, %1;" : "=l"(shared) : "l"(address));
    return (u32)shared;
}

// fetch begins to copy four elements to shared memory; those that do not exist are zeros.
DEVICE void fetch(u32 to, const Scan &s, const f32 *vectors, u64 vector, bool exists, u32 from) {
    const f32 *const at = exists ? vectors + vector * s.dimension + from : vectors;
    if (s.aligned != 0) {
        const u32 bytes = exists && from < s.dimension ? 16 : 0;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(global_address(bytes == 0 ? vectors : at)), "r"(bytes) : "memory");
        return;
    }
#pragma unroll
    for (u32 i = 0; i < 4; i++) {
        const u32 bytes = exists && from + i < s.dimension ? 4 : 0;
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to + 4 * i), "l"(global_address(bytes == 0 ? vectors : at + i)), "r"(bytes) : "memory");
    }
}

// Stream is where the next step comes from. All threads of a block copy it together: four of them
// a vector of each side, and another 64 behind it.
struct Stream {
    u64 row;
    u32 from, stage;

    METHOD void next(const Scan &s, const Place &place, u32 shared) {
        const u32 own = thread_in_block() / 4, part = thread_in_block() % 4 * 4;
        if (row < place.end) {
#pragma unroll
            for (u32 i = 0; i < scan_tile; i += 64) {
                const u32 to = shared + 4 * (stage * stage_words + (own + i) * stride + part);
                const u64 query = place.query + own + i, at = row + own + i;
                fetch(to, s, s.queries, query, query < s.query_count, from + part);
                fetch(to + 4 * scan_tile * stride, s, s.rows, at, at < s.end, from + part);
            }
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
        stage = (stage + 1) % stages;
        from += depth;
        if (from >= s.dimension)
            from = 0, row += scan_tile;
    }
};

KERNEL RESIDENT_BOUNDS(scan_threads, 2) nearest_scan_tensor(const Scan s) {
    const u32 thread = thread_in_block(), lane = lane_in_warp(), warp = thread / warp_threads;
    const u32 query0 = warp / 4 * warp_queries, row0 = warp % 4 * warp_rows, group = lane / 4, member = lane % 4;
    const u32 shared = shared_address(tiles_shared);
    const Place place = place_of(s);
    Stream stream = {place.row, 0, 0};
    for (u32 i = 0; i < stages - 1; i++)
        stream.next(s, place, shared);
    u32 stage = 0;
    for (u64 tile = place.row; tile < place.end; tile += scan_tile) {
        f32 sums[query_blocks][row_blocks][4] = {};
        for (u32 from = 0; from < s.dimension; from += depth) {
            asm volatile("cp.async.wait_group %0;" ::"n"(stages - 2) : "memory");
            synchronize_block();
            stream.next(s, place, shared);
            const u32 *const query_tile = tiles_shared + stage * stage_words, *const row_tile = query_tile + scan_tile * stride;
            stage = (stage + 1) % stages;
#pragma unroll
            for (u32 k = 0; k < depth; k += 8) {
                u32 left[query_blocks][4], right[row_blocks][2];
#pragma unroll
                for (u32 i = 0; i < query_blocks; i++)
#pragma unroll
                    for (u32 e = 0; e < 4; e++)
                        left[i][e] = tf32(query_tile[(query0 + 16 * i + group + e % 2 * 8) * stride + k + member + e / 2 * 4]);
#pragma unroll
                for (u32 j = 0; j < row_blocks; j++)
#pragma unroll
                    for (u32 e = 0; e < 2; e++)
                        right[j][e] = tf32(row_tile[(row0 + 8 * j + group) * stride + k + member + e * 4]);
#pragma unroll
                for (u32 i = 0; i < query_blocks; i++)
#pragma unroll
                    for (u32 j = 0; j < row_blocks; j++)
                        multiply(sums[i][j], left[i], right[j]);
            }
        }
        keep(s, place.query, tile, [&](u32 i) { return query0 + i / 2 * 16 + group + i % 2 * 8; },
             [&](u32 j) { return row0 + j / 2 * 8 + member * 2 + j % 2; },
             [&](u32 i, u32 j) { return sums[i / 2][j / 2][i % 2 * 2 + j % 2]; });
    }
}
