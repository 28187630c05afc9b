// Package rows maps Go structs to Arrow columns and back.
//
//	type Sale struct {
//		City  string
//		Price float64 `gpuframe:"unit price"`
//		Tax   *float64
//		Notes string `gpuframe:"-"`
//	}
//
//	record, err := rows.Record(nil, []Sale{{City: "Oslo", Price: 3}})
//	for sale, err := range rows.Each[Sale](record) { … }
//
// # Fields and columns
//
// Each exported field is a column with the name of its tag, or its own name. The tag "-"
// leaves a field out. Fields of an embedded struct count as fields of the outer struct,
// unless the embedded struct has a tag. When rows are read, a field without a column
// of exactly its name takes the column that differs from it only in case. Other columns
// are ignored.
//
// # Types
//
//	Go                                    Arrow
//	bool, integers, floats                the same; int and uint have 64 bits
//	string, []byte, [n]byte               utf8, binary, fixed_size_binary
//	time.Time                             timestamp[ns, UTC]
//	time.Duration                         duration[ns]
//	arrow.Date32, arrow.Date64            date32, date64
//	big.Int                               decimal128(38, 0)
//	struct, []T, [n]T                     struct, list, fixed_size_list
//	*T, sql.Null[T], sql.NullString, …    T with nulls
//
// Rows are also read from columns of other types if every value fits: narrower numbers,
// any text, dictionaries by their values, dates and timestamps of any unit into
// time.Time, times of day and durations into time.Duration, decimals into string and,
// without digits after the point, into big.Int. Types that cannot fit are an [*Error]
// before the first row; a null for a field that holds none is an [*Error] with the row.
//
// # Speed
//
// A struct type is examined once. Values move by functions compiled for each pair of
// types, without reflection for each value.
package rows
