package sql_test

import (
	parquetfile "github.com/apache/arrow/go/v17/parquet/file"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/sql"
	"github.com/gpuframe/gpuframe/sql/parse"
)

type order struct {
	ID    int64   `gpuframe:"id"`
	Buyer *int32  `gpuframe:"buyer"`
	Price float64 `gpuframe:"price"`
	Note  *string `gpuframe:"note"`
}

type customer struct {
	ID   int32  `gpuframe:"id"`
	Name string `gpuframe:"Name"`
}

// sessionOn returns a session with tables on a device.
func sessionOn(t *testing.T, dev *device.Device) *sql.Session {
	engine, err := gpuframe.Managed(devicetest.Manager(t, dev, memory.Options{}))
	require.NoError(t, err)
	session := sql.New(engine)
	t.Cleanup(func() {
		require.NoError(t, session.Close())
		require.NoError(t, engine.Close())
	})
	ann, bob, gone := int32(1), int32(2), int32(9)
	gift := "gift"
	session.Register("Orders", gpuframe.From(engine, []order{{1, &ann, 10, &gift}, {2, &bob, 20, nil}, {3, &ann, 30, nil}, {4, nil, 40, nil}, {5, &gone, 50, &gift}}))
	session.Register("customers", gpuframe.From(engine, []customer{{1, "Ann"}, {2, "Bob"}, {3, "Eve"}}))
	return session
}

// answer returns the rows of a statement as lines.
func answer(t *testing.T, session *sql.Session, text string, arguments ...any) string {
	query, err := session.Query(t.Context(), text, arguments...)
	require.NoError(t, err, text)
	frame, err := query.Collect(t.Context())
	require.NoError(t, err, text)
	record, err := frame.Record(t.Context())
	require.NoError(t, err)
	defer record.Release()
	require.NoError(t, frame.Release())
	lines := ""
	for i, f := range record.Schema().Fields() {
		lines += map[bool]string{true: " "}[i > 0] + f.Name
	}
	for row := range int(record.NumRows()) {
		lines += "; "
		for i, c := range record.Columns() {
			lines += map[bool]string{true: " "}[i > 0] + c.ValueStr(row)
		}
	}
	return lines
}

func TestStatements(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		session := sessionOn(t, dev)
		for text, want := range map[string]string{
			"select ID, \"PRICE\" + 1 as p from orders where id = $1":                                                                                    "id p; 3 31",
			"select c.name, sum(price) as total from orders o join customers c on o.buyer = c.id group by all order by total desc":                       "Name total; Ann 40; Bob 20",
			"select name from customers where id not in (select buyer from orders where buyer is not null)":                                              "Name; Eve",
			"select name from customers where id not in (select buyer from orders)":                                                                      "Name",
			"select name, (select count(*) from orders where buyer = customers.id) n from customers order by 1":                                          "Name n; Ann 2; Bob 1; Eve 0",
			"select id from orders qualify row_number() over (partition by buyer order by price desc) = 1 order by id":                                   "id; 2; 3; 4; 5",
			"select listagg(name, '-') within group (order by id desc) as l from customers where not (name glob '[B]*')":                                 "l; Eve-Ann",
			"with recursive t(n) as (select 1 union all select n + 1 from t where n < 3) select * from t order by n":                                     "n; 1; 2; 3",
			"select id, [e * id for e in [1, price] if e > 10] as l, list_transform([id, 2], (e, i) -> e + i) as m from orders where id < 3 order by id": "id l m; 1 [] [2,4]; 2 [40] [3,4]",
			"select o.id, c.id as nearest from orders o asof left join customers c on c.id < o.buyer order by 1":                                         "id nearest; 1 (null); 2 1; 3 (null); 4 (null); 5 3",
		} {
			var arguments []any
			if strings.Contains(text, "$1") {
				arguments = append(arguments, 3)
			}
			t.Run(text, func(t *testing.T) { require.Equal(t, want, answer(t, session, text, arguments...)) })
		}
	})
}

func TestArguments(t *testing.T) {
	session := sessionOn(t, devicetest.Open(t, "host"))
	require.Equal(t, "n; 7", answer(t, session, "select $1 + $2 as n", uint8(3), uint64(4)))
	require.Equal(t, "n; 1", answer(t, session, "select count(*) as n from orders where note is null and id = $1", int16(2)))
	for _, argument := range []any{uint64(1) << 63, []int{1}} {
		_, err := session.Query(t.Context(), "select $1", argument)
		require.ErrorContains(t, err, "argument")
	}
}

func TestNumberOfArguments(t *testing.T) {
	session := sessionOn(t, devicetest.Open(t, "host"))
	for text, arguments := range map[string][]any{"select $2": {1}, "select ?, ?": {1}, "select 1": {1}, "select $1": {1, 2}} {
		_, err := session.Query(t.Context(), text, arguments...)
		require.ErrorContains(t, err, "argument", text)
	}
}

func TestNames(t *testing.T) {
	session := sessionOn(t, devicetest.Open(t, "host"))
	_, err := session.Exec(t.Context(), "create table dear as select id, price from orders where price > 25")
	require.NoError(t, err)
	_, err = session.Exec(t.Context(), "create view dearest(key) as select id from dear order by price desc limit 1")
	require.NoError(t, err)
	require.Equal(t, "KEY; 5", answer(t, session, "select key as KEY from Dearest"))
	require.Equal(t, "name; customers; dear; dearest; Orders", answer(t, session, "show tables"))
	require.Equal(t, "column_name column_type null; id BIGINT NO; buyer INTEGER YES; price DOUBLE NO; note VARCHAR YES", answer(t, session, "describe orders"))
	_, err = session.Exec(t.Context(), "create table dear as select 1")
	require.ErrorContains(t, err, `"dear" exists`)
	_, err = session.Exec(t.Context(), "drop view dear")
	require.ErrorContains(t, err, "is a table")
	_, err = session.Exec(t.Context(), "drop table dear")
	require.NoError(t, err)
	require.Equal(t, "key; 5", answer(t, session, "from dearest"), "a view keeps its tables")
}

func TestFiles(t *testing.T) {
	session := sessionOn(t, devicetest.Open(t, "host"))
	for _, format := range []string{"parquet", "csv", "json", "arrow"} {
		file := filepath.Join(t.TempDir(), "some."+format)
		rows, err := session.Exec(t.Context(), "copy (select id, price from orders where id < 3) to '"+file+"' (format "+format+")")
		require.NoError(t, err)
		require.Equal(t, int64(2), rows)
		require.Equal(t, "s; 30", answer(t, session, "select cast(sum(price) as bigint) as s from '"+file+"'"))
	}
}

// COPY takes the options of Parquet, and only for that.
func TestOptionsOfFiles(t *testing.T) {
	session := sessionOn(t, devicetest.Open(t, "host"))
	file := filepath.Join(t.TempDir(), "some.parquet")
	rows, err := session.Exec(t.Context(), "copy orders to '"+file+"' (format parquet, compression zstd, compression_level 3, row_group_size 2)")
	require.NoError(t, err)
	reader, err := parquetfile.OpenParquetFile(file, false)
	require.NoError(t, err)
	require.Equal(t, rows, reader.NumRows())
	require.Equal(t, int((rows+1)/2), reader.NumRowGroups())
	require.NoError(t, reader.Close())
	for options, want := range map[string]string{
		"compression lzma": `compression "lzma"`, "compression zstd, compression_level 23": "level 23", "row_group_size 'x'": "not a literal integer",
		"format csv, compression zstd": "have no option compression", "speed 1": "no option of COPY is called",
	} {
		_, err := session.Exec(t.Context(), "copy orders to '"+file+"' ("+options+")")
		require.ErrorContains(t, err, want, options)
	}
}

// TestTimestampsInUTC compares the timestamps of a CSV file, which are in UTC, with literals.
func TestTimestampsInUTC(t *testing.T) {
	session := sessionOn(t, devicetest.Open(t, "host"))
	file := filepath.Join(t.TempDir(), "events.csv")
	require.NoError(t, os.WriteFile(file, []byte("n,t\n1,2020-01-31 10:00:00\n2,2020-02-01 00:00:00\n3,2020-02-01 12:30:00\n"), 0o600))
	for condition, want := range map[string]string{
		"t >= '2020-02-01'":     "n; 2; 3",
		"t > date '2020-02-01'": "n; 3",
		"t between '2020-01-31 09:00:00' and '2020-01-31 11:00:00'":   "n; 1",
		"t in (timestamp '2020-02-01 00:00:00', null)":                "n; 2",
		"t + interval 1 hour < date '2020-01-31' + interval '1' day":  "n; 1",
		"date_trunc('month', t) = '2020-02-01' and hour(t) = 12":      "n; 3",
		"t::date = '2020-02-01'":                                      "n; 2; 3",
		"coalesce(t, timestamp '2020-01-01 00:00:00') < '2020-02-01'": "n; 1",
	} {
		require.Equal(t, want, answer(t, session, "select n from '"+file+"' where "+condition), condition)
	}
}

// TestErrors checks the place and the text of errors.
func TestErrors(t *testing.T) {
	session := sessionOn(t, devicetest.Open(t, "host"))
	for text, want := range map[string]struct {
		column  int
		message string
	}{
		"select factorial(note) from orders":                                                {18, "argument 1 of factorial is VARCHAR, expected an integer"},
		"select list_median(['a', 'b'])":                                                    {8, "the elements of the list are VARCHAR, expected numbers: cast them, as in list::DOUBLE[]"},
		"select list_var_pop([note]) from orders":                                           {8, "the elements of the list are VARCHAR"},
		"select list_distance([1], ['2'])":                                                  {8, "the elements of the list are VARCHAR"},
		"select list_resize([1], -1)":                                                       {25, "the size is -1, expected 0 or more"},
		"select list_resize([1], 2, 'x')":                                                   {28, `"x" is no number`},
		"select list_select([1, 2], [1.5])":                                                 {28, "the positions are DECIMAL(2,1), expected integers"},
		"select case when id > 1 then [1] else 'x' end from orders":                         {8, `the text "x" cannot be converted to BIGINT[]`},
		"select [1] union all select 'a'":                                                   {12, "a column is BIGINT[] on the left side and VARCHAR on the right: cast one of them"},
		"select {'a': [id]} from orders union all select [1]":                               {32, "a column is STRUCT(a BIGINT[]) on the left side and BIGINT[] on the right"},
		"select [[1]] union all select ['x']":                                               {14, "BIGINT[] and VARCHAR have no common type"},
		"select '-0.4'::ubigint":                                                            {8, `"-0.4" is no integer`},
		"select lcm(id, 2.5) from orders":                                                   {16, "argument 2 of lcm is DECIMAL(2,1), expected an integer"},
		"select prise from orders":                                                          {8, `no column is called "prise": there are "price"`},
		"select o.prise from orders o":                                                      {8, `"price"`},
		"select * from order_":                                                              {15, `no table is called "order_": there are "Orders"`},
		"select id from orders, customers":                                                  {8, `column "id" is ambiguous`},
		"select summ(price) from orders":                                                    {8, `no function is called "summ": there are "sum"`},
		"select id from orders where sum(price) > 1":                                        {29, "aggregate sum is not possible in WHERE: use HAVING"},
		"select id, sum(price) from orders":                                                 {8, `column "id" must be in GROUP BY`},
		"select id from orders where price":                                                 {29, "the condition is DOUBLE, expected BOOLEAN"},
		"select id from orders where note > id":                                             {34, "operation not defined for these types"},
		"select id from orders where row_number() over () = 1":                              {29, "use QUALIFY"},
		"select row_number() from orders":                                                   {8, "add OVER"},
		"select id from orders limit id":                                                    {29, "the number of rows is a name"},
		"select id from orders order by 2":                                                  {32, "position 2 is not one of the 1 columns"},
		"select id from orders where id = ?":                                                {34, "parameter 1 has no argument"},
		"select id + note from orders":                                                      {11, "operator + has an operand of type VARCHAR"},
		"select id from orders where id in (select id, buyer from orders)":                  {32, "2 columns, expected 1"},
		"select 1 union select 1, 2":                                                        {10, "the left side has 1 columns, the right side 2"},
		"with recursive r as (select * from r) select * from r":                             {22, "a recursive query is a first query"},
		"with recursive r as (select 1 union all select 1 from r limit 3) select * from r":  {22, "ORDER BY and LIMIT of a recursive query are not supported"},
		"with recursive r as (select 1 as n union all select n from r) select * from r":     {36, "more than 10000 rounds"},
		"select x -> x + 1 from orders":                                                     {8, ""},
		"select date '2020-02-30'":                                                          {8, "is no date"},
		"select id::geometry from orders":                                                   {12, "no supported type"},
		"select * exclude (nope) from orders":                                               {19, `no column is called "nope"`},
		"select grouping(id) from orders":                                                   {8, "GROUP BY"},
		"create table t as select 1":                                                        {1, "run it with Exec"},
		"select id from orders where (id, buyer) in (select id, buyer, price from orders)":  {41, "a row of 2 values is compared with a subquery of 3 columns"},
		"select (id, buyer) in (select id from orders) from orders":                         {20, "a row of 2 values is compared with a subquery of 1 columns"},
		"select corr(distinct id, price) from orders":                                       {8, "corr of DISTINCT pairs is not supported"},
		"select list_transform([1], e -> (select 2))":                                       {33, "a subquery within a lambda is not supported"},
		"select list_transform([1], e -> rank() over (order by e))":                         {33, "a window function within a lambda is not supported"},
		"select stddev(id) over (order by id groups 1 preceding exclude group) from orders": {37, "EXCLUDE in a frame of stddev is not supported"},
		"select count(distinct id) over (order by id rows between 1 preceding and 1 following exclude current row) from orders": {8, "DISTINCT in count with EXCLUDE is not supported"},
		"select sum(id) over (order by id rows 1 preceding exclude ties) from orders":                                           {34, "EXCLUDE GROUP and EXCLUDE TIES in a frame of ROWS with offsets"},
		"select sum(id) over (order by id range 1 preceding exclude ties) from orders":                                          {34, "use GROUPS"},
		"select list_transform(id, e -> e) from orders":                                                                         {8, "the value is BIGINT, expected a list"},
		"select list_sort([1, 2], 'down')":                                                                                      {8, `the order is "down", expected one of ["asc"`},
		"select list_sort([1, 2], 'desc', 'first')":                                                                             {8, `the order of nulls is "first", expected one of ["default"`},
		"select list_filter([1], e -> e)":                                                                                       {8, "the condition is BIGINT, expected BOOLEAN"},
		"select list_transform([1], e -> f)":                                                                                    {33, `no column is called "f"`},
		"select list_transform([1], 2)":                                                                                         {28, "the argument is no lambda"},
		"select list_transform([1], (a, b, c) -> a)":                                                                            {8, "3 parameters"},
		"select cast('0x1p3' as double)":                                                                                        {8, "is no number"},
		"select lpad(note) from orders":                                                                                         {8, "lpad has 1 arguments, expected 3"},
		"select sum(sum(price)) from orders":                                                                                    {12, "aggregate sum is not possible in the arguments of an aggregate"},
	} {
		t.Run(text, func(t *testing.T) {
			_, err := session.Query(t.Context(), text)
			var fault *parse.Error
			require.ErrorAs(t, err, &fault)
			_, column := fault.Place()
			require.Equal(t, want.column, column, err)
			require.ErrorContains(t, err, want.message)
		})
	}
}

// TestForSchema tests that a query for its schema alone runs nothing.
func TestForSchema(t *testing.T) {
	session := sessionOn(t, devicetest.Open(t, "host"))
	before := len(session.Engine().Queries())
	query, err := session.Query(sql.ForSchema(t.Context()), "explain analyze select count(*) from orders")
	require.NoError(t, err)
	schema, err := query.Schema(t.Context())
	require.NoError(t, err)
	require.Equal(t, "plan", schema.Field(0).Name)
	require.Len(t, session.Engine().Queries(), before)
	require.Contains(t, answer(t, session, "explain analyze select count(*) from orders"), "scan")
	require.NotEmpty(t, session.Engine().Queries())
}
