package parse_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/internal/testing/sqltest"
	"github.com/gpuframe/gpuframe/sql/parse"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// TestFormatOfRandomTrees: the text of a tree has the same tree.
func TestFormatOfRandomTrees(t *testing.T) {
	r := property.Random(t)
	count := 20000
	if testing.Short() {
		count = 1000
	}
	for i := range count {
		requireSameTree(t, sqltest.Statement(r, 1+i*4/count)) // small trees first
	}
}

// requireSameTree fails if the text of a tree has another tree.
func requireSameTree(t *testing.T, statement tree.Statement) {
	t.Helper()
	text := parse.Format(statement)
	statements, err := parse.Statements(text)
	require.NoError(t, err)
	require.Len(t, statements, 1, text)
	sqltest.ClearPositions(statements[0])
	if reflect.DeepEqual(statement, statements[0]) {
		return
	}
	again := parse.Format(statements[0])
	start := 0
	for start < min(len(text), len(again)) && text[start] == again[start] {
		start++
	}
	start = max(0, start-80)
	t.Fatalf("%s\n\nanother tree from %q\nto %q", text, text[start:], again[min(start, len(again)):])
}
