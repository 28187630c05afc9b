package duckdb

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// tpcdsTable describes a table of TPC-DS. A share of its rows, in percent, belongs to a random row of the related table. Orders have up to
// basket rows.
type tpcdsTable struct {
	name    string
	rows    int
	basket  int
	related string
	share   int
	columns string
}

// tpcdsValues makes the rows of tables from a seed.
type tpcdsValues struct {
	random *rand.Rand
	// tables are the values of the tables so far by column, keys those of their first columns.
	tables map[string]map[string][]any
	keys   map[string][]any
}

// tpcdsColumn is a line of the description of a table.
type tpcdsColumn struct {
	name   string
	basket bool
	kind   string
	// words are those behind the kind between commas, fields those between spaces.
	words, fields []string
}

func (c tpcdsColumn) int(i int) int {
	n, err := strconv.Atoi(c.fields[i])
	if err != nil {
		panic(fmt.Sprintf("column %s: %v", c.name, err))
	}
	return n
}

func columnsOf(t tpcdsTable) []tpcdsColumn {
	var columns []tpcdsColumn
	for _, line := range strings.FieldsFunc(t.columns, func(r rune) bool { return r == '|' || r == '\n' }) {
		name, rest, _ := strings.Cut(line, " ")
		rest, basket := strings.CutPrefix(rest, "basket ")
		kind, rest, _ := strings.Cut(rest, " ")
		c := tpcdsColumn{name: name, basket: basket, kind: kind, fields: strings.Fields(rest)}
		if kind == "each" {
			_, rest, _ = strings.Cut(rest, " ")
		}
		c.words = strings.Split(rest, ",")
		columns = append(columns, c)
	}
	return columns
}

// record makes the rows of a table.
func (v *tpcdsValues) record(t tpcdsTable) arrow.Record {
	columns := columnsOf(t)
	values := map[string][]any{}
	v.tables[t.name] = values
	left, order := 0, 0
	for row := range t.rows {
		sameOrder := left > 0
		if left--; !sameOrder && t.basket > 0 {
			left, order = v.random.IntN(t.basket), order+1
		}
		related := -1
		if t.related != "" && v.random.IntN(100) < t.share {
			for _, column := range v.tables[t.related] {
				related = v.random.IntN(len(column))
				break
			}
		}
		for _, c := range columns {
			if c.basket && sameOrder {
				values[c.name] = append(values[c.name], values[c.name][row-1])
				continue
			}
			values[c.name] = append(values[c.name], v.value(t, c, row, order, related))
		}
	}
	v.keys[t.name] = values[columns[0].name]
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		fields[i] = arrow.Field{Name: c.name, Type: tpcdsType(c), Nullable: i > 0 || t.basket > 0 || t.related != ""}
	}
	builder := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	for i, c := range columns {
		for _, value := range values[c.name] {
			add(builder.Field(i), value)
		}
	}
	return builder.NewRecord()
}

func tpcdsType(c tpcdsColumn) arrow.DataType {
	switch {
	case c.name == "d_date" || strings.Contains(c.name, "_rec_"):
		return arrow.FixedWidthTypes.Date32
	case strings.Contains(c.name, "_gmt_offset"), strings.Contains(c.name, "_tax_percentage"):
		return &arrow.Decimal128Type{Precision: 5, Scale: 2}
	case c.name == "i_current_price":
		return &arrow.Decimal128Type{Precision: 7, Scale: 2}
	case c.name == "p_cost":
		return &arrow.Decimal128Type{Precision: 15, Scale: 2}
	case c.kind == "cents", c.kind == "product":
		return &arrow.Decimal128Type{Precision: 7, Scale: 2}
	case c.kind == "id", c.kind == "text", c.name == "d_day_name", c.name == "d_quarter_name", (c.kind == "words" || c.kind == "each") && !numeric(c):
		return arrow.BinaryTypes.String
	}
	return arrow.PrimitiveTypes.Int32
}

// numeric reports whether a list of words has integers.
func numeric(c tpcdsColumn) bool { return strings.HasSuffix(c.name, "_id") }

// tpcdsEpoch is the first day of date_dim; tpcdsEpochKey is its key, a Julian day.
var tpcdsEpoch = time.Date(1997, 1, 1, 0, 0, 0, 0, time.UTC)

const tpcdsEpochKey = 2450450

func (v *tpcdsValues) value(t tpcdsTable, c tpcdsColumn, row, order, related int) any {
	last := func(column string) any { return v.tables[t.name][column][row] }
	switch c.kind {
	case "copy":
		fields := c.fields
		if related >= 0 {
			if value := v.tables[t.related][fields[0]][related]; value != nil {
				return value
			}
		}
		if len(fields) == 1 {
			return nil
		}
		return v.value(t, tpcdsColumn{name: c.name, kind: fields[1], fields: fields[2:]}, row, order, -1)
	case "calendar":
		return calendar(c.name, row)
	case "step":
		return int32(c.int(0) + row*c.int(1))
	case "cycle":
		return int32(row/c.int(0)%c.int(1) + c.int(2))
	case "each":
		return v.word(c, c.words[row/c.int(0)%len(c.words)])
	case "words":
		return v.word(c, c.words[v.random.IntN(len(c.words))])
	case "id":
		return fmt.Sprintf("AAAAAAAA%08d", row/c.int(0))
	case "order":
		return int32(order)
	case "product":
		fields := c.fields
		quantity, price := last(fields[0]), last(fields[1])
		if quantity == nil || price == nil {
			return nil
		}
		return decimal128.FromI64(int64(quantity.(int32)) * int64(price.(decimal128.Num).LowBits()))
	case "after":
		fields := c.fields
		first := any(nil)
		if _, own := v.tables[t.name][fields[0]]; own {
			first = last(fields[0])
		} else if related >= 0 {
			first = v.tables[t.related][fields[0]][related]
		}
		if first == nil || v.random.IntN(100) < c.int(3) {
			return nil
		}
		return first.(int32) + int32(c.int(1)+v.skewed(c.int(2)))
	}
	fields := c.fields
	if n, err := strconv.Atoi(fields[len(fields)-1]); err == nil && c.kind != "week" && v.random.IntN(100) < n {
		return nil
	}
	switch c.kind {
	case "int":
		return int32(c.int(0) + v.random.IntN(c.int(1)-c.int(0)+1))
	case "skewed":
		return int32(c.int(0) + v.skewed(c.int(1)-c.int(0)))
	case "cents":
		return decimal128.FromI64(int64(c.int(0) + v.random.IntN(c.int(1)-c.int(0)+1)))
	case "text":
		return fmt.Sprintf("%s %d", t.name, v.random.IntN(c.int(0)))
	case "time":
		return int32(60 * (8*60 + v.random.IntN(13*60)))
	case "ref":
		keys := v.keys[fields[0]]
		return keys[v.skewed(len(keys))]
	case "day", "week":
		first, end := time.Date(c.int(0), 1, 1, 0, 0, 0, 0, time.UTC), time.Date(c.int(1)+1, 1, 1, 0, 0, 0, 0, time.UTC)
		days := int(first.Sub(tpcdsEpoch).Hours()/24) + v.random.IntN(int(end.Sub(first).Hours()/24))
		if c.kind == "week" {
			days -= days % 7
		}
		return int32(tpcdsEpochKey + days)
	}
	panic("no values of the kind " + c.kind)
}

// skewed returns a number in [0, n), of which small ones are more frequent.
func (v *tpcdsValues) skewed(n int) int { return int(math.Pow(v.random.Float64(), 1.5) * float64(n)) }

// word is a word of a list as a value of the column's type.
func (v *tpcdsValues) word(c tpcdsColumn, word string) any {
	if word == "null" {
		return nil
	}
	switch tpcdsType(c).ID() {
	case arrow.INT32:
		n, _ := strconv.Atoi(word)
		return int32(n)
	case arrow.DECIMAL128:
		f, _ := strconv.ParseFloat(word, 64)
		return decimal128.FromI64(int64(math.Round(100 * f)))
	}
	return word
}

// calendar is a value of date_dim.
func calendar(column string, row int) any {
	day := tpcdsEpoch.AddDate(0, 0, row)
	months := (day.Year()-1900)*12 + int(day.Month()) - 1
	first := row - day.Day() + 1
	switch column {
	case "d_date_sk":
		return int32(tpcdsEpochKey + row)
	case "d_date":
		return arrow.Date32FromTime(day)
	case "d_month_seq":
		return int32(months)
	case "d_week_seq", "d_fy_week_seq":
		return int32((row+2)/7 + 5062)
	case "d_quarter_seq", "d_fy_quarter_seq":
		return int32(months/3 + 1)
	case "d_year", "d_fy_year":
		return int32(day.Year())
	case "d_dow":
		return int32(day.Weekday())
	case "d_moy":
		return int32(day.Month())
	case "d_dom":
		return int32(day.Day())
	case "d_qoy":
		return int32(months%12/3 + 1)
	case "d_day_name":
		return day.Weekday().String()
	case "d_quarter_name":
		return fmt.Sprintf("%dQ%d", day.Year(), months%12/3+1)
	case "d_first_dom":
		return int32(tpcdsEpochKey + first)
	case "d_last_dom":
		return int32(tpcdsEpochKey + first + day.AddDate(0, 1, -day.Day()).Day() - 1)
	case "d_same_day_ly":
		return int32(tpcdsEpochKey + row - 365)
	case "d_same_day_lq":
		return int32(tpcdsEpochKey + row - 91)
	}
	panic("no column " + column)
}
