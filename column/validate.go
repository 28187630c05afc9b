package column

import (
	"fmt"

	"github.com/gpuframe/gpuframe/device"
)

// check checks that the parts make a column, as far as possible without a read of
// device memory.
func check(data Data) error {
	l, err := layoutOf(data.Type)
	if err != nil {
		return err
	}
	end, ok := add(max(data.Offset, 0), max(data.Length, 0))
	if data.Offset < 0 || data.Length < 0 || !ok {
		return fmt.Errorf("offset is %d and length %d: %w", data.Offset, data.Length, ErrInvalid)
	}
	if err := checkNulls(l, data); err != nil {
		return err
	}
	if want := l.buffers(); len(data.Buffers) != want && (l.kind != kindView || len(data.Buffers) < want) {
		return fmt.Errorf("it has %d buffers, %v needs %d: %w", len(data.Buffers), l.storage, want, ErrInvalid)
	}
	for i := range l.buffers() {
		if err := checkBuffer(l, data, i, end); err != nil {
			return err
		}
	}
	if want := l.children(); len(data.Children) != want {
		return fmt.Errorf("it has %d children, %v needs %d: %w", len(data.Children), l.storage, want, ErrInvalid)
	}
	for i, child := range data.Children {
		if err := checkChild(l, data, i, child, end); err != nil {
			_, name := l.child(i)
			return inChild(i, name, err)
		}
	}
	if err := checkRows(l, data); err != nil {
		return err
	}
	if err := checkDictionary(l, data); err != nil {
		return err
	}
	return checkDevice(data)
}

func checkNulls(l layout, data Data) error {
	nulls := data.NullCount
	if nulls < UnknownNullCount || nulls > data.Length {
		return fmt.Errorf("null count is %d of %d elements: %w", nulls, data.Length, ErrInvalid)
	}
	if nulls <= 0 || l.kind == kindNull {
		return nil
	}
	if !l.hasValidity() {
		return fmt.Errorf("null count is %d, but %v has no validity bitmap, expected 0: %w", nulls, l.storage, ErrInvalid)
	}
	if len(data.Buffers) > 0 && data.Buffers[0].Bytes() == 0 {
		return fmt.Errorf("null count is %d, but buffer 0 (validity) is absent: %w", nulls, ErrInvalid)
	}
	return nil
}

// checkBuffer checks that buffer i is long enough for elements up to end.
func checkBuffer(l layout, data Data, i, end int) error {
	have := data.Buffers[i].Len()
	if i == 0 && l.hasValidity() || l.kind == kindBool {
		if i == 0 && data.Buffers[0].Block() == nil {
			return nil
		}
		if need := bitmapBytes(end); have < need {
			return fmt.Errorf("buffer %d (%s) has %d bytes, %d elements of %v at offset %d need %d: %w",
				i, l.bufferName(i), have, data.Length, l.storage, data.Offset, need, ErrInvalid)
		}
		return nil
	}
	width, count := l.width, end
	switch l.kind {
	case kindBinary:
		if i == 2 {
			return nil // the length is in the offsets
		}
		fallthrough
	case kindList:
		if end == 0 {
			return nil // an empty array may lack its one offset
		}
		count++
	case kindDenseUnion:
		if i == 1 {
			width = 4
		}
	}
	if need, ok := multiply(count, width); !ok || have < need {
		return shortBuffer(l, i, have, data.Length, data.Offset, count, width)
	}
	return nil
}

// checkChild checks the type and the length of child i.
func checkChild(l layout, data Data, i int, child *Column, end int) error {
	if err := child.Check(); err != nil {
		return err
	}
	t, _ := l.child(i)
	expected, err := layoutOf(t)
	if err == nil {
		err = expected.sameLayout(child.Type())
	}
	if err != nil {
		return err
	}
	need, ok := 0, true
	switch l.kind {
	case kindStruct, kindSparseUnion:
		need = end
	case kindFixedSizeList:
		need, ok = multiply(end, l.listSize())
	case kindRunEnds:
		if i == 0 && child.NullCount() > 0 {
			return fmt.Errorf("it has %d nulls: %w", child.NullCount(), ErrInvalid)
		}
		need = min(end, 1)
		if i == 1 {
			need = data.Children[0].Len()
		}
	}
	if !ok || child.Len() < need {
		return fmt.Errorf("it has %d elements, %d elements of %v at offset %d need %d: %w",
			child.Len(), data.Length, l.storage, data.Offset, need, ErrInvalid)
	}
	return nil
}

func checkDictionary(l layout, data Data) error {
	if l.kind != kindDictionary {
		if data.Dictionary != nil {
			return fmt.Errorf("it has a dictionary, %v needs none: %w", l.storage, ErrInvalid)
		}
		return nil
	}
	err := data.Dictionary.Check()
	var expected layout
	if err == nil {
		expected, err = layoutOf(l.dictionary())
	}
	if err == nil {
		err = expected.sameLayout(data.Dictionary.Type())
	}
	if err != nil {
		return fmt.Errorf("dictionary: %w", err)
	}
	return nil
}

// checkDevice checks that all parts are on one device.
func checkDevice(data Data) error {
	var dev *device.Device
	draft := Column{data: data}
	for block := range draft.Blocks {
		if dev == nil {
			dev = block.Device()
		}
		if !dev.Same(block.Device()) {
			return fmt.Errorf("its parts lie on %v and on %v: %w", dev, block.Device(), ErrInvalid)
		}
	}
	return nil
}
