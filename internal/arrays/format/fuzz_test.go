package format_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/arrays/format"
	"github.com/gpuframe/gpuframe/internal/arrays/format/formattest"
)

func FuzzParse(f *testing.F) {
	for _, c := range formattest.All() {
		f.Add(c.Format)
	}
	for _, text := range []string{"", "d:5,2,128", "d:5,2,64", "+w:0", "+ud:1,1", "tss", "w:01", "+us:,", "tsn:\xff"} {
		f.Add(text)
	}
	entries := arrow.StructOf(arrow.Field{Name: "key", Type: arrow.Null}, arrow.Field{Name: "value", Type: arrow.Null})
	f.Fuzz(func(t *testing.T, text string) {
		p, err := format.Parse(text)
		if err != nil {
			return
		}
		count, fixed := p.Children()
		if !fixed {
			count = 2
		}
		children := make([]arrow.Field, count)
		for i := range children {
			children[i].Type = arrow.PrimitiveTypes.Int16
		}
		if text == "+m" {
			children[0].Type = entries
		}
		made, err := p.Type(children, 0, nil)
		require.NoError(t, err)
		written, err := format.Of(made)
		require.NoError(t, err)
		if written != text {
			// The only other accepted spelling gives the default width of a decimal.
			require.Equal(t, text, written+",128")
		}
	})
}

func FuzzDecodeMetadata(f *testing.F) {
	f.Add(blob(0))
	f.Add(blob(1, 4, "key1", 6, "value1"))
	f.Add(blob(2, 0, 0, 1, "k", 1, "v"))
	f.Add(blob(1, -1))
	f.Add(blob(1, 1<<31-1, "x"))
	f.Add(blob(1<<16, 0))
	f.Fuzz(func(t *testing.T, bytes []byte) {
		metadata, length, err := format.DecodeMetadata(bytes)
		if err != nil {
			require.ErrorIs(t, err, format.ErrInvalid)
			return
		}
		written, err := format.EncodeMetadata(metadata)
		require.NoError(t, err)
		if metadata.Len() == 0 {
			require.Equal(t, 4, length)
			return
		}
		require.Equal(t, bytes[:length], written)
	})
}
