//go:build cgo && unix && !(386 || arm || mips || mipsle)

package peer

// Shapes returns options that affect the layout of an array, by name. The standard allows
// all of them.
func Shapes() map[string]Options {
	return map[string]Options{
		"whole":     {Length: 20},
		"sliced":    {Length: 17, Ahead: 11, Behind: 4},
		"deep":      {Length: 23, Ahead: 3, Behind: 9, ChildrenAhead: 7, ChildrenBehind: 5},
		"empty":     {},
		"empty at":  {Ahead: 5, Behind: 3, ChildrenAhead: 3},
		"valid":     {Length: 20, Ahead: 3, Nulls: NoNulls},
		"null":      {Length: 20, Ahead: 3, Nulls: AllNulls},
		"uncounted": {Length: 9, Ahead: 2, Quirks: UnknownNulls},
		"bitmaps":   {Length: 20, Ahead: 9, Nulls: NoNulls, Quirks: Validity | UnknownNulls},
		"garbage":   {Length: 33, Ahead: 2, Behind: 5, ChildrenAhead: 2, Quirks: Garbage},
		"odd":       {Length: 33, Ahead: 2, Behind: 5, Quirks: Odd},
		"padded":    {Length: 33, Quirks: Padded | Metadata},
		"no bytes":  {Quirks: EmptyIsNull},
	}
}
