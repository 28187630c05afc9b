package layout

import "github.com/apache/arrow/go/v17/arrow"

const (
	monthBytes = 4
	viewBytes  = 16
)

// row holds the properties that a type's identity decides.
type row struct {
	kind  Kind
	class Class
	// width is that of Layout; zero if the type itself has it.
	width uint8
	// parameters is set if Of needs more than the identity.
	parameters bool
}

// rows are all types of Arrow except extension types.
var rows = [...]row{
	arrow.NULL:                    {Null, Empty, 0, false},
	arrow.BOOL:                    {Bits, Boolean, 0, false},
	arrow.INT8:                    {Fixed, Signed, 1, false},
	arrow.INT16:                   {Fixed, Signed, 2, false},
	arrow.INT32:                   {Fixed, Signed, 4, false},
	arrow.INT64:                   {Fixed, Signed, 8, false},
	arrow.UINT8:                   {Fixed, Unsigned, 1, false},
	arrow.UINT16:                  {Fixed, Unsigned, 2, false},
	arrow.UINT32:                  {Fixed, Unsigned, 4, false},
	arrow.UINT64:                  {Fixed, Unsigned, 8, false},
	arrow.FLOAT16:                 {Fixed, Float, 2, false},
	arrow.FLOAT32:                 {Fixed, Float, 4, false},
	arrow.FLOAT64:                 {Fixed, Float, 8, false},
	arrow.DECIMAL128:              {Fixed, Decimal, 16, false},
	arrow.DECIMAL256:              {Fixed, Decimal, 32, false},
	arrow.DATE32:                  {Fixed, Temporal, 4, false},
	arrow.DATE64:                  {Fixed, Temporal, 8, false},
	arrow.TIME32:                  {Fixed, Temporal, 4, false},
	arrow.TIME64:                  {Fixed, Temporal, 8, false},
	arrow.TIMESTAMP:               {Fixed, Temporal, 8, false},
	arrow.DURATION:                {Fixed, Temporal, 8, false},
	arrow.INTERVAL_MONTHS:         {Fixed, Interval, monthBytes, false},
	arrow.INTERVAL_DAY_TIME:       {Fixed, Interval, 8, false},
	arrow.INTERVAL_MONTH_DAY_NANO: {Fixed, Interval, 16, false},
	arrow.FIXED_SIZE_BINARY:       {Fixed, Bytes, 0, true},
	arrow.STRING:                  {Binary, Bytes, 4, false},
	arrow.BINARY:                  {Binary, Bytes, 4, false},
	arrow.LARGE_STRING:            {Binary, Bytes, 8, false},
	arrow.LARGE_BINARY:            {Binary, Bytes, 8, false},
	arrow.STRING_VIEW:             {View, Bytes, viewBytes, false},
	arrow.BINARY_VIEW:             {View, Bytes, viewBytes, false},
	arrow.LIST:                    {List, Nested, 4, true},
	arrow.MAP:                     {List, Nested, 4, true},
	arrow.LARGE_LIST:              {List, Nested, 8, true},
	arrow.LIST_VIEW:               {ListView, Nested, 4, true},
	arrow.LARGE_LIST_VIEW:         {ListView, Nested, 8, true},
	arrow.FIXED_SIZE_LIST:         {FixedSizeList, Nested, 0, true},
	arrow.STRUCT:                  {Struct, Nested, 0, true},
	arrow.SPARSE_UNION:            {SparseUnion, Nested, 1, true},
	arrow.DENSE_UNION:             {DenseUnion, Nested, 1, true},
	arrow.DICTIONARY:              {Dictionary, Encoded, 0, true},
	arrow.RUN_END_ENCODED:         {RunEnds, Encoded, 0, true},
}
