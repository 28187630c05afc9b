// Package chunks decodes column chunks of Parquet files on the device: the bytes of the file are copied as
// they are, and columns are made of them there.
//
//	table, err := chunks.Decode(ctx, manager, []chunks.Column{{
//		Type:   arrow.PrimitiveTypes.Int64,
//		Chunks: []chunks.Chunk{{About: about, Bytes: bytes, Rows: about.Values}},
//	}}, chunks.Options{})
//
// Package pages describes the format, and decodes the same columns on the host. Both begin with a
// plan of the pages: [pages.Plan].
//
// # How it works
//
// [Copy] plans all pages of all columns and copies them in one transfer, while the device may decode another
// batch. The kernels of [Batch.Decode] each take all pages of all columns in one launch:
//
//	find_levels      runs and packed definition levels → marks; a block for each page
//	write_levels     marks → validity bitmap, rows with a value before each word of it; a block for 2,048 rows
//	scan_levels      rows with a value of 1,024 rows → those before; a block for each page
//	write_…          plain values → values of dictionaries, then of rows; a block for 2,048 rows
//	find_indices     runs and packed indices → marks; a block for each page
//	write_indices    marks → values of a dictionary, indices of strings; a block for 2,048 rows
//	find_blocks      blocks of differences → marks; a block for each page
//	sum_deltas, scan_deltas, write_deltas
//	                 marks → sums, sums before, integers or lengths of strings; a warp for 256 values
//	follow_lengths   plain strings → their places; a block for each page
//	sum_lengths, scan_lengths, place_lengths
//	                 indices or lengths of strings → sums, sums before, places; a warp for 256 strings
//	link_prefixes    strings that share their beginnings → where the bytes before their own ones are
//	write_fixed      such values of one length → plain values
//	find_nested, write_nested
//	                 levels of lists and structs → bytes, validity of entries
//	count_elements, scan_elements, write_elements, pack_validity
//	                 levels → elements of each depth, those before, offsets of lists and bytes of validity, bitmaps
//	write_offsets    places → offsets of rows; a block for 2,048 rows
//	write_bytes      bytes of strings; a block for 16 KiB
//
// A mark is where the run or block of every 256th value begins: from it any warp reads the values.
//
// A row of a page with nulls finds its value by the number of rows with a value before it. The lengths of all strings
// are known before the memory for them is allocated: the last two kernels run after a copy of the outcomes to the
// host.
//
// # Lists and structs
//
// A leaf of a list or a struct is a column with a row for each entry of its levels, and decoded like one. The elements of a depth
// begin with the entries that have a repetition level up to it and a definition level that shows an element; their
// numbers, a prefix sum, are the offsets of lists. Entries without an element, of null and of empty lists, are filtered
// out of the values. The numbers of elements come to the host with the outcomes: leaves that share a list must agree.
//
// # Damaged pages
//
// Kernels check each offset, length and index against its page before they use it. They note damage in the
// outcome of the page; one copy at the end brings all outcomes to the host. The first page with damage becomes an
// [*Error].
//
// # Ownership, thread safety
//
// Functions keep no argument. A [Batch] is for one goroutine at a time.
package chunks
