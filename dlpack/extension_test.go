//go:build cgo && unix && !(386 || arm)

package dlpack_test

import (
	"testing"

	"bytes"
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/dlpack"
	"github.com/gpuframe/gpuframe/dlpack/internal/cabi"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// extensions are the types that only DLPack has, with the standard's numbers.
func extensions() []numeric {
	dataType := func(code, bits uint8) cabi.DataType { return cabi.DataType{Code: code, Bits: bits, Lanes: 1} }
	return []numeric{
		{dlpack.BFloat16, dataType(4, 16)},
		{dlpack.Float8E3M4, dataType(7, 8)}, {dlpack.Float8E4M3, dataType(8, 8)},
		{dlpack.Float8E4M3B11FNUZ, dataType(9, 8)}, {dlpack.Float8E4M3FN, dataType(10, 8)},
		{dlpack.Float8E4M3FNUZ, dataType(11, 8)}, {dlpack.Float8E5M2, dataType(12, 8)},
		{dlpack.Float8E5M2FNUZ, dataType(13, 8)}, {dlpack.Float8E8M0FNU, dataType(14, 8)},
		{dlpack.Complex64, dataType(5, 64)}, {dlpack.Complex128, dataType(5, 128)},
	}
}

// allTypes are the types that are exchanged without a conversion.
func allTypes() []numeric { return append(numerics(), extensions()...) }

func TestExtensionTypes(t *testing.T) {
	assert.Len(t, dlpack.ExtensionTypes(), len(extensions()))
	fingerprints := map[string]string{}
	for i, each := range extensions() {
		one := each.arrow.(*dlpack.ExtensionType)
		assert.Same(t, one, dlpack.ExtensionTypes()[i])
		assert.Equal(t, arrow.EXTENSION, one.ID())
		assert.Equal(t, "extension<"+one.ExtensionName()+">", one.String())
		assert.Regexp(t, `^gpuframe\.(bfloat16|float8_[a-z0-9]+|complex(64|128))$`, one.ExtensionName())
		width := 0
		if list, ok := one.StorageType().(*arrow.FixedSizeListType); ok {
			width = int(list.Len()) * list.Elem().(arrow.FixedWidthDataType).BitWidth()
		} else {
			width = one.StorageType().(arrow.FixedWidthDataType).BitWidth()
		}
		assert.EqualValues(t, each.dlpack.Bits, width)
		for j, other := range extensions() {
			assert.Equal(t, i == j, arrow.TypeEqual(each.arrow, other.arrow))
			assert.Equal(t, i == j, one.ExtensionEquals(other.arrow.(*dlpack.ExtensionType)))
		}
		assert.Empty(t, fingerprints[one.Fingerprint()])
		fingerprints[one.Fingerprint()] = one.ExtensionName()

		again, err := one.Deserialize(one.StorageType(), one.Serialize())
		require.NoError(t, err)
		assert.Same(t, one, again)
		_, err = one.Deserialize(arrow.BinaryTypes.String, "")
		require.ErrorIs(t, err, dlpack.ErrInvalid)
		require.ErrorContains(t, err, one.ExtensionName())
	}
	assert.False(t, dlpack.BFloat16.ExtensionEquals(nil))
	copied := dlpack.ExtensionTypes()
	copied[0] = nil
	assert.NotNil(t, dlpack.ExtensionTypes()[0])
}

// stranger is another library's Go type of the same name.
type stranger struct {
	*dlpack.ExtensionType
	name    string
	storage arrow.DataType
}

func (s stranger) ExtensionName() string       { return s.name }
func (s stranger) StorageType() arrow.DataType { return s.storage }

func TestExtensionTypesOfOthers(t *testing.T) {
	m := hostManager(t)
	for name, each := range map[string]struct {
		dataType arrow.DataType
		fits     bool
	}{
		"the same":        {stranger{dlpack.BFloat16, "gpuframe.bfloat16", arrow.PrimitiveTypes.Uint16}, true},
		"another storage": {stranger{dlpack.BFloat16, "gpuframe.bfloat16", arrow.PrimitiveTypes.Int16}, false},
		"another name":    {stranger{dlpack.BFloat16, "other.bfloat16", arrow.PrimitiveTypes.Uint16}, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := newColumn(t, m, column.Data{Type: each.dataType, Length: 4}, nil, pattern(8))
			tensor, err := dlpack.Export(c)
			if each.fits {
				require.NoError(t, err)
				assert.Equal(t, cabi.DataType{Code: cabi.CodeBfloat, Bits: 16, Lanes: 1}, tensorOf(tensor).DataType)
				require.NoError(t, tensor.Release())
			} else {
				require.ErrorIs(t, err, dlpack.ErrUnsupported)
			}
			require.NoError(t, c.Release())
		})
	}
	requireNothingHeld(t, m)
}

// A program that registers the types reads them from Arrow's files.
func TestExtensionTypesInArrowStreams(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		for _, each := range extensions() {
			one := each.arrow.(*dlpack.ExtensionType)
			require.NoError(t, arrow.RegisterExtensionType(one))
			p := newProducer(t, m.Device(), devicetest.Foreign(t, m.Device(), pattern(5*each.width())), each.dlpack, 5)
			c, err := importEither(m, p, false)
			require.NoError(t, err)
			values, err := c.Array(t.Context())
			require.NoError(t, err)
			require.IsType(t, &dlpack.ExtensionArray{}, values)

			schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: c.Type()}}, nil)
			var stream bytes.Buffer
			writer := ipc.NewWriter(&stream, ipc.WithSchema(schema))
			require.NoError(t, writer.Write(array.NewRecord(schema, []arrow.Array{values}, 5)))
			require.NoError(t, writer.Close())
			reader, err := ipc.NewReader(&stream)
			require.NoError(t, err)
			require.True(t, reader.Next())
			assert.Same(t, one, reader.Record().Column(0).DataType())
			assert.True(t, array.Equal(values, reader.Record().Column(0)))

			require.NoError(t, c.Release())
			require.NoError(t, arrow.UnregisterExtensionType(one.ExtensionName()))
		}
		requireNothingHeld(t, m)
	})
}
