package driver

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/sql"
)

// Arguments returns the values of a row of a record as arguments of a statement. Nulls have the types of their
// columns.
func Arguments(record arrow.Record, row int) []any {
	list := make([]any, record.NumCols())
	for i, c := range record.Columns() {
		list[i] = readerOf(c)(row)
		if c.IsNull(row) {
			list[i] = sql.Null{Type: c.DataType()}
		}
	}
	return list
}
