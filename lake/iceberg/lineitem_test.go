package iceberg_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/lake/iceberg"
)

// item is a row of the table lineitem of TPC-H. Its file is the place in the files of the table.
type item struct {
	file, row                 int
	order                     int64
	quantity, price, discount int64 // hundredths
	tax                       int64
	flag, status              string
	shipped                   int
	deleted                   bool
	old                       bool
}

var money = &arrow.Decimal128Type{Precision: 15, Scale: 2}

const itemColumns = `1 orderkey long
2 quantity decimal(15,2)
3 price decimal(15,2)
4 discount decimal(15,2)
5 returnflag string
6 linestatus string
7 shipdate date
8 tax decimal(15,2) = "0.03"`

// items draws rows of a file. Old files lack the tax, and have narrower types and other names.
func items(random *rand.Rand, file, rows int, old bool) (list []*item) {
	for row := range rows {
		each := &item{file: file, row: row, old: old, order: random.Int64N(int64(rows)), quantity: 100 * (1 + random.Int64N(50)), price: 90000 + random.Int64N(9000000),
			discount: random.Int64N(11), tax: random.Int64N(9), flag: string("ANR"[random.IntN(3)]), status: string("FO"[random.IntN(2)]), shipped: 8036 + 365*(file%7) + random.IntN(365)}
		if old {
			each.tax = 3 // the initial default
		}
		list = append(list, each)
	}
	return list
}

func hundredths(n int64) string { return fmt.Sprintf("%d.%02d", n/100, n%100) }

// json is the row for a file: of the newest schema, or as old files have it.
func (i *item) json(old bool) string {
	row := object{"orderkey": i.order, "quantity": hundredths(i.quantity), "price": hundredths(i.price), "discount": hundredths(i.discount), "returnflag": i.flag, "linestatus": i.status,
		"shipdate": time.Unix(int64(i.shipped)*86400, 0).UTC().Format(time.DateOnly), "tax": hundredths(i.tax)}
	if old {
		row["l_orderkey"] = i.order
		delete(row, "orderkey")
		delete(row, "tax")
	}
	return jsonText(row)
}

func itemFields(old bool) []arrow.Field {
	fields := []arrow.Field{long(1, "orderkey"), field(2, "quantity", money), field(3, "price", money), field(4, "discount", money), text(5, "returnflag"), text(6, "linestatus"),
		field(7, "shipdate", arrow.FixedWidthTypes.Date32), field(8, "tax", money)}
	if old {
		fields[0] = field(1, "l_orderkey", arrow.PrimitiveTypes.Int32)
		fields[2].Type = &arrow.Decimal128Type{Precision: 9, Scale: 2}
		return fields[:7]
	}
	return fields
}

func (w *written) items(name string, list []*item, old bool, more object) object {
	var rows []string
	for _, each := range list {
		rows = append(rows, each.json(old))
	}
	w.parquet(name, itemFields(old), jsonList(rows))
	return w.data(name, len(list), more)
}

// lineitem writes the table with all kinds of deletes between its files, and returns its rows.
func lineitem(t *testing.T, random *rand.Rand, rows int) (*written, []*item) {
	w := newTable(t, itemColumns)
	w.about["format-version"] = 3
	w.spec(1, `1000 year year 7 "int"`)
	var all []*item
	add := func(old bool) {
		var entries []object
		for range 3 {
			file := len(all) / rows
			list := items(random, file, rows, old)
			all = append(all, list...)
			entries = append(entries, w.items(fmt.Sprintf("%d.parquet", file), list, old, yearOf(file)))
		}
		w.commit(entries...)
	}
	each := func(choose func(*item) bool) {
		for _, row := range all {
			row.deleted = row.deleted || choose(row)
		}
	}
	add(true)
	position := map[string][]int64{}
	each(func(i *item) bool {
		chosen := i.file != 1 && random.IntN(4) == 0
		if chosen {
			position[fmt.Sprintf("%d.parquet", i.file)] = append(position[fmt.Sprintf("%d.parquet", i.file)], int64(i.row))
		}
		return chosen
	})
	for _, file := range []int{0, 2} {
		name := fmt.Sprintf("%d.parquet", file)
		w.commit(w.positions(fmt.Sprintf("p%d.parquet", file), map[string][]int64{name: position[name]}, yearOf(file)))
	}
	order := random.Int64N(int64(rows) / 2)
	w.parquet("e1.parquet", []arrow.Field{field(1, "l_orderkey", arrow.PrimitiveTypes.Int32)}, fmt.Sprintf(`[{"l_orderkey": %d}, {"l_orderkey": %d}, {"l_orderkey": %d}]`, order, order+1, order+1))
	w.commit(w.data("e1.parquet", 3, object{"content": 2, "equality_ids": []int32{1}}))
	each(func(i *item) bool { return i.order == order || i.order == order+1 })
	add(false)
	var vector []uint64
	each(func(i *item) bool {
		chosen := i.file == 4 && random.IntN(3) == 0
		if chosen {
			vector = append(vector, uint64(i.row))
		}
		return chosen
	})
	blob := vectorBlob(t, vector...)
	w.file("v.puffin", append([]byte("PFA1"), blob...))
	w.commit(w.data("v.puffin", len(vector), merged(object{"content": 1, "file_format": "PUFFIN", "referenced_data_file": w.root + "/4.parquet", "content_offset": int64(4), "content_size_in_bytes": int64(len(blob))}, yearOf(4))))
	w.parquet("e2.parquet", []arrow.Field{text(6, "linestatus"), text(5, "returnflag")}, `[{"linestatus": "F", "returnflag": "R"}, {"linestatus": null, "returnflag": "A"}]`)
	w.commit(w.data("e2.parquet", 2, merged(object{"content": 2, "equality_ids": []int32{5, 6}}, yearOf(3))))
	each(func(i *item) bool { return i.file == 3 && i.flag == "R" && i.status == "F" })
	add(false)
	return w, all
}

func yearOf(file int) object {
	return object{"spec": 1, "partition": object{"year": 22 + file%7}}
}

// The queries of TPC-H on a table with deleted rows have the answers of the same queries on files without these rows.
func TestLineitem(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		engine, err := gpuframe.Open(gpuframe.Device(dev.Name()))
		require.NoError(t, err)
		defer func() { require.NoError(t, engine.Close()) }()
		for seed, rows := range devicetest.Sizes(dev, 60, 2000) {
			w, all := lineitem(t, rand.New(rand.NewPCG(uint64(seed), 1)), rows)
			var kept []*item
			for _, each := range all {
				if !each.deleted {
					kept = append(kept, each)
				}
			}
			require.Less(t, len(kept), len(all))
			w.items("plain.parquet", kept, false, nil)
			w.parquet("orders.parquet", []arrow.Field{long(1, "orderkey"), text(2, "priority")}, orders(rows))
			plain, table := engine.Parquet(filepath.Join(w.root, "plain.parquet")), w.open(iceberg.Options{}).Query(engine)
			for name, query := range tpch(engine.Parquet(filepath.Join(w.root, "orders.parquet"))) {
				want := rowsOf(t, query(plain))
				require.NotEmpty(t, want, name)
				require.Equal(t, want, rowsOf(t, query(table)), "%s, %d rows", name, rows)
			}
		}
	})
}

func orders(rows int) string {
	var list []string
	for order := range rows {
		list = append(list, jsonText(object{"orderkey": order, "priority": []string{"1-URGENT", "2-HIGH", "5-LOW"}[order%3]}))
	}
	return "[" + strings.Join(list, ",") + "]"
}

// tpch are queries 1, 6, and ones of the kinds of 3 and 12.
func tpch(orders gpuframe.Query) map[string]func(gpuframe.Query) gpuframe.Query {
	quantity, price, discount, tax, shipped := gpuframe.Col("quantity"), gpuframe.Col("price"), gpuframe.Col("discount"), gpuframe.Col("tax"), gpuframe.Col("shipdate")
	date := func(year int) gpuframe.Expr {
		return gpuframe.Lit(arrow.Date32FromTime(time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)))
	}
	return map[string]func(gpuframe.Query) gpuframe.Query{
		"all": func(q gpuframe.Query) gpuframe.Query { return q },
		"1": func(q gpuframe.Query) gpuframe.Query {
			return q.Filter(shipped.Le(date(1998))).GroupBy(gpuframe.Col("returnflag"), gpuframe.Col("linestatus")).
				Agg(quantity.Sum().As("quantity"), price.Sum().As("price"), tax.Sum().As("tax"), price.Mul(discount).Sum().As("discounts"), gpuframe.Count().As("n"))
		},
		"3": func(q gpuframe.Query) gpuframe.Query {
			return q.Filter(shipped.Gt(date(1994))).Join(orders, gpuframe.Inner, gpuframe.Col("orderkey")).GroupBy(gpuframe.Col("orderkey"), gpuframe.Col("priority")).Agg(price.Sum().As("revenue"))
		},
		"6": func(q gpuframe.Query) gpuframe.Query {
			return q.Filter(shipped.Ge(date(1993)), shipped.Lt(date(1996)), discount.Ge(0.02), discount.Le(0.07), quantity.Lt(24)).Select(price.Mul(discount).Sum().As("revenue"), gpuframe.Count().As("n"))
		},
		"12": func(q gpuframe.Query) gpuframe.Query {
			return orders.Join(q.Filter(tax.Gt(0.01)), gpuframe.Semi, gpuframe.Col("orderkey")).GroupBy(gpuframe.Col("priority")).Agg(gpuframe.Count().As("n"))
		},
		"number": func(q gpuframe.Query) gpuframe.Query { return q.Select(gpuframe.Count().As("n")) },
	}
}
