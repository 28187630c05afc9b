package queries

import (
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
)

// Columns of the tables. Decimals have no type in Go.
var (
	regionkey  = gpuframe.Of[int32]("r_regionkey")
	regionName = gpuframe.Of[string]("r_name")

	nationkey       = gpuframe.Of[int32]("n_nationkey")
	nationName      = gpuframe.Of[string]("n_name")
	nationRegionkey = gpuframe.Of[int32]("n_regionkey")

	suppkey       = gpuframe.Col("s_suppkey")
	suppName      = gpuframe.Of[string]("s_name")
	suppAddress   = gpuframe.Of[string]("s_address")
	suppNationkey = gpuframe.Of[int32]("s_nationkey")
	suppPhone     = gpuframe.Of[string]("s_phone")
	suppAcctbal   = gpuframe.Col("s_acctbal")
	suppComment   = gpuframe.Of[string]("s_comment")

	custkey       = gpuframe.Col("c_custkey")
	custName      = gpuframe.Of[string]("c_name")
	custAddress   = gpuframe.Of[string]("c_address")
	custNationkey = gpuframe.Of[int32]("c_nationkey")
	custPhone     = gpuframe.Of[string]("c_phone")
	custAcctbal   = gpuframe.Col("c_acctbal")
	segment       = gpuframe.Of[string]("c_mktsegment")
	custComment   = gpuframe.Of[string]("c_comment")

	partkey      = gpuframe.Col("p_partkey")
	partName     = gpuframe.Of[string]("p_name")
	manufacturer = gpuframe.Of[string]("p_mfgr")
	brand        = gpuframe.Of[string]("p_brand")
	partType     = gpuframe.Of[string]("p_type")
	partSize     = gpuframe.Of[int32]("p_size")
	container    = gpuframe.Of[string]("p_container")

	psPartkey  = gpuframe.Col("ps_partkey")
	psSuppkey  = gpuframe.Col("ps_suppkey")
	availqty   = gpuframe.Col("ps_availqty")
	supplycost = gpuframe.Col("ps_supplycost")

	orderkey      = gpuframe.Col("o_orderkey")
	orderCustkey  = gpuframe.Col("o_custkey")
	orderstatus   = gpuframe.Of[string]("o_orderstatus")
	totalprice    = gpuframe.Col("o_totalprice")
	orderdate     = gpuframe.Of[time.Time]("o_orderdate")
	orderpriority = gpuframe.Of[string]("o_orderpriority")
	shippriority  = gpuframe.Col("o_shippriority")
	orderComment  = gpuframe.Of[string]("o_comment")

	lineOrderkey  = gpuframe.Col("l_orderkey")
	linePartkey   = gpuframe.Col("l_partkey")
	lineSuppkey   = gpuframe.Col("l_suppkey")
	quantity      = gpuframe.Col("l_quantity")
	extendedprice = gpuframe.Col("l_extendedprice")
	discount      = gpuframe.Col("l_discount")
	tax           = gpuframe.Col("l_tax")
	returnflag    = gpuframe.Of[string]("l_returnflag")
	linestatus    = gpuframe.Of[string]("l_linestatus")
	shipdate      = gpuframe.Of[time.Time]("l_shipdate")
	commitdate    = gpuframe.Col("l_commitdate")
	receiptdate   = gpuframe.Col("l_receiptdate")
	shipinstruct  = gpuframe.Of[string]("l_shipinstruct")
	shipmode      = gpuframe.Of[string]("l_shipmode")
)

// revenue is the price of a line after the discount.
var revenue = extendedprice.Mul(gpuframe.Lit(1).Sub(discount)).As("revenue")

// mean is the mean of decimals as a float. Expr.Mean of decimals is a decimal.
func mean(e gpuframe.Expr) gpuframe.Expr { return ratio(e.Sum(), e.Count()) }

// ratio divides decimals as floats.
func ratio(a, b gpuframe.Expr) gpuframe.Expr {
	return a.Cast(arrow.PrimitiveTypes.Float64).Div(b.Cast(arrow.PrimitiveTypes.Float64))
}

func date(year int, month time.Month, day int) time.Time {
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}
