//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev

import (
	"testing"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/arrowdev/internal/schematest"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// twenty is a record of twenty columns of fixed width, some of which have nulls.
func twenty() arrow.Record {
	types := []arrow.DataType{arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64}
	arrays := make([]arrow.Array, 20)
	g := arraytest.NewGenerator(1)
	for i := range arrays {
		g.Nulls = arraytest.NoneNull
		if i%3 == 0 {
			g.Nulls = arraytest.SomeNull
		}
		arrays[i] = g.Array(types[i%len(types)], 4096)
	}
	return recordOf(arrays...)
}

func eachDeviceBenchmark(b *testing.B, f func(b *testing.B, m *memory.Manager, table *buffer.Buffer)) {
	for _, name := range []string{"host", "cuda:0"} {
		b.Run(name, func(b *testing.B) {
			m, err := memory.NewManager(devicetest.Open(b, name), memory.Options{})
			require.NoError(b, err)
			table := upload(b, m, twenty())
			for block := range table.Column(0).Blocks {
				require.NoError(b, block.Synchronize(b.Context()))
			}
			b.ReportAllocs()
			f(b, m, table)
			require.NoError(b, table.Release())
			require.NoError(b, m.Close())
		})
	}
}

// A table of twenty columns is exported, imported and released.
func BenchmarkExportImport20(b *testing.B) {
	eachDeviceBenchmark(b, func(b *testing.B, m *memory.Manager, table *buffer.Buffer) {
		for b.Loop() {
			a, err := Export(table)
			if err != nil {
				b.Fatal(err)
			}
			back, err := Import(m, a.Device(), a.Schema())
			if err != nil {
				b.Fatal(err)
			}
			if err := back.Release(); err != nil {
				b.Fatal(err)
			}
			if err := a.Release(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// The array is exported with its schema and released.
func BenchmarkExport20(b *testing.B) {
	eachDeviceBenchmark(b, func(b *testing.B, _ *memory.Manager, table *buffer.Buffer) {
		for b.Loop() {
			a, err := Export(table)
			if err != nil {
				b.Fatal(err)
			}
			if err := a.Release(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// The array is exported and imported without a schema.
func BenchmarkExportImport20Arrays(b *testing.B) {
	eachDeviceBenchmark(b, func(b *testing.B, m *memory.Manager, table *buffer.Buffer) {
		var out cabi.DeviceArray
		for b.Loop() {
			if err := exportTable(table, nil, &out, ExportOptions{}); err != nil {
				b.Fatal(err)
			}
			back, err := importTable(m, &out, table.Schema(), ImportOptions{})
			if err != nil {
				b.Fatal(err)
			}
			if err := back.Release(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// Another library's array of twenty columns, in memory unknown to gpuframe, is
// imported and released. Its structs are reused for each iteration.
func BenchmarkImportForeign20(b *testing.B) {
	eachDeviceBenchmark(b, func(b *testing.B, m *memory.Manager, table *buffer.Buffer) {
		p, a := foreignTable(b, m, twenty())
		var schema cabi.Schema
		p.Keep()
		for b.Loop() {
			in := *p.Device
			if err := ExportSchema(table.Schema(), unsafe.Pointer(&schema)); err != nil {
				b.Fatal(err)
			}
			back, err := Import(m, unsafe.Pointer(&in), unsafe.Pointer(&schema))
			if err != nil {
				b.Fatal(err)
			}
			if err := back.Release(); err != nil {
				b.Fatal(err)
			}
		}
		require.Positive(b, p.RootReleases())
		require.NoError(b, a.Release())
	})
}

// The schema of twenty columns of another library, which is sent repeatedly, is read.
func BenchmarkImportForeignSchema20(b *testing.B) {
	for _, known := range []bool{true, false} {
		name := map[bool]string{true: "known", false: "new"}[known]
		b.Run(name, func(b *testing.B) {
			var p schematest.Producer
			defer p.Close()
			children := make([]*cabi.Schema, 20)
			for i := range children {
				children[i] = p.Schema([]string{"i", "l", "f", "g"}[i%4])
				children[i].Name = p.Text("column" + string(rune('a'+i)))
			}
			root := p.Schema("+s", children...)
			var kept *arrow.Schema
			b.ReportAllocs()
			for b.Loop() {
				if !known {
					readSchemas.clear()
				}
				in := *root
				schema, err := ImportSchema(unsafe.Pointer(&in))
				if err != nil {
					b.Fatal(err)
				}
				kept = schema
			}
			_ = kept
		})
	}
}
