package main

import (
	"database/sql"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	duckdb "github.com/duckdb/duckdb-go/v2"
)

// peer is a DuckDB with a database in memory.
type peer struct {
	connector *duckdb.Connector
	db        *sql.DB
}

// openPeer opens a database. threads is 0 for all processors.
func openPeer(threads int) (*peer, error) {
	connector, err := duckdb.NewConnector("", nil)
	if err != nil {
		return nil, err
	}
	p := &peer{connector, sql.OpenDB(connector)}
	p.db.SetMaxOpenConns(1) // settings belong to a connection
	if threads > 0 {
		err = p.execute(fmt.Sprintf("set threads=%d", threads))
	}
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}

func (p *peer) close() error { return errors.Join(p.db.Close(), p.connector.Close()) }

func (p *peer) execute(text string) error {
	_, err := p.db.Exec(text)
	return err
}

// version returns DuckDB's version and the number of its threads.
func (p *peer) version() (version string, err error) {
	err = p.db.QueryRow("select version() || ', ' || current_setting('threads') || ' threads'").Scan(&version)
	return version, err
}

// valueAt returns an element as DuckDB's package returns it.
func valueAt(c arrow.Array, row int) any {
	if c.IsNull(row) {
		return nil
	}
	switch c := c.(type) {
	case *array.Boolean:
		return c.Value(row)
	case *array.Int8:
		return c.Value(row)
	case *array.Int16:
		return c.Value(row)
	case *array.Int32:
		return c.Value(row)
	case *array.Int64:
		return c.Value(row)
	case *array.Uint32:
		return c.Value(row)
	case *array.Uint64:
		return c.Value(row)
	case *array.Float32:
		return c.Value(row)
	case *array.Float64:
		return c.Value(row)
	case *array.String:
		return c.Value(row)
	case *array.Date32:
		return c.Value(row).ToTime()
	case *array.Decimal128:
		t := c.DataType().(*arrow.Decimal128Type)
		return duckdb.Decimal{Width: uint8(t.Precision), Scale: uint8(t.Scale), Value: c.Value(row).BigInt()}
	}
	return fmt.Errorf("a value of %v", c.DataType()) // differs from every value
}

// measure returns the fastest time of making a table of a query.
func (p *peer) measure(query string, rounds int) (best time.Duration, err error) {
	best = 1 << 62
	for range rounds {
		if err := p.execute("drop table if exists answer"); err != nil {
			return 0, err
		}
		begin := time.Now()
		if err := p.execute("create table answer as " + query); err != nil {
			return 0, err
		}
		best = min(best, time.Since(begin))
	}
	return best, nil
}

// answer returns the values of a query by the texts of its first columns, the keys.
func (p *peer) answer(query string, keys int) (answers, error) {
	rows, err := p.db.Query(query)
	if err != nil {
		return nil, err
	}
	byKey := answers{}
	names, err := rows.Columns()
	values, places := make([]any, len(names)), make([]any, len(names))
	for i := range places {
		places[i] = &values[i]
	}
	for err == nil && rows.Next() {
		if err = rows.Scan(places...); err == nil {
			var key strings.Builder
			for _, value := range values[:keys] {
				key.WriteString(textOf(value) + "|")
			}
			for _, value := range values[keys:] {
				byKey[key.String()] = append(byKey[key.String()], plain(value))
			}
		}
	}
	return byKey, errors.Join(err, rows.Err(), rows.Close())
}

// plain returns a value of DuckDB as a float64, a text or nil.
func plain(value any) any {
	switch v := value.(type) {
	case nil:
		return nil
	case bool:
		return fmt.Sprint(v)
	case string:
		return v
	case time.Time:
		return v.Format(time.DateOnly)
	case *big.Int:
		x, _ := new(big.Float).SetInt(v).Float64()
		return x
	case duckdb.Decimal:
		x, _ := new(big.Rat).SetFrac(v.Value, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(v.Scale)), nil)).Float64()
		return x
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = plain(v[i])
		}
		return list
	case float32:
		return float64(v)
	case float64:
		return v
	}
	var x float64
	if _, err := fmt.Sscan(fmt.Sprint(value), &x); err != nil {
		return fmt.Sprintf("%T %v", value, value)
	}
	return x
}

// textOf returns a text of a key.
func textOf(value any) string {
	if x, ok := plain(value).(float64); ok {
		return fmt.Sprint(x + 0) // −0 is 0
	}
	return fmt.Sprint(plain(value))
}
