package parquetformat

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/gpuframe/gpuframe/internal/io/thrift"
)

// Statistics are the bounds of a chunk's values.
type Statistics struct {
	// Min and Max are those of old writers, which compared signed bytes. MinValue and MaxValue have
	// the order of the type. Nil means none.
	Min, Max, MinValue, MaxValue []byte
	// Nulls is the number of nulls, or -1.
	Nulls int64
}

func readStatistics(d *thrift.Decoder) (*Statistics, error) {
	s := &Statistics{Nulls: -1}
	bounds := map[int]*[]byte{1: &s.Max, 2: &s.Min, 5: &s.MaxValue, 6: &s.MinValue}
	err := d.Fields(thrift.MostDepth, func(field int, kind byte) (err error) {
		bound := bounds[field]
		switch {
		case bound != nil && kind == thrift.Binary:
			*bound, err = d.Text()
		case field == 3 && kind == thrift.Int64:
			s.Nulls, err = d.Signed()
		default:
			err = d.Pass(kind, thrift.MostDepth-1)
		}
		return err
	})
	return s, err
}

// Order is how the bounds of a column compare.
type Order int8

// The orders. Values in no order have no bounds that readers can use.
const (
	Signed Order = iota
	Unsigned
	Unordered
)

// Order returns how bounds of the values compare.
func (n *Node) Order() Order {
	switch l := n.Logical; l.Kind {
	case Integer:
		if !l.Signed {
			return Unsigned
		}
		return Signed
	case Decimal, Date, Time, Timestamp, Float16:
		return Signed
	case String, Enum, JSON, BSON, UUID:
		return Unsigned
	case None:
		switch n.Physical {
		case Int96:
			return Unordered
		case ByteArray, FixedLenByteArray:
			return Unsigned
		}
		return Signed
	}
	return Unordered
}

// version is the version of a writer.
type version struct {
	writer string
	parts  [3]int
}

// readVersion reads the name of the writer, such as "parquet-mr version 1.8.0 (build 0a1)".
func readVersion(createdBy string) version {
	name, rest, ok := strings.Cut(strings.ToLower(createdBy), " version ")
	if !ok {
		return version{}
	}
	v := version{writer: strings.TrimSpace(name)}
	number, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	for i, text := range strings.SplitN(number, ".", 3) {
		end := 0
		for end < len(text) && text[end] >= '0' && text[end] <= '9' {
			end++
		}
		v.parts[i], _ = strconv.Atoi(text[:end]) // nothing is 0
	}
	return v
}

// before reports whether the writer is one of an earlier version.
func (v version) before(writer string, parts ...int) bool {
	if v.writer != writer {
		return false
	}
	for i, part := range parts {
		if v.parts[i] != part {
			return v.parts[i] < part
		}
	}
	return false
}

// Correct reports whether the bounds of a column are right, by the writer of the file: old versions
// of two libraries compared bytes with signs (PARQUET-251, PARQUET-686), and a later one decimals
// without them (PARQUET-1655).
func (n *Node) Correct(s *Statistics, createdBy string) bool {
	order := n.Order()
	if order == Unordered {
		return false
	}
	v := readVersion(createdBy)
	isBytes := n.Physical == ByteArray || n.Physical == FixedLenByteArray
	if v.before("parquet-cpp", 1, 3, 0) || v.before("parquet-mr", 1, 10, 0) {
		low, high := s.bounds()
		equal := low != nil && high != nil && bytes.Equal(low, high)
		if order != Signed && !equal {
			return false
		}
		if !isBytes {
			return true
		}
	}
	isOldCPP := v.writer == "parquet-cpp" || v.before("parquet-cpp-arrow", 4, 0, 0)
	if isOldCPP && n.Logical.Kind == Decimal && n.Physical == FixedLenByteArray {
		return false
	}
	return !v.before("parquet-mr", 1, 8, 0)
}

// bounds returns the newer bounds, or the old ones.
func (s *Statistics) bounds() (low, high []byte) {
	if s.MinValue != nil || s.MaxValue != nil {
		return s.MinValue, s.MaxValue
	}
	return s.Min, s.Max
}
