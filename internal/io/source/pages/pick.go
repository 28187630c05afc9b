package pages

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/io/thrift"
)

// Run is rows that are left out, and rows behind them that are decoded.
type Run struct{ Skip, Take int64 }

// skipper is values whose place in a page is not known by the number of those before.
type skipper interface {
	// skip leaves out n plain values of a page, after those taken.
	skip(page []byte, taken, n int) error
}

// Pick decodes an array of the rows of runs, at most a million, and makes no values of the rows between them. Pages
// without a row to decode are not even decompressed. rest are the runs that are left, if the strings are longer than
// 2 GiB together. The caller releases the array.
//
// # Errors
//
// An error wraps [ErrDamaged], also for more rows than the column chunk has left. The decoder must not be used after it.
func (d *Decoder) Pick(runs []Run) (values arrow.Array, rest []Run, err error) {
	all, length := int64(0), int64(0)
	for _, run := range runs {
		all, length = all+run.Skip+run.Take, length+run.Take
	}
	if all > d.left || length > mostRows {
		return nil, nil, fmt.Errorf("%d rows, of which %d are decoded, the column chunk has %d more: %w", all, length, d.left, ErrDamaged)
	}
	n := int(length)
	var validity []byte
	if d.about.MaxDefinition > 0 {
		if validity = allocate(d.mem, (n+7)/8); n > 0 {
			validity[len(validity)-1] = 0 // also the bits after the last row
		}
	}
	d.values.begin(n, d.mem)
	defer func() {
		if values == nil { // also after a panic
			d.mem.Free(validity)
			d.values.drop()
		}
	}()
	done, nulls := 0, 0
	for i, run := range runs {
		if err := d.Skip(run.Skip); err != nil {
			return nil, nil, err
		}
		taken, valid, err := d.fill(done, int(run.Take), validity)
		if err != nil {
			return nil, nil, err
		}
		done, nulls = done+taken, nulls+taken-valid
		if left := run.Take - int64(taken); left > 0 {
			rest = append([]Run{{Take: left}}, runs[i+1:]...)
			break
		}
	}
	if v, ok := d.values.(*instants); ok {
		var absent int
		validity, absent = v.absent(done, validity, d.mem)
		nulls += absent
	}
	return d.array(done, nulls, validity), rest, nil
}

// fill decodes rows to a place of the array. It returns fewer if the array cannot have the strings of all.
func (d *Decoder) fill(at, rows int, validity []byte) (taken, valid int, err error) {
	for taken < rows {
		for d.page.left == 0 {
			if err := d.nextPage(); err != nil {
				return 0, 0, err
			}
		}
		begin := at + taken
		k, before := min(rows-taken, d.page.left), d.page
		n, err := d.take(begin, k, validity)
		for errors.Is(err, errLong) && k > 1 && begin == 0 {
			d.page, k = before, k/2
			n, err = d.take(begin, k, validity)
		}
		if errors.Is(err, errLong) && begin > 0 {
			d.page = before
			return taken, valid, nil
		}
		if err != nil {
			return 0, 0, err
		}
		taken, valid = taken+k, valid+n
		d.page.left -= k
		d.left -= int64(k)
	}
	return taken, valid, nil
}

// Skip leaves out the next rows.
//
// # Errors
//
// Those of [Decoder.Pick].
func (d *Decoder) Skip(rows int64) error {
	if rows > d.left {
		return fmt.Errorf("%d rows, the column chunk has %d more: %w", rows, d.left, ErrDamaged)
	}
	for rows > 0 {
		if d.page.left == 0 {
			// A string may share its beginning with one of the page before.
			if page := d.plan[0]; page.HasValues() && page.Values <= rows && page.Encoding != DeltaByteArray {
				d.plan, d.begun = d.plan[1:], d.begun+1
				d.left, rows = d.left-page.Values, rows-page.Values
			} else if err := d.nextPage(); err != nil {
				return err
			}
			continue
		}
		n := int(min(rows, int64(d.page.left)))
		if err := d.skipRows(n); err != nil {
			return d.onPage(err)
		}
		d.page.left -= n
		d.left, rows = d.left-int64(n), rows-int64(n)
	}
	return nil
}

// skipRows leaves out rows of the current page.
func (d *Decoder) skipRows(rows int) (err error) {
	valid := rows
	if d.about.MaxDefinition > 0 {
		if valid, err = d.page.levels.count(rows); err != nil {
			return err
		}
	}
	if d.page.indexed {
		err = d.page.indices.skip(valid)
	} else if v, ok := d.values.(skipper); ok {
		err = v.skip(d.page.values, d.page.taken, valid)
	}
	d.page.taken += valid
	return err
}

// skip implements [skipper].
func (v *text) skip(page []byte, taken, n int) error {
	if taken == 0 {
		v.at = 0
	}
	for range n {
		rest := page[v.at:]
		if len(rest) < 4 {
			return thrift.ErrCut
		}
		size := int64(binary.LittleEndian.Uint32(rest))
		if size > int64(len(rest)-4) {
			return fmt.Errorf("a string of %d bytes in a page of %d: %w", size, len(page), ErrDamaged)
		}
		v.at += 4 + int(size)
	}
	return nil
}

// skip implements [skipper].
func (v *encoded) skip(page []byte, taken, n int) error { return v.strings.skip(page, taken, n) }
