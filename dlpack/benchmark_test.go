//go:build cgo && unix && !(386 || arm)

package dlpack_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/dlpack"
	"github.com/gpuframe/gpuframe/dlpack/internal/cabi/cabitest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

func eachDeviceBenchmark(b *testing.B, f func(b *testing.B, m *memory.Manager, c *column.Column)) {
	for _, name := range []string{"host", "cuda:0"} {
		b.Run(name, func(b *testing.B) {
			m, err := memory.NewManager(devicetest.Open(b, name), memory.Options{})
			require.NoError(b, err)
			c := newInts(b, m, 1<<20)
			require.NoError(b, c.Buffer(1).Block().Synchronize(b.Context()))
			b.ReportAllocs()
			f(b, m, c)
			require.NoError(b, c.Release())
			require.NoError(b, m.Close())
		})
	}
}

// A tensor is exported, imported as a column, and released.
func BenchmarkExportImport(b *testing.B) {
	eachDeviceBenchmark(b, func(b *testing.B, m *memory.Manager, c *column.Column) {
		for b.Loop() {
			tensor, err := dlpack.Export(c)
			if err != nil {
				b.Fatal(err)
			}
			back, err := dlpack.Import(m, tensor.Detach())
			if err != nil {
				b.Fatal(err)
			}
			if err := back.Release(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// A consumer's deleter runs in C.
func BenchmarkExportDelete(b *testing.B) {
	eachDeviceBenchmark(b, func(b *testing.B, _ *memory.Manager, c *column.Column) {
		for b.Loop() {
			tensor, err := dlpack.Export(c)
			if err != nil {
				b.Fatal(err)
			}
			cabitest.Delete(tensor.Detach(), false)
		}
	})
}

// Another library's tensor is adopted and released.
func BenchmarkImportForeign(b *testing.B) {
	eachDeviceBenchmark(b, func(b *testing.B, m *memory.Manager, _ *column.Column) {
		p := newProducer(b, m.Device(), devicetest.Foreign(b, m.Device(), pattern(4096)), float32Type, 1024)
		for b.Loop() {
			c, err := importEither(m, p, false)
			if err != nil {
				b.Fatal(err)
			}
			if err := c.Release(); err != nil {
				b.Fatal(err)
			}
		}
		require.Positive(b, p.Deleted())
	})
}

// A consumer's deleter runs on a tensor of two dimensions.
func BenchmarkExportDeleteLists(b *testing.B) {
	eachDeviceBenchmark(b, func(b *testing.B, m *memory.Manager, c *column.Column) {
		require.NoError(b, c.Retain())
		lists := newLists(b, arrow.FixedSizeListOf(4, arrow.PrimitiveTypes.Int32), 0, 1<<18, c)
		b.ResetTimer()
		for b.Loop() {
			tensor, err := dlpack.Export(lists)
			if err != nil {
				b.Fatal(err)
			}
			cabitest.Delete(tensor.Detach(), false)
		}
		require.NoError(b, lists.Release())
	})
}

// Twenty adjacent columns are exported as one tensor.
func BenchmarkExportMatrixDelete(b *testing.B) {
	eachDeviceBenchmark(b, func(b *testing.B, m *memory.Manager, c *column.Column) {
		const rows = 50_000
		offsets := make([]int, 20)
		for i := range offsets {
			offsets[i] = 4 * rows * i
		}
		columns := sharedColumns(b, c.Buffer(1), arrow.PrimitiveTypes.Int32, rows, 4, offsets...)
		b.ResetTimer()
		for b.Loop() {
			tensor, err := dlpack.ExportMatrix(columns)
			if err != nil {
				b.Fatal(err)
			}
			cabitest.Delete(tensor.Detach(), false)
		}
		releaseColumns(b, columns)
	})
}
