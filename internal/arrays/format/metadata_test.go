package format_test

import (
	"encoding/binary"
	"strings"
	"testing"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/internal/arrays/format"
	"github.com/gpuframe/gpuframe/internal/arrays/format/formattest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
)

// blob encodes numbers and texts.
func blob(parts ...any) []byte {
	var bytes []byte
	for _, part := range parts {
		switch part := part.(type) {
		case int:
			bytes = binary.NativeEndian.AppendUint32(bytes, uint32(part))
		case string:
			bytes = append(bytes, part...)
		}
	}
	return bytes
}

func TestMetadataExampleOfTheStandard(t *testing.T) {
	metadata := arrow.NewMetadata([]string{"key1"}, []string{"value1"})
	want := blob(1, 4, "key1", 6, "value1")
	bytes, err := format.EncodeMetadata(metadata)
	require.NoError(t, err)
	require.Equal(t, want, bytes)
	bytes, err = format.EncodeMetadata(arrow.Metadata{})
	require.NoError(t, err)
	require.Nil(t, bytes)
}

func TestMetadataRoundTrip(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		metadata := formattest.Metadata().Draw(t, "metadata")
		bytes, err := format.EncodeMetadata(metadata)
		require.NoError(t, err)
		var start unsafe.Pointer
		if len(bytes) > 0 {
			start = unsafe.Pointer(&bytes[0])
			read, length, err := format.DecodeMetadata(append(bytes, "more"...))
			require.NoError(t, err)
			require.Equal(t, len(bytes), length)
			require.Equal(t, metadata, read)
		}
		read, length, err := format.ReadMetadata(start)
		require.NoError(t, err)
		require.Equal(t, len(bytes), length)
		require.Equal(t, metadata, read)
		for cut := range bytes {
			_, _, err := format.DecodeMetadata(bytes[:cut])
			require.ErrorIs(t, err, format.ErrInvalid)
		}
	})
}

func TestMetadataRefused(t *testing.T) {
	for _, c := range []struct {
		name  string
		bytes []byte
		says  string
	}{
		{"negative count", blob(-1), "number of pairs"},
		{"large count", blob(format.MaximumPairs + 1), "number of pairs"},
		{"negative key", blob(1, -4), "key 0: length"},
		{"negative value", blob(2, 1, "k", 1, "v", 1, "l", -1<<31), "value 1: length"},
		{"long key", blob(1, 1<<31-1), "key 0: length"},
		{"too much in all", blob(1, format.MaximumMetadata), "more than"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := format.ReadMetadata(unsafe.Pointer(&c.bytes[0]))
			require.ErrorIs(t, err, format.ErrInvalid)
			require.ErrorContains(t, err, c.says)
		})
	}
	_, _, err := format.DecodeMetadata(nil)
	require.ErrorIs(t, err, format.ErrInvalid)
}

func TestMetadataTooLargeToWrite(t *testing.T) {
	many := make([]string, format.MaximumPairs+1)
	_, err := format.EncodeMetadata(arrow.NewMetadata(many, many))
	require.ErrorIs(t, err, format.ErrUnsupported)
	long := []string{strings.Repeat("x", format.MaximumMetadata/2)}
	_, err = format.EncodeMetadata(arrow.NewMetadata(long, long))
	require.ErrorIs(t, err, format.ErrUnsupported)
}
