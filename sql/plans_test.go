package sql_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
)

// TestPlans tests which operations statements become.
func TestPlans(t *testing.T) {
	session := sessionOn(t, devicetest.Open(t, "host"))
	for text, c := range map[string]struct {
		over, joins int
		has         string
	}{
		"select id from orders where price > (select avg(price) from orders)":                                                            {1, 0, "over all rows"},
		"select id from orders where price > (select avg(price) from orders o where o.buyer = orders.buyer)":                             {1, 0, "over buyer"},
		"select id from orders where note = 'gift' and price > (select sum(price) from orders where note = 'gift' and id > 1)":           {1, 0, "over all rows"},
		"select id from orders where note = 'gift' and price > (select avg(price) from orders)":                                          {0, 1, "cross join"},
		"select o.id from orders o, customers c where o.buyer = c.id and price > (select avg(price) from orders q where q.buyer = c.id)": {1, 1, "over buyer"},
		"select o.id from orders o, customers c where o.buyer = c.id and price > (select sum(price) from orders q where q.buyer = c.id)": {0, 2, "join"},
		"select o.id from orders o, customers c where o.buyer = c.id and price > (select avg(price) from orders)":                        {0, 2, "cross join"},
		"select buyer, sum(price) from orders group by buyer having sum(price) > (select sum(price) / 2 from orders)":                    {1, 0, "over all rows"},
		"select o.id from orders o, customers c where (price = 1 and name = 'Bob') or (price = 2 and name = 'Ann')":                      {0, 1, `filter (Name == "Bob") or (Name == "Ann")`},
		"select o.id from orders o left join customers c on o.buyer > c.id and o.id < c.id":                                              {0, 1, "left join where (buyer > `id:2`) and"},
		"select o.id from orders o semi join customers c on o.buyer > c.id and o.id < c.id":                                              {0, 1, "semi join where"},
		"select id from orders where buyer not in (select id from customers)":                                                            {0, 2, "anti join"},
	} {
		query, err := session.Query(t.Context(), text)
		require.NoError(t, err, text)
		plan, err := query.Explain(t.Context())
		require.NoError(t, err, text)
		_, plan, _ = strings.Cut(plan, "\nas run on ")
		require.Equal(t, c.over, strings.Count(plan, "  over "), "%s\n%s", text, plan)
		require.Equal(t, c.joins, strings.Count(plan, " join"), "%s\n%s", text, plan)
		require.Contains(t, plan, c.has, text)
	}
}
