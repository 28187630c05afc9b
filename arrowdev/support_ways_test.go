//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/arrowdev/internal/producertest"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/memory"
)

// These functions are the ways of the support table. Each returns an error if the way
// is impossible.

// tryExport exports the column and compares the structs with it, recursively.
func tryExport(t *testing.T, m *memory.Manager, c *column.Column, _ arrow.Array) error {
	a, err := ExportColumn(c, arrow.Field{}, ExportOptions{Device: m.Device()})
	if err != nil {
		return err
	}
	defer a.Release()
	return sameStructs(&deviceArray(a).Array, c)
}

func sameStructs(a *cabi.Array, c *column.Column) error {
	data := c.Data()
	if a.Length != int64(data.Length) || a.Offset != int64(data.Offset) || a.NumChildren != int64(len(data.Children)) {
		return fmt.Errorf("the struct of %v differs", data.Type)
	}
	for i, at := range buffersOf(a)[:len(data.Buffers)] {
		if region := data.Buffers[i]; region.Len() > 0 && uintptr(region.Pointer()) != at {
			return fmt.Errorf("buffer %d of %v is another", i, data.Type)
		}
	}
	for i, child := range data.Children {
		if err := sameStructs(childOf(a, i), child); err != nil {
			return err
		}
	}
	if data.Dictionary != nil {
		return sameStructs(dictionaryOf(a), data.Dictionary)
	}
	return nil
}

// tryOwn requires that the import returns the column itself.
func tryOwn(t *testing.T, m *memory.Manager, c *column.Column, _ arrow.Array) error {
	a, err := ExportColumn(c, arrow.Field{}, ExportOptions{Device: m.Device()})
	if err != nil {
		return err
	}
	defer a.Release()
	back, _, err := ImportColumn(m, a.Device(), a.Schema())
	if err != nil {
		return err
	}
	defer back.Release()
	if back != c {
		return fmt.Errorf("%v was not recognised", c.Type())
	}
	return nil
}

// tryForeign requires the same elements from memory outside all managers.
func tryForeign(t *testing.T, m *memory.Manager, c *column.Column, want arrow.Array) error {
	p, a := foreignTable(t, m, recordOf(want))
	defer a.Release()
	table, err := Import(m, unsafe.Pointer(p.Device), a.Schema())
	if err != nil {
		return err
	}
	return sameElements(want, download(t, table).Column(0))
}

func sameElements(want, got arrow.Array) error {
	if !array.Equal(want, got) {
		return fmt.Errorf("%v has other elements", want.DataType())
	}
	return nil
}

// tryPlain requires the same elements as an arrow-go array. It uses host memory on
// any device.
func tryPlain(t *testing.T, _ *memory.Manager, _ *column.Column, want arrow.Array) error {
	m := newHostManager(t)
	table := upload(t, m, recordOf(want))
	a, err := ExportColumn(table.Column(0), arrow.Field{})
	require.NoError(t, err)
	require.NoError(t, table.Release())
	p := producertest.Disguise(deviceArray(a))
	defer p.Free()
	defer a.Release()
	got, err := ImportArray(pointerTo(&p.Device.Array), a.Schema())
	if err != nil {
		return err
	}
	defer got.Release()
	return sameElements(want, got)
}

// tryRecord exports a record and imports it again.
func tryRecord(t *testing.T, _ *memory.Manager, _ *column.Column, want arrow.Array) error {
	p := producertest.New()
	defer p.Free()
	schema := (*cabi.Schema)(p.Allocate(int(unsafe.Sizeof(cabi.Schema{}))))
	out := (*cabi.Array)(p.Allocate(int(unsafe.Sizeof(cabi.Array{}))))
	if err := ExportRecord(recordOf(want), unsafe.Pointer(out), unsafe.Pointer(schema)); err != nil {
		return err
	}
	got, err := ImportRecord(unsafe.Pointer(out), unsafe.Pointer(schema))
	if err != nil {
		return err
	}
	defer got.Release()
	return sameElements(want, got.Column(0))
}
