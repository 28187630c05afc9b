package source

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
)

// otherColumns returns an error if the columns of a schema have other names or types than those
// of another one, in their order.
func otherColumns(got, want *arrow.Schema) error {
	if got == want {
		return nil
	}
	if got.NumFields() != want.NumFields() {
		return fmt.Errorf("it has %d columns, expected %d: %w", got.NumFields(), want.NumFields(), buffer.ErrSchema)
	}
	for i, field := range got.Fields() {
		expected := want.Field(i)
		if field.Name != expected.Name || !arrow.TypeEqual(field.Type, expected.Type) {
			return fmt.Errorf("column %d is %q of %v, expected %q of %v: %w", i, field.Name, field.Type, expected.Name, expected.Type, buffer.ErrSchema)
		}
	}
	return nil
}

// otherSchema returns an error if a schema does not equal another one.
func otherSchema(got, want *arrow.Schema) error {
	if got.Equal(want) {
		return nil
	}
	if err := otherColumns(got, want); err != nil {
		return err
	}
	for i, field := range got.Fields() {
		if field.Nullable != want.Field(i).Nullable {
			return fmt.Errorf("column %q has nullable %v, expected %v: %w", field.Name, field.Nullable, want.Field(i).Nullable, buffer.ErrSchema)
		}
	}
	return fmt.Errorf("it has other metadata of columns, or another byte order: %w", buffer.ErrSchema)
}
