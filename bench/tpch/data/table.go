package data

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
)

// Table is one of the eight tables.
type Table uint8

// The tables.
const (
	Region Table = iota
	Nation
	Supplier
	Customer
	Part
	PartSupp
	Orders
	Lineitem
	tables
)

// Tables are all tables.
var Tables = []Table{Region, Nation, Supplier, Customer, Part, PartSupp, Orders, Lineitem}

// Streams of random numbers that are not of one table.
const (
	streamText = uint64(tables) + iota
	streamComplaints
)

// Types of columns. Keys are int32, except those of orders, which exceed 2³¹ at large scale
// factors.
var (
	small   = arrow.PrimitiveTypes.Int32
	large   = arrow.PrimitiveTypes.Int64
	text    = arrow.BinaryTypes.String
	decimal = &arrow.Decimal128Type{Precision: 15, Scale: 2}
	date    = arrow.FixedWidthTypes.Date32
)

// description describes a table.
type description struct {
	name   string
	fields []arrow.Field
	// make appends the rows of a table that belong to an entity: four rows of partsupp for
	// each part, one to seven rows of lineitem for each order, one row in other tables.
	make func(g *Generator, entity int64, to *rows)
	// entities is their number at scale factor 1. It is fixed if that is negative.
	entities int64
	// perEntity is the average number of rows for an entity.
	perEntity int64
}

var described = [tables]description{
	Region:   {"region", fields("r_regionkey", small, "r_name", text, "r_comment", text), (*Generator).region, -5, 1},
	Nation:   {"nation", fields("n_nationkey", small, "n_name", text, "n_regionkey", small, "n_comment", text), (*Generator).nation, -25, 1},
	Supplier: {"supplier", fields("s_suppkey", small, "s_name", text, "s_address", text, "s_nationkey", small, "s_phone", text, "s_acctbal", decimal, "s_comment", text), (*Generator).supplier, 10_000, 1},
	Customer: {"customer", fields("c_custkey", small, "c_name", text, "c_address", text, "c_nationkey", small, "c_phone", text, "c_acctbal", decimal, "c_mktsegment", text, "c_comment", text), (*Generator).customer, 150_000, 1},
	Part:     {"part", fields("p_partkey", small, "p_name", text, "p_mfgr", text, "p_brand", text, "p_type", text, "p_size", small, "p_container", text, "p_retailprice", decimal, "p_comment", text), (*Generator).part, 200_000, 1},
	PartSupp: {"partsupp", fields("ps_partkey", small, "ps_suppkey", small, "ps_availqty", small, "ps_supplycost", decimal, "ps_comment", text), (*Generator).partSupp, 200_000, 4},
	Orders:   {"orders", fields("o_orderkey", large, "o_custkey", small, "o_orderstatus", text, "o_totalprice", decimal, "o_orderdate", date, "o_orderpriority", text, "o_clerk", text, "o_shippriority", small, "o_comment", text), (*Generator).orders, 1_500_000, 1},
	Lineitem: {"lineitem", fields("l_orderkey", large, "l_partkey", small, "l_suppkey", small, "l_linenumber", small, "l_quantity", decimal, "l_extendedprice", decimal, "l_discount", decimal, "l_tax", decimal, "l_returnflag", text, "l_linestatus", text, "l_shipdate", date, "l_commitdate", date, "l_receiptdate", date, "l_shipinstruct", text, "l_shipmode", text, "l_comment", text), (*Generator).lineitem, 1_500_000, 4},
}

// fields makes fields of names and types that alternate. None has nulls.
func fields(list ...any) (typed []arrow.Field) {
	for i := 0; i < len(list); i += 2 {
		typed = append(typed, arrow.Field{Name: list[i].(string), Type: list[i+1].(arrow.DataType)})
	}
	return typed
}

// String returns the name: "lineitem".
func (t Table) String() string {
	if t < tables {
		return described[t].name
	}
	return fmt.Sprintf("Table(%d)", uint8(t))
}

// Schema returns the columns.
func (t Table) Schema() *arrow.Schema { return schemas[t] }

var schemas = func() (all [tables]*arrow.Schema) {
	for t := range all {
		all[t] = arrow.NewSchema(described[t].fields, nil)
	}
	return all
}()
