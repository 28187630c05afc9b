package group

import (
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/memory"
)

// The sum of vectors has a state of sumFloats for each group and element, and the number of vectors of the group. A
// vector that is null, or has a null element, is skipped.

// vectorStateBytes is the size of the state of an element.
const vectorStateBytes = 8 * (sumBins + sumBinCount)

// vectorInputs are the numbers of the inputs that a sum of vectors reads. counts and where may be negative.
type vectorInputs struct{ value, counts, where int }

// vectorSums are the states of sums of vectors.
type vectorSums struct {
	// size is the number of elements, groups that of groups.
	size, groups int
	// sums has the states of the elements of each group, counts its number of vectors.
	sums, counts memory.Slice[uint8]
	block        *memory.Block
}

// vectors plans the sum or the mean of vectors. It returns false if the values are none.
func (p *plan) vectors(o *output) bool {
	if f := o.aggregate.function; f != sum && f != mean {
		return false
	}
	list, ok := layout.Storage(p.inputs[o.value].dataType).(arrow.ListLikeType)
	if !ok || !isFloat(list.Elem()) {
		return false
	}
	switch list := list.(type) {
	case *arrow.FixedSizeListType:
		o.dataType = arrow.FixedSizeListOf(list.Len(), arrow.PrimitiveTypes.Float64)
	case *arrow.ListType, *arrow.LargeListType:
		o.dataType = arrow.ListOf(arrow.PrimitiveTypes.Float64)
	default:
		return false
	}
	o.method, o.nullable = byVector, true
	return true
}

func isFloat(t arrow.DataType) bool {
	_, class, err := storedAs(t)
	return err == nil && class == layout.Float
}

// statesOfVectors returns the type of the states of sums of vectors of a type.
func statesOfVectors(t arrow.DataType) arrow.DataType {
	state := &arrow.FixedSizeBinaryType{ByteWidth: vectorStateBytes}
	if fixed, ok := t.(*arrow.FixedSizeListType); ok {
		return arrow.FixedSizeListOf(fixed.Len(), state)
	}
	return arrow.ListOf(state)
}

// vectorReader is a column of vectors, or of states of their sums.
type vectorReader struct {
	list, elements, condition source
	offsets, counts           memory.Slice[uint8]
	// width is that of an offset, 0 for lists of a fixed size. These begin at row first and have size elements.
	width, first, size int
	extent             int
}

// vectorReaderOf returns the vectors that an output reads.
func (r *aggregation) vectorReaderOf(in vectorInputs) (v vectorReader, err error) {
	c, err := r.input(in.value)
	if err != nil {
		return v, err
	}
	if v.list, err = validityOf(c); err != nil {
		return v, err
	}
	format, err := layout.Of(c.Type())
	if err != nil {
		return v, err
	}
	if fixed, ok := format.Storage.(*arrow.FixedSizeListType); ok {
		v.first, v.size = c.Offset(), int(fixed.Len())
	} else if v.width = format.Width; c.Len() > 0 {
		if v.offsets, err = c.Buffer(1).Slice(c.Offset()*v.width, (c.Offset()+c.Len()+1)*v.width); err != nil {
			return v, err
		}
	}
	child := c.Child(0)
	v.extent = child.Len()
	switch {
	case v.extent == 0:
	case in.counts >= 0:
		v.elements = source{form: fromStates, width: vectorStateBytes}
		if v.elements.values, err = child.ValuesRegion(); err != nil {
			return v, err
		}
	default:
		if v.elements, err = sourceOf(&r.call, child); err != nil {
			return v, err
		}
	}
	if in.counts >= 0 {
		counts, err := r.input(in.counts)
		if err != nil {
			return v, err
		}
		if v.counts, err = counts.ValuesRegion(); err != nil {
			return v, err
		}
	}
	if in.where >= 0 {
		c, err := r.input(in.where)
		if err != nil {
			return v, err
		}
		v.condition, err = sourceOf(&r.call, c)
		return v, err
	}
	return v, nil
}

// checked reports whether rows may be skipped, or have different lengths.
func (v *vectorReader) checked(in vectorInputs) bool {
	return in.where >= 0 || v.width > 0 || v.counts.Len() > 0 || v.list.valid.Len() > 0 || v.elements.valid.Len() > 0
}

// lengthOf returns the length of vectors with some least and greatest lengths.
func lengthOf(least, most uint64) (int, error) {
	if least != most {
		return 0, fmt.Errorf("the vectors have %d to %d elements, expected one length: %w", least, most, device.ErrInvalidValue)
	}
	return int(most), nil
}

// sumVectors returns the sums of vectors that an output is made of. Outputs of the same vectors share them.
func (r *aggregation) sumVectors(o *output, allocate func(...uint64) (*memory.Block, []memory.Slice[uint8], error)) (*vectorSums, error) {
	in := vectorInputs{o.value, -1, o.where}
	if o.collected {
		in.counts = o.others[0]
	}
	if known := r.vectors[in]; known != nil {
		return known, nil
	}
	v, err := r.vectorReaderOf(in)
	if err != nil {
		return nil, err
	}
	add := r.addVectorsOnDevice
	if r.call.OnHost() {
		add = r.addVectorsOnHost
	}
	s, err := add(&v, v.checked(in), allocate)
	if err != nil {
		return nil, err
	}
	if r.vectors == nil {
		r.vectors = map[vectorInputs]*vectorSums{}
	}
	r.vectors[in] = s
	r.owned.Add(s.block)
	return s, nil
}

// newVectorSums allocates states without vectors.
func (r *aggregation) newVectorSums(size int, allocate func(...uint64) (*memory.Block, []memory.Slice[uint8], error)) (*vectorSums, error) {
	s := &vectorSums{size: size, groups: r.groups.capacity()}
	if size > 0 && s.groups > math.MaxInt32/size {
		return nil, fmt.Errorf("%d groups of vectors of %d elements, at most %d elements can be numbered: aggregate parts of the table: %w", s.groups, size, math.MaxInt32, ErrTooLong)
	}
	block, slices, err := allocate(vectorStateBytes*uint64(s.groups)*uint64(size), 8*uint64(s.groups))
	if err != nil {
		return nil, err
	}
	s.block, s.sums, s.counts = block, slices[0], slices[1]
	for _, words := range slices {
		if err == nil && words.Len() > 0 {
			err = words.Fill(r.call.Stream, 0)
		}
	}
	if err == nil && r.call.OnHost() {
		err = r.call.WaitIdle(r.call.Context())
	}
	if err != nil {
		return nil, errors.Join(err, block.Release())
	}
	return s, nil
}

// vectorColumn returns the states of an output, or its numbers of vectors, as a column of a partial result.
func (r *aggregation) vectorColumn(o *output, s stateColumn) (*column.Column, error) {
	v, err := r.sumVectors(o, r.call.Allocate)
	if err != nil {
		return nil, err
	}
	none := column.Bytes{}
	if s.counts {
		return column.New(column.Data{Type: s.dataType, Length: v.groups, Rows: r.groups.keys.RowCount(), Buffers: []column.Bytes{none, v.counts}, Manager: r.call.Manager})
	}
	states, err := column.New(column.Data{
		Type: s.dataType.(arrow.ListLikeType).Elem(), Length: v.groups * v.size, Buffers: []column.Bytes{none, v.sums}, Manager: r.call.Manager,
	})
	if err != nil {
		return nil, err
	}
	return r.regularLists(s.dataType, v, none, states)
}

// regularLists returns lists of values, as many in each. It releases the values.
func (r *aggregation) regularLists(t arrow.DataType, v *vectorSums, valid column.Bytes, values *column.Column) (*column.Column, error) {
	data := column.Data{
		Type: t, Length: v.groups, Rows: r.groups.keys.RowCount(), NullCount: column.UnknownNullCount, Manager: r.call.Manager,
		Buffers: []column.Bytes{valid}, Children: []*column.Column{values},
	}
	if valid.Len() == 0 {
		data.NullCount = 0
	}
	temporaries := release.Stack{values}
	if t.ID() == arrow.LIST {
		offsets, err := newColumn(&r.call, op.Result{Type: arrow.PrimitiveTypes.Int32, Length: v.groups + 1}, func(out op.Buffers) error {
			if !r.call.OnHost() {
				return launchRows(&r.call, "vectors", "regular_offsets", v.groups+1, out.Values, uint64(v.size), uint64(v.groups))
			}
			to, err := out.Host()
			for i, offsets := 0, op.Elements[int32](to.Values); i < len(offsets); i++ {
				offsets[i] = int32(i * v.size)
			}
			return err
		})
		if err != nil {
			return nil, errors.Join(err, temporaries.Release())
		}
		temporaries.Add(offsets)
		data.Buffers = append(data.Buffers, offsets.Buffer(1))
	}
	lists, err := column.New(data)
	return release.OnError(lists, err, temporaries.Release())
}

// finishVectors returns the column of sums or means of vectors.
func (r *aggregation) finishVectors(o *output) (*column.Column, error) {
	v, err := r.sumVectors(o, r.call.Scratch)
	if err != nil {
		return nil, err
	}
	isMean := o.aggregate.function == mean
	values, err := newColumn(&r.call, op.Result{Type: arrow.PrimitiveTypes.Float64, Length: v.groups * v.size}, func(out op.Buffers) error {
		if r.call.OnHost() {
			return v.finishOnHost(out, isMean)
		}
		return v.finishOnDevice(&r.call, out, isMean)
	})
	if err != nil {
		return nil, err
	}
	valid, err := newColumn(&r.call, op.Result{Type: arrow.FixedWidthTypes.Boolean, Length: v.groups}, func(out op.Buffers) error {
		if r.call.OnHost() {
			return v.writeValidOnHost(out)
		}
		return launchRows(&r.call, "vectors", "groups_of_vectors", (v.groups+63)/64*64, out.Values, v.counts, uint64(v.groups))
	})
	if err != nil {
		return nil, errors.Join(err, values.Release())
	}
	lists, err := r.regularLists(o.dataType, v, valid.Buffer(1), values)
	return release.OnError(lists, err, valid.Release())
}
