package sql_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/sql/parse"
)

// seeds are statements that tests change.
var seeds = []string{
	"select id, sum ( price ) over ( partition by buyer order by id rows between 1 preceding and current row ) from orders where note like 'g%' or price > 1.5",
	"select a . id from orders a left join customers b using ( id ) where exists ( select 1 from customers c where c . id = a . buyer )",
	"select buyer , count ( distinct id ) filter ( where price > 2 ) from orders group by rollup ( buyer ) having count ( * ) > 1 order by 2 desc nulls first limit 3",
	"with t as ( select * exclude ( id ) from orders ) select * from t union all select 1 , 2 , 'x' from t",
	"select * from orders o , lateral ( select max ( price ) m from orders i where i . buyer = o . buyer ) q",
	"select id from orders where price > any ( select price from orders ) and buyer not in ( select id from customers ) qualify row_number ( ) over ( ) < 3",
	"select date_trunc ( 'month' , date '2020-02-29' + interval 1 month ) , extract ( year from date '2020-01-01' ) , cast ( '7' as integer ) , case id when 1 then null else note end from orders",
	"select distinct on ( buyer ) id , ( select count ( * ) from customers where id = buyer ) n from orders order by buyer , price",
}

// TestMutations changes words of statements. Each is refused at a place of its text, or gives a query that fits.
func TestMutations(t *testing.T) {
	session := sessionOn(t, devicetest.Open(t, "host"))
	random := rand.New(rand.NewPCG(1, 2))
	var words []string
	for _, text := range seeds {
		words = append(words, strings.Fields(text)...)
	}
	valid := 0
	for range 10_000 {
		parts := strings.Fields(seeds[random.IntN(len(seeds))])
		for range 1 + random.IntN(3) {
			at := random.IntN(len(parts))
			switch random.IntN(3) {
			case 0:
				parts[at] = words[random.IntN(len(words))]
			case 1:
				parts = append(parts[:at], parts[at+1:]...)
			default:
				other := random.IntN(len(parts))
				parts[at], parts[other] = parts[other], parts[at]
			}
		}
		text := strings.Join(parts, " ")
		q, err := session.Query(t.Context(), text)
		var fault *parse.Error
		switch {
		case err == nil:
			valid++
			_, err = q.Schema(t.Context())
			require.NoError(t, err, text)
		default:
			require.True(t, errors.As(err, &fault), "%s: %v", text, err)
		}
	}
	require.Greater(t, valid, 50)
}
