package sink_test

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/io/sink"
)

// parity returns whether integers are odd, null for null.
func parity(values arrow.Array) (arrow.Array, error) {
	odd := array.NewBooleanBuilder(memory.DefaultAllocator)
	defer odd.Release()
	for row := range values.Len() {
		if values.IsNull(row) {
			odd.AppendNull()
			continue
		}
		odd.Append(values.(*array.Int64).Value(row)%2 != 0)
	}
	return odd.NewArray(), nil
}

// Folders of computed values are below those of columns, and the columns that they are computed of stay in the files.
func TestFolderKeys(t *testing.T) {
	failure := errors.New("failure of the function")
	for name, test := range map[string]struct {
		keys []sink.Key
		err  error
	}{
		"right":          {keys: []sink.Key{{Name: "odd", Column: "b", Values: parity}}},
		"no function":    {keys: []sink.Key{{Name: "odd", Column: "b"}}, err: sink.ErrArgument},
		"no column":      {keys: []sink.Key{{Name: "odd", Column: "x", Values: parity}}, err: sink.ErrArgument},
		"a second one":   {keys: []sink.Key{{Name: "odd", Column: "b", Values: parity}, {Name: "odd", Column: "b", Values: parity}}, err: sink.ErrArgument},
		"that of a name": {keys: []sink.Key{{Name: "a", Column: "b", Values: parity}}, err: sink.ErrArgument},
		"no values":      {keys: []sink.Key{{Name: "odd", Column: "b", Values: func(arrow.Array) (arrow.Array, error) { return nil, nil }}}, err: sink.ErrArgument},
		"that of a file": {keys: []sink.Key{{Name: "c", Column: "b", Values: parity}}, err: sink.ErrArgument},
		"an error":       {keys: []sink.Key{{Name: "odd", Column: "b", Values: func(arrow.Array) (arrow.Array, error) { return nil, failure }}}, err: failure},
		"too few values": {keys: []sink.Key{{Name: "odd", Column: "b", Values: func(values arrow.Array) (arrow.Array, error) {
			return array.NewSlice(values, 0, 1), nil
		}}}, err: sink.ErrArgument},
	} {
		t.Run(name, func(t *testing.T) {
			folders, err := writeKeys(t, test.keys)
			if test.err != nil {
				require.ErrorIs(t, err, test.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, map[string]int64{"a=x/odd=true": 2, "a=x/odd=false": 1, "a=y/odd=__HIVE_DEFAULT_PARTITION__": 1}, folders)
		})
	}
}

// writeKeys writes four rows, and returns the rows of the files of each folder.
func writeKeys(t *testing.T, keys []sink.Key) (map[string]int64, error) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.BinaryTypes.String}, {Name: "b", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, {Name: "c", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil)
	record, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(`[{"a": "x", "b": 1}, {"a": "x", "b": 2}, {"a": "y", "b": null}, {"a": "x", "b": 3}]`))
	require.NoError(t, err)
	defer record.Release()
	folder := t.TempDir()
	manifest, err := toFolder(t, folder, record, sink.CSV(sink.CSVOptions{}), sink.FolderOptions{PartitionBy: []string{"a"}, Keys: keys})
	if err != nil {
		return nil, err
	}
	rows := map[string]int64{}
	for _, file := range manifest.Files {
		text, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(file.Path)))
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(string(text), "b,c\n"), string(text))
		rows[path.Dir(file.Path)] += file.Rows
	}
	return rows, nil
}
