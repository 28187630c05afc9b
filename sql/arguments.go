package sql

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/arrays/govalue"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// Null is a null of a type, as an argument of [Session.Query].
type Null struct{ Type arrow.DataType }

// Arguments returns the values of a row of a record as arguments of [Session.Query]. Nulls have the types of
// their columns.
func Arguments(record arrow.Record, row int) []any {
	list := make([]any, record.NumCols())
	for i, c := range record.Columns() {
		list[i] = Null{c.DataType()}
		if c.IsValid(row) {
			list[i] = govalue.Of(c)(row)
		}
	}
	return list
}

// checkArguments refuses arguments that the statement has no parameters for.
func (t *translation) checkArguments(statement tree.Statement) {
	most := 0
	tree.Walk(statement, func(n tree.Node, _ int) bool {
		if p, ok := n.(*tree.Parameter); ok {
			most = max(most, p.Number)
		}
		return true
	})
	if most < len(t.arguments) {
		t.fail(statement, "the call has %d arguments, the statement has %d parameters", len(t.arguments), most)
	}
}
