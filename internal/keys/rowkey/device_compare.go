package rowkey

import (
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
	"github.com/gpuframe/gpuframe/memory"
)

var (
	validNames     = [2]string{"rowkey_valid_32", "rowkey_valid_64"}
	nullNames      = [2]string{"rowkey_nulls_32", "rowkey_nulls_64"}
	neighbourNames = [2]string{"rowkey_neighbours_32", "rowkey_neighbours_64"}
	narrowNames    = [2]string{"rowkey_narrow_32", "rowkey_narrow_64"}
	decodeNames    = [2]string{"rowkey_decode_32", "rowkey_decode_64"}
)

// WordsBytes returns the size of the largest words of n rows.
func (p *Plan) WordsBytes(n int) uint64 {
	width := 0
	for i := range p.Segments {
		width = max(width, p.Segments[i].Width())
	}
	return uint64(n) * uint64(width)
}

// sign returns the order of the strings of a descending source.
func (d *Device) sign(t *Tail) int32 {
	if d.leaves[t.Source].Descending {
		return -1
	}
	return 1
}

// Neighbours compares each row with the row before it, and writes to orders 0 if they are
// equal, 1 if it comes after, and 2 if it comes before. The first row comes after. words
// has the size of WordsBytes.
func (d *Device) Neighbours(rows DeviceRows, words, orders memory.Slice[uint8]) error {
	if d.plan.Segments[0].Words() == 0 {
		if err := orders.Fill(d.call.Stream, 0); err != nil {
			return err
		}
	}
	first := uint32(1)
	for number := range d.plan.Segments {
		s := &d.plan.Segments[number]
		for word := range s.Words() {
			if err := d.Encode(number, word, rows, words); err != nil {
				return err
			}
			if err := d.launch(neighbourNames[s.Width()/8], rows.Rows, orders, words, rows.Counted, int64(rows.Rows), first); err != nil {
				return err
			}
			first = 0
		}
		if s.Tail == nil {
			continue
		}
		texts := d.leaves[s.Tail.Source].texts()
		if err := d.launch("rowkey_neighbours_texts", rows.Rows, orders, rows.argument(), d.sign(s.Tail), texts); err != nil {
			return err
		}
	}
	return nil
}

// FirstBefore writes the number of the first row that comes before the row before it, by
// the orders of Neighbours, or a number above all.
func (d *Device) FirstBefore(rows DeviceRows, orders memory.Slice[uint8], first memory.Slice[uint64]) error {
	if err := first.AsBytes().Fill(d.call.Stream, 0xff); err != nil {
		return err
	}
	return d.launch("rowkey_first_before", rows.Rows, first, orders, rows.Counted, int64(rows.Rows))
}

// Narrow moves the bounds of each of n values to those of the sorted rows that equal it.
// values is the encoder of the values, with a plan of equal segments, and may be d. words
// and otherWords have the sizes of WordsBytes.
func (d *Device) Narrow(sorted DeviceRows, values *Device, those DeviceRows, lows, highs memory.Slice[uint32], words, otherWords memory.Slice[uint8]) error {
	n := those.Rows
	for number := range d.plan.Segments {
		s := &d.plan.Segments[number]
		for word := range s.Words() {
			if err := d.Encode(number, word, sorted, words); err != nil {
				return err
			}
			if err := values.Encode(number, word, those, otherWords); err != nil {
				return err
			}
			if err := d.launch(narrowNames[s.Width()/8], n, lows, highs, words, otherWords, uint64(n)); err != nil {
				return err
			}
		}
		if s.Tail == nil {
			continue
		}
		texts, others := d.leaves[s.Tail.Source].texts(), values.leaves[s.Tail.Source].texts()
		if err := d.launch("rowkey_narrow_texts", n, lows, highs, sorted.argument(), those.argument(), uint64(n), d.sign(s.Tail), texts, others); err != nil {
			return err
		}
	}
	return nil
}

// Bounds finds the bounds of a source of integers: the least value and the complement of
// the greatest one, as [Bounds].
func (d *Device) Bounds(source int, rows DeviceRows, bounds memory.Slice[uint64]) error {
	if err := bounds.AsBytes().Fill(d.call.Stream, 0xff); err != nil {
		return err
	}
	l := &d.leaves[source]
	sign := uint64(0)
	if l.Storage == Signed {
		sign = 1 << (8*l.Layout.Width - 1)
	}
	return d.launch("rowkey_bounds", rows.Rows, bounds, rows.argument(), sign, l.fixedWords())
}

// DecimalBounds finds the bounds of a source of decimals that all fit 64 bits, as Bounds
// does. If some do not fit, the third element becomes 0.
func (d *Device) DecimalBounds(source int, rows DeviceRows, bounds memory.Slice[uint64]) error {
	if err := bounds.AsBytes().Fill(d.call.Stream, 0xff); err != nil {
		return err
	}
	return d.launch("rowkey_decimal_bounds", rows.Rows, bounds, rows.argument(), d.leaves[source].fixedWords())
}

// CountNulls writes the number of nulls of the first source, eight bytes, to count.
func (d *Device) CountNulls(rows DeviceRows, count memory.Slice[uint8]) error {
	if err := count.Fill(d.call.Stream, 0); err != nil {
		return err
	}
	l := &d.leaves[0]
	return d.launch("rowkey_count_nulls", rows.Rows, count, l.valid, uint64(l.validBit), rows.Counted, int64(rows.Rows))
}

// Decode writes the values of the sorted words of a reversible plan, and the bitmap if the
// source is nullable: then nullCount is the number of nulls. Their words come first.
func (d *Device) Decode(words, nullCount memory.Slice[uint8], rows DeviceRows, values, valid memory.Slice[uint8]) error {
	s, segment := &d.plan.Sources[0], &d.plan.Segments[0]
	value, nulls := &segment.Pieces[0], uint64(0)
	switch {
	case nullCount.Len() == 0:
	case s.NullsFirst:
		nulls = 1
	default:
		nulls = 2
	}
	width, storage := uint64(s.Layout.Width), uint64(0)
	switch s.Storage {
	case Boolean:
		width = 0
	case Signed:
		storage = 1
	case Float:
		storage = 2
	}
	l := decodedLayout{storage: storage, width: width, nulls: nulls, length: uint64(value.Bits), subtract: value.Subtract, flip: value.Flip}
	to := kernelset.NewWords(decodedLayoutWords)
	l.addTo(to)
	return d.launch(decodeNames[segment.Width()/8], rows.Rows, values, valid, words, nullCount, rows.Counted, int64(rows.Rows), to)
}

// partRows is the number of rows of a tile of GatherValid.
const partRows = 2048

// GatherValid moves the values of the first source that are not null to the front of out,
// in any order. Their number, eight bytes, is written to count.
func (d *Device) GatherValid(rows DeviceRows, out, count memory.Slice[uint8]) error {
	if err := count.Fill(d.call.Stream, 0); err != nil {
		return err
	}
	l := &d.leaves[0]
	f, err := d.call.Kernel(&set, "rowkey", validNames[l.Layout.Width/8])
	if err != nil {
		return err
	}
	most := max(d.call.Stream.Device().Info().Multiprocessors, 1) * gatherBlocks
	blocks := min((rows.Rows+partRows-1)/partRows, most)
	return f.Launch(d.call.Stream, device.Dim3{X: uint32(blocks)}, device.Dim3{X: deviceThreads}, 0,
		out, count, l.values, l.valid, uint64(l.validBit), rows.Counted, int64(rows.Rows))
}

// gatherBlocks is the number of blocks of GatherValid for each multiprocessor.
const gatherBlocks = 5

// AddNulls writes the bitmap of sorted values, of which count are not null, and nulls as
// zeros. If nulls come first the sorted values are in from, otherwise in values.
func (d *Device) AddNulls(rows DeviceRows, values, valid, from, count memory.Slice[uint8]) error {
	if !d.leaves[0].NullsFirst {
		from = memory.Slice[uint8]{}
	}
	return d.addNulls(rows, values, valid, from, count, 0)
}

// MarkNulls writes the bitmap of sorted values, of which count are null, and these as zeros.
// They are before or behind the others.
func (d *Device) MarkNulls(rows DeviceRows, values, valid, count memory.Slice[uint8]) error {
	return d.addNulls(rows, values, valid, memory.Slice[uint8]{}, count, 1)
}

func (d *Device) addNulls(rows DeviceRows, values, valid, from, count memory.Slice[uint8], countsNulls uint32) error {
	l, first := &d.leaves[0], uint32(0)
	if l.NullsFirst {
		first = 1
	}
	return d.launch(nullNames[l.Layout.Width/8], rows.Rows, values, valid, from, count, first, countsNulls, rows.Counted, int64(rows.Rows))
}

// Values returns the values of a source of numbers, from the first row on.
func (d *Device) Values(source int) memory.Slice[uint8] { return d.leaves[source].values }

// Flip returns the bits to invert in the values of a plan so that they are its words. ok
// is false for plans with other words than those of one key of integers of four or eight
// bytes that are not null.
func (p *Plan) Flip() (bits uint64, ok bool) {
	if len(p.Sources) != 1 {
		return 0, false
	}
	s := &p.Sources[0]
	width := 8 * s.Layout.Width
	if s.Nullable || s.Storage != Signed && s.Storage != Unsigned || width != p.Bits() || width < 32 {
		return 0, false
	}
	piece := p.Segments[0].Pieces[0]
	if piece.Subtract != 0 {
		return 0, false
	}
	bits = piece.Flip
	if s.Storage == Signed {
		bits ^= 1 << (width - 1)
	}
	return bits, true
}

// Validity returns the bitmap of a source and the number of the first row's bit. It is empty
// if no row is null.
func (d *Device) Validity(source int) (bitmap memory.Slice[uint8], bit int) {
	return d.leaves[source].valid, d.leaves[source].validBit
}
