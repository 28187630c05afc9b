package column

import (
	"fmt"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
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
		return fmt.Errorf("offset is %d and length %d, expected zero or more: %w", data.Offset, data.Length, ErrInvalid)
	}
	if err := checkNulls(l, data); err != nil {
		return err
	}
	if want := l.Buffers(); len(data.Buffers) != want && (l.Kind != layout.View || len(data.Buffers) < want) {
		return fmt.Errorf("it has %d buffers, %v needs %d: %w", len(data.Buffers), l.Storage, want, ErrInvalid)
	}
	for i := range l.Buffers() {
		if err := checkBuffer(l, data, i, end); err != nil {
			return err
		}
	}
	if want := l.Children(); len(data.Children) != want {
		return fmt.Errorf("it has %d children, %v needs %d: %w", len(data.Children), l.Storage, want, ErrInvalid)
	}
	for i, child := range data.Children {
		if err := checkChild(l, data, i, child, end); err != nil {
			_, name := l.Child(i)
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

func checkNulls(l layout.Layout, data Data) error {
	nulls := data.NullCount
	if nulls < UnknownNullCount || nulls > data.Length {
		return fmt.Errorf("null count is %d, expected -1 to the length %d: %w", nulls, data.Length, ErrInvalid)
	}
	if nulls <= 0 || l.Kind == layout.Null {
		return nil
	}
	if !l.HasValidity() {
		return fmt.Errorf("null count is %d, but %v has no validity bitmap, expected 0: %w", nulls, l.Storage, ErrInvalid)
	}
	if len(data.Buffers) > 0 && data.Buffers[0].Bytes() == 0 {
		return fmt.Errorf("null count is %d, but buffer 0 (validity) is absent: %w", nulls, ErrInvalid)
	}
	return nil
}

// checkBuffer checks that buffer i is long enough for elements up to end.
func checkBuffer(l layout.Layout, data Data, i, end int) error {
	b, have := l.Buffer(i), data.Buffers[i].Len()
	if b == layout.Validity && data.Buffers[i].Block() == nil {
		return nil
	}
	if need, ok := l.Extent(b, end); !ok || uint64(have) < need {
		count := end
		if b == layout.Offsets {
			count++
		}
		return shortBuffer(l, i, have, data.Length, data.Offset, count)
	}
	return nil
}

// checkChild checks the type and the length of child i.
func checkChild(l layout.Layout, data Data, i int, child *Column, end int) error {
	if err := child.Check(); err != nil {
		return err
	}
	t, _ := l.Child(i)
	expected, err := layoutOf(t)
	if err == nil {
		err = sameLayout(expected, child.Type())
	}
	if err != nil {
		return err
	}
	need, ok := l.ChildLength(end)
	if l.Kind == layout.RunEnds && i == 0 && child.NullCount() > 0 {
		return fmt.Errorf("it has %d nulls: %w", child.NullCount(), ErrInvalid)
	}
	if l.Kind == layout.RunEnds && i == 1 {
		need = data.Children[0].Len()
	}
	if !ok || child.Len() < need {
		return fmt.Errorf("it has %d elements, %d elements of %v at offset %d need %d: %w",
			child.Len(), data.Length, l.Storage, data.Offset, need, ErrInvalid)
	}
	return nil
}

func checkDictionary(l layout.Layout, data Data) error {
	if l.Kind != layout.Dictionary {
		if data.Dictionary != nil {
			return fmt.Errorf("it has a dictionary, expected nil for %v: %w", l.Storage, ErrInvalid)
		}
		return nil
	}
	err := data.Dictionary.Check()
	var expected layout.Layout
	if err == nil {
		expected, err = layoutOf(l.Dictionary())
	}
	if err == nil {
		err = sameLayout(expected, data.Dictionary.Type())
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
			return fmt.Errorf("its parts are on %v and on %v, expected one device: %w", dev, block.Device(), ErrInvalid)
		}
	}
	return nil
}
