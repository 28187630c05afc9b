package nested_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/nested"
	"github.com/gpuframe/gpuframe/memory"
)

// TestSplit compares with strings.Split.
func TestSplit(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		random := rand.New(rand.NewPCG(3, 4))
		dictionary := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: arrow.BinaryTypes.String}
		for _, of := range []arrow.DataType{arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, dictionary} {
			for _, rows := range []int{0, 1, 200} {
				b := array.NewBuilder(arrowmemory.DefaultAllocator, of)
				words := make([]string, rows)
				for i := range words {
					for range random.IntN(12) {
						words[i] += []string{",", "a", "é", ", ", "\xff", "::", "b,"}[random.IntN(7)]
					}
					if random.IntN(6) == 0 {
						words[i] = "null"
						b.AppendNull()
					} else {
						require.NoError(t, b.AppendValueFromString(words[i]))
					}
				}
				whole := b.NewArray()
				b.Release()
				first := min(rows, 3)
				c, _ := columntest.UploadRows(t, mgr, whole, first, rows)
				whole.Release()
				kept := c.Len() * 2 / 3
				for _, separator := range []string{",", "::", "é", ", ", "absent"} {
					for _, input := range []struct {
						rows    int
						counted bool
					}{{c.Len(), false}, {kept, true}} {
						in := c
						if input.counted {
							in = columntest.WithRows(t, mgr, c, int64(kept))
						}
						table := tableOf(t, mgr, in)
						got := evaluate(t, "split", table, nested.Split(expr.Col("list"), separator))
						lists := got.(*array.List)
						require.Equal(t, input.rows, lists.Len())
						for i := range input.rows {
							word := words[first+i]
							if word == "null" {
								require.True(t, lists.IsNull(i))
								continue
							}
							require.False(t, lists.IsNull(i))
							want := strings.Split(word, separator)
							start, end := lists.ValueOffsets(i)
							require.EqualValues(t, len(want), end-start, word)
							for j, part := range want {
								require.Equal(t, part, lists.ListValues().ValueStr(int(start)+j), word)
							}
						}
						got.Release()
						require.NoError(t, table.Release())
					}
				}
			}
		}
	})
}
