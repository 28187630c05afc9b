// Package delimited decodes delimited text, such as CSV, on the device: the bytes of the text are copied as they are, and
// columns are made of them there.
//
//	columns, err := delimited.Decode(ctx, manager, delimited.Layout{
//		Delimiter: ',', Width: 2,
//		Columns: []delimited.Column{{Type: arrow.PrimitiveTypes.Int64, Place: 1}},
//	}, []delimited.Text{{Bytes: []byte("a,1\nb,2\n"), Rows: 2}}, delimited.Options{})
//
// # How it works
//
// The host knows the number of rows: a [Piece] counts them while the text is read. The kernels of [Decode] are:
//
//	count_separators  fields and rows that end in each tile of 8 KiB, if it begins outside and within quotes
//	scan_tiles        which of both holds; fields and rows before each tile
//	write_separators  the end of each field; checks quotes, and the number of fields of each row
//	parse_rows        values, validity, lengths of texts; a block for 128 rows
//	scan_lengths      lengths of texts → places of texts
//	write_texts       texts and their offsets; a block for 128 rows
//
// Kernels behind parse_rows run after a copy of the outcome to the host, which allocates the memory of texts.
//
// # Faults
//
// A quote within a value, a row with another number of fields and a value that its type does not hold are [ErrFault]. The
// host then reads the text and finds the error, with its line and column.
//
// # Ownership, thread safety
//
// Functions keep no argument.
package delimited
