package expr

import "github.com/gpuframe/gpuframe/kernels/internal/tree"

// Year is the year of a date or timestamp, as int64. The parts of timestamps are
// those in UTC; one of another time zone is refused: cast it to a timestamp without.
func (e Expr) Year() Expr { return make1(tree.Year, e) }

// Quarter is 1 to 4; see Year.
func (e Expr) Quarter() Expr { return make1(tree.Quarter, e) }

// Month is 1 to 12; see Year.
func (e Expr) Month() Expr { return make1(tree.Month, e) }

// Day is that of the month, from 1; see Year.
func (e Expr) Day() Expr { return make1(tree.Day, e) }

// DayOfYear counts from 1; see Year.
func (e Expr) DayOfYear() Expr { return make1(tree.DayOfYear, e) }

// Weekday counts from Monday, 0, to Sunday, 6; see Year.
func (e Expr) Weekday() Expr { return make1(tree.Weekday, e) }

// Hour is that of a time or timestamp, 0 to 23, as int64; see Year.
func (e Expr) Hour() Expr { return make1(tree.Hour, e) }

// Minute is that within the hour; see Hour.
func (e Expr) Minute() Expr { return make1(tree.Minute, e) }

// Second is the whole second within the minute; see Hour.
func (e Expr) Second() Expr { return make1(tree.Second, e) }

// Subsecond is the nanoseconds since the last whole second; see Hour.
func (e Expr) Subsecond() Expr { return make1(tree.Subsecond, e) }
