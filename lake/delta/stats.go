package delta

import (
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/lake/internal/decimals"
)

// statistics are those of a file. Values are by physical names.
type statistics struct {
	NumRecords  *int64                     `json:"numRecords"`
	TightBounds *bool                      `json:"tightBounds"`
	MinValues   map[string]json.RawMessage `json:"minValues"`
	MaxValues   map[string]json.RawMessage `json:"maxValues"`
	NullCount   map[string]json.RawMessage `json:"nullCount"`
}

// parseStatistics reads the text of statistics. Text that cannot be read is no statistics.
func parseStatistics(text string) statistics {
	var s statistics
	if json.Unmarshal([]byte(text), &s) != nil || s.NumRecords != nil && *s.NumRecords < 0 {
		return statistics{}
	}
	return s
}

// rows is the number of rows of the file, or -1.
func (s statistics) rows() int64 {
	if s.NumRecords == nil {
		return -1
	}
	return *s.NumRecords
}

// rangeOf returns the range of a column by the statistics.
func (s statistics) rangeOf(c column, hasVector bool) gpuframe.ColumnRange {
	r := gpuframe.ColumnRange{Nulls: -1, Valid: -1}
	var nulls *int64 // null means unknown
	if json.Unmarshal(s.NullCount[c.physical], &nulls) == nil && nulls != nil && *nulls >= 0 && s.rows() >= *nulls {
		wide := hasVector || s.TightBounds != nil && !*s.TightBounds
		if !wide || *nulls == 0 || *nulls == s.rows() {
			r.Nulls, r.Valid = *nulls, s.rows()-*nulls
		}
	}
	if low, high := bound(s.MinValues[c.physical], c, false), bound(s.MaxValues[c.physical], c, true); low != nil && high != nil {
		r.Low, r.High = low, high
	}
	return r
}

// bound returns a bound as [gpuframe.ColumnRange] has it, or nil.
func bound(text json.RawMessage, c column, high bool) any {
	var value string
	if len(text) == 0 || string(text) == "null" {
		return nil
	}
	if json.Unmarshal(text, &value) != nil {
		value = string(text)
	} else if c.t.ID() == arrow.STRING {
		return []byte(value)
	}
	switch t := c.t.(type) {
	case *arrow.Int8Type, *arrow.Int16Type, *arrow.Int32Type, *arrow.Int64Type:
		if n, err := strconv.ParseInt(value, 10, 64); err == nil {
			return n
		}
	case *arrow.Float32Type, *arrow.Float64Type:
		if x, err := strconv.ParseFloat(value, t.(arrow.FixedWidthDataType).BitWidth()); err == nil && !math.IsNaN(x) && !c.widened {
			return x
		}
	case *arrow.Decimal128Type:
		unscaled, exact := decimals.Unscaled(value, t.Scale)
		if unscaled == nil {
			return nil
		}
		if high && !exact {
			unscaled.Add(unscaled, big.NewInt(1))
		}
		return unscaled
	case *arrow.Date32Type:
		if at, err := parseTime(value, time.UTC); err == nil {
			return int64(arrow.Date32FromTime(at))
		}
	case *arrow.TimestampType:
		return timeBound(value, high)
	}
	return nil
}

// timeBound returns the microseconds of a time. Writers cut off those behind the milliseconds.
func timeBound(text string, high bool) any {
	at, err := parseTime(text, time.UTC)
	if err != nil {
		return nil
	}
	microseconds := at.UnixMicro()
	if high && !strings.ContainsAny(text, ":") {
		return microseconds // a date, of a column that was one
	}
	if high {
		microseconds += 999
	}
	return microseconds
}
