package source

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/scalar"
	"github.com/stretchr/testify/require"
)

// Values of metadata that would take many bytes for each row of a file are refused before they are made.
func TestLongConstants(t *testing.T) {
	wide := &arrow.FixedSizeBinaryType{ByteWidth: 1 << 20}
	nested := arrow.StructOf(arrow.Field{Name: "a", Type: wide}, arrow.Field{Name: "b", Type: arrow.ListOf(wide)})
	text := scalar.NewStringScalar(string(make([]byte, 1<<20)))
	for _, kind := range []arrow.DataType{wide, nested} {
		_, err := nulls(kind, 1<<13)
		require.ErrorIs(t, err, ErrUnsupported)
		few, err := nulls(kind, 3)
		require.NoError(t, err)
		few.Release()
		_, err = (&conversion{to: kind}).missing(1 << 13)
		require.ErrorIs(t, err, ErrUnsupported)
	}
	_, err := constantRows(text, 1<<13)
	require.ErrorIs(t, err, ErrUnsupported)
	_, err = (&conversion{to: arrow.BinaryTypes.String, fallback: text}).missing(1 << 11)
	require.ErrorIs(t, err, ErrUnsupported)
	member, err := (&conversion{to: arrow.BinaryTypes.String, fallback: text}).missing(2)
	require.NoError(t, err)
	member.Release()
	_, err = constantRows(scalar.MakeNullScalar(nested), 1<<13)
	require.ErrorIs(t, err, ErrUnsupported)
}
