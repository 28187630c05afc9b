package iceberg

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/big"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	footers "github.com/apache/arrow/go/v17/parquet/metadata"

	"github.com/gpuframe/gpuframe/lake/internal/storage"
)

// metrics are the counts and bounds of a file of data in a manifest, by the IDs of columns.
type metrics struct {
	rows, size           int64
	sizes, values, nulls map[int]int64
	lower, upper         map[int][]byte
	offsets              []int64
}

// readMetrics reads the footer of a file. Types are those of columns without parts.
func readMetrics(ctx context.Context, from storage.Storage, name string, types map[int]arrow.DataType) (*metrics, error) {
	about, err := from.Stat(ctx, name)
	if err != nil {
		return nil, err
	}
	const trailer = 8 // the length of the footer, and the magic
	end, err := from.ReadRange(ctx, name, about.Size-trailer, trailer, trailer)
	if err != nil {
		return nil, err
	}
	length := int64(binary.LittleEndian.Uint32(end))
	data, err := from.ReadRange(ctx, name, about.Size-trailer-length, length, mostManifest)
	if err != nil {
		return nil, err
	}
	footer, err := footers.NewFileMetaData(data, nil)
	if err != nil {
		return nil, fmt.Errorf("read the footer that was written: %w", err)
	}
	return metricsOf(footer, about.Size, types)
}

// metricsOf adds up the row groups of a file.
func metricsOf(footer *footers.FileMetaData, size int64, types map[int]arrow.DataType) (*metrics, error) {
	m := &metrics{
		rows: footer.GetNumRows(), size: size,
		sizes: map[int]int64{}, values: map[int]int64{}, nulls: map[int]int64{}, lower: map[int][]byte{}, upper: map[int][]byte{},
	}
	for group := range footer.RowGroups {
		row := footer.RowGroup(group)
		for i := range row.NumColumns() {
			chunk, err := row.ColumnChunk(i)
			if err != nil {
				return nil, err
			}
			if i == 0 {
				offset := chunk.DataPageOffset()
				if chunk.HasDictionaryPage() {
					offset = min(offset, chunk.DictionaryPageOffset())
				}
				m.offsets = append(m.offsets, offset)
			}
			leaf := footer.Schema.Column(i)
			id := int(leaf.SchemaNode().FieldID())
			m.sizes[id] += chunk.TotalCompressedSize()
			if t := types[id]; t != nil && leaf.MaxRepetitionLevel() == 0 {
				m.addChunk(id, t, chunk, group == 0, hasBounds(t))
			}
		}
	}
	for id, t := range types {
		m.shorten(id, t)
	}
	return m, nil
}

// hasBounds reports whether files have bounds of the values of a type. Those of floats need the number of NaN, which footers
// lack: without it engines take bounds to be those of all values, and delete files as a whole.
func hasBounds(t arrow.DataType) bool { return t.ID() != arrow.FLOAT32 && t.ID() != arrow.FLOAT64 }

// addChunk adds a column of a row group. Counts and bounds that a row group lacks are left out for the file.
func (m *metrics) addChunk(id int, t arrow.DataType, chunk *footers.ColumnChunkMetaData, first, bounded bool) {
	m.values[id] += chunk.NumValues()
	statistics, err := chunk.Statistics()
	_, counted := m.nulls[id]
	if err != nil || statistics == nil || !statistics.HasNullCount() || !first && !counted {
		delete(m.nulls, id)
		m.lower[id], m.upper[id] = nil, nil
		return
	}
	m.nulls[id] += statistics.NullCount()
	if statistics.NullCount() == chunk.NumValues() {
		return
	}
	var low, high []byte
	if bounded && statistics.HasMinMax() {
		low, high = singleValue(statistics.EncodeMin(), t), singleValue(statistics.EncodeMax(), t)
	}
	if low == nil || high == nil {
		m.lower[id], m.upper[id] = nil, nil
		return
	}
	if before, ok := m.lower[id]; !ok || before != nil && compareValues(low, before, t) < 0 {
		m.lower[id] = low
	}
	if before, ok := m.upper[id]; !ok || before != nil && compareValues(high, before, t) > 0 {
		m.upper[id] = high
	}
}

// shorten leaves out unknown bounds, and the ends of long texts.
func (m *metrics) shorten(id int, t arrow.DataType) {
	low, high := m.lower[id], m.upper[id]
	switch t.ID() {
	case arrow.STRING:
		low, high = lowerText(low), upperText(high)
	case arrow.BINARY:
		low, high = low[:min(len(low), boundLength)], upperBytes(high)
	}
	m.lower[id], m.upper[id] = low, high
	if low == nil || len(low) > mostBound {
		delete(m.lower, id)
	}
	if high == nil || len(high) > mostBound {
		delete(m.upper, id)
	}
}

// singleValue returns the bytes that Iceberg has for a value of Parquet's statistics, or nil.
func singleValue(data []byte, t arrow.DataType) []byte {
	length := map[arrow.Type]int{arrow.BOOL: 1, arrow.INT32: 4, arrow.INT64: 8, arrow.DATE32: 4, arrow.TIME64: 8, arrow.TIMESTAMP: 8}[t.ID()]
	switch t := t.(type) {
	case *arrow.Decimal128Type:
		return decimalValue(data, t)
	case *arrow.StringType, *arrow.BinaryType:
		return append([]byte{}, data...) // also of empty text, which is no nil
	case *arrow.FixedSizeBinaryType:
		length = t.ByteWidth
	}
	if length == 0 || len(data) != length {
		return nil
	}
	return bytes.Clone(data)
}

// decimalValue returns the shortest bytes of a decimal: 32 and 64 bits are integers in Parquet, others have bytes.
func decimalValue(data []byte, t *arrow.Decimal128Type) []byte {
	v := unscaledOf(data)
	switch {
	case t.Precision <= 9 && len(data) == 4:
		v = big.NewInt(int64(int32(binary.LittleEndian.Uint32(data))))
	case t.Precision <= 18 && len(data) == 8:
		v = big.NewInt(int64(binary.LittleEndian.Uint64(data)))
	}
	if v == nil {
		return nil
	}
	return signedBytes(v)
}

// signedBytes returns the shortest two's complement of a number, from the highest byte on.
func signedBytes(v *big.Int) []byte {
	magnitude := v
	if v.Sign() < 0 {
		magnitude = new(big.Int).Not(v)
	}
	data := make([]byte, magnitude.BitLen()/8+1)
	magnitude.FillBytes(data)
	if v.Sign() < 0 {
		for i := range data {
			data[i] = ^data[i]
		}
	}
	return data
}

// compareValues compares values of a column of a type.
func compareValues(a, b []byte, t arrow.DataType) int {
	switch t.ID() {
	case arrow.BOOL, arrow.STRING, arrow.BINARY, arrow.FIXED_SIZE_BINARY:
		return bytes.Compare(a, b)
	}
	return compareBounds(boundOf(a, t), boundOf(b, t))
}

// leafTypes adds the types of columns without parts, and of those within structs.
func leafTypes(types map[int]arrow.DataType, columns []column) map[int]arrow.DataType {
	for _, c := range columns {
		switch t := c.t.(type) {
		case *arrow.StructType:
			var members []column
			for i, field := range t.Fields() {
				members = append(members, column{id: int(c.origin.Members[i].ID), name: field.Name, t: field.Type, origin: c.origin.Members[i]})
			}
			leafTypes(types, members)
		case *arrow.ListType, *arrow.MapType:
		default:
			types[c.id] = c.t
		}
	}
	return types
}

// checkRequired checks that columns that may not have nulls have none.
func (m *metrics) checkRequired(columns []column, required []int) error {
	for _, c := range columns {
		if arrow.IsNested(c.t.ID()) || !slices.Contains(required, c.id) {
			continue
		}
		nulls, ok := m.nulls[c.id]
		if !ok {
			return fmt.Errorf("the file has no count of the nulls of column %q, and the table requires values: %w", c.name, ErrColumns)
		}
		if nulls > 0 {
			return fmt.Errorf("column %q has %d nulls, but the table requires values: %w", c.name, nulls, ErrColumns)
		}
	}
	return nil
}
