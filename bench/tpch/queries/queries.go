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
	// Of makes the query on some tables.
	Of func(t Tables) gpuframe.Query
}

// All are the queries, with the parameters of the specification's validation runs.
var All = []Query{
	{1, "Pricing Summary Report", query01},
	{2, "Minimum Cost Supplier", query02},
	{3, "Shipping Priority", query03},
	{4, "Order Priority Checking", query04},
	{5, "Local Supplier Volume", query05},
	{6, "Forecasting Revenue Change", query06},
	{7, "Volume Shipping", query07},
	{8, "National Market Share", query08},
	{9, "Product Type Profit Measure", query09},
	{10, "Returned Item Reporting", query10},
	{11, "Important Stock Identification", query11},
	{12, "Shipping Modes and Order Priority", query12},
	{13, "Customer Distribution", query13},
	{14, "Promotion Effect", query14},
	{15, "Top Supplier", query15},
	{16, "Parts/Supplier Relationship", query16},
	{17, "Small-Quantity-Order Revenue", query17},
	{18, "Large Volume Customer", query18},
	{19, "Discounted Revenue", query19},
	{20, "Potential Part Promotion", query20},
	{21, "Suppliers Who Kept Orders Waiting", query21},
	{22, "Global Sales Opportunity", query22},
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
