package expr_test

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/reduce"
	"github.com/gpuframe/gpuframe/memory"
)

// bytesOn uploads bytes.
func bytesOn(t testing.TB, mgr *memory.Manager, bytes []byte) column.Bytes {
	s, err := memory.NewSlice[uint8](mgr, len(bytes), memory.AllocateOptions{})
	require.NoError(t, err)
	require.NoError(t, s.Upload(ctx, nil, bytes))
	t.Cleanup(func() { require.NoError(t, s.Release()) })
	return s
}

// madeOf makes a column of parts without a check of their contents.
func madeOf(t testing.TB, data column.Data) *column.Column {
	c, err := column.New(data)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Release()) })
	return c
}

// stringsOf makes a column of strings with the given offsets.
func stringsOf(t testing.TB, mgr *memory.Manager, kind arrow.DataType, offsets []int64, data string) *column.Column {
	var bytes []byte
	for _, offset := range offsets {
		if kind.ID() == arrow.LARGE_STRING {
			bytes = binary.LittleEndian.AppendUint64(bytes, uint64(offset))
		} else {
			bytes = binary.LittleEndian.AppendUint32(bytes, uint32(offset))
		}
	}
	return madeOf(t, column.Data{Type: kind, Length: len(offsets) - 1, Buffers: []column.Bytes{{}, bytesOn(t, mgr, bytes), bytesOn(t, mgr, []byte(data))}})
}

// TestUnsoundStrings evaluates columns with offsets that point anywhere, which New and
// loads do not check. On the host that is an error, on a GPU the values are
// undefined: nothing panics, reads beyond the buffer or takes long.
func TestUnsoundStrings(t *testing.T) {
	const data = "abcdefgh"
	offsets := [][]int64{
		{0, -7, 3}, {0, 5, 3}, {0, 3, 9}, {-1, 2, 8}, {7, 1, 8}, {0, math.MaxInt32, 8}, {math.MinInt32, math.MaxInt32, 8},
		{math.MinInt32, math.MinInt32 + 3, 8}, {0, math.MaxInt32 - 3, math.MaxInt32},
	}
	wide := [][]int64{{0, math.MinInt64, 8}, {0, math.MaxInt64, 8}, {math.MinInt64, math.MaxInt64, 8}, {math.MaxInt64 - 8, math.MaxInt64, 8}, {1 << 40, 1<<40 + 3, 8}}
	expressions := []expr.Expr{
		a.Eq(expr.Lit("abc")), a.Ne(expr.Lit("abcdefghijklmnopqrstuvwxyz")), a.HasPrefix(expr.Lit("ab")), a.HasSuffix(expr.Lit("gh")),
		a.Eq(b), a.Eq(a), expr.Hash(a), a.Eq(expr.Lit("")), a.Lt(expr.Lit("abcdefghijkl")), a.Ge(b),
		a.Contains(expr.Lit("gh")), a.Find(expr.Lit("longer than eight")), a.Like("%a_c%"), a.LengthChars(), a.Trim().Eq(b), a.Substring(-2, 1).Eq(b),
		expr.Concat(a, b), a.Upper(), a.Replace(expr.Lit("b"), expr.Lit("xyz")).Reverse(), expr.If(a.IsValid(), a, expr.Lit("x")),
	}
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, kind := range []arrow.DataType{arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString} {
			cases := offsets
			if kind.ID() == arrow.LARGE_STRING {
				cases = append(cases[:len(cases):len(cases)], wide...)
			}
			sound := stringsOf(t, mgr, kind, []int64{0, 3, 8}, data)
			for _, unsound := range cases {
				strings := stringsOf(t, mgr, kind, unsound, data)
				codes := madeOf(t, column.Data{
					Type:    &arrow.DictionaryType{IndexType: i8, ValueType: kind},
					Length:  2,
					Buffers: []column.Bytes{{}, bytesOn(t, mgr, []byte{0, 1})}, Dictionary: strings,
				})
				for _, c := range []*column.Column{strings, codes} {
					table, err := buffer.New(schemaOf(c.Type(), kind), []*column.Column{c, sound}, buffer.Rows{Count: 2})
					require.NoError(t, err)
					for _, e := range expressions {
						got, err := expr.Evaluate(ctx, table, []expr.Expr{e})
						if dev.Kind() == device.Host {
							require.ErrorIs(t, err, column.ErrInvalid, "%v of %v", e, unsound)
							continue
						}
						require.NoError(t, err)
						fetched, err := got[0].Array(ctx)
						require.NoError(t, err, "%v of %v", e, unsound)
						fetched.Release()
						require.NoError(t, got[0].Release())
					}
					require.NoError(t, table.Release())
				}
			}
		}
	})
}

// TestUnsoundCodes has codes of a dictionary that name no value: they are nulls.
func TestUnsoundCodes(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, json := range []string{`["x", null]`, `["x", "y"]`, `[]`} {
			values, err := column.FromArray(ctx, mgr, fromJSON(t, text, json), column.UploadOptions{})
			require.NoError(t, err)
			codes := madeOf(t, column.Data{
				Type: &arrow.DictionaryType{IndexType: i32, ValueType: text}, Length: 4, Dictionary: values,
				Buffers: []column.Bytes{{}, bytesOn(t, mgr, []byte{0, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 127, 2, 0, 0, 0})},
			})
			want := map[string]string{`[]`: "[4]"}[json]
			if want == "" {
				want = "[3]"
			}
			got, err := reduce.Column(ctx, codes, reduce.CountNull)
			require.NoError(t, err)
			require.Equal(t, want, arrayOf(t, got).String())
			require.NoError(t, got.Release())
			table, err := buffer.New(schemaOf(codes.Type()), []*column.Column{codes}, buffer.Rows{Count: 4})
			require.NoError(t, err)
			columns, err := expr.Evaluate(ctx, table, []expr.Expr{a.IsNull(), a.Eq(expr.Lit("x"))})
			require.NoError(t, err)
			first := map[bool]string{true: "true", false: "false"}[json == `[]`]
			require.Equal(t, "["+first+" true true true]", arrayOf(t, columns[0]).String())
			require.NoError(t, columns[0].Release())
			require.NoError(t, columns[1].Release())
			require.NoError(t, table.Release())
			require.NoError(t, values.Release())
		}
	})
}
