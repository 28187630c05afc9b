package driver_test

import (
	"context"
	stdsql "database/sql"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/sql"
	"github.com/gpuframe/gpuframe/sql/driver"
)

func open(t *testing.T) *stdsql.DB {
	t.Helper()
	db, err := stdsql.Open("gpuframe", "device=host&budget=64MiB")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) }) // the engine reports memory that is in use
	return db
}

func TestRows(t *testing.T) {
	db := open(t)
	rows, err := db.QueryContext(t.Context(), `select * from (values (1, 'a', true, 1.5::double, date '2024-02-29'),
		(2, null, null, null, null)) as v(id, name, flag, score, day) where id >= ? order by id`, 1)
	require.NoError(t, err)
	names, err := rows.Columns()
	require.NoError(t, err)
	require.Equal(t, []string{"id", "name", "flag", "score", "day"}, names)
	types, err := rows.ColumnTypes()
	require.NoError(t, err)
	require.Equal(t, "VARCHAR", types[1].DatabaseTypeName())
	require.Equal(t, "time.Time", types[4].ScanType().String())

	type row struct {
		id    int
		name  stdsql.NullString
		flag  stdsql.NullBool
		score *float64
		day   *time.Time
	}
	var list []row
	for rows.Next() {
		var r row
		require.NoError(t, rows.Scan(&r.id, &r.name, &r.flag, &r.score, &r.day))
		list = append(list, r)
	}
	require.NoError(t, rows.Err())
	require.Len(t, list, 2)
	require.Equal(t, "a", list[0].name.String)
	require.True(t, list[0].flag.Bool)
	require.InDelta(t, 1.5, *list[0].score, 0)
	require.Equal(t, time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC), *list[0].day)
	require.Equal(t, row{id: 2}, list[1])
}

// TestConnectionsShareTables makes a table by one of several connections and reads it by all at a time.
func TestConnectionsShareTables(t *testing.T) {
	db := open(t)
	result, err := db.Exec("create table n as select * from range(1000) as r(i)")
	require.NoError(t, err)
	affected, err := result.RowsAffected()
	require.NoError(t, err)
	require.EqualValues(t, 1000, affected)
	statement, err := db.Prepare("select count(*), sum(i) from n where i % $1 = 0")
	require.NoError(t, err)
	defer func() { require.NoError(t, statement.Close()) }()
	var all sync.WaitGroup
	for each := range 8 {
		all.Go(func() {
			var count, sum int64
			if err := statement.QueryRow(each+1).Scan(&count, &sum); err != nil {
				t.Error(err)
				return
			}
			want := int64(0)
			for i := int64(0); i < 1000; i += int64(each + 1) {
				want += i
			}
			if sum != want {
				t.Errorf("multiples of %d: %d, expected %d", each+1, sum, want)
			}
		})
	}
	all.Wait()
}

func TestErrors(t *testing.T) {
	db := open(t)
	_, err := db.Begin()
	require.ErrorContains(t, err, "no transactions")
	_, err = db.Query("select a form t")
	require.ErrorContains(t, err, "line 1, column 10")
	_, err = db.Prepare("select (")
	require.ErrorContains(t, err, "line 1")
	_, err = db.Query("select @a", stdsql.Named("a", 1))
	require.Error(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = db.QueryContext(ctx, "select 1")
	require.ErrorIs(t, err, context.Canceled)

	for name, text := range map[string]string{
		"devise=host": `no option "devise"`, "budget=much": "budget", "budget=1GiB&budget=2GiB": "2 times", "device=abacus": "abacus", "%": "data source name",
	} {
		other, err := stdsql.Open("gpuframe", name)
		if err == nil {
			err = other.Ping()
		}
		require.ErrorContains(t, err, text, name)
	}
}

// TestTypes reads a value of each type.
func TestTypes(t *testing.T) {
	engine, err := gpuframe.Open(gpuframe.Device("host"))
	require.NoError(t, err)
	defer func() { require.NoError(t, engine.Close()) }()
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "u8", Type: arrow.PrimitiveTypes.Uint8}, {Name: "u64", Type: arrow.PrimitiveTypes.Uint64}, {Name: "i16", Type: arrow.PrimitiveTypes.Int16},
		{Name: "f32", Type: arrow.PrimitiveTypes.Float32}, {Name: "bytes", Type: arrow.BinaryTypes.Binary},
		{Name: "price", Type: &arrow.Decimal128Type{Precision: 10, Scale: 2}}, {Name: "at", Type: &arrow.TimestampType{Unit: arrow.Millisecond}},
		{Name: "length", Type: arrow.FixedWidthTypes.Duration_s}, {Name: "list", Type: arrow.ListOf(arrow.PrimitiveTypes.Int64)},
		{Name: "word", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}},
	}, nil)
	record, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(`[{"u8": 200, "u64": 9223372036854775808, "i16": -3, "f32": 0.5,
		"bytes": "AAE=", "price": "12.30", "at": "2024-02-29 12:30:00.250", "length": "90s", "list": [1, 2], "word": "red"}]`))
	require.NoError(t, err)
	defer record.Release()
	session := sql.New(engine)
	defer func() { require.NoError(t, session.Close()) }()
	session.Register("t", engine.Records(schema, record))
	db := stdsql.OpenDB(driver.NewConnector(session))
	defer func() { require.NoError(t, db.Close()) }()
	values := make([]any, len(schema.Fields()))
	places := make([]any, len(values))
	for i := range values {
		places[i] = &values[i]
	}
	require.NoError(t, db.QueryRow("select * from t").Scan(places...))
	require.Equal(t, []any{
		int64(200), uint64(1) << 63, int64(-3), 0.5, []byte{0, 1}, "12.30",
		time.Date(2024, 2, 29, 12, 30, 0, 250_000_000, time.UTC), 90 * time.Second, "[1,2]", "red",
	}, values)
}
