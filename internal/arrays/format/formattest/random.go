package formattest

import (
	"github.com/apache/arrow/go/v17/arrow"
	"pgregory.net/rapid"
)

// Metadata generates metadata, often none, with keys that may repeat.
func Metadata() *rapid.Generator[arrow.Metadata] {
	return rapid.Custom(func(t *rapid.T) arrow.Metadata {
		count := rapid.IntRange(0, 3).Draw(t, "pairs")
		texts := rapid.SliceOfN(rapid.String(), count, count)
		return arrow.NewMetadata(texts.Draw(t, "keys"), texts.Draw(t, "values"))
	})
}

// Field generates a field of a [Type].
func Field(depth int) *rapid.Generator[arrow.Field] {
	return rapid.Custom(func(t *rapid.T) arrow.Field {
		return arrow.Field{
			Name:     rapid.StringMatching(`[ -~é]{0,8}`).Draw(t, "name"),
			Type:     Type(depth).Draw(t, "type"),
			Nullable: rapid.Bool().Draw(t, "nullable"),
			Metadata: Metadata().Draw(t, "metadata"),
		}
	})
}

// Type generates types that are nested at most depth levels. All their properties have
// a place both in a schema and in arrow-go.
func Type(depth int) *rapid.Generator[arrow.DataType] {
	leaves := Leaves()
	leaf := rapid.Custom(func(t *rapid.T) arrow.DataType {
		return leaves[rapid.IntRange(0, len(leaves)-1).Draw(t, "leaf")].Type
	})
	if depth == 0 {
		return leaf
	}
	below := Field(depth - 1)
	return rapid.OneOf(leaf,
		rapid.Custom(func(t *rapid.T) arrow.DataType { return list(t, below.Draw(t, "element")) }),
		rapid.Custom(func(t *rapid.T) arrow.DataType {
			return structOrUnion(t, rapid.SliceOfN(below, 0, 4).Draw(t, "children"))
		}),
		rapid.Custom(func(t *rapid.T) arrow.DataType {
			key, item := below.Draw(t, "key"), below.Draw(t, "item")
			m := arrow.MapOfWithMetadata(key.Type, key.Metadata, item.Type, item.Metadata)
			m.SetItemNullable(item.Nullable)
			m.KeysSorted = rapid.Bool().Draw(t, "keys sorted")
			return m
		}),
		rapid.Custom(func(t *rapid.T) arrow.DataType { return encoded(t, below.Draw(t, "values")) }),
	)
}

func list(t *rapid.T, element arrow.Field) arrow.DataType {
	switch rapid.IntRange(0, 4).Draw(t, "list") {
	case 0:
		return arrow.ListOfField(element)
	case 1:
		return arrow.LargeListOfField(element)
	case 2:
		return arrow.ListViewOfField(element)
	case 3:
		return arrow.LargeListViewOfField(element)
	}
	return arrow.FixedSizeListOfField(rapid.Int32Range(1, 1<<31-1).Draw(t, "size"), element)
}

func structOrUnion(t *rapid.T, children []arrow.Field) arrow.DataType {
	// Comparisons field by field distinguish an empty slice from nil.
	if len(children) == 0 {
		return rapid.SampledFrom([]arrow.DataType{arrow.StructOf(), arrow.DenseUnionOf(nil, nil), arrow.SparseUnionOf(nil, nil)}).Draw(t, "empty")
	}
	codes := rapid.SliceOfNDistinct(rapid.Int8Range(0, 127), len(children), len(children), rapid.ID).Draw(t, "type ids")
	switch rapid.IntRange(0, 2).Draw(t, "struct or union") {
	case 0:
		return arrow.DenseUnionOf(children, codes)
	case 1:
		return arrow.SparseUnionOf(children, codes)
	}
	return arrow.StructOf(children...)
}

var indices = []arrow.DataType{
	arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Uint16,
	arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint64,
}

func encoded(t *rapid.T, values arrow.Field) arrow.DataType {
	if rapid.Bool().Draw(t, "dictionary") {
		index := rapid.SampledFrom(indices).Draw(t, "indices")
		return &arrow.DictionaryType{IndexType: index, ValueType: values.Type, Ordered: rapid.Bool().Draw(t, "ordered")}
	}
	ends := rapid.SampledFrom([]arrow.DataType{arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64})
	runs := arrow.RunEndEncodedOf(ends.Draw(t, "run ends"), values.Type)
	runs.ValueNullable = values.Nullable
	return runs
}
