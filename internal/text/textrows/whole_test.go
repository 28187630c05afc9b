package textrows_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/text/textrows"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// texts draws the rows of a column. Literals of the test often begin in one row and end in
// the next.
func texts(r *rand.Rand, rows int, alphabet string, longest int) []string {
	list := make([]string, rows)
	for i := range list {
		text := make([]byte, r.IntN(longest+1))
		for k := range text {
			text[k] = alphabet[r.IntN(len(alphabet))]
		}
		list[i] = string(text)
	}
	return list
}

func upload(t *testing.T, mgr *memory.Manager, of arrow.DataType, list []string, first int) *column.Column {
	b := array.NewBuilder(arrowmemory.DefaultAllocator, of)
	defer b.Release()
	for _, text := range list {
		switch b := b.(type) {
		case *array.StringBuilder:
			b.Append(text)
		case *array.LargeStringBuilder:
			b.Append(text)
		}
	}
	whole := b.NewArray()
	defer whole.Release()
	c, _ := columntest.UploadRows(t, mgr, whole, first, len(list))
	return c
}

// TestWhole compares the functions of whole columns with package strings: in slices, with a
// row count on the device, in rows longer and shorter than the parts that blocks take.
func TestWhole(t *testing.T) {
	literals := [][2]string{
		{"a", "b"}, {"a", ""}, {"ab", "ba"}, {"ab", ""}, {"b", "abc"}, {"abbb", "a"}, {"aabab", "-----"}, {"aab", strings.Repeat("x", 32)},
		{"aaaabbbb", "frames"}, {"aaaabbbbb", ""}, {"a" + strings.Repeat("b", 16), "b"},
	}
	shapes := []struct {
		rows, longest int
		alphabet      string
	}{{1, 40, "ab"}, {900, 3, "ab"}, {700, 200, "abcdefghij"}, {3, 50_000, "ab"}, {400, 90, "b"}, {5, 9_000, "a"}}
	if testing.Short() {
		shapes = shapes[:4]
	}
	for _, literal := range literals {
		require.True(t, textrows.Replaces(literal[0], literal[1]), literal)
	}
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		r := rand.New(rand.NewPCG(7, 8))
		for number, shape := range shapes {
			of := []arrow.DataType{arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString}[number%2]
			list := texts(r, shape.rows, shape.alphabet, shape.longest)
			for i := range list {
				if r.IntN(8) == 0 {
					list[i] += "aaaabbbbbaab" + literals[10][0]
				}
			}
			first := min(number%3, shape.rows-1)
			c := upload(t, mgr, of, list, first)
			list = list[first:]
			counted := columntest.WithRows(t, mgr, c, int64(len(list)*3/4))
			for _, counts := range []bool{false, true} {
				of, rows := c, len(list)
				if counts {
					of, rows = counted, len(list)*3/4
				}
				_, count, err := of.Extent(t.Context())
				require.NoError(t, err)
				w, ok := textrows.WholeOf(of, of.Len(), count)
				if !ok {
					require.Zero(t, of.Buffer(2).Len())
					continue
				}
				check := func(name string, made *column.Column, err error, want func(string) string) {
					require.NoError(t, err, name)
					if counts {
						cut, err := made.WithRows(of.RowCount())
						require.NoError(t, err)
						require.NoError(t, made.Release())
						made = cut
					}
					got := columntest.Download(t, made)
					require.NoError(t, made.Release())
					require.Equal(t, rows, got.Len())
					for i := range rows {
						require.Equal(t, want(list[i]), got.ValueStr(i), "%s, row %d", name, i)
					}
					got.Release()
				}
				call, err := op.Begin(t.Context(), kernels.Options{}, of)
				require.NoError(t, err)
				made, err := w.Case(&call, textrows.Upper, memory.Slice[uint8]{})
				check("upper", made, err, strings.ToUpper)
				for _, literal := range literals {
					made, err := w.Replace(&call, literal[0], literal[1], memory.Slice[uint8]{})
					check(fmt.Sprintf("replace %q by %q", literal[0], literal[1]), made, err, func(text string) string {
						return strings.ReplaceAll(text, literal[0], literal[1])
					})
					if counts {
						continue
					}
					made, err = w.Split(&call, literal[0])
					require.NoError(t, err)
					got := columntest.Download(t, made).(*array.List)
					require.NoError(t, made.Release())
					for i, text := range list {
						begin, end := got.ValueOffsets(i)
						parts := make([]string, 0, end-begin)
						for k := begin; k < end; k++ {
							parts = append(parts, got.ListValues().ValueStr(int(k)))
						}
						require.Equal(t, strings.Split(text, literal[0]), parts, "split by %q", literal[0])
					}
					got.Release()
				}
			}
		}
	})
}

// TestWholeOtherCharacters checks that the case of other characters is left to the functions
// of rows, and that characters beyond a slice do not count.
func TestWholeOtherCharacters(t *testing.T) {
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for first, ascii := range []bool{false, true} {
			c := upload(t, mgr, arrow.BinaryTypes.String, []string{"ä", "Bb" + string(bytes.Repeat([]byte("z"), 40))}, first)
			call, err := op.Begin(t.Context(), kernels.Options{}, c)
			require.NoError(t, err)
			w, ok := textrows.WholeOf(c, c.Len(), memory.Slice[int64]{})
			require.True(t, ok)
			made, err := w.Case(&call, textrows.Lower, memory.Slice[uint8]{})
			require.NoError(t, err)
			require.Equal(t, ascii, made != nil)
			if made != nil {
				require.Equal(t, "bb"+strings.Repeat("z", 40), columntest.Download(t, made).ValueStr(0))
				require.NoError(t, made.Release())
			}
		}
	})
}

func TestReplaces(t *testing.T) {
	for _, old := range []string{"", "aa", "abab", "aba", "gpug", strings.Repeat("ab", 17)} {
		require.False(t, textrows.Replaces(old, "x"), old)
	}
	require.False(t, textrows.Replaces("a", strings.Repeat("x", 33)))
	require.True(t, textrows.Replaces("gpuframe", ""))
}
