//go:build unix

package source_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/testing/processor"
)

// keptMemory is an allocator that keeps memory for later requests, like pinned memory, and does
// not clear it for callers that ask for this.
type keptMemory struct {
	mu   sync.Mutex
	free map[int][][]byte // by length, a power of two
	live map[*byte]int
}

func (k *keptMemory) AllocateUninitialized(size int) []byte {
	if size <= 0 {
		return nil
	}
	length := 64
	for length < size {
		length *= 2
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	var made []byte
	if list := k.free[length]; len(list) > 0 {
		made, k.free[length] = list[len(list)-1], list[:len(list)-1]
	} else {
		made = make([]byte, length)
	}
	k.live[unsafe.SliceData(made)] = length
	return made[:size:size]
}

func (k *keptMemory) Allocate(size int) []byte {
	made := k.AllocateUninitialized(size)
	clear(made)
	return made
}

func (k *keptMemory) Reallocate(size int, old []byte) []byte {
	made := k.Allocate(size)
	copy(made, old)
	k.Free(old)
	return made
}

func (k *keptMemory) Free(old []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	begin := unsafe.SliceData(old)
	length, is := k.live[begin]
	if !is {
		return
	}
	delete(k.live, begin)
	k.free[length] = append(k.free[length], unsafe.Slice(begin, length))
}

// BenchmarkParquetDecode decodes columns of TPC-H's lineitem, in the folder that TPCH names
// (go -C bench run ./tpch -sf 1 -parquet -device host -folder FOLDER writes it), into memory that
// is used again, as pinned memory is.
func BenchmarkParquetDecode(b *testing.B) {
	files, err := filepath.Glob(filepath.Join(os.Getenv("TPCH"), "lineitem-*.parquet"))
	require.NoError(b, err)
	if len(files) == 0 {
		b.Skip("TPCH names no folder with lineitem-*.parquet")
	}
	for _, test := range []struct {
		name    string
		columns []string
	}{
		{"decimals", []string{"l_quantity", "l_extendedprice", "l_discount", "l_tax"}},
		{"integers", []string{"l_orderkey", "l_partkey", "l_suppkey", "l_linenumber"}},
		{"dates", []string{"l_shipdate", "l_commitdate", "l_receiptdate"}},
		{"short-strings", []string{"l_returnflag", "l_linestatus", "l_shipmode", "l_shipinstruct"}},
		{"comment", []string{"l_comment"}},
		{"all", nil},
	} {
		b.Run(test.name, func(b *testing.B) {
			s := openedParquet(b, files...)
			memory := &keptMemory{free: map[int][][]byte{}, live: map[*byte]int{}}
			_, err := source.DecodeParquet(b.Context(), s, test.columns, memory)
			require.NoError(b, err)
			before := processor.Time()
			for b.Loop() {
				_, err := source.DecodeParquet(b.Context(), s, test.columns, memory)
				require.NoError(b, err)
			}
			b.ReportMetric(float64((processor.Time()-before).Microseconds())/1e3/float64(b.N), "processor-ms/op")
		})
	}
}
