package iceberg

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// Files of partitions are in folders, whose names have the values of the partitions: those of a write are read of them.

// timeLayouts are those of names of folders.
var timeLayouts = map[string]string{"year": "2006", "month": "2006-01", "day": time.DateOnly, "hour": "2006-01-02-15"}

// farTime begins the names of times for which the layouts have no text.
const farTime = "at "

// calendar returns the transform by which values of the partition are times, or false.
func (p writtenPartition) calendar() (transform, bool) {
	if timeLayouts[p.transform.name] != "" {
		return p.transform, true
	}
	return transform{name: "day"}, p.t.ID() == arrow.DATE32
}

// texts returns the names of folders of the values of a column.
func (p writtenPartition) texts(values arrow.Array) (arrow.Array, error) {
	value, err := rowValues(values)
	if err != nil {
		return nil, err
	}
	texts := array.NewStringBuilder(memory.DefaultAllocator)
	defer texts.Release()
	texts.Reserve(values.Len())
	for row := range values.Len() {
		if values.IsNull(row) {
			texts.AppendNull()
			continue
		}
		texts.Append(p.folder(p.apply(value(row), p.column.t)))
	}
	return texts.NewArray(), nil
}

// folder returns the name of the folder of a value.
func (p writtenPartition) folder(value any) string {
	switch v := value.(type) {
	case bool:
		return strconv.FormatBool(v)
	case []byte:
		if p.t.ID() == arrow.STRING {
			return string(v)
		}
		return hex.EncodeToString(v)
	case int64:
		if c, ok := p.calendar(); ok {
			seconds, ok := c.begin(v)
			if at := time.Unix(seconds, 0).UTC(); ok && 0 <= at.Year() && at.Year() <= 9999 {
				return at.Format(timeLayouts[c.name])
			}
			return farTime + strconv.FormatInt(v, 10)
		}
		return strconv.FormatInt(v, 10)
	}
	return fmt.Sprint(value)
}

// value returns the value of the name of a folder as Avro has it.
func (p writtenPartition) value(text *string) (any, error) {
	if text == nil {
		return nil, nil
	}
	switch p.t.ID() {
	case arrow.BOOL:
		return strconv.ParseBool(*text)
	case arrow.STRING:
		return *text, nil
	case arrow.BINARY, arrow.FIXED_SIZE_BINARY:
		return hex.DecodeString(*text)
	}
	digits, far := strings.CutPrefix(*text, farTime)
	if c, ok := p.calendar(); ok && !far {
		at, err := time.Parse(timeLayouts[c.name], *text)
		return int32(c.ordinalOf(at.Unix())), err
	}
	if id := p.t.ID(); id == arrow.INT32 || id == arrow.DATE32 {
		n, err := strconv.ParseInt(digits, 10, 32)
		return int32(n), err
	}
	return strconv.ParseInt(digits, 10, 64)
}
