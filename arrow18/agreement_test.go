package arrow18_test

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	arrow17 "github.com/apache/arrow/go/v17/arrow"
	array17 "github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrow18"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
)

// TestVersionsAgree compares, for each type, the values that both versions of arrow-go read in the same memory: as
// JSON, which each version writes by its own code, and as the text of each value. IPC streams are no second opinion:
// v18 refuses those that v17 writes of some arrays with an offset.
func TestVersionsAgree(t *testing.T) {
	require.NoError(t, arraytest.RegisterExtension())
	compared := 0
	for seed, dataType := range arraytest.AllTypes() {
		values := arraytest.NewGenerator(uint64(seed)).Array(dataType, 40)
		record := array17.NewRecord(arrow17.NewSchema([]arrow17.Field{{Name: "x", Type: dataType, Nullable: true}}, nil), []arrow17.Array{values}, 40)
		for _, record := range []arrow17.Record{record, record.NewSlice(5, 33)} {
			exported, err := arrow18.Export(record)
			if err != nil {
				require.ErrorIs(t, err, arrow18.ErrType, "%v", dataType)
				continue
			}
			compared++
			ours, theirs := record.Column(0), exported.Column(0)
			if extension, ok := ours.(array17.ExtensionArray); ok {
				ours = extension.Storage() // v18 has the storage of an extension type that it does not know
			}
			assert.Equal(t, ours.DataType().ID().String(), theirs.DataType().ID().String())
			require.Equal(t, ours.Len(), theirs.Len(), "%v", dataType)
			assert.Equal(t, ours.NullN(), theirs.NullN(), "%v", dataType)
			if times, ok := ours.(*array17.Timestamp); ok { // v18 writes years above 9999 as numbers, v17 as dates
				for row := range times.Len() {
					require.EqualValues(t, times.Value(row), theirs.(*array.Timestamp).Value(row), "%v", dataType)
				}
				exported.Release()
				continue
			}
			want, err := ours.MarshalJSON()
			require.NoError(t, err, "%v", dataType)
			got, err := theirs.MarshalJSON()
			require.NoError(t, err, "%v", dataType)
			assert.Equal(t, string(want), string(got), "%v", dataType)
			for row := range ours.Len() {
				require.Equal(t, ours.IsNull(row), theirs.IsNull(row), "%v", dataType)
				assert.Equal(t, ours.ValueStr(row), theirs.ValueStr(row), "%v", dataType)
			}
			exported.Release()
		}
	}
	require.Greater(t, compared, 80, "the types are there")
}
