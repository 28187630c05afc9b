// Times ways to join two tables of distinct int64 keys, with a payload of 8 bytes on each side,
// by the number of rows: one hash table for all rows, or both sides partitioned by the hash so that
// the slots of a partition fit the L2 cache; the payloads gathered by row number, or carried with
// the keys.
//
//     nvcc -O3 -std=c++17 -arch=native -o partitioned_join partitioned_join.cu && ./partitioned_join
//
// Every way writes pairs of payloads. Their number and a sum that depends on each pair are
// compared with those that are expected.
#include <cub/cub.cuh>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

static void check(cudaError_t error, int line) {
    if (error != cudaSuccess) {
        fprintf(stderr, "partitioned_join.cu:%d: %s\n", line, cudaGetErrorString(error));
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
__host__ __device__ static uint64_t scrambled(uint64_t word) {
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
    return word ^ (word >> 31);
}

static constexpr uint32_t none = ~0u;

// A key is the scrambled number of its row, a payload another function of this number, so the
// expected pairs are known. The probe side has the numbers in another order.
__global__ void fill(uint64_t *keys, uint64_t *payloads, size_t n, uint64_t step) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i >= n) return;
    const uint64_t number = i * step % n;
    keys[i] = scrambled(number + 1);
    payloads[i] = number * 3 + step;
}

__global__ void hash(const uint64_t *keys, uint64_t *hashes, uint32_t *rows, size_t n) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i >= n) return;
    hashes[i] = scrambled(keys[i] ^ 0x9e3779b97f4a7c15u);
    if (rows != nullptr) rows[i] = uint32_t(i);
}

// Table has the number of a row, or its place among the partitioned rows, and a tag above it in
// each slot, as kernels/join has.
struct Table {
    uint32_t *slots;
    uint64_t size;
    uint32_t bits; // of a row

    __device__ uint64_t home(uint64_t hash) const { return __umul64hi(hash, size); }
    __device__ uint32_t tag(uint64_t hash) const { return uint32_t(hash) << bits; }
    __device__ uint32_t row(uint32_t slot) const { return slot & ((1u << bits) - 1); }
    __device__ bool may_have(uint32_t slot, uint64_t hash) const { return (slot ^ tag(hash)) >> bits == 0; }

    // find returns the row of a hash. words are those of the rows, word the one to find.
    __device__ uint32_t find(uint64_t hash, const uint64_t *words, uint64_t word) const {
        for (uint64_t at = home(hash);;) {
            const uint32_t slot = slots[at];
            if (slot == none) return none;
            if (may_have(slot, hash) && words[row(slot)] == word) return row(slot);
            if (++at == size) at = 0;
        }
    }
};

// insert takes keys, or hashes if hashed is set.
template <bool hashed> __global__ void insert(Table table, const uint64_t *words, size_t n) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i >= n) return;
    const uint64_t hash = hashed ? words[i] : scrambled(words[i] ^ 0x9e3779b97f4a7c15u);
    for (uint64_t at = table.home(hash);;) {
        const uint32_t slot = *(volatile uint32_t *)&table.slots[at];
        if (slot == none && atomicCAS(&table.slots[at], none, table.tag(hash) | uint32_t(i)) == none) return;
        if (++at == table.size) at = 0;
    }
}

// whole_rows finds the build row of each probe row; whole_payloads writes pairs at once.
__global__ void whole_rows(Table table, const uint64_t *build, const uint64_t *probe, uint32_t *found, size_t n) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i >= n) return;
    const uint64_t key = probe[i];
    found[i] = table.find(scrambled(key ^ 0x9e3779b97f4a7c15u), build, key);
}

struct Pairs {
    uint64_t *probe, *build;
};

__global__ void whole_payloads(Table table, const uint64_t *build, const uint64_t *probe, const uint64_t *build_payloads, const uint64_t *probe_payloads, Pairs out, size_t n) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i >= n) return;
    const uint64_t key = probe[i];
    const uint32_t row = table.find(scrambled(key ^ 0x9e3779b97f4a7c15u), build, key);
    out.probe[i] = probe_payloads[i];
    out.build[i] = row == none ? 0 : build_payloads[row];
}

// parts_rows finds pairs of rows from partitioned hashes, parts_payloads pairs of payloads.
__global__ void parts_rows(Table table, const uint64_t *build, const uint64_t *probe, const uint32_t *build_rows, uint32_t *found, size_t n) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i >= n) return;
    const uint32_t at = table.find(probe[i], build, probe[i]);
    found[i] = at == none ? none : build_rows[at];
}

__global__ void parts_payloads(Table table, const uint64_t *build, const uint64_t *probe, const uint64_t *build_payloads, const uint64_t *probe_payloads, Pairs out, size_t n) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i >= n) return;
    const uint32_t at = table.find(probe[i], build, probe[i]);
    out.probe[i] = probe_payloads[i];
    out.build[i] = at == none ? 0 : build_payloads[at];
}

__global__ void gather(const uint64_t *from, const uint32_t *rows, uint64_t *out, size_t n) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = from[rows[i]];
}

__global__ void sum_pairs(Pairs pairs, unsigned long long *sum, size_t n) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n) atomicAdd(sum, (unsigned long long)scrambled(pairs.probe[i] ^ scrambled(pairs.build[i])));
}

// took returns the median time of a call in milliseconds.
template <typename Call> static double took(Call call) {
    cudaEvent_t start, end;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&end));
    std::vector<float> times;
    for (int i = 0; i < 6; i++) {
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

// Side is one table, its hashes, and both partitioned.
struct Side {
    uint64_t *keys, *payloads, *hashes, *parts, *carried;
    uint32_t *rows, *part_rows;

    Side(size_t n, uint64_t step) {
        for (uint64_t **p : {&keys, &payloads, &hashes, &parts, &carried}) *p = allocate<uint64_t>(n);
        rows = allocate<uint32_t>(n), part_rows = allocate<uint32_t>(n);
        fill<<<unsigned((n + 255) / 256), 256>>>(keys, payloads, n, step);
    }
    ~Side() {
        for (void *memory : {(void *)keys, (void *)payloads, (void *)hashes, (void *)parts, (void *)carried, (void *)rows, (void *)part_rows}) CHECK(cudaFree(memory));
    }
};

struct Bench {
    static constexpr uint64_t step = 7654321; // odd, so that it permutes the rows of a power of two
    int bits;
    size_t n;
    unsigned grid;
    Side build, probe;
    Table table;
    Pairs out;
    uint32_t *found;
    unsigned long long *sum, want = 0;
    void *temporary = nullptr;
    size_t temporary_bytes = 0;

    explicit Bench(int bits) : bits(bits), n(size_t(1) << bits), grid(unsigned(n / 256)), build(n, 1), probe(n, step) {
        table = {allocate<uint32_t>(n + n / 2), n + n / 2, uint32_t(bits + 1)};
        out = {allocate<uint64_t>(n), allocate<uint64_t>(n)};
        found = allocate<uint32_t>(n);
        sum = allocate<unsigned long long>(1);
        for (size_t i = 0; i < n; i++) want += scrambled(i * 3 + step ^ scrambled(i * 3 + 1));
        cub::DeviceRadixSort::SortPairs(nullptr, temporary_bytes, build.hashes, build.parts, build.payloads, build.carried, int(n), 56, 64);
        temporary = allocate<char>(temporary_bytes);
    }
    ~Bench() {
        for (void *memory : {(void *)table.slots, (void *)out.probe, (void *)out.build, (void *)found, (void *)sum, temporary}) CHECK(cudaFree(memory));
    }

    void clear() { CHECK(cudaMemsetAsync(table.slots, 0xff, table.size * 4)); }

    // measure times a way, and verifies its pairs. None of the ways keeps the order of the rows
    // but the first two.
    template <typename Call> void measure(const char *what, Call call) {
        const double ms = took(call);
        unsigned long long got;
        CHECK(cudaMemset(sum, 0, sizeof got));
        sum_pairs<<<grid, 256>>>(out, sum, n);
        CHECK(cudaMemcpy(&got, sum, sizeof got, cudaMemcpyDeviceToHost));
        if (got != want) {
            fprintf(stderr, "2^%d, %s: wrong pairs\n", bits, what);
            exit(1);
        }
        printf("| 2^%d | %s | %.3f | %.1f |\n", bits, what, ms, 2 * n / ms / 1e6);
        fflush(stdout);
    }

    template <typename Value> void partition(Side &side, Value *values, Value *to) {
        CHECK(cub::DeviceRadixSort::SortPairs(temporary, temporary_bytes, side.hashes, side.parts, values, to, int(n), 56, 64));
    }

    void run() {
        measure("one table, payload gathered", [&] {
            clear();
            insert<false><<<grid, 256>>>(table, build.keys, n);
            whole_rows<<<grid, 256>>>(table, build.keys, probe.keys, found, n);
            gather<<<grid, 256>>>(build.payloads, found, out.build, n);
            CHECK(cudaMemcpyAsync(out.probe, probe.payloads, 8 * n, cudaMemcpyDeviceToDevice));
        });
        measure("one table, payload with the match", [&] {
            clear();
            insert<false><<<grid, 256>>>(table, build.keys, n);
            whole_payloads<<<grid, 256>>>(table, build.keys, probe.keys, build.payloads, probe.payloads, out, n);
        });
        measure("256 parts, payload gathered", [&] {
            clear();
            for (Side *side : {&build, &probe}) {
                hash<<<grid, 256>>>(side->keys, side->hashes, side->rows, n);
                partition(*side, side->rows, side->part_rows);
            }
            insert<true><<<grid, 256>>>(table, build.parts, n);
            parts_rows<<<grid, 256>>>(table, build.parts, probe.parts, build.part_rows, found, n);
            gather<<<grid, 256>>>(build.payloads, found, out.build, n);
            gather<<<grid, 256>>>(probe.payloads, probe.part_rows, out.probe, n);
        });
        measure("256 parts, payload carried", [&] {
            clear();
            for (Side *side : {&build, &probe}) {
                hash<<<grid, 256>>>(side->keys, side->hashes, nullptr, n);
                partition(*side, side->payloads, side->carried);
            }
            insert<true><<<grid, 256>>>(table, build.parts, n);
            parts_payloads<<<grid, 256>>>(table, build.parts, probe.parts, build.carried, probe.carried, out, n);
        });
    }
};

int main() {
    cudaDeviceProp p;
    CHECK(cudaGetDeviceProperties(&p, 0));
    printf("%s, L2 %d MiB, joins of distinct int64 keys with payloads of 8 bytes\n\n", p.name, p.l2CacheSize >> 20);
    printf("| rows of each side | way | ms | Grows/s |\n| --- | --- | --- | --- |\n");
    for (int bits = 16; bits <= 27; bits++) {
        if (bits % 2 != 0 && bits < 23) continue;
        Bench(bits).run();
    }
    return 0;
}
