package sql_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/sql"
)

// repeated returns texts in which # is the number of each, with a separator.
func repeated(n int, text, separator string) string {
	list := make([]string, n)
	for i := range list {
		list[i] = strings.ReplaceAll(text, "#", fmt.Sprint(i))
	}
	return strings.Join(list, separator)
}

// nested returns a text within others.
func nested(n int, before, inner, after string) string {
	return strings.Repeat(before, n) + inner + strings.Repeat(after, n)
}

// doubling are aliases each of which names the one before it twice.
func doubling(n int) string {
	text := "select id as a0"
	for i := range n {
		text += fmt.Sprintf(", a%d + a%d as a%d", i, i, i+1)
	}
	return text + " from orders"
}

// hostile are statements whose translation would take time or memory that grows faster than their text, with the error
// of those that are refused.
var hostile = map[string]string{
	doubling(60):                    "",
	doubling(40) + " where a40 > 1": "too many subqueries or aliases",
	"select id from orders where id in (" + repeated(10_000, "#", ", ") + ")":                                                                  "",
	"select id in (" + repeated(3000, "#", ", ") + ") from orders":                                                                             "",
	"select count(*) from " + repeated(30, "orders o#", ", "):                                                                                  "",
	"select count(*) from " + repeated(30, "orders o#", ", ") + " where " + repeated(30, "o#.id = o0.id", " and "):                             "",
	"with t0 as (select id from orders), " + repeated(40, "t#x as (select l.id from t0 l join t0 r using (id))", ", ") + " select * from t39x": "",
	"select count(*) from orders group by cube(id, buyer, price, note, id + 1, id + 2, id + 3, id + 4)":                                        "",
	"select count(*) from orders group by cube(id, buyer, price, note, id + 1, id + 2, id + 3, id + 4, id + 5)":                                "grouping sets",
	"select count(*) from orders group by rollup(" + repeated(100, "id + #", ", ") + ")":                                                       "101 grouping sets of 100 keys",
	"select count(*) from orders group by rollup(id, buyer), rollup(" + repeated(200, "id + #", ", ") + ")":                                    "more than 256 grouping sets",
	nested(8, "select max(id) + (", "select max(id) from orders", ") from orders"):                                                             "",
	nested(30, "select max(id) + (", "select max(id) from orders", ") from orders"):                                                            "nested deeper than 8 levels",
	nested(30, "select 1 from orders where exists (", "select max(id) from orders", ")"):                                                       "nested deeper than 8 levels",
	nested(30, "select id from orders where id > all (", "select max(id) from orders", ")"):                                                    "nested deeper than 8 levels",
	nested(100, "select id from orders where id in (", "select max(id) from orders", ")"):                                                      "",
	nested(100, "select max(id) as id from (", "select id from orders", ") t group by id"):                                                     "",
	"select " + repeated(100, "(select max(id) + # from orders)", ", "):                                                                        "",
	"select id from orders where " + repeated(60, "exists (select 1 from customers c where c.id = orders.buyer + #)", " or "):                  "",
	repeated(300, "select id + # from orders", " union all "):                                                                                  "",
	"select count(*) from range(100000000000)":                                                                                                 "at most",
}

// TestHostile translates and plans them.
func TestHostile(t *testing.T) {
	session := sessionOn(t, devicetest.Open(t, "host"))
	for text, message := range hostile {
		query, err := session.Query(t.Context(), text)
		if message != "" {
			require.ErrorContains(t, err, message, "%.100s", text)
			continue
		}
		require.NoError(t, err, "%.100s", text)
		_, err = query.Explain(t.Context())
		require.NoError(t, err, "%.100s", text)
	}
}

// TestCanceledTranslation tests that a translation ends with its context.
func TestCanceledTranslation(t *testing.T) {
	session := sessionOn(t, devicetest.Open(t, "host"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := session.Query(ctx, "select "+repeated(1000, "id + #", ", ")+" from orders")
	require.ErrorIs(t, err, context.Canceled)
}

// FuzzQuery checks that no statement makes the translation or the planner panic, or run out of memory.
func FuzzQuery(f *testing.F) {
	for _, text := range []string{
		"select id, sum(price) over (partition by buyer order by id) from orders", "select a.id from orders a left join customers b using (id) where exists (select 1 from customers c where c.id = a.buyer)",
		"select buyer, count(distinct id) from orders group by rollup(buyer) having count(*) > 1 order by 2", "with t as (select * exclude (id) from orders) select * from t union all select 1, 2, 'x'",
		"select * from orders o, lateral (select max(price) m from orders i where i.buyer = o.buyer) q", "values (1, 'a'), (null, 'b')", "select case when price > any (select price from orders) then interval 1 day end from orders",
		"select id, price + 1 as p, p * 2 as q from orders where q > 3 qualify row_number() over (partition by buyer order by p) = 1", "select * from orders o asof join customers c on o.id >= c.id", "select distinct on (buyer) * from orders order by buyer, id desc limit 3 offset 1",
		"select quantile_disc(price, 0.5), percentile_disc(0.1) within group (order by id desc), count(distinct note) from orders group by cube(buyer, note)", "select (select id from orders where id = c.id), (select note from orders limit 1) from customers c",
		"select id from orders where (id, buyer) in (select id, buyer from orders) and id not in (select id from customers) and note like 'a%' escape '!'", "pivot orders on buyer using sum(price) group by note", "unpivot orders on id, buyer into name n value v", "from orders select columns('i.*'), {'a': id}.a, [1, 2][1]",
		"with recursive t(n) as (select 1 union all select n + 1 from t where n < 5) select n from t", "select unnest([1, 2, null]), date '2020-01-31' + interval 1 month, timestamp '2020-01-01' at time zone 'Europe/Oslo'", "select sum(price) filter (where id > 1) over w from orders window w as (order by id rows between 1 preceding and current row)",
		"select id from orders intersect all (select id from customers except select 1) order by 1 limit 10", "describe orders", "explain select 1", "summarize orders", "select * from orders semi join customers using (id) tablesample 50%", "select try_cast(note as integer), note ~ 'a|b', note[1:2], extract(year from date '2020-01-01') from orders",
		"select id = all (select id from customers), (id, 1) < any (select 1, 2), grouping(id) from orders group by rollup(id)", "select string_agg(note, ',' order by id), list(id), arg_max(note, price), mode(id) from orders having count(*) > ?",
	} {
		f.Add(text)
	}
	for text := range hostile {
		if len(text) < 2000 { // longer ones take the fuzzer minutes to make small
			f.Add(text)
		}
	}
	engine, err := gpuframe.Open(gpuframe.Device("host"), gpuframe.Budget(256<<20)) // functions of literals and recursive tables run
	require.NoError(f, err)
	session := sql.New(engine)
	session.Register("orders", gpuframe.From(engine, []order{{ID: 1}}))
	session.Register("customers", gpuframe.From(engine, []customer{{ID: 1}}))
	f.Cleanup(func() {
		require.NoError(f, session.Close())
		require.NoError(f, engine.Close())
	})
	f.Fuzz(func(t *testing.T, text string) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // of recursive tables
		defer cancel()
		if q, err := session.Query(ctx, text); err == nil {
			_, err = q.Schema(t.Context())
			require.NoError(t, err, "a query that was made is right")
			_, _ = q.Explain(t.Context())
		}
	})
}
