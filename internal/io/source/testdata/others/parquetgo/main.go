// Command parquetgo writes the files parquet-go-1.parquet and parquet-go-2.parquet, of pages of both
// versions, with the writer of github.com/parquet-go/parquet-go: columns that other readers refuse or
// read in other ways.
package main

import (
	"fmt"
	"log"
	"math"
	"os"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/deprecated"
)

// annotated is a group with a logical type that parquet-go gives only to groups of its own.
type annotated struct {
	parquet.Group
	as parquet.Type
}

func (a annotated) Type() parquet.Type { return a.as }

// rows is the number of rows. Every seventh is null.
const rows = 210

func main() {
	for version, codec := range map[int]compress.Codec{1: &parquet.Snappy, 2: &parquet.Lz4Raw} {
		if err := write(fmt.Sprintf("../parquet-go-%d.parquet", version), version, codec); err != nil {
			log.Fatal(err)
		}
	}
}

func write(path string, version int, codec compress.Codec) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	list, mapped := parquet.List(parquet.Int(32)).Type(), parquet.Map(parquet.String(), parquet.String()).Type()
	instant := parquet.Leaf(parquet.Int96Type)
	if version == 2 {
		instant = parquet.Encoded(instant, &parquet.RLEDictionary)
	}
	split := func(of parquet.Node) parquet.Node { return parquet.Encoded(of, &parquet.ByteStreamSplit) }
	schema := parquet.NewSchema("rows", parquet.Group{
		"geometry": parquet.Optional(parquet.Geometry("")),
		"id":       parquet.Leaf(parquet.Int64Type),
		"instants": parquet.Optional(parquet.List(parquet.Optional(instant))),
		"map": parquet.Optional(annotated{parquet.Group{"key_value": parquet.Repeated(parquet.Group{
			"key": parquet.Optional(parquet.String()), "value": parquet.Optional(parquet.Leaf(parquet.Int64Type)),
		})}, mapped}),
		// Lists of lists of two levels, as parquet-avro writes them.
		"nested": parquet.Optional(annotated{parquet.Group{"array": parquet.Repeated(annotated{parquet.Group{
			"array": parquet.Repeated(parquet.Leaf(parquet.Int32Type)),
		}, list})}, list}),
		"split": parquet.Optional(parquet.List(parquet.Optional(split(parquet.Leaf(parquet.DoubleType))))),
		"struct": parquet.Optional(parquet.Group{
			"float": split(parquet.Leaf(parquet.FloatType)), "instant": instant, "whole": parquet.Leaf(parquet.Int32Type),
		}),
		"variant": parquet.Optional(parquet.Variant()),
	})
	w := parquet.NewWriter(file, schema, parquet.DataPageVersion(version), parquet.Compression(codec), parquet.PageBufferSize(300), parquet.MaxRowsPerRowGroup(150))
	for i := range rows {
		if _, err := w.WriteRows([]parquet.Row{row(i)}); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return file.Close()
}

// cells collects the values of a column.
type cells struct {
	row    *parquet.Row
	column int
}

func (c cells) add(v parquet.Value, repetition, definition int) {
	*c.row = append(*c.row, v.Level(repetition, definition, c.column))
}

// row makes row i. Its values follow from i; the tests of package source have the same.
func row(i int) (made parquet.Row) {
	column, null := 0, i%7 == 0
	next := func() cells { column++; return cells{&made, column - 1} }
	none := parquet.Value{}
	if c := next(); null { // geometry
		c.add(none, 0, 0)
	} else {
		c.add(parquet.ByteArrayValue([]byte{1, 1, 0, 0, 0, byte(i)}), 0, 1)
	}
	next().add(parquet.Int64Value(int64(i)), 0, 0)
	if c := next(); null { // instants: i%4 of them
		c.add(none, 0, 0)
	} else {
		repeat(c, i%4, func(at, repetition int) {
			if (i+at)%5 == 0 {
				c.add(none, repetition, 2)
			} else {
				c.add(parquet.Int96Value(instant(i+at)), repetition, 3)
			}
		})
	}
	keys, values := next(), next()
	if null { // map: i%3 entries, of which one has no key
		keys.add(none, 0, 0)
		values.add(none, 0, 0)
	} else {
		repeat(keys, i%3, func(at, repetition int) {
			if at == 1 {
				keys.add(none, repetition, 2)
			} else {
				keys.add(parquet.ByteArrayValue([]byte(fmt.Sprint("k", i))), repetition, 3)
			}
		})
		repeat(values, i%3, func(at, repetition int) { values.add(parquet.Int64Value(int64(i)), repetition, 3) })
	}
	if c := next(); null { // nested: i%3 lists of 0, 1, 2 elements
		c.add(none, 0, 0)
	} else {
		repeat(c, i%3, func(at, repetition int) {
			if at == 0 {
				c.add(none, repetition, 2)
			}
			for element := range at {
				if element > 0 {
					repetition = 2
				}
				c.add(parquet.Int32Value(int32(100*i+10*at+element)), repetition, 3)
			}
		})
	}
	if c := next(); null { // split: i%4 floats
		c.add(none, 0, 0)
	} else {
		repeat(c, i%4, func(at, repetition int) {
			if (i+at)%5 == 0 {
				c.add(none, repetition, 2)
			} else {
				c.add(parquet.DoubleValue(math.Sqrt(float64(10*i+at))), repetition, 3)
			}
		})
	}
	for _, v := range []parquet.Value{parquet.FloatValue(float32(math.Sqrt(float64(i)))), parquet.Int96Value(instant(i)), parquet.Int32Value(int32(-i))} {
		if c := next(); null {
			c.add(none, 0, 0)
		} else {
			c.add(v, 0, 1)
		}
	}
	for _, v := range [][]byte{{1, 0, 0}, {12, byte(i)}} { // variant
		if c := next(); null {
			c.add(none, 0, 0)
		} else {
			c.add(parquet.ByteArrayValue(v), 0, 1)
		}
	}
	return made
}

// repeat adds the elements of a list, or an empty one.
func repeat(c cells, n int, add func(at, repetition int)) {
	if n == 0 {
		c.add(parquet.Value{}, 0, 1)
	}
	for at := range n {
		add(at, min(at, 1))
	}
}

// instant is day 100000·(i%10) since 1970, and i nanoseconds: beyond 64 bits from i%10 = 2 on.
func instant(i int) deprecated.Int96 {
	const julianEpoch = 2_440_588
	return deprecated.Int96{uint32(i), 0, uint32(julianEpoch + 100_000*(i%10))}
}
