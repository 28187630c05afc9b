package queries

import (
	"embed"
	"fmt"
	"strconv"
	"strings"

	"github.com/gpuframe/gpuframe"
)

// Tables are the tables that a query reads.
type Tables struct {
	Region, Nation, Supplier, Customer, Part, PartSupp, Orders, Lineitem gpuframe.Query
	// Scale is the scale factor, on which a constant of query 11 depends.
	Scale float64
}

// Query is one of the 22 queries.
type Query struct {
	// Number is 1 to 22.
	Number int
	// Name is the name in the specification.
	Name string
	// Order are the columns that the rows are ordered by. Rows with equal values may be in
	// any order.
	Order []string
	// Of makes the query on some tables.
	Of func(t Tables) gpuframe.Query
}

// All are the queries, with the parameters of the specification's validation runs.
var All = []Query{
	{1, "Pricing Summary Report", []string{"l_returnflag", "l_linestatus"}, query01},
	{2, "Minimum Cost Supplier", []string{"s_acctbal", "n_name", "s_name", "p_partkey"}, query02},
	{3, "Shipping Priority", []string{"revenue", "o_orderdate"}, query03},
	{4, "Order Priority Checking", []string{"o_orderpriority"}, query04},
	{5, "Local Supplier Volume", []string{"revenue"}, query05},
	{6, "Forecasting Revenue Change", nil, query06},
	{7, "Volume Shipping", []string{"supp_nation", "cust_nation", "l_year"}, query07},
	{8, "National Market Share", []string{"o_year"}, query08},
	{9, "Product Type Profit Measure", []string{"nation", "o_year"}, query09},
	{10, "Returned Item Reporting", []string{"revenue"}, query10},
	{11, "Important Stock Identification", []string{"value"}, query11},
	{12, "Shipping Modes and Order Priority", []string{"l_shipmode"}, query12},
	{13, "Customer Distribution", []string{"custdist", "c_count"}, query13},
	{14, "Promotion Effect", nil, query14},
	{15, "Top Supplier", []string{"s_suppkey"}, query15},
	{16, "Parts/Supplier Relationship", []string{"supplier_cnt", "p_brand", "p_type", "p_size"}, query16},
	{17, "Small-Quantity-Order Revenue", nil, query17},
	{18, "Large Volume Customer", []string{"o_totalprice", "o_orderdate"}, query18},
	{19, "Discounted Revenue", nil, query19},
	{20, "Potential Part Promotion", []string{"s_name"}, query20},
	{21, "Suppliers Who Kept Orders Waiting", []string{"numwait", "s_name"}, query21},
	{22, "Global Sales Opportunity", []string{"cntrycode"}, query22},
}

//go:embed *.sql
var texts embed.FS

// SQL returns the query as SQL.
func (q Query) SQL(scale float64) (string, error) {
	text, err := texts.ReadFile(fmt.Sprintf("query%02d.sql", q.Number))
	if err != nil {
		return "", fmt.Errorf("queries: %w", err)
	}
	return strings.ReplaceAll(string(text), "$scale", strconv.FormatFloat(scale, 'f', -1, 64)), nil
}
