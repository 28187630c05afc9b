package source

import (
	"context"

	"github.com/gpuframe/gpuframe/kernels/expr"
)

// Lacks reports whether the dictionary and the Bloom filter of a condition's column exclude a
// row group of a source of one Parquet file.
func Lacks(ctx context.Context, s Source, rowGroup int, condition expr.Expr) (dictionary, known, filter bool) {
	file := s.(*parquetFiles).files[0]
	footer, err := file.footer()
	if err != nil {
		panic(err)
	}
	g := groupValues{rowGroup: rowGroup0(file, footer, rowGroup)}
	defer g.close()
	m := membersOf([]expr.Expr{condition})
	if len(m) != 1 {
		return false, false, false
	}
	dictionary, known = g.dictionaryLacks(ctx, m[0])
	return dictionary, known, g.filterLacks(m[0])
}

func rowGroup0(file *parquetFile, footer *footer, index int) rowGroup {
	return rowGroup{file: file, footer: footer, index: index, rows: footer.metadata.GetRowGroups()[index].GetNumRows()}
}

// SetLeastEncodedRows sets the least number of rows of a record with dictionaries. Call restore
// afterwards.
func SetLeastEncodedRows(rows int64) (restore func()) {
	before := leastEncodedRows
	leastEncodedRows = rows
	return func() { leastEncodedRows = before }
}
