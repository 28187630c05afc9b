package duckdb

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"
	_ "github.com/duckdb/duckdb-go/v2" // the driver
	duckdb "github.com/duckdb/duckdb-go/v2"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	gpusql "github.com/gpuframe/gpuframe/sql"
)

// The settings of the comparison.
var (
	deviceName = flag.String("device", "host", "the device of gpuframe")
	budget     = flag.Uint64("budget", 2<<30, "its budget in bytes")
	mostRows   = flag.Int("most-rows", 50_000, "the largest number of rows that are compared")
)

// peers are a session and a DuckDB with the same tables.
type peers struct {
	session *gpusql.Session
	engine  *gpuframe.Engine
	db      *sql.DB
}

// kinds are the types of the columns of random tables.
var kinds = map[string]struct {
	name   string
	arrow  arrow.DataType
	values []any
}{
	"int":       {"integer", arrow.PrimitiveTypes.Int32, []any{int32(0), int32(1), int32(2), int32(3), int32(-4), int32(7), int32(100)}},
	"bigint":    {"bigint", arrow.PrimitiveTypes.Int64, []any{int64(0), int64(1), int64(2), int64(3), int64(-5), int64(1) << 40}},
	"double":    {"double", arrow.PrimitiveTypes.Float64, []any{0.0, 1.5, -2.25, 3.0, 1e6, 0.1}},
	"special":   {"double", arrow.PrimitiveTypes.Float64, []any{0.0, 1.5, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1)}},
	"text":      {"varchar", arrow.BinaryTypes.String, []any{"", "a", "b", "Oslo", "Bern", "ä%x", "abc", "A"}},
	"date":      {"date", arrow.FixedWidthTypes.Date32, []any{day("2020-01-31"), day("2020-02-29"), day("1999-12-31"), day("2021-07-04"), day("1969-05-01")}},
	"timestamp": {"timestamp", &arrow.TimestampType{Unit: arrow.Microsecond}, []any{stamp("2020-01-31 10:11:12.5"), stamp("2020-02-29 00:00:00"), stamp("1999-12-31 23:59:59")}},
	"bool":      {"boolean", arrow.FixedWidthTypes.Boolean, []any{true, false}},
	"decimal":   {"decimal(10,2)", &arrow.Decimal128Type{Precision: 10, Scale: 2}, []any{decimal128.FromI64(0), decimal128.FromI64(125), decimal128.FromI64(-250), decimal128.FromI64(1000), decimal128.FromI64(99)}},
}

func day(text string) arrow.Date32 {
	t, _ := time.Parse("2006-01-02", text)
	return arrow.Date32FromTime(t)
}

func stamp(text string) arrow.Timestamp {
	t, _ := time.Parse("2006-01-02 15:04:05", text)
	return arrow.Timestamp(t.UnixMicro())
}

// tables are the tables of the tests: names of columns with their kinds.
var tables = []struct {
	name    string
	rows    int
	columns []string
}{
	{"a", 24, []string{"id int", "k int", "x int", "y double", "s text", "d date", "f bool", "m decimal"}},
	{"b", 17, []string{"id int", "k int", "z bigint", "s text", "t timestamp", "m decimal", "v special"}},
	{"c", 9, []string{"k int", "w int", "name text"}},
	{"e", 0, []string{"k int", "v int"}},
}

// open makes the tables with random rows in both.
func open(t *testing.T, seed uint64) *peers {
	p := openEmpty(t)
	random := rand.New(rand.NewPCG(seed, 1))
	for _, table := range tables {
		p.fill(t, random, table.name, table.rows, table.columns)
	}
	return p
}

// openEmpty opens both without tables.
func openEmpty(t *testing.T) *peers {
	engine, err := gpuframe.Open(gpuframe.Device(*deviceName), gpuframe.Budget(*budget)) // a random statement can have any number of rows
	require.NoError(t, err)
	db, err := sql.Open("duckdb", "")
	require.NoError(t, err)
	db.SetMaxOpenConns(1)
	_, err = db.Exec(fmt.Sprintf("set memory_limit = '%dB'", *budget))
	require.NoError(t, err)
	p := &peers{gpusql.New(engine), engine, db}
	t.Cleanup(func() {
		require.NoError(t, p.session.Close())
		require.NoError(t, engine.Close())
		require.NoError(t, db.Close())
	})
	return p
}

// fill makes a table.
func (p *peers) fill(t *testing.T, random *rand.Rand, name string, rows int, columns []string) {
	fields := make([]arrow.Field, len(columns))
	declared := make([]string, len(columns))
	chosen := make([]string, len(columns))
	for i, c := range columns {
		column, kind, _ := strings.Cut(c, " ")
		fields[i] = arrow.Field{Name: column, Type: kinds[kind].arrow, Nullable: i > 0 || name == "c"}
		declared[i], chosen[i] = column+" "+kinds[kind].name, kind
	}
	_, err := p.db.Exec(fmt.Sprintf("create table %s (%s)", name, strings.Join(declared, ", ")))
	require.NoError(t, err)
	schema := arrow.NewSchema(fields, nil)
	builder := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	for n := range rows {
		literals := make([]string, len(columns))
		for i := range columns {
			values := kinds[chosen[i]].values
			var value any
			switch {
			case i == 0 && name != "c":
				value = int32(n)
			case random.IntN(5) > 0:
				value = values[random.IntN(len(values))]
			}
			literals[i] = add(builder.Field(i), value)
		}
		_, err := p.db.Exec(fmt.Sprintf("insert into %s values (%s)", name, strings.Join(literals, ", ")))
		require.NoError(t, err)
	}
	p.session.Register(name, p.engine.Records(schema, builder.NewRecord()))
}

// add appends a value, and returns it as a literal of SQL.
func add(b array.Builder, value any) string {
	switch value := value.(type) {
	case int32:
		b.(*array.Int32Builder).Append(value)
		return fmt.Sprint(value)
	case int64:
		b.(*array.Int64Builder).Append(value)
		return fmt.Sprint(value)
	case float64:
		b.(*array.Float64Builder).Append(value)
		return fmt.Sprintf("'%v'::double", value)
	case bool:
		b.(*array.BooleanBuilder).Append(value)
		return fmt.Sprint(value)
	case string:
		b.(*array.StringBuilder).Append(value)
		return "'" + value + "'"
	case arrow.Date32:
		b.(*array.Date32Builder).Append(value)
		return "date '" + value.FormattedString() + "'"
	case arrow.Timestamp:
		b.(*array.TimestampBuilder).Append(value)
		return "timestamp '" + value.ToTime(arrow.Microsecond).Format("2006-01-02 15:04:05.999999") + "'"
	case decimal128.Num:
		b.(*array.Decimal128Builder).Append(value)
		return value.ToString(2)
	}
	b.AppendNull()
	return "null"
}

// mine returns the answer of gpuframe: the columns, and the values of rows as texts.
func (p *peers) mine(ctx context.Context, text string) (columns []string, rows [][]string, err error) {
	q, err := p.session.Query(ctx, text)
	if err != nil {
		return nil, nil, err
	}
	return collectText(ctx, q)
}

// collectText returns the columns of a query, and the values of its rows as texts.
func collectText(ctx context.Context, q gpuframe.Query) (columns []string, rows [][]string, err error) {
	frame, err := q.Collect(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("RUN: %w", err)
	}
	defer frame.Release()
	record, err := frame.Record(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer record.Release()
	for _, f := range record.Schema().Fields() {
		columns = append(columns, f.Name)
	}
	for i := range int(record.NumRows()) {
		row := make([]string, record.NumCols())
		for j, c := range record.Columns() {
			row[j] = valueOf(c, i)
		}
		rows = append(rows, row)
	}
	return columns, rows, nil
}

func valueOf(c arrow.Array, i int) string {
	if c.IsNull(i) {
		return "null"
	}
	switch c := c.(type) {
	case *array.Float64:
		return number(c.Value(i))
	case *array.Float32:
		return number(float64(c.Value(i)))
	case *array.Decimal128:
		f, _ := new(big.Rat).SetString(c.ValueStr(i))
		return rational(f)
	case *array.Timestamp:
		return instant(c.Value(i).ToTime(c.DataType().(*arrow.TimestampType).Unit))
	case *array.Date32:
		return instant(c.Value(i).ToTime())
	case *array.Time64:
		return instant(time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).Add(c.Value(i).ToTime(c.DataType().(*arrow.Time64Type).Unit).Sub(time.Unix(0, 0).UTC())))
	case *array.Struct:
		fields := map[string]string{}
		for f, field := range c.DataType().(*arrow.StructType).Fields() {
			fields[field.Name] = valueOf(c.Field(f), i)
		}
		return fmt.Sprint(fields)
	case *array.List:
		from, to := c.ValueOffsets(i)
		var list []string
		for at := from; at < to; at++ {
			list = append(list, valueOf(c.ListValues(), int(at)))
		}
		return fmt.Sprint(list)
	}
	return c.ValueStr(i)
}

// theirs returns the answer of DuckDB.
func (p *peers) theirs(text string) (rows [][]string, err error) {
	cursor, err := p.db.Query(text)
	if err != nil {
		return nil, err
	}
	defer cursor.Close()
	columns, err := cursor.Columns()
	if err != nil {
		return nil, err
	}
	for cursor.Next() {
		if len(rows) == *mostRows {
			return nil, errors.New("more rows than are compared")
		}
		values, places, row := make([]any, len(columns)), make([]any, len(columns)), make([]string, len(columns))
		for i := range values {
			places[i] = &values[i]
		}
		if err := cursor.Scan(places...); err != nil {
			return nil, err
		}
		for i, v := range values {
			row[i] = peerValue(v)
		}
		rows = append(rows, row)
	}
	return rows, cursor.Err()
}

func peerValue(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case float64:
		return number(v)
	case float32:
		return number(float64(v))
	case *big.Int:
		return v.String()
	case duckdb.Decimal:
		return rational(new(big.Rat).SetFrac(v.Value, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(v.Scale)), nil)))
	case time.Time:
		return instant(v)
	case map[string]any:
		fields := map[string]string{}
		for name, each := range v {
			fields[name] = peerValue(each)
		}
		return fmt.Sprint(fields)
	case []any:
		var list []string
		for _, each := range v {
			list = append(list, peerValue(each))
		}
		return fmt.Sprint(list)
	}
	return fmt.Sprint(v)
}

func rational(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	f, _ := r.Float64()
	return number(f)
}

func number(f float64) string {
	if f == math.Trunc(f) && math.Abs(f) < 1e15 {
		return strconv.FormatInt(int64(f), 10)
	}
	return strconv.FormatFloat(f, 'g', 9, 64)
}

func instant(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.999999") }

// difference describes the difference between the answers to a statement, or is empty.
func (p *peers) difference(ctx context.Context, text string, ordered bool) (difference string, err error) {
	theirs, err := p.theirs(text)
	if err != nil {
		return "DuckDB: " + err.Error(), nil
	}
	_, mine, err := p.mine(ctx, text)
	if err != nil {
		return "", err
	}
	if !ordered {
		slices.SortFunc(mine, slices.Compare)
		slices.SortFunc(theirs, slices.Compare)
	}
	if !slices.EqualFunc(mine, theirs, slices.Equal) {
		return fmt.Sprintf("%d rows %v\nDuckDB has %d %v", len(mine), mine, len(theirs), theirs), nil
	}
	return "", nil
}
