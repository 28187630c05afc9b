package pages

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
)

// Accept reports for each value of a dictionary whether it meets a condition.
type Accept func(dictionary arrow.Array) ([]bool, error)

// NewMatcher returns a decoder of a column chunk of which all values are indices of its dictionary: its arrays are of bool and
// have true for rows whose value is accepted, false for others, null for null. The condition is evaluated once for each value of
// the dictionary, and no values of rows are made.
//
// # Ownership
//
// That of [NewDecoder]. accept must not keep the dictionary.
//
// # Errors
//
// An error wraps [ErrOther], if a page has values without indices, or [ErrDamaged]. [Decoder.Next] returns the errors of
// accept, too.
func NewMatcher(data []byte, about Flat, mem arrowmemory.Allocator, accept Accept) (*Decoder, error) {
	d, err := NewDecoder(data, about, mem)
	if err != nil {
		return nil, err
	}
	indexed := about.Physical != parquetformat.Int96 // of which some are null though they have a value
	for _, page := range d.plan {
		indexed = indexed && (!page.HasValues() || page.Indexed())
	}
	if !indexed {
		d.Close()
		return nil, fmt.Errorf("values without indices of a dictionary: %w", ErrOther)
	}
	d.values = &matches{fixed: fixed[uint8]{convert: bools, bools: true}, flat: about, values: d.values, accept: accept, allocator: mem}
	d.about.Type = arrow.FixedWidthTypes.Boolean
	return d, nil
}

// matches decodes indices of a dictionary as bools, of which it has a dictionary.
type matches struct {
	fixed[uint8]
	// flat and values are those of the dictionary.
	flat      Flat
	values    values
	accept    Accept
	allocator arrowmemory.Allocator
}

func (v *matches) dictionary(plain []byte, n int64) error {
	plain, err := v.flat.sized(plain)
	if err != nil {
		return err
	}
	if n > int64(len(plain)) {
		return fmt.Errorf("a dictionary of %d values in %d bytes: %w", n, len(plain), ErrDamaged)
	}
	v.values.begin(int(n), v.allocator)
	if err := v.values.plain(plain, 0, 0, int(n)); err != nil {
		v.values.drop()
		return err
	}
	about := Decoder{about: v.flat, mem: v.allocator, values: v.values}
	dictionary := about.array(int(n), 0, nil)
	defer dictionary.Release()
	accepted, err := v.accept(dictionary)
	if err != nil {
		return err
	}
	v.about = make([]uint8, n)
	for i := range v.about {
		if accepted[i] {
			v.about[i] = 1
		}
	}
	return nil
}
