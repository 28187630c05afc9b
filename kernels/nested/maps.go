package nested

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/text/render"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

// Lookup is the value of the first entry of a map with a key, which is that of expr.Lit. It
// is null if the map is null or has no such key.
func Lookup(e expr.Expr, key any) expr.Expr { return expr.Apply(lookup{key}, e) }

type lookup struct{ key any }

func (lookup) Name() string { return "map_lookup" }

func (l lookup) Result(operands []arrow.DataType) (arrow.DataType, error) {
	mapType, ok := layout.Storage(operands[0]).(*arrow.MapType)
	if !ok {
		return nil, fmt.Errorf("%v is no map: %w", render.TypeName(operands[0]), expr.ErrType)
	}
	_, _, err := l.test().Type(elementSchema(mapType.KeyType()))
	return mapType.ItemType(), err
}

func (l lookup) test() expr.Expr { return expr.Col(elementName).Eq(expr.Lit(l.key)) }

func (l lookup) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	return withLists(ctx, operands[0], options, func(call *op.Call, maps *lists) (*column.Column, error) {
		entries := maps.elements
		keys, keysErr := entries.Child(0).Slice(entries.Offset(), entries.Len())
		items, itemsErr := entries.Child(1).Slice(entries.Offset(), entries.Len())
		err := errors.Join(keysErr, itemsErr)
		var values *column.Column
		if err == nil {
			values, err = l.find(call, maps, keys, items)
		}
		return release.OnError(values, err, keys.Release(), items.Release())
	})
}

// find takes the item of the first key that is equal.
func (l lookup) find(call *op.Call, maps *lists, keys, items *column.Column) (*column.Column, error) {
	truths, err := evaluate(call, keys, l.test())
	if err != nil {
		return nil, err
	}
	v, err := valuesOf(call, truths)
	if err != nil {
		return nil, errors.Join(err, truths.Release())
	}
	places, err := maps.fold(call, foldFind, arrow.PrimitiveTypes.Uint32, v)
	if places, err = release.OnError(places, err, truths.Release()); err != nil {
		return nil, err
	}
	values, err := selection.TakeColumnWith(call.Context(), items, places, selection.TakeOptions{Options: resultOptions(call), Bounds: selection.Null})
	return release.OnError(values, err, places.Release())
}
