package format

import "github.com/apache/arrow/go/v17/arrow"

// plain holds the types with one format string and no children.
var plain = [...]struct {
	text string
	t    arrow.DataType
}{
	{"n", &arrow.NullType{}},
	{"b", &arrow.BooleanType{}},
	{"c", &arrow.Int8Type{}},
	{"C", &arrow.Uint8Type{}},
	{"s", &arrow.Int16Type{}},
	{"S", &arrow.Uint16Type{}},
	{"i", &arrow.Int32Type{}},
	{"I", &arrow.Uint32Type{}},
	{"l", &arrow.Int64Type{}},
	{"L", &arrow.Uint64Type{}},
	{"e", &arrow.Float16Type{}},
	{"f", &arrow.Float32Type{}},
	{"g", &arrow.Float64Type{}},
	{"z", &arrow.BinaryType{}},
	{"Z", &arrow.LargeBinaryType{}},
	{"vz", &arrow.BinaryViewType{}},
	{"u", &arrow.StringType{}},
	{"U", &arrow.LargeStringType{}},
	{"vu", &arrow.StringViewType{}},
	{"tdD", &arrow.Date32Type{}},
	{"tdm", &arrow.Date64Type{}},
	{"tts", &arrow.Time32Type{Unit: arrow.Second}},
	{"ttm", &arrow.Time32Type{Unit: arrow.Millisecond}},
	{"ttu", &arrow.Time64Type{Unit: arrow.Microsecond}},
	{"ttn", &arrow.Time64Type{Unit: arrow.Nanosecond}},
	{"tDs", &arrow.DurationType{Unit: arrow.Second}},
	{"tDm", &arrow.DurationType{Unit: arrow.Millisecond}},
	{"tDu", &arrow.DurationType{Unit: arrow.Microsecond}},
	{"tDn", &arrow.DurationType{Unit: arrow.Nanosecond}},
	{"tiM", &arrow.MonthIntervalType{}},
	{"tiD", &arrow.DayTimeIntervalType{}},
	{"tin", &arrow.MonthDayNanoIntervalType{}},
}

// nested holds the types whose format string is constant, because only their children
// differ.
var nested = [...]struct {
	text string
	id   arrow.Type
}{
	{"+l", arrow.LIST},
	{"+L", arrow.LARGE_LIST},
	{"+vl", arrow.LIST_VIEW},
	{"+vL", arrow.LARGE_LIST_VIEW},
	{"+s", arrow.STRUCT},
	{"+m", arrow.MAP},
	{"+r", arrow.RUN_END_ENCODED},
}

// timestamps holds the prefixes of the name of the time zone.
var timestamps = [...]struct {
	text string
	unit arrow.TimeUnit
}{
	{"tss:", arrow.Second},
	{"tsm:", arrow.Millisecond},
	{"tsu:", arrow.Microsecond},
	{"tsn:", arrow.Nanosecond},
}
