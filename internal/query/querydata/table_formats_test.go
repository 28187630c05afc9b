package querydata_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/query/querydata"
	"github.com/gpuframe/gpuframe/tableformat"
)

// An error of a table has the condition of all errors of documents, and its own.
func TestTablesThatCannotBeOpened(t *testing.T) {
	e := open(t)
	for _, format := range []string{"delta", "iceberg"} {
		_, err := querydata.Decode(t.Context(), e, []byte(document(`{"verb": "`+format+`", "path": "absent"}`)), given(e))
		require.ErrorIs(t, err, querydata.ErrDocument)
		require.ErrorIs(t, err, tableformat.ErrFormat)
	}
}
