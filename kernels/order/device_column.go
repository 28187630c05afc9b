package order

import (
	"errors"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/keys/radix"
	"github.com/gpuframe/gpuframe/internal/keys/rowkey"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/memory"
)

// columnOnDevice sorts the values of a plan that is reversible. reversible reports whether
// it does.
func (o *ordering) columnOnDevice() (sorted *column.Column, reversible bool, err error) {
	if !o.plan.Reversible() || o.plan.Bits() == 0 {
		return nil, false, nil
	}
	result := o.result(o.columns[0].Type())
	result.Nullable = o.plan.Sources[0].Nullable
	s := radix.Sort{Width: 8 * o.plan.Segments[0].Width(), High: o.plan.Bits(), Rows: o.rows, Counted: o.counted}
	encoding, ok := o.plan.Encoding()
	if ok {
		s.Input, s.Encoding = true, radix.Encoding(encoding)
	}
	bitmaps := o.plan.DeviceScratch()
	scratch := bitmaps
	nullBytes, valid := uint64(0), uint64(0)
	if result.Nullable {
		nullBytes = 8
		if s.Input && !o.sortsNulls() {
			valid = s.KeyBytes()
		}
	}
	if o.rows > 0 {
		first, second := s.KeyBytes(), uint64(0)
		if s.Input && !o.sortsApart() { // the result takes the place of the first buffer
			first = 0
		}
		if s.SecondBuffers() {
			second = s.KeyBytes()
		}
		scratch = append(scratch, first, second, s.StateBytes(), nullBytes, valid)
	}
	if o.call.Estimating() {
		sizes := result.Sizes()
		return nil, true, o.call.Estimate(sizes[:], scratch)
	}
	sorted, err = o.newColumn(result, func(out op.Buffers) error {
		block, buffers, err := o.call.Scratch(scratch...)
		if err != nil {
			return err
		}
		return errors.Join(o.sortValuesOnDevice(&s, buffers[:len(bitmaps)], buffers[len(bitmaps):], out), block.Release())
	})
	return sorted, true, err
}

// sortsNulls reports whether nulls are sorted with the other values, as the least or the
// greatest key, which takes no pass over the values before. Nulls of 64 bits would be a run of
// equal digits that is too long for a sort by leading digits. Many nulls are not worth
// their passes.
func (o *ordering) sortsNulls() bool {
	s := &o.plan.Sources[0]
	return s.Nullable && s.Layout.Width == 4 && 2*s.Column.NullCount() <= o.rows
}

// sortsApart reports whether sorted values are moved at the end, because nulls come before
// them, and only the device knows how many.
func (o *ordering) sortsApart() bool {
	return o.plan.Sources[0].Nullable && o.plan.Sources[0].NullsFirst && !o.sortsNulls()
}

func (o *ordering) sortValuesOnDevice(s *radix.Sort, bitmaps, scratch []memory.Slice[uint8], out op.Buffers) error {
	if o.rows == 0 {
		return nil
	}
	encoder, err := rowkey.NewDevice(&o.call, o.plan, bitmaps)
	if err != nil {
		return err
	}
	buffers := radix.Buffers{Keys: [2]memory.Slice[uint8]{scratch[0], scratch[1]}, State: scratch[2]}
	rows := rowkey.DeviceRows{Rows: o.rows, Counted: o.counted}
	if s.Input {
		return o.sortInput(encoder, s, buffers, rows, scratch[3:], out)
	}
	if err := encoder.Encode(0, 0, rows, buffers.Keys[s.Source()]); err != nil {
		return err
	}
	if err := s.Run(&o.call, buffers); err != nil {
		return err
	}
	nulls := scratch[3]
	if nulls.Len() > 0 {
		if err := encoder.CountNulls(rows, nulls); err != nil {
			return err
		}
	}
	return encoder.Decode(buffers.Keys[0], nulls, rows, out.Values, out.Valid)
}

// sortInput sorts values that the passes encode and decode: all of them or, if there are nulls,
// perhaps only those that are not null.
func (o *ordering) sortInput(encoder *rowkey.Device, s *radix.Sort, buffers radix.Buffers, rows rowkey.DeviceRows, scratch []memory.Slice[uint8], out op.Buffers) error {
	apart := o.sortsApart()
	if !apart {
		buffers.Keys[0] = out.Values
	}
	count := scratch[0]
	if count.Len() == 0 {
		buffers.Input = encoder.Values(0)
		return s.Run(&o.call, buffers)
	}
	if o.sortsNulls() {
		buffers.Input, s.NullsFirst = encoder.Values(0), o.plan.Sources[0].NullsFirst
		s.Valid, s.ValidBit = encoder.Validity(0)
		if err := errors.Join(encoder.CountNulls(rows, count), s.Run(&o.call, buffers)); err != nil {
			return err
		}
		return encoder.MarkNulls(rows, out.Values, out.Valid, count)
	}
	buffers.Input = scratch[1]
	if err := encoder.GatherValid(rows, buffers.Input, count); err != nil {
		return err
	}
	var err error
	if s.Counted, err = memory.Reinterpret[int64](count); err != nil {
		return err
	}
	if err := s.Run(&o.call, buffers); err != nil {
		return err
	}
	return encoder.AddNulls(rows, out.Values, out.Valid, buffers.Keys[0], count)
}
