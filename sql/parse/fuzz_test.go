package parse_test

import (
	"errors"
	"testing"

	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/internal/testing/sqltest"
	"github.com/gpuframe/gpuframe/sql/parse"
)

// FuzzStatements: any text is a fault with a place in it, or statements; the text of their trees has the same trees.
func FuzzStatements(f *testing.F) {
	for _, name := range []string{"accepted.sql", "refused.sql", "left-out.sql", "wider.sql"} {
		for _, text := range lines(f, name) {
			f.Add(text)
		}
	}
	f.Fuzz(checkText)
}

// checkText reads a text and fails if the answer is wrong for any text.
func checkText(t *testing.T, text string) {
	t.Helper()
	statements, err := parse.Statements(text)
	var fault *parse.Error
	switch {
	case err == nil:
	case !errors.As(err, &fault) || fault.Position < 0 || int(fault.Position) > len(text) || fault.Message == "":
		t.Fatalf("%q: %v", text, err)
	}
	for _, statement := range statements {
		sqltest.ClearPositions(statement)
		requireSameTree(t, statement)
	}
}

// TestRandomTexts: texts without a grammar, and statements with wrong tokens.
func TestRandomTexts(t *testing.T) {
	r := property.Random(t)
	count := 30000
	if testing.Short() {
		count = 3000
	}
	for range count {
		checkText(t, sqltest.Soup(r, 20))
		checkText(t, sqltest.Mutate(r, parse.Format(sqltest.Query(r, r.IntN(3)))))
	}
}
