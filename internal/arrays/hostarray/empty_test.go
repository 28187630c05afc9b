package hostarray_test

import (
	"context"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/hostarray"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

func TestEmptyRecordsOfEveryType(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	for _, of := range arraytest.AllTypes() {
		t.Run(of.String(), func(t *testing.T) {
			schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: of, Nullable: true}}, nil)
			empty, err := hostarray.EmptyRecord(schema)
			require.NoError(t, err)
			defer empty.Release()
			other := arraytest.NewGenerator(1).Array(of, 0)
			defer other.Release()
			require.True(t, array.Equal(other, empty.Column(0)))
			require.NotEmpty(t, empty.Column(0).String(), "arrow-go reads the buffers")

			uploaded, err := column.FromArray(context.Background(), mgr, empty.Column(0), column.UploadOptions{})
			require.NoError(t, err)
			require.Zero(t, uploaded.Len())
			require.NoError(t, uploaded.Release())
		})
	}
}

func TestEmptyRecordsOfUnknownTypesAreRefused(t *testing.T) {
	for _, of := range []arrow.DataType{&arrow.DictionaryType{}, arrow.ListOf(&arrow.DictionaryType{})} {
		_, err := hostarray.EmptyRecord(arrow.NewSchema([]arrow.Field{{Name: "a", Type: of}}, nil))
		var refused *layout.TypeError
		require.ErrorAs(t, err, &refused)
	}
}
