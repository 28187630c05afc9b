package querytest

import (
	"math"
	"slices"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
)

// partitions draws partitions and an order of numbers, and returns the rows of each partition in
// order, with the number of each row behind it.
func (g *generator) partitions(s state) (window gpuframe.Window, key sortKey, parts [][]Row, ok bool) {
	e, ok := g.draw(s.table).column(Kind.isNumber)
	if !ok || !s.table.Ordered || g.options.SQL {
		return window, key, nil, false
	}
	keys, _, list := g.keys(s, 1)
	key = sortKey{expression: e, descending: g.choose("descending", 3) == 0}
	numbered := make([]Row, len(s.table.Rows))
	for i, row := range s.table.Rows {
		numbered[i] = append(slices.Clone(row), i)
	}
	groups, _ := grouped(numbered, keys)
	for _, rows := range groups {
		parts = append(parts, sorted(rows, []sortKey{key}))
	}
	return gpuframe.By(list).OrderBy(key.ordering()), key, parts, true
}

// added adds a column of values of numbered rows.
func added(s state, name string, kind Kind, values map[int]any) *Table {
	wider := &Table{Columns: append(slices.Clone(s.table.Columns), Column{Name: name, Kind: kind}), Ordered: s.table.Ordered}
	for i, row := range s.table.Rows {
		wider.Rows = append(wider.Rows, append(slices.Clone(row), values[i]))
	}
	return wider
}

func numberOf(row Row) int { return row[len(row)-1].(int) }

// series adds a function of the rows around each row: a difference, a fill, an interpolation or
// the number of a session.
func (g *generator) series(s state) state {
	window, key, parts, ok := g.partitions(s)
	if !ok {
		return s
	}
	e := key.expression
	if other, hasOther := g.draw(s.table).column(Kind.isNumber); hasOther {
		e = other
	}
	var function gpuframe.Expr
	kind, values, name, n := e.kind, map[int]any{}, g.newName(), 1+g.choose("distance", 3)
	setAll := func(value func(rows []Row, i int) any) {
		for _, rows := range parts {
			for i, row := range rows {
				values[numberOf(row)] = value(rows, i)
			}
		}
	}
	known := func(rows []Row, from, step int) int {
		for from >= 0 && from < len(rows) && e.model(rows[from]) == nil {
			from += step
		}
		return from
	}
	filled := func(step int) func(rows []Row, i int) any {
		return func(rows []Row, i int) any {
			if at := known(rows, i, step); at >= 0 && at < len(rows) {
				return e.model(rows[at])
			}
			return nil
		}
	}
	switch g.choose("function of series", 5) {
	case 0:
		function = e.expr.Difference(n)
		setAll(func(rows []Row, i int) any { return difference(e, rows, i, n) })
	case 1:
		function = e.expr.FillForward()
		setAll(filled(-1))
	case 2:
		function = e.expr.FillBackward()
		setAll(filled(1))
	case 3:
		function, kind = e.expr.Interpolate(), Float64
		setAll(func(rows []Row, i int) any {
			if value := e.model(rows[i]); value != nil {
				return number(value)
			}
			low, high := known(rows, i, -1), known(rows, i, 1)
			if low < 0 || high == len(rows) {
				return nil
			}
			y0, y1 := number(e.model(rows[low])), number(e.model(rows[high]))
			part := float64(i-low) / float64(high-low)
			return y0 + float64((y1-y0)*part)
		})
	default:
		function, kind = e.expr.Session(n), Int64
		session := int64(0)
		setAll(func(rows []Row, i int) any {
			if i == 0 {
				session = 0
			}
			if d := difference(e, rows, i, 1); d == nil || compare(number(d), float64(n)) > 0 { // NaN is the greatest
				session++
			}
			return session
		})
	}
	return s.then(s.query.With(function.Over(window).As(name)), added(s, name, kind, values), "With(%v over %v as %s)", function, &window, name)
}

// difference is the value of a row minus that n rows before.
func difference(e expression, rows []Row, i, n int) any {
	if i < n || e.model(rows[i]) == nil || e.model(rows[i-n]) == nil {
		return nil
	}
	const minus = 1
	return calculate(minus, e.kind, e.model(rows[i]), e.model(rows[i-n]))
}

// rolling adds an aggregate of the rows around each row, by their number or by their key.
func (g *generator) rolling(s state) state {
	window, key, parts, ok := g.partitions(s)
	if !ok {
		return s
	}
	a, name, values := g.draw(s.table).plainAggregation(), g.newName(), map[int]any{}
	low := g.choose("low", 5) - 3
	high := low + g.choose("rows of the frame", 4)
	byRange := key.kind != Float64 && !key.descending && g.choose("by range", 2) == 0
	for _, rows := range parts {
		for i, row := range rows {
			frame := rows[min(max(i+low, 0), len(rows)):min(max(i+high+1, 0), len(rows))]
			if byRange {
				frame = slices.DeleteFunc(slices.Clone(rows), func(other Row) bool { return !inRange(key.model(row), key.model(other), low, high) })
			}
			values[numberOf(row)] = a.model(frame)
		}
	}
	verb := "Rows"
	if byRange {
		verb, window = "Range", window.Range(low, high)
	} else {
		window = window.Rows(int64(low), int64(high))
	}
	return s.then(s.query.With(a.expr.Over(window).As(name)), added(s, name, a.kind, values), "With(%v over %v.%s(%d, %d) as %s)", a.expr, &window, verb, low, high, name)
}

// inRange reports whether a key is in the range of the frame of another one.
func inRange(at, other any, low, high int) bool {
	if at == nil || other == nil {
		return at == nil && other == nil
	}
	distance := float64(other.(int64)) - float64(at.(int64))
	return float64(low) <= distance && distance <= float64(high)
}

// calendar adds a function of a date, which is the number of a day.
func (g *generator) calendar(s state) state {
	e, ok := g.draw(s.table).column(isKind(Int32))
	if !ok || g.options.SQL {
		return s
	}
	const most = 2000
	first := time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC)
	date, name, n := e.expr.Mod(most).Cast(arrow.FixedWidthTypes.Date32), g.newName(), g.choose("days", 30)-15
	var function gpuframe.Expr
	var model func(day time.Time) int64
	switch g.choose("function of dates", 4) {
	case 0:
		function = date.AddBusinessDays(n).DaysSince(first)
		model = func(day time.Time) int64 { return int64(businessDay(day, n).Sub(first).Hours() / 24) }
	case 1:
		since := first.AddDate(0, 0, 10*n)
		function = date.BusinessDaysSince(gpuframe.LitOf(arrow.FixedWidthTypes.Date32, since))
		model = func(day time.Time) int64 { return businessDays(since, day) }
	case 2:
		function = date.FloorTo(1, "quarter").DaysSince(first)
		model = func(day time.Time) int64 {
			begin := time.Date(day.Year(), (day.Month()-1)/3*3+1, 1, 0, 0, 0, 0, time.UTC)
			return int64(begin.Sub(first).Hours() / 24)
		}
	default:
		function = date.ISOWeek()
		model = func(day time.Time) int64 {
			_, week := day.ISOWeek()
			return int64(week)
		}
	}
	columns := append(kept(s.table), computed{Column: Column{Name: name, Kind: Int64}, model: func(row Row) any {
		if x := e.model(row); x != nil {
			return model(first.AddDate(0, 0, int(x.(int64)%most)))
		}
		return nil
	}})
	return s.then(s.query.With(function.As(name)), project(s.table, columns), "With(%v as %s)", function, name)
}

func isBusinessDay(day time.Time) bool {
	return day.Weekday() != time.Saturday && day.Weekday() != time.Sunday
}

// businessDay is the day a number of business days after another one.
func businessDay(day time.Time, n int) time.Time {
	step := 1
	if n < 0 {
		step, n = -1, -n
	}
	for n > 0 {
		if day = day.AddDate(0, 0, step); isBusinessDay(day) {
			n--
		}
	}
	return day
}

// businessDays counts business days from one day to before another one.
func businessDays(from, to time.Time) (n int64) {
	if to.Before(from) {
		return -businessDays(to, from)
	}
	for ; from.Before(to); from = from.AddDate(0, 0, 1) {
		if isBusinessDay(from) {
			n++
		}
	}
	return n
}

// resample makes rows of windows of a number, those without rows included.
func (g *generator) resample(s state) state {
	e, ok := g.draw(s.table).column(func(k Kind) bool { return k == Int32 || k == Int64 })
	if !ok || g.options.SQL {
		return s
	}
	const most = 20
	every, name, at := int64(1+g.choose("every", 6)), g.newName(), e.expr.Mod(most)
	var by []expression
	var list []gpuframe.Expression
	resampled := &Table{Ordered: true}
	if key, hasKey := g.draw(s.table).column(func(k Kind) bool { return k != Float64 }); hasKey && g.choose("by", 2) == 0 {
		by, list = append(by, key), append(list, key.expr.As(name+"by"))
		resampled.Columns = append(resampled.Columns, Column{Name: name + "by", Kind: key.kind})
	}
	a := g.draw(s.table).plainAggregation()
	resampled.Columns = append(resampled.Columns, Column{Name: name, Kind: e.kind}, Column{Name: name + "of", Kind: a.kind})
	begin := func(row Row) int64 {
		return int64(math.Floor(float64(e.model(row).(int64)%most)/float64(every))) * every
	}
	known := slices.DeleteFunc(slices.Clone(s.table.Rows), func(row Row) bool { return e.model(row) == nil })
	groups, _ := grouped(known, by)
	for _, rows := range groups {
		windows := map[int64][]Row{}
		least, last := int64(math.MaxInt64), int64(math.MinInt64)
		for _, row := range rows {
			w := begin(row)
			windows[w], least, last = append(windows[w], row), min(least, w), max(last, w)
		}
		for w := least; w <= last; w += every {
			resampled.Rows = append(resampled.Rows, append(Row(evaluate(rows[0], by)), w, a.model(windows[w])))
		}
	}
	var order []sortKey
	for i := range len(by) + 1 {
		order = append(order, sortKey{expression: g.draw(resampled).at(i)})
	}
	resampled.Rows = sorted(resampled.Rows, order)
	q := s.query.Resample(at.As(name), every, list).Agg(a.expr.As(name + "of"))
	return s.then(q, resampled, "Resample(%v, %d by %v: %v as %s)", at, every, list, a.expr, name)
}
