// Times ways to take 8-byte values by random indices: plain gathers, and gathers of
// indices that are first partitioned so that each part of the values fits the L2 cache.
//
//     nvcc -O3 -std=c++17 -arch=native -o partitioned_take partitioned_take.cu && ./partitioned_take
//
// Every way ends with out[i] = from[index[i]], which is compared with the plain gather.
#include <cub/cub.cuh>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

static void check(cudaError_t error, int line) {
    if (error != cudaSuccess) {
        fprintf(stderr, "partitioned_take.cu:%d: %s\n", line, cudaGetErrorString(error));
        exit(1);
    }
}
#define CHECK(call) check(call, __LINE__)

template <typename T> static T *allocate(size_t n) {
    void *memory;
    CHECK(cudaMalloc(&memory, n * sizeof(T)));
    return static_cast<T *>(memory);
}

// scrambled is a bijection of 64-bit words (the finaliser of SplitMix64).
__device__ static uint64_t scrambled(uint64_t word) {
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
    return word ^ (word >> 31);
}

#define FOR_EACH(i, n) for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < (n); i += size_t(gridDim.x) * blockDim.x)

__global__ void fill_values(double *out, size_t n) { FOR_EACH(i, n) out[i] = double(scrambled(i + 1) >> 11); }
__global__ void fill_indices(uint32_t *out, size_t n) { FOR_EACH(i, n) out[i] = uint32_t(scrambled(i + 3) % n); }
__global__ void fill_rows(uint32_t *out, size_t n) { FOR_EACH(i, n) out[i] = uint32_t(i); }
__global__ void count_differences(const double *a, const double *b, size_t n, unsigned long long *differences) {
    FOR_EACH(i, n) if (a[i] != b[i]) atomicAdd(differences, 1ull);
}

// ---- plain gathers

__global__ void gather(const double *from, const uint32_t *index, double *out, size_t n) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = from[index[i]];
}

// gather_eight loads indices by 16 bytes; each thread has eight gathers in flight.
__global__ void gather_eight(const double *from, const uint4 *index, double2 *out) {
    const size_t base = blockIdx.x * size_t(blockDim.x) * 2 + threadIdx.x;
    uint4 at[2];
    double v[8];
#pragma unroll
    for (int j = 0; j < 2; j++) at[j] = index[base + j * blockDim.x];
#pragma unroll
    for (int j = 0; j < 2; j++) {
        v[4 * j] = from[at[j].x], v[4 * j + 1] = from[at[j].y];
        v[4 * j + 2] = from[at[j].z], v[4 * j + 3] = from[at[j].w];
    }
#pragma unroll
    for (int j = 0; j < 2; j++) {
        out[2 * (base + j * blockDim.x)] = make_double2(v[4 * j], v[4 * j + 1]);
        out[2 * (base + j * blockDim.x) + 1] = make_double2(v[4 * j + 2], v[4 * j + 3]);
    }
}

// gather_pair loads the aligned 16 bytes that contain a value, gather_sector its whole
// sector of 32 bytes.
__global__ void gather_pair(const double2 *from, const uint32_t *index, double *out) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    const uint32_t at = index[i];
    const double2 pair = from[at / 2];
    out[i] = at % 2 == 0 ? pair.x : pair.y;
}
__global__ void gather_sector(const double2 *from, const uint32_t *index, double *out) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    const uint32_t at = index[i];
    const double2 low = from[at / 4 * 2], high = from[at / 4 * 2 + 1];
    const double2 pair = at / 2 % 2 == 0 ? low : high;
    out[i] = at % 2 == 0 ? pair.x : pair.y;
}

// random_reads reads values at computed positions, without reading indices or writing:
// the ceiling of random access.
__global__ void random_reads(const double *from, double *out, size_t n) {
    constexpr int each = 8;
    const size_t base = blockIdx.x * size_t(blockDim.x) * each + threadIdx.x;
    double v[each], sum = 0;
#pragma unroll
    for (int j = 0; j < each; j++) v[j] = from[scrambled(base + j * blockDim.x + 5) & (n - 1)];
#pragma unroll
    for (int j = 0; j < each; j++) sum += v[j];
    if (sum == -1) out[0] = sum;
}

// ---- partitioned in tiles
//
// Each tile sorts the indices of its rows by their high bits (sort_tiles) and keeps,
// for each row, the new position of its index in 2 bytes. The values are then gathered
// part by part: from each tile the run of indices that belong to the part
// (gather_parts). They are written in the order of the sorted indices, so each tile has
// its values together and restores the order of its rows in shared memory
// (unsort_tiles). No pass writes to random places of memory, and no rows move with the
// indices.

constexpr uint32_t tile_rows = 8192, tile_threads = 512, tile_each = tile_rows / tile_threads, most_parts = 256;

// starts holds, for each part and for the end, the start of its run in each tile.
__global__ void __launch_bounds__(tile_threads) sort_tiles(const uint4 *index, uint4 *sorted, ushort4 *places, uint16_t *starts, uint32_t shift,
                                                           uint32_t parts) {
    __shared__ uint32_t counters[most_parts];
    __shared__ __align__(16) uint32_t room[tile_rows];
    const uint32_t thread = threadIdx.x, tile = blockIdx.x, tiles = gridDim.x;
    const size_t base = tile * size_t(tile_rows / 4) + thread;
    for (uint32_t i = thread; i < parts; i += tile_threads) counters[i] = 0;
    uint32_t at[tile_each], rank[tile_each];
#pragma unroll
    for (uint32_t j = 0; j < tile_each / 4; j++) {
        const uint4 four = index[base + j * tile_threads];
        at[4 * j] = four.x, at[4 * j + 1] = four.y, at[4 * j + 2] = four.z, at[4 * j + 3] = four.w;
    }
    __syncthreads();
#pragma unroll
    for (uint32_t j = 0; j < tile_each; j++) rank[j] = atomicAdd(&counters[at[j] >> shift], 1u);
    __syncthreads();
    if (thread < 32) {
        uint32_t before = 0;
        for (uint32_t first = 0; first < parts; first += 32) {
            const uint32_t part = first + thread, own = part < parts ? counters[part] : 0;
            uint32_t scanned = own;
            for (uint32_t delta = 1; delta < 32; delta *= 2) {
                const uint32_t other = __shfl_up_sync(~0u, scanned, delta);
                if (thread >= delta) scanned += other;
            }
            if (part < parts) {
                counters[part] = before + scanned - own;
                starts[size_t(part) * tiles + tile] = uint16_t(before + scanned - own);
            }
            before += __shfl_sync(~0u, scanned, 31);
        }
        if (thread == 0) starts[size_t(parts) * tiles + tile] = tile_rows;
    }
    __syncthreads();
#pragma unroll
    for (uint32_t j = 0; j < tile_each; j++) {
        rank[j] += counters[at[j] >> shift];
        room[rank[j]] = at[j];
    }
#pragma unroll
    for (uint32_t j = 0; j < tile_each / 4; j++)
        places[base + j * tile_threads] =
            make_ushort4(uint16_t(rank[4 * j]), uint16_t(rank[4 * j + 1]), uint16_t(rank[4 * j + 2]), uint16_t(rank[4 * j + 3]));
    __syncthreads();
#pragma unroll
    for (uint32_t j = 0; j < tile_each / 4; j++) sorted[base + j * tile_threads] = ((const uint4 *)room)[thread + j * tile_threads];
}

// gather_parts uses one warp for each run. Blocks start in the order of their numbers,
// so about one part is read at a time.
constexpr uint32_t gather_warps = 8;
__global__ void __launch_bounds__(32 * gather_warps) gather_parts(const double *from, const uint32_t *sorted, const uint16_t *starts, double *out,
                                                                  uint32_t tiles) {
    constexpr uint32_t each = 8;
    const uint32_t lane = threadIdx.x % 32;
    const size_t run = blockIdx.x * size_t(gather_warps) + threadIdx.x / 32; // part × tiles + tile
    const size_t base = run % tiles * tile_rows;
    const uint32_t end = starts[run + tiles];
    for (uint32_t i = starts[run] + lane; i < end; i += 32 * each) {
        uint32_t at[each];
        double v[each];
#pragma unroll
        for (uint32_t j = 0; j < each; j++) at[j] = i + 32 * j < end ? sorted[base + i + 32 * j] : ~0u;
#pragma unroll
        for (uint32_t j = 0; j < each; j++) v[j] = at[j] != ~0u ? from[at[j]] : 0;
#pragma unroll
        for (uint32_t j = 0; j < each; j++)
            if (at[j] != ~0u) out[base + i + 32 * j] = v[j];
    }
}

// unsort_tiles works in place.
__global__ void __launch_bounds__(tile_threads) unsort_tiles(double2 *out, const ushort2 *places) {
    extern __shared__ __align__(16) double values[]; // tile_rows
    const uint32_t thread = threadIdx.x;
    const size_t base = blockIdx.x * size_t(tile_rows / 2) + thread;
    ushort2 at[tile_each / 2];
#pragma unroll
    for (uint32_t j = 0; j < tile_each / 2; j++) at[j] = places[base + j * tile_threads];
#pragma unroll
    for (uint32_t j = 0; j < tile_each / 2; j++) ((double2 *)values)[thread + j * tile_threads] = out[base + j * tile_threads];
    __syncthreads();
#pragma unroll
    for (uint32_t j = 0; j < tile_each / 2; j++) out[base + j * tile_threads] = make_double2(values[at[j].x], values[at[j].y]);
}

// ---- partitioned as pairs

// gather_pairs gathers in the order of sorted pairs and scatters to their rows.
__global__ void gather_pairs(const double *from, const uint32_t *index, const uint32_t *row, double *out, size_t n) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n) out[row[i]] = from[index[i]];
}

// ---- timing

// took returns the median time of a call in milliseconds.
template <typename Call> static double took(Call call) {
    cudaEvent_t start, end;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&end));
    std::vector<float> times;
    for (int i = 0; i < 8; i++) {
        CHECK(cudaEventRecord(start));
        call();
        CHECK(cudaEventRecord(end));
        CHECK(cudaEventSynchronize(end));
        float took;
        CHECK(cudaEventElapsedTime(&took, start, end));
        if (i > 0) times.push_back(took);
    }
    CHECK(cudaGetLastError());
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(end));
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

struct Bench {
    size_t n;
    int bits; // of an index
    double *from, *out, *want;
    uint32_t *index, *sorted, *row, *sorted_row;
    ushort4 *places;
    uint16_t *starts;
    unsigned long long *differences;
    double plain, ceiling;

    explicit Bench(int bits) : n(size_t(1) << bits), bits(bits) {
        from = allocate<double>(n), out = allocate<double>(n), want = allocate<double>(n);
        index = allocate<uint32_t>(n), sorted = allocate<uint32_t>(n), row = allocate<uint32_t>(n), sorted_row = allocate<uint32_t>(n);
        places = allocate<ushort4>(n / 4), starts = allocate<uint16_t>((most_parts + 1) * (n / tile_rows));
        differences = allocate<unsigned long long>(1);
        fill_values<<<4096, 256>>>(from, n);
        fill_indices<<<4096, 256>>>(index, n);
        fill_rows<<<4096, 256>>>(row, n);
        gather<<<unsigned(n / 256), 256>>>(from, index, want, n);
        CHECK(cudaFuncSetAttribute(unsort_tiles, cudaFuncAttributeMaxDynamicSharedMemorySize, tile_rows * sizeof(double)));
    }
    ~Bench() {
        for (void *memory : {(void *)from, (void *)out, (void *)want, (void *)index, (void *)sorted, (void *)row, (void *)sorted_row,
                             (void *)places, (void *)starts, (void *)differences})
            CHECK(cudaFree(memory));
    }

    // verify compares the result with the plain gather's, and clears it.
    void verify(const char *what) {
        unsigned long long found;
        CHECK(cudaMemset(differences, 0, sizeof found));
        count_differences<<<4096, 256>>>(out, want, n, differences);
        CHECK(cudaMemcpy(&found, differences, sizeof found, cudaMemcpyDeviceToHost));
        if (found != 0) {
            fprintf(stderr, "%s: %llu of %zu rows are wrong\n", what, found, n);
            exit(1);
        }
        CHECK(cudaMemset(out, 0xff, n * sizeof(double)));
    }

    void print(const char *what, double ms, const char *parts = "") {
        printf("| 2^%d | %s | %.3f | %.1f | %.2f | %.2f | %s |\n", bits, what, ms, n / ms / 1e6, plain / ms, ceiling / ms, parts);
        fflush(stdout);
    }

    void plain_gathers() {
        ceiling = took([&] { random_reads<<<unsigned(n / 2048), 256>>>(from, out, n); });
        plain = took([&] { gather<<<unsigned(n / 256), 256>>>(from, index, out, n); });
        print("random reads alone (ceiling)", ceiling);
        print("plain gather", plain);
        verify("plain gather");
        double ms = took([&] { gather_eight<<<unsigned(n / 2048), 256>>>(from, (const uint4 *)index, (double2 *)out); });
        print("eight gathers a thread, 16-byte index loads", ms);
        verify("eight gathers");
        ms = took([&] { gather_pair<<<unsigned(n / 256), 256>>>((const double2 *)from, index, out); });
        print("values by 16-byte loads", ms);
        verify("16-byte loads");
        ms = took([&] { gather_sector<<<unsigned(n / 256), 256>>>((const double2 *)from, index, out); });
        print("values by whole sectors", ms);
        verify("whole sectors");
    }

    void in_tiles(int part_bits) {
        const unsigned tiles = unsigned(n / tile_rows), parts = 1u << part_bits;
        const auto sort = [&] {
            sort_tiles<<<tiles, tile_threads>>>((const uint4 *)index, (uint4 *)sorted, places, starts, uint32_t(bits - part_bits), parts);
        };
        const auto gather = [&] { gather_parts<<<parts * tiles / gather_warps, 32 * gather_warps>>>(from, sorted, starts, out, tiles); };
        const auto unsort = [&] { unsort_tiles<<<tiles, tile_threads, tile_rows * sizeof(double)>>>((double2 *)out, (const ushort2 *)places); };
        const double first = took(sort), second = took(gather), third = took(unsort); // the last leaves out in no order
        const double all = took([&] { sort(), gather(), unsort(); });
        char what[80], times[80];
        snprintf(what, sizeof what, "partitioned in tiles, %u parts", parts);
        snprintf(times, sizeof times, "%.3f + %.3f + %.3f", first, second, third);
        print(what, all, times);
        verify(what);
    }

    void as_pairs(int part_bits) {
        size_t bytes = 0;
        const auto sort = [&](void *temporary) {
            CHECK(cub::DeviceRadixSort::SortPairs(temporary, bytes, index, sorted, row, sorted_row, int(n), bits - part_bits, bits));
        };
        sort(nullptr);
        void *temporary = allocate<char>(std::max(bytes, size_t(1)));
        const auto gather = [&] { gather_pairs<<<unsigned(n / 256), 256>>>(from, sorted, sorted_row, out, n); };
        const double first = took([&] { sort(temporary); }), second = took(gather);
        const double all = took([&] { sort(temporary), gather(); });
        char what[80], times[80];
        snprintf(what, sizeof what, "pairs by cub radix sort, %d parts", 1 << part_bits);
        snprintf(times, sizeof times, "%.3f + %.3f", first, second);
        print(what, all, times);
        verify(what);
        CHECK(cudaFree(temporary));
    }
};

int main() {
    cudaDeviceProp p;
    CHECK(cudaGetDeviceProperties(&p, 0));
    printf("%s, L2 %d MiB, taking f64 by random u32 indices\n\n", p.name, p.l2CacheSize >> 20);
    printf("| rows | way | ms | Grows/s | of plain gather | of ceiling | passes, ms |\n| --- | --- | --- | --- | --- | --- | --- |\n");
    for (int bits : {24, 27}) {
        Bench b(bits);
        b.plain_gathers();
        for (int part_bits = 3; part_bits <= 8; part_bits++) b.in_tiles(part_bits);
        for (int part_bits = 3; part_bits <= 8; part_bits++) b.as_pairs(part_bits);
    }
    return 0;
}
