package sql_test

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
)

// COPY writes folders with the options of DuckDB.
func TestCopyToFolders(t *testing.T) {
	session := sessionOn(t, devicetest.Open(t, "host"))
	folder := filepath.Join(t.TempDir(), "out")
	execute := func(options string) (int64, error) {
		return session.Exec(t.Context(), "copy (select id, price, id % 2 as odd from orders) to '"+folder+"' (format parquet, "+options+")")
	}
	count := func() string { return answer(t, session, "select count(*) as n from read_parquet('"+folder+"')") }
	rows, err := execute("partition_by (odd)")
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintf("n; %d", rows), count())
	_, err = execute("partition_by odd")
	require.ErrorIs(t, err, fs.ErrExist)
	for _, each := range []struct {
		options string
		times   int64
	}{
		{"partition_by (odd), append", 2}, {"PARTITION_BY (odd), OVERWRITE_OR_IGNORE", 1}, {"partition_by (odd), append true", 2}, {"overwrite, file_size_bytes '1MB'", 1},
		{"append, file_size_bytes 1000", 2}, {"overwrite_or_ignore", 1},
	} {
		_, err := execute(each.options)
		require.NoError(t, err, each.options)
		require.Equal(t, fmt.Sprintf("n; %d", each.times*rows), count(), each.options)
	}
	for options, text := range map[string]string{
		"append, partition_by (town)": "no column is called", "partition_by": "has no value", "append, overwrite": "has one of APPEND", "append 7": "is true or false",
		"file_size_bytes 'large'": "is a size such as", "file_size_bytes (1, 2)": "has 2 values", "format (csv, json)": "has 2 values",
	} {
		_, err := execute(options)
		require.ErrorContains(t, err, text, options)
	}
}
