package pipelinetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/device"
)

// sameErrors returns an error unless both devices succeeded or both refused a step.
func sameErrors(want, got error) error {
	var fault *panicked
	switch {
	case errors.As(want, &fault) || errors.As(got, &fault):
		return errors.Join(want, got)
	case (want == nil) != (got == nil):
		return fmt.Errorf("the host's error is %v, the device's %v", want, got)
	case errors.Is(want, device.ErrNotSupported) != errors.Is(got, device.ErrNotSupported):
		return fmt.Errorf("the host's error is %v, the device's %v: one of them is not ErrNotSupported", want, got)
	}
	return nil
}

func compareRegister(ctx context.Context, want, got *machine, register int) error {
	expected, err := want.record(ctx, register)
	if err != nil {
		return fmt.Errorf("fetch from the host: %w", err)
	}
	if expected != nil {
		defer expected.Release()
	}
	actual, err := got.record(ctx, register)
	if err != nil {
		return fmt.Errorf("fetch from the device: %w", err)
	}
	if actual != nil {
		defer actual.Release()
	}
	if expected == nil || actual == nil {
		if expected != actual {
			return errors.New("one of the devices has no table")
		}
		return nil
	}
	return compareRecords(expected, actual)
}

// compareRecords compares schemas and values. NaN is equal to NaN.
func compareRecords(want, got arrow.Record) error {
	if !want.Schema().Equal(got.Schema()) {
		return fmt.Errorf("the host's schema is %v, the device's %v", want.Schema(), got.Schema())
	}
	if want.NumRows() != got.NumRows() {
		return fmt.Errorf("the host has %d rows, the device %d", want.NumRows(), got.NumRows())
	}
	for i := range int(want.NumCols()) {
		if err := compareArrays(want.Column(i), got.Column(i)); err != nil {
			return fmt.Errorf("column %s of %v: %w", want.ColumnName(i), want.Column(i).DataType(), err)
		}
	}
	return nil
}

// byValue reports whether arrays of a type are compared by their logical values: their
// dictionaries may differ, and arrow-go cannot compare unions with offsets in their
// children.
func byValue(t arrow.DataType) bool {
	switch t := t.(type) {
	case *arrow.DictionaryType, arrow.UnionType:
		return true
	case arrow.ExtensionType:
		return byValue(t.StorageType())
	case *arrow.RunEndEncodedType:
		return byValue(t.Encoded())
	case arrow.NestedType:
		return slices.ContainsFunc(t.Fields(), func(f arrow.Field) bool { return byValue(f.Type) })
	}
	return false
}

// compareValues compares the rows as JSON.
func compareValues(want, got arrow.Array) error {
	for row := range want.Len() {
		expected, other := text(want, row), text(got, row)
		if expected != other {
			return fmt.Errorf("row %d of %d: the host has %s, the device %s", row, want.Len(), expected, other)
		}
	}
	return nil
}

// text returns a row as JSON. JSON has no infinities and no NaN, so Go formats a row
// that contains one.
func text(a arrow.Array, row int) string {
	value := a.GetOneForMarshal(row)
	if encoded, err := json.Marshal(value); err == nil {
		return string(encoded)
	}
	return fmt.Sprintf("%#v", value)
}

func compareArrays(want, got arrow.Array) error {
	if byValue(want.DataType()) {
		return compareValues(want, got)
	}
	if array.ApproxEqual(want, got, array.WithNaNsEqual(true), array.WithAbsTolerance(0)) {
		return nil
	}
	for row := range want.Len() {
		expected := array.NewSlice(want, int64(row), int64(row+1))
		other := array.NewSlice(got, int64(row), int64(row+1))
		same := array.ApproxEqual(expected, other, array.WithNaNsEqual(true), array.WithAbsTolerance(0))
		text := fmt.Sprintf("row %d of %d: the host has %v, the device %v", row, want.Len(), expected, other)
		expected.Release()
		other.Release()
		if !same {
			return errors.New(text)
		}
	}
	return fmt.Errorf("the host has %v, the device %v", want, got)
}
