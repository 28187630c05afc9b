package nested

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/text/render"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// The names of the fields of entries.
const keyName, valueName = "key", "value"

// MapFromEntries is the map of the entries of a list of structs of the fields key and value. Entries without a key
// are left out. A key that repeats is in the map as often; [Lookup] finds the first one.
func MapFromEntries(e expr.Expr) expr.Expr {
	known := Field(expr.Col(DefaultVariables.Element), keyName).IsValid()
	return expr.Apply(mapping{}, Filter(e, known, DefaultVariables))
}

// Entries is the list of the entries of a map: structs of the fields key and value.
func Entries(e expr.Expr) expr.Expr { return expr.Apply(entries{}, e) }

// Map is the map of lists of keys and of values at the same positions. It is null if the keys are. Keys that are null
// are left out, and values that are missing are null.
func Map(keys, values expr.Expr) expr.Expr {
	return MapFromEntries(Zip(keys.As(keyName), values.As(valueName)))
}

type mapping struct{}

func (mapping) Name() string { return "map_from_entries" }

func (mapping) Result(operands []arrow.DataType) (arrow.DataType, error) {
	list, ok := layout.Storage(operands[0]).(*arrow.ListType)
	if ok {
		if structure, isStruct := layout.Storage(list.Elem()).(*arrow.StructType); isStruct && structure.NumFields() == 2 && structure.Field(0).Name == keyName && structure.Field(1).Name == valueName {
			return arrow.MapOf(structure.Field(0).Type, structure.Field(1).Type), nil
		}
	}
	return nil, fmt.Errorf("%v, expected a list of structs of the fields key and value: %w", render.TypeName(operands[0]), expr.ErrType)
}

func (m mapping) Run(_ context.Context, operands []*column.Column, _ kernels.Options) (*column.Column, error) {
	to, err := m.Result([]arrow.DataType{operands[0].Type()})
	if err != nil {
		return nil, err
	}
	return retyped(operands[0], to, to.(*arrow.MapType).Elem())
}

// retyped returns a list as another type of the same storage, with elements of a type.
func retyped(c *column.Column, to, element arrow.DataType) (*column.Column, error) {
	child := c.Child(0).Data()
	child.Type = element
	elements, err := column.New(child)
	if err != nil {
		return nil, err
	}
	data := c.Data()
	data.Type, data.Children = to, []*column.Column{elements}
	list, err := column.New(data)
	return release.OnError(list, err, elements.Release())
}

type entries struct{}

func (entries) Name() string { return "map_entries" }

func (entries) Result(operands []arrow.DataType) (arrow.DataType, error) {
	m, ok := layout.Storage(operands[0]).(*arrow.MapType)
	if !ok {
		return nil, fmt.Errorf("%v is no map: %w", render.TypeName(operands[0]), expr.ErrType)
	}
	return arrow.ListOf(arrow.StructOf(
		arrow.Field{Name: keyName, Type: m.KeyType(), Nullable: true}, arrow.Field{Name: valueName, Type: m.ItemType(), Nullable: true},
	)), nil
}

func (e entries) Run(_ context.Context, operands []*column.Column, _ kernels.Options) (*column.Column, error) {
	to, err := e.Result([]arrow.DataType{operands[0].Type()})
	if err != nil {
		return nil, err
	}
	return retyped(operands[0], to, to.(*arrow.ListType).Elem())
}
