package hashtable_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/keys/hashtable"
	"github.com/gpuframe/gpuframe/internal/op/parallel"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// TestPartsOfTheHost compares groups that several goroutines find with those of a map.
func TestPartsOfTheHost(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	const n = 4*parallel.PartRows + 77
	require.Greater(t, parallel.Parts(n), 2)
	for i, of := range []arrow.DataType{
		arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Float64, arrow.BinaryTypes.String,
		&arrow.Decimal128Type{Precision: 38, Scale: 3}, &arrow.FixedSizeBinaryType{ByteWidth: 5},
	} {
		for _, nulls := range []arraytest.Nulls{arraytest.SomeNull, arraytest.NoneNull, arraytest.AllNull} {
			for _, distinct := range []int{3, n} {
				g := arraytest.NewGenerator(uint64(i))
				g.Nulls = nulls
				c, values := columntest.UploadRows(t, mgr, columntest.Repeated(t, g, of, distinct, n), 5, n)
				texts := columntest.Texts(values)
				for _, wanted := range []hashtable.Wanted{hashtable.OnlyValues, hashtable.WithCounts, hashtable.WithCodes} {
					t.Run(fmt.Sprint(of, nulls, distinct, wanted), func(t *testing.T) {
						groups, err := hashtable.Find(t.Context(), c, wanted, kernels.Options{})
						require.NoError(t, err)
						defer func() { require.NoError(t, groups.Release()) }()
						compareGroups(t, groups, wanted, texts)
					})
				}
			}
		}
	}
}

func compareGroups(t *testing.T, groups *hashtable.Groups, wanted hashtable.Wanted, texts []string) {
	t.Helper()
	known, firsts, numbers := map[string]uint32{}, []uint32(nil), make([]uint32, len(texts))
	for row, text := range texts {
		if text == columntest.Null && wanted == hashtable.WithCodes {
			continue // has no group, and the code 0
		}
		number, ok := known[text]
		if !ok {
			number = uint32(len(firsts))
			known[text], firsts = number, append(firsts, uint32(row))
		}
		numbers[row] = number
	}
	list, err := groups.List()
	require.NoError(t, err)
	require.Equal(t, firsts, columntest.Download(t, list).(*array.Uint32).Uint32Values())
	require.NoError(t, list.Release())
	if wanted != hashtable.OnlyValues {
		codes, err := groups.Numbers().Host()
		require.NoError(t, err)
		require.Equal(t, numbers, codes[:len(numbers)])
	}
}
