// Times CUB, and plain kernels if CUB has no such operation, as references for
// gpuframe's operators.
//
//     nvcc -O3 -arch=native -o peers peers.cu && ./peers [sort] ROWS [ROWS ...]
//
// With "sort" it times the sorts, without it everything else. Prints a tab-separated line for each figure: its name, the number of rows, and the
// median of its device time in milliseconds.
#include <cub/cub.cuh>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

static void check(cudaError_t error, int line) {
    if (error != cudaSuccess) {
        fprintf(stderr, "peers.cu:%d: %s\n", line, cudaGetErrorString(error));
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

template <typename T> __global__ void fill_uniform(T *out, size_t n) {
    FOR_EACH(i, n) out[i] = T((scrambled(i + 1) >> 11) * 0x1p-53);
}
__global__ void fill_flags(char *out, size_t n) { FOR_EACH(i, n) out[i] = scrambled(i + 7) & 1; }
__global__ void fill_bytes(unsigned *out, size_t n) { FOR_EACH(i, n) out[i] = scrambled(i + 9) & 255; }
__global__ void fill_indices(int *out, size_t n, bool sorted) {
    FOR_EACH(i, n) out[i] = int(sorted ? i : scrambled(i + 3) % n);
}
template <typename T> __global__ void fill_words(T *out, size_t n) { FOR_EACH(i, n) out[i] = T(scrambled(i + 11)); }
__global__ void gather(const double *from, const int *index, double *to, size_t n) {
    size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n) to[i] = from[index[i]];
}

struct Half {
    __device__ bool operator()(double value) const { return value > 0.5; }
};

static const int batch = 5; // calls that are timed together

template <typename Call> static void time_it(const char *name, size_t rows, Call call) {
    cudaEvent_t start, end;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&end));
    std::vector<float> times;
    for (int i = 0; i < 13; i++) {
        CHECK(cudaEventRecord(start));
        for (int j = 0; j < batch; j++) call();
        CHECK(cudaEventRecord(end));
        CHECK(cudaEventSynchronize(end));
        float took;
        CHECK(cudaEventElapsedTime(&took, start, end));
        if (i >= 2) times.push_back(took / batch);
    }
    CHECK(cudaGetLastError());
    std::sort(times.begin(), times.end());
    printf("%s\t%zu\t%.6f\n", name, rows, times[times.size() / 2]);
    fflush(stdout);
}

// time_cub runs a CUB algorithm with the temporary memory that it requires.
template <typename Call> static void time_cub(const char *name, size_t rows, Call call) {
    size_t bytes = 0;
    CHECK(call(nullptr, bytes));
    void *temporary = allocate<char>(std::max(bytes, size_t(1)));
    time_it(name, rows, [&] { CHECK(call(temporary, bytes)); });
    CHECK(cudaFree(temporary));
}

static void measure(size_t n) {
    const int rows = int(n), threads = 256;
    double *from = allocate<double>(n), *to = allocate<double>(n), *total = allocate<double>(1);
    float *narrow = allocate<float>(n), *narrow_total = allocate<float>(1);
    char *flags = allocate<char>(n);
    int *index = allocate<int>(n), *count = allocate<int>(1), *counts = allocate<int>(256);
    unsigned *bytes = allocate<unsigned>(n);
    fill_uniform<<<1024, threads>>>(from, n);
    fill_uniform<<<1024, threads>>>(narrow, n);
    fill_flags<<<1024, threads>>>(flags, n);
    fill_bytes<<<1024, threads>>>(bytes, n);

    time_it("copy f64 (cudaMemcpyAsync)", n, [&] { CHECK(cudaMemcpyAsync(to, from, 8 * n, cudaMemcpyDeviceToDevice)); });
    time_cub("cub sum f64", n, [&](void *t, size_t &b) { return cub::DeviceReduce::Sum(t, b, from, total, rows); });
    time_cub("cub sum f32", n, [&](void *t, size_t &b) { return cub::DeviceReduce::Sum(t, b, narrow, narrow_total, rows); });
    time_cub("cub scan f64", n, [&](void *t, size_t &b) { return cub::DeviceScan::InclusiveSum(t, b, from, to, rows); });
    time_cub("cub filter f64", n, [&](void *t, size_t &b) { return cub::DeviceSelect::Flagged(t, b, from, flags, to, count, rows); });
    time_cub("cub filter if f64", n, [&](void *t, size_t &b) { return cub::DeviceSelect::If(t, b, from, to, count, rows, Half()); });
    time_cub("cub histogram 256", n, [&](void *t, size_t &b) { return cub::DeviceHistogram::HistogramEven(t, b, bytes, counts, 257, 0u, 256u, rows); });
    for (bool sorted : {false, true}) {
        fill_indices<<<1024, threads>>>(index, n, sorted);
        time_it(sorted ? "plain gather sorted f64" : "plain gather random f64", n,
                [&] { gather<<<unsigned((n + threads - 1) / threads), threads>>>(from, index, to, n); });
    }
    for (void *memory : {(void *)from, (void *)to, (void *)total, (void *)narrow, (void *)narrow_total, (void *)flags, (void *)index,
                         (void *)count, (void *)counts, (void *)bytes})
        CHECK(cudaFree(memory));
}

// measure_sort sorts keys, alone and with 32-bit payload.
template <typename Key, typename Fill> static void measure_sort(const char *type, size_t n, Fill fill) {
    Key *from = allocate<Key>(n), *to = allocate<Key>(n);
    unsigned *payload = allocate<unsigned>(n), *moved = allocate<unsigned>(n);
    fill<<<1024, 256>>>(from, n);
    fill_words<<<1024, 256>>>(payload, n);
    const std::string name = std::string("cub sort ") + type;
    time_cub(name.c_str(), n, [&](void *t, size_t &b) { return cub::DeviceRadixSort::SortKeys(t, b, from, to, n); });
    time_cub((name + " with u32").c_str(), n,
             [&](void *t, size_t &b) { return cub::DeviceRadixSort::SortPairs(t, b, from, to, payload, moved, n); });
    for (void *memory : {(void *)from, (void *)to, (void *)payload, (void *)moved}) CHECK(cudaFree(memory));
}

int main(int arguments, char **values) {
    if (arguments > 1 && std::string(values[1]) == "sort") {
        for (int i = 2; i < arguments; i++) {
            const size_t n = strtoull(values[i], nullptr, 10);
            measure_sort<unsigned>("u32", n, fill_words<unsigned>);
            measure_sort<float>("f32", n, fill_uniform<float>);
            measure_sort<unsigned long long>("u64", n, fill_words<unsigned long long>);
            measure_sort<long long>("i64", n, fill_words<long long>);
            measure_sort<double>("f64", n, fill_uniform<double>);
        }
        return 0;
    }
    for (int i = 1; i < arguments; i++) measure(strtoull(values[i], nullptr, 10));
    return 0;
}
