package duckdb

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// starStatements have the shapes of the questions of TPC-DS, for runs without their texts.
var starStatements = []string{
	// Totals of three channels in one rollup.
	`with sold as (select 'store' as channel, ss_store_sk as place, ss_net_paid as paid, ss_sold_date_sk as day from store_sales union all select 'web', ws_web_site_sk, ws_net_paid, ws_sold_date_sk from web_sales
	union all select 'catalog', cs_call_center_sk, cs_net_paid, cs_sold_date_sk from catalog_sales) select channel, place, count(*), sum(paid) from sold, date_dim where day = d_date_sk and d_year = 2000 group by rollup(channel, place)`,
	// A year compared with the next one.
	`with years as (select c_customer_id as id, d_year as year, sum(ss_ext_list_price - ss_ext_discount_amt) as total from customer, store_sales, date_dim where c_customer_sk = ss_customer_sk and ss_sold_date_sk = d_date_sk group by 1, 2)
	select a.id, b.total / a.total from years a, years b where a.id = b.id and a.year = 2000 and b.year = 2001 and a.total > 0 and b.total > a.total`,
	// Ranks within the groups of a rollup.
	`select i_category, i_class, sum(ss_net_profit), grouping(i_category) + grouping(i_class) as level, rank() over (partition by grouping(i_category) + grouping(i_class), case when grouping(i_class) = 0 then i_category end order by sum(ss_net_profit) desc)
	from store_sales join item on ss_item_sk = i_item_sk group by rollup(i_category, i_class)`,
	// Customers of all channels, of one of two, and of none.
	`select count(*) from (select ss_customer_sk, d_date from store_sales, date_dim where ss_sold_date_sk = d_date_sk intersect select ws_bill_customer_sk, d_date from web_sales, date_dim where ws_sold_date_sk = d_date_sk)`,
	`select count(*) from (select ss_customer_sk from store_sales except select ws_bill_customer_sk from web_sales except select cs_bill_customer_sk from catalog_sales)`,
	`select cd_gender, cd_marital_status, count(*), avg(cd_dep_count) from customer c, customer_demographics where cd_demo_sk = c.c_current_cdemo_sk and exists (select * from store_sales where ss_customer_sk = c.c_customer_sk)
	and (exists (select * from web_sales where ws_bill_customer_sk = c.c_customer_sk and ws_quantity > 95) or exists (select * from catalog_sales where cs_ship_customer_sk = c.c_customer_sk and cs_quantity > 95)) group by 1, 2`,
	// Running sums of two channels side by side.
	`select i, d, store, web, max(web) over (partition by i order by d rows between unbounded preceding and current row) from (select coalesce(s.i, w.i) as i, coalesce(s.d, w.d) as d, s.n as store, w.n as web from
	(select ss_item_sk as i, ss_sold_date_sk as d, sum(sum(ss_sales_price)) over (partition by ss_item_sk order by ss_sold_date_sk) as n from store_sales where ss_sold_date_sk is not null and ss_item_sk < 20 group by 1, 2) s
	full join (select ws_item_sk as i, ws_sold_date_sk as d, sum(sum(ws_sales_price)) over (partition by ws_item_sk order by ws_sold_date_sk) as n from web_sales where ws_sold_date_sk is not null and ws_item_sk < 20 group by 1, 2) w on s.i = w.i and s.d = w.d)`,
	// A scalar subquery of equal rows, and one whose condition leaves one row.
	`select i_item_id, sum(ss_ext_sales_price) from store_sales, item, date_dim where ss_item_sk = i_item_sk and ss_sold_date_sk = d_date_sk and d_week_seq = (select d_week_seq from date_dim where d_date = '2000-01-03') group by 1`,
	`select count(*) from store_sales, date_dim where ss_sold_date_sk = d_date_sk and d_month_seq between (select distinct d_month_seq + 1 from date_dim where d_year = 1998 and d_moy = 12) and (select distinct d_month_seq + 3 from date_dim where d_year = 1998 and d_moy = 12)`,
	// Sales with and without a return, by the average of their group.
	`select s_store_name, i_class, sum(coalesce(sr_return_quantity, 0)), sum(ss_quantity) from store_sales left join store_returns on sr_ticket_number = ss_ticket_number and sr_item_sk = ss_item_sk join store on s_store_sk = ss_store_sk join item i on i_item_sk = ss_item_sk
	where i_current_price > 0.9 * (select avg(j.i_current_price) from item j where j.i_category = i.i_category) group by 1, 2`,
	// Months as columns.
	`select w_warehouse_name, sum(case when d_moy = 1 then ws_ext_sales_price * ws_quantity else 0 end) as january, sum(case when d_moy = 12 then ws_net_paid end) / any_value(w_warehouse_sq_ft) as december from web_sales, warehouse, date_dim
	where ws_warehouse_sk = w_warehouse_sk and ws_sold_date_sk = d_date_sk group by w_warehouse_name`,
	// Deviations of stock.
	`select inv_item_sk, d_moy, avg(inv_quantity_on_hand), stddev_samp(inv_quantity_on_hand) / nullif(avg(inv_quantity_on_hand), 0) from inventory, date_dim where inv_date_sk = d_date_sk group by 1, 2 having stddev_samp(inv_quantity_on_hand) > avg(inv_quantity_on_hand)`,
}

// TestStar compares answers over the tables of TPC-DS.
func TestStar(t *testing.T) {
	p := openEmpty(t)
	fillTPCDS(t, p)
	for _, text := range starStatements {
		theirs, err := p.theirs(text)
		require.NoError(t, err, text)
		require.NotEmpty(t, theirs, text)
		difference, err := p.difference(t.Context(), text, false)
		require.NoError(t, err, text)
		require.Empty(t, difference, text)
	}
}
