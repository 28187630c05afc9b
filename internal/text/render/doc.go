// Package render prints tables for people to read: their size, the names and types of
// the columns, the first and the last rows.
//
//	shape: (3, 2)
//	┌──────┬─────────┐
//	│ city ┆   price │
//	│ utf8 ┆ float64 │
//	╞══════╪═════════╡
//	│ Oslo ┆     3.5 │
//	│ …    ┆       … │
//	│ null ┆   0.001 │
//	└──────┴─────────┘
//
// Numbers are aligned on the right; floats have up to six significant digits. Text is
// cut to fit the width, and columns in the middle are left out if that is not enough.
// Characters that would move the cursor or change colours are escaped.
package render
