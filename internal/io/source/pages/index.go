package pages

import (
	"fmt"

	"github.com/gpuframe/gpuframe/internal/io/thrift"
)

// Bounds describe the values of a page, by the column index.
type Bounds struct {
	// Low and High are plain values between which all values of the page lie, nulls and NaN aside. Those of texts may be
	// cut short.
	Low, High []byte
	// Null reports that the page has only nulls: Low and High are of no meaning then.
	Null bool
	// Nulls is their number, or -1 if it is not known.
	Nulls int64
}

// ColumnIndex decodes the column index of a column chunk: the bounds of its data pages.
//
// # Errors
//
// An error wraps [ErrDamaged].
func ColumnIndex(data []byte) (list []Bounds, err error) {
	d := thrift.Decoder{Data: data}
	var lows, highs [][]byte
	var nulls []int64
	err = d.Fields(thrift.MostDepth, func(field int, kind byte) error {
		if kind != thrift.List {
			return d.Pass(kind, thrift.MostDepth-1)
		}
		switch field {
		case 1:
			return d.Elements(func(byte) error {
				flag, err := d.Byte()
				list = append(list, Bounds{Null: flag == thrift.True, Nulls: -1})
				return err
			})
		case 2:
			return d.Elements(func(kind byte) error { return appendText(&d, kind, &lows) })
		case 3:
			return d.Elements(func(kind byte) error { return appendText(&d, kind, &highs) })
		case 5:
			return d.Elements(func(kind byte) error {
				n, err := d.Value(kind, 1)
				nulls = append(nulls, n.Number)
				return err
			})
		}
		return d.Pass(kind, thrift.MostDepth-1)
	})
	if err == nil && (len(lows) != len(list) || len(highs) != len(list) || len(nulls) > 0 && len(nulls) != len(list)) {
		err = fmt.Errorf("%d flags, %d and %d bounds and %d numbers of nulls of pages: %w", len(list), len(lows), len(highs), len(nulls), ErrDamaged)
	}
	if err != nil {
		return nil, fmt.Errorf("column index: %w", err)
	}
	for i := range list {
		list[i].Low, list[i].High = lows[i], highs[i]
		if len(nulls) > 0 && nulls[i] >= 0 {
			list[i].Nulls = nulls[i]
		}
	}
	return list, nil
}

// Location is where a data page is, by the offset index.
type Location struct {
	// Offset is the place of the header in the file, Length the number of bytes with the header.
	Offset, Length int64
	// Row is the first row of the row group in the page.
	Row int64
}

// OffsetIndex decodes the offset index of a column chunk of some rows in the bytes of the file from begin to end: the
// locations of its data pages.
//
// # Errors
//
// An error wraps [ErrDamaged]: also of pages that overlap or are elsewhere, and of rows that are not in order.
func OffsetIndex(data []byte, begin, end, rows int64) (list []Location, err error) {
	d := thrift.Decoder{Data: data}
	err = d.Fields(thrift.MostDepth, func(field int, kind byte) error {
		if field != 1 || kind != thrift.List {
			return d.Pass(kind, thrift.MostDepth-1)
		}
		return d.Elements(func(kind byte) error {
			if kind != thrift.Struct {
				return fmt.Errorf("a page is of type %d: %w", kind, ErrDamaged)
			}
			about, err := d.Object(thrift.MostDepth - 1)
			list = append(list, Location{Offset: about[1].Number, Length: about[2].Number, Row: about[3].Number})
			return err
		})
	})
	if err == nil {
		err = checkLocations(list, begin, end, rows)
	}
	if err != nil {
		return nil, fmt.Errorf("offset index: %w", err)
	}
	return list, nil
}

func checkLocations(list []Location, begin, end, rows int64) error {
	if len(list) == 0 || list[0].Row != 0 {
		return fmt.Errorf("it has %d pages, without the first row: %w", len(list), ErrDamaged)
	}
	for i, l := range list {
		next := rows
		if i+1 < len(list) {
			next = list[i+1].Row
		}
		if l.Offset < begin || l.Length <= 0 || l.Offset > end || l.Length > end-l.Offset || next < l.Row || next > rows {
			return fmt.Errorf("page %d has %d bytes from byte %d on and the rows from %d to %d, the column chunk the bytes %d to %d and %d rows: %w",
				i, l.Length, l.Offset, l.Row, next, begin, end, rows, ErrDamaged)
		}
		begin = l.Offset + l.Length
	}
	return nil
}

// appendText appends an element of bytes to a list.
func appendText(d *thrift.Decoder, kind byte, to *[][]byte) error {
	if kind != thrift.Binary {
		return fmt.Errorf("a bound is of type %d: %w", kind, ErrDamaged)
	}
	text, err := d.Text()
	*to = append(*to, text)
	return err
}
