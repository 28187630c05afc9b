package source_test

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// ofParquetGo has the values of the columns of the files parquet-go-1.parquet and parquet-go-2.parquet,
// which testdata/others/parquetgo has written.
var ofParquetGo = map[string]func(i int) any{
	"id": func(i int) any { return i },
	"instants": func(i int) any {
		return listOf(i%4, func(at int) any {
			if (i+at)%5 == 0 {
				return nil
			}
			return instant96(i + at)
		})
	},
	"nested": func(i int) any {
		return listOf(i%3, func(at int) any {
			return listOf(at, func(element int) any { return 100*i + 10*at + element })
		})
	},
	"split": func(i int) any {
		return listOf(i%4, func(at int) any {
			if (i+at)%5 == 0 {
				return nil
			}
			return math.Sqrt(float64(10*i + at))
		})
	},
	"struct": func(i int) any {
		return map[string]any{"float": float32(math.Sqrt(float64(i))), "instant": instant96(i), "whole": -i}
	},
}

func listOf(n int, element func(at int) any) any {
	list := make([]any, n)
	for at := range list {
		list[at] = element(at)
	}
	return list
}

// instant96 is null where nanoseconds of 64 bits do not hold the instant.
func instant96(i int) any {
	if i%10 > 1 {
		return nil
	}
	const day = 24 * time.Hour
	return time.Unix(0, int64(time.Duration(100_000*(i%10))*day)+int64(i)).UTC().Format("2006-01-02 15:04:05.999999999Z")
}

func TestColumnsOfParquetGo(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	for version := range 2 {
		s := openedParquet(t, filepath.Join("testdata", "others", fmt.Sprintf("parquet-go-%d.parquet", version+1)))
		schema, err := s.Schema(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"geometry", "id", "instants", "map", "nested", "split", "struct", "variant"}, namesOf(schema))
		integers, is := schema.Field(4).Type.(*arrow.ListType).Elem().(*arrow.ListType)
		require.True(t, is, "%v", schema.Field(4).Type)
		require.Equal(t, arrow.INT32, integers.Elem().ID())
		for _, batch := range []int64{0, 33} {
			for column, value := range ofParquetGo {
				at := 0
				for _, record := range read(t, s, m, source.Request{Columns: []string{column}, BatchRows: batch}) {
					for i := range int(record.NumRows()) {
						var want any
						if column == "id" || at%7 > 0 {
							want = value(at)
						}
						wanted, err := json.Marshal(want)
						require.NoError(t, err)
						got, err := json.Marshal(record.Column(0).GetOneForMarshal(i))
						require.NoError(t, err)
						require.JSONEq(t, string(wanted), string(got), "%s, row %d", column, at)
						at++
					}
				}
				require.Equal(t, 210, at)
			}
		}
		for column, reason := range map[string]string{"geometry": "cannot be Unknown", "map": "the keys of a map are not required", "variant": "a group cannot be Unknown"} {
			for _, columns := range [][]string{{column}, {"id", column}} {
				_, err := s.Open(t.Context(), m, source.Request{Columns: columns})
				require.ErrorContains(t, err, `column "`+column+`": its type in the file cannot be read`)
				require.ErrorContains(t, err, reason)
				require.ErrorIs(t, err, source.ErrUnsupported)
			}
		}
		_, err = s.Open(t.Context(), m, source.Request{})
		require.ErrorContains(t, err, "leave it out with Select or Drop")
	}
}

func namesOf(schema *arrow.Schema) (names []string) {
	for _, field := range schema.Fields() {
		names = append(names, field.Name)
	}
	return names
}
